# SPDX-License-Identifier: Apache-2.0
"""Every repair of a movement that is printed verifies the whole movement, and none repeats what was given."""

from __future__ import annotations

import json
import re
from functools import reduce

import pytest

from verify.core.verified_repair import TOGETHER
from verify.movement import command as movement

ROWS = "(8,64):(64,1)"
SWIZZLED = f"Sw<3,3,3> o {ROWS}"
WHOLE = {"--access": "((8,4),8):((1,64),8)", "--element": "16", "--width": "128"}
ROW = {**WHOLE, "--access": "(32,8):(8,1)"}
BANKS = {**WHOLE, "--shared": "(64,8):(64,1)", "--access": "((32),8):((1),64)"}
MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
LOAD = {"--from": "ldmatrix.sync.aligned.m8n8.x4.shared.b16", "--to": MMA}
CORES = {"--descriptor": "((8,8),(8,2)):((8,64),(1,512))", "--element": "16", "--major": "K"}
WRONG: dict[str, dict[str, str]] = {
    "base": {"--shared": SWIZZLED, **WHOLE, "--base": "520"},
    "base and accesses": {"--shared": SWIZZLED, **ROW, "--base": "520"},
    "base and room": {"--shared": SWIZZLED, **WHOLE, "--base": "232447"},
    "room": {"--shared": "(8,5120):(5128,1)", **WHOLE, "--arch": "sm_75"},
    "width": {"--shared": SWIZZLED, **ROW},
    "banks": BANKS,
    "banks, base given": {**BANKS, "--base": "16"},
    "times": {**LOAD, "--from": LOAD["--from"].replace("x4", "x2")},
    "major": {**LOAD, "--major": "M"},
    "lbo": {**CORES, "--lbo": "128", "--sbo": "1024"},
    "sbo": {"--descriptor": "Sw<3,3,3> o (64,64):(64,1)", "--element": "16", "--major": "K", "--sbo": "512"},
}
REPAIRED = {"base", "base and accesses", "base and room", "room", "width", "banks", "times", "major", "lbo", "sbo"}


def check_repairs(capsys: pytest.CaptureFixture[str], words: dict[str, str]) -> tuple[int, list[str]]:
    """Return the exit code and the repairs that are printed."""
    code = movement.main([*(word for pair in words.items() for word in pair), "--format", "json"])
    verdicts = json.loads(capsys.readouterr().out)["subjects"][0]["verdicts"]
    faults = [verdict["counterexample"] for verdict in verdicts if verdict["counterexample"]]
    return code, [repair for fault in faults if fault["repair"] for repair in fault["repair"].split("; or ")]


def apply_repair(words: dict[str, str], repair: str) -> dict[str, str]:
    """Return the command line with a printed repair."""
    if option := re.match(r"(--\w+) ([\w]+)", repair):
        return {**words, option[1]: option[2]}
    if swizzle := re.match(r"(Sw<\S+>) of elements: no conflict", repair):
        return {**words, "--shared": f"{swizzle[1]} o {words['--shared'].rpartition(' o ')[2]}"}
    if fields := re.search(r"LBO (\d+), SBO (\d+) bytes", repair):
        return {**words, "--lbo": fields[1], "--sbo": fields[2]}
    if times := re.match(r"issue it (\d+) times as often", repair):
        return {**words, "--times": str(int(times[1]) * int(words.get("--times", 1)))}
    if repair == "ldmatrix with .trans":
        return {**words, "--from": words["--from"].replace(".shared", ".trans.shared")}
    raise ValueError(f"a repair that nobody can apply: {repair}")


@pytest.mark.parametrize("name", WRONG)
def test_every_printed_repair_verifies(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = WRONG[name]
    code, repairs = check_repairs(capsys, words)
    assert code == 1 and bool(repairs) == (name in REPAIRED), repairs
    together = any(repair.endswith(TOGETHER) for repair in repairs)
    for chosen in [repairs] if together else [[repair] for repair in repairs]:
        whole = reduce(apply_repair, (repair.removesuffix(TOGETHER) for repair in chosen), words)
        assert whole != words and check_repairs(capsys, whole)[0] == 0, chosen

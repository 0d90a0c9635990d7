# SPDX-License-Identifier: Apache-2.0
"""No headline of any kind of subject says more than was compared: VERIFIED needs an instruction that was consulted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from layouts.atoms import registry
from tests.verify.adapters import RIGHT, write
from verify import verify_index, verify_layout, verify_map, verify_movement, verify_tiling
from verify.core.verdict import Check
from verify.foreign import command as foreign
from verify.layout.command import main as layout
from verify.lock.functions import Subject
from verify.lock.lockfile import Locked
from verify.lock.properties import LockComparison
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Axis
from verify.report import Case
from verify.show.command import main as show
from verify.tiling.spec import TilingSpec, atoms_layout

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
C = "((4,8),(2,2)):((32,1),(16,8))"
NO_INSTRUCTION = "; not compared with an instruction"


def of_lock() -> Case:
    made = FragmentMap.tabulate(lambda lane: lane, [Axis("lane", 4)], [Axis("m", 4)])
    now, locked = Subject("a", "f", "a", {"ptx": MMA}, {"C": made}), Locked("a", "f", {"ptx": MMA}, {"C": made})
    return LockComparison("a.lock", [now], [locked]).cases()[0][1]


def of_tiling(atom: str) -> Case:
    shape = registry()[atom].shape  # type: ignore[union-attr]
    m, n, k = shape
    return verify_tiling(TilingSpec("t", atom, atoms_layout("2,2,1"), tile=(2 * m, 2 * n, k))).cases[0]


ALONE: dict[str, Callable[[], Case]] = {
    f"a bijection onto 16x8{NO_INSTRUCTION}: add --ptx … --operand C": lambda: verify_layout(C, onto=(16, 8)).cases[0],
    f"the same function as {C}{NO_INSTRUCTION}": lambda: verify_layout(C, equals=C).cases[0],
    f"as a.lock has it{NO_INSTRUCTION}": of_lock,
    f"each tile is partitioned as the atom has it{NO_INSTRUCTION}: the atom issues none (`ptx` is empty)": (
        lambda: of_tiling("UniversalFMA<float,float,float,float>")
    ),
}
COMPARED: dict[str, Callable[[], Case]] = {
    "layout": lambda: verify_layout(C, ptx=MMA, operand="C").cases[0],
    "map": lambda: verify_map(C, MMA, "C").cases[0],
    "function": lambda: verify_map(lambda t, v: (t // 4 + v // 2 * 8, t % 4 * 2 + v % 2), MMA, "C").cases[0],
    "index": lambda: verify_index(ptx=MMA, operand="C", lang="c", row="lane/4 + 8*(i/2)", col="lane%4*2 + i%2").cases[
        0
    ],
    "tiling": lambda: of_tiling("SM80_16x8x16_F32F16F16F32_TN"),
}


@pytest.mark.parametrize("headline", ALONE)
def test_what_no_instruction_was_compared_with_says_so(headline: str) -> None:
    case = ALONE[headline]()
    assert case.headline == headline and case.exit() == 0 and not case.uses_isa
    assert {case.source(e) for v in case.verdicts for e in v.evidence} <= {"points", "proof", "gpu"}
    assert "VERIFIED" not in case.text() and " verified" not in case.text()
    assert "VERIFIED" not in repr(case)


@pytest.mark.parametrize("sort", COMPARED)
def test_what_an_instruction_was_compared_with_is_verified(sort: str) -> None:
    case = COMPARED[sort]()
    assert case.headline == "VERIFIED" and case.uses_isa
    cited = [v for v in case.verdicts if v.claim.provenance or v.claim.prop.key == "product"]
    assert any(e.check is Check.ISA and e.status in ("PROVED", "AGREES") for v in cited for e in v.evidence)


def test_a_foreign_map_that_has_an_inverse_alone_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        RIGHT
        + """
def both():
    found = fragment()
    return {**{k: v for k, v in found.items() if k not in ("ptx", "operand")}, "back": back}
def back(*element):
    function = fragment()["of"]
    return [p for p in ((l, v) for l in range(32) for v in range(4)) if function(*p) == element]
def maps():
    yield "both", both
"""
    )
    assert foreign.main([str(write(tmp_path, text)), "-v"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "undone by the project's own inverse; not compared with an instruction: the adapter names none" in out
    assert "1 compared with its own inverse alone" in out and "VERIFIED" not in out and " isa " not in out


@pytest.mark.parametrize(
    ("words", "code", "status"),
    [
        (["--onto", "16x8"], 0, f"a bijection onto 16x8{NO_INSTRUCTION}: add --ptx … --operand C"),
        (["--onto", "8x8"], 1, "REFUTED"),
        (["--ptx", MMA, "--operand", "C"], 0, "VERIFIED (isa)"),
        (["--ptx", MMA, "--operand", "C", "--onto", "16x8"], 0, "VERIFIED (isa)"),
        (["--ptx", MMA, "--operand", "A"], 1, "REFUTED (isa)"),
    ],
)
@pytest.mark.parametrize("form", ["text", "svg", "html"])
def test_a_picture_says_what_was_compared(
    words: list[str], code: int, status: str, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert show([C, *words, "--format", form]) == code
    out = capsys.readouterr().out
    words_of_it = " ".join(re.sub("<[^>]*>", " ", out).split())  # a long title has several lines
    assert status in words_of_it and ("(isa)" in out) == ("(isa)" in status)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--ptx", MMA], "--ptx needs one --operand"),
        (["--ptx", MMA, "--operand", "A", "--operand", "C"], "--ptx needs one --operand"),
        (["--ptx", MMA, "--operand", "C", "--table"], "--table is not read with --ptx"),
        (["--ptx", "mma.none", "--operand", "C"], "--ptx: 'mma.none'"),
    ],
)
def test_a_picture_of_an_operand_needs_its_name(
    words: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert show([C, *words]) == 2
    assert problem in capsys.readouterr().err


def test_a_picture_of_a_report_says_it_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "report.json")
    assert layout([C, "--onto", "16x8", "--format", "json", "-o", path]) == 0
    assert json.loads(Path(path).read_text())["subjects"][0]["headline"].startswith("a bijection onto 16x8;")
    assert show([path]) == 0
    out = capsys.readouterr().out
    assert "a bijection onto 16x8; not compared with an instruction" in out and "VERIFIED" not in out
    assert layout([C, "--ptx", MMA, "--operand", "C", "--format", "json", "-o", path]) == 0
    assert show([path]) == 0
    assert "VERIFIED" in capsys.readouterr().out


def test_a_movement_of_accesses_alone_does_not_name_the_isa(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "move.toml"
    path.write_text('["store"]\nshared = "(32,32):(33,1)"\naccess = "(32,1):(32,0)"\nelement = 32\nwidth = 32\n')
    report = verify_movement(path)
    assert not report.cases[0].uses_isa
    show([str(path)])
    assert "(isa)" not in capsys.readouterr().out

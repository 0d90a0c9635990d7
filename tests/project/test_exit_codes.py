# SPDX-License-Identifier: Apache-2.0
"""One rule of exit codes for every command: a table of calls, of which none is 0 with everything UNCHECKED."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from lanecheck.console.exits import RULE, Exit
from verify.__main__ import COMMANDS, main

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")
NAME = "SM80_16x8x16_F32F16F16F32_TN"
MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
BLOCK = "SM120_16x8x32_TN<float_e2m1_t,?float_e2m1_t,?float>"  # no recorded GPU runs it
ON_A_GPU = ("banks", "order", "probe", "tilings")
# Words of a call, its exit code, and a part of what it prints.
TABLE = (
    (f"atlas {NAME} --checks isa -q", Exit.OK, "1 VERIFIED"),
    (f"atlas {BLOCK} --checks gpu -q", Exit.UNDECIDED, "1 UNCHECKED"),
    ("atlas nonsense", Exit.USAGE, "no atom is named"),
    (f"atom {NAME} -q", Exit.OK, "1 verified"),
    ("atom --atoms tests/museum/wrong.toml -q", Exit.REFUTED, "refuted"),
    ("atom *nonsense*", Exit.USAGE, "no atom is named"),
    (f"atom {BLOCK} --checks gpu -q", Exit.UNDECIDED, "no recorded GPU has run"),
    (f"atom {BLOCK} --checks gpu --allow-unchecked -q", Exit.OK, "1 unchecked"),
    ("banks --list", Exit.OK, "load 32, stride 1"),
    ("banks --nonsense", Exit.USAGE, "--nonsense"),
    ("campaign examples/campaign.toml --count", Exit.OK, "cases in"),
    ("campaign nonsense.toml", Exit.USAGE, "cannot be read"),
    (f"discover {MMA}", Exit.OK, "NVIDIA H200"),
    ("discover nonsense", Exit.USAGE, "is not in the tables"),
    ("discover cp.async.ca.shared.global", Exit.UNDECIDED, "UNCHECKED there is no recording of it"),
    ("explain ownership", Exit.OK, "fix: "),
    ("explain nonsense", Exit.USAGE, "no finding has the code"),
    ("export examples/tilings.toml", Exit.OK, "schema"),
    ("export examples/maps.toml", Exit.USAGE, "index arithmetic"),
    ("foreign --list", Exit.OK, "tinygrad"),
    ("foreign nonsense", Exit.USAGE, "no adapter is named"),
    (f"foreign tinygrad --allow-exec --python {sys.executable}", Exit.UNDECIDED, "exit 4"),
    ("identify ((4,8),(2,2)):((32,1),(16,8)) -q", Exit.OK, "operands of the ISA tables"),
    ("identify ((4,8),(2,2)):((32,1),(16,9)) -q", Exit.REFUTED, "nearest"),
    ("identify nonsense", Exit.USAGE, "cannot read"),
    ("index examples/maps.toml -q --allow-exec", Exit.OK, "5 verified"),
    (f"index --lang c --ptx {MMA} --operand C --row lane/4 --col i -q", Exit.REFUTED, "1 refuted"),
    ("index nonsense.toml", Exit.USAGE, "cannot be read"),
    ("init map tests/museum/wrong.toml", Exit.USAGE, "wrong.toml"),
    ("kernel nonsense.ptx --claim nonsense.toml", Exit.USAGE, "there is no such file"),
    ("laws MONO -q", Exit.OK, "1 verified"),
    ("laws nonsense", Exit.USAGE, "no law is named"),
    ("layout (4,8):(8,1) --onto 4x4 -q", Exit.REFUTED, "1 refuted"),
    ("layout (4,8):(8,1)", Exit.USAGE, "--onto"),
    (f"list {NAME}", Exit.OK, NAME),
    ("list nonsense", Exit.USAGE, "no name has"),
    ("lock --check --lock nonsense.lock", Exit.USAGE, "cannot be read"),
    ("movement examples/movement.toml -q", Exit.OK, "8 verified"),
    ("movement nonsense.toml", Exit.USAGE, "cannot be read"),
    ("check 8:1 --onto 8", Exit.OK, "a bijection onto 8x1"),
    ("check 8:2 --onto 8", Exit.REFUTED, "REFUTED"),
    ("check", Exit.USAGE, "check what?"),
    ("mutate SM80_16x8x4_F32TF32TF32F32_TN -q", Exit.OK, "every mutant is refuted"),
    ("mutate nonsense", Exit.USAGE, "no atom is named"),
    ("mutate UniversalFMA", Exit.EMPTY, "nothing to mutate"),
    ("order --list", Exit.OK, "wgmma, no barrier"),
    ("order --nonsense", Exit.USAGE, "--nonsense"),
    ("probe --list dp4a.s32.s32", Exit.OK, "dp4a.s32.s32"),
    ("probe nonsense", Exit.USAGE, "is not in the tables"),
    ("probe *nonsense*", Exit.USAGE, "no instruction is named"),
    ("probe --family nonsense", Exit.USAGE, "no family is named"),
    ("probe", Exit.USAGE, "which instructions?"),
    ("probe dp4a* --family mma.sync", Exit.EMPTY, "nothing selected"),
    ("scan nonsense", Exit.USAGE, "no such file or folder"),
    (f"show {NAME} -q", Exit.OK, "VERIFIED (isa)"),
    ("show --atoms tests/museum/wrong.toml * -q", Exit.REFUTED, "REFUTED"),
    ("show nonsense", Exit.USAGE, "no atom is named"),
    ("tiling examples/tilings.toml -q", Exit.OK, "3 verified"),
    ("tiling nonsense.toml", Exit.USAGE, "cannot be read"),
    ("tilings --list mma_f16", Exit.OK, "mma_f16"),
    ("tilings *nonsense*", Exit.USAGE, "no tiling is named"),
    ("tilings --file /dev/null", Exit.EMPTY, "nothing selected"),
)


@pytest.mark.long
@pytest.mark.parametrize(("line", "code", "says"), TABLE, ids=[line for line, _, _ in TABLE])
def test_a_call_ends_with_the_code_of_the_rule(
    line: str, code: Exit, says: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("CI", raising=False)  # where code of others needs --allow-exec
    try:
        ended = main(line.split(" "))
    except SystemExit as end:  # argparse
        ended = end.code
    out, err = capsys.readouterr()
    assert (ended, says in " ".join((out + err).split())) == (code, True), out + err
    if ended is Exit.OK and "--allow-unchecked" not in line:
        assert not re.search(r"\b1 subject: 1 unchecked|^0 equal|^0 recorded", out, re.MULTILINE)


@pytest.mark.long
@pytest.mark.parametrize("words", [*ON_A_GPU, "probe --opcodes", "laws SWIZZLE_TILE", f"discover {MMA} --live"])
@pytest.mark.parametrize("accepted", [False, True])
def test_without_the_gpu_that_was_asked_for_it_is_4_with_the_reason(words: str, accepted: bool) -> None:
    """In a process of its own: CuPy finds the devices once."""
    command, *rest = words.split()
    rest = rest or {"probe": ["dp4a.s32.s32"], "tilings": ["mma_f64"]}.get(command, [])
    if accepted and command not in ON_A_GPU:
        pytest.skip("it has no --allow-unchecked")
    done = subprocess.run(
        [sys.executable, "-m", f"gpu_checks.{command}", *rest, *["--allow-unchecked"] * accepted],
        capture_output=True, text=True, check=False, cwd=ROOT, env=os.environ | {"CUDA_VISIBLE_DEVICES": ""},
    )  # fmt: skip
    assert done.returncode == (Exit.OK if accepted else Exit.UNDECIDED), done.stderr
    assert re.search(r"UNCHECKED +(CuPy|no CUDA device|cuda)", done.stdout), done.stdout


def test_every_command_is_in_the_table() -> None:
    codes: dict[str, set[Exit]] = {}
    for line, code, _ in TABLE:
        codes.setdefault(line.split()[0], set()).add(code)
    assert sorted(codes) == sorted(COMMANDS)
    assert all(Exit.USAGE in listed for listed in codes.values())


@pytest.mark.parametrize("name", [*COMMANDS, "gpu_checks.laws", "proofs.laws.certificates", "proofs.symbolic.campaign"])
def test_the_help_of_every_command_has_the_rule_once(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    module = COMMANDS[name][0] if name in COMMANDS else name
    with pytest.raises(SystemExit) as end:
        import_module(module).main(["--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert not end.value.code and text.count(" ".join(RULE.split())) == 1
    assert len(re.findall("exit codes?:", text)) <= 1 and "exit 4 where there is no GPU" not in text


def test_the_page_that_has_the_rule_names_what_is_unchecked() -> None:
    row = next(line for line in TEXT.splitlines() if line.startswith("| 4 |"))
    assert "GPU" in row and "--allow-unchecked" in row

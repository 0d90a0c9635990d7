# SPDX-License-Identifier: Apache-2.0
"""`lanecheck check`: every kind of argument goes to the command of its kind, with the options after it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from tests.messages import NO_KIND, TWO_COLONS
from verify import kinds
from verify.__main__ import COMMANDS, main
from verify.core.errors import UsageError

ATOM = "SM80_16x8x16_F32F16F16F32_TN"
CASES = [
    ("layout", ["((4,8),(2,2)):((32,1),(16,8))", "--onto", "16x8"], None),
    ("layout", ["Layout<Shape<_4,_8>>{}", "--onto", "32"], None),
    ("atom", [ATOM, "-q"], None),
    ("atom", ["SM80_16x8x16", "SM75*", "--checks", "isa"], None),
    ("atom", ["examples/my_atoms.toml"], None),
    ("atom", ["cute::UniversalFMA<float,float,float,float>"], None),
    ("tiling", ["examples/tilings.toml", "--only", "x"], None),
    ("movement", ["examples/movement.toml"], None),
    ("index", ["examples/maps.toml", "--format", "json"], None),
    ("campaign", ["examples/campaign.toml", "--count"], None),
    ("kernel", ["gemm.ptx", "--claim", "gemm.toml"], None),
    ("kernel", ["examples/kernel/fragment.ptx", "examples/kernel/fragment.toml", "--strict"],
     ["examples/kernel/fragment.ptx", "--claim", "examples/kernel/fragment.toml", "--strict"]),
    ("kernel", ["tests/cases.py::each", "--claim", "gemm.toml"], None),
    ("atom", ["movmatrix.trans", "-q"], ["SM75_U32x1_MOVM_T", "-q"]),
    ("atom", ["ldmatrix.sync.aligned.m8n8.x4.shared.b16"], ["SM75_U32x4_LDSM_N"]),
    ("scan", ["examples", "--only", "x"], None),
    ("laws", ["DIVEQ"], None),
    ("foreign", ["tinygrad", "--python", "python3"], None),
]  # fmt: skip


@pytest.mark.parametrize(("command", "given", "passed"), CASES, ids=[f"{name} {words[0]}" for name, words, _ in CASES])
def test_an_argument_goes_to_the_command_of_its_kind(
    command: str, given: list[str], passed: list[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[Sequence[str]] = []
    module = COMMANDS[command][0]
    made = ModuleType(module)
    made.main = lambda argv: called.append(argv) or 4  # type: ignore[attr-defined, func-returns-value]
    monkeypatch.setitem(sys.modules, module, made)
    assert main(["check", *given]) == 4
    assert called == [passed or given]


WRONG = [
    ([], "check what?"),
    (["DIVEQ", ATOM], f"DIVEQ is a law, {ATOM} is an atom: check one kind at a time"),
    (["examples/kernel/fragment.toml"], "names no kernel: give it before --claim"),
    (["mma.m16n8k17"], "the ISA has no such mma instruction; nearest: mma.sync.aligned.m16n8k16"),
    (["x.py:f"], f"x.py:f: {TWO_COLONS} x.py::f"),
    (["x.py"], "x.py: there is no such file"),
    (["x.py::f"], "x.py: there is no such file"),
    (["x.cu"], "x.cu: there is no such file"),
    (["no/such/thing"], "no kind recognizes it"),
    (["nothing.toml"], "nothing.toml: cannot be read"),
    (["README.md"], "README.md: no command reads this file"),
    (["8:1", "--kind", "tilings"], f"{NO_KIND} 'tilings'"),
    (["8:1", "--kind=tiling"], "cannot be read"),
]


@pytest.mark.parametrize(("given", "says"), WRONG, ids=[" ".join(words) for words, _ in WRONG])
def test_what_no_kind_is_sure_of_is_one_line(given: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", *given]) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1) and says in err


def test_a_folder_with_the_name_of_a_project_is_named_both_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "triton").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"--kind foreign or --kind header, or \./triton for the path"):
        kinds.recognize("triton")
    assert kinds.recognize("./triton").name == "header"


def test_it_verifies_and_refutes() -> None:
    assert main(["check", "examples/maps.toml", "-q"]) == 0
    assert main(["check", "((4,8),8):((32,1),8)", "--onto", "8x32", "-q"]) == 1
    assert main(["check", ATOM, "--checks", "isa", "-q"]) == 0


def test_every_name_of_a_command_stays() -> None:
    assert len(COMMANDS) == 25
    for module, _ in COMMANDS.values():
        assert callable(import_module(module).main)


def test_a_folder_of_headers_names_the_toml_files_that_it_leaves_unread(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree("examples/headers", tmp_path / "headers")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "mine"\n', encoding="utf-8")
    assert main(["check", str(tmp_path), "-q"]) == 0
    assert capsys.readouterr().err == ""
    shutil.copy("examples/my_atoms.toml", tmp_path)
    assert main(["check", str(tmp_path), "-q"]) == 0
    assert (
        capsys.readouterr().err == f"lanecheck: not read, because a folder means its headers: {tmp_path / '*.toml'}\n"
    )

# SPDX-License-Identifier: Apache-2.0
"""docs/maps.md: each of its commands does what the page says, its file and its Python too."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from verify import verify_index
from verify.__main__ import main
from verify.core.errors import UsageError

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "maps.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^lanecheck (.+)$", TEXT, re.MULTILINE)


@pytest.mark.long
@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_of_the_page_verifies(
    words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("CI", raising=False)
    assert len(COMMANDS) == 9
    assert main(shlex.split(words)) == 0
    assert capsys.readouterr().out.endswith("exit 0\n")


def test_the_refutation_of_the_page_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    block = TEXT.partition("$ lanecheck ")[2].partition("```")[0]
    command, *lines = block.strip().splitlines()
    assert main(shlex.split(command)) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert len(lines) == 4
    assert all(" ".join(line.split()) in printed for line in lines)


def test_the_message_of_the_page_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    mma = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
    assert main(["index", "--ptx", mma, "--operand", "C", "--row", "lane//4", "--col", "i % 4"]) == 2
    page = (ROOT / "docs" / "own-maps" / "index-arithmetic.md").read_text(encoding="utf-8")
    message = next(line for line in page.splitlines() if line.startswith("    lanecheck: "))
    assert capsys.readouterr().err == f"{message.strip()}\n"


@pytest.mark.long
def test_the_file_of_the_page_is_verified(tmp_path: Path) -> None:
    path = tmp_path / "maps.toml"
    files = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    path.write_text("\n".join(files), encoding="utf-8")
    report = verify_index(path)
    assert [case.status for case in report.cases] == ["VERIFIED", "VERIFIED", "VERIFIED"]
    path.write_text(re.sub(r"(?m)^relabel.*$", "", files[1]), encoding="utf-8")
    assert [case.status for case in verify_index(path).cases] == ["RELABELLED"]


def test_the_python_of_the_page_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(code.replace("verify_index(ptx", "found = verify_index(ptx"), "maps.md", "exec"), names)
    assert names["found"]


RELABELLED = TEXT.partition("## Relabelled")[2].partition("```toml\n")[2].partition("```")[0]


@pytest.mark.long
@pytest.mark.parametrize(
    ("line", "edited", "problem"),
    [
        ('k = "(2,4,2):(1,4,2)"', 'k = "(2,4,2):(1,2,8)"', ""),  # a permutation, and not theirs
        ('k = "(2,4,2):(1,4,2)"', 'k = "8:1"', "relabel.k: 8:1 isn't a permutation, for A, of 0..15, its k"),
        ('k = "(2,4,2):(1,4,2)"', 'x = "8:1"', "expected m, n or k, found 'x'"),
        ("C = {", "E = {", "has no operand E"),
        (
            'C = { row = "lane/4 + 8*(i/2)", col = "lane%4*2 + i%2" }',
            'C = { lane = "row%8*4 + col/2", value = "row/8*2 + col%2" }',
            "relabel: is checked across A, B and C: give C too, from lane and value",
        ),
        ('C = { row = "lane/4 + 8*(i/2)", col = "lane%4*2 + i%2" }', "", "give C too"),
        (".m16n8k16.row.col.f32", ".m16n8k8.row.col.f32", ""),
    ],
)
def test_another_relabelling_is_not_verified(
    line: str, edited: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "maps.toml"
    assert line in RELABELLED
    path.write_text(RELABELLED.replace(line, edited), encoding="utf-8")
    code = main(["index", str(path)])
    printed = capsys.readouterr()
    assert code in ((2,) if problem else (1, 2))
    assert problem in printed.out + printed.err
    assert "RELABELLED" not in printed.out


def test_metadata_refutes_a_declaration_in_a_file(tmp_path: Path) -> None:
    """An instruction with scales of one block each, and one with metadata, whose A has no k."""
    path = tmp_path / "maps.toml"
    sparse = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"
    path.write_text(RELABELLED.replace("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", sparse), encoding="utf-8")
    with pytest.raises(UsageError, match="isn't a permutation, for A, of its k: it has none"):
        verify_index(path)

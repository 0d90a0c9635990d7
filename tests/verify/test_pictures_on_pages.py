# SPDX-License-Identifier: Apache-2.0
"""A verdict's page has the picture of its subject, whatever the subject is, or says why it has none."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.verify.report.test_as_html import Page
from verify.index import command as index
from verify.kernel import command as kernel_command
from verify.layout import command as layout
from verify.movement import command as movement
from verify.report import as_html
from verify.scan import command as scan
from verify.tiling import command as tiling

Command = Callable[[Sequence[str]], int]
MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
WRONG_INDEX = ["--lang", "c", "--operand", "C", "--row", "lane/4 + 8*(i%2)", "--col", "lane%4*2 + i/2", "--ptx", MMA]
SHARED = ["--shared", "256:1", "--access", "(32,1):(2,0)", "--element", "32"]


def page(command: Command, words: Sequence[str], target: Path) -> str:
    assert command([*words, "--format", "html", "-o", str(target)]) in (0, 1, 4)
    return target.read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "words", "shown"),
    [
        (index.main, WRONG_INDEX, "≠T0 V1"),
        (index.main, ["examples/maps.toml"], "T4"),
        (tiling.main, ["--atom", "SM80_16x8x8_F32F16F16F32_TN", "--atoms-layout", "2,1,1"], "C 32x8 (m,n)"),
        (movement.main, SHARED, "2 wavefronts"),
        (movement.main, ["examples/movement.toml", "--only", "ldmatrix fills A"], "what arrives"),
        (layout.main, ["((4,8),8):((32,1),8)", "--onto", "8x32"], "no owner"),
        (layout.main, ["(4,2):(2,1)", "--equals", "(4,2):(1,4)"], "≠4"),
    ],
    ids=["index", "index-file", "tiling", "access", "hand-over", "layout", "equal"],
)
def test_a_page_has_its_picture(command: Command, words: list[str], shown: str, tmp_path: Path) -> None:
    text = page(command, words, tmp_path / "page.html")
    made = Page(text)
    assert "svg" in made.tags and shown in text and "Not drawn" not in text
    assert len(set(made.ids)) == len(made.ids) and len(text) < 1_000_000 * len(made.cases)


@pytest.mark.long
def test_a_definition_of_a_header_has_its_picture(tmp_path: Path) -> None:
    text = page(scan.main, ["examples/headers", "--checks", "isa"], tmp_path / "page.html")
    assert "svg" in Page(text).tags and "B 8x16 (n,k)" in text and "Not drawn" not in text


def test_a_tiling_that_is_not_drawn_names_the_command_that_draws_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(as_html, "DRAWN", 1)
    entry = '["{0}"]\natom = "SM80_16x8x8_F32F16F16F32_TN"\n'
    file = tmp_path / "many.toml"
    file.write_text("\n".join(entry.format(f"number {i}") for i in range(2)), encoding="utf-8")
    words = "".join(Page(page(tiling.main, [str(file)], tmp_path / "page.html")).words)
    assert f"Not drawn: a page draws 1 subjects; lanecheck show {file} --only 'number 1' draws it." in words


def test_an_atom_that_is_not_well_formed_says_so_in_place_of_its_picture(tmp_path: Path) -> None:
    atoms = tmp_path / "atoms.toml"
    atoms.write_text(
        '["odd"]\nptx = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"\n'
        'A = "((4,8),(2,2)):((32,1),(16,8))"\nB = "((4,8),2):((16,1),(8,8))"\nC = "((4,8),(2,2)):((32,1),(16,8))"\n',
        encoding="utf-8",
    )
    words = ["--atoms", str(atoms), "--atom", "odd"]
    text = page(tiling.main, words, tmp_path / "page.html")
    assert "B = ((4,8),2):((16,1),(8,8)) is not well formed" in text and "A 16x8 (m,k)" in text


def test_a_conflict_is_drawn_before_and_after_its_repair(tmp_path: Path) -> None:
    shared = ["--shared", "(128,32):(32,1)", "--access", "((16,2),(8,2,8)):((1,1024),(128,2048,16))"]
    words = [*shared, "--element", "16", "--how", "ldmatrix"]
    text = page(movement.main, words, tmp_path / "page.html")
    assert "16 wavefronts before the repair Sw&lt;2,3,3&gt; of elements, 4 after" in text
    assert text.index("T0 and T2 access words 0 and 32 of bank 0") < text.index("<svg")  # the verdict is on top
    before, after = (
        re.findall(rf">{name}: phase \d, lanes \d+-\d+, (\d) wavefront", text) for name in ("before", "after")
    )
    assert before[:4] == ["4"] * 4 and after[:4] == ["1"] * 4


@pytest.mark.parametrize(
    ("kernel", "claim", "place", "quoted"),
    [
        ("wrong", "matmul", "examples/kernel/matmul.py:23:17", "23 | total = tl.dot(x, y, total)\n   |         ^"),
        (
            "fragment",
            "fragment",
            "examples/kernel/fragment.ptx:27:81",
            "27 | … {%r10,%r11,%r12,%r13}, {%r14,%r15}, {%f0,%f0,%f0,%f0};\n   |              ^",
        ),
    ],
)
def test_a_page_of_a_kernel_begins_with_the_line_and_the_operand_that_are_wrong(
    kernel: str, claim: str, place: str, quoted: str, tmp_path: Path
) -> None:
    words = [f"examples/kernel/{kernel}.ptx", "--claim", f"examples/kernel/{claim}.toml", "--seed", "1"]
    text = page(kernel_command.main, words, tmp_path / "page.html")
    first = text.partition("<svg")[0]
    assert f">{place}<" in first and "ptx:1:1" not in first and quoted in first
    file, line, column = place.split(":")
    registers = Path(file).read_text(encoding="utf-8").splitlines()[int(line) - 1][int(column) - 1 :]
    assert registers.startswith(("tl.dot(", "%r12,"))

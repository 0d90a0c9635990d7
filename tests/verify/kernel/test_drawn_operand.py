# SPDX-License-Identifier: Apache-2.0
"""A wrong operand of a kernel, by its report as JSON, in a picture: what each slot holds, and what it should hold."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from verify.core.verdict import ProductOperand, WrongProduct
from verify.kernel.command import main as verify_kernel
from verify.pictures.products import of_product
from verify.show.command import main

ROOT = Path(__file__).parents[3]
KERNEL = ROOT / "examples" / "kernel"
WORDS = [str(KERNEL / "fragment.ptx"), "--claim", str(KERNEL / "fragment.toml"), "--seed", "1", "-q"]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kernel") / "report.json"
    assert verify_kernel([*WORDS, "--format", "json", "-o", str(path)]) == 1
    return path


def cells(path: Path, words: list[str], target: Path) -> dict[str, list[str]]:
    """The words in each cell of an SVG that is drawn of a report, by what a pointer shows there first."""
    assert main([str(path), *words, "--svg", "-o", str(target)]) == 1
    svg = "{http://www.w3.org/2000/svg}"
    groups = [group for group in ElementTree.parse(target).iter(f"{svg}g") if group.find(f"{svg}title") is not None]
    return {
        (group.findtext(f"{svg}title") or "").partition(" holds ")[0]: [
            text.text or "" for text in group.iter(f"{svg}text")
        ]
        for group in groups
    }


def test_each_slot_says_what_it_holds_and_what_the_instruction_wants(report: Path, tmp_path: Path) -> None:
    drawn = cells(report, ["--operand", "A"], tmp_path / "a.svg")
    assert len(drawn) == 256
    assert drawn["lane 0, A register 0 low half"] == ["0,0"]
    assert drawn["lane 5, A register 1 high half"] == ["1,11", "≠9,3"]  # row g, k 8 to 15, in place of row g + 8
    assert drawn["lane 5, A register 2 high half"] == ["9,3", "≠1,11"]
    assert all(len(words) == 1 for words in cells(report, ["--operand", "B"], tmp_path / "b.svg").values())


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--no-unicode"], ">8,0"),
        (["--no-unicode"], "#0,8"),
        (["--no-unicode"], "# what the instruction wants, > the slot that is named"),
        (["--html"], "the instruction wants A[m=0,k=8]"),
        (["--latex"], r"\textbf{$\neq$0,8}"),
        (["-q"], "fragment M=16 N=8 K=16: REFUTED"),
    ],
)
def test_every_writer_draws_it(words: list[str], shown: str, report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(report), *words]) == 1
    assert shown in capsys.readouterr().out


def test_the_page_of_the_verdict_draws_it_too(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert verify_kernel([*WORDS, "--format", "html", "-o", str(page)]) == 1
    text = page.read_text(encoding="utf-8")
    assert "the instruction wants A[m=0,k=8]" in text and "M = 16, N = 8, K = 16; grid 1x1x1 of 32 threads" in text
    right = tmp_path / "right.ptx"
    text = (KERNEL / "fragment.ptx").read_text(encoding="utf-8")
    right.write_text(text.replace("{%r10,%r11,%r12,%r13}", "{%r10,%r12,%r11,%r13}"), encoding="utf-8")
    assert verify_kernel([str(right), *WORDS[1:], "--format", "html", "-o", str(page)]) == 0
    assert "Not drawn: no operand of a matrix product was found to be wrong" in page.read_text(encoding="utf-8")


def test_where_nothing_decides_each_operand_has_what_the_other_one_implies() -> None:
    a = ProductOperand("A", (("A[m=0,k=8]",),), (("A[m=0,k=0]",),))
    b = ProductOperand("B", (("B[k=0,n=0]",),), (("B[k=8,n=0]",),))
    picture = of_product("kernel", WrongProduct(7, "wgmma", (a, b), False, "A or B"))
    assert [(cell.text, cell.expected, cell.marked) for panel in picture.panels for cell in panel.every()] == [
        ("0,8", "0,0", False), ("0,0", "8,0", False),
    ]  # fmt: skip
    assert "one of the two is wrong" in picture.legend()[0][1]
    assert picture.panels[0].cells[0][0].about == (
        "shared memory, A[0,0] of the instruction, holds A[m=0,k=8]", "the other operand implies A[m=0,k=0]",
    )  # fmt: skip


def test_an_element_of_another_array_and_a_computed_value_are_named() -> None:
    wrong = ProductOperand("A", (("A[m=0,k=0]", "B[k=3,n=4]", ""),), (("A[m=0,k=0]", "A[m=0,k=1]", ""),))
    (panel,) = of_product("kernel", WrongProduct(7, "mma", (wrong,), True)).panels
    assert [(cell.text, cell.expected) for cell in panel.every()] == [("0,0", ""), ("B[3,4]", "0,1"), ("computed", "")]


@pytest.mark.parametrize(
    "change",
    [
        lambda operand: operand.update(name="<script>"),
        lambda operand: operand.update(holds=[]),
        lambda operand: operand["wants"].pop(),
        lambda operand: operand["slots"].__setitem__(3, "0.0 x"),
        lambda operand: operand.update(holds=7),
        lambda operand: operand.pop("wants"),
    ],
    ids=["name", "empty", "a row less", "no slot", "no rows", "no wants"],
)
def test_a_changed_operand_is_one_line(
    change: Callable[[dict[str, Any]], object], report: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(report.read_text(encoding="utf-8"))
    change(document["subjects"][0]["wrong_product"]["operands"][0])
    path = tmp_path / "report.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert main([str(path)]) == 2
    assert "a report that was changed" in (line := capsys.readouterr().err) and len(line.splitlines()) == 1


def test_text_of_a_report_is_no_markup(report: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(report.read_text(encoding="utf-8"))
    product = document["subjects"][0]["wrong_product"]
    product["text"] = "<script>alert(1)</script>"
    product["operands"][0]["holds"][0] = " ".join(["<b>\\input{x}"] * 16)
    path = tmp_path / "report.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    for option in ("--html", "--svg", "--latex"):
        assert main([str(path), option]) == 1
        text = capsys.readouterr().out
        assert "<script>alert" not in text and (option == "--latex" or "<b>" not in text)
        assert option != "--latex" or "\\input" not in text

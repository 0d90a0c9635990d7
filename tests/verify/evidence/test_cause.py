# SPDX-License-Identifier: Apache-2.0
"""One mistake is one block of a report in every form, with its consequences folded; two mistakes are two."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest

from verify import verify_atom, verify_index, verify_layout, verify_map
from verify.core.verdict import Status
from verify.report import Case, Report, as_github, as_html, as_json, as_sarif

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
A, B, C = "((4,8),(2,2,2)):((32,1),(16,8,128))", "((4,8),(2,2)):((16,1),(8,64))", "((4,8),(2,2)):((32,1),(16,8))"


def blocks(case: Case) -> int:
    """How many claims a report tells whole."""
    return len(re.findall(r"  (?:REFUTED|RELABELLED)   ", case.text()))


def list_refuted(case: Case) -> list[str]:
    return [verdict.claim.prop.key for verdict in case.verdicts if verdict.status is Status.REFUTED]


def index(row: str, col: str, operand: str = "C", **more: str) -> Case:
    return verify_index(ptx=MMA, operand=operand, lang="c", row=row, col=col, **more).cases[0]


THREE = ["in_bounds", "ownership", "equals_isa"]
ONE = {
    "a layout's thread stride": lambda: verify_layout("((4,8),(2,2)):((32,2),(16,8))", ptx=MMA, operand="C").cases[0],
    "a layout's value stride": lambda: verify_layout("((4,8),(2,2)):((32,1),(16,16))", ptx=MMA, operand="C").cases[0],
    "a layout's column stride": lambda: verify_layout("((4,8),(2,2)):((33,1),(16,8))", ptx=MMA, operand="C").cases[0],
    "behind a swizzle": lambda: verify_layout(
        "Sw<0,0,0> o ((4,8),(2,2)):((32,1),(16,16))", ptx=MMA, operand="C"
    ).cases[0],
    "as a map": lambda: verify_map("((4,8),(2,2)):((32,1),(16,16))", MMA, "C").cases[0],
    "a factor": lambda: index("lane/4 + 16*(i/2)", "lane%4*2 + i%2"),
    "a missing factor": lambda: index("lane/4 + 8*(i/2)", "lane%4*4 + i%2"),
    "a divisor": lambda: index("lane/2 + 8*(i/2)", "lane%4*2 + i%2"),
    "a constant": lambda: index("lane/4 + 8*(i/2) + 1", "lane%4*2 + i%2"),
    "an inverse map": lambda: verify_index(
        ptx=MMA, operand="C", lang="c", lane="row%8*8 + col/2", value="row/8*2 + col%2"
    ).cases[0],
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("what", ONE)
def test_what_one_mistake_refutes_is_one_block(what: str) -> None:
    case = ONE[what]()
    assert list_refuted(case) == THREE, case.text()
    assert blocks(case) == 1, case.text()
    equal = next(v for v in case.verdicts if v.claim.prop.key == "equals_isa")
    assert [v.cause for v in case.verdicts if v.status is Status.REFUTED] == ["equals_isa", "equals_isa", ""]
    text = case.text()
    assert equal.counterexample is not None and equal.counterexample.statement in text
    for verdict in case.verdicts:
        if verdict.cause:  # told in a line, which hides nothing
            assert verdict.counterexample is not None
            (line,) = [row for row in text.splitlines() if verdict.claim.text in row]
            assert line.startswith("  so too") and verdict.counterexample.statement in line
            assert verdict.counterexample.damage[0] in line
    assert "3 refuted" in text and case.exit() == 1
    assert equal.counterexample.statement in repr(case)


TWO = {
    "two strides of a layout": lambda: verify_layout("((4,8),(2,2)):((32,2),(16,16))", ptx=MMA, operand="C").cases[0],
    "two strides of the threads": lambda: verify_layout(
        "((4,8),(2,2)):((48,2),(16,8))", ptx=MMA, operand="C"
    ).cases[0],
    "two strides of the values": lambda: verify_layout("((4,8),(2,2)):((32,1),(48,16))", ptx=MMA, operand="C").cases[0],
    "a row and a column": lambda: index("lane/4 + 16*(i/2)", "lane%4*2 + i%2 + 1"),
    "two factors of a row": lambda: index("lane/4*2 + 16*(i/2)", "lane%4*2 + i%2"),
    "two factors of the lane": lambda: index("lane/4*2 + 8*(i/2)", "lane%4*3 + i%2"),
    "two divisors": lambda: index("lane/2 + 8*(i/4)", "lane%4*2 + i%2"),
    "a divisor and a modulus": lambda: index("lane/2 + 8*(i/2)", "lane%8*2 + i%2"),
    "a factor and a constant": lambda: index("lane/4 + 16*(i/2) + 1", "lane%4*2 + i%2"),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("what", TWO)
def test_two_mistakes_are_two_blocks_or_more(what: str) -> None:
    case = TWO[what]()
    assert "equals_isa" in list_refuted(case) and len(list_refuted(case)) > 1
    assert blocks(case) >= 2, case.text()


@pytest.mark.parametrize(
    ("text", "refuted", "count"),
    [
        ("((4,8),(2,2)):((32,1),(16,16))", ["in_bounds", "ownership"], 2),  # values that collide, too
        ("((4,8),(2,2)):((32,1),(16,200))", ["in_bounds", "ownership"], 1),
        ("((4,8),(2,2)):((0,1),(16,200))", ["in_bounds", "ownership"], 2),  # threads that collide, too
        ("Sw<0,0,0> o ((4,8),(2,2)):((32,1),(16,200))", ["in_bounds", "ownership"], 1),
        ("((4,8),(2,2)):((32,1),(16,0))", ["ownership"], 1),
    ],
)
def test_on_a_tile_alone_missing_elements_follow_from_those_outside(text: str, refuted: list[str], count: int) -> None:
    case = verify_layout(text, onto=(16, 8)).cases[0]
    assert list_refuted(case) == refuted and blocks(case) == count, case.text()


def atom(folder: Path, **layouts: str) -> Report:
    operands = {"A": A, "B": B, "C": C, **layouts}
    path = folder / "mine.toml"
    path.write_text(f'[mine]\nptx = "{MMA}"\n' + "".join(f'{name} = "{text}"\n' for name, text in operands.items()))
    return verify_atom(path)


def test_each_operand_of_an_atom_has_a_block_of_its_own(tmp_path: Path) -> None:
    case = atom(tmp_path, C="((4,8),(2,2)):((32,1),(16,16))").cases[0]
    assert [v.claim.part for v in case.verdicts if v.status is Status.REFUTED][:3] == ["C", "C", "C"]
    assert len(re.findall(r"^mine  C  REFUTED   ", case.text(), re.M)) == 1
    two = atom(tmp_path, C="((4,8),(2,2)):((32,1),(16,16))", A="((4,8),(2,2,2)):((32,1),(16,16,128))").cases[0]
    assert len(re.findall(r"^mine  [AC]  REFUTED   ", two.text(), re.M)) == 2


def test_sarif_and_github_tell_it_once(tmp_path: Path) -> None:
    report = atom(tmp_path, C="((4,8),(2,2)):((32,1),(16,16))")
    (run,) = json.loads(as_sarif.render(report))["runs"]
    (result,) = run["results"]
    assert result["ruleId"] == "equals_isa"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["equals_isa"]
    refuted = [v for v in report.cases[0].verdicts if v.status is Status.REFUTED]
    told = [v.counterexample.statement for v in refuted if v.counterexample is not None]
    assert len(told) == 4 and all(statement in result["message"]["text"] for statement in told)
    github = as_github.render(report)
    assert github.count("::error") == 1 and all(statement in github for statement in told)
    two = Report((TWO["a row and a column"](),))
    assert len(json.loads(as_sarif.render(two))["runs"][0]["results"]) == 2


def test_json_keeps_every_claim_and_names_the_cause() -> None:
    (subject,) = json.loads(as_json.render(Report((ONE["a factor"](),))))["subjects"]
    listed = [(verdict["property"], verdict["status"], verdict.get("cause")) for verdict in subject["verdicts"]]
    assert listed[1:] == [
        ("in_bounds", "REFUTED", "equals_isa"), ("ownership", "REFUTED", "equals_isa"), ("equals_isa", "REFUTED", None),
    ]  # fmt: skip
    assert all(verdict["counterexample"] for verdict in subject["verdicts"][1:])
    (subject,) = json.loads(as_json.render(Report((TWO["a row and a column"](),))))["subjects"]
    listed = [
        (verdict["property"], verdict.get("cause")) for verdict in subject["verdicts"] if verdict["status"] == "REFUTED"
    ]
    assert listed == [("in_bounds", None), ("ownership", "in_bounds"), ("equals_isa", None)]


def test_a_page_tells_it_once() -> None:
    single, two = (
        html.unescape(as_html.render(Report((made(),)))) for made in (ONE["a factor"], TWO["a row and a column"])
    )
    above = 1  # the first counterexample stands above its picture too
    assert single.count('class="wrong"') == above + 1 and single.count("follows from C equals isa") == 2
    assert two.count('class="wrong"') == above + 2 and two.count("follows from C in bounds") == 1


def test_a_failing_test_of_pytest_tells_it_once(tmp_path: Path) -> None:
    from verify.gate import Suite

    path = tmp_path / "maps.toml"
    path.write_text(
        f'["one"]\nptx = "{MMA}"\noperand = "C"\nlang = "c"\nrow = "lane/4 + 16*(i/2)"\ncol = "lane%4*2 + i%2"\n'
    )
    suite = Suite()
    failure = suite.verify(suite.read_entries(path)[0]).failure
    assert len(re.findall("  REFUTED   ", failure)) == 1 and failure.count("so too") == 2

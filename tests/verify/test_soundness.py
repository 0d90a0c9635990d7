# SPDX-License-Identifier: Apache-2.0
"""Wrong atoms in disguise: none may be VERIFIED, and one bad atom must not hide the verdicts on others."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from layouts import Layout
from layouts.atoms import Atom, load, registry
from verify.atom import command
from verify.atom.checker import AtomChecker
from verify.core.verdict import Check
from verify.report import Case

NAME = "SM80_16x8x16_F32F16F16F32_TN"


WRONG_B = "((4,8),(2,2)):((1,4),(32,64))"  # a bijection onto 8x16, and wrong


def atom(name: str = NAME, **changes: object) -> Atom:
    entry = registry()[name]
    assert isinstance(entry, Atom)
    operands = dict(entry.operands) | changes.pop("operands", {})  # type: ignore[call-overload]
    return replace(entry, operands=operands, **changes)  # type: ignore[arg-type]


def status(atom: Atom, *checks: Check) -> str:
    checker = AtomChecker(frozenset(checks)) if checks else AtomChecker()
    return Case(atom.name, tuple(checker.verify(atom))).status


def test_a_misspelt_family_is_not_verified() -> None:
    assert (
        status(atom(operands={"B": WRONG_B}, ptx=("mma.synk.aligned.m16n8k16.row.col.f32.f16.f16.f32",))) != "VERIFIED"
    )


@pytest.mark.parametrize(
    "operands",
    [{"A": "((4,8,2),(2,2,2)):((32,1,0),(16,8,128))"}, {"A": "((4,16),(2,2,2)):((32,1),(16,8,128))"}],
)
def test_too_many_threads_are_refuted_by_every_check(operands: dict[str, str]) -> None:
    for check in Check:
        assert status(atom(operands=operands), check) == "REFUTED"


@pytest.mark.parametrize(
    ("element", "right"),
    [({}, True), ({"A": "7xs8"}, False), ({"A": "2xf64"}, False), ({"A": "1xf16"}, True), ({"A": "2xf16"}, False)],
)
def test_elements_are_of_the_type_and_take_several_instructions(element: dict[str, str], right: bool) -> None:
    assert (status(atom(element=element)) == "VERIFIED") == right


@pytest.mark.parametrize("name", ["SM80_8x8x4_C64C64C64C64_TN", "SM80_8x8x4_GC64C64C64GC64_TN"])
def test_a_composed_atom_issues_as_many_instructions_as_its_components_take(name: str) -> None:
    right = atom(name)
    assert status(right) == "VERIFIED"
    assert status(atom(name, ptx=(right.ptx or ())[:1])) == "REFUTED"


@pytest.mark.parametrize("c", ["((4,8),(2,2,)):((32,1),(16,8,))", "((4,8,),(2,2,())):((32,1,),(16,8,()))"])
def test_commas_before_parentheses_and_empty_modes_are_read_twice_alike(c: str) -> None:
    assert status(atom(operands={"C": c})) == "VERIFIED"
    assert status(atom(operands={"C": c.replace("16", "8").replace(",8,", ",16,")})) == "REFUTED"


def test_an_accumulator_has_the_components_of_the_result() -> None:
    right = atom("SM80_8x8x4_C64C64C64C64_TN")
    assert status(replace(right, element={**right.element, "C": "1xf64"})) == "REFUTED"


def test_an_instruction_issued_again_on_the_same_elements_is_a_fault() -> None:
    """D = A*B + C twice is D = 2*A*B + C: only elements of several components take an instruction several times."""
    once = atom().ptx or ()
    assert len(once) == 1 and status(atom()) == "VERIFIED" and status(atom(ptx=once * 2)) == "REFUTED"


def test_a_bug_in_the_parser_contradicts_a_second_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    true_parse = Layout.parse
    monkeypatch.setattr(Layout, "parse", staticmethod(lambda text: true_parse(text.replace("(8,16)", "(16,8)"))))
    wrong = atom(operands={"C": "((4,8),(2,2)):((32,1),(8,16))"})
    assert status(wrong) == "CONTRADICTION"


def test_one_wrong_atom_leaves_the_others_their_verdicts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry = """
["{name}"]
ptx = ["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"]
shape = [16, 8, 16]
thr = "{thr}"
types = {{ D = "f32", A = "f16", B = "f16", C = "f32" }}
A = "((4,8),(2,2,2)):((32,1),(16,8,128))"
B = "((4,8),(2,2)):((16,1),(8,64))"
C = "((4,8),(2,2)):((32,1),(16,8))"
source = "a test"
"""
    path = tmp_path / "two.toml"
    path.write_text(entry.format(name="bad", thr="64:1") + entry.format(name="fine", thr="32:1"))
    assert command.main(["--atoms", str(path)]) == 1
    output = capsys.readouterr().out
    assert re.search(r"^fine +VERIFIED", output, re.MULTILINE) and re.search(r"^bad .*REFUTED", output, re.MULTILINE)
    assert len(load(path)) == 2


@pytest.mark.parametrize(
    ("name", "types"),
    [
        ("SM90_64x8x16_F32F16F16_SS", {"C": "f64"}),  # no instruction of its own for C: it is D's registers
        ("SM90_64x8x16_F32F16F16_SS", {"C": "f16"}),
        ("SM90::GMMA::SPARSE::GMMA_64x8x32_F16F16F16_SS", {"C": "f32"}),
        (next(name for name in registry() if name.startswith("SM100_MMA_F16BF16_SS<")), {"D": "f16"}),
    ],
)
def test_an_accumulator_without_an_operand_of_its_own_is_of_the_type_of_the_result(
    name: str, types: dict[str, str]
) -> None:
    assert status(atom(name), Check.ISA) == "VERIFIED"
    assert status(atom(name, types=dict(registry()[name].types) | types), Check.ISA) == "REFUTED"  # type: ignore[union-attr]

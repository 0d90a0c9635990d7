# SPDX-License-Identifier: Apache-2.0
"""An atom bound to its instruction: faults of threads, spaces and operands are found while it is bound."""

from __future__ import annotations

from dataclasses import replace

import pytest

from layouts.atoms import Atom, AtomFileError, registry
from tests.verify.test_families import WGMMA, list_refuted, shelf
from tests.verify.test_soundness import NAME, atom, status
from verify.atom.checker import AtomChecker
from verify.atom.properties import PRODUCT
from verify.binding.atom import count_contracted
from verify.core.verdict import Check, Status
from verify.report import Case


def test_an_element_is_one_number_where_there_is_no_single_instruction() -> None:
    assert count_contracted(registry()["UniversalFMA<float,float,float,float>"]) == 1


def test_an_operand_that_the_instruction_does_not_have_is_named() -> None:
    atom = next(iter(shelf("sm120.toml").values()))
    assert isinstance(atom, Atom)
    wrong = replace(atom, operands={**atom.operands, "E": "((2,2,8),32):((8,512,1),16)"})
    with pytest.raises(AtomFileError, match=r"\.E: mma\.sync.* has no operand E"):
        AtomChecker().verify(wrong)


def test_a_space_that_is_not_the_instructions_is_a_fault() -> None:
    atom = WGMMA["SM90_64x24x16_F32F16F16_SS"]
    assert isinstance(atom, Atom)
    assert ("", "signature") in list_refuted(replace(atom, space={"A": "smem", "B": "reg"}))


@pytest.mark.parametrize(
    ("thr", "words"),
    [
        ("64:1", "numbers 64 threads"),
        ("16384:1", "numbers 16384 threads"),
        ("32:1000000", "up to lane"),
        ("32:0", "replica"),
        ("16:1", ""),
        ("(4,2):(1,20)", ""),
        ("-32:1", "extents"),
        ("(4,8):(8,1)", ""),
    ],
)
def test_threads_at_fault_are_a_wrong_claim_and_the_only_repair_is_theirs(thr: str, words: str) -> None:
    verdicts = AtomChecker().verify(atom(thr=thr))
    case = Case(NAME, tuple(verdicts))
    assert case.status == "REFUTED"
    reported = [v.counterexample for v in verdicts if v.counterexample is not None]
    assert any(words in wrong.statement for wrong in reported)
    if thr != "(4,8):(8,1)":
        assert {wrong.repair for wrong in reported if wrong.repair} == {'give thr = "32:1"'}


@pytest.mark.parametrize(
    "shape",
    [(128, 64, 8), (8, 64, 128), (128, 4, 64)],
)
def test_a_tile_that_lacks_elements_of_the_instruction_is_refuted(shape: tuple[int, int, int]) -> None:
    """Its layouts stay inside the tile, which is longer along another axis; the instruction does not."""
    verdicts = AtomChecker().verify(atom(shape=shape))
    assert [v.claim.part for v in verdicts if v.status is Status.REFUTED] == ["shape"]
    product = next(v for v in verdicts if v.claim.prop == PRODUCT)
    assert product.status is Status.UNCHECKED and "shape" in product.reason


def test_a_tile_in_memory_is_seen_by_every_thread_also_where_no_instruction_is_named() -> None:
    bare = atom("SM90_64x8x16_F32F16F16_SS", ptx=None)
    assert status(bare, Check.ISA, Check.PROOF) == "UNCHECKED"
    for wrong in ("(128,(64,16)):(1,(1,64))", "(128,(64,16)):(0,(1,32))", "(64,(64,16)):(0,(1,64))"):
        assert status(replace(bare, operands={**bare.operands, "A": wrong}), Check.ISA) == "REFUTED"

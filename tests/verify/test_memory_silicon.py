# SPDX-License-Identifier: Apache-2.0
"""Atoms with operands in shared memory before recordings: what is compared, what is not, and that it can fail."""

from dataclasses import replace

import numpy as np
import pytest

import gpu_checks
import isa_tables
from layouts.atoms import Atom, registry
from verify.judgement import Court
from verify.silicon import Recorded
from verify.verdict import Evidence, Kind, Status, Witness

SILICON = frozenset({Witness.SILICON})
RS, SS = "SM90_64x16x16_F32F16F16_RS", "SM90_64x16x16_F32F16F16_SS"
MNEMONIC = "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16"
SPARSE = "SM90::GMMA::SPARSE::GMMA_64x64x32_F32F16F16_"


def mma(name: str) -> Atom:
    atom = registry()[name]
    assert isinstance(atom, Atom)
    return atom


def heard(atom: Atom, kind: Kind = Kind.RELATION, court: Court | None = None) -> Evidence:
    verdicts = (court or Court(SILICON)).judge(atom, lambda claim: claim.kind is kind)
    (evidence,) = verdicts[-1].evidence
    return evidence


def changed(name: str, **operands: str) -> Atom:
    return replace(mma(name), operands={**mma(name).operands, **operands})


@pytest.mark.parametrize("name", [RS, SS, SPARSE + "RS", SPARSE + "SS"])
def test_atoms_agree_and_say_what_is_not_compared(name: str) -> None:
    relation = heard(mma(name))
    assert relation.status is Status.AGREES and relation.points > 1000
    in_memory = "B" if name.endswith("RS") else "AB"
    for operand in in_memory:
        assert f"{operand} by the book's addresses, not in the order of its values" in relation.reason
    assert ("without k and E, which metadata rules" in relation.reason) == ("SPARSE" in name)
    absolute = heard(mma(name), Kind.EQUALS_ABSOLUTE)
    assert absolute.status is Status.AGREES and "wgmma D" in absolute.reason


MMA_SP = Atom(
    name="sparse in registers",
    ptx=("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",),
    shape=(16, 8, 16),
    thr="32:1",
    types={"D": "f32", "A": "f16", "B": "f16", "C": "f32"},
    operands={
        "A": "((4,8),(4,2)):((64,1),(16,8))",
        "B": "((4,8),(2,2)):((16,1),(8,64))",
        "C": "((4,8),(2,2)):((32,1),(16,8))",
        "E": "((4,8),(16,2)):((0,1),(16,8))",
    },
    source="a test",
    element={},
    known_defect=None,
    file="",
)


def test_a_sparse_instruction_in_registers_is_compared_on_m_and_n() -> None:
    assert not [v for v in Court().judge(MMA_SP) if v.status is Status.REFUTED]
    found = heard(MMA_SP)
    assert found.status is Status.AGREES and found.reason == "without k and E, which metadata rules"
    for operand, text in (("A", "((4,8),(4,2)):((64,1),(8,16))"), ("C", "((4,8),(2,2)):((32,1),(8,16))")):
        wrong = replace(MMA_SP, operands={**MMA_SP.operands, operand: text})
        assert heard(wrong).status is Status.REFUTED


WRONG = [
    (RS, "A", "((4,8,4),(2,2,2)):((128,1,16),(8,64,512))", "m of A and C"),  # rows and k exchanged
    (RS, "A", "((4,8,4),(2,2,2)):((128,1,16),(64,8,0))", "k of A and B"),
    (RS, "A", "((4,8,4),(2,2,2)):((64,1,16),(128,8,512))", "k of A and B"),  # another order of k than B's addresses
    (RS, "C", "((4,8,4),(2,2,2)):((64,1,16),(128,8,512))", "n of B and C"),
    (SS, "C", "((4,8,4),(2,2,2)):((64,1,16),(128,8,512))", "n of B and C"),
    (SS, "C", "((4,8,4),(2,2,2)):((128,2,16),(64,1,512))", "m of A and C"),  # what RS could not tell from A's rows
    (SPARSE + "RS", "A", "((4,8,4),(4,2,2)):((256,1,16),(64,1024,8))", "m of A and C"),
    (SPARSE + "SS", "C", "((4,8,4),(2,2,8)):((128,1,16),(8,64,512))", "m of A and C"),
]


@pytest.mark.parametrize(("name", "operand", "text", "where"), WRONG)
def test_a_wrong_operand_in_registers_conflicts(name: str, operand: str, text: str, where: str) -> None:
    found = heard(changed(name, **{operand: text}))
    assert found.status is Status.REFUTED and found.counterexample is not None
    assert found.counterexample.extent.startswith(where)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("(128,(16,16)):(1,(1,16))", "B is in memory, and its threads do not see it alike"),
        ("(128,(16,16)):(0,(1,0))", "B is in memory, and its values are not each element of 16x16 (n,k) once"),
    ],
)
def test_a_matrix_in_memory_that_is_not_whole_is_not_compared(text: str, why: str) -> None:
    found = heard(changed(RS, B=text))
    assert found.status is Status.UNCHECKED and found.reason == why


def test_the_order_of_values_in_memory_is_the_books_to_refute() -> None:
    """Silicon cannot see it, says so, and the book refutes it."""
    other = changed(RS, B="(128,(16,16)):(0,(16,1))")
    assert heard(other).status is Status.AGREES
    (verdict,) = Court(frozenset({Witness.BOOK})).judge(
        other, lambda claim: claim.kind is Kind.EQUALS and claim.part == "B"
    )
    assert verdict.status is Status.REFUTED


def court(recording: gpu_checks.Recording) -> Court:
    found = Recorded({MNEMONIC: (recording,)})  # type: ignore[arg-type]
    return Court(SILICON, lookup=found)


@pytest.mark.parametrize("swizzle", ["none", "32B", "64B", "128B"])
@pytest.mark.parametrize("major", ["K", "MN"])
def test_one_image_recorded_otherwise_is_seen(swizzle: str, major: str) -> None:
    """Two elements of one image exchanged, in each mode of A's descriptor."""
    (recording,) = gpu_checks.recordings()[MNEMONIC]
    images = []
    for image in recording.images:
        labels = image.labels
        if (image.operand, image.swizzle, image.major) == ("A", swizzle, major):
            labels = np.array(labels)
            first, *_, last = np.flatnonzero(labels[0, :, 2] >= 0)
            labels[0, [first, last]] = labels[0, [last, first]]
        images.append(replace(image, labels=labels))
    assert heard(mma(SS), court=court(replace(recording, images=tuple(images)))).status is Status.REFUTED
    assert heard(mma(SS), court=court(recording)).status is Status.AGREES


def test_a_book_with_another_address_map_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of 16 bytes in another order than the hardware's."""
    right = isa_tables.Operand.address

    def wrong(self: isa_tables.Operand, row: object, col: object, *rest: object, **offsets: object) -> object:
        return np.asarray(right(self, row, col, *rest, **offsets)) ^ 16  # type: ignore[arg-type]

    monkeypatch.setattr(isa_tables.Operand, "address", wrong)
    assert heard(mma(RS)).status is Status.REFUTED

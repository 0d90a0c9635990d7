# SPDX-License-Identifier: Apache-2.0
"""Atoms with operands in shared memory before recordings: what is compared, what is not, and that it can fail."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import gpu_checks
import isa_tables
from isa_tables.tables import Sparsity
from layouts.atoms import Atom, registry
from verify.atom.checker import AtomChecker
from verify.atom.command import main
from verify.atom.properties import EQUALS, EQUALS_ABSOLUTE, RELATION
from verify.core.verdict import Check, Evidence, Property, Status
from verify.evidence.gpu import Recorded
from verify.evidence.gpu_sparse import Conflict, StoredElements

GPU = frozenset({Check.GPU})
RS, SS = "SM90_64x16x16_F32F16F16_RS", "SM90_64x16x16_F32F16F16_SS"
MNEMONIC = "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16"
SPARSE = "SM90::GMMA::SPARSE::GMMA_64x64x32_F32F16F16_"


def mma(name: str) -> Atom:
    atom = registry()[name]
    assert isinstance(atom, Atom)
    return atom


def evidence_on(atom: Atom, prop: Property = RELATION, checker: AtomChecker | None = None) -> Evidence:
    verdicts = (checker or AtomChecker(GPU)).verify(atom, lambda claim: claim.prop == prop)
    (evidence,) = verdicts[-1].evidence
    return evidence


def change_atom(name: str, **operands: str) -> Atom:
    return replace(mma(name), operands={**mma(name).operands, **operands})


@pytest.mark.parametrize("name", [RS, SS, SPARSE + "RS", SPARSE + "SS"])
def test_atoms_agree_and_say_what_is_not_compared(name: str) -> None:
    relation = evidence_on(mma(name))
    assert relation.status is Status.AGREES and relation.points > 1000
    in_memory = "B" if name.endswith("RS") else "AB"
    for operand in in_memory:
        assert f"{operand} by the ISA's addresses, not in the order of its values" in relation.reason
    compared = "k under 6 patterns of metadata, with their meaning in the ISA; E by the fields that select A's elements"
    assert (f"{compared} under 2 selectors" in relation.reason) == ("SPARSE" in name)
    absolute = evidence_on(mma(name), EQUALS_ABSOLUTE)
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


def test_a_sparse_instruction_in_registers_is_compared_as_a_whole() -> None:
    assert not [v for v in AtomChecker().verify(MMA_SP) if v.status is Status.REFUTED]
    evidence = evidence_on(MMA_SP)
    assert evidence.status is Status.AGREES
    assert evidence.reason.endswith("E by the fields that select A's elements under 4 selectors")


MMA_SP_WRONG = [
    ("A", "((4,8),(4,2)):((64,1),(8,16))", "m of A and C"),
    ("C", "((4,8),(2,2)):((32,1),(8,16))", "m of A and C"),
    ("B", "((4,8),(2,2)):((16,1),(64,8))", "k of A and B"),
    ("A", "((2,2,8),(4,2)):((128,64,1),(16,8))", "k of A and B"),  # lanes exchanged
    ("A", "((4,8),((2,2),2)):((64,1),((32,16),8))", "are not its columns in order"),
    ("A", "((4,8),(4,2)):((64,1),(16,8))", ""),
    ("E", "((4,8),(16,2)):((0,1),(16,8))", ""),
    ("E", "((4,8),(16,2)):((0,1),(8,16))", "m of A and E"),
    ("E", "((4,8),((4,4),2)):((0,1),((16,64),8))", ""),
    ("E", "((4,8),((4,2,2),2)):((0,1),((16,128,64),8))", "k of A and E"),  # two fields exchanged
    ("E", "((4,8),((2,2,4),2)):((0,1),((32,16,64),8))", "k of A and E"),  # two bits of a field exchanged
    ("E", "((4,8),(8,2)):((0,1),(16,8))", "E has 16 values in each lane"),
]


@pytest.mark.parametrize(("operand", "text", "where"), MMA_SP_WRONG)
def test_each_operand_of_a_sparse_instruction_in_registers_can_be_wrong(operand: str, text: str, where: str) -> None:
    evidence = evidence_on(replace(MMA_SP, operands={**MMA_SP.operands, operand: text}))
    assert evidence.status is (Status.REFUTED if where else Status.AGREES)
    if evidence.counterexample is not None:
        assert where in f"{evidence.counterexample.extent} {evidence.counterexample.statement}"


@pytest.mark.parametrize(
    ("operand", "text", "code"),
    [
        ("E", MMA_SP.operands["E"], 0),
        ("E", "((4,8),((4,2,2),2)):((0,1),((16,128,64),8))", 1),
        ("A", "((2,2,8),(4,2)):((128,64,1),(16,8))", 1),
    ],
)
def test_a_gpu_alone_refutes_k_and_metadata(operand: str, text: str, code: int, tmp_path: Path) -> None:
    """With the check `gpu` alone, a wrong E and a wrong k of A are exit 1."""
    lines = [f'{name} = "{layout}"' for name, layout in {**MMA_SP.operands, operand: text}.items()]
    head = f'ptx = ["{(MMA_SP.ptx or ("",))[0]}"]\nshape = [16, 8, 16]\nthr = "32:1"\nsource = "a test"'
    types = 'types = { D = "f32", A = "f16", B = "f16", C = "f32" }'
    path = tmp_path / "mine.toml"
    path.write_text("\n".join(["[MINE]", head, types, *lines, ""]), encoding="utf-8")
    assert main(["--atoms", str(path), "--checks", "gpu", "--require", "gpu", "-q"]) == code


WRONG = [
    (RS, "A", "((4,8,4),(2,2,2)):((128,1,16),(8,64,512))", "m of A and C"),  # rows and k exchanged
    (RS, "A", "((4,8,4),(2,2,2)):((128,1,16),(64,8,0))", "k of A and B"),
    (RS, "A", "((4,8,4),(2,2,2)):((64,1,16),(128,8,512))", "k of A and B"),  # another order of k than B's addresses
    (RS, "C", "((4,8,4),(2,2,2)):((64,1,16),(128,8,512))", "n of B and C"),
    (SS, "C", "((4,8,4),(2,2,2)):((64,1,16),(128,8,512))", "n of B and C"),
    (
        SS,
        "C",
        "((4,8,4),(2,2,2)):((128,2,16),(64,1,512))",
        "m of A and C",
    ),  # which RS does not distinguish from A's rows
    (SPARSE + "RS", "A", "((4,8,4),(4,2,2)):((256,1,16),(64,1024,8))", "m of A and C"),
    (SPARSE + "SS", "C", "((4,8,4),(2,2,8)):((128,1,16),(8,64,512))", "m of A and C"),
    (SPARSE + "RS", "A", "((4,8,4),(4,2,2)):((512,1,16),(64,8,256))", "k of A and B"),
    (SPARSE + "RS", "E", "((2,2,8,4),(16,2)):((0,1024,1,16),(64,8))", "k of A and E"),  # the lanes of a selector
    (SPARSE + "SS", "E", "((2,2,8,4),(16,2)):((0,1024,1,16),(64,8))", "k of A and E"),
    (SPARSE + "SS", "E", "((2,2,8,4),(16,2)):((1024,0,1,16),(64,16))", "m of A and E"),
    (SPARSE + "SS", "E", "((2,2,8,4),(16,2)):((1024,0,2,16),(64,8))", "m of A and E"),
]


@pytest.mark.parametrize(("name", "operand", "text", "where"), WRONG)
def test_a_wrong_operand_in_registers_conflicts(name: str, operand: str, text: str, where: str) -> None:
    evidence = evidence_on(change_atom(name, **{operand: text}))
    assert evidence.status is Status.REFUTED and evidence.counterexample is not None
    assert evidence.counterexample.extent.startswith(where)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("(128,(16,16)):(1,(1,16))", "B is in memory, and its layout differs between threads"),
        ("(128,(16,16)):(0,(1,0))", "B is in memory, and its values are not each element of 16x16 (n,k) once"),
    ],
)
def test_a_matrix_in_memory_that_is_not_whole_is_not_compared(text: str, why: str) -> None:
    evidence = evidence_on(change_atom(RS, B=text))
    assert evidence.status is Status.UNCHECKED and evidence.reason == why


def test_only_the_isa_tables_refute_the_order_of_values_in_memory() -> None:
    """The check `gpu` does not depend on it and says so; the check `isa` refutes it."""
    reordered = change_atom(RS, B="(128,(16,16)):(0,(16,1))")
    assert evidence_on(reordered).status is Status.AGREES
    (verdict,) = AtomChecker(frozenset({Check.ISA})).verify(
        reordered, lambda claim: claim.prop == EQUALS and claim.part == "B"
    )
    assert verdict.status is Status.REFUTED


@pytest.mark.parametrize("name", [SPARSE + "RS", SPARSE + "SS"])
def test_one_metadata_label_recorded_otherwise_is_seen(name: str) -> None:
    """The ruler of one element of A under one selector, and its k under one pattern."""
    (mnemonic,) = mma(name).ptx or ()
    (recording,) = gpu_checks.recordings()[mnemonic]
    metadata = recording.metadata
    assert metadata is not None and evidence_on(mma(name), checker=checker(recording)).status is Status.AGREES
    for selector, ruler in metadata.rulers.items():
        planted = np.array(ruler)
        planted[5, 3, 1] ^= 1
        changed = metadata._replace(rulers={**metadata.rulers, selector: planted})
        assert evidence_on(mma(name), checker=checker(replace(recording, metadata=changed))).status is Status.REFUTED
    for pattern, kept in metadata.kept.items():
        planted = np.array(kept)
        planted[5, 3] = planted[5, 4]
        changed = metadata._replace(kept={**metadata.kept, pattern: planted})
        evidence = evidence_on(mma(name), checker=checker(replace(recording, metadata=changed)))
        assert evidence.status is Status.REFUTED and evidence.counterexample is not None
        assert f"under metadata {pattern:#06b}" in evidence.counterexample.statement


def test_a_sparse_atom_without_e_is_compared_on_k_and_reports_that_e_is_missing() -> None:
    atom = mma(SPARSE + "RS")
    without = {name: text for name, text in atom.operands.items() if name != "E"}
    (verdict,) = AtomChecker(GPU).verify(replace(atom, operands=without), lambda claim: claim.prop == RELATION)
    compared, missing = verdict.evidence
    assert compared.status is Status.AGREES and compared.reason.endswith(
        "with their meaning in the ISA; E is not given"
    )
    assert missing.status is Status.UNCHECKED and "does not give E" in missing.reason


def test_tables_with_another_meaning_of_metadata_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patterns 4 and 14 exchanged."""
    from verify.evidence import gpu_shared_memory

    right = gpu_shared_memory._sparse  # seam: a planted bug

    def wrong(*given: object) -> object:
        stored = right(*given)  # type: ignore[arg-type]
        assert not isinstance(stored, str)
        kept = {**stored.meaning.kept, 4: stored.meaning.kept[14], 14: stored.meaning.kept[4]}
        return stored._replace(meaning=stored.meaning._replace(kept=kept))

    monkeypatch.setattr(gpu_shared_memory, "_sparse", wrong)  # seam: a planted bug
    assert evidence_on(mma(SPARSE + "SS")).status is Status.REFUTED


def checker(recording: gpu_checks.Recording) -> AtomChecker:
    lookup = Recorded({recording.mnemonic: (recording,)})  # type: ignore[arg-type]
    return AtomChecker(GPU, lookup=lookup)


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
        images.append(image._replace(labels=labels))
    assert evidence_on(mma(SS), checker=checker(replace(recording, images=tuple(images)))).status is Status.REFUTED
    assert evidence_on(mma(SS), checker=checker(recording)).status is Status.AGREES


def test_tables_with_another_address_map_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of 16 bytes in another order than the hardware's."""
    right = isa_tables.Operand.address

    def wrong(self: isa_tables.Operand, row: object, col: object, *rest: object, **offsets: object) -> object:
        return np.asarray(right(self, row, col, *rest, **offsets)) ^ 16  # type: ignore[arg-type]

    monkeypatch.setattr(isa_tables.Operand, "address", wrong)
    assert evidence_on(mma(RS)).status is Status.REFUTED


def test_a_stored_element_with_a_k_that_b_does_not_have_is_reported() -> None:
    """B has k up to 3, of classes 10 to 13; of four stored elements the last two have k = 4 and 5."""
    elements = np.array([[[0, 0], [0, 2], [0, 4], [0, 6]]])
    seen = SimpleNamespace(kept={4: np.array([[10, 11, 1, 21]])})
    stored = StoredElements(Sparsity(4, {4: (0, 1)}), seen, elements, None, (np.arange(4), np.arange(10, 14)), None)
    conflict = stored.compare()
    assert isinstance(conflict, Conflict) and (conflict.operands, conflict.lane, conflict.value) == (("A", "B"), 0, 4)
    assert "stored element 2: claimed to be k=4 under metadata 0b0100" in conflict.statement
    assert conflict.statement.endswith("the hardware multiplies it with B's a k that B does not have")

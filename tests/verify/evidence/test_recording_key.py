# SPDX-License-Identifier: Apache-2.0
"""Cache keys of the check `gpu`: equal where maps and recorded tables are, and different where one differs."""

from collections.abc import Callable
from dataclasses import replace

import pytest

import gpu_checks
from gpu_checks.model import ElementCoordinates, Image
from layouts.atoms import Atom, registry
from verify.atom.checker import prepare_atom
from verify.binding.atom import BoundAtom
from verify.evidence.recording_key import atom_key, recording_key

F16, BF16 = "SM80_16x8x16_F32F16F16F32_TN", "SM80_16x8x16_F32BF16BF16F32_TN"
RECORDED = gpu_checks.recordings()["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"][0]


def bind_named(name: str, **changed: str) -> BoundAtom:
    atom = registry()[name]
    assert isinstance(atom, Atom)
    return prepare_atom(replace(atom, operands={**atom.operands, **changed}))


def test_atoms_whose_instructions_distribute_alike_have_one_key() -> None:
    assert atom_key(bind_named(F16)) == atom_key(bind_named(BF16))


def test_another_layout_or_space_is_another_key() -> None:
    right = bind_named(F16)
    assert atom_key(right) != atom_key(bind_named(F16, C="((4,8),(2,2)):((32,1),(8,16))"))
    moved = replace(right, space={"A": "smem"})
    assert atom_key(right) != atom_key(moved)


def with_part(subject: BoundAtom, **changed: object) -> BoundAtom:
    return replace(subject, parts=(subject.parts[0]._replace(**changed), *subject.parts[1:]))  # type: ignore[arg-type]


def with_operand(subject: BoundAtom, **changed: object) -> BoundAtom:
    operands = subject.instruction.operands
    operand = replace(operands["A"], **changed)  # type: ignore[arg-type]
    return replace(subject, by=subject.instruction._replace(operands={**operands, "A": operand}))


@pytest.mark.parametrize(
    "changed",
    [
        lambda atom: replace(atom, lanes=atom.lanes + 1),
        lambda atom: replace(atom, thr_text="32:2"),
        lambda atom: with_part(atom, name="B"),
        lambda atom: with_part(atom, text="1:0"),
        lambda atom: with_part(atom, extent=(1, 1)),
        lambda atom: with_part(atom, keys=()),
        lambda atom: with_part(atom, map=atom.parts[1].map),
        lambda atom: replace(
            atom, by=atom.instruction._replace(signature=replace(atom.instruction.signature, sparsity="2:4"))
        ),
        lambda atom: with_operand(atom, extent=(1, 1)),
        lambda atom: with_operand(atom, bits=64),
        lambda atom: with_operand(atom, space="smem"),
        lambda atom: with_operand(atom, layouts="other"),
        lambda atom: with_operand(atom, majors=("M",)),
    ],
    ids=[
        "lanes",
        "thr",
        "name",
        "text",
        "tile",
        "formulas",
        "map",
        "sparsity",
        "extent",
        "bits",
        "space",
        "layouts",
        "majors",
    ],
)
def test_nothing_that_evidence_depends_on_is_left_out(changed: Callable[[BoundAtom], BoundAtom]) -> None:
    right = bind_named(F16)
    assert atom_key(right) == atom_key(bind_named(F16)) != atom_key(changed(right))


def test_a_recorded_table_equals_itself_alone() -> None:
    """The numbers of two arrays are not compared: an equal copy is another key, which costs time and no soundness."""
    assert recording_key(RECORDED) == recording_key(replace(RECORDED))
    for changed in (
        replace(RECORDED, passthrough=RECORDED.passthrough.copy()),
        replace(RECORDED, operands={name: table.copy() for name, table in RECORDED.operands.items()}),
        replace(RECORDED, coordinates=RECORDED.coordinates[1:]),
    ):
        assert recording_key(RECORDED) != recording_key(changed)


def test_what_a_table_is_about_is_a_part_of_its_key() -> None:
    table = RECORDED.operands["A"]
    address = ElementCoordinates("scale", "A", "", table)
    image = Image("A", "128B", "K", 16, 1024, table)
    right = replace(RECORDED, coordinates=(address,), images=(image,))
    changed = [replace(right, controls=right.controls._replace(relabelled=1))]
    assert right.sound and not changed[0].sound
    changed += [replace(right, coordinates=(address._replace(**{n: "x"}),)) for n in ("name", "operand", "premise")]
    changed += [
        replace(right, images=(image._replace(**{n: "x"}),)) for n in ("operand", "swizzle", "major", "lbo", "sbo")
    ]
    assert len({recording_key(recording) for recording in (right, *changed)}) == 10


def test_two_parts_of_one_array_are_two_tables() -> None:
    whole = RECORDED.operands["A"]
    halves = [replace(RECORDED, operands={"A": part}) for part in (whole[:16], whole[16:], whole[:16])]
    first, second, again = map(recording_key, halves)
    assert first == again != second
    strided = [replace(RECORDED, operands={"A": part}) for part in (whole[::2][:8], whole[:8])]
    assert recording_key(strided[0]) != recording_key(strided[1])

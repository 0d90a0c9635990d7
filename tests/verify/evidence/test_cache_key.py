# SPDX-License-Identifier: Apache-2.0
"""Cache keys of the check `gpu`: equal where maps and recorded tables are, and different where one differs."""

from dataclasses import replace

import gpu_checks
from layouts.atoms import Atom, registry
from verify.atom.checker import prepared
from verify.binding.atom import BoundAtom
from verify.evidence.cache_key import atom_key, recording_key

F16, BF16 = "SM80_16x8x16_F32F16F16F32_TN", "SM80_16x8x16_F32BF16BF16F32_TN"
RECORDED = gpu_checks.recordings()["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"][0]


def bound(name: str, **changed: str) -> BoundAtom:
    atom = registry()[name]
    assert isinstance(atom, Atom)
    return prepared(replace(atom, operands={**atom.operands, **changed}))


def test_atoms_whose_instructions_distribute_alike_have_one_key() -> None:
    assert atom_key(bound(F16)) == atom_key(bound(BF16))


def test_another_layout_or_space_is_another_key() -> None:
    right = bound(F16)
    assert atom_key(right) != atom_key(bound(F16, C="((4,8),(2,2)):((32,1),(8,16))"))
    moved = replace(right, atom=replace(right.atom, space={"A": "smem"}))
    assert atom_key(right) != atom_key(moved)


def test_a_recorded_table_equals_itself_alone() -> None:
    """The numbers of two arrays are not compared: an equal copy is another key, which costs time and no soundness."""
    assert recording_key(RECORDED) == recording_key(replace(RECORDED))
    for changed in (
        replace(RECORDED, passthrough=RECORDED.passthrough.copy()),
        replace(RECORDED, operands={name: table.copy() for name, table in RECORDED.operands.items()}),
        replace(RECORDED, coordinates=RECORDED.coordinates[1:]),
    ):
        assert recording_key(RECORDED) != recording_key(changed)


def test_two_parts_of_one_array_are_two_tables() -> None:
    whole = RECORDED.operands["A"]
    halves = [replace(RECORDED, operands={"A": part}) for part in (whole[:16], whole[16:], whole[:16])]
    first, second, again = map(recording_key, halves)
    assert first == again != second

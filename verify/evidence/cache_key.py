# SPDX-License-Identifier: Apache-2.0
"""The cache keys of the check `gpu`: equal for atoms with equal maps, equal operands and equal recorded tables.

Most instructions of a family distribute their elements alike, and their recordings share the arrays of a file. A key
has everything that the evidence depends on, and no names of the instruction, the GPU or the driver.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import gpu_checks
from gpu_checks.model import Labels
from verify.binding.atom import BoundAtom

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """An array that equals only itself; the key keeps it alive, so that no other array gets its address."""

    labels: Labels

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Table) and self._owner() is other._owner() and self._part() == other._part()

    def __hash__(self) -> int:
        return hash((id(self._owner()), self._part()))

    def _owner(self) -> object:
        return self.labels if self.labels.base is None else self.labels.base

    def _part(self) -> Key:
        """The part of the owning array that it is."""
        return self.labels.__array_interface__["data"], self.labels.shape, self.labels.strides


def atom_key(subject: BoundAtom) -> Key:
    """The key of an atom: all that the evidence depends on in it and in its instruction."""
    parts = tuple((part.name, part.text, part.map, part.extent, part.keys) for part in subject.parts)
    operands, signature = subject.instruction.operands, subject.instruction.signature
    tables = tuple((n, o.extent, o.bits, o.space, o.layouts, o.majors) for n, o in operands.items())
    return subject.atom.thr, subject.lanes, parts, tuple(subject.atom.space.items()), tables, signature.sparsity


def recording_key(recording: gpu_checks.Recording) -> Key:
    """The key of a recording: all that the evidence depends on in it."""
    return tuple(_facts(recording))


def _facts(recording: gpu_checks.Recording) -> Iterator[object]:
    yield recording.sound
    yield _Table(recording.passthrough)
    yield from ((name, _Table(labels)) for name, labels in recording.operands.items())
    yield from ((a.name, a.operand, a.premise, _Table(a.labels)) for a in recording.coordinates)
    yield from ((i.operand, i.swizzle, i.major, i.lbo, i.sbo, _Table(i.labels)) for i in recording.images)
    if recording.metadata is not None:
        for tables in (recording.metadata.kept, recording.metadata.rulers):
            yield from ((key, _Table(labels)) for key, labels in tables.items())

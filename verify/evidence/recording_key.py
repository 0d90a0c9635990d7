# SPDX-License-Identifier: Apache-2.0
"""The cache keys of the check `gpu`: equal for atoms with equal maps, equal operands and equal recorded tables.

Most instructions of a family distribute their elements alike, and their recordings share the arrays of a file. A key
has everything that the evidence depends on, and no names of the instruction, the GPU or the driver.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import gpu_checks
from gpu_checks.model import Labels
from verify.binding.bound import BoundMaps

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _Table:
    """An array that equals only itself."""

    place: Key  # where it is in memory, and its shape
    owner: Labels = field(compare=False)  # of the memory, kept alive so that no other array gets its address


def _table(labels: Labels) -> _Table:
    owner = labels if labels.base is None else labels.base
    place = id(owner), labels.__array_interface__["data"], labels.shape, labels.strides
    return _Table(place, owner)


def atom_key(subject: BoundMaps) -> Key:
    """Return the key of an atom: all that the evidence depends on in it and in its instruction."""
    parts = tuple((part.name, part.text, part.map and part.map.key, part.extent, part.keys) for part in subject.parts)
    operands, signature = subject.instruction.operands, subject.instruction.signature
    tables = tuple((n, o.extent, o.bits, o.space, o.layouts, o.majors) for n, o in operands.items())
    return subject.thr_text, subject.lanes, parts, tuple(subject.space.items()), tables, signature.sparsity


def recording_key(recording: gpu_checks.Recording) -> Key:
    """Return the key of a recording: all that the evidence depends on in it."""
    return tuple(_facts(recording))


def _facts(recording: gpu_checks.Recording) -> Iterator[object]:
    yield recording.sound
    yield _table(recording.passthrough)
    yield from ((name, _table(labels)) for name, labels in recording.operands.items())
    yield from ((a.name, a.operand, a.premise, _table(a.labels)) for a in recording.coordinates)
    yield from ((i.operand, i.swizzle, i.major, i.lbo, i.sbo, _table(i.labels)) for i in recording.images)
    if recording.metadata is not None:
        for tables in (recording.metadata.kept, recording.metadata.rulers):
            yield from ((key, _table(labels)) for key, labels in tables.items())

# SPDX-License-Identifier: Apache-2.0
"""The check `gpu` of few labels, in Python's integers: numpy takes longer to load than they take to compare.

Only agreement is found here, of atoms with operands in registers and the shipped recordings. Where anything differs, or
is another case, `verify.evidence.gpu` compares arrays and says what is wrong.

`relation`, `absolute`   evidence where few labels agree, else none
`source`, `place`        a recording in words, its file and line
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

import gpu_checks
from gpu_checks.recordings_io.reader import FewLabels
from layouts import size
from layouts.arrays import loaded
from layouts.atoms import Atom
from verify.binding.atom import BoundAtom
from verify.binding.coordinates import AXES, codomain
from verify.core.digits import lane_of, walks
from verify.core.evidence_cache import EvidenceCache
from verify.core.verdict import Check, Evidence, Status

RECORDED = {"A": "A", "B": "B", "C": "D"}
CLASS = {"m": 0, "n": 1, "k": 2}
PRODUCT = 3
HOLDERS = {"m": ("A", "C"), "n": ("B", "C"), "k": ("A", "B")}
Labels: TypeAlias = "dict[str, list[tuple[int, int, int]]]"  # operand -> (replica, x, y) of each slot
Agreed: TypeAlias = "tuple[int, str] | None"  # points and how they were compared, where all agree


def relation(subject: BoundAtom, known: EvidenceCache) -> list[Evidence]:
    """Evidence that the maps compute the recorded products, as `gpu.relation`; none where arrays have to compare."""
    return _each(subject, _related, known)


def absolute(subject: BoundAtom, known: EvidenceCache) -> list[Evidence]:
    """Evidence that the labels are the recorded absolute coordinates, as `gpu.absolute`; none as above."""
    return _each(subject, _absolute, known)


def _each(
    subject: BoundAtom, compare: Callable[[BoundAtom, Labels, FewLabels], Agreed], known: EvidenceCache
) -> list[Evidence]:
    if loaded() or not _in_registers(subject):
        return []
    found = []
    maps = (subject.atom.thr, subject.lanes, *((part.text, part.extent) for part in subject.parts))
    for recording in gpu_checks.recordings().few(subject.instruction.signature.mnemonic):
        started = time.perf_counter()
        labels = known.kept((_labels, maps), lambda: _labels(subject))
        agreed = known.kept((compare, maps, recording.key), lambda: compare(subject, labels, recording))  # noqa: B023
        if agreed is None:
            return []
        points, how = agreed
        seconds = time.perf_counter() - started
        evidence = Evidence(Check.GPU, Status.AGREES, source(recording), points, "gpu_checks", how, seconds)
        found.append(evidence._replace(recording=place(recording)))
    return found


def _in_registers(subject: BoundAtom) -> bool:
    """Whether an atom has A, B and C alone, as its instruction does, each as a layout of registers."""
    operands = subject.instruction.operands
    return (
        isinstance(subject.atom, Atom)
        and [part.name for part in subject.parts] == ["A", "B", "C"]
        and "E" not in operands
        and all(
            part.layout and not part.map and subject.atom.space.get(part.name, "reg") == "reg" for part in subject.parts
        )
        and all(operands[name].space == "reg" for name in "ABC" if name in operands)
        and subject.thr is not None
    )


def _labels(subject: BoundAtom) -> Labels:
    """The replica and the element that the atom gives each slot; the slots of fewer threads than it has are missing."""
    thr, rep = subject.numbering
    owner = {lane_of(thr, t) + lane_of(rep, q): (t, q) for q in range(size(rep)) for t in range(size(thr))}
    owners, labels = [owner[lane] for lane in range(subject.lanes)], {}
    for part in subject.parts:
        rows, width = walks(part.parsed), part.extent[0]
        labels[part.name] = [
            (replica, element % width, element // width)
            for thread, replica in owners
            for element in (rows[thread] if thread < len(rows) else ())
        ]
    return labels


def _fits(subject: BoundAtom, labels: Labels, recording: FewLabels) -> bool:
    """Whether every slot of the recording has a label in the tile."""
    for part in subject.parts:
        lanes, values, _ = recording.operands[RECORDED[part.name]]
        x_end, y_end = part.extent
        if (lanes, values) != (subject.lanes, part.values) or len(labels[part.name]) != lanes * values:
            return False
        if not all(0 <= x < x_end and 0 <= y < y_end for _, x, y in labels[part.name]):
            return False
    return True


def _related(subject: BoundAtom, labels: Labels, recording: FewLabels) -> Agreed:
    """For each axis the pairs (label, class) of both operands must be one bijection; C arrives in D where it is."""
    if not _fits(subject, labels, recording):
        return None
    points = 0
    for axis, names in HOLDERS.items():
        claimed: list[tuple[int, int]] = []
        observed: list[tuple[int, int]] = []
        for name in names:
            columns, which = recording.operands[RECORDED[name]][2], 1 + AXES[name].index(axis)
            claimed += [(label[0], label[which]) for label in labels[name]]
            observed += zip(columns[PRODUCT], columns[CLASS[axis]], strict=True)
        pairs = set(zip(claimed, observed, strict=True))
        if min(observed)[0] < 0 or not len(pairs) == len(set(claimed)) == len(set(observed)):
            return None
        points += len(claimed)
    c = labels["C"]
    arrives = recording.passthrough
    if len(arrives) != len(c) or any(slot < 0 or label != c[slot] for label, slot in zip(c, arrives, strict=True)):
        return None
    return points, ""


def _absolute(subject: BoundAtom, labels: Labels, recording: FewLabels) -> Agreed:
    """Each absolute coordinate of a slot must be its label; -1 is none."""
    if not _fits(subject, labels, recording):
        return None
    points, parts = 0, {RECORDED[part.name]: part for part in subject.parts}
    for _, operand, _, (lanes, values, columns) in recording.coordinates:
        name = parts[operand].name
        if (lanes, values) != recording.operands[operand][:2]:
            return None
        for at in (0, 1):
            seen = codomain(name, *columns)[at]
            points += sum(one >= 0 for one in seen)
            if any(one >= 0 and one != label[1 + at] for one, label in zip(seen, labels[name], strict=True)):
                return None
    names = ", ".join(f"{name} {operand}" for name, operand, _, _ in recording.coordinates)
    premises = "; ".join(dict.fromkeys(premise for _, _, premise, _ in recording.coordinates))
    return (points, f"by {names}; premise: {premises}") if points else None


def source(recording: gpu_checks.Recording | gpu_checks.Move | FewLabels) -> str:
    """A recording in words: its GPU and driver, and whether it is emulated or stale."""
    kind = "recording of" if recording.file else "live on"
    emulated = ", known emulated" if recording.emulated else ""
    stale = ", by kernels of another text" if recording.stale else ""
    return f"{kind} {recording.gpu}, {recording.sm}, driver {recording.driver}{emulated}{stale}"


def place(recording: gpu_checks.Recording | gpu_checks.Move | FewLabels) -> str:
    """The file and line of a recording; empty for a live one."""
    return f"{recording.file}:{recording.line}" if recording.file else ""

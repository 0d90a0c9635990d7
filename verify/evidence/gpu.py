# SPDX-License-Identifier: Apache-2.0
"""The check `gpu`: what a GPU did with the instruction, compared with the atom's three maps taken together.

Running an instruction shows which rows, columns and k-slices of A, B and D interact, and no more: one permutation of m
in A and D, of n in B and D, or of k in A and B computes the same products. So an atom is checked, not an operand.
Labels are evaluated digit by digit in plain integers (`verify.core.digits`), never through `Layout.__call__`.

`relation`    evidence that the maps compute the recorded products, up to one relabelling of m, n and k: `relabelling`
`absolute`    evidence that their rows and columns are those of memory, where a recording has absolute coordinates
`Lookup`      where recordings of an instruction come from; `Recorded` has those of files
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

import gpu_checks
from gpu_checks.recordings_io.reader import is_external
from isa_tables.signature import Signature
from layouts import Layout, batched, size
from verify.binding.axes import AXES
from verify.binding.bound import BoundMaps
from verify.binding.coordinates import codomain
from verify.binding.operand import BoundOperand
from verify.core.digits import lane_of, walks
from verify.core.memo import Memo
from verify.core.verdict import Check, Counterexample, Evidence, Status, leave_unchecked
from verify.evidence.gpu_shared_memory import ONCE, comparable
from verify.evidence.gpu_sparse import Conflict
from verify.evidence.recorded import CLASS, HOLDERS, PRODUCT, RECORDED, place, source
from verify.evidence.recording_key import atom_key, recording_key

if TYPE_CHECKING:
    from verify.maps.fragment_map import FragmentMap

R = TypeVar("R", gpu_checks.Recording, gpu_checks.Move)
T = TypeVar("T")
Table: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.int64]]"
Labels = Mapping[str, Table]  # operand -> [lane][value] -> (replica, x, y)
NOTHING = (-1, -1)  # in place of an element, for lanes to which the atom distributes none
Answer = tuple[Status, str, int, Counterexample | None]
Compare = Callable[[BoundMaps, Labels, gpu_checks.Recording, Memo], Answer]


def labels(subject: BoundMaps) -> Labels | str:
    """Return the element that the atom gives every (lane, value) of its operands in registers, or why there is none.

    Lane `thr(t) + rep(q)` is logical thread t of replica q.

    >>> from verify.binding.atom import prepare
    >>> from layouts.atoms import registry
    >>> atom = prepare(registry()["SM80_16x8x16_F32F16F16F32_TN"])
    >>> labels(atom)["C"][5, 3].tolist()  # of lane 5, value 3: no second product, m 9, n 3
    [0, 9, 3]
    """
    if subject.thr is None or subject.rep is None:
        return subject.thr_fault
    table = {}
    for part in subject.parts:
        if not part.well_formed:
            return f"{part.name} is not well formed"
        if subject.space.get(part.name, "reg") != "reg":
            continue
        if part.domain[0] > subject.threads:
            return f"{part.name} distributes elements to {part.domain[0]} threads, the atom has {subject.threads}"
        table[part.name] = _by_lane(part.layout or part.points, part.extent[0], subject.thr, subject.rep, subject.lanes)
    return table


@lru_cache(maxsize=128)  # plain integers: no bug planted in Layout.__call__ is in them, cached or not
def _by_lane(layout: Layout | FragmentMap, width: int, thr: Layout, rep: Layout, lanes: int) -> Table:
    """(replica, x, y) of the element that a layout, or a map, gives each (lane, value)."""
    if isinstance(layout, Layout):
        rows = np.array(walks(layout), dtype=np.int64)
        places = np.stack([rows % width, rows // width], axis=-1)
    else:  # outside the tile coordinates are those of no element, whatever its number is
        places = np.array(layout.rows(), dtype=np.int64)
    owner = {lane_of(thr, t) + lane_of(rep, q): (t, q) for q in range(size(rep)) for t in range(size(thr))}
    threads, replicas = np.array([owner[lane] for lane in range(lanes)]).T
    elements = np.full((size(thr), places.shape[1], 2), NOTHING, dtype=np.int64)
    elements[: len(places)] = places
    most = max(int(np.abs(elements).max(initial=0)), lanes)
    table = np.empty((lanes, places.shape[1], 3), dtype=np.int16 if most < 1 << 14 else np.int64)  # less memory to read
    table[..., 0], table[..., 1:] = replicas[:, None], elements[threads]
    table.setflags(write=False)
    return table


def _are_read_alike(subject: BoundMaps, claimed: Labels) -> bool:
    """Whether the blocks of the maps, which share nothing with the labels, have every element of the labels."""
    lanes = batched.batch(subject.numbering[0]).values()
    for part in subject.parts:
        if part.name in claimed and part.points.searchable:
            columns = np.stack(part.points.block(0, len(part.points)), axis=-1).reshape(*part.domain, -1)
            if (claimed[part.name][lanes[: len(columns)], :, 1:] != columns).any():
                return False
    return True


def relabelling(
    subject: BoundMaps,
    claimed: Labels,
    recording: gpu_checks.Recording,
    axes: str = "mnk",
    times: Mapping[str, int] = ONCE,
) -> int | Conflict:
    """Count the pairs matched, if a relabelling of the axes turns the atom's labels into the recorded classes.

    First every label must be in the tile. Then for each axis the pairs (claimed label, recorded class), over both
    operands that have the axis, must be one bijection. `times` counts the equal ones of an operand.

    >>> from verify.binding.atom import prepare
    >>> from layouts.atoms import registry
    >>> atom = prepare(registry()["SM80_16x8x16_F32F16F16F32_TN"])
    >>> (recording,) = gpu_checks.recordings()[atom.instruction.signature.mnemonic]
    >>> relabelling(atom, labels(atom), recording)
    1024
    """
    parts = [part for part in subject.parts if part.name in RECORDED]
    outside = _misfit(parts, claimed, recording)
    if outside is not None:
        return outside
    for part in parts:
        in_memory = subject.space.get(part.name, "reg") != "reg"
        unread = _unread(part, claimed[part.name], recording.operands[RECORDED[part.name]], in_memory)
        if unread is not None:
            return unread
    for axis in axes:
        conflict = _match(axis, HOLDERS[axis], claimed, recording)
        if conflict is not None:
            return conflict
    products = {part.name: recording.operands[RECORDED[part.name]][..., PRODUCT] for part in parts}
    read = {name: times.get(name, 1) * int(np.count_nonzero(product >= 0)) for name, product in products.items()}
    return sum(read[name] for axis in axes for name in HOLDERS[axis])


def _misfit(parts: Sequence[BoundOperand], claimed: Labels, recording: gpu_checks.Recording) -> Conflict | None:
    """Return the first operand with another number of values than the instruction's, or a label outside its tile."""
    for part in parts:
        values, table = recording.operands[RECORDED[part.name]].shape[1], claimed[part.name]
        if table.shape[1] != values:
            statement = f"{part.name} has {table.shape[1]} values in each lane, the instruction {values}"
            return Conflict(part.axes[0], (part.name, part.name), 0, 0, statement)
        idle = np.flatnonzero((table[:, 0, 1:] == NOTHING).all(axis=1))
        if len(idle):
            statement = f"{part.name} has no values in lane {idle[0]}, the instruction {values}"
            return Conflict(part.axes[0], (part.name, part.name), int(idle[0]), 0, statement)
        if table.min() < 0 or any(table[..., 1 + i].max() >= end for i, end in enumerate(part.extent)):
            outside = (table[..., 1:] < 0) | (table[..., 1:] >= part.extent)
            lane, value, axis = (int(c) for c in np.argwhere(outside)[0])
            x, y = table[lane, value, 1:].tolist()
            statement = f"({part.axes[0]}={x}, {part.axes[1]}={y}) is outside {part.tile}"
            return Conflict(part.axes[axis], (part.name, part.name), lane, value, statement)
    return None


def _match(axis: str, operands: tuple[str, str], claimed: Labels, recording: gpu_checks.Recording) -> Conflict | None:
    """Return the first (label, class) pair that breaks the bijection of both over two operands, if any does.

    A slot that the hardware never read (a copy of an element that it reads elsewhere) has no class.
    """
    pairs = [
        (table[..., 0], table[..., 1 + AXES[name].index(axis)], cells[..., PRODUCT], cells[..., CLASS[axis]])
        for name in operands
        for table, cells in [(claimed[name], recording.operands[RECORDED[name]])]
    ]
    replica, label, product, classes = (np.concatenate([each[i].ravel() for each in pairs]) for i in range(4))
    claim, observed = _pair(replica, label), _pair(product, classes)
    read = np.flatnonzero(product >= 0)
    if len(read) < len(product):
        claim, observed = claim[read], observed[read]
    broken = read[(_first(claim, observed) != observed) | (_first(observed, claim) != claim)]
    if not len(broken):
        return None
    place, operand = int(broken[0]), operands[0]
    if place >= pairs[0][0].size:
        place, operand = place - pairs[0][0].size, operands[1]
    lane, value = divmod(place, claimed[operand].shape[1])
    at = int(claimed[operand][lane, value, 1 + AXES[operand].index(axis)])
    claimed_there = f"{operand} lane {lane} value {value} is claimed to hold {axis}={at}"
    statement = f"{claimed_there}; the hardware pairs it with other elements than the rest of {axis}={at}"
    return Conflict(axis, operands, lane, value, statement)


def _unread(part: BoundOperand, table: Table, classes: Table, in_memory: bool) -> Conflict | None:
    """Return the first slot that the hardware never read, unless another register with the same element was read."""
    read = classes[..., PRODUCT].ravel() >= 0
    if read.all():
        return None
    element = _pair(_pair(*table[..., :2].reshape(-1, 2).T), table[..., 2].ravel())
    missing = np.flatnonzero(~read & (in_memory | ~np.isin(element, element[read])))
    if not len(missing):
        return None
    lane, value = divmod(int(missing[0]), table.shape[1])
    _, x, y = table[lane, value].tolist()
    claim = f"{part.name} lane {lane} value {value} is claimed to hold ({part.axes[0]}={x}, {part.axes[1]}={y})"
    statement = f"{claim}; the hardware reads neither that slot nor a copy of the element"
    return Conflict(part.axes[0], (part.name, part.name), lane, value, statement)


def _pair(first: Table, second: Table) -> Table:
    """Two small numbers, each at least -1, as one that is not negative."""
    coded: Table = (first.astype(np.int64) + 1) * (int(second.max(initial=-1)) + 2) + second + 1
    return coded


def _first(keys: Table, values: Table) -> Table:
    """At every place, the value at the first place of its key."""
    home = np.zeros(int(keys.max(initial=-1)) + 1, np.int64)
    home[keys[::-1]] = values[::-1]  # of several assignments to one place the last remains
    firsts: Table = home[keys]
    return firsts


class MissingRecording(NamedTuple):
    """The reason why there is no recording of an instruction.

    `applies` means that there should be one: the GPU at hand has the instruction, and its probe failed.
    """

    reason: str
    applies: bool = False


class Lookup(Protocol):
    """The source of recordings: files or a live GPU."""

    def __call__(self, signature: Signature) -> tuple[gpu_checks.Recording, ...] | MissingRecording:
        """Return the recordings of a matrix product, or why there are none."""

    def moves(self, signature: Signature) -> tuple[gpu_checks.Move, ...] | MissingRecording:
        """Return the recordings of a matrix move, or why there are none."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """Recordings in files, the shipped ones and a user's."""

    recordings: gpu_checks.Recordings
    stale: dict[tuple[str, str], bool] = field(default_factory=dict, compare=False)  # a user's that were looked at
    read: dict[str, tuple[gpu_checks.Recording, ...]] = field(default_factory=dict, compare=False)  # of products

    def __call__(self, signature: Signature) -> tuple[gpu_checks.Recording, ...] | MissingRecording:
        """Return the recordings of exactly this instruction."""
        if signature.mnemonic not in self.read:
            self.read[signature.mnemonic] = self.recordings.get(signature.mnemonic, ())
        return self._valid(self.read[signature.mnemonic], signature)

    def moves(self, signature: Signature) -> tuple[gpu_checks.Move, ...] | MissingRecording:
        """Return the recordings of exactly this move."""
        return self._valid(self.recordings.moves.get(signature.mnemonic, ()), signature)

    def _valid(self, recordings: tuple[R, ...], signature: Signature) -> tuple[R, ...] | MissingRecording:
        """Return the recordings; raise RecordingError for an invalid one of a user. Tests validate the shipped ones."""
        if not recordings:
            return MissingRecording(f"no recorded GPU has run {signature.mnemonic} ({' or '.join(signature.targets)})")
        return tuple(
            replace(recording, stale=True)
            if is_external(recording) and self._stale(recording, signature)
            else recording
            for recording in recordings
        )

    def _stale(self, recording: R, signature: Signature) -> bool:
        """Whether a user's recording was made by other kernels than the current ones; warns once for each file."""
        key = (recording.file, recording.mnemonic)
        if key not in self.stale:
            from gpu_checks.recordings_io.validation import (
                StaleRecording,
                is_stale,
                stale_notice,
                validate,
                why_incomplete,
            )

            validate(recording, signature)
            if why := why_incomplete(recording):
                raise gpu_checks.RecordingError(f"{recording.file}: {recording.mnemonic}: {why}")
            warned = any(file == recording.file and stale for (file, _), stale in self.stale.items())
            self.stale[key] = is_stale(recording, signature)
            if self.stale[key] and not warned:
                warnings.warn(stale_notice(recording.file, [recording.mnemonic]), StaleRecording, stacklevel=2)
        return self.stale[key]


def relation(subject: BoundMaps, lookup: Lookup, memo: Memo) -> list[Evidence]:
    """One piece of evidence for each GPU that recorded the atom's instruction."""
    return _each(subject, lookup, _relate, memo)


def absolute(subject: BoundMaps, lookup: Lookup, memo: Memo) -> list[Evidence]:
    """Return the atom's labels compared with absolute coordinates, one piece of evidence for each recording."""
    return _each(subject, lookup, _absolute, memo)


def _each(subject: BoundMaps, lookup: Lookup, compare: Compare, memo: Memo) -> list[Evidence]:
    def of_subject(find: Callable[[BoundMaps], T]) -> T:
        """Return what is found of the atom, which its next recording and its next property need too."""
        last = memo.values.get(find)
        if not (isinstance(last, tuple) and last[0] is subject):
            last = memo.values[find] = subject, find(subject)
        remembered: T = last[1]
        return remembered

    def evidence(recording: gpu_checks.Recording) -> Evidence:
        started = time.perf_counter()
        if not recording.sound:
            why = "; ".join(recording.exceptions) or "its controls do not hold"
            return leave_unchecked(Check.GPU, f"the {source(recording)} is not sound: {why}")

        def answer() -> Answer | str:
            claimed = of_subject(labels)
            return claimed if isinstance(claimed, str) else compare(subject, claimed, recording, memo)

        observed, _ = memo.get_recorded(  # the recording is kept with its key: no other gets its id
            (recording_key, id(recording)), lambda: (recording_key(recording), recording)
        )
        reply = memo.get_recorded((compare, of_subject(atom_key), observed), answer)
        if isinstance(reply, str):
            return leave_unchecked(Check.GPU, reply)
        status, words, points, wrong = reply
        if status is Status.UNCHECKED:
            return leave_unchecked(Check.GPU, words, applies=compare is _relate)  # absolute coordinates may not exist
        seconds = time.perf_counter() - started
        made = Evidence(Check.GPU, status, source(recording), points, "gpu_checks", words, seconds)
        return made._replace(counterexample=wrong, recording=place(recording))

    recordings = lookup(subject.instruction.signature)
    if isinstance(recordings, MissingRecording):
        return [leave_unchecked(Check.GPU, recordings.reason, recordings.applies)]
    return [evidence(recording) for recording in recordings]


def _relate(subject: BoundMaps, claimed: Labels, recording: gpu_checks.Recording, memo: Memo) -> Answer:
    view = comparable(subject, claimed, recording, memo)
    if isinstance(view, str):
        return Status.UNCHECKED, view, 0, None
    checks: tuple[Callable[[], int | Conflict], ...] = (
        lambda: relabelling(subject, view.claimed, view.recording, view.axes, view.times),
        lambda: _compare_passthrough(view.claimed["C"], recording),
        lambda: view.stored.compare() if view.stored else 0,
    )
    pairs = 0
    for check in checks:
        outcome = check()
        if isinstance(outcome, Conflict):
            first, second = outcome.operands
            extent = "" if first == second else f"{outcome.axis} of {first} and {second}: no relabelling explains both"
            wrong = Counterexample({"lane": outcome.lane, "value": outcome.value}, outcome.statement, extent=extent)
            return Status.REFUTED, "", 0, wrong._replace(reproduced=_are_read_alike(subject, claimed))
        pairs += outcome
    return Status.AGREES, view.how, pairs, None


def _compare_passthrough(claimed: Table, recording: gpu_checks.Recording) -> int | Conflict:
    """Return the first element of C that arrives at another element of D, else 0; an atom has one layout for both."""
    arrives = recording.passthrough.ravel()
    if (arrives == np.arange(len(arrives))).all():
        return 0
    labels = claimed.reshape(-1, claimed.shape[-1])
    wrong = np.flatnonzero((labels[: len(arrives)] != labels[arrives]).any(axis=1))
    if not len(wrong):
        return 0
    (lane, value), arrived = divmod(int(wrong[0]), claimed.shape[1]), divmod(int(arrives[wrong[0]]), claimed.shape[1])
    statement = f"what C holds in lane {lane} value {value} arrives in D lane {arrived[0]} value {arrived[1]}"
    return Conflict("m", ("C", "C"), lane, value, f"{statement}, which is claimed to hold another element")


def _absolute(subject: BoundMaps, claimed: Labels, recording: gpu_checks.Recording, memo: Memo) -> Answer:
    """Whether every absolute coordinate is the atom's label; replicas share the labels of the atom."""
    if not recording.coordinates:
        return Status.UNCHECKED, "no absolute coordinates are known for the registers of this instruction", 0, None
    view = comparable(subject, claimed, recording, memo, memory=False)
    if isinstance(view, str):
        return Status.UNCHECKED, view, 0, None
    misfit = _misfit(view.tied, view.claimed, view.recording)
    if misfit is not None:
        return Status.UNCHECKED, f"the relation is not verified: {misfit.statement}", 0, None
    points, parts = 0, {RECORDED[part.name]: part for part in view.tied}
    known = [coordinates for coordinates in recording.coordinates if coordinates.operand in parts]
    for coordinates in known:
        part = parts[coordinates.operand]
        seen = np.stack(codomain(part.name, coordinates.labels[..., 0], coordinates.labels[..., 1]), axis=-1)
        points += int(np.count_nonzero(seen >= 0))
        label = claimed[part.name][..., 1:]
        clashes = (seen >= 0) & (seen != label)
        if clashes.any():
            lane, value, _ = (int(c) for c in np.argwhere(clashes)[0])
            at = (lane, value)
            wrong = _describe_misplaced(part, coordinates.name, at, label[at].tolist(), seen[at].tolist())
            wrong = wrong._replace(reproduced=_are_read_alike(subject, claimed))
            return Status.REFUTED, f"premise: {coordinates.premise}", points, wrong
    if not points:
        why = "no absolute coordinates are known for the operands that the atom has in registers"
        return Status.UNCHECKED, why, 0, None
    names = ", ".join(f"{coordinates.name} {coordinates.operand}" for coordinates in known)
    premises = "; ".join(dict.fromkeys(coordinates.premise for coordinates in known))
    return Status.AGREES, f"by {names}; premise: {premises}", points, None


def _describe_misplaced(
    part: BoundOperand, source: str, at: tuple[int, int], labels: Sequence[int], seen: Sequence[int]
) -> Counterexample:
    axes, (lane, value) = part.axes, at
    claimed = ", ".join(f"{axis}={label}" for axis, label in zip(axes, labels, strict=True))
    observed = ", ".join(f"{axis}={label}" for axis, label in zip(axes, seen, strict=True) if label >= 0)
    statement = f"{part.name} lane {lane} value {value}: claimed ({claimed}), {source} gives ({observed})"
    return Counterexample({"lane": lane, "value": value}, statement, extent="smallest")

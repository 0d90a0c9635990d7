# SPDX-License-Identifier: Apache-2.0
"""The comparison of an output array after a run with the value that the claim gives each element."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verify.kernel.chance import ClaimGrowth, bound_chance
from verify.kernel.claims.evaluation import Evaluation, NamedTensor, Residues
from verify.kernel.claims.expression import Node, elements, functions, list_summed
from verify.kernel.claims.launch import MAX_ELEMENTS, Launch, sort_axes
from verify.kernel.data import levels
from verify.kernel.data.choices import Choices
from verify.kernel.data.distinct import sort_distinct
from verify.kernel.data.floats import FORMATS, largest
from verify.kernel.data.histories import NAN, History
from verify.kernel.data.registers import join_octets, word
from verify.kernel.data.values import EXACT, FREE, LIMITS, MANTISSA, SIZE, Ids, Mask, Values
from verify.kernel.interpretation import Interpretation
from verify.kernel.state.findings import NOWHERE, Finding, Severity, Unclear, not_beyond
from verify.kernel.state.paged import PagedRegion
from verify.kernel.state.region import Region

PART = 256  # values of an index of the claim's target that are computed at once
WHOLE = 2.0**53  # every integer below it is a double


class Comparison:
    """The claim's target array after the run, against the claim's value."""

    def __init__(self, of: Interpretation, box: Sequence[slice] = ()) -> None:
        """Compare all elements, or those of a box of an array of which only that is known."""
        self.values, self.launch, self.line = of.values, of.launch, 0
        region = find_target(of)
        self.region, self.array, self.name = region, region.array, region.array.name
        self.places = region.places
        if isinstance(region, PagedRegion):
            self.array = region.array.cut_box(box)
            self.places = region.find_rows([np.arange(span.start, span.stop) for span in box]).ravel()
        self.findings: list[Finding] = []
        self.ids = self._stored_ids()
        stored = region.stored
        assert stored is not None
        self.written: Mask = stored.writer[self.places * region.size] >= 0
        # of a part of the launch, what its CTAs wrote is judged: the others may write the rest
        self.judged: Mask = np.ones(len(self.ids), bool) if of.part is None else self.written
        self.values.flush()
        wanted = self.evaluate_claim(of, of.launch.value, of.launch.scalars)
        self.residues, self.wanted = wanted.residues, wanted.sample.reshape(self.array.shape)
        self.below = np.zeros(1, bool) if wanted.below is None else wanted.below.ravel()  # where the claim is -inf
        self.sample = self.values.sample[self.ids].reshape(self.array.shape)
        growth = ClaimGrowth(of.launch.extents, numbers_of(of.launch))
        chance = bound_chance(self.values, self.ids, of.launch.value, growth)
        self.bound, self.alike = chance.bound, chance.alike
        self._compare()
        if not self.wrong.any():
            self._precision()
            self._note_wrapping(of)
            self._note_overflow(of)

    def _stored_ids(self) -> Ids:
        """Return the ids of the array's elements after the run."""
        region, size = self.region, self.region.size
        assert region.stored is not None
        places = self.places[:, None] * size + np.arange(size)
        held = word(join_octets(region.stored.plain[places].astype(np.uint64)), region.stored.labels[places])
        ids: Ids = held.elements(self.values, self.array.kind, size).reshape(-1)
        return np.broadcast_to(ids, (len(places),)) if len(ids) == 1 else ids

    def evaluate_claim(
        self, of: Interpretation, value: Node, scalars: Mapping[str, Fraction], kind: type[Evaluation] = Evaluation
    ) -> NamedTensor:  # fmt: skip
        """Return the value of a tree for each element that is judged, over the target's indices; 0 for the others."""
        values, launch = self.values, self.launch
        arrays, summed = read_tensors(of, value), list_summed(value)
        target, shape, origin = launch.target.indices, self.array.shape, self.array.origin or (0,) * self.array.ndim
        whole = find_target(of).array.shape
        made, number = np.zeros((len(values.primes), *shape), np.uint64), np.zeros(shape)
        infinite = np.zeros(shape, bool)
        for box in self._list_boxes(summed):
            there = [slice(x.start + at, x.stop + at) for x, at in zip(box, origin, strict=True)]
            cut = [
                x != slice(0, extent) and name not in summed
                for name, x, extent in zip(target, there, whole, strict=True)
            ]
            part = {name: x for name, x, needs in zip(target, there, cut, strict=True) if needs}
            choose: Choices = values.choices
            tensor = kind(values.primes, arrays, scalars, choose, launch.extents, launch.sizes, part)(value)
            residues, sample, below = tensor.align(target)
            # an index that a sum has too can't be cut before it is summed over: its axis has all of its values here
            here = tuple(slice(None) if needs or extent == 1 else x
                         for needs, extent, x in zip(cut, sample.shape, there, strict=True))  # fmt: skip
            made[:, *box], number[box] = residues[:, *here], sample[here]
            if below is not None:
                infinite[box] = np.broadcast_to(below, sample.shape)[here]
        return NamedTensor(target, made.reshape(len(made), -1), number, infinite if infinite.any() else None)

    def _list_boxes(self, summed: Collection[str]) -> Iterator[tuple[slice, ...]]:
        """Yield the boxes of the array that are computed one at a time, and have all of the judged elements."""
        shape, indices = self.array.shape, self.launch.target.indices
        axis = int(np.argmax(shape))
        long = bool(self.values.pairs) and indices[axis] not in summed  # a softmax takes much room
        whole = (tuple(slice(0, extent) for extent in shape),)
        for box in whole if self.judged.all() else find_boxes(self.judged.reshape(shape)):
            step = PART if long else shape[axis]
            for start in range(box[axis].start, box[axis].stop, step):
                yield *box[:axis], slice(start, min(start + step, box[axis].stop)), *box[axis + 1 :]

    def evaluate_element(
        self, arrays: Mapping[str, NamedTensor], value: Node, element: int, kind: type[Evaluation]
    ) -> Residues:  # fmt: skip
        """Return the residues of a tree for one element of the array, as a column."""
        values, launch, inside = self.values, self.launch, list_summed(value)
        at = dict(zip(launch.target.indices, map(int, np.unravel_index(element, self.array.shape)), strict=True))
        part = {name: slice(place, place + 1) for name, place in at.items() if name not in inside}
        tensor = kind(values.primes, arrays, launch.scalars, values.choices, launch.extents, launch.sizes, part)(value)
        residues, _, _ = tensor.align(launch.target.indices)
        places = (place if extent > 1 else 0 for place, extent in zip(at.values(), residues.shape[1:], strict=True))
        return residues[:, *places, None]

    def _compare(self) -> None:
        values, ids = self.values, self.ids
        causes = values.marks("cause", ids)
        inside = values.marks("slot", ids) > 0
        clear = (causes == 0) & ~inside
        opaque = values.marks("opaque", ids)
        sample, wanted = self.sample.ravel(), self.wanted.ravel()
        differs = ~values.equal(values.residues[:, ids], self.residues)
        inside &= self.judged
        if values.pairs:  # a sample that isn't a number verifies nothing, but for an infinity of both
            level = values.marks("level", ids)
            infinite = (level == levels.BELOW) & self.below
            differs |= (level > 0) & ~infinite | self.below & ~infinite
            differs |= ~(np.isfinite(sample) & np.isfinite(wanted)) & ~infinite
        differs |= (lost := np.isnan(wanted))  # the claim divides by 0 there
        differs &= self.judged
        tolerance = np.where(opaque == FREE, 1e-3 * (1 + np.abs(wanted)), 1e-6 * (1 + np.abs(wanted)))
        with np.errstate(invalid="ignore"):  # a NaN shows nothing
            gap = np.abs(sample - wanted)
        exact = (opaque == EXACT) & ~self._may_not_choose() & (not values.pairs)
        if self.array.kind in LIMITS:  # bits modulo 2^n
            modulus, apart = 2.0 ** (8 * SIZE[self.array.kind]), gap
            gap = np.minimum(gap % modulus, modulus - gap % modulus)
            inexact = np.maximum(np.abs(sample), np.abs(wanted)) >= WHOLE  # their lowest bits are lost
            gap = np.where(inexact, 0.0, gap)
            if (differs & clear & (apart > tolerance) & (gap <= tolerance)).any():  # by a multiple of 2^n
                exact &= False  # so residues that differ refute nothing: the bits may be the same
        shown = gap > tolerance
        certain = differs & clear & (exact & ~lost | shown)
        self.wrong: Mask = certain | (~self.written & differs)
        if self.wrong.any():
            self._say_wrong()
        nan = (causes == NAN) & self.written & np.isfinite(wanted)
        if nan.any():
            self._say_nan(nan)
        open_ = (causes > 0) & self.written & ~nan
        for cause in sort_distinct(causes[open_]):
            self._say_open(int(cause), int(np.flatnonzero(open_ & (causes == cause))[0]), int((causes == cause).sum()))
        if inside.any():
            text = f"{self.array.element(int(inside.argmax()))} and {int(inside.sum()) - 1} others rest on which lane "
            text += "holds which element of a wmma fragment, which the ISA leaves open"
            self.findings.append(Finding("unspecified fragment", Severity.UNKNOWN, 0, text, "9.7.14.4.1"))
        if values.pairs:  # equal residues of numbers that differ: a residue lacks its meaning somewhere
            differs |= shown & self.judged
        self.vague: Mask = differs & clear & ~self.wrong  # functions that were not shown to be equal or different
        self.elements = int(self.judged.sum())
        self.compared = int(((self.wrong | nan | (clear & ~self.vague)) & self.judged).sum())

    def _may_not_choose(self) -> Mask:
        """Find values whose bounds leave it open whether a function of the claim chooses: relu(A) is A if A is u8."""
        if not functions(self.launch.value):
            return np.zeros(len(self.ids), bool)
        table = self.values.histories.table()[:, [History._fields.index(name) for name in ("low", "high")]]
        return np.asarray(np.isfinite(table).any(1))[self.values.history[self.ids]]

    def first_wrong(self) -> int:
        """Return the first wrong element whose number differs on the sample, else the first."""
        apart = self.wrong & (~self.written | (self.sample.ravel() != self.wanted.ravel()))
        return int(np.flatnonzero(apart if apart.any() else self.wrong)[0])

    def _say_wrong(self) -> None:
        many, first = int(self.wrong.sum()), self.first_wrong()
        if not self.written[first]:
            absent = int((~self.written).sum())
            text = f"{self.array.element(first)} is never written; {absent} of {self.ids.size} elements are not"
            self.findings.append(Finding("element not written", Severity.VALUE, 0, text))
            return
        computed, wanted = _tell_apart(self.sample.flat[first], self.wanted.flat[first])
        text = f"{self.array.element(first)} is {computed}, and should be "
        text += f"{wanted} on the sample; {many} of {self.ids.size} elements are wrong"
        self.findings.append(Finding("wrong element", Severity.VALUE, 0, text))

    def _say_nan(self, nan: Mask) -> None:
        text = f"{self.array.element(int(nan.argmax()))} is NaN for all data, as inf - inf and 0 * inf are, and so are "
        text += f"{int(nan.sum()) - 1} others; should be {_number(self.wanted.ravel()[nan.argmax()])} on the sample"
        self.findings.append(Finding("not a number", Severity.VALUE, 0, text))

    def _say_open(self, cause: int, first: int, many: int) -> None:
        line, text = self.values.causes[cause]
        where = f"{self.array.element(first)} and {many - 1} others"
        if cause < 3:
            finding = Finding(NOWHERE, Severity.MEMORY, line, f"{where} come from a value that {text}")
        elif cause in self.values.lost.values():
            finding = Finding(NOWHERE, Severity.MEMORY, line, f"{text}; {where} depend on it")
        else:
            finding = Finding("no meaning", Severity.UNKNOWN, line, f"{where} depend on it: {text}")
        self.findings.append(finding)

    def _note_wrapping(self, of: Interpretation) -> None:
        """Note that integers which may leave the output's type are compared modulo 2^n."""
        kind = self.array.kind
        if kind in LIMITS:
            low, high = LIMITS[kind]
            histories = self.values.histories.among(self.values.history[self.ids])
            if any(history.low < low or history.high > high for history in histories):
                text = f"integers of {self.name} that leave {kind} are equal modulo 2^{kind[1:]}"
                of.findings.notes.setdefault(text, set()).add(0)

    def _note_overflow(self, of: Interpretation) -> None:
        """Note that values of the output may be infinite on a GPU, if their bounds allow more than its type has."""
        if self.array.kind in FORMATS:
            low, high = self.values.bounds(self.ids)
            size = max(-low, high)
            if largest(self.array.kind) < size < inf:
                of.findings.notes.setdefault(not_beyond(self.array.kind, size, f" of {self.name}"), set()).add(0)

    def _precision(self) -> None:
        """Report narrowings before the last step, and a last one to another format than the output's."""
        values, kind = self.values, self.array.kind
        absorbed, last = values.marks("absorbed", self.ids), values.marks("narrowed", self.ids)
        for event in sort_distinct(absorbed[absorbed > 0]):
            name, line = values.events[int(event)]
            if name == "f32" and kind != "f64":  # as every sum in f32 does: no narrowing unless the output is wider
                continue
            text = f"a value goes through {name} before it is used further; one narrowing to {kind} at the end is "
            text += f"allowed, and more if the claim says {_remedy(name, self.launch)}"
            self.findings.append(Finding("narrowing", Severity.PRECISION, line, text))
        for event in sort_distinct(last[last > 0]):
            name, line = values.events[int(event)]
            if name != kind and MANTISSA.get(name, 64) <= MANTISSA.get(kind, 64):
                text = f"the result goes through {name}, and the output is {kind}; if that is meant, the claim "
                text += f"says {_remedy(name, self.launch)}"
                self.findings.append(Finding("narrowing", Severity.PRECISION, line, text))


@dataclass(frozen=True, slots=True)
class PagedTensor:
    """A large array at the points of a run."""

    region: PagedRegion
    values: Values

    @property
    def shape(self) -> tuple[int, ...]:
        """Return its extents."""
        return self.region.array.shape

    def pick(self, picked: Sequence[NDArray[np.int64] | None]) -> tuple[Residues, NDArray[np.float64]]:
        """Return the residues and the samples at some indices of each axis, at all where it is None."""
        places = [
            np.arange(extent) if indices is None else indices
            for indices, extent in zip(picked, self.shape, strict=True)
        ]
        ids = self.region.first + self.region.find_rows(places)
        return self.values.residues[:, ids].astype(np.uint64), self.values.sample[ids]


def compare(of: Interpretation) -> Comparison:
    """Return the comparison of a run; of a large array that of its boxes, with what is wrong in one of them."""
    region = find_target(of)
    if not isinstance(region, PagedRegion):
        return Comparison(of)
    nothing = (slice(0, 1),) * region.array.ndim  # of which nothing is judged, if nothing was written
    each = [Comparison(of, box) for box in list_written(region) or [nothing]]
    first = next((box for mark in ("wrong", "vague") for box in each if getattr(box, mark).any()), each[0])
    first.findings = list(dict.fromkeys(finding for box in each for finding in box.findings))
    first.elements, first.compared = sum(box.elements for box in each), sum(box.compared for box in each)
    first.bound, first.alike = sum(box.bound for box in each), all(box.alike for box in each)
    return first


def find_target(of: Interpretation) -> Region:
    """Return the array that the claim is about."""
    return next(region for region in of.regions if region.array.name == of.launch.target.name)


def list_written(region: PagedRegion) -> list[tuple[slice, ...]]:
    """Return boxes of an array that have all of the elements that were written."""
    assert region.stored is not None and region.kept is not None
    rows = np.flatnonzero((region.stored.writer[: region.used * region.size : region.size] >= 0) &
                          (region.elements[: region.used] >= 0))  # fmt: skip
    rest, indices = region.kept[rows] - region.array.offset, [np.zeros(len(rows), np.int64)] * region.array.ndim
    for axis, _, step in sort_axes(region.array) or ():
        indices[axis], rest = np.divmod(rest, step)
    axes = [sort_distinct(each) for each in indices]
    spread = [
        np.cumsum(np.diff(axis, prepend=axis[:1]) > 1) + np.arange(len(axis)) for axis in axes
    ]  # 0 where a gap is
    shape = tuple(int(each[-1]) + 1 if len(each) else 0 for each in spread)
    if prod(shape) > MAX_ELEMENTS:
        raise Unclear(0, f"the elements of {region.array.name} that were written are spread too far")
    mask = np.zeros(shape, bool)
    mask[tuple(at[np.searchsorted(axis, each)] for at, axis, each in zip(spread, axes, indices, strict=True))] = True
    boxes = []
    for box in find_boxes(mask) if mask.size else ():
        first = [int(axis[np.searchsorted(at, x.start)]) for axis, at, x in zip(axes, spread, box, strict=True)]
        boxes.append(tuple(slice(start, start + x.stop - x.start) for start, x in zip(first, box, strict=True)))
    return boxes


def find_boxes(mask: Mask) -> Iterator[tuple[slice, ...]]:
    """Yield boxes that have all set elements: for each run of the first axis those of the axes after it.

    >>> list(find_boxes(np.array([[0, 1, 1], [0, 0, 0], [1, 0, 1]]) > 0))[0]
    (slice(0, 1, None), slice(1, 3, None))
    """
    if not mask.ndim:
        yield ()
        return
    there = np.concatenate([[False], mask.reshape(len(mask), -1).any(1), [False]])
    for start, stop in np.flatnonzero(there[1:] != there[:-1]).reshape(-1, 2).tolist():
        for rest in find_boxes(np.asarray(mask[start:stop].any(0))):
            yield slice(start, stop), *rest


def read_tensors(of: Interpretation, value: Node) -> dict[str, Any]:
    """Return the arrays of a claim's tree at the points of a run."""
    arrays, values = dict[str, Any](), of.values
    for element in elements(value):
        region = next(candidate for candidate in of.regions if candidate.array.name == element.name)
        if isinstance(region, PagedRegion):
            arrays[element.name] = PagedTensor(region, values)
            continue
        span, shape = slice(region.first, region.first + len(region.places)), region.array.shape
        sample = values.sample[span] if not region.array.zero else np.zeros(len(region.places))
        residues = values.residues[:, span].astype(np.uint64).reshape(len(values.primes), *shape)
        arrays[element.name] = NamedTensor(element.indices, residues, sample.reshape(shape))
    return arrays


def numbers_of(launch: Launch) -> dict[str, Fraction]:
    """Return the numbers that names of a claim stand for: sizes and scalars."""
    return {**{name: Fraction(size) for name, size in launch.sizes.items()}, **launch.scalars}


def _remedy(name: str, launch: Launch) -> str:
    """Return what a claim says that means a narrowing."""
    singles = [array.name for array in launch.arrays if array.kind == "f32" and not array.out]
    if name == "tf32" and singles:
        return f'type = "tf32" of {" and ".join(singles)}'
    return f'accumulate = "{name}"'


def _number(value: Any) -> str:
    return f"{float(value):g}"


def _tell_apart(computed: Any, wanted: Any) -> tuple[str, str]:
    """Return two numbers with the digits that tell them apart.

    >>> _tell_apart(3.0, 5.0), _tell_apart(0.2, 0.2000000001)
    (('3', '5'), ('0.2', '0.2000000001'))
    """
    short = _number(computed), _number(wanted)
    return short if short[0] != short[1] else (f"{float(computed)!r}", f"{float(wanted)!r}")

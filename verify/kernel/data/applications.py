# SPDX-License-Identifier: Apache-2.0
"""Functions of values in a run with pairs of primes: by their laws where they have some, of infinities by IEEE 754."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from verify.kernel.data import floats, levels, logarithms
from verify.kernel.data.choices import LAWLESS, POLES, POWERS, Choices
from verify.kernel.data.exact import ExactBatch
from verify.kernel.data.histories import NAN, NO_NUMBER, Histories, History, Numbers

Ids = NDArray[np.uint32]
_MINUS_INFINITY = 0xFF800000  # in an f32 (IEEE 754)
FEW = 16  # numbers whose inverses are computed one by one


class ValueTable(Protocol):
    """What `Values` has for the application of functions."""

    residues: NDArray[np.uint32]
    sample: NDArray[np.float64]
    history: NDArray[np.uint32]
    histories: Histories
    choices: Choices
    levels: bool
    signs: NDArray[np.uint8]
    primes: list[np.uint64]
    logged: bool
    poles: set[int]
    infinite: bool
    floor: float

    def flush(self) -> None:
        """Compute what is queued."""

    def new(self, count: int, kind: int) -> int:
        """Return the first of so many new ids of a type."""

    def weights(self, ids: Ids) -> NDArray[np.float64]:
        """Return what numbers that stand for -inf make up of each value."""

    def marks(self, name: str, ids: Ids) -> NDArray[np.int64]:
        """Return one of the marks of each value."""

    def choose(self, name: str, flat: Sequence[Ids], kind: str, opaque: int) -> Ids:
        """Return the ids of a function of numbers."""

    def reason(self, text: str) -> int:
        """Return the id of values that have no meaning."""

    def constant(self, bits: int, kind: str) -> int:
        """Return the id of a constant."""


def apply_with_laws(values: ValueTable, name: str, flat: Sequence[Ids], kind: str, marks: tuple[int, int]) -> Ids:
    """Return the ids of a function's results; `marks` are what it leaves with laws and without."""
    if name == "lg2":
        return _apply_logarithm(values, flat[0], kind, marks)
    logs = values.marks("logs", flat[0])
    if name == "ex2" and (open_ := (logs != logarithms.NONE) & (logs != logarithms.PLAIN)).any():
        results = np.empty(flat[0].shape, np.uint32)
        for law, where in (("ex2", ~open_), (LAWLESS, open_)):
            results[where] = values.choose(law, [flat[0][where]], kind, marks[0])
    else:
        results = values.choose(name, flat, kind, marks[0] if name in POWERS else marks[1])
    if name == "max" and values.choices.by_leaves:
        results = _settle_leaves(values, flat, results)
    if values.floor and any(values.weights(each).any() for each in flat):
        results = _settle_weights(values, name, flat, results, kind)
    levels_of = [values.marks("level", each) for each in flat] if values.infinite else []
    if any(each.any() for each in levels_of):
        return _settle_infinities(values, name, flat, levels_of, results, kind)
    return results


def _settle_weights(values: ValueTable, name: str, flat: Sequence[Ids], results: Ids, kind: str) -> Ids:
    """Return the ids of results where numbers stand for -inf: below all others, their powers 0."""
    own = [values.weights(each) for each in flat]
    some = np.logical_or.reduce([each != 0 for each in own])
    made = np.where(some, np.uint32(NO_NUMBER), results)
    clear = np.logical_and.reduce([values.marks("cause", each) == 0 for each in flat])
    if name == "ex2":
        small = np.abs(own[0]) < -values.floor
        made = np.where(some & small, results, made)
        made = np.where(
            clear & np.isfinite(own[0]) & (own[0] <= values.floor), np.uint32(values.constant(0, kind)), made
        )
    elif name in ("max", "min"):
        finite = np.isfinite(own[0]) & np.isfinite(own[1]) & clear
        with np.errstate(invalid="ignore"):
            gap = own[0] - own[1] if name == "max" else own[1] - own[0]
        made = np.where(finite & (gap == 0), results, made)
        made = np.where(finite & (gap <= values.floor), flat[1], made)
        made = np.where(finite & (gap >= -values.floor), flat[0], made)
    return made.astype(np.uint32)


def _settle_leaves(values: ValueTable, flat: Sequence[Ids], results: Ids) -> Ids:
    """Return the ids of results: the larger of x and x is x, that of 0 and what is not negative is the latter."""
    left, right = (values.residues[:, each] for each in flat)
    clear = np.logical_and.reduce([values.marks("cause", each) == 0 for each in flat])
    made = np.where(clear & (left == right).all(0), flat[0], results)
    for zero, number, opposite in ((right, flat[1], flat[0]), (left, flat[0], flat[1])):
        absent = clear & (zero == 0).all(0) & (values.marks("degree", number) == 0)
        made = np.where(absent & (values.marks("sign", opposite) >= levels.NONNEGATIVE), opposite, made)
    return made


def make_special(values: ValueTable, bits: int, kind: str, code: int) -> int:
    """Return the id of a constant that isn't a number: a NaN, or an infinity, which only a run with exponents knows."""
    number = floats.unpack(bits, "f32" if kind == "tf32" else kind)
    if number.kind == floats.NAN:
        return NAN
    if not values.levels:
        return values.reason(f"an infinity of type {kind} isn't a number")
    made, values.infinite = values.new(1, code), True
    level = levels.BELOW if number.negative else levels.ABOVE
    values.sample[made] = -inf if number.negative else inf
    values.history[made] = values.histories.number(History(level=level, unit=0.0))
    return made


def _apply_logarithm(values: ValueTable, ids: Ids, kind: str, marks: tuple[int, int]) -> Ids:
    """Return the ids of logarithms: of what is known to be positive by their laws, else of an unknown function."""
    level = values.marks("level", ids)
    number = (level == levels.FINITE) & (values.weights(ids) == 0)
    lawful = (values.marks("sign", ids) == levels.POSITIVE) & number & bool(values.choices.pairs)
    results = np.full(ids.shape, NO_NUMBER, np.uint32)
    zero = (
        number & (values.marks("degree", ids) == 0) & values.choices.agree(values.residues[:, ids.astype(np.intp)], 0)
    )
    zero &= values.marks("cause", ids) == 0
    if kind == "f32" and zero.any():  # as of a row that is wholly masked
        results[zero], number = values.constant(_MINUS_INFINITY, kind), number & ~zero
    for name, where, mark in (("log2", lawful, marks[0]), ("lg2", ~lawful & number, marks[1])):
        if where.any():
            results[where] = values.choose(name, [ids[where]], kind, mark)
    return results


def lose_poles(values: ValueTable, name: str, argument: Ids, results: Ids) -> Ids:
    """Return the ids of a function's results, but where it is infinite whatever the data are: 1/0 has a residue.

    It must not stay: a power of 2 of -1/0 is 0 on a GPU, and not that of any number.
    """
    if name not in POLES:
        return results
    places = argument.astype(np.intp)
    lost = values.choices.agree(values.residues[:, places], 0) & (values.marks("cause", argument) == 0)
    if lost.any():
        reason = values.reason(f"{name} of what is 0 for all data")
        values.poles.add(reason)
        numbers = values.history[results[lost]]
        values.history[results[lost]] = values.histories.combine(
            [numbers], lambda parts: parts[0]._replace(cause=reason)
        )
    return results


def _settle_infinities(
    values: ValueTable, name: str, flat: Sequence[Ids], own: Sequence[NDArray[np.int64]], results: Ids, kind: str
) -> Ids:
    """Return the ids of a function's results, those of infinities (by their levels) by what IEEE 754 says of them."""
    some = np.logical_or.reduce([each > 0 for each in own])
    made = np.where(some, np.uint32(NO_NUMBER), results)
    first = own[0]
    if name in ("max", "min"):
        least, most = (levels.BELOW, levels.ABOVE) if name == "max" else (levels.ABOVE, levels.BELOW)
        for here, there in ((0, 1), (1, 0)):
            clear = values.marks("cause", flat[here]) == 0
            number = values.marks("cause", flat[there]) != NAN  # of -inf and a NaN, max is -inf
            taken = (own[here] == least) & number | (own[there] == most) & clear
            made = np.where(taken, flat[there], made)
    elif name == "relu":
        zero = np.uint32(values.constant(0, kind))
        made = np.where(first == levels.BELOW, zero, np.where(first == levels.ABOVE, flat[0], made))
    elif name == "ex2":
        made = np.where(first == levels.BELOW, np.uint32(values.constant(0, kind)), made)
    return made.astype(np.uint32)


def carry_signs(values: ValueTable, batch: ExactBatch, history: Numbers) -> NDArray[np.uint8] | None:
    """Return the signs of an operation's results, the sum of those operands' that their histories name; None for 0."""
    carried = values.histories.column("carried")[history].astype(np.uint8)
    if not carried.any():
        return None
    made = np.zeros(batch.count, np.uint8)
    for at, operand in enumerate(batch.operands):
        made ^= values.signs[np.concatenate(operand)] * (carried >> np.uint8(at) & np.uint8(1))
    return made


def apply_to_signs(
    values: ValueTable, name: str, flat: Sequence[Ids], place: slice, residues: Sequence[NDArray[np.uint64]]
) -> None:
    """Give a function's results the signs of their logarithms, and a power of 2 the sign that its exponent lost."""
    signs = [values.signs[ids] for ids in flat]
    if name == "log2":
        values.logged = True
        values.signs[place] = values.choices.find_signs(residues[0], values.residues[:, place])
    elif name == "ex2":
        values.choices.turn_signs(values.residues[:, place], signs[0])
    elif name in logarithms.CHOOSING and any(sign.any() for sign in signs):
        values.signs[place] = logarithms.choose_signs(name, values.choices.turns(residues), signs)


def invert_numbers(values: ValueTable, ids: Ids, code: int) -> Ids | None:
    """Return the ids of the inverses of a few numbers; None for anything else."""
    values.flush()
    unique, place = np.unique(ids, return_inverse=True)
    if len(unique) >= FEW:
        return None
    past = [values.histories[int(number)] for number in values.history[unique]]
    if any(history.degree or history.has_marks for history in past) or not values.residues[:, unique].all():
        return None
    made = values.new(len(unique), code)
    for at, (source, old) in enumerate(zip(unique, past, strict=True), made):
        for row, p in zip(values.residues, values.primes, strict=True):
            row[at] = pow(int(row[source]), -1, int(p))
        values.sample[at] = 1 / values.sample[source]
        both = old.norm + old.denominator
        values.history[at] = values.histories.number(History(norm=both, denominator=both, sign=old.sign))
    return (made + place.reshape(ids.shape)).astype(np.uint32)

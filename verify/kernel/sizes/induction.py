# SPDX-License-Identifier: Apache-2.0
"""The induction over the trips of the loop: after P trips the state is what it was, with the next round for this one.

`find_period` looks for the shortest round that the states of one run allow, as early as it can. `differs` compares two
heads of a round j < J: the later one must be the earlier one with j + 1 for j in the forms, and with k moved by P trips
in every element that registers, shared memory and copies hold.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from verify.kernel.data.registers import Word
from verify.kernel.data.values import Ids
from verify.kernel.ptx.source import WIDTHS
from verify.kernel.sizes.forms import Polynomial, alike, describe, substitute, symbols_in
from verify.kernel.sizes.relative import differs as state_differs
from verify.kernel.sizes.runs import COMPUTED, LiftedRun, Snapshot

FIRSTS, PERIODS = 4, 6  # heads that are tried as the first of a round, and trips of one


def growths(run: LiftedRun, before: Snapshot, after: Snapshot) -> dict[int, Polynomial]:
    """Return by how much each register's number grows from one head to a later one."""
    changes = {}
    for index in range(len(before.words)):
        if index >= len(run.machine.kernel.registers):
            break  # the carry
        old, new = (run.content(snapshot.forms, snapshot.words, index) for snapshot in (before, after))
        if old is None or new is None:
            continue
        change = (new - old).modulo(WIDTHS[run.machine.kernel.registers[index]])
        if any(each.any() for each in change.terms.values()):
            changes[index] = change
    return changes


def find_period(run: LiftedRun, heads: Mapping[int, Snapshot], last: int) -> tuple[int, int] | str:
    """Return (trips before the first head, trips of a round) of a round that ends after `last` trips, or why none does.

    The run should be a trip further: `Snapshot.read` then has the registers of that round and of the next trip.
    """
    why = "the loop has too few trips"
    for period in range(1, min(PERIODS, last - 1) + 1):
        first = last - period
        if first > FIRSTS:
            continue
        before, after = heads[first], heads[last]
        why = same_state(run, before, after, period) or _same_data(run, before, after, period)
        if not why:
            return first, period
    return why


def _same_data(run: LiftedRun, before: Snapshot, after: Snapshot, period: int) -> str:
    """Return the first live register whose elements are not those of some trips later."""
    for index in sorted(before.read):
        old, new = before.words[index], after.words[index]
        if old is None or new is None or old.plain or new.plain:
            continue
        if not _is_computed(run, old) and not _is_moved(run, _labels(run, old), _labels(run, new), period).all():
            return f"{run.machine.kernel.names[index]} does not hold the elements of {period} trips later"
    return ""


def same_state(run: LiftedRun, before: Snapshot, after: Snapshot, period: int) -> str:
    """Return the first part of the state besides registers that is not the same after a period; "" if all is."""
    if difference := state_differs(before.rest, after.rest):
        return difference
    if not (before.plain == after.plain).all():
        return "plain bytes of shared memory"
    moved = _is_moved(run, before.labels, after.labels, period)
    if not moved.all():
        return f"shared byte {int(np.flatnonzero(~moved)[0])} does not hold the element of {period} trips later"
    if len(before.copies) != len(after.copies):
        return "the copies on their way"
    for old, new in zip(before.copies, after.copies, strict=True):
        same = all(np.array_equal(*pair) for pair in zip((*old[:5], old[6]), (*new[:5], new[6]), strict=True))
        if not same or not _is_moved(run, old[5].ravel(), new[5].ravel(), period).all():
            return "the copies on their way"
    return ""


def differs(run: LiftedRun, before: Snapshot, after: Snapshot, period: int, live: set[int]) -> str:
    """Return the first part of the state of a round that is not that of the round before it; "" if all is.

    `live` are the registers that any later instruction may read before it is overwritten.
    """
    if difference := same_state(run, before, after, period):
        return difference
    step = run.statement.step
    high = run.find_sums_of_round(before.trips * step, after.trips * step)
    low = run.find_fresh()
    names = run.machine.kernel.names
    for index in sorted(live):
        if index >= len(names):
            return "the carry"
        if index in before.unknown | after.unknown:
            return f"{names[index]}: only a part of the threads may have written it"
        if difference := _register_differs(run, index, before, after, period, (low, high)):
            return f"{names[index]}: {difference}"
    return ""


Table = Mapping[tuple[int, ...], tuple[int, int]]


def _register_differs(
    run: LiftedRun, index: int, before: Snapshot, after: Snapshot, period: int, sums: tuple[Table, Table]
) -> str:  # fmt: skip
    """Return why a register is not what it was with j + 1 for j."""
    old, new = before.words[index], after.words[index]
    if old is None or new is None:
        return "" if old is new else "is not set before the loop"
    if index in before.forms or index in after.forms:
        return _form_differs(run, index, before, after)
    if old.plain or new.plain:
        same = old.plain and new.plain and _same_bits(run, old, new)
        return "" if same else "another number"
    if old.condition is not None or new.condition is not None:
        return "a condition on data"
    if _is_computed(run, old) or _is_computed(run, new):
        return _sums_differ(run, old, new, sums)
    moved = _same_bits(run, old, new) and _is_moved(run, _labels(run, old), _labels(run, new), period).all()
    return "" if moved else f"does not hold the elements of {period} trips later"


def _same_bits(run: LiftedRun, old: Word, new: Word) -> bool:
    count = run.machine.count
    return np.array_equal(np.broadcast_to(old.bits, count), np.broadcast_to(new.bits, count))


def _form_differs(run: LiftedRun, index: int, before: Snapshot, after: Snapshot) -> str:
    form, later = (
        snapshot.forms[index][0] if index in snapshot.forms else run.content(snapshot.forms, snapshot.words, index)
        for snapshot in (before, after)
    )
    if form is None or later is None:
        return "is a form at one of two heads"
    if run.region.made_of("j") & (symbols_in(form) | symbols_in(later)):
        return "a quotient of a number that grows with the rounds"
    wanted = substitute(form, "j", Polynomial.symbol("j") + Polynomial.number(1))
    same = alike(wanted, later, WIDTHS[run.machine.kernel.registers[index]])
    return "" if same else f"{describe(wanted)} becomes {describe(later)}"


def _sums_differ(run: LiftedRun, old: Word, new: Word, sums: tuple[Table, Table]) -> str:
    places = [run.sums_of(held, table) for held, table in zip((old, new), sums, strict=True)]
    if places[0] is None or places[1] is None:
        return "a value that is not the sum over all k so far"
    if places[0].shape != places[1].shape or (places[0] != places[1]).any() or old.kind != new.kind:
        return "the sum of another element"
    values = run.machine.values
    for name in ("cause", "absorbed", "narrowed", "opaque", "slot", "last", "rounded", "level", "sign", "divided"):
        if (values.marks(name, old.ids.ravel()) != values.marks(name, new.ids.ravel())).any():  # type: ignore[union-attr]
            return f"a sum whose history changes ({name})"
    return ""


def _is_computed(run: LiftedRun, held: Word) -> bool:
    """Return whether a register has any value that is no element of an array and no byte without one."""
    ids = _labels(run, held) >> np.uint32(3)
    return bool((ids >= run.machine.values.inputs).any())


def _labels(run: LiftedRun, held: Word) -> Ids:
    labels = held.wide(held.width)
    return np.broadcast_to(labels, (run.machine.count, labels.shape[1]))[: run.machine.real]


def _is_moved(run: LiftedRun, before: Ids, after: Ids, period: int) -> NDArray[np.bool_]:
    """Return where bytes hold the same byte of the element whose summed index is larger by `period` trips.

    A byte of a computed value has no element, and is like no other.
    """
    if before.shape != after.shape:
        return np.zeros(1, bool)
    old, new = run.coordinates(before, period * run.statement.step), run.coordinates(after)
    return np.asarray((old == new) & (old != COMPUTED))


def _same_elements(first_run: LiftedRun, second_run: LiftedRun, first: Ids, second: Ids) -> bool:
    """Return whether bytes of two runs are those of the same elements; a computed value is like no other."""
    old, new = first_run.coordinates(first), second_run.coordinates(second)
    return np.array_equal(old, new) and not (old == COMPUTED).any()


def same_start(first_run: LiftedRun, second_run: LiftedRun, first: Snapshot, second: Snapshot, live: set[int]) -> str:
    """Return the first part of the state at the head that two regions do not share; "" if they share all.

    A round of the induction and the run to the end must begin with one state.
    """
    names = first_run.machine.kernel.names
    unknown = (names[index] for index in sorted(live & (first.unknown | second.unknown)))
    differ = (f"{names[index]}: {difference}" for index in sorted(live)
              if (difference := _start_differs(first_run, second_run, first, second, index)))  # fmt: skip
    return _memory_differs(first_run, second_run, first, second) or next(unknown, "") or next(differ, "")


def _memory_differs(first_run: LiftedRun, second_run: LiftedRun, first: Snapshot, second: Snapshot) -> str:
    if difference := state_differs(first.rest, second.rest):
        return difference
    if not _same_elements(first_run, second_run, first.labels, second.labels):
        return "shared memory"
    if not (first.plain == second.plain).all() or len(first.copies) != len(second.copies):
        return "shared memory, or the copies on their way"
    for old, new in zip(first.copies, second.copies, strict=True):
        same = all(np.array_equal(*pair) for pair in zip((*old[:5], old[6]), (*new[:5], new[6]), strict=True))
        if not same or not _same_elements(first_run, second_run, old[5], new[5]):
            return "the copies on their way"
    return ""


def _start_differs(first_run: LiftedRun, second_run: LiftedRun, first: Snapshot, second: Snapshot, index: int) -> str:
    old, new, count = first.words[index], second.words[index], first_run.machine.count
    if old is None or new is None:
        return "" if old is new else "set in one of two regions"
    (form, _), (later, _) = (each.forms.get(index, (None, 0)) for each in (first, second))
    if form is not None or later is not None:
        form = form if form is not None else first_run.content(first.forms, first.words, index)
        later = later if later is not None else second_run.content(second.forms, second.words, index)
        width = WIDTHS[first_run.machine.kernel.registers[index]]
        same = form is not None and later is not None and alike(form, later, width)
        if not same and isinstance(form, Polynomial) and isinstance(later, Polynomial):
            same = second_run.region.equal(form, later, first_run.region, width)
        return "" if same else "another form in two regions"
    if not np.array_equal(np.broadcast_to(old.bits, count), np.broadcast_to(new.bits, count)):
        return "another number in two regions"
    if old.plain or new.plain:
        return "" if old.plain and new.plain else "data in one of two regions"
    if _is_computed(first_run, old) or _is_computed(second_run, new):
        # the same sums, of which both replace all by unknowns
        places = first.sums.get(index), second.sums.get(index)
        same = places[0] is not None and places[1] is not None and np.array_equal(places[0], places[1])
        return "" if same else "a value that is not the sum over all k so far"
    same = _same_elements(first_run, second_run, _labels(first_run, old), _labels(second_run, new))
    return "" if same else "other elements in two regions"

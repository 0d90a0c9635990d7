# SPDX-License-Identifier: Apache-2.0
"""Sizes at which a step that was not proved differs from the sample: z3 names them, and the interpreter decides there.

That a proof fails refutes nothing. A wrong result is the interpreter's word, at sizes that can be run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import prod
from time import monotonic
from typing import Any

from proofs.smt.inequalities import find_point
from verify.kernel.sizes.forms import Condition, Equal, Less, Linear, NotLifted, truth
from verify.kernel.sizes.region import SizeRegion, times, total
from verify.kernel.sizes.statement import AllSizes

MOST = 1 << 21  # elements of an array at sizes that are run
SECONDS = 60.0  # after which no further sizes are tried: what is not found leaves the theorem unproved, as it was
ROOM = (2, 8, 64, None)  # tiles of the output's sizes, tried in turn; None for any number
TRIED = 6  # sizes


def find_sizes(statement: AllSizes, failed: NotLifted) -> Iterator[dict[str, int]]:
    """Yield sizes and strides at which a condition of a failed step is not what it is at the sample."""
    region, done = failed.region, []
    if not isinstance(region, SizeRegion):
        return
    for condition in failed.conditions:
        for fact in _opposite(condition, region):
            found = _smallest(statement, region, fact)
            if found is not None and found not in done:
                done.append(found)
                yield found
            if len(done) >= TRIED:
                return


def _opposite(condition: Condition, region: SizeRegion) -> Iterator[Linear]:
    """Yield polynomials, in some threads, that are at least 0 where the condition is not what it is at the sample."""
    if not isinstance(condition, Less | Equal):
        return
    now, form = truth(condition, region.sample), condition.form
    for thread in dict.fromkeys((0, form.rows - 1)):
        part, is_true = form.thread(thread), bool(now[thread if len(now) > 1 else 0])
        if isinstance(condition, Less):
            yield part if is_true else total(times(part, -1), {(): -1})
        elif is_true == condition.equal:  # it is 0 at the sample
            yield total(part, {(): -1})
            yield total(times(part, -1), {(): -1})
        else:
            yield total(part, {(): 0})


def _smallest(statement: AllSizes, region: SizeRegion, fact: Linear) -> dict[str, int] | None:
    """Return the smallest sizes of a region at which a polynomial is at least 0, as far as z3 finds any."""
    summed = statement.summed[1]
    symbol = next(iter(statement.size(summed).terms.keys() - {()}))[0]
    order = [symbol, *(next(iter(statement.size(one.size).terms.keys() - {()}))[0] for one in statement.axes)]
    order += [name for name in region.factors if name not in order]
    for room in ROOM:
        limits = [total({(): room * axis.tile}, times(statement.size(axis.size).thread(0), -1))
                  for axis in statement.axes if room is not None]  # fmt: skip
        found = find_point([*region.facts, fact, *limits], order)
        if found is not None:
            names = (*statement.names, *statement.stride_names())
            return {name: statement.divisors.get(name, 1) * found[_symbol(statement, name)] for name in names}
    return None


def _symbol(statement: AllSizes, name: str) -> str:
    return next(iter(statement.size(name).terms.keys() - {()}))[0]


def runnable(statement: AllSizes, sizes: Mapping[str, int]) -> dict[str, Any] | None:
    """Return the claim's table at some sizes; None if they are too large to run."""
    if any(prod(sizes[name] for name in extents) > MOST for extents in statement.extents.values()):
        return None
    return statement.fill_in(sizes)


def find_refutation(
    statement: AllSizes, failed: NotLifted, check: Callable[[Mapping[str, Any]], Any]
) -> tuple[dict[str, int], Any] | None:
    """Return the first sizes at which the interpreter refutes the kernel, with what `check` found there."""
    until = monotonic() + SECONDS
    for sizes in find_sizes(statement, failed):
        table = runnable(statement, sizes)
        if table is None:
            continue
        outcome = check(table)
        if outcome.status == "REFUTED":
            return sizes, outcome
        if monotonic() > until:
            break
    return None

# SPDX-License-Identifier: Apache-2.0
"""Sizes at which a step that was not proved differs from the sample: z3 names them, and the interpreter decides there.

That a proof fails refutes nothing. A wrong result is the interpreter's word, at sizes that can be run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
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
TRIED = 8  # sizes


def find_sizes(statement: AllSizes, failed: NotLifted) -> Iterator[dict[str, int]]:
    """Yield sizes and strides at which a condition of a failed step is not what it is at the sample.

    First the smallest of the region of the step, then of all sizes, and then with more than a tile in each direction;
    each time also the next summed size, since the last of an odd one may have no partner.
    """
    region, summed = failed.region, statement.summed[1]
    done: list[dict[str, int]] = []
    if not isinstance(region, SizeRegion):
        return
    for facts in _regions(statement, region):
        for condition in failed.conditions:
            for fact in _opposite(condition, region):
                sizes = _smallest(statement, region, [*facts, fact])
                if sizes is None:
                    continue
                larger = total(statement.size(summed).thread(0), {(): -sizes[summed] - 1})
                for each in (sizes, _smallest(statement, region, [*facts, fact, larger])):
                    if each is not None and each not in done and len(done) < TRIED:
                        done.append(each)
                        yield each


def _regions(statement: AllSizes, region: SizeRegion) -> Iterator[list[Linear]]:
    every = [*statement.facts(), *(fact for _, fact in statement.preconditions())]
    more = [total(statement.size(axis.size).thread(0), {(): -axis.tile - 1}) for axis in statement.axes]
    yield region.facts
    yield every
    yield [*region.facts, *more]
    yield [*every, *more]


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


def _smallest(statement: AllSizes, region: SizeRegion, facts: Sequence[Linear]) -> dict[str, int] | None:
    """Return the smallest sizes at which polynomials are at least 0, as far as z3 finds any."""
    summed = statement.summed[1]
    order = [statement.symbol(summed), *(statement.symbol(axis.size) for axis in statement.axes)]
    order += [name for name in region.factors if name not in order]
    names = (*statement.names, *statement.stride_names())
    known = {name for fact in facts for key in fact for name in key}
    order = [name for name in order if name in known]
    for room in ROOM:
        limits = [total({(): room * axis.tile}, times(statement.size(axis.size).thread(0), -1))
                  for axis in statement.axes if room is not None]  # fmt: skip
        point = find_point([*facts, *limits], order)
        if point is not None and all(statement.symbol(name) in point for name in names):
            return {name: statement.divisors.get(name, 1) * point[statement.symbol(name)] for name in names}
    return None


def runnable(statement: AllSizes, sizes: Mapping[str, int]) -> dict[str, Any] | None:
    """Return the claim's table at some sizes; None if they are too large to run."""
    if any(prod(sizes[name] for name in extents) > MOST for extents in statement.extents.values()):
        return None
    return statement.fill_in(sizes)


def write_claim(table: Mapping[str, Any]) -> str:
    """Return the text of a claim file that has a table; it replays a refutation.

    >>> print(write_claim({"claim": "C[m] = A[m]", "sizes": {"M": 3}, "arrays": {"C": {"dims": "m", "out": True}}}))
    claim = "C[m] = A[m]"
    sizes = { M = 3 }
    [arrays]
    C = { dims = "m", out = true }
    <BLANKLINE>
    """
    lines = [f"{key} = {_spell(held)}" for key, held in table.items() if key != "arrays"]
    return "\n".join([*lines, "[arrays]", *(f"{key} = {_spell(held)}" for key, held in table["arrays"].items()), ""])


def _spell(held: Any) -> str:
    """Return a value as TOML spells it."""
    if isinstance(held, Mapping):
        return f"{{ {', '.join(f'{key} = {_spell(each)}' for key, each in held.items())} }}"
    if isinstance(held, list | tuple):
        return f"[{', '.join(map(_spell, held))}]"
    return json.dumps(held)


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

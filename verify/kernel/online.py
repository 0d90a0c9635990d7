# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a kernel that sums powers block by block with a running maximum.

Changes of the claim say what such a kernel forgets: with the maximum up to each block, which is a sum of hashes of all
scores so far, the sum that isn't rescaled has a value too. If none gives what the kernel computes, it is run with a
maximum that never changes: nothing has to be rescaled then, and a kernel that is right then forgets to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial

import numpy as np

from verify.kernel.blocks import BEFORE, BLOCKS, NOW, OWN, change_powers, find_totals
from verify.kernel.claims.expression import (
    LARGEST,
    LN_2,
    LOG2_E,
    Apply,
    Below,
    ClaimNumber,
    Node,
    Scalar,
    Sum,
    list_factors,
    round_number,
)
from verify.kernel.claims.rewriting import ONE, ZERO, list_products, multiply, substitute
from verify.kernel.comparison import Comparison
from verify.kernel.data import levels
from verify.kernel.data.values import Ids, Values
from verify.kernel.interpretation import Interpretation, Missing
from verify.kernel.near_misses import name_change
from verify.kernel.state.findings import Finding, Severity, Unclear

_RESCALED = (
    "the accumulator or the sum of a row is not rescaled as it should be when the maximum grows (or a logarithm lacks "
    "the maximum): with a maximum that never changes, all is right"
)


class FixedMaximum(Values):
    """Values of which the larger one is always 0."""

    def apply(self, name: str, ids: Sequence[Ids], kind: str, opaque: int) -> Ids:
        """Return the ids of a function's results."""
        if name != "max":
            return super().apply(name, ids, kind, opaque)
        self.flush()
        below = np.logical_and.reduce([self.marks("level", each) == levels.BELOW for each in ids])
        return np.where(below, ids[0], np.uint32(self.constant(0, kind))).astype(np.uint32)


def explain_rescaling(run: Interpretation, seed: int, budget: int) -> list[Finding]:
    """Return a finding that says what a running maximum has to do with what is wrong; none if it has nothing."""
    rerun = _compare_again(run, Values(seed, exponents=True), budget, by_leaves=True)
    changes = list_running(run.launch.value, run.launch.extents)
    if rerun is not None and rerun[1].wrong.any() and (text := name_change(*rerun, changes)):
        return [Finding("another formula", Severity.VALUE, 0, f"{text}: that gives all wrong elements")]
    rerun = _compare_again(run, FixedMaximum(seed, exponents=True), budget, by_leaves=False)
    if rerun is None or rerun[1].wrong.any() or rerun[1].compared < rerun[1].ids.size:
        return []
    return [Finding("not rescaled", Severity.VALUE, 0, _RESCALED)]


def _compare_again(
    run: Interpretation, values: Values, budget: int, by_leaves: bool
) -> tuple[Interpretation, Comparison] | None:
    """Return another run of the same launch and what it found; None if it doesn't end, or finds something else."""
    again = Interpretation(run.kernel, run.launch, values, budget, {})
    values.choices.by_leaves |= by_leaves
    try:
        again.interpret()
    except (Unclear, Missing):
        return None
    return None if again.findings.reported.keys() - run.findings.reported.keys() else (again, Comparison(again))


# ---- what a loop may forget, as a change of the claim

_LOG2_E, _LN_2 = (ClaimNumber(round_number(number, double=False)) for number in (LOG2_E, LN_2))
_SIDES = ("the sum of a row", "the accumulator", "each of the sum of a row and the accumulator")


def list_running(node: Node, extents: Mapping[str, int]) -> Iterator[tuple[str, Node]]:
    """Yield changes of a claim's sums of powers that a running maximum makes, in words."""
    for total in find_totals(node):
        exponent = _find_exponent(total.body)
        for constants, leaf in _split_constants(exponent):
            terms = Sum(total.index, leaf)
            last = multiply(*constants, Apply(LARGEST, (terms,)))
            yield from _end_otherwise(node, total, exponent, last)
            for size in (width for width in (1, *BLOCKS) if width < extents[total.index]):
                block = ClaimNumber(Fraction(size))
                now, before, own = (multiply(*constants, Apply(name, (terms, block))) for name in (NOW, BEFORE, OWN))
                for text, weight in _weigh(exponent, now, before, own, last):
                    changed, same = partial(_take, Apply("ex2", (weight,))), partial(_take, None)
                    yield f"{_SIDES[0]} {text}", change_powers(node, total, changed, same)
                    yield f"{_SIDES[1]} {text}", change_powers(node, total, same, changed)
                    yield f"{_SIDES[2]} {text}", change_powers(node, total, changed, changed)


def _take(replacement: Node | None, power: Node) -> Node:
    return power if replacement is None else replacement


def _weigh(exponent: Node, now: Node, before: Node, own: Node, last: Node) -> Iterator[tuple[str, Node]]:
    """Yield what the weight of a term is in the end, times the power of the last maximum, if a step is another one.

    A step should multiply what is there by 2^(before - now), and add the powers 2^(exponent - now).
    """
    power = Apply("-", (exponent, now))
    yield "is not rescaled when the maximum grows", Apply("+", (power, last))
    yield "is rescaled once too often, with what a step adds", Apply("+", (power, before))
    added = Apply("+", (Apply("-", (power, now)), before))
    yield "is not rescaled when the maximum grows, but what a step adds is", Apply("+", (added, last))
    yield "has powers of e, and is rescaled by powers of 2", Apply("+", (multiply(power, _LOG2_E), now))
    yield "has powers of 2, and is rescaled by powers of e", Apply("+", (multiply(power, _LN_2), now))
    yield "has 1 in place of each power", now
    yield "has powers less the maximum of one step alone", Apply("+", (Apply("-", (exponent, own)), now))


def _end_otherwise(node: Node, total: Sum, exponent: Node, last: Node) -> Iterator[tuple[str, Node]]:
    """Yield changes of what becomes of a sum when the last maximum is known."""
    less = Apply("ex2", (Apply("-", (exponent, last)),))
    log, divisor = Apply("lg2", (total,)), Apply("rcp", (total,))
    alone = Apply("lg2", (Sum(total.index, less),))
    natural = any(log in (of := list_factors(product)) and _LN_2 in of for product in list_products(node))
    for text, made in (
        ("the logarithm of the sum lacks the maximum", alone),
        ("the maximum is subtracted from the logarithm of the sum", Apply("-", (alone, last))),
        (
            f"the logarithm of the sum has base {'2' if natural else 'e'}, its maximum base {'e' if natural else '2'}",
            Apply("+", (last, multiply(alone, _LOG2_E if natural else _LN_2))),
        ),
        (
            f"the maximum has base {'2' if natural else 'e'}, the logarithm of the sum base {'e' if natural else '2'}",
            Apply("+", (multiply(last, _LOG2_E if natural else _LN_2), alone)),
        ),
    ):
        yield text, substitute(node, {log: made})
    more = Apply("+", (total, Apply("ex2", (last,))))
    yield "1 is added to the sum of a row", substitute(node, {total: more})
    undivided = substitute(node, {divisor: ONE})
    yield "the accumulator is not divided by the sum of a row", substitute(undivided, {total.body: less})


def _find_exponent(power: Node) -> Node:
    """Return the exponent of a power, -inf where it is masked."""
    assert isinstance(power, Apply)
    if power.name == "ex2":
        return power.parts[0]
    parts = (Below() if part == ZERO else _find_exponent(part) for part in power.parts[2:])
    return Apply("where", (*power.parts[:2], *parts))


def _split_constants(exponent: Node) -> list[tuple[tuple[Node, ...], Node]]:
    """Return ways to take the maximum: of the exponent, or of what it has besides numbers, or scalars too."""
    ways = [((), exponent), _pull(exponent, (ClaimNumber,)), _pull(exponent, (ClaimNumber, Scalar))]
    return list(dict.fromkeys(ways))


def _pull(node: Node, kinds: tuple[type, ...]) -> tuple[tuple[Node, ...], Node]:
    """Return the constant factors of a tree, out of a mask too, and what is left."""
    if isinstance(node, Apply) and node.name == "where" and Below() in node.parts[2:]:
        at = 3 if node.parts[2] == Below() else 2
        constants, rest = _pull(node.parts[at], kinds)
        return constants, Apply("where", (*node.parts[:at], rest, *node.parts[at + 1 :]))
    factors = list_factors(node)
    constants = tuple(factor for factor in factors if isinstance(factor, kinds))
    varying = [factor for factor in factors if not isinstance(factor, kinds)]
    if len(varying) != 1 or len(factors) == 1:
        return constants, multiply(*varying)
    more, rest = _pull(varying[0], kinds)
    return (*constants, *more), rest

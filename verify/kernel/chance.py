# SPDX-License-Identifier: Apache-2.0
"""The chance that a wrong element goes unnoticed: how likely two values that differ have equal residues.

A polynomial of degree d that is not zero modulo p vanishes at a random point with at most d / p (Schwartz and Zippel);
and at most height / 30 primes above 2^30 divide a coefficient below 2^height.

With exponentials a value is a Laurent polynomial of the inputs and of powers h = 2^b, if the exponents are one number
times forms b, or differences of two, that are jointly uniform modulo q. So it is in attention: given Q, the scores of a
row are linear in different rows of K. A product of d exponentials is then a product of at most 2d powers of h. A
Laurent polynomial whose terms have at most e factors vanishes with at most 2e / q: fix one variable after the other,
each time the one with the largest exponent e1 on either side; its exponents span at most 2 e1, and the terms that are
left have e - e1 factors. That makes 4d / q. `Chance.alike` says whether Lanecheck saw one number, and no constant added
to it; that the forms are independent is an assumption.

A maximum is a hash of its argument. Two arguments that differ and have the same residues would be one to Lanecheck: of
n arguments there are n (n - 1) / 2 such pairs, and each must agree modulo every p and every q.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import prod
from typing import NamedTuple

from verify.kernel.claims.expression import Apply, Below, ClaimNumber, Element, Node, Scalar, Sum, depends, functions
from verify.kernel.data import levels
from verify.kernel.data.exponents import LEAST_ORDER, PAIRS_THERE
from verify.kernel.data.histories import MIXED, Growth, chosen_growth, sign_of, widest
from verify.kernel.data.residues import LEAST, PRIMES_THERE
from verify.kernel.data.values import Ids, Values

ASSUMED = 1e-12  # a verdict on exponentials takes another pair of primes while its chance is above
MOST_PAIRS = 6
INDEPENDENT = "the exponents of a sum are independent, as scores are that are linear in different rows of K"


@dataclass(slots=True)
class ClaimGrowth:
    """The bounds of a claim's value, and the units of its exponents."""

    extents: Mapping[str, int]
    scalars: Mapping[str, Fraction]
    units: set[float] = field(default_factory=set)
    hashed: Growth = field(default_factory=Growth)  # the largest bounds of an argument of a function

    def __call__(self, node: Node) -> Growth:
        """Return the bounds of a tree."""
        if isinstance(node, ClaimNumber | Scalar | Below | Element):
            return self._leaf(node)
        if isinstance(node, Sum):
            return self._sum(node)
        parts = [self(part) for part in node.parts]
        if node.name in ("+", "-", "*"):
            left, right = parts
            return left + right if node.name == "+" else left - right if node.name == "-" else left * right
        if node.name == "ex2":
            self.units.add(parts[0].unit)
        self.hashed = widest((self.hashed, *parts))
        if node.name == "where":  # of masks: one of both
            return replace(parts[2] + parts[3], unit=_one_unit(parts[2].unit, parts[3].unit))
        return chosen_growth(node.name, parts)

    def _sum(self, node: Sum) -> Growth:
        """Return the bounds of a sum: a factor that all terms have is taken out, as a softmax has its divisor."""
        count, rest = self.extents.get(node.index, 1), [node.body]
        terms, common = Growth(low=1, high=1, unit=1.0), Growth(low=1, high=1, unit=1.0)
        while rest:
            part = rest.pop()
            if isinstance(part, Apply) and part.name == "*":
                rest += part.parts
            elif depends(part, node.index):
                terms = terms * self(part)
            else:
                common = common * self(part)
        degree = terms.degree * count if terms.divided else terms.degree
        return common * replace(terms, degree=degree, norm=terms.norm + max(count - 1, 1).bit_length())

    def _leaf(self, node: ClaimNumber | Scalar | Below | Element) -> Growth:
        if isinstance(node, Below):
            return Growth(level=levels.BELOW, unit=0.0)
        if isinstance(node, Element):
            return Growth(degree=1, unit=1.0)
        value = node.value if isinstance(node, ClaimNumber) else self.scalars.get(node.name)
        if value is None:  # an index or a size
            return Growth(norm=32)
        norm = max(abs(value.numerator).bit_length() - value.denominator.bit_length() + 1, 0)
        denominator, number = value.denominator.bit_length() - 1, float(value)
        return Growth(0, norm, denominator, number, number, sign=sign_of(value), unit=abs(number))


def _one_unit(left: float, right: float) -> float:
    return left if right in (0.0, left) else right if not left else MIXED


class Chance(NamedTuple):
    """A bound on the chance that a wrong element went unnoticed."""

    bound: float
    alike: bool = True  # whether the exponents are one number times integer combinations, and nothing is a logarithm


def bound_chance(values: Values, ids: Ids, claim: Node, growth: ClaimGrowth) -> Chance:
    """Return a bound on the chance that any of these values differs from the claim's, unnoticed."""
    values.flush()
    if not ids.size:
        return Chance(0.0)
    there = values.histories.among(values.history[ids])
    degree = max(history.degree for history in there)
    height = max(history.norm for history in there) + max(history.denominator for history in there) + 1
    claimed = growth(claim)
    confused = _bound_confusion(values, growth)
    if not values.pairs:
        per_prime = (max(degree, claimed.degree) + 1) / LEAST + max(
            height, claimed.norm + claimed.denominator + 1
        ) / 30 / PRIMES_THERE
        return Chance(float(min(ids.size * per_prime ** len(values.primes) + confused, 1.0)))
    height += claimed.norm + claimed.denominator
    known = 2 * values.choices.stand_for  # log2(e) is an unknown too
    row = 4 * (degree + claimed.degree + known + 1) / LEAST_ORDER + height // 29 / PAIRS_THERE
    units = (values.units | growth.units) - {0.0}
    agree = 2 * ids.size * row ** len(values.pairs)  # all p or all q
    alike = len(units) <= 1 and MIXED not in units and "lg2" not in functions(claim)
    return Chance(float(min(agree + confused, 1.0)), alike)


def estimate_pairs(claim: Node, growth: ClaimGrowth, elements: int) -> int:
    """Return how many pairs of primes a verdict will need, if the kernel's values are like the claim's; 3 at least.

    A kernel takes about two maxima for each exponent of the claim. A wrong estimate costs time alone.
    """
    claimed, count = growth(claim), 2 * _count_powers(claim, growth.extents)
    row = 4 * (2 * claimed.degree + 3) / LEAST_ORDER + 2 * (claimed.norm + claimed.denominator + 1) // 29 / PAIRS_THERE
    pairs = 3
    while 2 * elements * row**pairs + count**2 / 2 / PAIRS_THERE**pairs > ASSUMED and pairs < MOST_PAIRS:
        pairs += 1
    return pairs


def _count_powers(node: Node, extents: Mapping[str, int]) -> int:
    """Return how many elements the largest power of 2 in a tree has."""
    if isinstance(node, Sum):
        return _count_powers(node.body, extents)
    if not isinstance(node, Apply):
        return 0
    mine = prod(size for index, size in extents.items() if depends(node, index)) if node.name == "ex2" else 0
    return max(mine, *(_count_powers(part, extents) for part in node.parts))


def _bound_confusion(values: Values, growth: ClaimGrowth) -> float:
    """Return a bound on the chance that any two different arguments of a hashed function have the same residues."""
    count = values.choices.hashed
    most = widest((values.hashed, growth.hashed))
    factor = 1 + most.divided  # of a difference of quotients: they are multiplied with denominators
    degree, height = factor * most.degree + 1, factor * (most.norm + most.denominator) + 1
    if values.pairs:
        point, divides = 4 * degree / LEAST_ORDER, height // 29 / PAIRS_THERE
        both = point * point + 2 * point * divides + height // 59 / PAIRS_THERE
        confused = both ** len(values.pairs)
    else:
        confused = (degree / LEAST + height // 30 / PRIMES_THERE) ** len(values.primes)
    return float(count * max(count - 1, 0) / 2 * confused)

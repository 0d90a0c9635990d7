# SPDX-License-Identifier: Apache-2.0
"""Claims about all layouts of a family: their extents and strides are products of a number and parameters n >= 1.

There are two arguments. Mixed radix, as in `certificate`, works with products of parameters as radices: digits below
s_0, s_1, ... are unique whatever the s_i are. Equality with a formula is decided by the solver, over unbounded
integers, when the problem is linear in the parameters; otherwise the answer is unknown.

`Size`, `FamilyLayout`           an extent or stride with parameters, and a (thread, value) layout of them
`digits`                         the certificate that every element has equally many owners
`in_order`                       whether L(thread, value) = value
`Equality`, `prove_family_equals`  the claim that a family equals a formula, and its proof
`Parametric`                     a script whose variables have parameters as bounds

>>> n = Size(1, ("n",))
>>> C = FamilyLayout(((Size(4), Size(128)), (Size(8), Size(1)), (Size(4), Size(16))),
...                  ((Size(2), Size(64)), (Size(2), Size(8)), (n, Size(512))))
>>> digits(C, Size(64) * (Size(8) * n)).copies
1
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from time import perf_counter
from typing import NamedTuple, TypeAlias

from layouts import Layout
from proofs.errors import EngineError, ProblemError, TermError
from proofs.layout.modes import modes, size, value
from proofs.layout.operand import Locate
from proofs.smt.engine import Session, Solver, engine
from proofs.smt.outcome import BUDGET, Outcome
from proofs.smt.script import Modes, Script, conjunction
from proofs.smt.sexpr import render
from proofs.smt.term import BoolTerm, Term

UNBOUNDED = 1 << 1024
"""The upper end of an interval without one; over the integers, intervals only decide what may be negative."""
SEARCHED = 64
"""Counterexamples are searched with parameters up to this number first."""
REPORTED = frozenset({"thread", "value", "replica", "lane", "element", "x", "y"})
"""The names in a counterexample besides those of its parameters."""


@dataclass(frozen=True, slots=True)
class Size:
    """A product of a number and parameters.

    >>> str(Size(8, ("n",)) * Size(2)), Size(8, ("n",)).at({"n": 3})
    ('16*n', 24)
    """

    factor: int
    names: tuple[str, ...] = ()  # sorted, with repetition

    def __mul__(self, other: Size) -> Size:
        return Size(self.factor * other.factor, tuple(sorted(self.names + other.names)))

    def at(self, params: Mapping[str, int]) -> int:
        """Return the number for these values of the parameters."""
        return self.factor * prod(params[name] for name in self.names)

    def __str__(self) -> str:
        return "*".join([str(self.factor)] * (self.factor != 1 or not self.names) + list(self.names))


SizeMode: TypeAlias = tuple[Size, Size]  # extent, stride


class FamilyLayout(NamedTuple):
    """A (thread, value) layout as flat modes of its two halves, leftmost first."""

    thread: tuple[SizeMode, ...]
    value: tuple[SizeMode, ...]

    def names(self) -> list[str]:
        """Return the parameters, sorted."""
        return sorted({name for mode in (*self.thread, *self.value) for part in mode for name in part.names})

    def at(self, params: Mapping[str, int]) -> tuple[Modes, Modes]:
        """Return the modes of the two halves for these values of the parameters."""
        thread, values = ([(s.at(params), d.at(params)) for s, d in half] for half in (self.thread, self.value))
        return tuple(thread), tuple(values)


class Digits(NamedTuple):
    """The reason why every element of 0 .. size-1 has exactly `copies` owners, for all parameters."""

    copies: int
    steps: tuple[SizeMode, ...]  # by increasing stride, each stride the product of the extents before it


def total(sizes: Iterable[Size]) -> Size:
    """Return the product of some sizes."""
    result = Size(1)
    for extent in sizes:
        result = result * extent
    return result


def digits(layout: FamilyLayout, elements: Size) -> Digits | None:
    """Return the certificate by mixed radix for all parameters; None when there is none of this form.

    The modes of stride 0 repeat everything, a fixed number of times; the others must be the places of a mixed-radix
    number, so that each stride is the product of the extents before it.
    """
    flat = [mode for mode in (*layout.thread, *layout.value) if mode[0] != Size(1)]
    repeated = total(s for s, d in flat if d.factor == 0)
    left = [mode for mode in flat if mode[1].factor != 0]
    radix, steps = Size(1), []
    while left:
        lowest = next((mode for mode in left if mode[1] == radix), None)
        if lowest is None:
            return None
        left.remove(lowest)
        steps.append(lowest)
        radix = radix * lowest[0]
    if radix != elements or repeated.names:
        return None
    return Digits(repeated.factor, tuple(steps))


def in_order(layout: FamilyLayout) -> bool:
    """Whether L(thread, value) = value for all parameters: each stride is the product of the extents before it."""
    radix = Size(1)
    for extent, stride in layout.value:
        if extent != Size(1) and stride != radix:
            return False
        radix = radix * extent
    return all(stride.factor == 0 or extent == Size(1) for extent, stride in layout.thread)


class Equality(NamedTuple):
    """The claim that a family of layouts L equals a formula.

    For every thread t, replica q, value v and all parameters:

        locate(thr(t) + rep(q), v) = (x, y), with x and y within the extents and x + extent[0] * y = L(t, v)
    """

    title: str  # what is claimed, in words
    layout: FamilyLayout  # the family L
    extent: tuple[Size, Size]  # the extents of the tile
    thr: Layout  # logical thread -> lane, in every layout of the family as many threads as L has
    rep: Layout  # replica -> lane offset
    locate: Locate  # the formula, (lane, value) -> (x, y)

    def facts(self, point: Mapping[str, int]) -> dict[str, int] | None:
        """Return the point with the values that disagree there, in plain Python; None when they agree."""
        thread, values = self.layout.at(point)
        rows, columns = (extent.at(point) for extent in self.extent)
        element = value(thread, point["thread"]) + value(values, point["value"])
        lane = value(modes(self.thr), point["thread"]) + value(modes(self.rep), point["replica"])
        x, y = self.locate(lane, point["value"])
        if 0 <= x < rows and 0 <= y < columns and x + rows * y == element:
            return None
        return {**point, "lane": lane, "element": element, "x": int(x), "y": int(y)}


def prove_family_equals(claim: Equality, budget: int = BUDGET, solver: Solver | None = None) -> Outcome:
    """Prove or refute an equality for all parameters; unknown when it is malformed or not linear in the parameters.

    It is malformed when an extent is 0, when `thr` has another number of threads than the layout, and when a parameter
    has a name of REPORTED. Raises EngineError when plain Python finds nothing wrong at the solver's counterexample.
    """
    start = perf_counter()
    try:
        text, names = _pose(claim)
    except (ProblemError, TermError) as error:
        seconds = perf_counter() - start
        return Outcome(status="unknown", method="none", engine=engine(), seconds=seconds, reason=str(error))
    session = Session(text, budget, solver)
    status, reason = session.check()
    model = _refutation(claim, session, names) if status == "sat" else None
    return Outcome(
        status=status,
        method=f"integers, for every {', '.join(_parameters(claim)) or 'member'} >= 1",
        model=model,
        smt=text + "(check-sat)\n",
        rlimit=session.spent,
        engine=engine(),
        seconds=perf_counter() - start,
        reason=reason,
    )


def symbol(name: str) -> str:
    """Return the name of a parameter in a script, where `and`, `true` or `lane` have another meaning."""
    return f"param.{name}"


class Parametric(Script):
    """A script over unbounded integers, whose variables may have a product of parameters as bound."""

    def __init__(self) -> None:
        super().__init__(None)

    def parameter(self, name: str) -> None:
        """Declare a parameter: a symbolic integer >= 1."""
        self._lines += [f"(declare-const {symbol(name)} Int)", f"(assert (<= 1 {symbol(name)}))"]

    def product(self, size: Size) -> Term:
        """Return a size as a term. Raises ProblemError when it is a product of two parameters, which is not linear."""
        if len(size.names) > 1:
            raise ProblemError(f"{size} is not linear")
        if not size.names:
            return self.term(size.factor)
        return Term(symbol(size.names[0]), 1, UNBOUNDED, None) * size.factor

    def below(self, name: str, limit: Term) -> Term:
        """Return a symbolic integer in [0, limit)."""
        term = Term(name, 0, UNBOUNDED, None)
        self._lines.append(f"(declare-const {name} Int)")
        self.require((term >= 0) & (term < limit))
        return term

    def require(self, condition: BoolTerm) -> None:
        """Assert a condition."""
        self._lines.append(f"(assert {render(condition.expr)})")

    def split(self, index: Term, flat: tuple[SizeMode, ...], stem: str) -> Term:
        """Return the value of some modes at an index, by new variables for its digits and one equation between them."""
        radix, number, image = Size(1), self.term(0), self.term(0)
        for position, (extent, stride) in enumerate(flat):
            digit = self.below(f"{stem}.{position}", self.product(extent))
            if radix.names or stride.names:
                raise ProblemError(f"a digit times {radix if radix.names else stride} is not linear")
            number, image = number + digit * radix.factor, image + digit * stride.factor
            radix = radix * extent
        self.require(index == number)
        return image


def _pose(claim: Equality) -> tuple[str, tuple[str, ...]]:
    problem = Parametric()
    params = _parameters(claim)
    for name in params:
        problem.parameter(name)
    _require_points(claim)
    if taken := sorted(REPORTED & {*params}):
        raise ProblemError(f"the parameter {taken[0]} has the name of a value in a counterexample: rename it")
    thread = problem.variable("thread", size(modes(claim.thr)))
    replica = problem.variable("replica", size(modes(claim.rep)))
    values = problem.below("value", problem.product(total(s for s, _ in claim.layout.value)))
    of_thread = problem.split(thread, claim.layout.thread, "t")
    of_value = problem.split(values, claim.layout.value, "v")
    element = problem.define("element", of_thread + of_value)
    thr, rep = (problem.image(modes(layout), at) for layout, at in ((claim.thr, thread), (claim.rep, replica)))
    x, y = (problem.term(c) for c in claim.locate(problem.define("lane", thr + rep), values))
    rows, columns = (problem.product(extent) for extent in claim.extent)
    if claim.extent[0].names:
        raise ProblemError(f"an element times {claim.extent[0]} is not linear")
    inside = [x >= 0, x < rows, y >= 0, y < columns]
    holds = conjunction([*inside, x + claim.extent[0].factor * y == element])
    return f"; {claim.title}\n{problem.refuting(holds)}", (*map(symbol, params), "thread", "value", "replica")


def _parameters(claim: Equality) -> list[str]:
    return sorted({*claim.layout.names(), *(name for extent in claim.extent for name in extent.names)})


def _require_points(claim: Equality) -> None:
    """Raise ProblemError when the digits would miss points of the claim: these would then not be proved."""
    modes_of = (*claim.layout.thread, *claim.layout.value)
    empty = next((str(extent) for extent in (*(s for s, _ in modes_of), *claim.extent) if extent.factor < 1), None)
    if empty is not None:
        raise ProblemError(f"an extent of {empty} leaves nothing to prove")
    threads = total(s for s, _ in claim.layout.thread)
    if threads != Size(size(modes(claim.thr))):
        raise ProblemError(f"the layout has {threads} threads, thr numbers {size(modes(claim.thr))}")


def _refutation(claim: Equality, session: Session, names: tuple[str, ...]) -> dict[str, int]:
    """Return a counterexample with small parameters, confirmed in plain Python."""

    def point() -> dict[str, int]:
        return {name.removeprefix(symbol("")): number for name, number in session.values(names).items()}

    model = point()
    for name in _parameters(claim):
        for limit in range(1, min(SEARCHED, model[name])):
            status, _ = session.check_assuming(f"(<= {symbol(name)} {limit})")
            if status == "sat":
                model = point()
            session.forget()
            if status == "sat":
                session.assume(f"(<= {symbol(name)} {limit})")
                break
    facts = claim.facts(model)
    if facts is None:
        raise EngineError(f"{claim.title}: plain Python finds nothing wrong at the solver's counterexample {model}")
    return facts

# SPDX-License-Identifier: Apache-2.0
"""The exact condition under which an operation is right, for a family of layouts given by numbers and letters.

The code of `layouts` is executed symbolically. Each path that returns a result is proved or reported as unknown; each
path that rejects its input has the conditions under which no layout exists for generic strides. Both have an example in
numbers.

When the paths of a composition do not end within the budget, the condition is given run by run: it is that of one run
of a mode of B, from any state, because composition is right exactly when all its runs are (`runs`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NoReturn

from layouts import interleaved
from proofs.laws.formula import Node, substitute, text
from proofs.smt.engine import Session
from proofs.symbolic import execution, families
from proofs.symbolic.families import OperationFamily, compute
from proofs.symbolic.symbolic_int import FEASIBLE_BUDGET, Path, negate, script
from proofs.symbolic.symbolic_int import SymInt as Symbol

BUDGET = 20.0


@dataclass(frozen=True, slots=True)
class Way:
    """One case: its status, its conditions, and a call with numbers that satisfy them.

    The status is proved, rejected, unknown or searched. "searched": the answer depends on whether interleaved modes
    overlap, which is decided for numbers only.
    """

    status: str
    when: tuple[str, ...]
    example: str

    def lines(self) -> Iterator[str]:
        """Yield the case as text."""
        yield f"  {self.status:<8} when {' and '.join(self.when) or 'always'}"
        yield f"           {f'such as {self.example}' if self.example else 'no numbers were found that lead here'}"


@dataclass(frozen=True, slots=True)
class Inferred:
    """The result: lines about the family, its cases, the last line, and whether the cases are complete and proved."""

    head: tuple[str, ...]
    cases: tuple[Way, ...]
    end: str
    exact: bool

    @property
    def report(self) -> str:
        """The whole result as text."""
        ways = [line for way in self.cases for line in way.lines()]
        return "".join(f"{line}\n" for line in (*self.head, *ways, self.end))


def infer_conditions(
    operation: str,
    shape: str,
    by: str | None,
    seconds: float = BUDGET,
    report: Callable[[str], None] = lambda line: None,
) -> Inferred:
    """Return the exact conditions under which an operation is right and rejects its input; ``seconds`` to follow paths.

    ``shape`` is a shape, or a layout S:D; ``by`` is the right-hand layout, or the cotarget of a complement. The last
    argument is called with lines about the progress.

    Raises InferenceError when no condition can be inferred for the family.
    """
    family = families.family(operation, shape, by)
    head = f"{operation}, shape {shape}" + (f", by {by}" if by else "") + _strides(operation) * (":" not in shape)
    lines = [head, *family.head()]
    report(f"{family.operation.label}: its paths are followed for at most {seconds:g} s (--budget)")
    conditions = _conditions(family, time.monotonic() + seconds)
    if conditions.left and operation == "composition":
        report(
            f"{conditions.left} paths are open after {seconds:g} s; now one run alone, for at most {2 * seconds:g} s"
        )
        family = families.one_run(shape)
        lines += [
            f"  {conditions.left} paths open after {seconds:g} s from end to end; so run by run:",
            *_runs_are(family),
        ]
        lines += family.domain()
        conditions = _conditions(family, time.monotonic() + 2 * seconds)
    exact = not (conditions.left or conditions.unknown)
    end = f"UNKNOWN: {conditions.unknown} cases not proved, {conditions.left} open after {seconds:g} s (--budget)"
    return Inferred(tuple(lines), conditions.ways, f"exact: {conditions.where}" if exact else end, exact)


def _runs_are(family: OperationFamily) -> Iterator[str]:
    extent, step = family.given["N"], family.given["r"]
    used = ", ".join(x for name, x in family.given.items() if name.startswith("u"))
    taken = set(family.given.values())
    n, q = (next(x for x in (letter, letter + "_") if x not in taken) for letter in "nq")
    yield f"  {extent}:{step} is now any mode of B, whatever its letters, taken in runs of {n} steps {step},"
    yield f"  {extent} = {n} {q}, then {q}:({n} {step})" + (f"; {used}: the digits of A used before;" if used else ";")
    yield "  right just when every run is, and then A(B(c)) is what they add to (RUN_STEP, RUNS); a mode of extent 1 or"
    yield "  stride 0 has no run, and is right; one of 2 or more and a negative stride is rejected"


class NotFollowed(Exception):
    """A path that ends in a search: it is unknown, and rejects nothing."""


@dataclass(frozen=True, slots=True)
class _Found:
    ways: tuple[Way, ...]
    left: int

    @property
    def unknown(self) -> int:
        return sum(way.status in ("unknown", "searched") for way in self.ways)

    @property
    def where(self) -> str:
        """Where the operation is right, in words, when all cases are proved."""
        kinds = {way.status for way in self.ways}
        if len(kinds) == 1:
            return "rejected in every case" if "rejected" in kinds else "right in every case"
        return "right in the cases above, rejected in all others"


def _conditions(family: OperationFamily, until: float) -> _Found:
    target, chosen = execution.ours(), family.operation
    symbols = {x: Symbol(x) for x in chosen.space.names}  # numbers too: a dictionary does not compare 8 with a symbol
    with execution.replace_attribute(interleaved, "are_spaced", _refuse_search):
        paths, left = execution.follow_paths(target, lambda: chosen.call(target, symbols), family.space(), until=until)
    if left:
        return _Found((), left)
    feasible = [p for p in paths if p.samples or _feasible(p)]
    ways: list[Way] = []
    for path in sorted(feasible, key=lambda p: (p.error is not None, -len(p.samples))):
        if time.monotonic() > until:
            return _Found(tuple(ways), len(feasible) - len(ways))
        status = "rejected" if path.error is not None else "proved"
        fault = execution.refusal if path.error is not None else execution.path_fault
        status = "searched" if isinstance(path.error, NotFollowed) else status
        unknown = status != "searched" and fault(target, chosen, path)
        ways.append(_way("unknown" if unknown else status, path, family))
    return _Found(tuple(ways), 0)


def _refuse_search(*_: object) -> NoReturn:
    raise NotFollowed("whether interleaved modes keep their distance is searched for, with numbers alone")


def _strides(operation: str) -> str:
    return ", strides D of A that do not merge" if operation in ("composition", "logical_divide") else ", strides d"


def _feasible(path: Path) -> bool:
    """Whether numbers may take a path without samples; they become its sample."""
    status, at = execution._reach(path)
    path.samples = [at] if at else []
    return status != "unsat"


def _way(status: str, path: Path, family: OperationFamily) -> Way:
    conditions = [text(compute(substitute(c, family.shown_inputs))) for c in _list_needed(path)]
    small = min(path.samples, key=lambda at: sum(map(abs, at.values())), default=None)
    return Way(status, tuple(c for c in conditions if c != "1"), family.operation.shown(small) if small else "")


def _list_needed(path: Path) -> list[Node]:
    """Return the conditions of the path without those that follow from the others."""
    kept = list(path.conditions)
    for condition in list(kept):
        rest = tuple(c for c in kept if c is not condition)
        formulas = (*path.space.assumed, *rest, negate(condition))
        if Session(script(path.space.names, formulas), FEASIBLE_BUDGET).check().status == "unsat":
            kept.remove(condition)
    return kept

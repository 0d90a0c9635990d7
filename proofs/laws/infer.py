# SPDX-License-Identifier: Apache-2.0
"""The exact condition under which an operation is right, for a family of layouts given by numbers and letters.

The shipped code is executed symbolically. Where it accepts, each path is proved or said not to be; where it refuses,
the conditions are those under which it says that no layout exists for generic strides. Both come with numbers.

Composition whose paths do not end within the budget is told run by run: what one run of a mode of B needs, from any
state, is the condition too, as composition is right just when all its runs are (`runs`).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from proofs.engine import Session
from proofs.errors import ProblemError
from proofs.laws import execution
from proofs.laws.execution import Operation
from proofs.laws.formula import Node, evaluate, substitute, text
from proofs.laws.operations import operations
from proofs.laws.runs import composition_run
from proofs.laws.symbolic import FEASIBLE_BUDGET, Path, Space, _folded, negated, script
from proofs.laws.symbolic import SymInt as Symbol

BUDGET = 20.0
RANKS = 3
WORD = re.compile(r"-?\d+|[A-Za-z_]\w*")
SIDE = re.compile(rf"\s*(?:(?:{WORD.pattern})|\(\s*(?:{WORD.pattern})\s*(?:,\s*(?:{WORD.pattern})\s*)*,?\s*\))\s*")


class InferenceError(ProblemError):
    """The family is not one that can be inferred about; what was asked is restated."""


@dataclass(frozen=True, slots=True)
class Inferred:
    """What was found out, as text, and whether every case of the family is in it."""

    told: str
    exact: bool


@dataclass(frozen=True, slots=True)
class Family:
    """An operation whose inputs are given by numbers and letters, by the names that they have in it."""

    operation: Operation
    given: Mapping[str, str]

    @property
    def shown(self) -> Mapping[str, Node]:
        """What stands for each input: a number, or the reader's letter."""
        return {name: int(x) if _number(x) else x for name, x in self.given.items()}

    def space(self) -> Space:
        """The inputs of the family. Letters that stand twice are equal. Raises InferenceError when there are none."""
        fixed = {name: int(x) for name, x in self.given.items() if _number(x)}
        first = {x: name for name, x in reversed(list(self.given.items()))}
        equal = {name: first[x] for name, x in self.given.items() if name not in fixed and first[x] != name}
        narrow: list[Node] = [
            *(("==", name, value) for name, value in fixed.items()),
            *(("==", *pair) for pair in equal.items()),
        ]
        known = (*self.operation.space.assumed, *narrow)
        samples = [{**at, **fixed} for at in self.operation.space.samples]
        samples = [{**at, **{name: at[other] for name, other in equal.items()}} for at in samples]
        kept = tuple(at for at in samples if all(evaluate(node, at, {}) for node in known))
        if (
            not kept
            and Session(script(self.operation.space.names, known), execution.GOAL_BUDGET).check().status == "unsat"
        ):
            asked = ", ".join(text(node) for node in self.operation.space.assumed)
            raise InferenceError(f"{self.operation.label}: no layouts are so, where {asked} is taken for granted")
        return replace(self.operation.space, assumed=known, samples=kept)


def inferred(
    operation: str,
    shape: str,
    by: str | None,
    seconds: float = BUDGET,
    tell: Callable[[str], None] = lambda line: None,
) -> Inferred:
    """The conditions, one line for each way of being right or refused; paths are followed for so long and no longer.

    ``shape`` is a shape, or a layout S:D; ``by`` the right-hand layout, or the cotarget of a complement. ``tell`` is
    given a line on how far it is.

    Raises InferenceError when nothing can be inferred about the family.
    """
    family = _family(operation, shape, by)
    head = f"{operation}, shape {shape}" + (f", by {by}" if by else "") + _strides(operation)
    lines = [head]
    if family.operation.label.endswith("one run"):
        lines += ["  these ranks are told run by run:", *_runs_are()]
    tell(f"{family.operation.label}: its paths are followed for at most {seconds:g} s (--budget)")
    found = _conditions(family, time.monotonic() + seconds)
    if found.left and operation == "composition":
        tell(f"{found.left} paths are open after {seconds:g} s; now one run alone, for at most {2 * seconds:g} s")
        lines += [f"  {found.left} paths open after {seconds:g} s from end to end; so run by run:", *_runs_are()]
        family = _one_run(shape)
        found = _conditions(family, time.monotonic() + 2 * seconds)
    lines += found.lines
    if found.left or found.unknown:
        lines.append(f"UNKNOWN: {found.unknown} cases not proved, {found.left} open after {seconds:g} s (--budget)")
    else:
        lines.append(f"exact: right in {'the cases above, refused in all others' * found.refused or 'every case'}")
    return Inferred("\n".join(lines) + "\n", not (found.left or found.unknown))


def _runs_are() -> Iterator[str]:
    yield "  a mode N:r of B is taken in runs of n steps r, N = n q, then q:(n r); u are the digits of A used before;"
    yield "  right just when every run is, and then A(B(c)) is what they add to (RUN_STEP, RUNS)"


@dataclass(frozen=True, slots=True)
class _Found:
    lines: tuple[str, ...]
    refused: bool
    unknown: int
    left: int


def _conditions(family: Family, until: float) -> _Found:
    target, chosen = execution.ours(), family.operation
    symbols = {x: Symbol(x) for x in chosen.space.names}  # all of them: in a dictionary 8 does not meet a symbol
    paths, left = execution.followed(target, lambda: chosen.call(target, symbols), family.space(), until=until)
    if left:
        return _Found((), False, 0, left)
    reached = [p for p in paths if p.samples or _reached(p)]
    lines: list[str] = []
    unknown = 0
    for path in sorted(reached, key=lambda p: (p.error is not None, -len(p.samples))):
        if time.monotonic() > until:
            return _Found(tuple(lines), False, unknown, len(reached) - len(lines) // 2)
        status = "refused" if path.error is not None else "proved"
        judge = execution.refusal if path.error is not None else execution.judged
        if judge(target, chosen, path):
            status, unknown = "unknown", unknown + 1
        lines += _told(status, path, family)
    return _Found(tuple(lines), any(p.error is not None for p in reached), unknown, 0)


def _strides(operation: str) -> str:
    return ", strides D of A that do not merge" if operation in ("composition", "logical_divide") else ", strides d"


def _reached(path: Path) -> bool:
    """Whether numbers lead down a path that no sample took; it is given them."""
    status, at = execution._reach(path)
    path.samples = [at] if at else []
    return status != "unsat"


def _family(operation: str, shape: str, by: str | None) -> Family:
    sides = _sides(shape, "--shape")
    right = _sides(by, "--by") if by else []
    known = list(dict.fromkeys(o.name for o in operations(1)))
    if operation not in known:
        raise InferenceError(f"nothing can be inferred about {operation}; known: {', '.join(known)}")
    if len(sides[0]) > RANKS or (right and len(right[0]) > RANKS):
        raise InferenceError(f"--shape {shape}" + (f" --by {by}" if by else "") + f": at most {RANKS} modes")
    target = operation == "complement" and right and len(right) == 1 and len(right[0]) == 1
    if right and len(right) != 2 and not target:
        raise InferenceError(f"--by {by} is not a layout, such as N:r" + " or a cotarget" * (operation == "complement"))
    if operation == "composition":
        return _composing(shape, sides, right)
    label = f"{operation}, rank {len(sides[0])}"
    label += " by N:r" if operation in ("logical_divide", "logical_product") else ""
    found = next(o for o in operations(RANKS) if o.label == label)
    named = _left("MD" if operation == "logical_divide" else "sd", sides)
    if target:
        named["T"] = right[0][0]
    elif right and (len(right[0]) > 1 or not label.endswith("N:r")):
        raise InferenceError(
            f"--by {by}: {operation} goes by " + ("one mode N:r" if "N:r" in label else "its shape alone")
        )
    elif right:
        named |= {"N": right[0][0], "r": right[1][0]}
    return _checked(found, named)


def _composing(shape: str, sides: Sequence[Sequence[str]], right: Sequence[Sequence[str]]) -> Family:
    if not right:
        raise InferenceError("composition goes by a layout: --by N:r")
    label = f"composition, rank {len(sides[0])} o rank {len(right[0])}"
    found = next((o for o in operations(RANKS) if o.label == label), None)
    if found is None:
        return _one_run(shape)
    named = _left("MD", sides)
    named |= {f"{n}{i}": x for n, side in zip("Nr", right, strict=True) for i, x in enumerate(side)}
    return _checked(found, named)


def _one_run(shape: str) -> Family:
    sides = _sides(shape, "--shape")
    return _checked(composition_run(len(sides[0])), _left("MD", sides))


def _left(letters: str, sides: Sequence[Sequence[str]]) -> dict[str, str]:
    return {f"{n}{i}": x for n, side in zip(letters, sides, strict=False) for i, x in enumerate(side)}


def _checked(operation: Operation, given: Mapping[str, str]) -> Family:
    """The family, unless a letter of the reader's is the name of another input."""
    others = set(operation.space.names) - set(given)
    if taken := sorted(others & set(given.values())):
        raise InferenceError(
            f"the letter {taken[0]} is taken: {operation.label} has the inputs {' '.join(sorted(others))}"
        )
    return Family(operation, given)


def _sides(layout: str, option: str) -> list[list[str]]:
    """The numbers and letters of a shape, or of the shape and the stride of a layout."""
    parts = layout.split(":")
    if len(parts) > 2 or not all(SIDE.fullmatch(part) for part in parts):
        raise InferenceError(f"{option} {layout} is neither a shape nor a layout, such as (4,M) or (4,M):(1,d)")
    found = [WORD.findall(part) for part in parts]
    if len(found) == 2 and len(found[0]) != len(found[1]):
        raise InferenceError(f"{option} {layout}: {len(found[0])} extents and {len(found[1])} strides")
    return found


def _number(word: str) -> bool:
    return word.lstrip("-").isdigit()


def _told(status: str, path: Path, family: Family) -> Iterator[str]:
    conditions = [text(_computed(substitute(c, family.shown))) for c in _needed(path)]
    conditions = [c for c in conditions if c != "1"]
    yield f"  {status:<8} when {' and '.join(conditions) or 'always'}"
    small = min(path.samples, key=lambda at: sum(map(abs, at.values())), default=None)
    witness = f"such as {family.operation.shown(small)}" if small else "no numbers were found that lead here"
    yield f"           {witness}"


def _computed(node: Node) -> Node:
    """The formula with what is made of numbers alone computed, and -(-x // y) written ceildiv(x, y)."""
    if not isinstance(node, tuple):
        return node
    whole = (node[0], *map(_computed, node[1:]))
    if all(isinstance(part, int) for part in whole[1:]):
        return int(evaluate(whole, {}, {}))
    match whole:
        case ("-", 0, ("//", ("-", 0, over), by)):
            return ("call", "ceildiv", over, by)
        case ("-", 0, ("//", int(over), by)):
            return ("call", "ceildiv", -over, by)
    return _folded(str(whole[0]), *whole[1:]) if len(whole) == 3 else whole


def _needed(path: Path) -> list[Node]:
    """The path's conditions without those that follow from the rest."""
    kept = list(path.conditions)
    for condition in list(kept):
        rest = tuple(c for c in kept if c is not condition)
        formulas = (*path.space.assumed, *rest, negated(condition))
        if Session(script(path.space.names, formulas), FEASIBLE_BUDGET).check().status == "unsat":
            kept.remove(condition)
    return kept

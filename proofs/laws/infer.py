# SPDX-License-Identifier: Apache-2.0
"""The exact condition under which an operation is right, for a family of layouts given by letters.

The shipped code is executed symbolically. Where it accepts, each path is proved or said not to be; where it refuses,
the conditions are those under which it says that no layout exists for generic strides. Both come with numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from proofs.engine import Session
from proofs.errors import ProblemError
from proofs.laws import execution
from proofs.laws.execution import Operation
from proofs.laws.formula import Node, evaluate, substitute, text
from proofs.laws.operations import operations
from proofs.laws.symbolic import FEASIBLE_BUDGET, Path, Space, negated, script
from proofs.laws.symbolic import SymInt as Symbol


class InferenceError(ProblemError):
    """The family is not one that can be inferred about; what was asked is restated."""


def inferred(operation: str, shape: str, by: str | None) -> str:
    """The conditions, one line for each way of being right or refused.

    Raises InferenceError when nothing can be inferred about the family.
    """
    fixed, chosen = _family(operation, shape, by)
    target = execution.ours()
    symbols = {x: Symbol(x) for x in chosen.space.names}  # all of them: in a dictionary 8 does not meet a symbol
    space = _narrowed(chosen.space, {x: int(v) for x, v in fixed.items()})
    paths, left = execution.followed(target, lambda: chosen.call(target, symbols), space)
    reached = [p for p in paths if p.samples or _reached(p)]
    right = list(_told("right", [p for p in reached if p.error is None], chosen, fixed))
    refused = list(_told("refused", [p for p in reached if p.error is not None], chosen, fixed))
    lines = [f"{operation}, shape {shape}" + (f", by {by}" if by else "") + _strides(chosen), *right, *refused]
    lines += [f"{left} paths were not followed"] * bool(left)
    unknown = sum(line.startswith("  unknown") for line in right)
    exact = "exact: right in the cases above, refused in all others" if refused else "exact: right in every case"
    lines.append(exact if not (unknown or left) else f"not exact: {unknown} cases unknown, {left} not followed")
    return "\n".join(lines) + "\n"


def _strides(chosen: Operation) -> str:
    composed = chosen.name in ("composition", "logical_divide")
    return ", strides D of A that do not merge" if composed else ", strides d"


def _reached(path: Path) -> bool:
    """Whether numbers lead down a path that no sample took; it is given them."""
    status, at = execution._reach(path)
    path.samples = [at] if at else []
    return status != "unsat"


def _family(operation: str, shape: str, by: str | None) -> tuple[Mapping[str, int], Operation]:
    extents = re.findall(r"\w+", shape)
    pairs = [re.findall(r"\w+", side) for side in by.split(":")] if by else [[], []]
    if not extents or len(extents) > 3 or len(pairs) != 2 or len(pairs[0]) != len(pairs[1]):
        raise InferenceError(
            f"--shape {shape}" + (f" --by {by}" if by else "") + ": one to three extents, and S:D to go by"
        )
    label = f"{operation}, rank {len(extents)}" + (f" o rank {len(pairs[0])}" if operation == "composition" else "")
    label += " by N:r" if operation in ("logical_divide", "logical_product") else ""
    found = [o for o in operations(3) if o.label == label]
    if not found:
        raise InferenceError(f"nothing can be inferred about {label}; known: {', '.join(_labels())}")
    first = {"composition": "M", "logical_divide": "M"}.get(operation, "s")
    named = [(f"{first}{i}", x) for i, x in enumerate(extents)]
    if operation == "composition":
        named += [(f"{n}{i}", x) for n, side in zip("Nr", pairs, strict=True) for i, x in enumerate(side)]
    elif by and operation in ("logical_divide", "logical_product"):
        named += [("N", pairs[0][0]), ("r", pairs[1][0])]
    return {name: int(x) for name, x in named if x.isdigit()}, found[0]


def _labels() -> list[str]:
    return list(dict.fromkeys(o.name for o in operations(1)))


def _narrowed(space: Space, fixed: Mapping[str, int]) -> Space:
    narrow: tuple[Node, ...] = (*space.assumed, *(("==", x, v) for x, v in fixed.items()))
    samples = tuple({**at, **fixed} for at in space.samples)
    kept = tuple(at for at in samples if all(evaluate(node, at, {}) for node in narrow))
    return replace(space, assumed=narrow, samples=kept)


def _told(word: str, paths: Sequence[Path], chosen: Operation, fixed: Mapping[str, Node]) -> Iterator[str]:
    for path in sorted(paths, key=lambda p: -len(p.samples)):
        status = word
        if word == "right":
            wrong = execution.judged(execution.ours(), chosen, path)
            status = "proved" if not wrong else "unknown"
        conditions = [text(_computed(substitute(c, fixed))) for c in _needed(path)]
        yield f"  {status:<8} when {' and '.join(conditions) or 'always'}"
        if path.samples:
            yield f"           such as {chosen.shown(min(path.samples, key=lambda at: sum(at.values())))}"


def _computed(node: Node) -> Node:
    """The formula with what is made of numbers alone computed."""
    if not isinstance(node, tuple):
        return node
    whole = (node[0], *map(_computed, node[1:]))
    return int(evaluate(whole, {}, {})) if all(isinstance(part, int) for part in whole[1:]) else whole


def _needed(path: Path) -> list[Node]:
    """The path's conditions without those that follow from the rest."""
    kept = list(path.conditions)
    for condition in list(kept):
        rest = tuple(c for c in kept if c is not condition)
        formulas = (*path.space.assumed, *rest, negated(condition))
        if Session(script(path.space.names, formulas), FEASIBLE_BUDGET).check().status == "unsat":
            kept.remove(condition)
    return kept

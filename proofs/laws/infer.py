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
from proofs.laws.formula import Node, evaluate, text
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
    symbols = {x: fixed.get(x, Symbol(x)) for x in chosen.space.names}
    space = _narrowed(chosen.space, {x: int(v) for x, v in fixed.items()})
    paths, left = execution.followed(target, lambda: chosen.call(target, symbols), space)
    lines = [f"{operation}, shape {shape}" + (f", by {by}" if by else "") + ", any strides of A that do not merge"]
    lines += list(_told("right", [p for p in paths if p.error is None and p.samples], chosen))
    lines += list(_told("refused", [p for p in paths if p.error is not None and p.samples], chosen))
    lines += [f"{left} paths were not followed"] * bool(left)
    return "\n".join(lines) + "\n"


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


def _told(word: str, paths: Sequence[Path], chosen: Operation) -> Iterator[str]:
    for path in sorted(paths, key=lambda p: -len(p.samples)):
        at = min(path.samples, key=lambda at: sum(at.values()))
        status = word
        if word == "right":
            wrong = execution.judged(execution.ours(), chosen, path)
            status = "proved" if not wrong else "unknown"
        yield f"  {status:<8} when {' and '.join(text(c) for c in _needed(path)) or 'always'}"
        yield f"           such as {chosen.shown(at)}"


def _needed(path: Path) -> list[Node]:
    """The path's conditions without those that follow from the rest."""
    kept = list(path.conditions)
    for condition in list(kept):
        rest = tuple(c for c in kept if c is not condition)
        formulas = (*path.space.assumed, *rest, negated(condition))
        if Session(script(path.space.names, formulas), FEASIBLE_BUDGET).check().status == "unsat":
            kept.remove(condition)
    return kept

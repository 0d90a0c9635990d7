# SPDX-License-Identifier: Apache-2.0
"""The operations of an implementation, executed symbolically for layouts of small rank, and decided path by path.

An implementation is `layouts`, or any module with ``Layout(shape, stride)`` and functions with CuTe's names. A path is
proved when its goals follow from its conditions. A violation is reported only after the code itself was run on its
numbers and enumeration found the result wrong.

`Target`, `ours`, `foreign`   an implementation: that of `layouts`, or another one
`Operation`                   one operation at one rank: its inputs, its call, its goals
`examine`                     all paths of an operation, decided: an `Examined`
`path_fault`, `refusal`       the decision on one path that returns, or that rejects its input
`run`                         the operation on plain numbers
"""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import layouts
from layouts.layout import trust_layout
from proofs.definitions import TooLarge, flat
from proofs.errors import EngineError
from proofs.laws.formula import Node, evaluate
from proofs.smt.engine import Session
from proofs.smt.recheck import Status
from proofs.symbolic.pathwise import Goal
from proofs.symbolic.symbolic_int import InputSpace, Path, SymInt, abstract_quotients, explore, formula, script

GOAL_BUDGET = 3_000_000
# Whether z3 ends within its budget depends on its seed. A path without samples gets more of them: numbers that take it
# decide whether it is there at all.
SEEDS = (0, 1)
REACH_SEEDS = range(6)
ORDERS = 3
"""A goal may speak of the order that a path's first sample has: so many samples are tried in its place."""


@dataclass(frozen=True, slots=True)
class Target:
    """An implementation of the operations."""

    name: str  # its name, for messages
    functions: Any  # the object that has the functions
    make: Callable[[Any, Any], Any]  # (shape, stride) -> layout
    refused: tuple[type[Exception], ...]  # the exceptions by which it rejects inputs
    exact: bool = False  # whether it must reject nothing inside the precondition


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation at one rank."""

    name: str  # the name of the function
    label: str  # the name with the rank, unique in a campaign
    space: InputSpace  # the inputs
    call: Callable[[Target, Mapping[str, int]], Any]  # runs the operation of a target on values of the inputs
    goals: Callable[[Path, Any], Iterator[Goal]]  # the goals of a path, from its result
    # what is wrong with a result on plain numbers; empty when nothing is
    fault: Callable[[Mapping[str, int], Any], str]
    shown: Callable[[Mapping[str, int]], str]  # the call on plain numbers, in words
    # the goals of a path that rejects its input: it lies outside the precondition; None when nothing is required
    refuses: Callable[[Path], Iterator[Goal]] | None = None
    # whether it executes parts inside the code of `layouts`, which another implementation does not have
    inside: bool = False


@dataclass(frozen=True, slots=True)
class Violation:
    """Inputs on which the code is wrong, the value it returned, and what is wrong with that."""

    inputs: str
    returned: str
    fault: str


@dataclass(frozen=True, slots=True)
class Examined:
    """The paths of one operation, counted."""

    operation: str  # its label
    paths: int  # how many paths there are, some of which no numbers take
    proved: int  # how many were proved
    refused: int  # how many reject their inputs
    outside: int  # how many of these were proved to lie outside the precondition
    unknown: tuple[str, ...]  # the reasons why others are unknown
    violations: tuple[Violation, ...]  # inputs on which the code is wrong
    unexplored: int  # how many known paths were not followed


def ours() -> Target:
    """Return the implementation in `layouts`."""
    return Target("layouts", layouts, trust_layout, (layouts.LayoutError,), exact=True)


def foreign(name: str, path: str | None) -> Target:
    """Another implementation, imported from a folder without writing files there."""
    with _importing(path):
        module = importlib.import_module(name)
    functions = module
    if not hasattr(module, "composition") and hasattr(module, "layout"):
        functions = module.layout
    return Target(name, functions, functions.Layout, (AssertionError, ValueError, TypeError, ZeroDivisionError))


@contextmanager
def _importing(path: str | None) -> Iterator[None]:
    before, written = list(sys.path), sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    if path:
        sys.path.insert(0, path)
    try:
        yield
    finally:
        sys.path[:], sys.dont_write_bytecode = before, written


@contextmanager
def replace_attribute(owner: Any, name: str, stand_in: Any) -> Iterator[None]:
    """Replace an attribute in a block."""
    before = getattr(owner, name)
    setattr(owner, name, stand_in)
    try:
        yield
    finally:
        setattr(owner, name, before)


def pair(layout: Any) -> tuple[Any, Any]:
    """Return a layout as (shape, stride)."""
    return layout.shape, layout.stride


def examine(target: Target, operation: Operation, most: int = 5000) -> Examined:
    """Return the result of following and deciding every path of an operation."""
    symbols = {x: SymInt(x) for x in operation.space.names}
    paths, left = follow_paths(target, lambda: operation.call(target, symbols), operation.space, most)
    proved = refused = outside = 0
    unknown: list[str] = []
    violations: list[Violation] = []
    for path in paths:
        if not path.samples:
            status, at = _reach(path)
            if status == "unsat":
                continue
            path.samples = [at] if at else []
        if path.error is not None:
            refused += 1
            reason, known = _refusal(target, operation, path)
            unknown += [reason] * bool(reason)
            outside += known
            continue
        wrong = path_fault(target, operation, path)
        if isinstance(wrong, Violation):
            violations.append(wrong)
        elif wrong:
            unknown.append(wrong)
        else:
            proved += 1
    ordered = tuple(sorted(set(violations), key=lambda v: (len(v.inputs), v.inputs)))
    return Examined(operation.label, len(paths), proved, refused, outside, tuple(unknown), ordered, left)


def path_fault(target: Target, operation: Operation, path: Path) -> Violation | str:
    """Return a violation on a path, or the reason why the path is unknown, or the empty string when it is proved."""
    # Plain runs come first: if the code is wrong, it mostly is at small numbers, and no solver is needed to see it.
    for at in sorted(path.samples, key=lambda at: sum(map(abs, at.values())))[:40]:
        wrong = run_plainly(target, operation, at)
        if isinstance(wrong, Violation):
            return wrong
    if not _agrees(target, operation, path):
        return "the code looked at the value of a number, so its formulas are not to be trusted"
    failed, tried = _find_unproved(path, lambda: operation.goals(path, path.result))
    looked = ""
    for at in tried:
        wrong = run_plainly(target, operation, at)
        if isinstance(wrong, Violation):
            return wrong
        looked = wrong or "nothing wrong was found there"
    if failed is None:
        return ""
    if failed.status == "unknown":
        return f"{failed.why}: the solver gave up"
    return f"{failed.why}: {operation.shown(tried[-1])} meets the conditions, and {looked}"


def _refusal(target: Target, operation: Operation, path: Path) -> tuple[str, bool]:
    """Return what is wrong with a rejection, and whether it was proved to lie outside the precondition."""
    if not _refuses(target, operation, path):
        return f"{type(path.error).__name__} that a plain run does not raise: {path.error}", False
    if operation.refuses is None or not target.exact:
        return "", False
    refuses = operation.refuses
    failed, tried = _find_unproved(path, lambda: refuses(path))
    if failed is None:
        return "", True
    at = operation.shown(tried[-1]) if failed.status == "sat" else "the solver gave up"
    return f"refused, and not proved to lie outside the precondition: {at}", False


def refusal(target: Target, operation: Operation, path: Path) -> str:
    """Return what is wrong with a rejection; empty when nothing is."""
    return _refusal(target, operation, path)[0]


@dataclass(frozen=True, slots=True)
class _Failed:
    """A goal that was not proved: numbers contradict it (sat), or the solver gave up (unknown)."""

    why: str
    status: Status


def _find_unproved(path: Path, goals: Callable[[], Iterator[Goal]]) -> tuple[_Failed | None, list[Mapping[str, int]]]:
    """Return the goal of a path that is not proved, or None, and the numbers on which goals failed.

    Goals may assume the order that modes have in the first sample, and a path may have no sample. So the numbers on
    which a goal fails become the first sample, and the goals are made again.
    """
    tried: list[Mapping[str, int]] = []
    failed = None
    for _ in range(ORDERS):
        failed = None
        for goal in goals():
            status, values = _prove(path, goal)
            if status != "unsat":
                failed = _Failed(goal.why, status)
                break
        if failed is None or failed.status == "unknown":
            break
        tried.append({x: values[x] for x in path.space.names})
        path.samples = [tried[-1], *path.samples]
    return failed, tried


def _reach(path: Path) -> tuple[Status, Mapping[str, int]]:
    """Numbers that take a path without samples: the answer of the solver, and its model."""
    names = path.space.names
    for seed in REACH_SEEDS:
        status, at = _solve(names, (*path.space.assumed, *path.conditions), names, seed)
        if status != "unknown":
            return status, at
    return "unknown", {}


def _prove(path: Path, goal: Goal) -> tuple[Status, Mapping[str, int]]:
    if goal.steps and all(_prove(path, step)[0] == "unsat" for step in goal.steps):
        return "unsat", {}
    names = (*path.space.names, *goal.names)
    given = (*path.space.assumed, *path.conditions, *goal.assumed, ("not", goal.goal))
    # Without division z3 mostly ends within its budget. There only "unsat" counts: those formulas say less, so that
    # numbers which satisfy them may break the goal's own.
    abstract, extra = abstract_quotients((*given, *goal.hints))
    for seed in SEEDS:
        if _solve((*names, *extra), abstract, (), seed)[0] == "unsat":
            return "unsat", {}
    for formulas in dict.fromkeys(((*given, *goal.hints), given)):
        for seed in SEEDS:
            status, values = _solve(names, formulas, names, seed)
            if status != "unknown":
                return status, values
    return "unknown", {}


def _solve(
    names: Sequence[str], formulas: Sequence[Node], wanted: Sequence[str], seed: int = 0
) -> tuple[Status, Mapping[str, int]]:
    """Return the answer of z3, with the wanted values of its model when it is sat; unknown when z3 raises an error."""
    try:
        session = Session(script(names, formulas, seed), GOAL_BUDGET)
        status = session.check().status
        return status, session.values(tuple(wanted)) if status == "sat" and wanted else {}
    except EngineError:
        return "unknown", {}


def run_plainly(target: Target, operation: Operation, at: Mapping[str, int]) -> Violation | str:
    """Return the violation on plain numbers, or why that is unknown; empty if the code is right or rejects them."""
    try:
        result = operation.call(target, at)
        fault = operation.fault(at, result)
    except target.refused:
        return ""
    except TooLarge as error:
        return f"has too many values to be listed: {error}"
    shown = result if not isinstance(result, tuple) else result[-1]
    return Violation(operation.shown(at), str(shown), fault) if fault else ""


def follow_paths(
    target: Target, call: Callable[[], Any], space: InputSpace, most: int = 2000, until: float = math.inf
) -> tuple[list[Path], int]:
    """All paths of a call, and how many are left: those beyond ``most``, or after the moment ``until``."""
    return explore(space, call, target.refused, most, until)


def _refuses(target: Target, operation: Operation, path: Path) -> bool:
    """Whether plain runs reject the samples too: code may reject a symbolic integer because of its type."""
    if not isinstance(path.error, target.refused):
        return False
    for at in path.samples[:6]:
        try:
            operation.call(target, at)
        except target.refused:
            continue
        return False
    return True


def _agrees(target: Target, operation: Operation, path: Path) -> bool:
    """Whether plain runs agree with the formulas: as an index or a loop's bound Python uses the own value of an int."""
    for at in path.samples[:6]:
        concrete = operation.call(target, at)
        pairs = zip(concrete, path.result, strict=True) if isinstance(concrete, tuple) else [(concrete, path.result)]
        if not all(agrees(path, at, symbolic, plain) for plain, symbolic in pairs):
            return False
    return True


def agrees(path: Path, at: Mapping[str, int], result: Any, concrete: Any) -> bool:
    """Whether the formulas of a path have at a sample the values that the code itself returns there."""
    symbolic = [tuple(evaluate(formula(x), at, {}) for x in mode) for mode in flat(pair(result))]
    return symbolic == [tuple(mode) for mode in flat(pair(concrete))]

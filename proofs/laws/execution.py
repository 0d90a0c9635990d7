# SPDX-License-Identifier: Apache-2.0
"""The operations of an implementation, executed symbolically for layouts of small rank, every path proved or refused.

Ours or anybody's: a module with ``Layout(shape, stride)`` and functions of CuTe's names. A path is proved when its
goals follow from its conditions; a violation is shown only after the very code has been run on its numbers and its
result has been found wrong by enumeration.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from proofs.laws import definitions, pathwise, solve
from proofs.laws.definitions import flat
from proofs.laws.formula import Node, evaluate
from proofs.laws.pathwise import Goal, modes
from proofs.laws.symbolic import Path, Space, SymInt, Unfollowed, abstracted, explore, formula, script

GOAL_BUDGET = 3_000_000


@dataclass(frozen=True, slots=True)
class Target:
    """An implementation: its functions, how it makes a layout, and by what it refuses one.

    ``typed`` are modules of it that ask for the exact type of an integer: there a symbolic one passes for an int.
    """

    name: str
    functions: Any
    make: Callable[[Any, Any], Any]
    refused: tuple[type[Exception], ...]
    typed: tuple[ModuleType, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation at one rank: the inputs, the call, what its paths must satisfy, and what its results must."""

    name: str
    label: str
    space: Space
    call: Callable[[Target, Mapping[str, int]], Any]
    goals: Callable[[Path, Any], Iterator[Goal]]
    fault: Callable[[Mapping[str, int], Any], str]
    shown: Callable[[Mapping[str, int]], str]


@dataclass(frozen=True, slots=True)
class Violation:
    """Inputs on which the code is wrong, what it returned, and how that breaks the definition."""

    inputs: str
    returned: str
    told: str


@dataclass(frozen=True, slots=True)
class Examined:
    """All paths of one operation."""

    operation: str
    paths: int
    proved: int
    refused: int
    unknown: tuple[str, ...]
    violations: tuple[Violation, ...]
    unexplored: int


def ours() -> Target:
    """The shipped operations."""
    import layouts
    import layouts.int_tuple
    from layouts.layout import trusted

    return Target("layouts", layouts, trusted, (layouts.LayoutError,), (layouts.int_tuple,))


def foreign(name: str, path: str | None) -> Target:
    """Another implementation, imported from a folder without leaving anything in it."""
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


def pair(layout: Any) -> tuple[Any, Any]:
    """A layout as (shape, stride)."""
    return layout.shape, layout.stride


def examine(target: Target, operation: Operation, most: int = 2000) -> Examined:
    """Follow every path of an operation and judge it."""
    symbols = {x: SymInt(x) for x in operation.space.names}
    paths, left = followed(target, lambda: operation.call(target, symbols), operation.space, most)
    proved = refused = 0
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
            if not _refuses(target, operation, path):
                unknown.append(f"{type(path.error).__name__} that a plain run does not raise: {path.error}")
            continue
        wrong = judged(target, operation, path)
        if isinstance(wrong, Violation):
            violations.append(wrong)
        elif wrong:
            unknown.append(wrong)
        else:
            proved += 1
    ordered = tuple(sorted(set(violations), key=lambda v: (len(v.inputs), v.inputs)))
    return Examined(operation.label, len(paths), proved, refused, tuple(unknown), ordered, left)


def judged(target: Target, operation: Operation, path: Path) -> Violation | str:
    """What is wrong on a path: a violation, why it is not known, or nothing when it is proved."""
    for at in sorted(path.samples, key=lambda at: sum(at.values()))[:40]:
        wrong = run(target, operation, at)
        if wrong is not None:
            return wrong
    if not _followed(target, operation, path):
        return "the code looked at the value of a number, so its formulas are not to be trusted"
    for goal in operation.goals(path, path.result):
        status, values = _prove(path, goal)
        if status == "sat":
            at = {x: values[x] for x in operation.space.names}
            wrong = run(target, operation, at) if max(map(abs, at.values())) < 10_000 else None
            return wrong or f"{goal.why}: {operation.shown(at)} meets the conditions, and nothing wrong was found there"
        if status == "unknown":
            return f"{goal.why}: the solver gave up"
    return ""


def _reach(path: Path) -> tuple[str, Mapping[str, int]]:
    """Numbers that lead down a path which no sample took."""
    names = path.space.names
    text = script(names, (*path.space.assumed, *path.conditions))
    answer = solve.z3(text, budget=GOAL_BUDGET)
    return answer.status, solve.values(text, names, GOAL_BUDGET) if answer.status == "sat" else {}


def _prove(path: Path, goal: Goal) -> tuple[str, Mapping[str, int]]:
    if goal.steps and all(_prove(path, step)[0] == "unsat" for step in goal.steps):
        return "unsat", {}
    names = (*path.space.names, *goal.names)
    given = (*path.space.assumed, *path.conditions, *goal.assumed, ("not", goal.goal))
    abstract, extra = abstracted((*given, *goal.hints))
    for seed in range(2):
        if solve.z3(script((*names, *extra), abstract), seed, GOAL_BUDGET).status == "unsat":
            return "unsat", {}
    for formulas in ((*given, *goal.hints), given):
        answer = solve.z3(script(names, formulas), 0, GOAL_BUDGET)
        if answer.status == "unsat":
            return "unsat", {}
        if answer.status == "sat":
            return "sat", solve.values(script(names, formulas), names, GOAL_BUDGET)
    return "unknown", {}


def run(target: Target, operation: Operation, at: Mapping[str, int]) -> Violation | None:
    """The code on plain numbers: None when it refuses or is right, else what is wrong."""
    try:
        result = operation.call(target, at)
    except target.refused:
        return None
    told = operation.fault(at, result)
    shown = result if not isinstance(result, tuple) else result[-1]
    return Violation(operation.shown(at), str(shown), told) if told else None


def followed(target: Target, call: Callable[[], Any], space: Space, most: int = 2000) -> tuple[list[Path], int]:
    """Every path of a call of the target's, and how many are left."""
    for module in target.typed:
        module.__dict__["type"] = _seen_type
    try:
        return explore(space, call, target.refused, most)
    finally:
        for module in target.typed:
            del module.__dict__["type"]


def _seen_type(value: object) -> type:
    return int if isinstance(value, SymInt) else type(value)


def _refuses(target: Target, operation: Operation, path: Path) -> bool:
    """Whether plain runs refuse too, by an exception that means refusal: code may turn down formulas for their type."""
    if not isinstance(path.error, target.refused):
        return False
    for at in path.samples[:6]:
        try:
            operation.call(target, at)
        except target.refused:
            continue
        return False
    return True


def _followed(target: Target, operation: Operation, path: Path) -> bool:
    """Whether plain runs give what the path's formulas say: as an index or a loop's bound an int's value slips by."""
    for at in path.samples[:6]:
        concrete = operation.call(target, at)
        pairs = zip(concrete, path.result, strict=True) if isinstance(concrete, tuple) else [(concrete, path.result)]
        if not all(agrees(path, at, symbolic, plain) for plain, symbolic in pairs):
            return False
    return True


def agrees(path: Path, at: Mapping[str, int], result: Any, concrete: Any) -> bool:
    """Whether a path's formulas give at a sample what the code itself returns there."""
    symbolic = [tuple(evaluate(formula(x), at, {}) for x in mode) for mode in flat(pair(result))]
    return symbolic == [tuple(mode) for mode in flat(pair(concrete))]


def operations(rank: int) -> Iterator[Operation]:
    """Every operation at every rank up to the given one (composition's right side up to rank 2)."""
    for r in range(1, rank + 1):
        yield _coalesce(r)
        yield from (_composition(r, b) for b in range(1, min(2, 4 - r) + 1))
        yield _complement(r)
        yield from (_inverse(r, side) for side in ("right", "left"))
    for r in range(1, rank):
        yield _divide(r)
        yield _product(r)


def _layout(letters: str, rank: int, at: Mapping[str, Any]) -> tuple[Any, Any]:
    s, d = (tuple(at[f"{x}{i}"] for i in range(rank)) for x in letters)
    return (s[0], d[0]) if rank == 1 else (s, d)


def _names(letters: str, rank: int) -> list[str]:
    return [f"{x}{i}" for x in letters for i in range(rank)]


def _at_least(names: Sequence[str], least: int) -> list[Node]:
    return [(">=", x, least) for x in names]


def _spell(shape: Any, stride: Any) -> str:
    return f"{shape}:{stride}".replace(" ", "").replace(",)", ")")


def _coalesce(rank: int) -> Operation:
    names = _names("sd", rank)
    space = Space.make(names, _at_least(_names("s", rank), 1))

    def layout(at: Mapping[str, Any]) -> tuple[Any, Any]:
        return _layout("sd", rank, at)

    return Operation(
        "coalesce", f"coalesce, rank {rank}", space,
        lambda t, at: t.functions.coalesce(t.make(*layout(at))),
        lambda path, r: pathwise.coalesced(modes(flat(layout(_symbols(path)))), modes(flat(pair(r)))),
        lambda at, r: definitions.coalesce(flat(layout(at)), flat(pair(r))),
        lambda at: f"coalesce({_spell(*layout(at))})",
    )  # fmt: skip


def _symbols(path: Path) -> dict[str, SymInt]:
    return {x: SymInt(x) for x in path.space.names}


def _canonical(letters: str, rank: int) -> list[Node]:
    """A coalesced layout: extents of 2 or more, no neighbours that merge."""
    s, d = letters[0], letters[1]
    wide = _at_least([f"{s}{i}" for i in range(rank)], 2)
    return [*wide, *(("!=", f"{d}{i + 1}", ("*", f"{s}{i}", f"{d}{i}")) for i in range(rank - 1))]


def _split(result: Any, count: int) -> list[pathwise.Modes]:
    """The parts of a composition's result, one for each mode of B."""
    shape, stride = result.shape, result.stride
    if count == 1:
        return [modes(flat(pair(result)))]
    return [modes(flat((s, d))) for s, d in zip(shape, stride, strict=True)]


def _composition(rank: int, right: int) -> Operation:
    names = [*_names("MD", rank), *_names("Nr", right)]
    assumed = [*_canonical("MD", rank), *_at_least(_names("N", right), 2), *_at_least(_names("r", right), 1)]
    space = Space.make(names, assumed, 4000)

    def a(at: Mapping[str, Any]) -> tuple[Any, Any]:
        return _layout("MD", rank, at)

    def b(at: Mapping[str, Any]) -> tuple[Any, Any]:
        return _layout("Nr", right, at)

    def goals(path: Path, r: Any) -> Iterator[Goal]:
        symbols = _symbols(path)
        return pathwise.composed(modes(flat(a(symbols))), modes(flat(b(symbols))), _split(r, right))

    return Operation(
        "composition", f"composition, rank {rank} o rank {right}", space,
        lambda t, at: t.functions.composition(t.make(*a(at)), t.make(*b(at))), goals,
        lambda at, r: definitions.composition(flat(a(at)), flat(b(at)), flat(pair(r))),
        lambda at: f"composition({_spell(*a(at))}, {_spell(*b(at))})",
    )  # fmt: skip


def _order(path: Path, layout: pathwise.Modes) -> list[int]:
    """The modes that count, by stride, as a sample of the path has them; by place where there is no sample."""
    at = path.samples[0] if path.samples else None
    seen = [(evaluate(d, at, {}) if at else i, evaluate(s, at, {}) if at else 2, i) for i, (s, d) in enumerate(layout)]
    return [i for d, s, i in sorted(seen, key=lambda m: (m[0], m[2])) if s != 1 and d != 0]


def _complement(rank: int) -> Operation:
    names = [*_names("sd", rank), "T"]
    space = Space.make(names, _at_least([*_names("s", rank), "T"], 1) + _at_least(_names("d", rank), 0), 4000)

    def layout(at: Mapping[str, Any]) -> tuple[Any, Any]:
        return _layout("sd", rank, at)

    def goals(path: Path, r: Any) -> Iterator[Goal]:
        a, result = modes(flat(layout(_symbols(path)))), modes(flat(pair(r)))
        return pathwise.complemented(a, "T", result, _order(path, [*a, *result]))

    def fault(at: Mapping[str, int], r: Any) -> str:
        filtered = [(s, d) for s, d in flat(layout(at)) if d]
        return definitions.complement(filtered, at["T"], flat(pair(r)))

    return Operation(
        "complement", f"complement, rank {rank}", space,
        lambda t, at: t.functions.complement(t.make(*layout(at)), at["T"]), goals, fault,
        lambda at: f"complement({_spell(*layout(at))}, {at['T']})",
    )  # fmt: skip


def _inverse(rank: int, side: str) -> Operation:
    names = _names("sd", rank)
    space = Space.make(names, _at_least(_names("s", rank), 1) + _at_least(_names("d", rank), 0), 4000)

    def layout(at: Mapping[str, Any]) -> tuple[Any, Any]:
        return _layout("sd", rank, at)

    def goals(path: Path, r: Any) -> Iterator[Goal]:
        a, result = modes(flat(layout(_symbols(path)))), modes(flat(pair(r)))
        if side == "right":
            return pathwise.right_inverted(a, result)
        return pathwise.left_inverted(a, result, _order(path, a))

    check = definitions.right_inverse if side == "right" else definitions.left_inverse
    return Operation(
        f"{side}_inverse", f"{side}_inverse, rank {rank}", space,
        lambda t, at: getattr(t.functions, f"{side}_inverse")(t.make(*layout(at))), goals,
        lambda at, r: check(flat(layout(at)), flat(pair(r))),
        lambda at: f"{side}_inverse({_spell(*layout(at))})",
    )  # fmt: skip


def _divide(rank: int) -> Operation:
    """logical_divide by one mode N:r: R = A o (T, T*), with T* computed by the same code."""
    names = [*_names("MD", rank), "N", "r"]
    assumed = [*_canonical("MD", rank), *_at_least(["N"], 2), *_at_least(["r"], 1)]
    space = Space.make(names, assumed, 4000)

    def call(t: Target, at: Mapping[str, Any]) -> Any:
        a, tiler = t.make(*_layout("MD", rank, at)), t.make(at["N"], at["r"])
        rest = t.functions.complement(tiler, t.functions.size(a))
        return rest, t.functions.logical_divide(a, tiler)

    def goals(path: Path, both: Any) -> Iterator[Goal]:
        rest, result = both[0], both[1]
        a = modes(flat(_layout("MD", rank, _symbols(path))))
        star = modes(flat(pair(rest)))
        shape, stride = pair(result)
        seconds = [modes(flat((shape[1], stride[1])))]
        if len(star) > 1:
            seconds = [modes(flat((s, d))) for s, d in zip(shape[1], stride[1], strict=True)]
        yield from pathwise.composed(a, [("N", "r"), *star], [modes(flat((shape[0], stride[0]))), *seconds])
        chain = [("N", "r"), *star]
        yield from pathwise.complemented([("N", "r")], pathwise.times([s for s, _ in a]), star, _order(path, chain))

    def fault(at: Mapping[str, int], both: Any) -> str:
        a = flat(_layout("MD", rank, at))
        rest = flat(pair(both[0]))
        b = [(at["N"], at["r"]), *rest]
        wrong = definitions.composition(a, b, flat(pair(both[1])))
        return wrong or definitions.complement([(at["N"], at["r"])], definitions.size(a), rest)

    return Operation(
        "logical_divide", f"logical_divide, rank {rank} by N:r", space, call, goals, fault,
        lambda at: f"logical_divide({_spell(*_layout('MD', rank, at))}, {at['N']}:{at['r']})",
    )  # fmt: skip


def _product(rank: int) -> Operation:
    """logical_product with one mode N:r: R = (A, A* o (N:r)), every value taken once."""
    names = [*_names("sd", rank), "N", "r"]
    assumed = [*_at_least(_names("s", rank), 2), *_at_least([*_names("d", rank), "r"], 1), *_at_least(["N"], 2)]
    space = Space.make(names, assumed, 4000)

    def call(t: Target, at: Mapping[str, Any]) -> Any:
        return t.functions.logical_product(t.make(*_layout("sd", rank, at)), t.make(at["N"], at["r"]))

    def goals(path: Path, r: Any) -> Iterator[Goal]:
        a = modes(flat(_layout("sd", rank, _symbols(path))))
        shape, stride = pair(r)
        first, second = modes(flat((shape[0], stride[0]))), modes(flat((shape[1], stride[1])))
        same = [("==", x, y) for p, q in zip(a, first, strict=False) for x, y in zip(p, q, strict=True)]
        yield Goal("block", (), (), ("and", *same, *(("==", s, 1) for s, _ in first[len(a) :])))
        yield Goal("copies", (), (), ("==", pathwise.times([s for s, _ in second]), "N"))
        yield from list(pathwise.complemented(a, 1, second, _order(path, [*a, *second])))[:1]

    def fault(at: Mapping[str, int], r: Any) -> str:
        return definitions.product(flat(_layout("sd", rank, at)), at["N"], flat(pair(r)))

    return Operation(
        "logical_product", f"logical_product, rank {rank} by N:r", space, call, goals, fault,
        lambda at: f"logical_product({_spell(*_layout('sd', rank, at))}, {at['N']}:{at['r']})",
    )  # fmt: skip


__all__ = ["Examined", "Operation", "Target", "Unfollowed", "Violation", "examine", "foreign", "operations", "ours"]

# SPDX-License-Identifier: Apache-2.0
"""Operations executed with what they call replaced by its contract, so that ranks and tilers grow without their paths.

`composition` folds the modes of B one after the other, each in runs (layouts.compose): one run is executed from any
state, and proved to keep its contract; then the loops around it, with the run replaced by that contract. In
`logical_divide` and `logical_product` composition is replaced by its contract, R(c) = A(B(c)) or a refusal: what is
left to prove is that they compose the right layouts and return what they get.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from itertools import product as grid
from operator import mul
from typing import Any, TypeAlias

from layouts.compose import _Carry
from proofs.laws import definitions, pathwise
from proofs.laws.definitions import flat
from proofs.laws.execution import Operation, Target, pair
from proofs.laws.formula import Node, conjunction
from proofs.laws.operations import (
    at_least,
    canonical,
    layout_of,
    names_of,
    operations,
    outside_complement,
    spelled,
    symbols_of,
)
from proofs.laws.pathwise import Goal, modes, sorted_modes, times
from proofs.laws.symbolic import Path, Space, formula, resumed

Run: TypeAlias = "tuple[int, int, Any, Any]"


def examined(rank: int, inside: bool) -> Iterator[Operation]:
    """What an implementation is held to at every rank up to the given one; with ``inside`` what looks into ours too.

    Ours composes rank 3 by contract only: followed from end to end, its paths are too many.
    """
    for operation in operations(rank):
        deep = operation.label.startswith("composition, rank 3") and inside
        composing = operation.name in ("logical_divide", "logical_product") and "rank 1" not in operation.label
        if not (deep or composing):
            yield operation
    for r, b in grid(range(1, rank + 1), repeat=2):
        if inside and b == 1:
            yield composition_run(r)
        if inside and r > 1:
            yield composition_loops(r, b)
        if r + b <= 4:
            yield divide(r, b)
            yield product(r, b)


@contextmanager
def replaced(owner: Any, name: str, stand_in: Any) -> Iterator[None]:
    """An attribute replaced for a while."""
    before = getattr(owner, name)
    setattr(owner, name, stand_in)
    try:
        yield
    finally:
        setattr(owner, name, before)


def composition_run(rank: int) -> Operation:
    """One run n:A(r) that a mode N:r of B begins with, from any state: the digits u of A that are used already.

    n is the first count at which a digit of A carries, or N; the run is right (NOCARRY_MULTIPLE) and is refused just
    when n does not divide N or its digits and the used ones carry together (NOCARRY, CARRY_BREAKS, RUN_DIVIDES).
    """
    names = [*names_of("MD", rank), *names_of("u", rank - 1), "N", "r"]
    assumed = [*canonical("MD", rank), *at_least(names_of("u", rank - 1), 0), *at_least(["N"], 2), *at_least(["r"], 1)]
    assumed += [("<", f"u{i}", f"M{i}") for i in range(rank - 1)]
    bounded = names_of("M", rank - 1)

    def call(t: Target, at: Mapping[str, Any]) -> Any:
        a = t.make(*layout_of("MD", rank, at))
        carry = _Carry(a, a, [at[m] for m in bounded], [at[f"D{i}"] for i in range(rank)])
        carry.used = [at[f"u{i}"] for i in range(rank - 1)]
        n, value = carry.run(at["N"], at["r"])
        return t.make((n, *carry.used), (value, *carry.used))

    def goals(path: Path, result: Any) -> Iterator[Goal]:
        found = modes(flat(pair(result)))
        n, value = found[0]
        first, digits = _limit(bounded)
        yield Goal("length", (), (), conjunction((("==", n, first), ("==", ("%", "N", n), 0), (">=", n, 1))))
        yield Goal(
            "value", (), (), ("==", value, pathwise.at(modes(flat(layout_of("MD", rank, symbols_of(path)))), "r"))
        )
        for i, (digit, m, (u, _)) in enumerate(zip(digits, bounded, found[1:], strict=True)):
            now: Node = ("+", f"u{i}", ("*", ("-", n, 1), digit))
            yield Goal(f"digit {i}", (), (), conjunction((("==", u, now), ("<", u, m))))

    def refuses(path: Path) -> Iterator[Goal]:
        first, digits = _limit(bounded)
        fits = [("<", ("+", f"u{i}", ("*", ("-", first, 1), digits[i])), m) for i, m in enumerate(bounded)]
        yield Goal("outside", (), (), ("not", conjunction((("==", ("%", "N", first), 0), *fits))))

    return Operation(
        "composition", f"composition, rank {rank}: one run", Space.make(names, assumed, 4000), call, goals,
        lambda at, result: _run_fault(flat(layout_of("MD", rank, at)), at["r"], result.shape[0], result.stride[0]),
        lambda at: f"one run of {at['N']}:{at['r']} in {spelled(*layout_of('MD', rank, at))}, "
        f"digits {[at[f'u{i}'] for i in range(rank - 1)]} used", refuses, inside=True,
    )  # fmt: skip


def _limit(bounded: Sequence[str]) -> tuple[Node, list[Node]]:
    """The first count at which adding r carries out of a digit, or N; and r's bounded digits."""
    digits: list[Node] = [("%", pathwise.quotient("r", bounded[:i]), m) for i, m in enumerate(bounded)]
    first: Node = "N"
    for m, digit in zip(bounded, digits, strict=True):
        count: Node = ("-", 0, ("//", ("-", 0, m), digit))
        first = ("if", ("and", ("!=", digit, 0), ("<", count, first)), count, first)
    return first, digits


def _run_fault(a: definitions.Flat, step: int, count: int, value: int) -> str:
    wrong = next((k for k in range(count) if definitions.at(a, k * step) != k * value), None)
    return "" if wrong is None else f"{wrong} steps of {step} lead to {definitions.at(a, wrong * step)}"


def composition_loops(rank: int, right: int) -> Operation:
    """Composition around its runs: the modes of R are the runs, each begins where the last one ended.

    A mode has at most ``rank`` runs (LIMIT_ONCE); p_j of them have the lengths n_j and the values v_j.
    """
    pieces = [f"{j}.{t}" for j in range(right) for t in range(rank)]
    names = [*names_of("MD", rank), *names_of("rp", right), *(f"n{x}" for x in pieces), *(f"v{x}" for x in pieces)]
    assumed = [*canonical("MD", rank), *at_least(names_of("r", right), 1), *at_least([f"n{x}" for x in pieces], 2)]
    assumed += [*at_least(names_of("p", right), 1), *(("<=", f"p{j}", rank) for j in range(right))]

    def runs(at: Mapping[str, Any]) -> list[Run]:
        return [run for j in range(right) for run in _runs(at, j, rank)]

    def call(t: Target, at: Mapping[str, Any]) -> Any:
        todo = runs(at)
        extents = [reduce(mul, [n for i, _, n, _ in todo if i == j]) for j in range(right)]
        steps = [at[f"r{j}"] for j in range(right)]
        b = t.make(tuple(extents), tuple(steps)) if right > 1 else t.make(extents[0], steps[0])
        return _around(t, todo, lambda: t.functions.composition(t.make(*layout_of("MD", rank, at)), b))

    def goals(path: Path, both: Any) -> Iterator[Goal]:
        with resumed(path):
            told = [(j, t, formula(n), formula(v)) for j, t, n, v in runs(symbols_of(path))]
        asked = []
        for j, t, _, _ in told:
            mine = [n for i, _, n, _ in told if i == j]
            asked.append((times(mine[t:]), times([f"r{j}", *mine[:t]])))
        yield Goal("runs", (), (), _same(modes(flat(pair(both[0]))), asked))
        yield Goal("modes", (), (), _same(modes(flat(pair(both[1]))), [(n, v) for _, _, n, v in told]))

    def fault(at: Mapping[str, int], both: Any) -> str:
        given = [(n, v) for _, _, n, v in runs(at)]
        return "" if flat(pair(both[1])) == given else f"the runs {given} were not returned"

    return Operation(
        "composition", f"composition, rank {rank} o rank {right}, by the contract of a run",
        Space.make(names, assumed, 4000, top=4), call, goals, fault,
        lambda at: f"composition of {spelled(*layout_of('MD', rank, at))} in the runs {runs(at)}", inside=True,
    )  # fmt: skip


def _around(t: Target, todo: Sequence[Run], compose: Callable[[], Any]) -> tuple[Any, Any]:
    """What every run was asked for, as a layout, and the result, when the runs return what is given."""
    asked: list[tuple[Any, Any]] = []

    def run(_: object, rest: Any, step: Any) -> Any:
        asked.append((rest, step))
        return todo[len(asked) - 1][2:]

    with replaced(_Carry, "run", run):
        result = compose()
    return t.make(*zip(*asked, strict=True)), result


def _runs(at: Mapping[str, Any], j: int, most: int) -> list[Run]:
    """The runs of mode j of B: (j, place, length, value)."""
    count = next((t for t in range(1, most) if at[f"p{j}"] == t), most)
    return [(j, t, at[f"n{j}.{t}"], at[f"v{j}.{t}"]) for t in range(count)]


def _same(found: Sequence[tuple[Node, Node]], wanted: Sequence[tuple[Node, Node]]) -> Node:
    """That modes are the wanted ones, as many of them."""
    if len(found) != len(wanted):
        return ("!=", 0, 0)
    pairs = [("==", x, y) for mode, other in zip(found, wanted, strict=True) for x, y in zip(mode, other, strict=True)]
    return conjunction((("==", 0, 0), *pairs))


def _composing(t: Target, function: str, arguments: Sequence[Any]) -> tuple[Any, Any, Any]:
    """A call in which composition is replaced by its contract: what it was asked to compose, and the result.

    Here the contract returns B itself: whatever comes back must come from there.
    """
    asked: list[tuple[Any, Any]] = []

    def composition(a: Any, b: Any) -> Any:
        asked.append((a, b))
        return b

    owner = sys.modules[getattr(t.functions, function).__module__]
    with replaced(owner, "composition", composition):
        result = getattr(t.functions, function)(*arguments)
    ((a, b),) = asked
    return a, b, result


def divide(rank: int, right: int) -> Operation:
    """logical_divide by T of any rank: it returns A o (T, T*), T* = complement(T, size(A))."""
    names = [*names_of("MD", rank), *names_of("Nr", right)]
    assumed = [*at_least([*names_of("M", rank), *names_of("N", right)], 1), *at_least(names_of("r", right), 0)]
    space = Space.make(names, assumed, 4000)

    def call(t: Target, at: Mapping[str, Any]) -> Any:
        a, tiler = t.make(*layout_of("MD", rank, at)), t.make(*layout_of("Nr", right, at))
        return _composing(t, "logical_divide", (a, tiler))

    def parts(b: Any) -> tuple[pathwise.Modes, pathwise.Modes]:
        shape, stride = pair(b)
        return modes(flat((shape[0], stride[0]))), modes(flat((shape[1], stride[1])))

    def goals(path: Path, found: Any) -> Iterator[Goal]:
        at = symbols_of(path)
        a, tiler = (modes(flat(layout_of(x, n, at))) for x, n in (("MD", rank), ("Nr", right)))
        first, star = parts(found[1])
        yield Goal("composes A", (), (), _same(modes(flat(pair(found[0]))), a))
        yield Goal("with the tiler", (), (), _same(first, tiler))
        yield Goal("returns it", (), (), _same(modes(flat(pair(found[2]))), modes(flat(pair(found[1])))))
        whole = times([s for s, _ in a])
        yield from pathwise.complemented(tiler, whole, star, sorted_modes(path, [*tiler, *star]))

    def refuses(path: Path) -> Iterator[Goal]:
        at = symbols_of(path)
        whole = times([s for s, _ in modes(flat(layout_of("MD", rank, at)))])
        yield outside_complement(path, modes(flat(layout_of("Nr", right, at))), whole)

    def fault(at: Mapping[str, int], found: Any) -> str:
        tiler = [(n, r) for n, r in flat(layout_of("Nr", right, at)) if r]
        shape, stride = pair(found[1])
        rest = flat((shape[1], stride[1]))
        return definitions.complement(tiler, definitions.size(flat(layout_of("MD", rank, at))), rest)

    return Operation(
        "logical_divide", f"logical_divide, rank {rank} by rank {right}, by the contract of composition", space, call,
        goals, fault, lambda at: f"logical_divide({spelled(*layout_of('MD', rank, at))}, "
        f"{spelled(*layout_of('Nr', right, at))})", refuses,
    )  # fmt: skip


def product(rank: int, right: int) -> Operation:
    """logical_product with any T: it returns (A, A* o T) with (A, A*) injective: PRODUCT_ANY.

    From rank 3 on the modes of A are proper ones, with extents of 2 or more and strides of 1 or more.
    """
    names = [*names_of("sd", rank), *names_of("Nr", right)]
    proper = int(rank > 2)
    assumed = [*at_least(names_of("s", rank), 1 + proper), *at_least(names_of("d", rank), proper)]
    assumed += [*at_least(names_of("N", right), 1), *at_least(names_of("r", right), 0)]
    space = Space.make(names, assumed, 4000)

    def call(t: Target, at: Mapping[str, Any]) -> Any:
        block, tiler = t.make(*layout_of("sd", rank, at)), t.make(*layout_of("Nr", right, at))
        return _composing(t, "logical_product", (block, tiler))

    def goals(path: Path, found: Any) -> Iterator[Goal]:
        at = symbols_of(path)
        a, tiler = (modes(flat(layout_of(x, n, at))) for x, n in (("sd", rank), ("Nr", right)))
        star, asked = modes(flat(pair(found[0]))), modes(flat(pair(found[1])))
        yield Goal("composes with the tiler", (), (), _same(asked, tiler))
        yield Goal("returns block and copies", (), (), _same(modes(flat(pair(found[2]))), [*a, *tiler]))
        order = sorted_modes(path, [*a, *star])
        if not order or order[-1] != len(a) + len(star) - 1:  # then A* goes no further than its extents
            reach = pathwise.total([1, *(times([("-", s, 1), d]) for s, d in tiler)])
            yield Goal("T stays inside A*", (), (), ("<=", reach, times([s for s, _ in star])))
        yield from list(pathwise.complemented(a, 1, star, order))[:1]

    def refuses(path: Path) -> Iterator[Goal]:
        yield outside_complement(path, modes(flat(layout_of("sd", rank, symbols_of(path)))), 1)

    def fault(at: Mapping[str, int], found: Any) -> str:
        block, star = flat(layout_of("sd", rank, at)), flat(pair(found[0]))
        filtered = [(s, d) for s, d in block if d]
        return definitions.complement(filtered, 1, star)

    return Operation(
        "logical_product", f"logical_product, rank {rank} by rank {right}, by the contract of composition", space, call,
        goals, fault, lambda at: f"logical_product({spelled(*layout_of('sd', rank, at))}, "
        f"{spelled(*layout_of('Nr', right, at))})", refuses,
    )  # fmt: skip

# SPDX-License-Identifier: Apache-2.0
"""An implementation run on small layouts, with nested ones and ranks up to 4, and compared with CuTe's definitions.

Symbolic execution covers flat layouts of small rank for all integers; this covers a few thousand layouts of every form
and requires more: coalesce leaves the fewest modes, a complement is no larger than necessary, a compact layout has a
complete right inverse, results have the profile of their inputs, arguments are not changed, and simple inputs are not
rejected.

`LAWS`             the law of each operation: a row that a campaign reads too, whose arrays decide its cases in bulk
`enumerate_cases`  the result for one function of an implementation: an `Enumerated`
`cases_of`         the cases of a function
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product as grid
from random import Random
from typing import Any, Literal, TypeAlias

from proofs import definitions
from proofs.definitions import Flat, Pair, Tree, at, flat, size
from proofs.symbolic.execution import Target
from proofs.symbolic.operations import write_layout

Arguments: TypeAlias = "tuple[Pair | int, ...]"

PROFILES: tuple[Tree, ...] = (0, (0, 0), (0, 0, 0), ((0, 0), 0), (0, (0, 0)), ((0, 0), (0, 0)), (0, (0, (0, 0))))
EXTENTS = (1, 2, 2, 3, 4)
STRIDES = (0, 1, 1, 2, 3, 4, 6, 8, 12)
DRAWN = 1500
SHOWN = 4
PROGRAMMING = (LookupError, AttributeError, NameError, RecursionError, MemoryError, SystemError, SystemExit)
"""Exceptions that mean a bug; any other exception of the implementation rejects the input."""


class _NoLayout(Exception):
    """The returned value has no shape and stride of tuples and integers."""


@dataclass(frozen=True, slots=True)
class Enumerated:
    """The numbers of cases of a function, of rejected and of wrong ones, and the faults in the smallest wrong cases."""

    function: str
    cases: int
    refused: int
    wrong: int
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OperationLaw:
    """The definition of an operation, as a law on its results."""

    statement: str
    second: Literal["", "layout", "cotarget"]  # what its cases are besides a layout
    fault: Callable[..., str]  # of the arguments and the result: what is wrong with it
    plain: Callable[..., bool]  # of the arguments: whether they are so simple that they must not be rejected
    partial: bool = False  # whether there are cases to which it does not apply, or not at every point


def enumerate_cases(target: Target, function: str, begin: Callable[[str], None] = lambda call: None) -> Enumerated:
    """Return the result of running a function on its cases, from small to large.

    ``begin`` is called before each call.
    """
    cases = cases_of(function)
    refused = wrong = 0
    faults: list[str] = []
    for arguments in cases:
        begin(call(function, arguments))
        fault = try_case(target, function, arguments)
        refused += fault is None
        if fault:
            wrong += 1
            faults += [f"{call(function, arguments)} {fault}"] * (len(faults) < SHOWN)
    return Enumerated(function, len(cases), refused, wrong, tuple(faults))


@lru_cache
def cases_of(function: str) -> tuple[Arguments, ...]:
    """Return the arguments of all cases of a function, small ones first."""
    return tuple(sorted(dict.fromkeys(CASES[LAWS[function].second]()), key=lambda c: (weight(c), repr(c))))


def try_case(target: Target, function: str, arguments: Arguments) -> str | None:
    """Return what is wrong with one call, empty when nothing is; None when it is rejected and may be."""
    law = LAWS[function]
    made: list[Any] = [target.make(*x) if isinstance(x, tuple) else x for x in arguments]
    try:
        returned = getattr(target.functions, function)(*made)
        result = _read_pair(returned)
    except _NoLayout as error:
        return f"-> {error}"
    except PROGRAMMING as error:
        return f"raises {type(error).__name__}: {error}"
    except Exception as error:
        if law.plain(*arguments):
            return f"is rejected ({type(error).__name__}: {error})".splitlines()[0]
        return None
    changed = [x for x, y in zip(arguments, made, strict=True) if isinstance(x, tuple) and (y.shape, y.stride) != x]
    if changed:
        return f"changes its argument {write_layout(*changed[0])}"
    fault = law.fault(*arguments, result)
    return f"-> {write_layout(*result)}: {fault}" if fault else ""


def _read_pair(returned: Any) -> Pair:
    """Return the shape and stride of a returned layout, with plain integers."""
    try:
        pair = _plain(returned.shape), _plain(returned.stride)
        flat(pair)
        _check_alike(*pair)
    except (AttributeError, TypeError, ValueError) as error:
        raise _NoLayout(f"{returned!r}, which isn't a layout of tuples and integers"[:120]) from error
    return pair


def _check_alike(shape: Tree, stride: Tree) -> None:
    """Raise ValueError unless two trees are nested alike."""
    if isinstance(shape, tuple) and isinstance(stride, tuple):
        for parts in zip(shape, stride, strict=True):
            _check_alike(*parts)
    elif isinstance(shape, tuple) or isinstance(stride, tuple):
        raise ValueError(f"{stride} is not nested as {shape}")


def _plain(tree: Any) -> Tree:
    return tuple(map(_plain, tree)) if isinstance(tree, tuple) else operator.index(tree)


def weight(arguments: Arguments) -> int:
    """How large a case is: the sum of its numbers, and 3 for each mode."""
    return sum(
        sum(abs(n) for mode in flat(x) for n in mode) + 3 * len(flat(x)) if isinstance(x, tuple) else x
        for x in arguments
    )


def call(function: str, arguments: Arguments) -> str:
    """Return a call as it is written."""
    return f"{function}({', '.join(write_layout(*x) if isinstance(x, tuple) else str(x) for x in arguments)})"


def _fill(profile: Tree, leaves: Iterator[int]) -> Tree:
    if isinstance(profile, tuple):
        return tuple([_fill(part, leaves) for part in profile])
    return next(leaves)


def _count(profile: Tree) -> int:
    return sum(map(_count, profile)) if isinstance(profile, tuple) else 1


def _draw_layout(source: Random, profile: Tree) -> Pair:
    """Return a random layout of a profile.

    Half of them have strides made from their extents, so that modes fit each other.
    """
    rank = _count(profile)
    shape = [source.choice(EXTENTS) for _ in range(rank)]
    stride = [source.choice(STRIDES) for _ in range(rank)]
    if source.random() < 0.5:
        step = source.choice((1, 1, 2))
        for i in source.sample(range(rank), rank):
            stride[i] = step
            step *= shape[i] * source.choice((1, 1, 1, 2))
    return _fill(profile, iter(shape)), _fill(profile, iter(stride))


def _layouts() -> Iterator[Pair]:
    """Every layout of rank 1 with small numbers, and random ones of every profile."""
    source = Random(4)
    yield from grid(range(1, 6), range(7))
    for _ in range(DRAWN // len(PROFILES)):
        yield from (_draw_layout(source, profile) for profile in PROFILES)


def _single() -> Iterator[Arguments]:
    return ((layout,) for layout in _layouts())


def _with_target() -> Iterator[Arguments]:
    source = Random(5)
    for layout in _layouts():
        span = _span(flat(layout))
        yield layout, source.choice((1, 2, 5, 12, span, 2 * span, 3 * span + 1))


def _pairs() -> Iterator[Arguments]:
    source = Random(6)
    for a in _layouts():
        yield a, _draw_layout(source, source.choice(PROFILES))
        yield a, (source.randint(1, 4), source.choice(STRIDES))


def _span(modes: Flat) -> int:
    """Return the largest s*d of the modes with s > 1 and d != 0."""
    return max((s * d for s, d in modes if s > 1 and d), default=1)


def _merge_modes(modes: Flat) -> Flat:
    """Return the same function with the fewest modes."""
    out: Flat = []
    for s, d in modes:
        if s == 1:
            continue
        if out and out[-1][0] * out[-1][1] == d:
            out[-1] = (out[-1][0] * s, out[-1][1])
        else:
            out.append((s, d))
    return out


def _is_compact(modes: Flat) -> bool:
    """Whether the layout takes each of 0, 1, ... size - 1 once: then its least and largest value add to size - 1."""
    ends = sum((s - 1) * d for s, d in modes)
    return ends == size(modes) - 1 and sorted(at(modes, i) for i in range(size(modes))) == list(range(size(modes)))


def _check_coalesce(layout: Pair, result: Pair) -> str:
    a, r = flat(layout), flat(result)
    if isinstance(result[0], tuple) and any(isinstance(part, tuple) for part in result[0]):
        return "it is nested"
    fewest = len(_merge_modes(a)) or 1
    return definitions.coalesce(a, r) or (f"{len(r)} modes, {fewest} will do" if len(r) > fewest else "")


def _check_composition(a: Pair, b: Pair, result: Pair) -> str:
    """Return what is wrong with R = A o B: R(k) = A(B(k)) for B(k) in the domain of A, and compatible(B, R)."""
    if not refines(result[0], b[0]):
        return "its shape is not compatible with B's"
    return _find_difference(flat(a), flat(b), flat(result), "R({k})", "A(B({k}))")


def _find_difference(outer: Flat, inner: Flat, result: Flat, left: str, right: str) -> str:
    """Return where R(k) = A(B(k)) fails for B(k) in the domain of A; `left` and `right` write its sides."""
    for k in range(size(inner)):
        x = at(inner, k)
        if x < size(outer) and at(result, k) != at(outer, x):
            sides = left.format(k=k), right.format(k=k)
            return f"{sides[0]} = {at(result, k)}, {sides[1]} = A({x}) = {at(outer, x)}"
    return ""


def refines(shape: Tree, coarse: Tree) -> bool:
    """compatible(coarse, shape): whether the shape has a part of equal size for each integer of `coarse`."""
    if isinstance(coarse, tuple):
        return isinstance(shape, tuple) and len(shape) == len(coarse) and all(map(refines, shape, coarse))
    return size(flat((shape, shape))) == coarse


def _check_complement(a: Pair, target: int, result: Pair) -> str:
    """Return what is wrong with a complement: R is ordered, disjoint, covering, and no larger than that requires."""
    r, span = flat(result), _span(flat(a))
    counted = [(s, d) for s, d in flat(a) if s > 1 and d]
    wrong = definitions.complement(counted, target, r)
    bound = -(-target // span) * span
    if not wrong and size(counted) * size(r) > bound:
        return f"A and R have {size(counted) * size(r)} values together, {bound} cover the cotarget"
    return wrong


def _right_inverted(a: Pair, result: Pair) -> str:
    modes, r = flat(a), flat(result)
    wrong = definitions.right_inverse(modes, r)
    if not wrong and size(r) < size(modes) and _is_compact(modes):
        return f"it finds {size(r)} of the values, and L takes each of 0, ..., {size(modes) - 1}"
    return wrong


def _check_divide(a: Pair, tiler: Pair, result: Pair) -> str:
    """Return what is wrong with (A o T, A o T*): its first mode is the tile, and both have every value of A."""
    parts = _two(result)
    if isinstance(parts, str):
        return parts
    (first, second), inner, outer = parts, flat(tiler), flat(a)
    if not refines(result[0][0], tiler[0]):  # type: ignore[index]  # of rank 2, as was just seen
        return "its first mode has not the shape of the tiler"
    if wrong := _find_difference(outer, inner, first, "R({k}, 0)", "A(T({k}))"):
        return wrong
    values = {at(first, i) + at(second, j) for i, j in grid(range(size(first)), range(size(second)))}
    missing = sorted({at(outer, i) for i in range(size(outer))} - values)
    return f"A's value {missing[0]} is none of R's" if missing else ""


def _check_product(block: Pair, tiler: Pair, result: Pair) -> str:
    """Return what is wrong with (A, A* o T): the block is unchanged, and for injective A and T all values differ."""
    parts = _two(result)
    if isinstance(parts, str):
        return parts
    (first, second), a, t = parts, flat(block), flat(tiler)
    if size(first) != size(a) or any(at(first, i) != at(a, i) for i in range(size(a))):
        return "its first mode is not the block"
    if not refines(result[0][1], tiler[0]):  # type: ignore[index]  # of rank 2, as was just seen
        return "its second mode has not the shape of the tiler"
    once = all(len({at(x, i) for i in range(size(x))}) == size(x) for x in (a, t))
    values = [at(first, i) + at(second, j) for i, j in grid(range(size(first)), range(size(second)))]
    if once and len(set(values)) < len(values):
        return "two coordinates have one value"
    copies = [at(second, t) for t in range(size(second))]
    ordered = once and [at(t, k) for k in range(size(t))] == sorted(at(t, k) for k in range(size(t)))
    return "its copies do not follow one another as T does" if ordered and copies != sorted(copies) else ""


def _two(result: Pair) -> tuple[Flat, Flat] | str:
    """Return the two modes of a result, or what is wrong with it."""
    shape, stride = result
    if not isinstance(shape, tuple) or not isinstance(stride, tuple) or len(shape) != 2:
        return "it has not two modes"
    return flat((shape[0], stride[0])), flat((shape[1], stride[1]))


@lru_cache(maxsize=1 << 14)
def _is_one_mode(layout: Pair) -> bool:
    """Whether a layout is n:1, however it is written."""
    return _merge_modes(flat(layout)) in ([], [(size(flat(layout)), 1)])


def _plain_composition(a: Pair, b: Pair) -> bool:
    """Whether A is n:1 and the values of B lie in its domain."""
    modes = flat(b)
    return _is_one_mode(a) and max(at(modes, k) for k in range(size(modes))) < size(flat(a))


def _plain_division(a: Pair, tiler: Pair) -> bool:
    """Whether A is n:1 and the tile is t:r with t r dividing n."""
    modes = flat(tiler)
    return _is_one_mode(a) and len(modes) == 1 and modes[0][1] > 0 and size(flat(a)) % (modes[0][0] * modes[0][1]) == 0


def _plain_complement(a: Pair, target: int) -> bool:
    """Whether A is n:1 and the cotarget a multiple of n."""
    return _is_one_mode(a) and target % size(flat(a)) == 0


CASES: Mapping[str, Callable[[], Iterator[Arguments]]] = {"": _single, "layout": _pairs, "cotarget": _with_target}
"""The small cases by the second argument of a law."""

LAWS: Mapping[str, OperationLaw] = {
    "coalesce": OperationLaw("R(i) = L(i), with the fewest modes", "", _check_coalesce, lambda a: True),
    "composition": OperationLaw(
        "R(c) = A(B(c)), compatible(B, R)", "layout", _check_composition, _plain_composition, partial=True
    ),
    "complement": OperationLaw(
        "(A, R) takes each value once and covers [0, n)", "cotarget", _check_complement, _plain_complement
    ),
    "right_inverse": OperationLaw("L(R(k)) = k", "", _right_inverted, lambda a: _is_compact(flat(a))),
    "left_inverse": OperationLaw(
        "R(L(k)) = k", "", lambda a, r: definitions.left_inverse(flat(a), flat(r)), lambda a: _is_compact(flat(a))
    ),
    "logical_divide": OperationLaw(
        "R(t, 0) = A(T(t)), and R has every value of A", "layout", _check_divide, _plain_division, partial=True
    ),
    "logical_product": OperationLaw(
        "R(i, 0) = A(i), and R takes each value once", "layout", _check_product,
        lambda a, b: _is_one_mode(a) and _is_one_mode(b), partial=True,
    ),
}  # fmt: skip
"""The laws by operation."""

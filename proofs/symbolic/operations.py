# SPDX-License-Identifier: Apache-2.0
"""The operations that are executed from end to end, each at one rank: inputs, call, goals and definition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from proofs import definitions
from proofs.definitions import flat
from proofs.laws.formula import Node, conjunction
from proofs.symbolic import pathwise
from proofs.symbolic.execution import Operation, Target, pair
from proofs.symbolic.pathwise import Goal, modes, sorted_modes
from proofs.symbolic.symbolic_int import InputSpace, Path, SymInt


def operations(rank: int) -> Iterator[Operation]:
    """Every operation, from end to end, at every rank up to ``rank``; for composition B has rank 2 at most."""
    for r in range(1, rank + 1):
        yield _coalesce(r)
        yield from (_composition(r, b) for b in range(1, min(2, 4 - r) + 1))
        yield _complement(r)
        yield from (_inverse(r, side) for side in ("right", "left"))
        yield _divide(r)
        yield _product(r)


def layout_of(letters: str, rank: int, at: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the shape and stride of a rank, from the values of the inputs that have these letters."""
    s, d = (tuple(at[f"{x}{i}"] for i in range(rank)) for x in letters)
    return (s[0], d[0]) if rank == 1 else (s, d)


def names_of(letters: str, rank: int) -> list[str]:
    """Return the names of inputs: s0, s1, ..., d0, d1, ... for the letters sd.

    >>> names_of("sd", 2)
    ['s0', 's1', 'd0', 'd1']
    """
    return [f"{x}{i}" for x in letters for i in range(rank)]


def at_least(names: Sequence[str], least: int) -> list[Node]:
    """Return the conditions that each of the inputs is at least ``least``."""
    return [(">=", x, least) for x in names]


def write_layout(shape: Any, stride: Any) -> str:
    """Return the layout in CuTe's notation.

    >>> write_layout((4, (2,)), (1, (8,)))
    '(4,(2)):(1,(8))'
    """
    return f"{shape}:{stride}".replace(" ", "").replace(",)", ")")


def _coalesce(rank: int) -> Operation:
    names = names_of("sd", rank)
    space = InputSpace.make(names, at_least(names_of("s", rank), 1))

    def layout(at: Mapping[str, Any]) -> tuple[Any, Any]:
        return layout_of("sd", rank, at)

    return Operation(
        "coalesce", f"coalesce, rank {rank}", space,
        lambda t, at: t.functions.coalesce(t.make(*layout(at))),
        lambda path, r: pathwise.prove_coalesce(modes(flat(layout(symbols_of(path)))), modes(flat(pair(r)))),
        lambda at, r: definitions.coalesce(flat(layout(at)), flat(pair(r))),
        lambda at: f"coalesce({write_layout(*layout(at))})",
    )  # fmt: skip


def symbols_of(path: Path) -> dict[str, SymInt]:
    """Return the inputs of a path as symbolic integers."""
    return {x: SymInt(x) for x in path.space.names}


def canonical(letters: str, rank: int) -> list[Node]:
    """Return the conditions that a layout is coalesced: extents of 2 or more, no neighbours that merge."""
    s, d = letters[0], letters[1]
    wide = at_least([f"{s}{i}" for i in range(rank)], 2)
    return [*wide, *(("!=", f"{d}{i + 1}", ("*", f"{s}{i}", f"{d}{i}")) for i in range(rank - 1))]


def _split(result: Any, count: int) -> list[pathwise.Modes]:
    """Return the parts of the result of a composition, one for each mode of B."""
    shape, stride = result.shape, result.stride
    if count == 1:
        return [modes(flat(pair(result)))]
    return [modes(flat((s, d))) for s, d in zip(shape, stride, strict=True)]


def _composition(rank: int, right: int) -> Operation:
    names = [*names_of("MD", rank), *names_of("Nr", right)]
    assumed = [*canonical("MD", rank), *at_least(names_of("N", right), 2), *at_least(names_of("r", right), 1)]
    space = InputSpace.make(names, assumed, 4000)

    def a(at: Mapping[str, Any]) -> tuple[Any, Any]:
        return layout_of("MD", rank, at)

    def b(at: Mapping[str, Any]) -> tuple[Any, Any]:
        return layout_of("Nr", right, at)

    def goals(path: Path, r: Any) -> Iterator[Goal]:
        symbols = symbols_of(path)
        return pathwise.prove_composition(modes(flat(a(symbols))), modes(flat(b(symbols))), _split(r, right))

    def refuses(path: Path) -> Iterator[Goal]:
        yield pathwise.carrying(names_of("M", rank - 1), modes(flat(b(symbols_of(path)))))

    return Operation(
        "composition", f"composition, rank {rank} o rank {right}", space,
        lambda t, at: t.functions.composition(t.make(*a(at)), t.make(*b(at))), goals,
        lambda at, r: definitions.composition(flat(a(at)), flat(b(at)), flat(pair(r))),
        lambda at: f"composition({write_layout(*a(at))}, {write_layout(*b(at))})", refuses,
    )  # fmt: skip


def _complement(rank: int) -> Operation:
    names = [*names_of("sd", rank), "T"]
    space = InputSpace.make(names, at_least([*names_of("s", rank), "T"], 1) + at_least(names_of("d", rank), 0), 4000)

    def layout(at: Mapping[str, Any]) -> tuple[Any, Any]:
        return layout_of("sd", rank, at)

    def goals(path: Path, r: Any) -> Iterator[Goal]:
        a, result = modes(flat(layout(symbols_of(path)))), modes(flat(pair(r)))
        return pathwise.prove_complement(a, "T", result, sorted_modes(path, [*a, *result]))

    def refuses(path: Path) -> Iterator[Goal]:
        yield outside_complement(path, modes(flat(layout(symbols_of(path)))), "T")

    def fault(at: Mapping[str, int], r: Any) -> str:
        filtered = [(s, d) for s, d in flat(layout(at)) if d]
        return definitions.complement(filtered, at["T"], flat(pair(r)))

    return Operation(
        "complement", f"complement, rank {rank}", space,
        lambda t, at: t.functions.complement(t.make(*layout(at)), at["T"]), goals, fault,
        lambda at: f"complement({write_layout(*layout(at))}, {at['T']})", refuses,
    )  # fmt: skip


def outside_complement(path: Path, a: pathwise.Modes, target: Node) -> Goal:
    """Return the goal that a path that rejects its input is outside the precondition, modes sorted as in its sample."""
    chain = [a[i] for i in sorted_modes(path, a)]
    ordered: list[Node] = [("<=", low[1], high[1]) for low, high in pairwise(chain)]
    refused: Node = ("not", pathwise.complementable(chain, target))
    return Goal("outside the precondition", (), (), conjunction((refused, *ordered)))


def _inverse(rank: int, side: str) -> Operation:
    names = names_of("sd", rank)
    space = InputSpace.make(names, at_least(names_of("s", rank), 1) + at_least(names_of("d", rank), 0), 4000)

    def layout(at: Mapping[str, Any]) -> tuple[Any, Any]:
        return layout_of("sd", rank, at)

    def goals(path: Path, r: Any) -> Iterator[Goal]:
        a, result = modes(flat(layout(symbols_of(path)))), modes(flat(pair(r)))
        if side == "right":
            return pathwise.right_inverted(a, result)
        return pathwise.left_inverted(path, a, result)

    def refuses(path: Path) -> Iterator[Goal]:
        wanted = pathwise.invertible_left(modes(flat(layout(symbols_of(path)))))
        yield Goal("outside the precondition", (), (), ("not", wanted))

    check = definitions.right_inverse if side == "right" else definitions.left_inverse
    return Operation(
        f"{side}_inverse", f"{side}_inverse, rank {rank}", space,
        lambda t, at: getattr(t.functions, f"{side}_inverse")(t.make(*layout(at))), goals,
        lambda at, r: check(flat(layout(at)), flat(pair(r))),
        lambda at: f"{side}_inverse({write_layout(*layout(at))})", refuses if side == "left" else None,
    )  # fmt: skip


def _divide(rank: int) -> Operation:
    """Return the operation logical_divide by one mode N:r: R = A o (T, T*), with T* computed by the same code."""
    names = [*names_of("MD", rank), "N", "r"]
    assumed = [*canonical("MD", rank), *at_least(["N"], 2), *at_least(["r"], 1)]
    space = InputSpace.make(names, assumed, 4000)

    def call(t: Target, at: Mapping[str, Any]) -> Any:
        a, tiler = t.make(*layout_of("MD", rank, at)), t.make(at["N"], at["r"])
        rest = t.functions.complement(tiler, t.functions.size(a))
        return rest, t.functions.logical_divide(a, tiler)

    def goals(path: Path, both: Any) -> Iterator[Goal]:
        rest, result = both[0], both[1]
        a = modes(flat(layout_of("MD", rank, symbols_of(path))))
        star = modes(flat(pair(rest)))
        shape, stride = pair(result)
        seconds = [modes(flat((shape[1], stride[1])))]
        if len(star) > 1:
            seconds = [modes(flat((s, d))) for s, d in zip(shape[1], stride[1], strict=True)]
        yield from pathwise.prove_composition(a, [("N", "r"), *star], [modes(flat((shape[0], stride[0]))), *seconds])
        chain = [("N", "r"), *star]
        yield from pathwise.prove_complement(
            [("N", "r")], pathwise.times([s for s, _ in a]), star, sorted_modes(path, chain)
        )

    def fault(at: Mapping[str, int], both: Any) -> str:
        a = flat(layout_of("MD", rank, at))
        rest = flat(pair(both[0]))
        b = [(at["N"], at["r"]), *rest]
        wrong = definitions.composition(a, b, flat(pair(both[1])))
        return wrong or definitions.complement([(at["N"], at["r"])], definitions.size(a), rest)

    return Operation(
        "logical_divide", f"logical_divide, rank {rank} by N:r", space, call, goals, fault,
        lambda at: f"logical_divide({write_layout(*layout_of('MD', rank, at))}, {at['N']}:{at['r']})",
    )  # fmt: skip


def _product(rank: int) -> Operation:
    """Return the operation logical_product with one mode N:r: R = (A, A* o (N:r)), injective by PRODUCT_ANY."""
    names = [*names_of("sd", rank), "N", "r"]
    assumed = [*at_least(names_of("s", rank), 2), *at_least([*names_of("d", rank), "r"], 1), *at_least(["N"], 2)]
    space = InputSpace.make(names, assumed, 4000)

    def call(t: Target, at: Mapping[str, Any]) -> Any:
        return t.functions.logical_product(t.make(*layout_of("sd", rank, at)), t.make(at["N"], at["r"]))

    def goals(path: Path, r: Any) -> Iterator[Goal]:
        a = modes(flat(layout_of("sd", rank, symbols_of(path))))
        shape, stride = pair(r)
        first, second = modes(flat((shape[0], stride[0]))), modes(flat((shape[1], stride[1])))
        same = [("==", x, y) for p, q in zip(a, first, strict=False) for x, y in zip(p, q, strict=True)]
        yield Goal("block", (), (), ("and", *same, *(("==", s, 1) for s, _ in first[len(a) :])))
        yield Goal("copies", (), (), ("==", pathwise.times([s for s, _ in second]), "N"))
        chain = [a[i] for i in sorted_modes(path, a)]
        yield Goal("block without overlap", (), (), pathwise.complementable(chain, 1))
        yield from pathwise.prove_composition(pathwise.gaps(path, chain), [("N", "r")], [second])

    def refuses(path: Path) -> Iterator[Goal]:
        yield pathwise.carrying(["d0"], [("N", "r")])

    def fault(at: Mapping[str, int], r: Any) -> str:
        return definitions.product(flat(layout_of("sd", rank, at)), at["N"], flat(pair(r)))

    return Operation(
        "logical_product", f"logical_product, rank {rank} by N:r", space, call, goals, fault,
        lambda at: f"logical_product({write_layout(*layout_of('sd', rank, at))}, {at['N']}:{at['r']})",
        refuses if rank == 1 else None,
    )  # fmt: skip

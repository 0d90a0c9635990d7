# SPDX-License-Identifier: Apache-2.0
"""`logical_divide` and `logical_product`, executed with composition replaced by its contract.

The contract is R(c) = A(B(c)) or the input is rejected (`runs` and `loops` prove it). What remains to be proved is that
the right layouts are composed and that the result is returned; so tilers of every rank are covered without the paths
of composition. `divide` and `product` are the two operations.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proofs import definitions
from proofs.definitions import flat
from proofs.symbolic import pathwise
from proofs.symbolic.execution import Operation, Target, pair, replace_attribute
from proofs.symbolic.operations import at_least, layout_of, names_of, outside_complement, symbols_of, write_layout
from proofs.symbolic.pathwise import Goal, modes, same, sorted_modes, times
from proofs.symbolic.symbolic_int import InputSpace, Path


def _composing(t: Target, function: str, arguments: Sequence[Any]) -> tuple[Any, Any, Any]:
    """Return the two arguments of composition in a call of a function, and the result of the call.

    The replaced composition returns B itself: so the result of the call must be made of B.
    """
    composed: list[tuple[Any, Any]] = []

    def composition(a: Any, b: Any) -> Any:
        composed.append((a, b))
        return b

    owner = sys.modules[getattr(t.functions, function).__module__]
    with replace_attribute(owner, "composition", composition):
        result = getattr(t.functions, function)(*arguments)
    ((a, b),) = composed
    return a, b, result


def divide(rank: int, right: int) -> Operation:
    """Return the operation logical_divide by T of any rank: it returns A o (T, T*) with T* = complement(T, size(A))."""
    names = [*names_of("MD", rank), *names_of("Nr", right)]
    assumed = [*at_least([*names_of("M", rank), *names_of("N", right)], 1), *at_least(names_of("r", right), 0)]
    space = InputSpace.make(names, assumed, 4000)

    def call(t: Target, at: Mapping[str, Any]) -> Any:
        a, tiler = t.make(*layout_of("MD", rank, at)), t.make(*layout_of("Nr", right, at))
        return _composing(t, "logical_divide", (a, tiler))

    def parts(b: Any) -> tuple[pathwise.Modes, pathwise.Modes]:
        shape, stride = pair(b)
        return modes(flat((shape[0], stride[0]))), modes(flat((shape[1], stride[1])))

    def goals(path: Path, returned: Any) -> Iterator[Goal]:
        at = symbols_of(path)
        a, tiler = (modes(flat(layout_of(x, n, at))) for x, n in (("MD", rank), ("Nr", right)))
        first, star = parts(returned[1])
        yield Goal("composes A", (), (), same(modes(flat(pair(returned[0]))), a))
        yield Goal("with the tiler", (), (), same(first, tiler))
        yield Goal("returns it", (), (), same(modes(flat(pair(returned[2]))), modes(flat(pair(returned[1])))))
        whole = times([s for s, _ in a])
        yield from pathwise.prove_complement(tiler, whole, star, sorted_modes(path, [*tiler, *star]))

    def refuses(path: Path) -> Iterator[Goal]:
        at = symbols_of(path)
        whole = times([s for s, _ in modes(flat(layout_of("MD", rank, at)))])
        yield outside_complement(path, modes(flat(layout_of("Nr", right, at))), whole)

    def fault(at: Mapping[str, int], returned: Any) -> str:
        tiler = [(n, r) for n, r in flat(layout_of("Nr", right, at)) if r]
        shape, stride = pair(returned[1])
        rest = flat((shape[1], stride[1]))
        return definitions.complement(tiler, definitions.size(flat(layout_of("MD", rank, at))), rest)

    return Operation(
        "logical_divide", f"logical_divide, rank {rank} by rank {right}, by the contract of composition", space, call,
        goals, fault, lambda at: f"logical_divide({write_layout(*layout_of('MD', rank, at))}, "
        f"{write_layout(*layout_of('Nr', right, at))})", refuses,
    )  # fmt: skip


def product(rank: int, right: int) -> Operation:
    """Return the operation logical_product with any T: it returns (A, A* o T) with (A, A*) injective (PRODUCT_ANY)."""
    names = [*names_of("sd", rank), *names_of("Nr", right)]
    assumed = [*at_least(names_of("s", rank), 1), *at_least(names_of("d", rank), 0)]
    assumed += [*at_least(names_of("N", right), 1), *at_least(names_of("r", right), 0)]
    space = InputSpace.make(names, assumed, 4000)

    def call(t: Target, at: Mapping[str, Any]) -> Any:
        block, tiler = t.make(*layout_of("sd", rank, at)), t.make(*layout_of("Nr", right, at))
        return _composing(t, "logical_product", (block, tiler))

    def goals(path: Path, returned: Any) -> Iterator[Goal]:
        at = symbols_of(path)
        a, tiler = (modes(flat(layout_of(x, n, at))) for x, n in (("sd", rank), ("Nr", right)))
        star, composed = modes(flat(pair(returned[0]))), modes(flat(pair(returned[1])))
        yield Goal("composes with the tiler", (), (), same(composed, tiler))
        yield Goal("returns block and copies", (), (), same(modes(flat(pair(returned[2]))), [*a, *tiler]))
        order = sorted_modes(path, [*a, *star])
        if not order or order[-1] != len(a) + len(star) - 1:  # then the last mode of A* is bounded by its extent
            reach = pathwise.total([1, *(times([("-", s, 1), d]) for s, d in tiler)])
            yield Goal("T stays inside A*", (), (), ("<=", reach, times([s for s, _ in star])))
        yield from list(pathwise.prove_complement(a, 1, star, order))[:1]

    def refuses(path: Path) -> Iterator[Goal]:
        yield outside_complement(path, modes(flat(layout_of("sd", rank, symbols_of(path)))), 1)

    def fault(at: Mapping[str, int], returned: Any) -> str:
        block, star = flat(layout_of("sd", rank, at)), flat(pair(returned[0]))
        filtered = [(s, d) for s, d in block if d]
        return definitions.complement(filtered, 1, star)

    return Operation(
        "logical_product", f"logical_product, rank {rank} by rank {right}, by the contract of composition", space, call,
        goals, fault,
        lambda at: (
            f"logical_product({write_layout(*layout_of('sd', rank, at))}, "
            f"{write_layout(*layout_of('Nr', right, at))})"
        ),
        refuses,
    )  # fmt: skip

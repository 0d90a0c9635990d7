# SPDX-License-Identifier: Apache-2.0
"""The grid of a claim for all sizes: which axis cuts which index of the output into tiles."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from verify.kernel.claims.expression import Element
from verify.kernel.sizes.forms import NotLifted


@dataclass(frozen=True)
class OutputAxis:
    """One index of the output, and the axis of the grid that cuts it into tiles."""

    index: str  # of the claim
    size: str  # its extent
    tile: int  # elements of a CTA
    number: int  # of the axis of the grid
    rounds_up: bool  # whether the last CTA may have a part of a tile


def read_axes(grid: Any, target: Element, names: Sequence[str]) -> tuple[OutputAxis, ...]:
    """Return how the grid cuts each index of the output; every axis is 1, cdiv(SIZE, tile), SIZE // tile or a product.

    If an axis is a product, no other cuts an index.
    """
    by_size: dict[str, tuple[int, int, bool]] = {}
    for number, text in enumerate(grid if isinstance(grid, list) else [grid]):
        if text in (1, "1"):
            continue
        if str(text).isdigit():
            raise NotLifted(0, f"{text} CTAs for each tile: a sum in parts (split-K) has no proof for all sizes yet")
        cuts = _read_axes(text)
        if not cuts or any(cut[0] not in names or cut[0] in by_size for cut in cuts) or len({*cuts}) < len(cuts):
            raise NotLifted(0, f"the grid {text!r} has no meaning for all sizes yet: cdiv(SIZE, tile) or SIZE // tile")
        by_size |= {size: (tile, number, up) for size, tile, up in cuts}
    axes = []
    for index in target.indices:
        if index.upper() not in by_size:
            raise NotLifted(0, f"no axis of the grid cuts {index.upper()}")
        tile, number, up = by_size.pop(index.upper())
        axes.append(OutputAxis(index, index.upper(), tile, number, up))
    if by_size:
        raise NotLifted(0, f"an axis of the grid cuts {', '.join(by_size)}, which isn't a size of the output")
    numbers = [axis.number for axis in axes]
    if len(axes) > 1 and len({*numbers}) not in (1, len(axes)):
        raise NotLifted(0, "a grid with one axis for several indices and another one has no meaning for all sizes yet")
    return tuple(axes)


def _read_axes(text: Any) -> list[tuple[str, int, bool]]:
    """Return (size, tile, whether it rounds up) of each factor of an axis of the grid; none if one is anything else."""
    factors, rest = [], [ast.parse(str(text), mode="eval").body]
    while rest:
        node = rest.pop()
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            rest += [node.right, node.left]
        else:
            factors.append(_read_axis(node))
    return [factor for factor in factors if factor is not None] if all(factors) else []


def _read_axis(node: ast.expr) -> tuple[str, int, bool] | None:
    """Return (size, tile, whether it rounds up) of a factor of an axis of the grid."""
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "cdiv"
        and len(node.args) == 2
    ):
        left, right, up = node.args[0], node.args[1], True
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
        left, right, up = node.left, node.right, False
    else:
        return None
    tile = _constant(right)
    return (left.id, tile, up) if isinstance(left, ast.Name) and tile > 0 else None


def _constant(node: ast.AST) -> int:
    """Return a product of integers; 0 for anything else."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _constant(node.left) * _constant(node.right)
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else 0

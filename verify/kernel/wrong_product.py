# SPDX-License-Identifier: Apache-2.0
"""The first matrix product whose operands don't belong together: its slots hold elements of other rows or columns.

Each slot must hold one index of the sum, the same in A and B, each row one m and each column one n. Main declarations:
`ProductWatch`, `ProductTerm` (a sum of products), `Source` (an array whose elements are looked for).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from verify.core.verdict import ProductOperand, WrongProduct
from verify.kernel.claims.expression import Apply, Element, Node, Sum, list_factors
from verify.kernel.data.values import Ids
from verify.kernel.instructions.matrices import Product, fragment_map
from verify.kernel.interpretation import Interpretation
from verify.kernel.state.findings import CAUSE, Finding, Severity
from verify.kernel.state.region import Region

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ProductTerm:
    """sum_k A[..k..] * B[..k..]: what most claims are about."""

    index: str
    left: Element
    right: Element


@dataclass(frozen=True, slots=True)
class Source:
    """An array of which a product may have elements."""

    element: Element  # its name, and those of its axes
    shape: tuple[int, ...]
    axis: int  # that of the sum
    locate: Callable[[Ids], Ints]  # ids to places in the array, -1 for what isn't an element of it


def list_sources(regions: Sequence[Region], term: ProductTerm) -> list[Source]:
    """Return the two arrays of a sum of products, or the one that both factors are of."""
    sources = []
    for element in {factor.name: factor for factor in (term.right, term.left)}.values():
        region = next(region for region in regions if region.array.name == element.name)
        axis = element.indices.index(term.index)
        sources.append(Source(element, region.array.shape, axis, partial(_locate, region.first, len(region.places))))
    return sources


def _locate(first: int, count: int, ids: Ids) -> Ints:
    here = (ids >= first) & (ids < first + count)
    return np.where(here, ids.astype(np.int64) - first, -1)


def find_term(node: Node) -> ProductTerm | None:
    """Return the first sum of products of two elements in a claim."""
    if isinstance(node, Sum):
        factors = []
        for part in list_factors(node.body):
            if not isinstance(part, Element) or node.index not in part.indices:
                return find_term(part)
            factors.append(part)
        return ProductTerm(node.index, factors[0], factors[1]) if len(factors) == 2 else None
    if isinstance(node, Apply):
        return next((term for part in node.parts if (term := find_term(part))), None)
    return None


class ProductWatch:
    """The search for the first matrix product whose operands are no outer product."""

    def __init__(
        self, run: Interpretation, sources: Sequence[Source], where: str = "", strangers: Sequence[Source] = ()
    ) -> None:
        """Look at the elements of these arrays; `where` names one of several products, which have no `strangers`."""
        self.machine, self.own, self.where = run.machine, len(sources), where
        self.sources = [*sources, *strangers]
        self.finding: Finding | None = None
        self.cause: WrongProduct | None = None

    def __call__(self, product: Product) -> None:
        """Look at a product as it is executed; the first wrong one is kept."""
        if self.finding is not None:
            return
        names = {"A": product.a, "B": product.b}
        tiles = {name: self._coordinates(ids) for name, ids in names.items()}
        a, b = tiles["A"], tiles["B"]
        arrays = [tile[..., 0] for tile in (a, b)]
        mine = any(((array >= 0) & (array < self.own)).any() for array in arrays)
        if self.where and not (mine and all((array >= 0).any() for array in arrays)):  # it is another product
            return
        if (stranger := max(a[..., 0].max(), b[..., 0].max())) >= self.own:
            self._say_stranger(product, tiles, int(stranger))
            return
        bad = _uneven(a, 2) | _uneven(b, 1)
        clash = (_mode(a[..., 1], 1) != _mode(b[..., 1], 2)) & (_mode(a[..., 1], 1) >= 0) & (_mode(b[..., 1], 2) >= 0)
        bad |= clash.any(1)
        if bad.any():
            self._say(product, int(np.flatnonzero(bad)[0]), tiles)

    def _coordinates(self, ids: Ids) -> Ints:
        """(array, sum index, other indices as one number) of each element; -1 for what is no element of an input."""
        coordinates = np.full((*ids.shape, 3), -1, np.int64)
        for number, source in enumerate(self.sources):
            flat = source.locate(ids)
            here, where = flat >= 0, np.unravel_index(np.maximum(flat, 0), source.shape)
            rest = [index for place, index in enumerate(where) if place != source.axis]
            shape = [extent for place, extent in enumerate(source.shape) if place != source.axis]
            free = np.ravel_multi_index(rest, shape) if rest else np.zeros_like(flat)
            for place, part in enumerate((np.full(ids.shape, number), where[source.axis], free)):
                coordinates[..., place] = np.where(here, part, coordinates[..., place])
        return coordinates

    def _say(self, product: Product, warp: int, tiles: dict[str, Ints]) -> None:
        """Name the first elements out of place, by what their neighbours in the tile imply."""
        a, b = tiles["A"][warp], tiles["B"][warp]
        votes = [_most([*a[:, slot, 1], *b[slot, :, 1]]) for slot in range(a.shape[1])]
        tied = all(_alone(a[:, slot, 1]) and _alone(b[slot, :, 1]) for slot in range(len(votes)))
        slots = {"A": [_most(slot) for slot in a[..., 1].T], "B": [_most(slot) for slot in b[..., 1]]}
        tied = tied and any(min(of_a, of_b) >= 0 and of_a != of_b for of_a, of_b in zip(*slots.values(), strict=True))
        runs = {name: _is_run(np.array(part)) for name, part in slots.items()}
        if tied and runs["A"] != runs["B"]:  # only one of them has the k's of the tile in their order
            votes, tied = slots["A" if runs["A"] else "B"], False
        # where nothing decides, each is shown with what the other one implies
        ks = {"A": slots["B"], "B": slots["A"]} if tied else {"A": votes, "B": votes}
        texts: list[str] = []
        operands: list[ProductOperand] = []
        counts: list[str] = []
        for name, tile in (("A", a), ("B", b)):
            axis = 1 if name == "A" else 0
            frees = _frees(tile if name == "A" else tile.swapaxes(0, 1), ks[name])
            wants, wrong = np.full(tile.shape, -1, np.int64), np.zeros(tile.shape[:2], bool)
            array = _most(tile[..., 0])  # that most of its elements are of
            for row, column in np.ndindex(*tile.shape[:2]):
                slot, free = (column, row) if axis else (row, column)
                wants[row, column] = array, ks[name][slot], frees[free]
                wrong[row, column] = tile[row, column, 0] >= 0 and tuple(tile[row, column]) != tuple(wants[row, column])
            operands.append(self._operand(product, warp, name, tile, wants))
            if wrong.any():
                count = int(wrong.sum())
                counts.append(f"{count} element{'s' * (count > 1)} of {name}")
                row, column = (int(places[0]) for places in np.nonzero(wrong))
                words = f"{operands[-1].place(row, column)} holds {self._element(tile[row, column])}"
                texts.append(
                    f"{words}; the instruction wants {self._describe_wanted(tile[row, column], wants[row, column])}"
                )
        if tied:
            texts = [
                f"A holds k = {_list_indices(slots['A'])}, B k = {_list_indices(slots['B'])}; "
                "one of them is loaded from the wrong k, and the kernel alone doesn't say which"
            ]
        text = f"{self.where}{product.name} of {self._who(product, warp)}: {'; '.join(texts)}"
        text += f"; out of place: {(' or ' if tied else ' and ').join(counts)}" if counts else ""
        self.cause = WrongProduct(product.line, product.name, tuple(operands), not tied)
        self.finding = Finding(CAUSE, Severity.VALUE, product.line, text)

    def _say_stranger(self, product: Product, tiles: dict[str, Ints], number: int) -> None:
        """Name the first element of an array that doesn't belong into the product."""
        name = next(name for name, tile in tiles.items() if (tile[..., 0] == number).any())
        tile = tiles[name]
        warp, *_ = place = tuple(int(places[0]) for places in np.nonzero(tile[..., 0] == number))
        element, own = (
            self.sources[number].element,
            " or ".join(source.element.name for source in self.sources[: self.own]),
        )
        text = f"{self.where}{product.name} of {self._who(product, warp)}: {name} holds {self._element(tile[place])}, "
        text += f"an element of {element.name}; only those of {own} belong there"
        self.finding = Finding(CAUSE, Severity.VALUE, product.line, text)

    def _who(self, product: Product, warp: int) -> str:
        """Return who executed a product."""
        who = self.machine.shared.who(int(product.first[warp])) if hasattr(self.machine, "shared") else "a warp"
        return who if product.name == "tcgen05.mma" else f"the warp of {who}"

    def _operand(self, product: Product, warp: int, name: str, tile: Ints, wants: Ints) -> ProductOperand:
        rows, columns = range(tile.shape[0]), range(tile.shape[1])
        holds = tuple(
            tuple(self._element(tile[row, column]) if tile[row, column, 0] >= 0 else "" for column in columns)
            for row in rows
        )
        wanted = tuple(
            tuple(self._describe_wanted(tile[row, column], wants[row, column]) for column in columns) for row in rows
        )
        fragment = product.fragments.get(name)
        if fragment is None:
            return ProductOperand(name, holds, wanted, elsewhere=product.elsewhere)
        numbers = product.slots[name][warp] if name in product.slots else fragment_map(fragment).slot
        slots = tuple(
            tuple(divmod(int(slot), fragment.values) if slot >= 0 else (-1, -1) for slot in line) for line in numbers
        )
        return ProductOperand(name, holds, wanted, slots, fragment.bits)

    def _element(self, tiles: Ints) -> str:
        number, contracted, free = (int(coordinate) for coordinate in tiles)
        return self._name_element(number, contracted, free) if number >= 0 else "a computed value"

    def _describe_wanted(self, tiles: Ints, wants: Ints) -> str:
        """Say what a slot should hold; empty for a computed value, and where nothing decides."""
        if int(tiles[0]) < 0 or wants.min() < 0:
            return ""
        return self._name_element(*map(int, wants))

    def _name_element(self, number: int, contracted: int, free: int) -> str:
        source = self.sources[number]
        shape = [extent for place, extent in enumerate(source.shape) if place != source.axis]
        rest = [int(index) for index in np.unravel_index(free, shape)] if shape else []
        rest.insert(source.axis, contracted)
        places = zip(source.element.indices, rest, strict=True)
        return f"{source.element.name}[{','.join(f'{dim}={at}' for dim, at in places)}]"


def _uneven(tiles: Ints, axis: int) -> NDArray[np.bool_]:
    """By warp: whether a slot holds two indices of the sum, or a row or column two others."""
    known = tiles[..., 0] >= 0
    across = 1 if axis == 2 else 2
    uneven = np.zeros(len(tiles), bool)
    for part, along in ((tiles[..., 1], across), (tiles[..., 2], axis)):
        low = np.where(known, part, np.iinfo(np.int64).max).min(along)
        high = np.where(known, part, -1).max(along)
        uneven |= ((high > low) & (high >= 0)).any(1)
    return uneven


def _mode(part: Ints, axis: int) -> Ints:
    """Return the largest index of each slot: the only one, where a slot is even."""
    largest: Ints = part.max(axis)
    return largest


def _most(part: object) -> int:
    """Return the most frequent index that is known; -1 for none."""
    counted = Counter(int(index) for index in np.asarray(part).ravel() if index >= 0)
    return counted.most_common(1)[0][0] if counted else -1


def _frees(lines: Ints, ks: list[int]) -> list[int]:
    """Return the other index of each row or column: the most frequent of its elements with the right k, if it has any.

    Where two are as frequent, it is the one that no other row or column has.
    """
    every = []
    for line in lines:
        right = line[line[:, 1] == ks]
        counted = Counter(int(index) for index in (right if len(right) else line)[:, 2] if index >= 0)
        every.append([index for index, count in counted.items() if count == max(counted.values())])
    sure = {several[0] for several in every if len(several) == 1}
    return [next((index for index in several if index not in sure), [*several, -1][0]) for several in every]


def _is_run(part: Ints) -> bool:
    """Whether indices are consecutive, from a multiple of their number on."""
    return bool((np.diff(part) == 1).all() and part[0] >= 0 and part[0] % len(part) == 0)


def _alone(part: Ints) -> bool:
    return len({int(index) for index in part if index >= 0}) <= 1


def _list_indices(part: Sequence[int]) -> str:
    """Return the indices that slots hold.

    >>> _list_indices([32, 33, 34]), _list_indices([0, 2, -1])
    ('32..34', '[0, 2, –]')
    """
    if min(part) >= 0 and len(part) > 1 and (np.diff(part) == 1).all():
        return f"{part[0]}..{part[-1]}"
    return "[" + ", ".join("–" if index < 0 else str(index) for index in part) + "]"

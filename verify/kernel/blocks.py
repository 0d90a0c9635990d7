# SPDX-License-Identifier: Apache-2.0
"""Sums of powers as a loop over blocks computes them: their value with the blocks' numbers and the maximum so far.

A sum of powers alone is that of a row (`find_totals`), by which an accumulator is divided.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from verify.core.errors import SpecError
from verify.kernel.claims.evaluation import Evaluation, NamedTensor, index_places
from verify.kernel.claims.expression import Apply, ClaimNumber, Node, Scalar, Sum
from verify.kernel.claims.rewriting import ZERO, list_parts, replace_each, substitute

BLOCKS = (16, 32, 64, 128, 256)  # terms that a step of a loop may have
NOW, BEFORE, OWN = "maximum_now", "maximum_before", "maximum_own"  # up to a term's block, before it, of it alone


class BlockEvaluation(Evaluation):
    """An evaluation in which a number may be an expression of an index, as n//32*32, and a maximum one of blocks."""

    def __call__(self, node: Node) -> NamedTensor:
        """Return the tensor of a tree, over its free indices."""
        if isinstance(node, Apply) and node.name in (NOW, BEFORE, OWN):
            if node not in self.made:
                self.made[node] = self._find_maximum(node)
            return self.made[node]
        return super().__call__(node)

    def _lookup(self, name: str) -> NamedTensor:
        if name.isidentifier():
            return super()._lookup(name)
        index, places = index_places(name, self.extents, self.sizes)
        assert places is not None
        numbers = places[self.part.get(index, slice(None))]
        residues = np.broadcast_to(numbers.astype(np.uint64), (len(self.primes), len(numbers)))
        return NamedTensor((index,), residues, numbers.astype(np.float64), fixed=True)

    def _find_maximum(self, node: Apply) -> NamedTensor:
        """Return the largest term of the blocks that an operation names, for each term of a sum.

        Where all of them are masked it is 0, as a guard has it, but -inf before a block: nothing was summed until then.
        """
        body, block = node.parts
        assert isinstance(body, Sum) and isinstance(block, ClaimNumber)
        part, size = self(body.body), int(block.value)
        if body.index not in part.dims:
            raise SpecError("claim", f"a maximum over {body.index} of what has no index {body.index}")
        dims = (body.index, *(name for name in part.dims if name != body.index))
        residues, sample, _ = part.align(dims)
        below = part.expand(part.where_below, dims)
        hashes = self.choose.hash_leaves(residues.reshape(len(residues), -1)).reshape(residues.shape)
        terms = [np.where(below, np.uint64(0), each) for each in (residues, hashes)]
        alone, several, many = (
            _add_blocks(each, size, node.name) for each in (*terms, (~below)[None].astype(np.uint64))
        )
        top = self.primes.reshape(-1, *[1] * sample.ndim)
        largest = np.where(many == 1, alone, several) % top  # one term alone is the largest, and isn't a sum
        nothing = many[0] == 0 if node.name == BEFORE else None
        return NamedTensor(dims, largest, np.zeros(sample.shape), nothing)


def _add_blocks(terms: NDArray[np.uint64], size: int, name: str) -> NDArray[np.uint64]:
    """Return for each term the sum over the blocks of a maximum; the second axis has the terms."""
    count = terms.shape[1]
    own = np.add.reduceat(terms, np.arange(0, count, size), axis=1)
    now = own if name == OWN else np.cumsum(own, axis=1)
    return (now - own if name == BEFORE else now)[:, np.arange(count) // size]


def name_block(index: str, size: int) -> Scalar:
    """Return the first index of the block that an index lies in, as a number."""
    return Scalar(f"{index}//{size}*{size}")


def find_totals(node: Node) -> list[Sum]:
    """Return the sums of powers that have no other factor."""
    return [part for part in list_parts(node) if isinstance(part, Sum) and _is_power(part.body)]


def _is_power(node: Node) -> bool:
    """Return whether a tree is a power of 2, or one where it isn't masked."""
    if not isinstance(node, Apply):
        return False
    shown = [part for part in node.parts[2:] if part != ZERO]
    return node.name == "ex2" or (node.name == "where" and len(shown) == 1 and _is_power(shown[0]))


def change_powers(
    node: Node, total: Sum, summed: Callable[[Node], Node], elsewhere: Callable[[Node], Node]
) -> Node:  # fmt: skip
    """Return a tree with a change of the powers in the sum of a row, and another one of all others."""
    place = Scalar("")
    rest = substitute(node, {total: place})
    rest = replace_each(rest, lambda part: elsewhere(part) if isinstance(part, Apply) and part.name == "ex2" else part)
    return substitute(rest, {place: Sum(total.index, summed(total.body))})

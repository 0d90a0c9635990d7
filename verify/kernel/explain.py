# SPDX-License-Identifier: Apache-2.0
"""Why an element is wrong, in terms of matrices and lanes: the CTA that wrote it is run again.

Once with an eye on every matrix product: its operands must hold one k for each slot, the same in A and B, one m for
each row and one n for each column. The first product that does not is the cause (`WrongProduct`). And once with a probe
for each k, in which all of A but A[.,k] is zero: it says which terms of the sum are missing, doubled or made of other
elements. Main declarations: `explained`, `Term`, `PROBES`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verify.core.verdict import ProductOperand, WrongProduct
from verify.kernel.claims.evaluation import Evaluation, Tensor
from verify.kernel.claims.expression import Apply, Element, Node, Scalar, Sum
from verify.kernel.claims.launch import Launch
from verify.kernel.comparison import Comparison
from verify.kernel.data.values import FIRST, Ids, Values
from verify.kernel.instructions.matrices import Product, fragment_map
from verify.kernel.interpretation import Interpretation, Missing
from verify.kernel.near_misses import near_misses
from verify.kernel.online import explain_rescaling
from verify.kernel.state.findings import CAUSE, Finding, Severity, Unclear
from verify.kernel.state.region import Region

PROBES = 96  # at most so many terms are distinguished; longer sums are cut into blocks
Ints = NDArray[np.int64]


def explained(
    run: Interpretation, found: Comparison, seed: int, budget: int
) -> tuple[list[Finding], WrongProduct | None]:
    """The first cause of a wrong element, and which terms its sum has; nothing where neither is found."""
    words = near_misses(run, found)
    if run.values.pairs and not words and found.written.all():
        words += explain_rescaling(run, seed, budget)
    term = _term(run.launch.value)
    if term is None or not found.written[first := found.first_wrong()]:
        return words, None
    stored = found.region.stored
    assert stored is not None
    cta = int(stored.writer[found.region.places[first] * found.region.size]) // run.machine.threads
    watched = _Watched(run, term)
    exponents = bool(run.values.pairs)
    again = Interpretation(run.kernel, run.launch, Values(seed, exponents=exponents), budget, {})
    watched.regions = again.regions
    again.machine.watch = watched
    cause = None
    if _finished(again, cta) and watched.found:
        words.append(watched.found)
        cause = watched.cause
    text = "" if exponents else _terms(run, found, first, cta, term, budget)  # an exponential has no terms
    if text:
        words.append(Finding("wrong sum", Severity.VALUE, 0, text))
    return words, cause


def _finished(run: Interpretation, cta: int) -> bool:
    try:
        run.run(cta)
    except (Unclear, Missing):
        return False
    return True


@dataclass(frozen=True, slots=True)
class Term:
    """sum_k A[..k..] * B[..k..]: what most claims are about."""

    index: str
    left: Element
    right: Element


def _term(node: Node) -> Term | None:
    """The first sum of products of two elements in a claim."""
    if isinstance(node, Sum):
        factors, rest = [], [node.body]
        while rest:
            part = rest.pop(0)
            if isinstance(part, Apply) and part.name == "*":
                rest = [*part.parts, *rest]
            elif isinstance(part, Element) and node.index in part.indices:
                factors.append(part)
            else:
                return _term(part)
        return Term(node.index, factors[0], factors[1]) if len(factors) == 2 else None
    if isinstance(node, Apply):
        return next((found for part in node.parts if (found := _term(part))), None)
    return None


class _Watched:
    """The search for the first matrix product whose operands are no outer product."""

    def __init__(self, run: Interpretation, term: Term) -> None:
        self.machine, self.term = run.machine, term
        self.regions: list[Region] = run.regions
        self.found: Finding | None = None
        self.cause: WrongProduct | None = None

    def __call__(self, product: Product) -> None:
        if self.found is not None:
            return
        names = {"A": product.a, "B": product.b}
        tiles = {name: self._coordinates(ids) for name, ids in names.items()}
        a, b = tiles["A"], tiles["B"]
        bad = _uneven(a, 2) | _uneven(b, 1)
        clash = (_mode(a[..., 1], 1) != _mode(b[..., 1], 2)) & (_mode(a[..., 1], 1) >= 0) & (_mode(b[..., 1], 2) >= 0)
        bad |= clash.any(1)
        if bad.any():
            self._say(product, int(np.flatnonzero(bad)[0]), tiles)

    def _coordinates(self, ids: Ids) -> Ints:
        """(array, sum index, other indices as one number) of each element; -1 for what is no element of an input."""
        found = np.full((*ids.shape, 3), -1, np.int64)
        for number, region in enumerate(self.regions):
            element = self.term.left if region.array.name == self.term.left.name else self.term.right
            if region.array.name != element.name or self.term.index not in element.indices:
                continue
            here = (ids >= region.first) & (ids < region.first + len(region.places))
            where = np.unravel_index(np.where(here, ids.astype(np.int64) - region.first, 0), region.array.shape)
            axis = element.indices.index(self.term.index)
            rest = [one for place, one in enumerate(where) if place != axis]
            shape = [one for place, one in enumerate(region.array.shape) if place != axis]
            other = np.ravel_multi_index(rest, shape) if rest else np.zeros_like(where[axis])
            for place, part in enumerate((np.full(ids.shape, number), where[axis], other)):
                found[..., place] = np.where(here, part, found[..., place])
        return found

    def _say(self, product: Product, warp: int, tiles: dict[str, Ints]) -> None:
        """Name the first elements out of place, by what their neighbours in the tile imply."""
        a, b = tiles["A"][warp], tiles["B"][warp]
        votes = [_most([*a[:, slot, 1], *b[slot, :, 1]]) for slot in range(a.shape[1])]
        tied = all(_alone(a[:, slot, 1]) and _alone(b[slot, :, 1]) for slot in range(len(votes)))
        slots = {"A": [_most(one) for one in a[..., 1].T], "B": [_most(one) for one in b[..., 1]]}
        tied = tied and any(min(one, other) >= 0 and one != other for one, other in zip(*slots.values(), strict=True))
        runs = {name: _run(np.array(part)) for name, part in slots.items()}
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
                row, column = (int(one[0]) for one in np.nonzero(wrong))
                words = f"{operands[-1].place(row, column)} holds {self._element(tile[row, column])}"
                texts.append(f"{words}; the instruction wants {self._wanted(tile[row, column], wants[row, column])}")
        who = self.machine.shared.who(int(product.first[warp])) if hasattr(self.machine, "shared") else "a warp"
        if tied:
            texts = [
                f"A's slots of k hold {_listed(slots['A'])}, B's {_listed(slots['B'])}: nothing says which is wrong"
            ]
        by = who if product.name == "tcgen05.mma" else f"the warp of {who}"
        text = f"{product.name} of {by}: {'; '.join(texts)}"
        text += f"; out of place: {(' or ' if tied else ' and ').join(counts)}" if counts else ""
        self.cause = WrongProduct(product.line, product.name, tuple(operands), not tied)
        self.found = Finding(CAUSE, Severity.VALUE, product.line, text)

    def _operand(self, product: Product, warp: int, name: str, tile: Ints, wants: Ints) -> ProductOperand:
        rows, columns = range(tile.shape[0]), range(tile.shape[1])
        holds = tuple(
            tuple(self._element(tile[row, column]) if tile[row, column, 0] >= 0 else "" for column in columns)
            for row in rows
        )
        wanted = tuple(tuple(self._wanted(tile[row, column], wants[row, column]) for column in columns) for row in rows)
        fragment = product.fragments.get(name)
        if fragment is None:
            return ProductOperand(name, holds, wanted, elsewhere=product.elsewhere)
        numbers = product.slots[name][warp] if name in product.slots else fragment_map(fragment).slot
        slots = tuple(
            tuple(divmod(int(one), fragment.values) if one >= 0 else (-1, -1) for one in line) for line in numbers
        )
        return ProductOperand(name, holds, wanted, slots, fragment.bits)

    def _element(self, tiles: Ints) -> str:
        number, contracted, other = (int(one) for one in tiles)
        return self._named(number, contracted, other) if number >= 0 else "a computed value"

    def _wanted(self, tiles: Ints, wants: Ints) -> str:
        """What a slot should hold; empty for a computed value, and where nothing decides."""
        if int(tiles[0]) < 0 or wants.min() < 0:
            return ""
        return self._named(*map(int, wants))

    def _named(self, number: int, contracted: int, other: int) -> str:
        array = self.regions[number].array
        element = self.term.left if array.name == self.term.left.name else self.term.right
        axis = element.indices.index(self.term.index)
        shape = [one for place, one in enumerate(array.shape) if place != axis]
        rest = [int(one) for one in np.unravel_index(other, shape)] if shape else []
        rest.insert(axis, contracted)
        return f"{array.name}[{','.join(f'{dim}={at}' for dim, at in zip(element.indices, rest, strict=True))}]"


def _uneven(tiles: Ints, axis: int) -> NDArray[np.bool_]:
    """By warp: whether a slot holds two indices of the sum, or a row or column two others."""
    known = tiles[..., 0] >= 0
    across = 1 if axis == 2 else 2
    found = np.zeros(len(tiles), bool)
    for part, along in ((tiles[..., 1], across), (tiles[..., 2], axis)):
        low = np.where(known, part, np.iinfo(np.int64).max).min(along)
        high = np.where(known, part, -1).max(along)
        found |= ((high > low) & (high >= 0)).any(1)
    return found


def _mode(part: Ints, axis: int) -> Ints:
    """The largest index of each slot: the only one, where a slot is even."""
    found: Ints = part.max(axis)
    return found


def _most(part: object) -> int:
    """The most frequent index that is known; -1 for none."""
    counted = Counter(int(one) for one in np.asarray(part).ravel() if one >= 0)
    return counted.most_common(1)[0][0] if counted else -1


def _frees(lines: Ints, ks: list[int]) -> list[int]:
    """The other index of each row or column: the most frequent of its elements with the right k, if it has any.

    Where two are as frequent, it is the one that no other row or column has.
    """
    every = []
    for line in lines:
        right = line[line[:, 1] == ks]
        counted = Counter(int(one) for one in (right if len(right) else line)[:, 2] if one >= 0)
        every.append([one for one, count in counted.items() if count == max(counted.values())])
    sure = {one[0] for one in every if len(one) == 1}
    return [next((one for one in several if one not in sure), [*several, -1][0]) for several in every]


def _run(part: Ints) -> bool:
    """Whether indices are consecutive, from a multiple of their number on."""
    return bool((np.diff(part) == 1).all() and part[0] >= 0 and part[0] % len(part) == 0)


def _alone(part: Ints) -> bool:
    return len({int(one) for one in part if one >= 0}) <= 1


def _listed(part: Sequence[int]) -> str:
    return "[" + ", ".join("–" if one < 0 else str(one) for one in part) + "]"


class _Probes(Values):
    """Values with a row for each probe, all modulo one prime."""

    def __init__(self, seed: int, rows: int) -> None:
        super().__init__(seed, rows, 1 << 16)
        self.primes = [self.primes[0]] * rows
        self.choices.primes = np.array(self.primes, np.uint64)[:, None]
        self.values_of: dict[int, int] = {}

    def variables(self, kind: str, samples: NDArray[np.float64], limits: tuple[float, float] | None = None) -> int:
        first = super().variables(kind, samples, limits)
        self.residues[:, first : self.top] = self.residues[0, first : self.top]
        return first


def _terms(run: Interpretation, found: Comparison, first: int, cta: int, term: Term, budget: int) -> str:
    """Which terms of a wrong element's sum are missing, doubled or made of other elements, in words."""
    same = (found.residues == run.values.residues[:, found.ids[first]][:, None]).all(0)
    if same.any():
        return f"{found.array.element(first)} holds the value that belongs to {found.array.element(int(same.argmax()))}"
    launch, where = run.launch, np.unravel_index(first, found.array.shape)
    at = dict(zip(launch.target.indices, (int(one) for one in where), strict=True))
    count = launch.array(term.left.name).shape[term.left.indices.index(term.index)]
    step = -(-count // PROBES)
    rows = -(-count // step) + 1
    values = _Probes(run.values.choices.seed, rows)
    again = Interpretation(run.kernel, launch, values, budget, {})
    left = next(one for one in again.regions if one.array.name == term.left.name)
    span = slice(left.first, left.first + len(left.places))
    block = np.unravel_index(np.arange(len(left.places)), left.array.shape)[term.left.indices.index(term.index)] // step
    values.residues[:, span] *= (block[None, :] == np.arange(-1, rows - 1)[:, None]).astype(np.uint32)
    if not _finished(again, cta):
        return ""
    got = _stored(again, found, first)
    arrays = {}
    for region in again.regions:
        part = slice(region.first, region.first + len(region.places))
        shape = region.array.shape
        residues = values.residues[:, part].astype(np.uint64).reshape(-1, *shape)
        arrays[region.array.name] = Tensor((), residues, np.zeros(shape))
    picked = _Picked(values, arrays, launch, at)
    prime = int(values.primes[0])
    want = np.asarray(picked(launch.value).residues, object).reshape(rows)
    gained = [(int(one) - int(got[0])) % prime for one in got[1:]]
    wanted = [(int(one) - int(want[0])) % prime for one in want[1:]]
    name = found.array.element(first)
    words = _of_terms(name, term, count, step, gained, wanted, prime)
    if not words and int(got[0]) != int(want[0]):
        return f"{name} is wrong in a part that has no {term.left.name}"
    odd = [one for one in range(len(gained)) if gained[one] not in (0, wanted[one], 2 * wanted[one] % prime)]
    return words + (_partner(again, term, at, odd[0], gained, prime) if odd and step == 1 else "")


def _partner(
    again: Interpretation, term: Term, at: dict[str, int], index: int, got: list[int], prime: int
) -> str:  # fmt: skip
    """Which element of the right array the left one is multiplied by, if one alone explains a term."""
    values = again.values
    left, right = (next(one for one in again.regions if one.array.name == name)
                   for name in (term.left.name, term.right.name))  # fmt: skip
    here = np.ravel_multi_index([index if one == term.index else at.get(one, 0) for one in term.left.indices],
                                left.array.shape)  # fmt: skip
    own = int(values.residues[index + 1, left.first + int(here)])
    if not own:
        return ""
    scalar = got[index] * pow(own, -1, prime) % prime
    there = values.residues[0, right.first : right.first + len(right.places)] == scalar
    if not there.any():
        return ""
    return f"; it multiplies {left.array.element(int(here))} by {right.array.element(int(there.argmax()))}"


def _stored(again: Interpretation, found: Comparison, first: int) -> list[int]:
    region = next(one for one in again.regions if one.array.name == found.name)
    assert region.stored is not None
    place = region.places[first] * region.size
    label = int(region.stored.labels[place])
    again.values.flush()
    if label >> 3 < FIRST:
        return [0] * len(again.values.primes)
    return [int(one) for one in again.values.residues[:, label >> 3]]


class _Picked(Evaluation):
    """The claim's value for one element of the output alone."""

    def __init__(self, values: Values, arrays: dict[str, Tensor], launch: Launch, at: dict[str, int]) -> None:
        super().__init__(values.primes, arrays, launch.scalars, values.choices, launch.extents, launch.sizes)
        self.at = at

    def __call__(self, node: Node) -> Tensor:
        if isinstance(node, Element):
            found = self.arrays[node.name]
            pick = tuple(
                slice(self.at[one], self.at[one] + 1) if one in self.at else slice(None) for one in node.indices
            )
            return Tensor(node.indices, found.residues[(slice(None), *pick)], found.sample[pick])
        if isinstance(node, Scalar) and node.name in self.at:
            one = super().__call__(node)
            pick = (slice(self.at[node.name], self.at[node.name] + 1),)
            return one._replace(residues=one.residues[(slice(None), *pick)], sample=one.sample[pick])
        return super().__call__(node)


def _of_terms(
    name: str, term: Term, count: int, step: int, got: list[int], want: list[int], prime: int
) -> str:  # fmt: skip
    """The terms of an element in words, from what each probe found and should have found."""
    blocks = range(len(got))
    missing = [one for one in blocks if got[one] == 0 != want[one]]
    double = [one for one in blocks if got[one] == 2 * want[one] % prime != 0]
    right = [one for one in blocks if got[one] == want[one]]
    rest = [one for one in blocks if one not in missing and one not in double and one not in right]
    words = []
    if missing:
        words.append(f"lacks {term.index} = {_ranges(missing, step, count)}")
    if double:
        words.append(f"has {term.index} = {_ranges(double, step, count)} twice")
    if rest and (words or len(rest) < len(got)):
        words.append(f"has other products than {term.left.name}[…]*{term.right.name}[…] at {term.index} = "
                    f"{_ranges(rest, step, count)}")  # fmt: skip
    elif rest:
        words.append(f"has no right term: each of the {count} is a product of other elements")
    return f"{name} {', and '.join(words)}; the sum has {count} terms" if words else ""


def _ranges(blocks: list[int], step: int, count: int) -> str:
    """Blocks of indices as ranges: 0..7, 16..31.

    >>> _ranges([0, 1, 4], 8, 40)
    '0..15, 32..39'
    """
    found: list[list[int]] = []
    for one in blocks:
        low, high = one * step, min((one + 1) * step, count) - 1
        if found and found[-1][1] == low - 1:
            found[-1][1] = high
        else:
            found.append([low, high])
    texts = [str(low) if low == high else f"{low}..{high}" for low, high in found]
    return ", ".join(texts[:8]) + (f" and {len(texts) - 8} more ranges" if len(texts) > 8 else "")

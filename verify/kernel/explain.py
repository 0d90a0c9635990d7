# SPDX-License-Identifier: Apache-2.0
"""Why an element is wrong, in terms of matrices and lanes: the CTA that wrote it is run again.

Once with an eye on every matrix product: its operands must hold one k for each slot, the same in A and B, one m for
each row and one n for each column. The first product that does not is the cause (`WrongProduct`). And once with a probe
for each k, in which all of A but A[.,k] is zero: it says which terms of the sum are missing, doubled or made of other
elements.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from verify.core.verdict import WrongProduct
from verify.kernel.claims.evaluation import Evaluation, NamedTensor
from verify.kernel.claims.expression import Element, Node, Scalar
from verify.kernel.claims.launch import Launch
from verify.kernel.comparison import Comparison
from verify.kernel.data.values import FIRST, Values
from verify.kernel.interpretation import Interpretation
from verify.kernel.near_misses import near_misses
from verify.kernel.online import explain_rescaling
from verify.kernel.second_product import watch_powers
from verify.kernel.state.findings import Finding, Severity
from verify.kernel.wrong_product import ProductTerm, ProductWatch, find_term, list_sources

PROBES = 96  # at most so many terms are distinguished; longer sums are cut into blocks


def explain(
    run: Interpretation, comparison: Comparison, seed: int, budget: int
) -> tuple[list[Finding], WrongProduct | None]:
    """Return the first cause of a wrong element, and which terms its sum has; nothing where neither is found."""
    words = near_misses(run, comparison)
    if run.values.pairs and not words and comparison.written.all():
        words += explain_rescaling(run, seed, budget)
    term = find_term(run.launch.value)
    if term is None or not comparison.written[first := comparison.first_wrong()]:
        return words, None
    stored = comparison.region.stored
    assert stored is not None
    cta = int(stored.writer[comparison.region.places[first] * comparison.region.size]) // run.machine.threads
    exponents = bool(run.values.pairs)
    again = Interpretation(run.kernel, run.launch, Values(seed, exponents=exponents), budget, {})
    where = f"in the product of {term.left.name} and {term.right.name}, " if exponents else ""
    watched = ProductWatch(again, list_sources(again.regions, term), where)
    again.machine.watch = watched
    cause, ended = None, again.finish(cta)
    if ended and exponents and not watched.finding:
        watched = watch_powers(run, seed, budget, cta) or watched
    if ended and watched.finding:
        words.append(watched.finding)
        cause = watched.cause
    text = "" if exponents else _terms(run, comparison, first, cta, term, budget)  # an exponential has no terms
    if text:
        words.append(Finding("wrong sum", Severity.VALUE, 0, text))
    return words, cause


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


def _terms(run: Interpretation, comparison: Comparison, first: int, cta: int, term: ProductTerm, budget: int) -> str:
    """Which terms of a wrong element's sum are missing, doubled or made of other elements, in words."""
    same = (comparison.residues == run.values.residues[:, comparison.ids[first]][:, None]).all(0)
    if same.any():
        owner = comparison.array.element(int(same.argmax()))
        return f"{comparison.array.element(first)} holds the value that belongs to {owner}"
    launch, where = run.launch, np.unravel_index(first, comparison.array.shape)
    at = dict(zip(launch.target.indices, (int(place) for place in where), strict=True))
    count = launch.array(term.left.name).shape[term.left.indices.index(term.index)]
    if not count:
        return ""
    step = -(-count // PROBES)
    rows = -(-count // step) + 1
    values = _Probes(run.values.choices.seed, rows)
    again = Interpretation(run.kernel, launch, values, budget, {})
    left = next(candidate for candidate in again.regions if candidate.array.name == term.left.name)
    span = slice(left.first, left.first + len(left.places))
    block = np.unravel_index(np.arange(len(left.places)), left.array.shape)[term.left.indices.index(term.index)] // step
    values.residues[:, span] *= (block[None, :] == np.arange(-1, rows - 1)[:, None]).astype(np.uint32)
    if not again.finish(cta):
        return ""
    got = _list_stored(again, comparison, first)
    arrays = {}
    for region in again.regions:
        part = slice(region.first, region.first + len(region.places))
        shape = region.array.shape
        residues = values.residues[:, part].astype(np.uint64).reshape(len(values.primes), *shape)
        arrays[region.array.name] = NamedTensor((), residues, np.zeros(shape))
    picked = _Picked(values, arrays, launch, at)
    prime = int(values.primes[0])
    want = np.asarray(picked(launch.value).residues, object).reshape(rows)
    gained = [(int(residue) - int(got[0])) % prime for residue in got[1:]]
    wanted = [(int(residue) - int(want[0])) % prime for residue in want[1:]]
    name = comparison.array.element(first)
    words = _of_terms(name, term, count, step, gained, wanted, prime)
    if not words and int(got[0]) != int(want[0]):
        return f"{name} is wrong in a part that has no {term.left.name}"
    odd = [probe for probe in range(len(gained)) if gained[probe] not in (0, wanted[probe], 2 * wanted[probe] % prime)]
    return words + (_partner(again, term, at, odd[0], gained, prime) if odd and step == 1 else "")


def _partner(
    again: Interpretation, term: ProductTerm, at: dict[str, int], index: int, got: list[int], prime: int
) -> str:  # fmt: skip
    """Which element of the right array the left one is multiplied by, if one alone explains a term."""
    values = again.values
    left, right = (next(region for region in again.regions if region.array.name == name)
                   for name in (term.left.name, term.right.name))  # fmt: skip
    here = np.ravel_multi_index([index if name == term.index else at.get(name, 0) for name in term.left.indices],
                                left.array.shape)  # fmt: skip
    own = int(values.residues[index + 1, left.first + int(here)])
    if not own:
        return ""
    scalar = got[index] * pow(own, -1, prime) % prime
    there = values.residues[0, right.first : right.first + len(right.places)] == scalar
    if not there.any():
        return ""
    return f"; it multiplies {left.array.element(int(here))} by {right.array.element(int(there.argmax()))}"


def _list_stored(again: Interpretation, comparison: Comparison, first: int) -> list[int]:
    region = next(candidate for candidate in again.regions if candidate.array.name == comparison.name)
    assert region.stored is not None
    place = region.places[first] * region.size
    label = int(region.stored.labels[place])
    again.values.flush()
    if label >> 3 < FIRST:
        return [0] * len(again.values.primes)
    return [int(residue) for residue in again.values.residues[:, label >> 3]]


class _Picked(Evaluation):
    """The claim's value for one element of the output alone."""

    def __init__(self, values: Values, arrays: dict[str, NamedTensor], launch: Launch, at: dict[str, int]) -> None:
        super().__init__(values.primes, arrays, launch.scalars, values.choices, launch.extents, launch.sizes)
        self.at = at

    def __call__(self, node: Node) -> NamedTensor:
        if isinstance(node, Element):
            tensor = self.arrays[node.name]
            assert isinstance(tensor, NamedTensor)
            pick = tuple(
                slice(self.at[index], self.at[index] + 1) if index in self.at else slice(None) for index in node.indices
            )
            return NamedTensor(node.indices, tensor.residues[(slice(None), *pick)], tensor.sample[pick])
        if isinstance(node, Scalar) and node.name in self.at:
            scalar = super().__call__(node)
            pick = (slice(self.at[node.name], self.at[node.name] + 1),)
            return scalar._replace(residues=scalar.residues[(slice(None), *pick)], sample=scalar.sample[pick])
        return super().__call__(node)


def _of_terms(
    name: str, term: ProductTerm, count: int, step: int, got: list[int], want: list[int], prime: int
) -> str:  # fmt: skip
    """Return the terms of an element in words, from what each probe found and should have found."""
    blocks = range(len(got))
    missing = [block for block in blocks if got[block] == 0 != want[block]]
    double = [block for block in blocks if got[block] == 2 * want[block] % prime != 0]
    right = [block for block in blocks if got[block] == want[block]]
    rest = [block for block in blocks if block not in missing and block not in double and block not in right]
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
    ranges: list[list[int]] = []
    for block in blocks:
        low, high = block * step, min((block + 1) * step, count) - 1
        if ranges and ranges[-1][1] == low - 1:
            ranges[-1][1] = high
        else:
            ranges.append([low, high])
    texts = [str(low) if low == high else f"{low}..{high}" for low, high in ranges]
    return ", ".join(texts[:8]) + (f" and {len(texts) - 8} more ranges" if len(texts) > 8 else "")

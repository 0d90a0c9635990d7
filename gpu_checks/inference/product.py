# SPDX-License-Identifier: Apache-2.0
"""Products of random exact integers through given maps; a map says which matrix element each lane and value holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpu_checks.arrays import np
from gpu_checks.inference.sparse import FIELDS, words_of
from gpu_checks.kernels.forms import plain_form
from gpu_checks.kernels.packing import NUMBERS, Ints, Words, operands_as_words, pack, second_difference, unpack
from gpu_checks.machine import ProbeMachine
from gpu_checks.model import Labels, Metadata
from isa_tables.signature import Fragment, Signature

if TYPE_CHECKING:
    import numpy.typing as npt

Maps = Mapping[str, Labels]


@dataclass(frozen=True, slots=True)
class RandomProducts:
    """Random products: the words of their operands, and the expected values of D."""

    words: Mapping[str, Words]  # of A, B, C and, of a sparse instruction, the metadata: [trial][lane][word]
    expected: Ints  # [trial][lane][value] of D


def multiply_on(
    machine: ProbeMachine, signature: Signature, maps: Maps, trials: int, seed: int, metadata: Metadata | None = None
) -> int:
    """How many D elements of `trials` random products differ from A @ B + C: zero says that the maps fit.

    The maps then fit the instruction up to relabelling m, n and k. Raises ValueError as `random_products` does.
    """
    products = random_products(signature, maps, trials, seed, metadata)
    return wrong(multiply(machine, signature, [products])[0], products.expected)


def wrong(shown: npt.NDArray[np.float64], expected: Ints) -> int:
    """How many elements of D are not as expected."""
    return int(np.count_nonzero(shown != expected))


def multiply(
    machine: ProbeMachine, signature: Signature, several: Sequence[RandomProducts]
) -> list[npt.NDArray[np.float64]]:
    """D, [trial][lane][value], of each of several sets of products, which are issued together."""
    words = {name: np.concatenate([products.words[name] for products in several]) for name in several[0].words}
    result = unpack(
        operands_as_words(plain_form(signature))["D"][1],
        machine.begin(signature, words["A"], words["B"], words["C"], words.get("fixed"))(),
    )
    return np.split(result, np.cumsum([len(products.expected) for products in several])[:-1])


def random_products(
    signature: Signature, maps: Maps, trials: int, seed: int, metadata: Metadata | None = None
) -> RandomProducts:
    """Random matrices distributed over lanes and values by the maps, and the products expected of them.

    `maps[x][lane][value]` is the (row, col) of the operand that the element holds, or (row, col, product)
    for an instruction that makes several products at once; without it all products get the same matrices.
    D uses C's map unless it has its own. ValueError when a map does not have the operand's shape or leaves its tile.
    A matrix in shared memory is one lane that holds its plainest image. The columns of A of a sparse
    instruction are those stored, and `metadata` gives their k; each trial draws its own metadata.
    """
    as_words = operands_as_words(plain_form(signature))
    full = _check_maps(signature, maps, as_words)
    random = np.random.default_rng(seed)
    products = 1 + max(int(labels[..., 2].max()) for labels in full.values())
    drawn = {name: _draw(random, as_words, name, (trials, products)) for name in "ABC"}
    distributed = {name: _distribute(drawn[name], full[name]) for name in "ABC"}
    words = {}
    if metadata is not None:
        words["fixed"], k = random_metadata(metadata, random, trials, signature.lanes)
        drawn["A"] = _spread_stored(distributed["A"], full["A"], k, drawn["B"].shape[-2])
    words |= {name: pack(as_words[name][1], distributed[name]) for name in "ABC"}
    expected = drawn["C"] + _times(drawn["A"], drawn["B"])
    if second_difference(signature) < 0:  # a xor b = a + b - 2ab
        counts = drawn["A"].sum(axis=-1)[..., None] + drawn["B"].sum(axis=-2)[..., None, :]
        expected = drawn["C"] + counts - 2 * _times(drawn["A"], drawn["B"])
    return RandomProducts(words, _distribute(expected, full["D"]))


def random_metadata(
    metadata: Metadata, random: np.random.Generator, trials: int, lanes: int
) -> tuple[Words, npt.NDArray[np.int64]]:
    """Random valid metadata for the first selector, and the k class of every stored element under it."""
    values = np.array(list(metadata.kept))
    ways = np.stack(list(metadata.kept.values()))
    lane, field = np.moveaxis(next(iter(metadata.rulers.values())), -1, 0)
    chosen = random.integers(0, len(values), (trials, lanes, FIELDS))
    at = chosen[:, lane, field]
    return words_of(values[chosen]), np.take_along_axis(ways[None], at[:, None], axis=1)[:, 0]


def _spread_stored(distributed: Ints, labels: Labels, k: npt.NDArray[np.int64], columns: int) -> Ints:
    """Return a with its stored elements at the k that the metadata give them: [trial][product][row][k]."""
    rows = 1 + int(labels[..., 0].max())
    whole = np.zeros((len(distributed), 1, rows, columns), np.int64)
    whole[np.arange(len(distributed))[:, None, None], 0, labels[..., 0], k] = distributed
    return whole


def _times(a: Ints, b: Ints) -> Ints:
    """Return a @ B; in float64, where all these integers are exact and the product is fast."""
    return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64)


def _draw(
    random: np.random.Generator, as_words: Mapping[str, tuple[int, Fragment]], name: str, lead: tuple[int, int]
) -> Ints:
    """Random integers: A and B in the range of their type, C such that D holds the sum exactly."""
    fragment = as_words[name][1]
    number = NUMBERS[fragment.type]
    low, high = number.low, number.high
    if name == "C":
        lows, highs = zip(number.accumulates, NUMBERS[as_words["D"][1].type].accumulates, strict=True)
        low, high = max(lows), min(highs)
    return random.integers(low, high, (*lead, *fragment.extent), np.int64, endpoint=True)


def _distribute(matrices: Ints, labels: Labels) -> Ints:
    """Elements [trial][lane][value] of matrices [trial][product][row][col]."""
    rows, columns = matrices.shape[2:]
    place = (labels[..., 2] * rows + labels[..., 0]) * columns + labels[..., 1]
    distributed: Ints = matrices.reshape(len(matrices), -1).take(place, axis=1)
    return distributed


def _check_maps(
    signature: Signature, maps: Maps, as_words: Mapping[str, tuple[int, Fragment]]
) -> dict[str, npt.NDArray[np.int64]]:
    """Return the maps of A, B, C and D with a product column, or ValueError."""
    kinds = [as_words[name][1].type for name in "DC"]
    if "D" not in maps and kinds[0] != kinds[1]:
        text = f"{signature.mnemonic}: D is {kinds[0]} and C {kinds[1]}: D needs its own map"
        raise ValueError(text)
    full = {}
    for name in "ABCD":
        labels = np.asarray(maps[name if name in maps else "C"])
        lanes, fragment = as_words[name]
        if labels.shape not in {(lanes, fragment.values, width) for width in (2, 3)}:
            want = (lanes, fragment.values, 2)
            raise ValueError(f"{signature.mnemonic}: the map of {name} has shape {labels.shape}, not {want}")
        if labels.shape[-1] == 2:
            labels = np.concatenate([labels, np.zeros_like(labels[..., :1])], axis=-1)
        limits = np.array([*fragment.extent, signature.products])
        if ((labels < 0) | (labels >= limits)).any():
            lane, value = np.argwhere(((labels < 0) | (labels >= limits)).any(axis=-1))[0].tolist()
            got, tile = tuple(labels[lane, value].tolist()), tuple(limits.tolist())
            raise ValueError(f"{signature.mnemonic}: {name} lane {lane} value {value} is {got}, outside {tile}")
        full[name] = labels.astype(np.int64)
    return full

# SPDX-License-Identifier: Apache-2.0
"""Products of random exact integers through given maps: the map says where each matrix element goes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from gpu_checks.machine import Machine
from gpu_checks.packing import NUMBERS, Ints, interaction, pack, unpack
from gpu_checks.values import Labels
from isa_tables.signature import Signature

Maps = Mapping[str, Labels]


def multiply_on(machine: Machine, signature: Signature, maps: Maps, trials: int, seed: int) -> int:
    """How many D elements of `trials` random products differ from A @ B + C.

    `maps[x][lane][value]` is the (row, col) of the operand that the element holds, or (row, col, product)
    for an instruction that makes several products at once; without it all products get the same matrices.
    D uses C's map unless it has its own. Zero mismatches say that the maps fit the instruction up to
    relabelling m, n and k; ValueError when a map does not have the operand's shape or leaves its tile.
    """
    full = _checked(signature, maps)
    random = np.random.default_rng(seed)
    products = 1 + max(int(labels[..., 2].max()) for labels in full.values())
    drawn = {name: _draw(random, signature, name, (trials, products)) for name in "ABC"}
    words = {name: pack(signature.operands[name], _deal(drawn[name], full[name])) for name in "ABC"}
    expected = drawn["C"] + _times(drawn["A"], drawn["B"])
    if interaction(signature) < 0:  # a xor b = a + b - 2ab
        ones = drawn["A"].sum(axis=-1)[..., None] + drawn["B"].sum(axis=-2)[..., None, :]
        expected = drawn["C"] + ones - 2 * _times(drawn["A"], drawn["B"])
    result = unpack(signature.operands["D"], machine.run(signature, words["A"], words["B"], words["C"]))
    return int(np.count_nonzero(result != _deal(expected, full["D"])))


def _times(a: Ints, b: Ints) -> Ints:
    """A @ B; in float64, where all these integers are exact and the product is fast."""
    return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64)


def _draw(random: np.random.Generator, signature: Signature, name: str, lead: tuple[int, int]) -> Ints:
    fragment = signature.operands[name]
    number = NUMBERS[fragment.type]
    low, high = number.accumulates if name == "C" else (number.low, number.high)
    return random.integers(low, high, (*lead, *fragment.extent), np.int64, endpoint=True)


def _deal(matrices: Ints, labels: Labels) -> Ints:
    """Elements [trial][lane][value] of matrices [trial][product][row][col]."""
    return matrices[:, labels[..., 2], labels[..., 0], labels[..., 1]]


def _checked(signature: Signature, maps: Maps) -> dict[str, npt.NDArray[np.int64]]:
    """The maps of A, B, C and D with a product column, or ValueError."""
    operands = signature.operands
    if "D" not in maps and operands["D"].type != operands["C"].type:
        text = f"{signature.mnemonic}: D is {operands['D'].type} and C {operands['C'].type}: D needs its own map"
        raise ValueError(text)
    full = {}
    for name in "ABCD":
        labels = np.asarray(maps[name if name in maps else "C"])
        fragment = operands[name]
        if labels.shape not in {(signature.lanes, fragment.values, width) for width in (2, 3)}:
            want = (signature.lanes, fragment.values, 2)
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

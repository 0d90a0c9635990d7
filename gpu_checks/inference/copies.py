# SPDX-License-Identifier: Apache-2.0
"""Which byte a copy between memory and registers takes from where: its own kernel, run on numbered bytes.

Every byte of the source is numbered from 1: a run for each digit of the numbers, and what arrives names the byte it
came from. 255 isn't a digit: it marks the bytes that nothing was moved to. The addresses that the lanes give are drawn
at random, anew in every trial.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from gpu_checks.arrays import np
from gpu_checks.kernels import tensor_memory
from gpu_checks.kernels.copies import ROW, ROWS, loads, registers

if TYPE_CHECKING:
    import numpy.typing as npt

    from gpu_checks.kernels.packing import Words
    from gpu_checks.machine import ProbeMachine
    from gpu_checks.model import Labels
    from isa_tables.signature import Signature

_DIGITS = 255  # values of a byte that number its source; the 256th, 255, marks a byte that nothing wrote
Bytes: TypeAlias = "npt.NDArray[np.int64]"


def observe(
    machine: ProbeMachine, signature: Signature, trials: int = 8, seed: int = 0
) -> tuple[Labels, tuple[str, ...]]:
    """[lane][register byte] -> (lane, byte) that it comes from or goes to, and what did not fit.

    For ldmatrix and stmatrix that lane gave the address of the row, and the byte is counted in the row; for
    movmatrix lane and byte are those of the source register; for tcgen05 they are a lane of Tensor Memory and a byte
    behind the address. -1 where the byte was not moved, or to several places, or differently in different trials.
    Raises Unsupported or DeviceFault as the machine does.
    """
    count = registers(signature).regs
    random = np.random.default_rng(seed)
    inside = np.arange(32 * count * 4).reshape(32, count * 4)
    tensor = tensor_memory.fits(signature)
    shape = (tensor_memory.LANES, 4 * tensor_memory.COLUMNS) if tensor else (ROWS, ROW)
    rows = np.stack([_addresses(signature, random) for _ in range(trials)])
    memory = np.arange(shape[0] * shape[1]).reshape(shape)
    image, taken = _numbers(machine, signature, memory, inside, rows)
    observed = []
    for trial in range(trials):
        if not tensor and "P" not in signature.operands:
            observed.append(_places(taken[trial], inside.shape[1]))
            continue
        source = taken[trial] if loads(signature) else _inverse(image[trial], inside.size).reshape(inside.shape)
        lane_of_row = np.full(shape[0], -1)
        lane_of_row[np.arange(shape[0]) if tensor else rows[trial]] = np.arange(shape[0] if tensor else 32)
        lane = np.where(source < 0, -1, lane_of_row[source // shape[1]])
        byte = source % shape[1] - (4 * rows[trial, 0] if tensor else 0)
        observed.append(np.stack([lane, np.where(lane < 0, -1, byte)], axis=-1))
    same = (np.stack(observed) == observed[0]).all(axis=(0, -1))
    places = np.where(same[..., None], observed[0], -1).astype(np.int64)
    return places, notes_on(places, same)


def _addresses(signature: Signature, random: np.random.Generator) -> Bytes:
    """Return what each lane gives: a row of its own, or the same column of Tensor Memory as all others."""
    if tensor_memory.fits(signature):
        return np.full(32, random.integers(tensor_memory.room(signature) + 1))
    return random.permutation(ROWS)[:32]


def _numbers(
    machine: ProbeMachine, signature: Signature, memory: Bytes, inside: Bytes, rows: Bytes
) -> tuple[Bytes, Bytes]:
    """Which source byte arrived in each byte of memory and of the registers, -1 for none of them: [trial][...]."""
    source, target = (memory, inside) if loads(signature) else (inside, memory)
    blank, place = np.full(target.shape, _DIGITS), 1
    arrived: list[Bytes] = [np.zeros((len(rows), *part.shape), np.int64) for part in (memory, inside)]
    empty = [np.zeros(part.shape, bool) for part in arrived]
    while place <= source.size:
        numbered = (source + 1) // place % _DIGITS
        pair = (numbered, blank) if source is memory else (blank, numbered)
        words = [np.broadcast_to(_words(part), (len(rows), *_words(part).shape)) for part in pair]
        for at, part in enumerate(machine.move(signature, words[0], rows.astype(np.uint32), words[1])):
            digit = _bytes(part)
            empty[at] |= digit == _DIGITS
            arrived[at] += place * digit
        place *= _DIGITS
    image, taken = (
        np.where(none | (numbers > source.size), -1, numbers - 1) for none, numbers in zip(empty, arrived, strict=True)
    )
    return image, taken


def _inverse(arrived: Bytes, size: int) -> Bytes:
    """Source byte -> the one place where it arrived, -1 for none or several."""
    flat = arrived.reshape(-1)
    moved = flat[flat >= 0]
    once = np.bincount(moved, minlength=size) == 1
    place = np.full(size, -1)
    place[moved] = np.flatnonzero(flat >= 0)
    return np.where(once, place, -1)


def _places(source: Bytes, width: int) -> Bytes:
    lane, byte = np.divmod(source, width)
    return np.stack([np.where(source < 0, -1, lane), np.where(source < 0, -1, byte)], axis=-1)


def notes_on(places: Labels, same: npt.NDArray[np.bool_]) -> tuple[str, ...]:
    """Return what makes a copy unsound, from the place of each register byte and whether it was so in every trial."""
    unmoved, unsteady = int((places[..., 0] < 0).sum()), int((~same).sum())
    pairs = places[places[..., 0] >= 0]
    repeated = len(pairs) - len(set(map(tuple, pairs.tolist())))
    return (
        *([f"{unmoved} register bytes are not moved to or from one byte"] if unmoved else []),
        *([f"{unsteady} register bytes move differently for other addresses"] if unsteady else []),
        *([f"{repeated} register bytes share their byte with another"] if repeated else []),
    )


def _words(numbers: Bytes) -> Words:
    return np.ascontiguousarray(numbers.astype(np.uint8)).view("<u4").astype(np.uint32)


def _bytes(words: Words) -> Bytes:
    return np.ascontiguousarray(words, "<u4").view(np.uint8).astype(np.int64)

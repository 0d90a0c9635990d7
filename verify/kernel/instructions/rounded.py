# SPDX-License-Identifier: Apache-2.0
"""Float arithmetic on plain bits: the bits that a GPU computes, and next to them the exact value that they round.

A result that is exact is plain bits. One that is rounded is a value of exact arithmetic, so that a kernel that scales
by 1/3 equals a claim that divides by 3; its bits are kept too (`Values.rounded`), for whatever reads bits: comparisons,
conversions to integers, stores as another type. Where the two differ by more than a few roundings (a clamp, a sum that
cancels what was rounded away, an overflow), the bits are the truth, and the exact value is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isa_tables.semantics import Meaning
from verify.kernel.data import floats
from verify.kernel.data.floats import NAN, FloatNumber
from verify.kernel.data.registers import Word, constants, word
from verify.kernel.data.values import MANTISSA, SIZE, Bits, Ids, Mask, Values

Result: TypeAlias = tuple[int | None, bool]  # the bits, None where the ISA leaves them open; whether it is exact
Scalar: TypeAlias = Callable[..., Result]
_BYTE = np.arange(8, dtype=np.uint32)  # the bytes of f64, the widest float that is rounded


def flags_of(meaning: Meaning) -> tuple[str, ...]:
    """Return the modifiers of an opcode that change the bits of a float: its rounding, and what clamps or flushes."""
    there = {name for name in ("ftz", "sat", "relu", "satfinite", "NaN") if name in meaning.words}
    chosen = {meaning.words.get(name, "") for name in ("rounding", "clamp", "sign")}
    return tuple(sorted((there | chosen) - {""}))


@lru_cache(maxsize=1 << 16)
def arithmetic(head: str, name: str, words: tuple[str, ...], *bits: int) -> Result:
    """Compute one instruction of float arithmetic on bits; `words` are its rounding and its flags."""
    flush = "ftz" in words
    operands = [floats.unpack(each, name, flush) for each in bits]
    rounding = next((each for each in words if each in ("rz", "rm", "rp")), "rn")
    if head in ("neg", "abs") and name == "f64" and operands[0].kind == NAN:
        return None, True  # "an unspecified NaN"
    if head in ("min", "max"):
        number = _extremum(head == "max", operands, words)
    else:
        number = _OPERATIONS[head](operands, rounding)
    inexact = head in ("min", "max", "abs") and all(each.kind == floats.FINITE for each in operands)
    made, exact = finish(number, name, rounding, words)
    return made, exact and not inexact  # claims know these by their arguments, so their values stay functions of them


def finish(number: FloatNumber, name: str, rounding: str, words: Sequence[str], payload: bool = False) -> Result:
    """Round a number to a format, clamped as the flags say: sat to [0, 1], relu to what is not negative."""
    clamped = number
    if "sat" in words and (number.kind == NAN or floats.is_less(number, floats.ZERO)):
        clamped = floats.ZERO
    elif "sat" in words and floats.is_less(floats.ONE, number):
        clamped = floats.ONE
    elif "relu" in words and number.kind != NAN and number.negative:
        clamped = floats.ZERO
    keep = payload or name == "f64"
    bits, exact = floats.pack(clamped, name, rounding, "ftz" in words, "satfinite" in words, keep)
    return bits, exact and (clamped is number or number.kind == NAN or not number.significand)


def _extremum(most: bool, operands: Sequence[FloatNumber], words: Sequence[str]) -> FloatNumber:
    """Return the minimum or maximum: of a NaN and a number it is the number, unless NaN is asked for."""
    negative = operands[0].negative != operands[1].negative
    a, b = (each._replace(negative=False) if "xorsign.abs" in words else each for each in operands)
    if NAN in (a.kind, b.kind):
        chosen = b if (a.kind == NAN) != ("NaN" in words) else a
        chosen = floats.INVALID if a.kind == b.kind == NAN else chosen
    else:
        chosen = a if floats.is_less(b, a) == most else b
    return chosen._replace(negative=negative) if "xorsign.abs" in words and chosen.kind != NAN else chosen


_OPERATIONS: dict[str, Callable[[Sequence[FloatNumber], str], FloatNumber]] = {
    "add": lambda of, rounding: floats.add(of[0], of[1], rounding),
    "sub": lambda of, rounding: floats.add(of[0], of[1] if of[1].kind == NAN else floats.negate(of[1]), rounding),
    "mul": lambda of, rounding: floats.multiply(of[0], of[1]),
    "fma": lambda of, rounding: floats.add(floats.multiply(of[0], of[1]), of[2], rounding),
    "neg": lambda of, rounding: floats.negate(of[0]),
    "abs": lambda of, rounding: of[0]._replace(negative=False),
    "rcp": lambda of, rounding: floats.divide(floats.ONE, of[0]),
    "div": lambda of, rounding: floats.divide(of[0], of[1]),
    "sqrt": lambda of, rounding: floats.root(of[0]),
}
_OPERATIONS["mad"] = _OPERATIONS["fma"]


def as_floats(bits: Bits, name: str) -> NDArray[np.float64]:
    """Plain bits as numbers, for a comparison or a tolerance."""
    if name == "f64":
        return bits.view(np.float64)
    if name == "f16":
        return bits.astype(np.uint16).view(np.float16).astype(np.float64)
    if name in ("f32", "bf16", "tf32"):
        single = bits << np.uint64(16) if name == "bf16" else bits
        with np.errstate(invalid="ignore"):  # a signaling NaN is one
            return single.astype(np.uint32).view(np.float32).astype(np.float64)
    numbers = (floats.unpack(int(each), name) for each in bits)
    return np.array([(-1.0) ** each.negative * each.significand * 2.0**each.exponent for each in numbers])


def elementwise(bits: Bits, name: str, width: int) -> Bits:
    """Return the elements (threads, values) of plain registers of so many bytes.

    >>> elementwise(np.array([0x12345678], np.uint64), "f16", 4)[0].tolist() == [0x5678, 0x1234]
    True
    """
    size = 8 * SIZE[name]
    places = np.arange(width // SIZE[name], dtype=np.uint64) * np.uint64(size)
    return (bits[:, None] >> places) & np.uint64((1 << size) - 1)


def pack(elements: Bits, name: str) -> Bits:
    """Return the plain registers of elements (threads, values)."""
    places = np.arange(elements.shape[1], dtype=np.uint64) * np.uint64(8 * SIZE[name])
    return np.asarray((elements << places).sum(1, dtype=np.uint64))


def by_distinct(compute: Scalar, columns: Sequence[Bits]) -> tuple[Bits, Mask, Mask, NDArray[Any], NDArray[np.intp]]:
    """Compute each distinct tuple of operands once: bits, where open, where exact; the tuples; their places."""
    stack = np.stack(np.broadcast_arrays(*columns))
    varying = (stack != stack[:, :1]).any(1)
    if not varying.any():
        distinct, place = stack[:, :1], np.zeros(stack.shape[1], np.intp)
    elif varying.sum() == 1:  # numbers are sorted far faster than tuples
        _, first, place = np.unique(stack[varying][0], return_index=True, return_inverse=True)
        distinct = stack[:, first]
    else:
        distinct, place = np.unique(stack, axis=1, return_inverse=True)
    computed = [compute(*column) for column in distinct.T.tolist()]
    bits = np.array([each or 0 for each, _ in computed], np.uint64)
    is_open = np.array([each is None for each, _ in computed])
    return bits, is_open, np.array([exact for _, exact in computed]), distinct, place.reshape(-1)


def result(  # noqa: PLR0913, PLR0917 - the instruction, its operands twice, and the formats between which it computes
    values: Values, given: Sequence[Word], plain: Sequence[Word], source: str, target: str, width: int,
    compute: Scalar, exactly: Callable[[Sequence[Ids]], Ids], mask: Mask | None, why: str,
) -> Word:  # fmt: skip
    """Return the register of results on plain bits: `plain` are the operands' bits, `given` what they were before."""
    operands = [elementwise(each.bits, source, width) for each in plain]
    rounded = [_hold(values, each, source, width) for each in given]
    parts: list[NDArray[Any]] = list(np.broadcast_arrays(*operands, *rounded))
    shape = parts[0].shape
    if mask is not None and shape[0] > 1:  # other threads hold anything: they get what the first of these threads gets
        first = int(mask.argmax())
        parts = [np.where(mask[:, None], each, each[first]) for each in parts]
    columns = [each.reshape(-1).astype(np.uint64) for each in parts]
    many = len(operands)
    bits, is_open, exact, distinct, place = by_distinct(lambda *column: compute(*column[:many]), columns)
    ids = np.zeros(len(bits), np.uint32)
    shadowed = ~is_open & ~(exact & ~distinct[many:].any(0))
    if shadowed.any():
        ids[shadowed] = _shadows(values, distinct[:, shadowed], many, source, target, bits[shadowed], exactly)
    if is_open.any():
        ids[is_open] = values.reason(why)
    size = SIZE[target]
    bits = np.where(ids > 0, np.uint64(0), bits)[place].reshape(shape)
    if not ids.any():
        return Word(pack(bits, target))
    spread = ids[place].reshape(shape)
    labels = np.where((spread > 0)[:, :, None], (spread << np.uint32(3))[:, :, None] + _BYTE[:size], np.uint32(0))
    return word(pack(bits, target), labels.reshape(shape[0], -1))


def _hold(values: Values, given: Word, name: str, width: int) -> Ids:
    """Return the ids (threads or 1, values) of the values that a register holds, 0 where it holds plain bits."""
    if given.plain:
        return np.zeros((1, 1), np.uint32)
    ids = given.elements(values, name, width)
    return np.where(given.wide(width).reshape(len(ids), ids.shape[1], -1).any(2), ids, np.uint32(0))


def _shadows(
    values: Values, columns: NDArray[Any], many: int, source: str, target: str, bits: Bits,
    exactly: Callable[[Sequence[Ids]], Ids],
) -> Ids:  # fmt: skip
    """Return the ids of the exact values that results round; 0 where the bits are not near."""
    operands = [
        np.where(column > 0, column, constants(values, plain, source, 1)[:, 0]).astype(np.uint32)
        for plain, column in zip(columns[:many], columns[many:], strict=True)
    ]
    with np.errstate(all="ignore"):  # of samples: what overflows is not near
        ids = exactly(operands)
        values.flush()
        exact = values.sample[ids]
        number = as_floats(bits, target)
        bound = 2.0 ** -min(MANTISSA[target] - 4, 40) * np.abs(exact)
        near = (np.abs(number - exact) <= bound) & (values.marks("cause", ids) == 0)
    for each, known in zip(ids[near].tolist(), bits[near].tolist(), strict=True):
        values.rounded[each] = known
    return np.where(near, ids, 0).astype(np.uint32)

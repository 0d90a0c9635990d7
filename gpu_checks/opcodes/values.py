# SPDX-License-Identifier: Apache-2.0
"""The values on which opcodes are probed: those at the edges of each type, then seeded random ones, for 128 lanes.

A column is one operand in all lanes, as 64-bit words whose lowest bits are the value; the bits above it are random,
since an instruction must not read them. Lanes 0 to 63 pair edges with edges, lanes 64 to 79 give every operand the same
edge, so that comparisons meet equal operands, lanes 80 to 103 hold floats of about the same size, and lanes 104 to 127
pair edges with random bits.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from hashlib import shake_128

from gpu_checks.arrays import np
from gpu_checks.device.cuda import Array

LANES = 128  # four warps: lanes with equal operands, near ones and special ones fit beside random ones
_EQUAL = range(64, 80)  # lanes whose operands are equal
_NEAR = range(80, 104)  # lanes whose floats have about the same size
# Integers at which a conversion or a product changes: the ends of each width and of each significand, and patterns.
_WHOLE = (
    0, 1, 2, 3, 5, 7, 8, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 32767, 32768, 65535, 65536, 65537,
    2**24 - 1, 2**24 + 1, 2**24 + 3, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1, 2**32, 2**32 + 1, 0x00FF00FF, 0x7F80FF01,
    2**53 + 1, 2**63 - 1, 2**63, 2**63 + 1, 0xFFFFFF0000000001, 0x0123456789ABCDEF,
)  # fmt: skip
# Numbers at which a conversion rounds, saturates or flushes: ties, and the ends of each format and integer type.
_REAL = (
    0.0, 1.0, 1.5, 0.5, 2.5, 3.5, 0.3, 3.7, 100.0, 127.5, 128.0, 255.5, 256.0, 448.0, 464.0, 480.0, 2049.0, 32767.5,
    32768.0, 57344.0, 61440.0, 65504.0, 65519.0, 65520.0, 65535.5, 65536.0, 2.0**24 + 3, 2.0**31 - 1, 2.0**31,
    2.0**31 + 1, 2.0**32 - 1, 2.0**32, 2.0**53 + 2, 2.0**63, 2.0**64, 1e19, 1e30, 3.4028e38, 3.5e38, 1e300, 1e-5, 6e-8,
    2.0**-9, 2.0**-14, 2.0**-24, 2.0**-126, 1e-40, 2.0**-149, 1e-310,
)  # fmt: skip
_SPECIAL = {  # infinities, NaNs with payloads and signs, quiet and signalling, the smallest and largest numbers
    "f16": (0x7C00, 0xFC00, 0x7E00, 0xFE01, 0x7D00, 0x0001, 0x83FF, 0x0400, 0x7BFF, 0xFBFF),
    "bf16": (0x7F80, 0xFF80, 0x7FC0, 0xFFC1, 0x7F90, 0x0001, 0x807F, 0x0080, 0x7F7F, 0xFF7F),
    "f32": (0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7FA00000, 1, 0x807FFFFF, 0x00800000, 0x7F7FFFFF,
            0xFF7FFFFF, 0x4F000001, 0xCF000001, 0x3EFFFFFF, 0x4B400001),
    "f64": (0x7FF << 52, 0xFFF << 52, 0x7FF8 << 48, (0xFFF8 << 48) + 1, 0x7FF4 << 48, 1, (0x800F << 48) + 1, 1 << 52,
            (0x7FF << 52) - 1, (0xFFF << 52) - 1, 0x41DFFFFFFFE00000, 0xC1E0000000100000, 0x41EFFFFFFFE00000,
            0x36A0000000000000, 0x47EFFFFFF0000000, 0x3810000000000000),
    "e4m3": (0x7F, 0xFF, 0x7E, 0x01, 0x08, 0x38, 0xB8),
    "e5m2": (0x7F, 0x7C, 0xFC, 0x7B, 0x01, 0x04, 0x3C, 0xBC, 0x7D),
}  # fmt: skip
_EXPONENT = {"f16": (10, 15), "bf16": (7, 127), "f32": (23, 127), "f64": (52, 1023)}  # bits below, bias
PACKED = {
    "f16x2": "f16", "bf16x2": "bf16", "f32x2": "f32", "e4m3x2": "e4m3", "e5m2x2": "e5m2",
    "u16x2": "u16", "s16x2": "s16",
}  # fmt: skip
# The width of each type: PTX ISA 5.2, fundamental, alternate and packed types.
BITS = {
    **{f"{letter}{bits}": bits for letter in "bus" for bits in (8, 16, 32, 64, 128)},
    **{"f16": 16, "bf16": 16, "f32": 32, "f64": 64, "tf32": 32, "e4m3": 8, "e5m2": 8, "pred": 1},
    **{"f16x2": 32, "bf16x2": 32, "u16x2": 32, "s16x2": 32, "f32x2": 64, "e4m3x2": 16, "e5m2x2": 16},
}


@cache
def column(kind: str, place: int) -> Array:
    """Return the values of operand number `place` of a type, one for each lane."""
    return _spread_over(_value(kind, place), BITS[kind], f"{kind} {place}")


def draw_choices(choices: Sequence[int], name: str) -> Array:
    """Return one of the choices for each lane: each of them in turn, then random ones."""
    numbers = _numbers(f"{name} {sorted(choices)}", 8)
    given = [choices[lane] if lane < len(choices) else choices[next(numbers) % len(choices)] for lane in range(LANES)]
    return np.array(given, np.uint64)


@cache
def octets(kind: str, count: int) -> Array:
    """Return `count` bytes of memory for each lane, filled with values of a type: [lane][byte]."""
    size = max(BITS[kind] // 8, 1)
    if size > 8:
        kind, size = "b64", 8
    columns = [column(kind, place) for place in range(count // size)]
    return np.concatenate([words.astype("<u8").view(np.uint8).reshape(LANES, 8)[:, :size] for words in columns], 1)


def _spread_over(value: Callable[[int], int], bits: int, name: str) -> Array:
    """Return the values with random bits above them."""
    above = _numbers(f"above {name}", 8)
    given = [value(lane) & ((1 << bits) - 1) | next(above) << bits for lane in range(LANES)]
    return np.array([number & ((1 << 64) - 1) for number in given], np.uint64)


def _value(kind: str, place: int) -> Callable[[int], int]:
    """Return the function that gives the value of a lane."""
    if kind in PACKED:
        part = PACKED[kind]
        low, high = _value(part, 2 * place), _value(part, 2 * place + 1)
        return lambda lane: low(lane) & ((1 << BITS[part]) - 1) | high(lane) << BITS[part]
    bits, edges = min(BITS[kind], 64), _edges(kind)
    first, anywhere = _shuffle(edges, kind, 0), list(_some(_numbers(f"{kind} {place}", 8)))
    own = _shuffle(edges, kind, place)

    def value(lane: int) -> int:
        if lane in _EQUAL:
            return first[lane % len(first)]
        if lane in _NEAR:
            return _near(anywhere[lane], kind, bits)
        if lane < _EQUAL.start or not place:
            return own[(lane if lane < _NEAR.start else lane - len(_NEAR)) % len(own)]
        return anywhere[lane]

    return value


def _near(number: int, kind: str, bits: int) -> int:
    """Return a float whose size is between 1/4 and 8, made of a random number; of another type the number itself."""
    if kind not in _EXPONENT:
        return number
    below, bias = _EXPONENT[kind]
    return number >> 63 << (bits - 1) | bias - 2 + number % 5 << below | (number >> 3) & ((1 << below) - 1)


@cache
def _edges(kind: str) -> tuple[int, ...]:
    """Return the values at the edges of a type, as bits, each once."""
    bits = min(BITS[kind], 64)
    if kind in _EXPONENT or kind in _SPECIAL:
        plain = [sign | positive for positive in _representable(kind) for sign in (0, 1 << (bits - 1))]
        return tuple(dict.fromkeys((*_SPECIAL.get(kind, ()), *plain)))
    limit = (1 << bits) - 1
    whole = [number for number in _WHOLE if number <= limit]
    return tuple(dict.fromkeys(value & limit for number in whole for value in (number, -number)))


def _representable(kind: str) -> Iterator[int]:
    """Yield the positive numbers that a format has, cut to its bits; those beyond its range are left out."""
    for number in _REAL:
        if kind == "f64":
            yield int.from_bytes(struct.pack("<d", number), "little")
        elif kind in ("f32", "bf16", "tf32") and number < 3.5e38:
            single = int.from_bytes(struct.pack("<f", number), "little")
            yield single >> 16 if kind == "bf16" else single
        elif kind == "f16" and number < 65520:
            yield int.from_bytes(struct.pack("<e", number), "little")


def _shuffle(edges: Sequence[int], kind: str, place: int) -> list[int]:
    """Return the edges in an order of their own for each operand."""
    numbers = _numbers(f"order {kind} {place}", 8)
    keys = [next(numbers) for _ in edges]
    return [edge for _, edge in sorted(zip(keys, edges, strict=True))]


def _some(numbers: Iterator[int]) -> Iterator[int]:
    return (next(numbers) for _ in range(LANES))


def _numbers(name: str, size: int) -> Iterator[int]:
    """Yield pseudo-random numbers of so many bytes that depend on the name and on nothing else."""
    text = shake_128(name.encode()).digest(size * 4 * LANES)
    for start in range(0, len(text), size):
        yield int.from_bytes(text[start : start + size], "little")

# SPDX-License-Identifier: Apache-2.0
"""Small exact integers as the elements of an instruction, in the bits of its registers.

A fragment travels as words: uint32 [..., lane, word], an f64 register being two of them, low word first.
Element i of a lane lies in register i // per_register, in the bits (i % per_register) * bits + shift and up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from gpu_checks.arrays import np

if TYPE_CHECKING:
    import numpy.typing as npt

    from isa_tables.signature import Fragment, Signature

Ints: TypeAlias = "npt.NDArray[np.int64]"
Words: TypeAlias = "npt.NDArray[np.uint32]"

POISON = 0x7FFF7FFF  # NaN as f32, f64 or a pair of f16, and 2147450879 as s32: no product here gives it


class ElementType(NamedTuple):
    """An element type: how integers are written in it, and which of them to draw at random.

    The drawn range keeps every product, partial sum and accumulator exact, whatever the order of the sum.
    """

    bits: int  # of the element itself, its container may be wider
    low: int
    high: int
    exponent: int = 0  # bits of exponent of a floating-point type; 0 for an integer
    accumulates: tuple[int, int] = (0, 0)  # range of C where the type can be one

    @property
    def mantissa(self) -> int:
        """Stored bits of the significand."""
        return self.bits - self.exponent - 1


# Bits and exponent: PTX ISA 5.2.1 and 5.2.3. The ranges are ours, small enough that every sum of an mma is exact.
NUMBERS: Mapping[str, ElementType] = MappingProxyType(
    {
        "f16": ElementType(16, -8, 8, 5, (-500, 500)),
        "bf16": ElementType(16, -8, 8, 8),
        "tf32": ElementType(32, -8, 8, 8),
        "f32": ElementType(32, -8, 8, 8, (-5000, 5000)),
        "f64": ElementType(64, -1000, 1000, 11, (-(10**6), 10**6)),
        "e4m3": ElementType(8, -3, 3, 4),
        "e5m2": ElementType(8, -3, 3, 5),
        "e3m2": ElementType(6, -3, 3, 3),
        "e2m3": ElementType(6, -3, 3, 2),
        "e2m1": ElementType(4, -3, 3, 2),
        "s32": ElementType(32, 0, 0, 0, (-(2**20), 2**20)),
        "u32": ElementType(32, 0, 0, 0, (0, 2**20)),
        "s16": ElementType(16, -(2**15), 2**15 - 1),
        "u16": ElementType(16, 0, 2**16 - 1),
        "s8": ElementType(8, -128, 127),
        "u8": ElementType(8, 0, 255),
        "s4": ElementType(4, -8, 7),
        "u4": ElementType(4, 0, 15),
        "b1": ElementType(1, 0, 1),
    }
)


def words_per_register(fragment: Fragment) -> int:
    """How many 32-bit words one register of the operand is."""
    return 2 if fragment.reg_type == "f64" else 1


def words_per_lane(fragment: Fragment) -> int:
    """How many 32-bit words one lane holds of the operand."""
    return fragment.regs * words_per_register(fragment)


def operands_as_words(signature: Signature) -> dict[str, tuple[int, Fragment]]:
    """Every operand as words, operand -> (lanes, fragment); a matrix in shared memory is its image in one lane.

    C is D where the accumulators are both.
    """
    operands = {}
    for name, fragment in signature.operands.items():
        if fragment.space == "smem":
            values = fragment.extent[0] * fragment.extent[1]
            words = values * fragment.bits // 32
            operands[name] = (1, replace(fragment, values=values, regs=words, reg_type="b32"))
        else:
            operands[name] = (signature.lanes, fragment)
    return {"C": operands["D"], **operands}


def digits(signature: Signature) -> int:
    """Return a power of two up to which every integer below it is exact in B and, as a product with one, in D."""
    return 1 << min(_whole_bits(NUMBERS[signature.operands[name].type]) for name in "BD")


def _whole_bits(number: ElementType) -> int:
    if not number.exponent:
        return number.bits - (number.low < 0 or number.accumulates[0] < 0)
    largest = (1 << number.exponent - 1) + 1  # the power of two behind the largest number
    return min(number.mantissa + 1, 11, largest)


def encode(type_: str, numbers: Ints) -> npt.NDArray[np.uint64]:
    """Return the bits of each integer as an element of the type; the integers must be exact in it.

    >>> [hex(encode(t, np.array(1))) for t in ("f16", "bf16", "f64", "e4m3", "e2m1", "s4")]
    ['0x3c00', '0x3f80', '0x3ff0000000000000', '0x38', '0x2', '0x1']
    """
    number, values = NUMBERS[type_], np.asarray(numbers, np.int64)
    if not number.exponent:
        return np.asarray(values & (2**number.bits - 1)).astype(np.uint64)
    size = np.abs(values)
    exponent = np.frexp(size.astype(np.float64))[1] - 1  # size = 2**exponent * (1 + fraction)
    bias = 2 ** (number.exponent - 1) - 1
    shift = np.maximum(exponent, 0)
    rest = size - (np.int64(1) << shift)
    fraction = (rest << np.maximum(number.mantissa - shift, 0)) >> np.maximum(shift - number.mantissa, 0)
    magnitude = ((exponent.astype(np.int64) + bias) << number.mantissa) + fraction
    magnitude = np.where(size == 0, 0, magnitude)
    sign = (values < 0).astype(np.uint64) << np.uint64(number.bits - 1)
    return magnitude.astype(np.uint64) | sign


def pack(fragment: Fragment, numbers: Ints) -> Words:
    """Integers [..., lane, i] as the words [..., lane, word] that hold them."""
    per, width, bits = fragment.per_register, words_per_register(fragment), fragment.bits
    if bits * per == 32 * width and not fragment.shift:  # no bit between the elements, nor around them
        if bits == 1:
            return np.packbits(_encode(fragment, numbers, "u1"), axis=-1, bitorder="little").view("<u4")
        if bits >= 8:
            return _encode(fragment, numbers, f"<u{bits // 8}").view("<u4")
    elements = _encode(fragment, numbers, "u4").reshape(*numbers.shape[:-1], fragment.regs, per)
    registers = np.zeros(elements.shape[:-1], np.uint32)
    for i in range(per):
        registers |= elements[..., i] << np.uint32(i * bits + fragment.shift)
    return registers


def _encode(fragment: Fragment, numbers: Ints, kind: str) -> npt.NDArray[Any]:
    """Return the bits of each integer, in C's order; a number that occurs often is encoded once."""
    least, most = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    if most - least >= numbers.size:
        return encode(fragment.type, numbers).astype(kind, order="C")
    return np.ascontiguousarray(encode(fragment.type, np.arange(least, most + 1)).astype(kind)[numbers - least])


def unpack(fragment: Fragment, words: Words) -> npt.NDArray[np.float64]:
    """Return the numbers [..., lane, i] in the words of an accumulator: f16, f32, f64 or s32."""
    kinds = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "s32": np.int32, "u32": np.uint32}
    flat = np.ascontiguousarray(words).view(np.dtype(kinds[fragment.type]).newbyteorder("<"))
    return flat.reshape(*words.shape[:-1], fragment.values).astype(np.float64)


def encode_one(fragment: Fragment) -> int:
    """Return the bits of the number one in the operand's type, at the element's place for i = 0."""
    return int(encode(fragment.type, np.array(1, np.int64))) << fragment.shift


def second_difference(signature: Signature) -> int:
    """D(a,b) - D(a,0) - D(0,b) + D(0,0): what a pair of ones of one k adds to D beyond what each adds alone.

    It is 1 where D sums products. For .xor D sums
    a xor b = a + b - 2ab, so that each one also shows alone, and it is -2.
    """
    return -2 if "xor" in signature.qualifiers else 1

# SPDX-License-Identifier: Apache-2.0
"""What an instruction takes and returns: registers, types, packing, targets. No formula is read here.

    >>> s = signature("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
    >>> s.shape, s.operands["A"].regs, s.operands["A"].reg_type, s.targets
    ((16, 8, 16), 4, 'b32', ('sm_80+',))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fragment:
    """One operand as one lane holds it.

    Element i of a lane is in register i // per_register, in the bits
    (i % per_register) * bits + shift and up; element 0 is the lowest. `bits` is the room an element has
    in its register, which `.kind::f8f6f4` makes wider than the element.
    """

    type: str  # the element's PTX type
    bits: int  # bits of register per element
    values: int  # elements per lane
    regs: int  # registers per lane
    reg_type: str  # b32, f32, f64 or s32
    extent: tuple[int, int]  # rows and columns of the tile: A (m, k), B (k, n), C and D (m, n)
    copies: int = 1  # how many (lane, i) hold each element
    shift: int = 0  # unused bits below the first element (e2m1 in a byte: 2; the high half of dp2a's b: 16)

    @property
    def per_register(self) -> int:
        """Elements in one register."""
        return self.values // self.regs


@dataclass(frozen=True, slots=True)
class Signature:
    """One concrete instruction: a mnemonic with its operands, without the map of its elements."""

    mnemonic: str  # as the tables spell it, whatever spelling was asked for
    family: str  # mma.sync, mma.sync.kind::f8f6f4, dp4a, dp2a
    shape: tuple[int, int, int]  # m, n, k
    operands: Mapping[str, Fragment]  # D, A, B, C: the order of the assembly text
    qualifiers: frozenset[str]  # flags of the mnemonic: satfinite, xor, rn, lo, ...
    targets: tuple[str, ...]  # where it exists: "sm_80+", or exact architectures ("sm_120a", "sm_120f")
    ptx: str  # first PTX ISA version that has it
    lanes: int  # threads that share one instruction: 32, or 1 for dp4a and dp2a
    products: int  # independent matrix products in one instruction: 4 for m8n8k4 .f16

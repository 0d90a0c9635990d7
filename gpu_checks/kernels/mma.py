# SPDX-License-Identifier: Apache-2.0
"""CUDA C++ of the probes, generated from the mnemonic and the signature; no map of elements is known here.

An instruction D = A * B + C in registers gets two kernels. `relation_i` sets one element of A and one of B to
one, all else to zero, for every pair, and writes the element of D that the pair contributes to. `run_i` issues the
instruction on given registers, for C passthrough and products. i is the instruction's place in its module.
`digit_coded` and `copies` have the kernels of the other instructions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_checks.kernels.assembly import READ, issue
from gpu_checks.kernels.packing import encode_one, second_difference, words_per_lane, words_per_register
from gpu_checks.kernels.templates import beside

if TYPE_CHECKING:
    from isa_tables.signature import Fragment, Signature

WARPS = 4  # per block of `relation`
NONE, MANY, WRONG = 0xFFFF, 0xFFFE, 0xFFFD  # no D changed; several did; one did, by something else than a unit

_CUDA = beside(__file__)


def fits(signature: Signature) -> bool:
    """Whether these kernels fit: D = A * B + C, all in registers of a warp or a lane."""
    operands = signature.operands
    in_registers = all(fragment.space == "reg" for fragment in operands.values())
    return list(operands) == ["D", "A", "B", "C"] and in_registers and signature.lanes in (1, 32)


def spare(signature: Signature) -> str:
    """Which of A and B the lanes hold more than once for each product: of their copies some may never be read."""
    return "".join(name for name in "AB" if signature.operands[name].copies > signature.products)


def text(signature: Signature, index: int) -> str:
    """Return the two kernels of one instruction."""
    operands = signature.operands
    facts: dict[str, object] = {
        "index": index,
        "mnemonic": signature.mnemonic,
        "lanes": signature.lanes,
        "warps": WARPS,
        "unit": f"{second_difference(signature)}.0",
        "none": NONE,
        "many": MANY,
        "not_unit": WRONG,
        "read": READ[operands["D"].type],
        "issue": issue(signature, signature.asm),
    }
    for name, fragment in operands.items():
        key = name.lower()
        facts |= {
            f"{key}_words": words_per_lane(fragment),
            f"{key}_values": fragment.values,
            f"{key}_slots": fragment.values * signature.lanes,
            f"{key}_shape": shape(fragment),
        }
    facts |= {"a_one": hex(encode_one(operands["A"])), "b_one": hex(encode_one(operands["B"]))}
    return _CUDA["probe"].substitute(facts)


def shape(fragment: Fragment) -> str:
    """Return the template arguments of `one_hot` for an operand in registers."""
    width = words_per_register(fragment)
    numbers = (words_per_lane(fragment), fragment.values, fragment.per_register, fragment.bits, width)
    return ", ".join(map(str, numbers))

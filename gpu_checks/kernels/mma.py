# SPDX-License-Identifier: Apache-2.0
"""CUDA C++ of the probes, generated from the mnemonic and the signature; no map of elements is known here.

An instruction D = A * B + C in registers gets two kernels. `relation_i` sets one element of A and one of B to
one, all else to zero, for every pair, and writes which element of D the pair reached. `run_i` issues the
instruction on given registers, for C passthrough and products. i is the instruction's place in its module.
`coded` and `moves` hold the kernels of the other instructions.
"""

from __future__ import annotations

from string import Template
from typing import TYPE_CHECKING

from gpu_checks.kernels.assembly import READ, issue
from gpu_checks.kernels.packing import interaction, one, words_per_lane, words_per_register

if TYPE_CHECKING:
    from isa_tables.signature import Fragment, Signature

WARPS = 4  # per block of `relation`
NONE, MANY, WRONG = 0xFFFF, 0xFFFE, 0xFFFD  # no D changed; several did; one did, by something else than a unit

_PROBE = Template("""\
namespace probe_$index {
// $mnemonic
$issue
__device__ __forceinline__ double value(const u32* d, int i) { return $read; }

extern "C" __global__ void relation_$index(u16* table) {
  const int lane = threadIdx.x % 32, a_slot = blockIdx.x * $warps + threadIdx.x / 32;
  if (a_slot >= $a_slots) return;
  u32 zero_a[$a_words] = {}, zero_b[$b_words] = {}, c[$c_words] = {};
  u32 a[$a_words], b[$b_words], none[$d_words], only_a[$d_words], only_b[$d_words], both[$d_words];
  one_hot<$a_shape>(a, ${a_one}ull, a_slot, lane);
  issue(none, zero_a, zero_b, c);
  issue(only_a, a, zero_b, c);
  for (int b_slot = blockIdx.y; b_slot < $b_slots; b_slot += gridDim.y) {
    one_hot<$b_shape>(b, ${b_one}ull, b_slot, lane);
    issue(only_b, zero_a, b, c);
    issue(both, a, b, c);
    int hits = 0, reached = $none;
    bool wrong = false;
    #pragma unroll
    for (int i = 0; i < $d_values; ++i) {
      const double change = value(both, i) - value(only_a, i) - value(only_b, i) + value(none, i);
      const u32 changed = __ballot_sync(~0u, change != 0.0);
      wrong |= __ballot_sync(~0u, change != 0.0 && change != $unit) != 0;
      hits += __popc(changed);
      if (changed) reached = (__ffs(changed) - 1) * $d_values + i;
    }
    if (lane == 0) table[a_slot * $b_slots + b_slot] = hits > 1 ? $many : wrong ? $not_unit : reached;
  }
}

extern "C" __global__ void run_$index(const u32* a, const u32* b, const u32* c, u32* d) {
  const int thread = blockIdx.x * $lanes + threadIdx.x;
  u32 in_a[$a_words], in_b[$b_words], in_c[$c_words], out[$d_words];
  #pragma unroll
  for (int w = 0; w < $a_words; ++w) in_a[w] = a[thread * $a_words + w];
  #pragma unroll
  for (int w = 0; w < $b_words; ++w) in_b[w] = b[thread * $b_words + w];
  #pragma unroll
  for (int w = 0; w < $c_words; ++w) in_c[w] = c[thread * $c_words + w];
  issue(out, in_a, in_b, in_c);
  #pragma unroll
  for (int w = 0; w < $d_words; ++w) d[thread * $d_words + w] = out[w];
}
}
""")


def fits(signature: Signature) -> bool:
    """Whether these kernels fit: D = A * B + C, all in registers of a warp or a lane."""
    operands = signature.operands
    in_registers = all(fragment.space == "reg" for fragment in operands.values())
    return list(operands) == ["D", "A", "B", "C"] and in_registers and signature.lanes in (1, 32)


def spare(signature: Signature) -> str:
    """Which of A and B the lanes hold more than once for each product: of their copies some may never be read."""
    return "".join(name for name in "AB" if signature.operands[name].copies > signature.products)


def text(signature: Signature, index: int) -> str:
    """The two kernels of one instruction."""
    operands = signature.operands
    facts: dict[str, object] = {
        "index": index,
        "mnemonic": signature.mnemonic,
        "lanes": signature.lanes,
        "warps": WARPS,
        "unit": f"{interaction(signature)}.0",
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
    facts |= {"a_one": hex(one(operands["A"])), "b_one": hex(one(operands["B"]))}
    return _PROBE.substitute(facts)


def shape(fragment: Fragment) -> str:
    """The template arguments of `one_hot` for an operand in registers."""
    width = words_per_register(fragment)
    numbers = (words_per_lane(fragment), fragment.values, fragment.per_register, fragment.bits, width)
    return ", ".join(map(str, numbers))

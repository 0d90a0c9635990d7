# SPDX-License-Identifier: Apache-2.0
"""CUDA C++ of the probes, generated from the mnemonic and the signature; no map of elements is known here.

Each instruction gets two kernels. `relation_i` sets one element of A and one of B to one, all else to zero,
for every pair, and writes which element of D the pair reached. `run_i` issues the instruction on given
registers, for C passthrough and products. i is the instruction's place in its module.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import Template
from typing import TYPE_CHECKING

from gpu_checks.packing import interaction, one, words_per_lane, words_per_register

if TYPE_CHECKING:
    from isa_tables.signature import Fragment, Signature

WARPS = 4  # per block of `relation`
NONE, MANY, WRONG = 0xFFFF, 0xFFFE, 0xFFFD  # no D changed; several did; one did, by something else than a unit

_CONSTRAINTS = {
    "b32": ("r", "u32", "{}"),
    "s32": ("r", "u32", "{}"),
    "f32": ("f", "float", "__uint_as_float({})"),
    "f64": ("d", "double", "__hiloint2double({1}, {0})"),
}
_BACK = {"b32": "{}", "s32": "{}", "f32": "__float_as_uint({})"}
_READ = {
    "f16": "half(d[i / 2] >> (i % 2 * 16))",
    "f32": "__uint_as_float(d[i])",
    "s32": "(int)d[i]",
    "u32": "d[i]",
    "f64": "__hiloint2double(d[2 * i + 1], d[2 * i])",
}

_COMMON = """\
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned long long u64;
"""

_PROBE = Template("""\
namespace probe_$index {
// $mnemonic
__device__ __forceinline__ void issue(u32* d, const u32* a, const u32* b, const u32* c) {
  $declare
  asm volatile("$mnemonic $operands;"
      : $outputs
      : $inputs);
  $assign
}

__device__ __forceinline__ float half(u32 bits) {
  float x;
  asm("{ .reg .b16 t; mov.b16 t, %1; cvt.f32.f16 %0, t; }" : "=f"(x) : "h"((u16)bits));
  return x;
}

__device__ __forceinline__ double value(const u32* d, int i) { return $read; }

// Slot s is element s % VALUES of lane s / VALUES.
template <int WORDS, int VALUES, int PER, int BITS, int WIDTH>
__device__ __forceinline__ void one_hot(u32* words, u64 one, int slot, int lane) {
  const int i = slot % VALUES;
  const u64 held = slot / VALUES == lane ? one << (i % PER * BITS) : 0;
  #pragma unroll
  for (int w = 0; w < WORDS; ++w)
    words[w] = w / WIDTH == i / PER ? (u32)(held >> (w % WIDTH * 32)) : 0;
}

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

# Shared memory holds 32 rows of 16 bytes; lane r passes the address of row rows[r].
_MOVE = Template("""\
extern "C" __global__ void $name(u32* image, const u32* rows, u32* registers) {
  __shared__ __align__(16) u32 tile[128];
  const int lane = threadIdx.x;
  for (int w = 0; w < 4; ++w) tile[lane * 4 + w] = image[lane * 4 + w];
  __syncwarp();
  const u32 address = (u32)__cvta_generic_to_shared(tile) + rows[lane] * 16;
  u32* r = registers + lane * 4;
  asm volatile($instruction : "memory");
  __syncwarp();
  for (int w = 0; w < 4; ++w) image[lane * 4 + w] = tile[lane * 4 + w];
}
""")
_MOVES = {
    "ldmatrix": """"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address)""",
    "stmatrix": """"stmatrix.sync.aligned.m8n8.x4.shared.b16 [%4], {%0, %1, %2, %3};"
      :: "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(address)""",
}
MATRIX_SOURCES = {
    name: _COMMON + _MOVE.substitute(name=name, instruction=instruction) for name, instruction in _MOVES.items()
}


def fits(signature: Signature) -> bool:
    """Whether these kernels can issue the instruction: D = A * B + C, all in registers of a warp or a lane."""
    operands = signature.operands
    in_registers = all(fragment.space == "reg" for fragment in operands.values())
    return list(operands) == ["D", "A", "B", "C"] and in_registers and signature.lanes in (1, 32)


def module(signatures: Sequence[Signature]) -> str:
    """One compilation unit for some instructions."""
    return _COMMON + "".join(_probe(signature, index) for index, signature in enumerate(signatures))


def _probe(signature: Signature, index: int) -> str:
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
        "read": _READ[operands["D"].type],
        **_asm(signature),
    }
    for name, fragment in operands.items():
        key = name.lower()
        facts |= {
            f"{key}_words": words_per_lane(fragment),
            f"{key}_values": fragment.values,
            f"{key}_slots": fragment.values * signature.lanes,
            f"{key}_shape": _shape(fragment),
        }
    facts |= {"a_one": hex(one(operands["A"])), "b_one": hex(one(operands["B"]))}
    return _PROBE.substitute(facts)


def _shape(fragment: Fragment) -> str:
    width = words_per_register(fragment)
    numbers = (words_per_lane(fragment), fragment.values, fragment.per_register, fragment.bits, width)
    return ", ".join(map(str, numbers))


def _asm(signature: Signature) -> dict[str, str]:
    """The inline assembly: operand list, constraints, and the moves between words and typed registers."""
    groups: list[str] = []
    inputs: list[str] = []
    place = 0
    for name, fragment in signature.operands.items():
        names = [f"%{place + r}" for r in range(fragment.regs)]
        place += fragment.regs
        # Warp-wide instructions take register vectors, dp4a and dp2a plain registers.
        groups.append(f"{{{', '.join(names)}}}" if signature.lanes > 1 else names[0])
        if name != "D":
            inputs += [_input(name.lower(), fragment, r) for r in range(fragment.regs)]
    result = signature.operands["D"]
    letter, kind, _ = _CONSTRAINTS[result.reg_type]
    registers = range(result.regs)
    return {
        "operands": ", ".join(groups),
        "declare": f"{kind} {', '.join(f'd{r}' for r in registers)};",
        "outputs": ", ".join(f'"={letter}"(d{r})' for r in registers),
        "inputs": ", ".join(inputs),
        "assign": " ".join(_assign(result, r) for r in registers),
    }


def _input(name: str, fragment: Fragment, register: int) -> str:
    letter, _, cast = _CONSTRAINTS[fragment.reg_type]
    width = words_per_register(fragment)
    words = [f"{name}[{register * width + w}]" for w in range(width)]
    return f'"{letter}"({cast.format(*words)})'


def _assign(fragment: Fragment, register: int) -> str:
    if fragment.reg_type == "f64":
        low, high = 2 * register, 2 * register + 1
        return f"d[{low}] = __double2loint(d{register}); d[{high}] = __double2hiint(d{register});"
    return f"d[{register}] = {_BACK[fragment.reg_type].format(f'd{register}')};"

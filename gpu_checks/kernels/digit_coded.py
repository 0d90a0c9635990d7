# SPDX-License-Identifier: Apache-2.0
"""The text of kernels for instructions with metadata or with operands in shared memory.

`coded_i_f` issues form f of the instructions of family i, which share all but N: one is chosen when it is launched,
for compiling a kernel takes far longer than the few lines that tell the instructions of a family apart. It sets one
element of A to one, all else to zero, and issues the instruction on several fillings of B, its planes. On the first,
all ones, D shows how many elements of B each of its elements gets: it must be 1 or 0. The others spell the number of
B's slot in digits, so that D reads out which one it was. This is the table of all one-hot pairs under the premise
that D sums its products; it needs one run a digit, not one a pair.

`run_i` issues the i-th instruction in its first form on given words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from string import Template
from typing import TYPE_CHECKING

from gpu_checks.kernels.assembly import READ, is_warpgroup, issue, issue_in_memory
from gpu_checks.kernels.forms import BAD, MULTIPLIED, Form, fits, forms
from gpu_checks.kernels.mma import shape
from gpu_checks.kernels.packing import one, words_per_lane
from gpu_checks.kernels.smem_matrix import ALIGNMENT, MAJORS, windows

if TYPE_CHECKING:
    from isa_tables.signature import Signature


class At(IntEnum):
    """The places of a kernel's first argument, `numbers`; a descriptor has two, its low word first."""

    PLANES = 0
    ITEMS = 1
    A_SLOTS = 2
    LIMIT = 3
    BASE = 4
    B_WORDS = 5
    A_DESCRIPTOR = 6
    B_DESCRIPTOR = 8
    MEMBER = 10  # of the family
    D_VALUES = 11
    B_AT = 12  # where B's images begin in `block`, in words
    B_STRIDE = 13  # and how far apart they lie
    RESIDENT = 14  # how many of them there is room for: all planes, or one


_PLACES = {at.name.lower(): int(at) for at in At}
ZERO = "0"

# The words of D go through memory: a loop over registers would have to be unrolled, and so the compiler must be kept
# from unrolling the others whole, which costs it more time than all else together.
_FORM = Template("""\
namespace coded_$index {
$issue
// Words in shared memory. By address: the compiler finds that of an array anew for each word.
struct Words {
  u32 first;
  int stride;
  __device__ __forceinline__ u32 operator[](int w) const {
    u32 word;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word) : "r"(first + 4 * w * stride) : "memory");
    return word;
  }
};

__device__ __forceinline__ double value(Words d, int i) { return $read; }
__device__ __forceinline__ u32 reached(Words d, u32 i, u32 values) { return i < values && value(d, i) != 0.0; }

extern "C" __global__ void __launch_bounds__($lanes) coded_$index(const u32* numbers, const u32* chosen,
    const u32* planes, const u32* fixed, u32* counts, u16* slots, int* codes) {
  const int thread = threadIdx.x;
  const u32 limit = numbers[$limit], a_slots = numbers[$a_slots];
  const u32 values = numbers[$d_values], planes_of_b = numbers[$planes];
  extern __shared__ u32 room[];  // nobody aligns it
  u32* const block = room + -(u32)__cvta_generic_to_shared(room) % $alignment / 4;
  // D: word w of thread t at w * $lanes + t of block; then images of B.
  u32* const home = block + thread;
  const u32 first = (u32)__cvta_generic_to_shared(block);
  __shared__ u32 seats[$lanes / 32], hits[$masks * $lanes], total;
  __shared__ u16 found[$columns];
  __shared__ int sums[$columns];
  u32* hit = hits + thread * $masks;
  $shared
  #pragma unroll 1
  for (u32 item = blockIdx.x; item < numbers[$items]; item += gridDim.x) {
    const int slot = chosen[item % a_slots];
    int weight = 1;
    $fixed
    $a_hot
    #pragma unroll 1
    for (u32 plane = 0; plane < planes_of_b; ++plane) {
      $b_plane
      $product
      if (plane == 0) {
        const Words own = {first + 4 * thread, $lanes};
        u32 mine = 0;
        #pragma unroll 1
        for (u32 m = 0; 32 * m < values; ++m) {
          u32 bits = 0;
          #pragma unroll 1
          for (u32 i = 32 * m; i < 32 * m + 32 && i < values; i += 4)
            bits |= (reached(own, i, values) | reached(own, i + 1, values) << 1 | reached(own, i + 2, values) << 2
                     | reached(own, i + 3, values) << 3) << i % 32;
          hit[m] = bits;
          mine += __popc(bits);
        }
        u32 rank = mine;
        #pragma unroll 1
        for (int step = 1; step < 32; step *= 2) {
          const u32 before = __shfl_up_sync(0xFFFFFFFF, rank, step);
          if (thread % 32 >= step) rank += before;
        }
        if (thread % 32 == 31) seats[thread / 32] = rank;
        __syncthreads();
        for (int warp = 0; warp < thread / 32; ++warp) rank += seats[warp];
        if (thread == $lanes - 1) counts[item] = total = rank;
        rank -= mine;
        #pragma unroll 1
        for (int m = 0; 32 * m < values; ++m)
          #pragma unroll 1
          for (u32 bits = hit[m]; bits && rank < limit; bits &= bits - 1, ++rank)
            found[rank] = thread * values + 32 * m + __ffs(bits) - 1;
      }
      __syncthreads();
      #pragma unroll 1
      for (u32 at = thread; at < limit && at < total; at += $lanes) {
        const double seen = value({first + found[at] / values * 4, $lanes}, found[at] % values);
        sums[at] = plane ? sums[at] + (int)seen * weight : seen == 1.0 ? 0 : $bad;
      }
      if (plane) weight *= numbers[$base];
      __syncthreads();
    }
    #pragma unroll 1
    for (u32 at = thread; at < limit && at < total; at += $lanes) {
      slots[(u64)item * limit + at] = found[at];
      codes[(u64)item * limit + at] = sums[at];
    }
  }
}
}
""")

_RUN = Template("""\
namespace run_$index {
$issue
extern "C" __global__ void __launch_bounds__($lanes) run_$index(
    const u32* numbers, const u32* a_words, const u32* planes, const u32* c_words, const u32* fixed, u32* out) {
  const int thread = threadIdx.x, plane = blockIdx.x, trial = plane * $lanes + thread;
  const u32 words = $words;
  u32* const home = out + trial * words;
  $shared
  $fixed
  $a_words
  $b_plane
  $product
}
}
""")

# One issue: C before it and D behind it, in registers, or at home in memory for one of a family.
_IN_REGISTERS = Template("""\
u32 c[$c_words], d[$d_words];
      for (int w = 0; w < $c_words; ++w) c[w] = $c;
      $ready
      member_0::issue(d, $arguments);
      for (int w = 0; w < $d_words; ++w) home[w * $stride] = d[w];""")
_IN_MEMORY = Template("""\
$before$ready
      switch (numbers[$member]) {
        $cases
      }""")
_BEFORE = Template("for (int w = 0; w < $c_words; ++w) home[w * $stride] = $c;\n      ")
_CASE = Template("case $number: member_$number::issue(home, $arguments); break;")
_MEMBER = Template("""\
namespace member_$number {
// $mnemonic
$issue}
""")
_REGISTERS = Template("""\
u32 ${name}[$words];
      #pragma unroll
      for (int w = 0; w < $words; ++w) ${name}[w] = $source[($index * $lanes + thread) * $stride + $offset + w];""")

# The image lies at a place where every mode repeats; what it does not cover stays zero.
_SHARED = Template("""\
__shared__ __align__($alignment) u32 ${name}_image[$words];
  #pragma unroll 1
  for (int w = thread; w < $words; w += $lanes) ${name}_image[w] = 0;
  const u64 ${name} = ((u64)numbers[$at + 1] << 32 | numbers[$at])
      | ((u32)__cvta_generic_to_shared(${name}_image) & 0x3FFFF) >> 4;
  __syncthreads();""")
_A_HOT_SHARED = Template("""\
if (thread == 0) {
      a_image[one_at] = 0;
      one_at = slot * $bits / 32;
      a_image[one_at] = ${one}u << slot * $bits % 32;
    }""")
_ONE_AT = "\n  u32 one_at = 0;  // the word of A that is not zero"
_B_SHARED = Template("""\
#pragma unroll 8
      for (u32 w = thread; w < numbers[$b_total]; w += $lanes) b_image[w] = planes[plane * numbers[$b_total] + w];""")

# The images of all planes stay, if there is room for them.
_B_RESIDENT = Template("""\
u32* const b_image = block + numbers[$b_at] + plane % numbers[$resident] * numbers[$b_stride];
      if (item == blockIdx.x || numbers[$resident] < planes_of_b)
        #pragma unroll 1
        for (u32 w = 4 * thread; w < numbers[$b_words]; w += 4 * $lanes)
          *(uint4*)(b_image + w) = *(const uint4*)(planes + plane * numbers[$b_words] + w);
      const u64 b = ((u64)numbers[$b_descriptor + 1] << 32 | numbers[$b_descriptor])
          | ((u32)__cvta_generic_to_shared(b_image) & 0x3FFFF) >> 4;""")

# What threads wrote to shared memory is seen by wgmma, which reads it another way, only after this fence.
_FENCE = 'asm volatile("fence.proxy.async.shared::cta;" ::: "memory");\n      '


def families(signatures: Sequence[Signature]) -> list[list[Signature]]:
    """The instructions that these kernels can issue, those together that differ in N alone; in order of appearance."""
    found: dict[str, list[Signature]] = {}
    for signature in signatures:
        if fits(signature):
            found.setdefault(family_of(signature), []).append(signature)
    return list(found.values())


def family_of(signature: Signature) -> str:
    """The mnemonic without N, where a warpgroup issues the instruction: only then is D in memory."""
    return (
        signature.mnemonic.replace(f"n{signature.shape[1]}k", "nNk") if is_warpgroup(signature) else signature.mnemonic
    )


def family_text(family: Sequence[Signature], index: int) -> str:
    """The kernels of all forms of a family; form f's end in _index_f."""
    written = []
    for number, members in enumerate(zip(*map(forms, family), strict=True)):
        most = max(members, key=lambda form: form.signature.shape[1]).signature
        fixed = "\n    ".join(_fixed(most, "(item / a_slots)"))
        facts = _facts(members, most, ZERO, most.lanes)
        facts |= {"index": f"{index}_{number}", "fixed": fixed, "a_hot": _a_hot(most), "shared": ""}
        if most.operands["A"].space == "smem":
            facts["shared"] = _shared(most, "A") + _ONE_AT
        if most.operands["B"].space == "smem":
            facts["b_plane"] = _B_RESIDENT.substitute(_PLACES, lanes=most.lanes)
        written.append(_FORM.substitute(facts, **_PLACES, alignment=ALIGNMENT))
    return "".join(written)


def text(signature: Signature, index: int) -> str:
    """The kernel that issues the instruction in its first form on given words."""
    form = forms(signature)[0]
    s, sizes = form.signature, _sizes(form.signature)
    facts = _facts([form], s, f"c_words[trial * {sizes['c_words']} + w]", 1)
    facts |= {"index": index, "words": sizes["d_words"], "fixed": "\n  ".join(_fixed(s, "plane"))}
    return _RUN.substitute(facts, a_words=_load(s, "A", "a_words", "plane"))


def _sizes(signature: Signature) -> dict[str, int]:
    result = signature.operands["D"]
    return {"d_words": words_per_lane(result), "c_words": words_per_lane(signature.operands.get("C", result))}


def _facts(members: Sequence[Form], most: Signature, c: str, stride: int) -> dict[str, object]:
    """What a form's kernels say, for one instruction or several, of which `most` has the largest matrices.

    `c` is what word w of C is, `stride` how far the words of D lie apart.
    """
    shared = [name for name in "AB" if most.operands[name].space == "smem"]
    arguments = ", ".join(name.lower() for name in most.operands if name != "D")
    around = {**_sizes(most), "c": c, "stride": stride, "arguments": arguments, "member": int(At.MEMBER)}
    cases = [_CASE.substitute(number=number, arguments=arguments) for number in range(len(members))]
    product = _IN_MEMORY if is_warpgroup(most) else _IN_REGISTERS
    return {
        "issue": "".join(_member(form, number, c, stride) for number, form in enumerate(members)),
        "read": READ[most.operands["D"].type],
        "lanes": most.lanes,
        "masks": -(-most.operands["D"].values // 32),
        "columns": most.shape[1],
        "bad": BAD,
        "product": product.substitute(
            around,
            before="" if c == ZERO else _BEFORE.substitute(around),
            ready=(_FENCE if shared else "") + "__syncthreads();",
            cases="\n        ".join(cases),
        ),
        "shared": "\n  ".join(_shared(most, name) for name in shared),
        "b_plane": _b_plane(most),
    }


def _member(form: Form, number: int, c: str, stride: int) -> str:
    s = form.signature
    issued = issue_in_memory(s, form.asm, stride, c == ZERO) if is_warpgroup(s) else issue(s, form.asm)
    return _MEMBER.substitute(number=number, mnemonic=s.mnemonic, issue=issued)


def _load(signature: Signature, name: str, source: str, index: str) -> str:
    words = words_per_lane(signature.operands[name])
    facts = {"name": name.lower(), "words": words, "source": source, "index": index, "lanes": signature.lanes}
    return _REGISTERS.substitute(facts, stride=words, offset=0)


def _fixed(signature: Signature, index: str) -> Iterator[str]:
    """Metadata and scale factors of one item; a lane's words of all of them stand together."""
    names = [name for name in signature.operands if name not in MULTIPLIED]
    sizes = [words_per_lane(signature.operands[name]) for name in names]
    facts = {"source": "fixed", "index": index, "lanes": signature.lanes, "stride": sum(sizes)}
    for place, (name, words) in enumerate(zip(names, sizes, strict=True)):
        yield _REGISTERS.substitute(facts, name=name.lower(), words=words, offset=sum(sizes[:place]))


def _shared(signature: Signature, name: str) -> str:
    fragment = signature.operands[name]
    words = max(one.size for one in windows(name, fragment, MAJORS)) // 4
    at = int(At.A_DESCRIPTOR if name == "A" else At.B_DESCRIPTOR)
    return _SHARED.substitute(name=name.lower(), words=words, at=at, lanes=signature.lanes, alignment=ALIGNMENT)


def _a_hot(signature: Signature) -> str:
    fragment = signature.operands["A"]
    if fragment.space == "smem":
        return _A_HOT_SHARED.substitute(bits=fragment.bits, one=hex(one(fragment)))
    words, bits = words_per_lane(fragment), hex(one(fragment))
    return f"u32 a[{words}];\n    one_hot<{shape(fragment)}>(a, {bits}ull, slot, thread);"


def _b_plane(signature: Signature) -> str:
    if signature.operands["B"].space == "smem":
        return _B_SHARED.substitute(b_total=int(At.B_WORDS), lanes=signature.lanes)
    return _load(signature, "B", "planes", "plane")

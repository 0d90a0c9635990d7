# SPDX-License-Identifier: Apache-2.0
"""Kernels for instructions with metadata or with operands in shared memory.

`coded_i` sets one element of A to one, all else to zero, and issues the instruction on several fillings of B,
its planes. On the first, all ones, D shows how many elements of B each of its elements gets: it must be 1 or 0.
The others spell the number of B's slot in digits, so that D reads out which one it was. This is the table of
all one-hot pairs under the premise that D sums its products; it needs one run a digit, not one a pair.
`run_i` issues the instruction on given words.

An operand in shared memory has one lane, and its slots are the elements of its image in order of address.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from string import Template
from typing import TYPE_CHECKING, Any

from gpu_checks.assembly import READ, is_warpgroup, issue
from gpu_checks.kernels import shape
from gpu_checks.memory import ALIGNMENT, MAJORS, Window, transposes, window, windows
from gpu_checks.packing import one, words_per_lane
from isa_tables.signature import signature as look_up

if TYPE_CHECKING:
    from isa_tables.signature import Signature

BAD = -(2**30)  # a code below zero: D did not get exactly one element of B
CODED, MULTIPLIED = ("D", "A", "B"), ("D", "A", "B", "C")
PLANES, ITEMS, A_SLOTS, LIMIT, BASE, A_WORDS, B_WORDS, A_DESCRIPTOR, B_DESCRIPTOR = (*range(8), 9)

# The words of D go through `scratch`: a loop over registers would have to be unrolled, which takes the compiler
# a second for each kernel of 128 registers.
_FORM = Template("""\
namespace coded_$index {
// $mnemonic
$issue
__device__ __forceinline__ double value(Words d, int i) { return $read; }

extern "C" __global__ void __launch_bounds__($lanes) coded_$index(const u32* numbers, const u32* chosen,
    const u32* planes, const u32* fixed, u32* scratch, u32* counts, u16* reached, int* codes) {
  const int thread = threadIdx.x;
  const u32 limit = numbers[$limit], a_slots = numbers[$a_slots];
  u32* const home = scratch + blockIdx.x * $d_words * $lanes + thread;
  const Words result = {home, $lanes};
  __shared__ u32 total, hits[$masks * $lanes];
  u32* hit = hits + thread * $masks;
  $shared
  for (u32 item = blockIdx.x; item < numbers[$items]; item += gridDim.x) {
    const int slot = chosen[item % a_slots];
    const u64 place = (u64)item * limit;
    u32 rank = 0;
    int weight = 1;
    $fixed
    $a_hot
    for (u32 plane = 0; plane < numbers[$planes]; ++plane) {
      u32 c[$c_words] = {}, d[$d_words];
      $b_plane
      if (thread == 0 && plane == 0) total = 0;
      $ready
      issue(d, $arguments);
      #pragma unroll
      for (int w = 0; w < $d_words; ++w) home[w * $lanes] = d[w];
      if (plane == 0) {
        u32 mine = 0;
        for (int m = 0; m < $masks; ++m) {
          u32 bits = 0;
          for (int i = 32 * m; i < 32 * m + 32 && i < $d_values; ++i) bits |= (value(result, i) != 0.0) << i % 32;
          hit[m] = bits;
          mine += __popc(bits);
        }
        if (mine) rank = atomicAdd(&total, mine);
      }
      u64 at = place + rank;
      for (int m = 0; m < $masks; ++m)
        for (u32 bits = hit[m]; bits && at < place + limit; bits &= bits - 1, ++at) {
          const int i = 32 * m + __ffs(bits) - 1;
          if (plane) {
            codes[at] += (int)value(result, i) * weight;
          } else {
            reached[at] = thread * $d_values + i;
            codes[at] = value(result, i) == 1.0 ? 0 : $bad;
          }
        }
      if (plane) weight *= numbers[$base];
      __syncthreads();
    }
    if (thread == 0) counts[item] = total;
  }
}
""")

_RUN = Template("""\
extern "C" __global__ void __launch_bounds__($lanes) run_$index(
    const u32* numbers, const u32* a_words, const u32* planes, const u32* c_words, const u32* fixed, u32* out) {
  const int thread = threadIdx.x, plane = blockIdx.x, trial = plane * $lanes + thread;
  u32 c[$c_words], d[$d_words];
  $shared
  $fixed_in
  $a_words_in
  $b_plane
  for (int w = 0; w < $c_words; ++w) c[w] = c_words[trial * $c_words + w];
  $ready
  issue(d, $arguments);
  #pragma unroll
  for (int w = 0; w < $d_words; ++w) out[trial * $d_words + w] = d[w];
}
""")

_REGISTERS = Template("""\
u32 ${name}[$words];
      #pragma unroll
      for (int w = 0; w < $words; ++w) ${name}[w] = $source[($index * $lanes + thread) * $stride + $offset + w];""")

# The image lies at a place where every mode repeats; what it does not cover stays zero.
_SHARED = Template("""\
__shared__ __align__($alignment) u32 ${name}_image[$words];
  for (int w = thread; w < $words; w += $lanes) ${name}_image[w] = 0;
  const u64 ${name} = ((u64)numbers[$at + 1] << 32 | numbers[$at])
      | ((u32)__cvta_generic_to_shared(${name}_image) & 0x3FFFF) >> 4;
  __syncthreads();""")
_A_HOT_SHARED = Template("""\
for (u32 w = thread; w < numbers[$a_total]; w += $lanes)
      a_image[w] = w == slot * $bits / 32 ? ${one}u << slot * $bits % 32 : 0;""")
_B_SHARED = Template("""\
for (u32 w = thread; w < numbers[$b_total]; w += $lanes) b_image[w] = planes[plane * numbers[$b_total] + w];""")


# What threads wrote to shared memory is seen by wgmma, which reads it another way, only after this fence.
_FENCE = 'asm volatile("fence.proxy.async.shared::cta;" ::: "memory");\n      '


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write an instruction: what its text chooses, and the major of each matrix in memory."""

    signature: Signature
    majors: tuple[str, str] = ("K", "K")

    @property
    def plain(self) -> bool:
        """Whether A comes from registers and B is K-major: there is one such form for each selector."""
        return self.signature.operands["A"].space == "reg" and self.majors == ("K", "K")

    @property
    def asm(self) -> str:
        """The operand list with the transposes that the majors ask for."""
        text = self.signature.asm
        flags = [str(MAJORS.index(major)) for major in self.majors][2 - transposes(text) :]
        return ", ".join(text.split(", ")[: -len(flags)] + flags) if flags else text


def fits(signature: Signature) -> bool:
    """Whether these kernels can issue it: more operands than A, B, C and D, or some of them in shared memory."""
    operands = signature.operands
    known = set(operands) <= {*MULTIPLIED, "E", "SFA", "SFB"} and set(operands) >= set(CODED)
    elsewhere = {name: fragment.space for name, fragment in operands.items() if fragment.space != "reg"}
    plain = tuple(operands) == MULTIPLIED and not elsewhere
    in_memory = set(elsewhere) <= set("AB") and set(elsewhere.values()) == {"smem"} and "C" not in operands
    return known and not plain and (not elsewhere or in_memory) and signature.lanes in (32, 128)


@cache
def forms(signature: Signature) -> tuple[Form, ...]:
    """Every form, the one that `run` issues first: A from registers, K-major, the first selector.

    Other majors come with the first selector alone.
    """
    choices = signature.select.get("F", ())
    if not is_warpgroup(signature):
        return tuple(Form(look_up(signature.mnemonic, F=one)) for one in choices) or (Form(signature),)
    found: list[Form] = []
    for selector in choices or (None,):
        chosen: dict[str, Any] = {} if selector is None else {"F": selector}
        registers, memory = (look_up(signature.mnemonic, A_space=space, **chosen) for space in ("reg", "smem"))
        found += [Form(registers), Form(memory)]
        if len(found) == len(MAJORS) == transposes(memory.asm):
            found += [Form(registers, ("K", "MN")), Form(memory, ("MN", "K"))]
    return tuple(found)


def plain_form(signature: Signature) -> Signature:
    """The signature of the form that `run` issues."""
    return forms(signature)[0].signature if fits(signature) else signature


def plainest(signature: Signature, operand: str) -> Window | None:
    """The image that `run` expects of A or B; None for an operand in registers."""
    fragment = forms(signature)[0].signature.operands[operand]
    return window(operand, fragment) if fragment.space == "smem" else None


def slots(form: Form, operand: str, image: Window | None) -> tuple[int, int]:
    """Lanes and values of A or B: the lanes that hold it, or one lane that holds every element of its image."""
    fragment = form.signature.operands[operand]
    if image is None:
        return form.signature.lanes, fragment.values
    return 1, image.size * 8 // fragment.bits


def text(signature: Signature, index: int) -> str:
    """The kernels of all forms; those of the n-th end in _index_n, and `run` is the first's."""
    written = []
    for number, form in enumerate(forms(signature)):
        facts = _facts(form, f"{index}_{number}")
        written += [_FORM.substitute(facts), _RUN.substitute(facts | {"index": index}) if number == 0 else "", "}\n"]
    return "".join(written)


def _facts(form: Form, index: str) -> dict[str, object]:
    s = form.signature
    result = s.operands["D"]
    fixed = [name for name in s.operands if name not in MULTIPLIED]
    names = [name.lower() for name in s.operands if name != "D"] + (["c"] if is_warpgroup(s) else [])
    shared = [name for name in "AB" if s.operands[name].space == "smem"]
    return {
        "index": index,
        "mnemonic": s.mnemonic,
        "issue": issue(s, form.asm),
        "read": READ[result.type],
        "lanes": s.lanes,
        "masks": -(-result.values // 32),
        "d_values": result.values,
        "d_words": words_per_lane(result),
        "c_words": words_per_lane(s.operands.get("C", result)),
        "bad": BAD,
        "planes": PLANES,
        "items": ITEMS,
        "a_slots": A_SLOTS,
        "limit": LIMIT,
        "base": BASE,
        "arguments": ", ".join(names),
        "shared": "\n  ".join(_shared(s, name) for name in shared),
        "fixed": "\n    ".join(_fixed(s, fixed, "(item / a_slots)")),
        "fixed_in": "\n  ".join(_fixed(s, fixed, "plane")),
        "a_hot": _a_hot(s),
        "a_words_in": _load(s, "A", "a_words", "plane"),
        "b_plane": _b_plane(s),
        "ready": (_FENCE if shared else "") + "__syncthreads();",
    }


def _load(signature: Signature, name: str, source: str, index: str) -> str:
    words = words_per_lane(signature.operands[name])
    facts = {"name": name.lower(), "words": words, "source": source, "index": index, "lanes": signature.lanes}
    return _REGISTERS.substitute(facts, stride=words, offset=0)


def _fixed(signature: Signature, names: Sequence[str], index: str) -> Iterator[str]:
    """Metadata and scale factors of one item; a lane's words of all of them stand together."""
    sizes = [words_per_lane(signature.operands[name]) for name in names]
    facts = {"source": "fixed", "index": index, "lanes": signature.lanes, "stride": sum(sizes)}
    for place, (name, words) in enumerate(zip(names, sizes, strict=True)):
        yield _REGISTERS.substitute(facts, name=name.lower(), words=words, offset=sum(sizes[:place]))


def _shared(signature: Signature, name: str) -> str:
    fragment = signature.operands[name]
    words = max(one.size for one in windows(name, fragment, MAJORS)) // 4
    at = A_DESCRIPTOR if name == "A" else B_DESCRIPTOR
    return _SHARED.substitute(name=name.lower(), words=words, at=at, lanes=signature.lanes, alignment=ALIGNMENT)


def _a_hot(signature: Signature) -> str:
    fragment = signature.operands["A"]
    if fragment.space == "smem":
        facts = {"a_total": A_WORDS, "lanes": signature.lanes, "bits": fragment.bits, "one": hex(one(fragment))}
        return _A_HOT_SHARED.substitute(facts)
    words, bits = words_per_lane(fragment), hex(one(fragment))
    return f"u32 a[{words}];\n    one_hot<{shape(fragment)}>(a, {bits}ull, slot, thread);"


def _b_plane(signature: Signature) -> str:
    if signature.operands["B"].space == "smem":
        return _B_SHARED.substitute(b_total=B_WORDS, lanes=signature.lanes)
    return _load(signature, "B", "planes", "plane")

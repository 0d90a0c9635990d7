# SPDX-License-Identifier: Apache-2.0
"""The parts that a tiling's kernel is put together from: index functions, copies, loads, products, reuse.

Every layout becomes one `constexpr` function of digits; loops over values are unrolled, so that the numbers of
registers are constants. No element's place is written anywhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from string import Template

import numpy as np

from gpu_checks.kernels.assembly import READ, issue, operand_list
from gpu_checks.kernels.forms import Form
from gpu_checks.kernels.packing import words_per_lane, words_per_register
from gpu_checks.kernels.smem_matrix import transposes
from gpu_checks.tilings.descriptor import Descriptor, descriptor
from gpu_checks.tilings.strided import Strided
from gpu_checks.tilings.tiling import Feed, Load, Product, Reuse, TilingError, values_of
from isa_tables.signature import Fragment
from isa_tables.signature import signature as look_up

HELPERS = """
typedef unsigned char u8;

// Exchanges `bits` bits of x from `base` on, by those `shift` above.
template <int bits, int base, int shift>
__device__ constexpr int swizzle(int x) { return x ^ (x & ((1 << bits) - 1) << (base + shift)) >> shift; }

template <int bytes> struct alignas(bytes) Chunk { u8 byte[bytes]; };
template <int bytes> __device__ __forceinline__ void move(void* to, const void* from) {
  *(Chunk<bytes>*)to = *(const Chunk<bytes>*)from;
}

__device__ __forceinline__ u32 address(const void* shared) { return (u32)__cvta_generic_to_shared(shared); }

// Element i of registers that hold `per` elements of `bits` bits in `width` words.
template <int per, int bits, int width> __device__ __forceinline__ void put(u32* words, int i, u64 element) {
  #pragma unroll
  for (int w = 0; w < width; ++w) words[i / per * width + w] |= (u32)(element << i % per * bits >> 32 * w);
}
template <int per, int bits, int width> __device__ __forceinline__ u64 get(const u32* words, int i) {
  u64 whole = 0;
  #pragma unroll
  for (int w = 0; w < width; ++w) whole |= (u64)words[i / per * width + w] << 32 * w;
  return whole >> i % per * bits;
}
"""

TYPES = {8: "u8", 16: "u16", 32: "u32", 64: "u64"}
SUMS = {"f32": "float", "f64": "double", "s32": "int"}  # what atomicAdd takes
_WIDEST = 16  # bytes that one instruction copies
NOTHING = f"__device__ const Chunk<{_WIDEST}> nothing = {{}};  // what stands beyond the matrices\n"

_INDEX = Template("__device__ constexpr int $name($parameters) { return $expression; }\n")

_COPY = Template("""\
#pragma unroll
for (int v = 0; v < $values; v += $vector) {
  const int x = ${name}_copy(t, v);
  ${guard}move<$bytes>(&${name}_memory[${name}_shared(x)], $source);
}
""")

_LOAD = Template("""\
u32 $name[$words] = {};
#pragma unroll
for (int v = 0; v < $values; ++v)
  put<$packing>($name, v, ${name}_memory[${name}_shared(${name}_fragment(t, v))]);
""")

_LDMATRIX = Template("""\
u32 $name[$words] = {};
#pragma unroll
for (int s = 0; s < $steps; ++s) {
  u32 r[$registers];
  asm volatile("$mnemonic $operands;"
      : $outputs : "r"(address(&${name}_memory[${name}_shared(${name}_source(t, $row * s))])) : "memory");
  #pragma unroll
  for (int i = 0; i < $registers; ++i) $name[${name}_target($per * ($registers * s + i)) / $per] = r[i];
}
""")

_PRODUCTS = Template("""\
#pragma unroll
for (int k = 0; k < $k; ++k)
  #pragma unroll
  for (int n = 0; n < $n; ++n)
    #pragma unroll
    for (int m = 0; m < $m; ++m) {
      u32* const c = &$result[$words * (m + $m * n)];
      $space::issue(c, $a, $b, c);
    }
""")

_DESCRIPTOR = Template("""\
__device__ __forceinline__ u64 ${name}_descriptor(const void* memory, int x) {
  return ${fields}ull | ((address(memory) + $bytes * ${name}_place(x)) & 0x3FFFF) >> 4;
}
""")

_NARROWING = Template("""\
__device__ __forceinline__ u64 narrow(float x) {
  u16 y;
  asm("cvt.rn.$type.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}
""")

_NARROWED = Template("""\
u32 P[$words] = {};
#pragma unroll
for (int v = 0; v < $values; ++v) put<$packing>(P, v, narrow(first::value(C, P_reuse(v))));
""")


@dataclass(frozen=True, slots=True)
class Fed:
    """An operand on its way: its name in the kernel, its product and side there, its strides in global memory."""

    name: str
    feed: Feed
    product: Product
    operand: str  # A or B
    strides: tuple[int, int]  # of (mn, k), in elements
    limits: tuple[int, int] | None = None  # the matrix's (mn, k) where its last tiles are not full

    @property
    def fragment(self) -> Fragment:
        """What one lane holds of it, or the tile that an instruction reads from shared memory."""
        return self.product.fragment(self.operand)

    @property
    def dealt(self) -> Strided:
        """(thread, value) -> index in the tile."""
        found: Strided = getattr(self.product, self.operand)
        return found

    @property
    def room(self) -> int:
        """Elements of shared memory."""
        shared = self.feed.shared
        return int(shared(np.arange(shared.size)).max()) + 1

    @property
    def descriptor(self) -> Descriptor | None:
        """How an instruction reads it from shared memory itself; None where threads do."""
        if self.fragment.space != "smem":
            return None
        threads, values = self.dealt.modes
        step = values_of(self.fragment)
        at = [threads(t) + values(v) for t in range(threads.size) for v in range(0, values.size, step)]
        return descriptor(self.feed.shared, self.product.extent(self.operand), self.fragment, sorted(set(at)))

    @property
    def over(self) -> Strided:
        """Index in the tile -> element of global memory from the tile's first."""
        return Strided(self.product.extent(self.operand), self.strides)

    def origin(self, mn: str, k: str) -> str:
        """The first element in global memory of the tile that stands mn tiles along m or n and k along k."""
        steps = zip((mn, k), self.product.extent(self.operand), self.strides, strict=True)
        return " + ".join(f"{tile} * {size * stride}" for tile, size, stride in steps)


def index(name: str, layout: Strided, *parameters: str) -> str:
    """A layout as a function of an index, or of an index for each mode."""
    declared = ", ".join(f"int {parameter}" for parameter in parameters)
    return _INDEX.substitute(name=name, parameters=declared, expression=layout.expression(*parameters))


def indices(fed: Fed) -> str:
    """All index functions of an operand, and its descriptor."""
    feed, name = fed.feed, fed.name
    text = index(f"{name}_copy", feed.copy, "t", "v") + index(f"{name}_global", fed.over, "x")
    text += index(f"{name}_shared", feed.shared, "x")
    if feed.load:
        text += index(f"{name}_source", feed.load.source, "t", "v")
        return text + index(f"{name}_target", feed.load.target, "v")
    text += index(f"{name}_fragment", fed.dealt, "t", "v")
    if fed.descriptor:
        text += index(f"{name}_place", feed.shared.plain, "x")
        fields = f"0x{fed.descriptor.fields:x}"
        text += _DESCRIPTOR.substitute(name=name, fields=fields, bytes=fed.fragment.bits // 8)
    return text


def namespace(space: str, product: Product, majors: tuple[str, str]) -> str:
    """`issue` of a product, and `value`, element i of its accumulators as a number."""
    signature, result = product.signature, product.fragment("C")
    value = f"__device__ __forceinline__ {SUMS.get(result.type, 'float')} value(const u32* d, int i) "
    value += f"{{ return {READ[result.type]}; }}\n"
    if "MN" in majors and not transposes(signature.asm):
        raise TilingError(f"{signature.mnemonic} reads K-major matrices; A and B are {' and '.join(majors)}-major")
    called = issue(signature, Form(signature, majors).asm)
    return f"\nnamespace {space} {{\n// {signature.mnemonic}\n{called}{value}}}\n"


def inside(tile: tuple[str, str], extent: tuple[int, int], limits: tuple[int, int]) -> str:
    """Whether element x of a tile of `extent`, the tile'th along both axes, is one of the matrix."""
    (first, second), (rows, columns) = tile, extent
    along, across = f"{first} * {rows} + x % {rows}", f"{second} * {columns} + x / {rows}"
    return f"{along} < {limits[0]} && {across} < {limits[1]}"


def copied(fed: Fed, mn: str, k: str, threads: int) -> str:
    """Global to shared memory: every thread its elements, as wide as both sides allow; zeros beyond the matrix."""
    vector, copiers = _vector(fed), fed.feed.copy.modes[0].size
    source = f"&{fed.name}_matrix[{fed.origin(mn, k)} + {fed.name}_global(x)]"
    if fed.limits:
        source = f"{inside((mn, k), fed.product.extent(fed.operand), fed.limits)} ? (const void*){source} : &nothing"
    return _COPY.substitute(
        name=fed.name,
        values=fed.feed.copy.modes[1].size,
        vector=vector,
        bytes=vector * fed.fragment.bits // 8,
        source=source,
        guard=f"if (t < {copiers}) " if copiers < threads else "",
    )


def _vector(fed: Fed) -> int:
    """The most elements that stand side by side, and aligned, in global and in shared memory, for every thread."""
    threads, values = fed.feed.copy.modes
    tile = threads(np.arange(threads.size))[:, None] + values(np.arange(values.size))
    most = _WIDEST * 8 // fed.fragment.bits
    whole = fed.limits[fed.strides.index(1)] if fed.limits else most  # what stands side by side is in or out as one
    for vector in (most >> n for n in range(most.bit_length())):
        if (values.size | whole) % vector == 0 and all(
            _side_by_side(one(tile), vector) for one in (fed.feed.shared, fed.over)
        ):
            return vector
    raise AssertionError("one element stands beside nothing")


def _side_by_side(places: np.ndarray[tuple[int, ...], np.dtype[np.int64]], vector: int) -> bool:
    groups = places.reshape(-1, vector)
    return bool((groups == groups[:, :1] + np.arange(vector)).all() and (groups[:, 0] % vector == 0).all())


def packing(fragment: Fragment) -> str:
    """The template arguments of `put` and `get`."""
    return f"{fragment.per_register}, {fragment.bits}, {words_per_register(fragment)}"


def loaded(fed: Fed) -> str:
    """Shared memory to registers: by ldmatrix, element by element, or not at all."""
    fragment, count = fed.fragment, fed.dealt.modes[1].size
    if fragment.space == "smem":
        return ""
    words = count // fragment.values * words_per_lane(fragment)
    if fed.feed.load is None:
        return _LOAD.substitute(name=fed.name, words=words, values=count, packing=packing(fragment))
    move = look_up(fed.feed.load.mnemonic)
    registers, row = move.operands["R"].regs, 128 // fragment.bits
    _check_rows(fed, fed.feed.load, row)
    return _LDMATRIX.substitute(
        name=fed.name,
        words=words,
        steps=fed.feed.load.source.modes[1].size // row,
        registers=registers,
        mnemonic=move.mnemonic,
        operands=operand_list(move, move.asm),
        outputs=", ".join(f'"=r"(r[{r}])' for r in range(registers)),
        row=row,
        per=fragment.per_register,
    )


def _check_rows(fed: Fed, load: Load, row: int) -> None:
    """TilingError unless every row that ldmatrix reads is 16 aligned bytes of shared memory, and fills registers."""
    threads, values = load.source.modes
    tile = threads(np.arange(threads.size))[:, None] + values(np.arange(values.size))
    if not _side_by_side(fed.feed.shared(tile), row):
        where = f"{load.source} in {fed.feed.shared}"
        raise TilingError(f"{fed.name}: ldmatrix reads rows of 16 aligned bytes; {where} has others")
    if not _side_by_side(load.target(np.arange(load.target.size)), fed.fragment.per_register):
        raise TilingError(f"{fed.name}: ldmatrix fills whole registers; {load.target} takes them apart")


def multiplied(space: str, product: Product, a: Fed | str, b: Fed, result: str) -> str:
    """Every instruction of a thread's tile, k outermost; A is an operand or the name of registers."""
    m, n, k = product.steps
    return _PRODUCTS.substitute(
        space=space,
        m=m,
        n=n,
        k=k,
        result=result,
        words=words_per_lane(product.fragment("C")),
        a=_argument(a, product.fragment("A"), f"m + {m} * k"),
        b=_argument(b, product.fragment("B"), f"n + {n} * k"),
    )


def _argument(operand: Fed | str, fragment: Fragment, number: str) -> str:
    """The registers or the descriptor of one of an operand's instructions."""
    name = operand if isinstance(operand, str) else operand.name
    if fragment.space == "smem":
        return f"{name}_descriptor({name}_memory, {name}_fragment(t, {values_of(fragment)} * ({number})))"
    return f"&{name}[{words_per_lane(fragment)} * ({number})]"


def accumulators(product: Product, name: str) -> str:
    """Registers for the results of a product, zero."""
    m, n, _ = product.steps
    return f"u32 {name}[{m * n * words_per_lane(product.fragment('C'))}] = {{}};\n"


def narrowing(reuse: Reuse) -> str:
    """How an accumulator becomes an element of the second product's A, and which does."""
    kind = reuse.product.fragment("A").type
    if kind not in ("f16", "bf16"):
        raise TilingError(f"accumulators are narrowed to f16 or bf16, not to {kind}")
    return "\n" + _NARROWING.substitute(type=kind) + index("P_reuse", reuse.values, "v")


def narrowed(product: Product, reuse: Reuse) -> str:
    """The second product's A from the accumulators of the first."""
    fragment, count = reuse.product.fragment("A"), reuse.values.size
    if product.fragment("C").type != "f32" or count != reuse.product.A.modes[1].size:
        raise TilingError(f"{reuse.values} takes {count} of the accumulators, f32, to the second product's A")
    words = count // fragment.values * words_per_lane(fragment)
    return _NARROWED.substitute(words=words, values=count, packing=packing(fragment))

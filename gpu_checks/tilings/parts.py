# SPDX-License-Identifier: Apache-2.0
"""The parts that a tiling's kernel is put together from: index functions, copies, loads, products, reuse.

Every layout becomes one `constexpr` function of digits; loops over values are unrolled, so that the numbers of
registers are constants. No element's place is written anywhere else.
"""

from __future__ import annotations

from typing import NamedTuple

from gpu_checks.arrays import np
from gpu_checks.kernels.assembly import READ, issue, operand_list
from gpu_checks.kernels.forms import InstructionForm
from gpu_checks.kernels.packing import words_per_lane, words_per_register
from gpu_checks.kernels.smem_matrix import transposes
from gpu_checks.kernels.templates import beside
from gpu_checks.tilings.descriptor import TileDescriptor, descriptor
from gpu_checks.tilings.strided import Indices, Strided
from gpu_checks.tilings.tiling import Feed, Reuse, TiledProduct, TilingError, values_of
from isa_tables.signature import Fragment
from isa_tables.signature import signature as look_up

_CUDA = beside(__file__)
# Bits of an element -> the type that carries it: its bits are moved, not its value.
TYPES = {8: "u8", 16: "u16", 32: "u32", 64: "u64"}
SUMS = {"f32": "float", "f64": "double", "s32": "int"}  # what atomicAdd takes
_WIDEST = 16  # bytes that one instruction copies
HELPERS = "\n" + _CUDA["helpers"].template
NOTHING = _CUDA["nothing"].substitute(widest=_WIDEST)


class KernelOperand(NamedTuple):
    """An operand in a kernel: its name, its product and role there, its strides in global memory."""

    name: str  # in the kernel: A, B or V
    feed: Feed  # how it gets to the threads
    product: TiledProduct  # in which it is multiplied
    role: str  # A or B, in its product
    strides: tuple[int, int]  # of (mn, k), in elements
    limits: tuple[int, int] | None = None  # the matrix's (mn, k) where its last tiles are not full

    @property
    def fragment(self) -> Fragment:
        """What one lane holds of it, or the tile that an instruction reads from shared memory."""
        return self.product.fragment(self.role)

    @property
    def distribution(self) -> Strided:
        """(thread, value) -> index in the tile."""
        layout: Strided = getattr(self.product, self.role)
        return layout

    @property
    def room(self) -> int:
        """Elements of shared memory."""
        shared = self.feed.shared
        return int(shared(np.arange(shared.size)).max()) + 1

    @property
    def descriptor(self) -> TileDescriptor | None:
        """How an instruction reads it from shared memory itself; None where threads do."""
        if self.fragment.space != "smem":
            return None
        threads, values = self.distribution.modes
        step = values_of(self.fragment)
        at = [threads(t) + values(v) for t in range(threads.size) for v in range(0, values.size, step)]
        return descriptor(self.feed.shared, self.product.extent(self.role), self.fragment, sorted(set(at)))

    @property
    def over(self) -> Strided:
        """Index in the tile -> element of global memory from the tile's first."""
        return Strided(self.product.extent(self.role), self.strides)

    def origin(self, mn: str, k: str) -> str:
        """Return the first element in global memory of the tile at mn tiles along m or n and k tiles along k."""
        steps = zip((mn, k), self.product.extent(self.role), self.strides, strict=True)
        return " + ".join(f"{tile} * {size * stride}" for tile, size, stride in steps)


def index(name: str, layout: Strided, *parameters: str) -> str:
    """Return a layout as a function of an index, or of an index for each mode."""
    declared = ", ".join(f"int {parameter}" for parameter in parameters)
    return _CUDA["index"].substitute(name=name, parameters=declared, expression=layout.expression(*parameters))


def indices(operand: KernelOperand) -> str:
    """All index functions of an operand, and its descriptor."""
    feed, name = operand.feed, operand.name
    text = index(f"{name}_copy", feed.copy, "t", "v") + index(f"{name}_global", operand.over, "x")
    text += index(f"{name}_shared", feed.shared, "x")
    if feed.load:
        text += index(f"{name}_source", feed.load.source, "t", "v")
        return text + index(f"{name}_target", feed.load.target, "v")
    text += index(f"{name}_fragment", operand.distribution, "t", "v")
    if operand.descriptor:
        text += index(f"{name}_place", feed.shared.plain, "x")
        fields = f"0x{operand.descriptor.fields:x}"
        text += _CUDA["descriptor"].substitute(name=name, fields=fields, bytes=operand.fragment.bits // 8)
    return text


def namespace(space: str, product: TiledProduct, majors: tuple[str, str]) -> str:
    """`issue` of a product, and `value`, element i of its accumulators as a number."""
    signature, result = product.signature, product.fragment("C")
    if "MN" in majors and not transposes(signature.asm):
        raise TilingError(f"{signature.mnemonic} reads K-major matrices; A and B are {' and '.join(majors)}-major")
    facts = {
        "space": space,
        "mnemonic": signature.mnemonic,
        "issue": issue(signature, InstructionForm(signature, majors).asm),
    }
    return "\n" + _CUDA["product_space"].substitute(facts, type=SUMS.get(result.type, "float"), read=READ[result.type])


def inside(tile: tuple[str, str], extent: tuple[int, int], limits: tuple[int, int]) -> str:
    """Whether element x of a tile of `extent`, the tile'th along both axes, is one of the matrix."""
    facts = dict(zip(("along", "across", "rows", "columns"), (*tile, *extent), strict=True))
    return _CUDA["inside"].substitute(facts, most_rows=limits[0], most_columns=limits[1])


def write_copies(operand: KernelOperand, mn: str, k: str, threads: int) -> str:
    """Global to shared memory, as wide as source and destination allow for every thread; zeros beyond the matrix."""
    vector, copiers = _vector(operand), operand.feed.copy.modes[0].size
    source = f"&{operand.name}_matrix[{operand.origin(mn, k)} + {operand.name}_global(x)]"
    if operand.limits:
        within = inside((mn, k), operand.product.extent(operand.role), operand.limits)
        source = f"{within} ? (const void*){source} : &nothing"
    return _CUDA["copy"].substitute(
        name=operand.name,
        values=operand.feed.copy.modes[1].size,
        vector=vector,
        bytes=vector * operand.fragment.bits // 8,
        source=source,
        guard=f"if (t < {copiers}) " if copiers < threads else "",
    )


def _vector(operand: KernelOperand) -> int:
    """Return the most elements that are contiguous, and aligned, in global and in shared memory, for every thread."""
    tile, most = _table(operand.feed.copy), _WIDEST * 8 // operand.fragment.bits
    # contiguous elements are all inside the matrix or all outside
    whole = operand.limits[operand.strides.index(1)] if operand.limits else most
    places = operand.feed.shared(tile), operand.over(tile)
    for vector in (most >> n for n in range(most.bit_length())):
        if (tile.shape[1] | whole) % vector == 0 and all(_side_by_side(table, vector) for table in places):
            return vector
    raise AssertionError("a vector of one element is always contiguous")


def _table(layout: Strided) -> Indices:
    """Return the layout at every (thread, value)."""
    threads, values = layout.modes
    return threads(np.arange(threads.size))[:, None] + values(np.arange(values.size))


def _side_by_side(places: Indices, vector: int) -> bool:
    groups = places.reshape(-1, vector)
    return bool((groups == groups[:, :1] + np.arange(vector)).all() and (groups[:, 0] % vector == 0).all())


def packing(fragment: Fragment) -> str:
    """Return the template arguments of `put` and `get`."""
    return f"{fragment.per_register}, {fragment.bits}, {words_per_register(fragment)}"


def write_loads(operand: KernelOperand) -> str:
    """Shared memory to registers: by ldmatrix, element by element, or not at all."""
    fragment, count = operand.fragment, operand.distribution.modes[1].size
    if fragment.space == "smem":
        return ""
    words = count // fragment.values * words_per_lane(fragment)
    if operand.feed.load is None:
        return _CUDA["load"].substitute(name=operand.name, words=words, values=count, packing=packing(fragment))
    move = look_up(operand.feed.load.mnemonic)
    registers, row = move.operands["R"].regs, 128 // fragment.bits
    source, target = operand.feed.load.source, operand.feed.load.target
    if not _side_by_side(operand.feed.shared(_table(source)), row):
        where = f"{source} in {operand.feed.shared}"
        raise TilingError(f"{operand.name}: ldmatrix reads rows of 16 aligned bytes; {where} has others")
    if not _side_by_side(target(np.arange(target.size)), fragment.per_register):
        raise TilingError(f"{operand.name}: ldmatrix fills whole registers; {target} splits them")
    return _CUDA["ldmatrix"].substitute(
        name=operand.name,
        words=words,
        steps=source.modes[1].size // row,
        registers=registers,
        mnemonic=move.mnemonic,
        operands=operand_list(move, move.asm),
        outputs=", ".join(f'"=r"(r[{r}])' for r in range(registers)),
        row=row,
        per=fragment.per_register,
    )


def write_products(space: str, product: TiledProduct, a: KernelOperand | str, b: KernelOperand, result: str) -> str:
    """Every instruction of a thread's tile, k outermost; A is an operand or the name of registers."""
    m, n, k = product.steps
    return _CUDA["products"].substitute(
        space=space,
        m=m,
        n=n,
        k=k,
        result=result,
        words=words_per_lane(product.fragment("C")),
        a=_argument(a, product.fragment("A"), f"m + {m} * k"),
        b=_argument(b, product.fragment("B"), f"n + {n} * k"),
    )


def _argument(operand: KernelOperand | str, fragment: Fragment, number: str) -> str:
    """Return the registers or the descriptor of one of an operand's instructions."""
    name = operand if isinstance(operand, str) else operand.name
    if fragment.space == "smem":
        return f"{name}_descriptor({name}_memory, {name}_fragment(t, {values_of(fragment)} * ({number})))"
    return f"&{name}[{words_per_lane(fragment)} * ({number})]"


def accumulators(product: TiledProduct, name: str) -> str:
    """Return registers for the results of a product, zero."""
    m, n, _ = product.steps
    return _CUDA["accumulators"].substitute(name=name, words=m * n * words_per_lane(product.fragment("C")))


def narrowing(reuse: Reuse) -> str:
    """How an accumulator becomes an element of the second product's A, and which does."""
    kind = reuse.product.fragment("A").type
    if kind not in ("f16", "bf16"):
        raise TilingError(f"accumulators are narrowed to f16 or bf16, not to {kind}")
    return "\n" + _CUDA["narrowing"].substitute(type=kind) + index("P_reuse", reuse.values, "v")


def write_narrowing(product: TiledProduct, reuse: Reuse) -> str:
    """Return the second product's A from the accumulators of the first."""
    fragment, count = reuse.product.fragment("A"), reuse.values.size
    if product.fragment("C").type != "f32" or count != reuse.product.A.modes[1].size:
        raise TilingError(f"{reuse.values} takes {count} of the accumulators, f32, to the second product's A")
    words = count // fragment.values * words_per_lane(fragment)
    return _CUDA["narrowed"].substitute(words=words, values=count, packing=packing(fragment))

# SPDX-License-Identifier: Apache-2.0
"""A tiled MMA turned into the plain layouts that `gpu_checks.tilings` makes a kernel from.

A kernel author gives an atom, an atoms layout, a permutation, a tile, where each operand lies in memory and which copy
reads it. The export has layouts only, as plain numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd

from gpu_checks.tilings import Feed, Load, Strided, TiledProduct, TilingError, TilingKernel
from layouts import (
    ComposedLayout,
    Layout,
    LayoutError,
    Swizzle,
    append,
    batched,
    coalesce,
    composition,
    left_inverse,
    make_layout,
    tile_to_shape,
)
from layouts.atoms import Atom, registry
from layouts.atoms import CopyAtom as CopyEntry
from layouts.tiled import TiledCopy, TiledCopyAtom, TiledMMA
from layouts.tiled.tiled_mma import AXES

Shared = Layout | ComposedLayout
Permutation = tuple[int | Layout | None, ...]
Tile = tuple[int, int, int]
_CHUNK = 128  # bits that a thread copies at once: the widest vector of ld and cp.async
_HALF = 16  # bits of the elements of ldmatrix.m8n8: PTX ISA 9.7.14.5.15
_LOADS = {  # major -> the matrix loads, the widest first
    "K": ("SM75_U32x4_LDSM_N", "SM75_U32x2_LDSM_N", "SM75_U32x1_LDSM_N"),
    "MN": ("SM75_U16x8_LDSM_T", "SM75_U16x4_LDSM_T", "SM75_U16x2_LDSM_T"),
}


@dataclass(frozen=True, slots=True)
class FeedSpec:
    """The spec of an operand's feed: its major in global memory, its layout in shared memory, the copy from there."""

    major: str  # K or MN
    piece: Shared | None = None  # of shared memory, repeated over the tile; None: compact, neighbours along the major
    load: str = ""  # ldmatrix, by its copy atom; empty: each thread loads its elements, or the instruction does


@dataclass(frozen=True, slots=True)
class KernelMMA:
    """A tiled MMA of one instruction, and the CTA's tile."""

    mnemonic: str
    mma: TiledMMA
    tile: Tile
    A_space: str = "reg"

    def layout_tv(self, operand: str) -> Layout:
        """(thread, (value, (rest, rest))) -> index in the operand's part of the tile."""
        threads, (values, rests) = self.mma.layout_TV(operand, Layout(self.extent(operand)))
        steps = make_layout(*map(coalesce, rests))
        return make_layout(coalesce(threads), make_layout(coalesce(values), steps))

    def extent(self, operand: str) -> tuple[int, int]:
        """Return the operand's extent in the tile: (m, k), (n, k) or (m, n)."""
        first, second = AXES[operand]
        return self.tile[first], self.tile[second]

    @property
    def product(self) -> TiledProduct:
        """The product, exported."""
        a, b, c = (read_strides(self.layout_tv(operand)) for operand in "ABC")
        return TiledProduct(self.mnemonic, self.tile, a, b, c, self.A_space)

    def feed(self, operand: str, spec: FeedSpec) -> Feed:
        """Return the feed of an operand, exported."""
        extent = self.extent(operand)
        bits = self.product.fragment(operand).bits
        compact = Layout(extent, (extent[1], 1) if spec.major == "K" else (1, extent[0]))
        shared = compact if spec.piece is None else tile_to_shape(spec.piece, extent)
        load = _load(self, operand, spec.load) if spec.load else None
        return Feed(
            spec.major,
            read_strides(copying(extent, spec.major, _CHUNK // bits, self.mma.size)),
            read_strides(shared),
            load,
        )


def read_strides(layout: Shared) -> Strided:
    """Return the layout as plain numbers; LayoutError where it is composed of anything but a swizzle and a layout."""
    if isinstance(layout, Layout):
        return Strided(layout.shape, layout.stride)
    swizzle, inner = layout.layout_a, layout.layout_b
    if not isinstance(swizzle, Swizzle) or not isinstance(inner, Layout) or layout.offset:
        raise LayoutError(f"{layout} is not a swizzle of a layout")
    return Strided(inner.shape, inner.stride, (swizzle.bits, swizzle.base, swizzle.shift))


def copying(extent: tuple[int, int], major: str, chunk: int, threads: int) -> Layout:
    """(thread, value) -> index in a tile (mn, k): neighbouring threads copy neighbouring chunks of the major axis.

    A tile that is narrower than a chunk is copied in chunks of its width.

    >>> print(copying((16, 16), "K", 8, 32), copying((4, 16), "MN", 8, 16))
    ((2,16),(8,1)):((128,1),(16,16)) ((1,16),(4,1)):((4,4),(1,64))
    """
    mn, k = extent
    along, across = (k, mn) if major == "K" else (mn, k)
    step, stride = (mn, 1) if major == "K" else (1, mn)  # of one element along and across
    chunk = min(chunk, along)
    columns = along // chunk
    abreast = gcd(threads, columns) if threads < columns else columns
    lines = max(n for n in range(1, min(threads // abreast, across) + 1) if across % n == 0)
    who = Layout((abreast, lines), (chunk * step, stride))
    values = Layout((chunk, across // lines), (step, lines * stride))
    if abreast < columns:  # threads are fewer than a line has chunks
        values = append(values, Layout(columns // abreast, abreast * chunk * step))
    return make_layout(who, values)


def _load(kernel: KernelMMA, operand: str, name: str) -> Load:
    """Return the tiled copy of an ldmatrix atom over the operand's tile: the rows read, the registers filled."""
    entry = registry()[name]
    if not isinstance(entry, CopyEntry) or not entry.ptx:
        raise LayoutError(f"{name} is not a copy atom with an instruction")
    whole, tile = kernel.extent(operand), kernel.mma.tile_shape(operand)
    tiled = TiledCopy(TiledCopyAtom.of(entry, _HALF), getattr(kernel.mma, f"layout{operand}_TV"), tile)
    spread = Layout(tile, (1, whole[0]))
    rest = Layout((whole[0] // tile[0], whole[1] // tile[1]), (tile[0], whole[0] * tile[1]))
    source, target = (
        make_layout(coalesce(composition(spread, side[0])), coalesce(make_layout(composition(spread, side[1]), rest)))
        for side in (tiled.layoutS_TV, tiled.layoutD_TV)
    )
    return Load(entry.ptx[0], read_strides(source), read_strides(rename_kernel(kernel.layout_tv(operand), target)))


def rename_kernel(given: Layout, wanted: Layout) -> Layout:
    """Value of `wanted` -> value of `given` at the same index of the tile, for two (thread, value) layouts.

    LayoutError unless every thread of both has the same elements.
    """
    values = coalesce(composition(left_inverse(given[1]), wanted[1]))
    differ = batched.first_difference(given[0], wanted[0])
    if differ is not None or batched.first_difference(batched.compose(given[1], values), wanted[1]) is not None:
        raise LayoutError(f"threads have other elements in {wanted} than in {given}")
    return values


def piece(major: str, width: int, bits: int) -> Shared:
    """Eight lines of `width` bytes of shared memory, swizzled as wgmma does when they are wider than 16.

    >>> print(piece("K", 128, 16), piece("MN", 32, 32))
    Sw<3,3,3> o 0 o (8,64):(64,1) Sw<1,2,3> o 0 o (8,8):(1,8)
    """
    line, chunk = width * 8 // bits, _CHUNK // bits
    block = Layout((8, line), (line, 1)) if major == "K" else Layout((line, 8), (1, line))
    count = (width // 16).bit_length() - 1
    return composition(Swizzle(count, chunk.bit_length() - 1, 3), block) if count else block


def with_instruction(atom: Atom, mma: TiledMMA, tile: Tile) -> KernelMMA:
    """Return a tiled MMA with its atom's instruction; an atom without one is a scalar multiply-add."""
    mnemonic = atom.ptx[0] if atom.ptx else f"fma.rn.{atom.types['A']}"
    return KernelMMA(mnemonic, mma, tile, atom.space.get("A", "reg"))


def tiling_of(
    name: str, kernel: KernelMMA, a: FeedSpec, b: FeedSpec, tiles: Tile = (2, 2, 3), size: Tile | None = None
) -> TilingKernel:
    """Return a kernel for A * B over these tiles along m, n and k, or over as many as matrices of `size` need."""
    if size is None:
        short = None
    else:
        m, n, k = (-(-whole // extent) for whole, extent in zip(size, kernel.tile, strict=True))
        tiles = m, n, k
        m, n, k = (count * extent - whole for count, extent, whole in zip(tiles, kernel.tile, size, strict=True))
        short = (m, n, k) if m or n or k else None
    product, feeds = kernel.product, (kernel.feed("A", a), kernel.feed("B", b))
    return TilingKernel(name, kernel.mma.size, product, *feeds, tiles, short=short)


def feed_spec(kernel: KernelMMA, operand: str, major: str, shared: Shared | None, matrix_load: bool) -> FeedSpec:
    """Return an operand's feed: shared memory as given, or as its instruction reads it; if asked for, by the widest
    ldmatrix that fills its registers.

    TilingError where no matrix load fills the operand's registers, or no swizzle fits its tile.
    """
    fragment, extent = kernel.product.fragment(operand), kernel.extent(operand)
    if fragment.space == "smem":
        if matrix_load:
            raise TilingError(
                f"{operand} is read from shared memory by {kernel.mnemonic} itself: ldmatrix cannot be used"
            )
        return FeedSpec(major, shared or _canonical(extent, major, fragment.bits, operand))
    spec = FeedSpec(major, shared)
    if not matrix_load:
        return spec
    if fragment.bits != _HALF:
        raise TilingError(f"{operand}: ldmatrix is exported for elements of {_HALF} bits, not of {fragment.bits}")
    for name in _LOADS[major]:
        try:
            chosen = replace(spec, load=name)
            kernel.feed(operand, chosen)
            return chosen
        except LayoutError as error:
            fault = str(error)
    raise TilingError(f"{operand}: no ldmatrix fills its registers from {major}-major memory: {fault}")


def _canonical(extent: tuple[int, int], major: str, bits: int, operand: str) -> Shared:
    """Return the widest piece that a matrix descriptor can describe and that divides the tile.

    >>> _canonical((8, 24), "K", 16, "A") == piece("K", 16, 16), _canonical((8, 48), "K", 16, "A") == piece("K", 32, 16)
    (True, True)
    """
    line, lines = extent[::-1] if major == "K" else extent
    for width in (128, 64, 32, 16):
        if line * bits % (width * 8) == lines % 8 == 0:
            return piece(major, width, bits)
    raise TilingError(f"{operand}: no {major}-major lines that a descriptor can describe divide a tile of {extent}")

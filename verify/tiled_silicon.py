# SPDX-License-Identifier: Apache-2.0
"""Tiled MMAs handed to silicon: `python -m verify.tiled_silicon` derives the tilings that `gpu_checks.tilings` runs.

A tiling is stated as a kernel author states it: atom, atoms layout, permutation, tile, where each operand lies in
shared memory and which copy reads it. What is handed over are layouts alone, as plain numbers.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gpu_checks.bank_patterns import matrices
from gpu_checks.banks import LEAST, Observation, recordings_of_banks
from gpu_checks.tilings import (
    Feed,
    Load,
    Product,
    Reuse,
    Strided,
    Tiling,
    TilingError,
    check,
    recordings_of_tilings,
    tilings,
)
from gpu_checks.tilings.runner import hash_of
from gpu_checks.tilings.store import lines
from isa_tables import IsaError
from layouts import (
    ComposedLayout,
    Layout,
    LayoutError,
    Swizzle,
    coalesce,
    composition,
    left_inverse,
    make_layout,
    size,
    tile_to_shape,
)
from layouts.atoms import Atom, AtomFileError, registry
from layouts.atoms import CopyAtom as CopyEntry
from layouts.banks import Operation, matrix_wavefronts, wavefronts
from layouts.tiled import CopyAtom, TiledCopy, TiledMMA
from layouts.tiled.tiled_mma import AXES
from verify import cli, tiling_stated
from verify.tiling_subject import find

DESCRIPTION = """Derive kernels' layouts from tiled MMAs. Without arguments: compare what is shipped and recorded with
what the layouts say today. With FILEs: hand their tilings over, for `python -m gpu_checks.tilings --file`."""
Shared = Layout | ComposedLayout
Permutation = tuple[int | Layout | None, ...]
Tile = tuple[int, int, int]
_CHUNK = 128  # bits that a thread copies at once


@dataclass(frozen=True, slots=True)
class Side:
    """How A or B comes to the threads: its major in global memory, its place in shared memory, who reads it there."""

    major: str  # K or MN
    piece: Shared | None = None  # of shared memory, repeated over the tile; None: compact, the major's axis first
    load: str = ""  # ldmatrix as CuTe names the copy; empty: each thread its elements, or the instruction itself


@dataclass(frozen=True, slots=True)
class Wanted:
    """A tiled MMA of one instruction, and the CTA's tile."""

    mnemonic: str
    mma: TiledMMA
    tile: Tile
    A_space: str = "reg"

    def dealt(self, operand: str) -> Layout:
        """(thread, (value, (rest, rest))) -> index in the operand's part of the tile."""
        threads, (values, rests) = self.mma.layout_TV(operand, Layout(self.extent(operand)))
        steps = make_layout(*map(coalesce, rests))
        return make_layout(coalesce(threads), make_layout(coalesce(values), steps))

    def extent(self, operand: str) -> tuple[int, int]:
        """The operand's part of the tile: (m, k), (n, k) or (m, n)."""
        first, second = AXES[operand]
        return self.tile[first], self.tile[second]

    @property
    def product(self) -> Product:
        """What is handed over."""
        a, b, c = (handed(self.dealt(operand)) for operand in "ABC")
        return Product(self.mnemonic, self.tile, a, b, c, self.A_space)

    def feed(self, operand: str, side: Side) -> Feed:
        """The way of an operand, from its side."""
        extent = self.extent(operand)
        bits = self.product.fragment(operand).bits
        compact = Layout(extent, (extent[1], 1) if side.major == "K" else (1, extent[0]))
        shared = compact if side.piece is None else tile_to_shape(side.piece, extent)
        load = _load(self, operand, side.load) if side.load else None
        return Feed(
            side.major, handed(copying(extent, side.major, _CHUNK // bits, self.mma.size)), handed(shared), load
        )


def handed(layout: Shared) -> Strided:
    """A layout as plain numbers."""
    if isinstance(layout, Layout):
        return Strided(layout.shape, layout.stride)
    swizzle, inner = layout.layout_a, layout.layout_b
    if not isinstance(swizzle, Swizzle) or not isinstance(inner, Layout) or layout.offset:
        raise LayoutError(f"{layout} is not a swizzle of a layout")
    return Strided(inner.shape, inner.stride, (swizzle.bits, swizzle.base, swizzle.shift))


def copying(extent: tuple[int, int], major: str, chunk: int, threads: int) -> Layout:
    """(thread, value) -> index in a tile (mn, k): neighbour threads take neighbour chunks of the major axis."""
    mn, k = extent
    along, across = (k, mn) if major == "K" else (mn, k)
    step, stride = (mn, 1) if major == "K" else (1, mn)  # of one element along and across
    chunk = min(chunk, along)
    lines = min(threads * chunk // along, across)
    who = Layout((along // chunk, lines), (chunk * step, stride))
    return make_layout(who, Layout((chunk, across // lines), (step, lines * stride)))


def _load(wanted: Wanted, operand: str, name: str) -> Load:
    """The tiled copy of an ldmatrix atom over the operand's tile: rows read, and registers filled."""
    found = registry()[name]
    if not isinstance(found, CopyEntry) or not found.ptx:
        raise LayoutError(f"{name} is no copy atom with an instruction")
    whole, tile = wanted.extent(operand), wanted.mma.tile_shape(operand)
    tiled = TiledCopy(CopyAtom.of(found, 16), getattr(wanted.mma, f"layout{operand}_TV"), tile)
    spread = Layout(tile, (1, whole[0]))
    rest = Layout((whole[0] // tile[0], whole[1] // tile[1]), (tile[0], whole[0] * tile[1]))
    source, target = (
        make_layout(coalesce(composition(spread, side[0])), coalesce(make_layout(composition(spread, side[1]), rest)))
        for side in (tiled.layoutS_TV, tiled.layoutD_TV)
    )
    return Load(found.ptx[0], handed(source), handed(renamed(wanted.dealt(operand), target)))


def renamed(held: Layout, wanted: Layout) -> Layout:
    """Value of `wanted` -> value of `held` at the same index of the tile, for two (thread, value) layouts.

    LayoutError unless every thread of both has the same elements.
    """
    values = coalesce(composition(left_inverse(held[1]), wanted[1]))
    every = np.arange(size(held[0]))
    same = np.array_equal(held[0](every), wanted[0](every))
    if not same or not np.array_equal(held[1](values(np.arange(size(values)))), wanted[1](np.arange(size(values)))):
        raise LayoutError(f"{wanted} asks threads for elements that {held} gives to others")
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


def _mma(name: str, atoms: Layout | Tile, tile: Tile, permutation: Permutation = ()) -> Wanted:
    """A tiled MMA of a registered atom."""
    atom = registry()[name]
    if not isinstance(atom, Atom):
        raise LayoutError(f"{name} is no MMA atom")
    return _wanted(atom, TiledMMA(atom, atoms, permutation), tile)


def _wanted(atom: Atom, mma: TiledMMA, tile: Tile) -> Wanted:
    """With the atom's instruction; an atom without one is a scalar multiply-add."""
    mnemonic = atom.ptx[0] if atom.ptx else f"fma.rn.{atom.types['A']}"
    return Wanted(mnemonic, mma, tile, atom.space.get("A", "reg"))


def _tiling(name: str, wanted: Wanted, a: Side, b: Side, tiles: Tile = (2, 2, 3)) -> Tiling:
    return Tiling(name, wanted.mma.size, wanted.product, wanted.feed("A", a), wanted.feed("B", b), tiles)


def _attention(name: str, first: Wanted, sides: tuple[Side, Side], second: Wanted, v: Side) -> Tiling:
    """(A * B) * V over two tiles along each of m, the columns of V, k, and the rows of V."""
    plain = _tiling(name, first, *sides, (2, 2, 2))
    values = renamed(first.dealt("C"), second.dealt("A"))
    return replace(plain, reuse=Reuse(second.product, handed(values), second.feed("B", v)), walked=2)


def shipped() -> Iterator[Tiling]:
    """The tilings whose runs are recorded."""
    yield from _simt()
    yield from _warps()
    yield from _matrix_loads()
    yield from _warpgroups()
    yield from _chains()


def _simt() -> Iterator[Tiling]:
    k, mn = Side("K"), Side("MN")
    fma = "UniversalFMA<{0},{0},{0},{0}>"
    seed = Layout((16, 4, 1), (4, 1, 0))
    four = (Layout((16, 4), (4, 1)), Layout((8, 4), (4, 1)), None)  # each thread four neighbours along m and n
    yield _tiling("simt_f32", _mma(fma.format("float"), seed, (64, 32, 8)), k, k)
    yield _tiling("simt_f64_vectors", _mma(fma.format("double"), (16, 8, 1), (64, 32, 8), four), mn, mn)
    yield _tiling("simt_dp4a", _mma("SM61_DP4A", (8, 16, 1), (32, 32, 32)), k, k)


def _warps() -> Iterator[Tiling]:
    k, mn, padded = Side("K"), Side("MN"), Side("K", Layout((64, 32), (40, 1)))
    f16, square = "SM80_16x8x16_F32F16F16F32_TN", (2, 2, 1)
    reordered = (None, Layout((8, 2, 2), (1, 16, 8)), None)  # the two atoms of a thread stand side by side
    yield _tiling("mma_f16", _mma(f16, square, (64, 32, 32)), padded, k)
    yield _tiling("mma_f16_permuted", _mma(f16, square, (64, 64, 32), reordered), k, mn)
    yield _tiling("mma_f16_half_sums", _mma("SM80_16x8x16_F16F16F16F16_TN", (1, 2, 1), (32, 32, 32)), mn, k)
    yield _tiling("mma_bf16_enlarged", _mma("SM80_16x8x16_F32BF16BF16F32_TN", square, (64, 64, 32), (64, 32, 32)), k, k)
    yield _tiling("mma_tf32", _mma("SM80_16x8x8_F32TF32TF32F32_TN", square, (64, 32, 16)), k, mn)
    yield _tiling("mma_s8", _mma("SM80_16x8x32_S32S8S8S32_TN", square, (64, 32, 64)), k, k)
    yield _tiling("mma_e4m3", _mma("SM89_16x8x32_F32E4M3E4M3F32_TN", square, (64, 32, 64)), k, k)
    yield _tiling("mma_f64", _mma("SM80_8x8x4_F64F64F64F64_TN", square, (32, 32, 16)), k, k)
    yield _tiling("mma_f16_quadpairs", _mma("SM70_8x8x4_F32F16F16F32_TN", square, (32, 32, 16)), k, k)
    yield _tiling("mma_f16_split_k", _mma(f16, (1, 2, 2), (32, 32, 64)), k, k)


def _matrix_loads() -> Iterator[Tiling]:
    f16, square, wide = "SM80_16x8x16_F32F16F16F32_TN", (2, 2, 1), (32, 32, 16)
    wanted = _mma(f16, square, (64, 64, 64), wide)
    straight, across = "SM75_U32x4_LDSM_N", "SM75_U16x8_LDSM_T"
    sides = {major: Side(major, piece(major, 128, 16), load) for major, load in (("K", straight), ("MN", across))}
    for name, a, b in (("tn", "K", "K"), ("tt", "K", "MN"), ("nt", "MN", "MN")):
        yield _tiling(f"ldmatrix_f16_{name}", wanted, sides[a], sides[b])
    narrow = _mma(f16, square, (64, 32, 32))
    yield _tiling(
        "ldmatrix_f16_sw64", narrow, Side("K", piece("K", 64, 16), straight), Side("K", None, "SM75_U32x2_LDSM_N")
    )


def _warpgroups() -> Iterator[Tiling]:
    def side(major: str, width: int, bits: int, load: str = "") -> Side:
        return Side(major, piece(major, width, bits), load)

    f16, bf16, one = "SM90_64x{}x16_F32F16F16_SS", "SM90_64x{}x16_F32BF16BF16_{}", (1, 1, 1)
    yield _tiling("wgmma_f16_ss", _mma(f16.format(64), one, (64, 64, 64)), side("K", 128, 16), side("K", 128, 16))
    two = _mma(f16.format(32), (2, 1, 1), (128, 32, 32))
    yield _tiling("wgmma_f16_ss_two", two, side("MN", 128, 16), side("MN", 64, 16))
    plain = _mma(bf16.format(32, "SS"), one, (64, 64, 32))
    yield _tiling("wgmma_bf16_ss", plain, side("K", 16, 16), side("MN", 16, 16))
    tf32 = _mma("SM90_64x32x8_F32TF32TF32_SS_TN", one, (64, 32, 16))
    yield _tiling("wgmma_tf32_ss", tf32, side("K", 64, 32), side("K", 32, 32))
    s8 = _mma("SM90_64x32x32_S32S8S8_SS_TN", one, (64, 64, 64))
    yield _tiling("wgmma_s8_ss", s8, side("K", 64, 8), side("K", 32, 8))
    e4m3 = _mma("SM90_64x32x32_F32E4M3E4M3_SS_TN", one, (64, 32, 64))
    yield _tiling("wgmma_e4m3_ss", e4m3, side("K", 64, 8), side("K", 64, 8))
    mixed = _mma(bf16.format(64, "RS"), one, (64, 64, 64))
    yield _tiling("wgmma_bf16_rs", mixed, side("K", 128, 16, "SM75_U32x4_LDSM_N"), side("MN", 128, 16))


def _chains() -> Iterator[Tiling]:
    first = _mma("SM80_16x8x16_F32F16F16F32_TN", (4, 1, 1), (64, 32, 32), (None, 16, None))
    row, column = (
        Side("K", piece("K", 64, 16), "SM75_U32x4_LDSM_N"),
        Side("MN", piece("MN", 64, 16), "SM75_U16x8_LDSM_T"),
    )
    yield _attention("attention_f16", first, (row, row), first, column)
    scores = _mma("SM90_64x64x16_F32F16F16_SS", (1, 1, 1), (64, 64, 64))
    weighed = _mma("SM90_64x32x16_F32F16F16_RS", (1, 1, 1), (64, 32, 64))
    swizzled = Side("K", piece("K", 128, 16))
    yield _attention("attention_wgmma", scores, (swizzled, swizzled), weighed, Side("MN", piece("MN", 64, 16)))


@dataclass(frozen=True, slots=True)
class Compared:
    """What the model of bank conflicts says of an access, or its operation's least, and what a GPU showed."""

    observed: Observation
    model: int

    @property
    def same(self) -> bool:
        """Whether the wavefronts are as many."""
        return self.model == self.observed.wavefronts


def compared() -> Iterator[Compared]:
    """Every recorded access pattern against `layouts.banks`."""
    for observed in recordings_of_banks():
        pattern, operation = observed.pattern, observed.pattern.operation
        if matrices(operation):
            model = matrix_wavefronts(pattern.rows)
        else:
            model = wavefronts(pattern.addresses, pattern.bits, Operation(operation))
        yield Compared(observed, max(model.total, LEAST.get(operation, 0)))


def stated(file: Path) -> Iterator[Tiling]:
    """The tilings of a file of `verify.tiling`, their operands K-major; UsageError for one that cannot be handed over.

    Shared memory is what the file says, or compact. Layouts that the file claims are for `verify.tiling` to judge.
    """
    for one in tiling_stated.load(file):
        atom = find(one, registry())
        try:
            mma = TiledMMA(atom, one.atoms_layout, one.permutation)
            wanted = _wanted(atom, mma, one.tile or mma.shape_mnk)
            tiling = _tiling(one.name, wanted, Side("K", one.smem.get("A")), Side("K", one.smem.get("B")))
            check(tiling)
        except (IsaError, LayoutError, TilingError) as error:
            raise cli.UsageError(f"{file}: {one.name}: {error}") from error
        yield tiling


def main(argv: Sequence[str] | None = None) -> int:
    """Hand over the tilings that the arguments name; returns the exit code."""
    return cli.guarded(_main, argv)


def _main(argv: Sequence[str] | None) -> int:
    parser = argparse.ArgumentParser(prog="python -m verify.tiled_silicon", description=DESCRIPTION, epilog=cli.EPILOG)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="tilings as `verify.tiling` reads them")
    parser.add_argument("-o", "--output", metavar="FILE", help="write them there, as `gpu_checks.tilings --file` reads")
    options = parser.parse_args(argv)
    try:
        found = [tiling for file in options.files for tiling in stated(file)] if options.files else list(shipped())
    except AtomFileError as error:
        raise cli.UsageError(str(error)) from error
    if not found:
        raise cli.UsageError("no tiling is stated")
    if options.files or options.output:
        cli.write(lines(found), options.output)
        return cli.Exit.STANDS
    return _compare(found)


def _compare(derived: Sequence[Tiling]) -> int:
    """Print where the shipped tilings, the recordings and the model of bank conflicts are not what they should be."""
    shelf, runs, banks = tilings(), recordings_of_tilings(), list(compared())
    stale = [tiling.name for tiling in derived if tiling not in shelf]
    wrong = [
        run.tiling.name for run in runs if not (run.equal and run.powered and run.kernel_hash == hash_of(run.tiling))
    ]
    apart = [
        f"{one.observed.pattern.name}: {one.model}, observed {one.observed.wavefronts}" for one in banks if not one.same
    ]
    for count, what, differ in (
        (len(derived), "tilings are shipped as they are derived", stale),
        (len(runs), "recorded runs equal numpy, by the kernels of today", wrong),
        (len(banks), "access patterns take the wavefronts that layouts.banks counts", apart),
    ):
        print(f"{count - len(differ)} of {count} {what}", *differ, sep="\n  ")
    return cli.Exit.REFUTED if stale or wrong or apart else cli.Exit.STANDS


if __name__ == "__main__":
    raise SystemExit(main())

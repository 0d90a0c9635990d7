# SPDX-License-Identifier: Apache-2.0
"""Tiled MMAs for a GPU: `python -m verify.tiling.gpu_kernels` derives the tilings that `gpu_checks.tilings` runs.

A tiling is stated as a kernel author states it: atom, atoms layout, permutation, tile, where each operand lies in
shared memory and which copy reads it. What is handed over are layouts alone, as plain numbers.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gpu_checks.banks.command import LEAST, Observation, recordings_of_banks
from gpu_checks.banks.patterns import matrices
from gpu_checks.tilings import Reuse, Tiling, TilingError, check, recordings_of_tilings, tilings
from gpu_checks.tilings.runner import hash_of
from gpu_checks.tilings.store import lines
from isa_tables import IsaError
from layouts import Layout, LayoutError
from layouts.atoms import Atom, AtomFileError, registry
from layouts.banks import Operation, matrix_wavefronts, wavefronts
from layouts.tiled import TiledMMA
from verify.cli import ending, output
from verify.cli.arguments import EPILOG
from verify.core.errors import Exit, SpecError, UsageError
from verify.tiling import spec
from verify.tiling.bind import find
from verify.tiling.export import Permutation, Side, Tile, Wanted, covering, handed, instructed, piece, renamed, seated
from verify.tiling.spec import Stated

DESCRIPTION = """Derive kernels' layouts from tiled MMAs. Without arguments: compare what is shipped and recorded with
what the layouts say today. With FILEs: hand their tilings over, for `python -m gpu_checks.tilings --file`."""


def _mma(name: str, atoms: Layout | Tile, tile: Tile, permutation: Permutation = ()) -> Wanted:
    """A tiled MMA of a registered atom."""
    atom = registry()[name]
    if not isinstance(atom, Atom):
        raise LayoutError(f"{name} is no MMA atom")
    return instructed(atom, TiledMMA(atom, atoms, permutation), tile)


def _attention(name: str, first: Wanted, sides: tuple[Side, Side], second: Wanted, v: Side) -> Tiling:
    """(A * B) * V over two tiles along each of m, the columns of V, k, and the rows of V."""
    plain = covering(name, first, *sides, (2, 2, 2))
    values = renamed(first.dealt("C"), second.dealt("A"))
    return replace(plain, reuse=Reuse(second.product, handed(values), second.feed("B", v)), walked=2)


def shipped() -> Iterator[Tiling]:
    """The tilings whose runs are recorded."""
    yield from _simt()
    yield from _warps()
    yield from _matrix_loads()
    yield from _warpgroups()
    yield from _chains()
    yield from _ragged()


def _simt() -> Iterator[Tiling]:
    k, mn = Side("K"), Side("MN")
    fma = "UniversalFMA<{0},{0},{0},{0}>"
    seed = Layout((16, 4, 1), (4, 1, 0))
    four = (Layout((16, 4), (4, 1)), Layout((8, 4), (4, 1)), None)  # each thread four neighbours along m and n
    yield covering("simt_f32", _mma(fma.format("float"), seed, (64, 32, 8)), k, k)
    yield covering("simt_f64_vectors", _mma(fma.format("double"), (16, 8, 1), (64, 32, 8), four), mn, mn)
    yield covering("simt_dp4a", _mma("SM61_DP4A", (8, 16, 1), (32, 32, 32)), k, k)


def _warps() -> Iterator[Tiling]:
    k, mn, padded = Side("K"), Side("MN"), Side("K", Layout((64, 32), (40, 1)))
    f16, square = "SM80_16x8x16_F32F16F16F32_TN", (2, 2, 1)
    reordered = (None, Layout((8, 2, 2), (1, 16, 8)), None)  # the two atoms of a thread stand side by side
    yield covering("mma_f16", _mma(f16, square, (64, 32, 32)), padded, k)
    yield covering("mma_f16_permuted", _mma(f16, square, (64, 64, 32), reordered), k, mn)
    yield covering("mma_f16_half_sums", _mma("SM80_16x8x16_F16F16F16F16_TN", (1, 2, 1), (32, 32, 32)), mn, k)
    yield covering(
        "mma_bf16_enlarged", _mma("SM80_16x8x16_F32BF16BF16F32_TN", square, (64, 64, 32), (64, 32, 32)), k, k
    )
    yield covering("mma_tf32", _mma("SM80_16x8x8_F32TF32TF32F32_TN", square, (64, 32, 16)), k, mn)
    yield covering("mma_s8", _mma("SM80_16x8x32_S32S8S8S32_TN", square, (64, 32, 64)), k, k)
    yield covering("mma_e4m3", _mma("SM89_16x8x32_F32E4M3E4M3F32_TN", square, (64, 32, 64)), k, k)
    yield covering("mma_f64", _mma("SM80_8x8x4_F64F64F64F64_TN", square, (32, 32, 16)), k, k)
    yield covering("mma_f16_quadpairs", _mma("SM70_8x8x4_F32F16F16F32_TN", square, (32, 32, 16)), k, k)
    yield covering("mma_f16_split_k", _mma(f16, (1, 2, 2), (32, 32, 64)), k, k)


def _matrix_loads() -> Iterator[Tiling]:
    f16, square, wide = "SM80_16x8x16_F32F16F16F32_TN", (2, 2, 1), (32, 32, 16)
    wanted = _mma(f16, square, (64, 64, 64), wide)
    straight, across = "SM75_U32x4_LDSM_N", "SM75_U16x8_LDSM_T"
    sides = {major: Side(major, piece(major, 128, 16), load) for major, load in (("K", straight), ("MN", across))}
    for name, a, b in (("tn", "K", "K"), ("tt", "K", "MN"), ("nt", "MN", "MN")):
        yield covering(f"ldmatrix_f16_{name}", wanted, sides[a], sides[b])
    narrow = _mma(f16, square, (64, 32, 32))
    yield covering(
        "ldmatrix_f16_sw64", narrow, Side("K", piece("K", 64, 16), straight), Side("K", None, "SM75_U32x2_LDSM_N")
    )


def _warpgroups() -> Iterator[Tiling]:
    def side(major: str, width: int, bits: int, load: str = "") -> Side:
        return Side(major, piece(major, width, bits), load)

    f16, bf16, one = "SM90_64x{}x16_F32F16F16_SS", "SM90_64x{}x16_F32BF16BF16_{}", (1, 1, 1)
    yield covering("wgmma_f16_ss", _mma(f16.format(64), one, (64, 64, 64)), side("K", 128, 16), side("K", 128, 16))
    two = _mma(f16.format(32), (2, 1, 1), (128, 32, 32))
    yield covering("wgmma_f16_ss_two", two, side("MN", 128, 16), side("MN", 64, 16))
    plain = _mma(bf16.format(32, "SS"), one, (64, 64, 32))
    yield covering("wgmma_bf16_ss", plain, side("K", 16, 16), side("MN", 16, 16))
    short = _mma(f16.format(64), one, (64, 64, 32))
    yield covering("wgmma_f16_ss_mn32", short, side("MN", 32, 16), side("MN", 32, 16))
    tf32 = _mma("SM90_64x32x8_F32TF32TF32_SS_TN", one, (64, 32, 16))
    yield covering("wgmma_tf32_ss", tf32, side("K", 64, 32), side("K", 32, 32))
    s8 = _mma("SM90_64x32x32_S32S8S8_SS_TN", one, (64, 64, 64))
    yield covering("wgmma_s8_ss", s8, side("K", 64, 8), side("K", 32, 8))
    e4m3 = _mma("SM90_64x32x32_F32E4M3E4M3_SS_TN", one, (64, 32, 64))
    yield covering("wgmma_e4m3_ss", e4m3, side("K", 64, 8), side("K", 64, 8))
    mixed = _mma(bf16.format(64, "RS"), one, (64, 64, 64))
    yield covering("wgmma_bf16_rs", mixed, side("K", 128, 16, "SM75_U32x4_LDSM_N"), side("MN", 128, 16))


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


def _ragged() -> Iterator[Tiling]:
    """Matrices that are no whole number of tiles: lines of odd length, lines of whole accesses, partial sums."""
    k, mn, f16 = Side("K"), Side("MN"), "SM80_16x8x16_F32F16F16F32_TN"
    seed = Layout((16, 4, 1), (4, 1, 0))
    scalar = _mma("UniversalFMA<float,float,float,float>", seed, (64, 32, 8))
    yield covering("ragged_simt_f32", scalar, k, mn, size=(101, 47, 19))
    sides = (
        Side("K", piece("K", 64, 16), "SM75_U32x4_LDSM_N"),
        Side("MN", piece("MN", 64, 16), "SM75_U16x8_LDSM_T"),
    )
    warps = _mma(f16, (2, 2, 1), (64, 32, 32), (32, 32, 16))
    yield covering("ragged_ldmatrix_f16", warps, *sides, size=(77, 40, 72))
    yield covering("ragged_mma_split_k", _mma(f16, (1, 2, 2), (32, 32, 64)), k, k, size=(33, 61, 130))
    swizzled = Side("K", piece("K", 128, 16))
    warpgroup = _mma("SM90_64x64x16_F32F16F16_SS", (1, 1, 1), (64, 64, 64))
    yield covering("ragged_wgmma_f16", warpgroup, swizzled, swizzled, size=(65, 127, 88))


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


@dataclass(frozen=True, slots=True)
class Way:
    """What a file of tilings leaves open: each operand's major, who has ldmatrix, and the matrices' extents."""

    majors: Mapping[str, str]  # K where absent
    loads: frozenset[str] = frozenset()
    size: Tile | None = None  # absent: two tiles along m and n, three along k

    def tiling(self, one: Stated) -> Tiling:
        """The kernel of a stated tiling; LayoutError, IsaError or TilingError where there is none."""
        atom = find(one, registry())
        mma = TiledMMA(atom, one.atoms_layout, one.permutation)
        wanted = instructed(atom, mma, one.tile or mma.shape_mnk)
        a, b = (seated(wanted, x, self.majors.get(x, "K"), one.smem.get(x), matrix_load=x in self.loads) for x in "AB")
        return covering(one.name, wanted, a, b, size=self.size)


def stated(file: Path, way: Way) -> Iterator[Tiling]:
    """The tilings of a file of `verify.tiling`; UsageError for one that cannot be handed over.

    Shared memory is what the file says, else what the instruction reads. Layouts that the file claims are for
    `verify.tiling` to judge.
    """
    for one in spec.load(file):
        try:
            tiling = way.tiling(one)
            check(tiling)
            hash_of(tiling)  # what no kernel can be written for is told here
        except (IsaError, LayoutError, TilingError) as error:
            raise UsageError(f"{file}: {one.name}: {str(error).removeprefix(f'{one.name}: ')}") from error
        yield tiling


def main(argv: Sequence[str] | None = None) -> int:
    """Hand over the tilings that the arguments name; returns the exit code."""
    return ending.guarded(_main, argv)


def _main(argv: Sequence[str] | None) -> int:
    parser = argparse.ArgumentParser(prog="python -m verify.tiling.gpu_kernels", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="tilings as `verify.tiling` reads them")
    parser.add_argument(
        "--major",
        action="append",
        default=[],
        metavar="X=MN",
        help="of the FILEs: operand X lies so in memory, K or MN",
    )
    parser.add_argument(
        "--ldmatrix", action="append", default=[], choices=("A", "B"), help="of the FILEs: ldmatrix reads this operand"
    )
    parser.add_argument("--size", metavar="M,N,K", help="of the FILEs: the matrices, which need not be whole tiles")
    parser.add_argument("-o", "--output", metavar="FILE", help="write them there, as `gpu_checks.tilings --file` reads")
    options = parser.parse_args(argv)
    way = _way(options)
    try:
        found = [tiling for file in options.files for tiling in stated(file, way)] if options.files else list(shipped())
    except AtomFileError as error:
        raise UsageError(str(error)) from error
    if not found:
        raise UsageError("no tiling is stated")
    if options.files or options.output:
        output.write(lines(found), options.output)
        return Exit.STANDS
    return _compare(found)


def _way(options: argparse.Namespace) -> Way:
    given = options.major or options.ldmatrix or options.size
    if given and not options.files:
        raise UsageError("--major, --ldmatrix and --size are for the tilings of a FILE, and there is none")
    majors = {}
    for word in options.major:
        operand, _, major = word.partition("=")
        if operand not in ("A", "B") or major not in ("K", "MN") or operand in majors:
            raise UsageError(f"--major {word}: expected A=K, A=MN, B=K or B=MN, each operand once")
        majors[operand] = major
    try:
        extent = spec.tile(options.size) if options.size else None
    except SpecError as error:
        raise UsageError(f"--size {error}") from error
    return Way(majors, frozenset(options.ldmatrix), extent)


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
    return Exit.REFUTED if stale or wrong or apart else Exit.STANDS


if __name__ == "__main__":
    raise SystemExit(main())

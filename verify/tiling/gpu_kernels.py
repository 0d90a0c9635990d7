# SPDX-License-Identifier: Apache-2.0
"""`lanecheck export` exports tiled MMAs as the layouts that `gpu_checks.tilings` makes kernels from.

A kernel author gives an atom, an atoms layout, a permutation, a tile, where each operand lies in shared memory and
which copy reads it. The export has layouts only, as plain numbers: of the tilings in a user's files, or of those in
`gpu_kernels.toml`, which are shipped and whose runs are recorded.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gpu_checks.banks.command import LEAST, BankObservation, recordings_of_banks
from gpu_checks.banks.patterns import matrices
from gpu_checks.tilings import Reuse, TilingError, TilingKernel, check, recordings_of_tilings, tilings
from gpu_checks.tilings.runner import hash_of
from gpu_checks.tilings.store import lines
from isa_tables import IsaError
from lanecheck.console.command import Help, Version
from lanecheck.console.exits import RULE
from layouts import LayoutError
from layouts.atoms import Atom, AtomFileError, registry
from layouts.bank_conflicts import AccessKind, matrix_wavefronts, wavefronts
from layouts.tiled import TiledMMA
from verify.cli import ending, output
from verify.cli.arguments import Parser, add_output
from verify.core.errors import Exit, UsageError
from verify.tiling import spec
from verify.tiling.bind import find
from verify.tiling.export import (
    FeedSpec,
    KernelMMA,
    Tile,
    feed_spec,
    read_strides,
    rename_kernel,
    tiling_of,
    with_instruction,
)

SHIPPED = Path(__file__).with_suffix(".toml")
DESCRIPTION = """Export tiled MMAs as plain layouts, from which `lanecheck tilings --file` makes kernels.
Without FILE: check that the shipped tilings, their recorded runs and the recorded access patterns are those that the
layouts give today."""
PROG = "lanecheck export"
EPILOG = f"""example:
  {PROG} mine.toml --major B=MN -o mine.jsonl

{RULE}"""


def list_shipped() -> Iterator[TilingKernel]:
    """Yield the tilings of `gpu_kernels.toml`, whose runs are recorded."""
    for name, table in tomllib.loads(SHIPPED.read_text(encoding="utf-8")).items():
        first = _kernel_mma(table)
        feeds = {x: _feed(table.get(x, {})) for x in "ABV"}
        if "reuse" not in table:
            extent = spec.tile(table["size"]) if "size" in table else None
            yield tiling_of(name, first, feeds["A"], feeds["B"], size=extent)
            continue
        second = _kernel_mma(table["reuse"])
        values = read_strides(rename_kernel(first.layout_tv("C"), second.layout_tv("A")))
        plain = tiling_of(name, first, feeds["A"], feeds["B"], (2, 2, 2))  # along m, the columns of V, and k
        yield plain._replace(reuse=Reuse(second.product, values, second.feed("B", feeds["V"])), walked=2)


def _kernel_mma(table: Mapping[str, str]) -> KernelMMA:
    """Return the tiled MMA of a table of `gpu_kernels.toml`."""
    atom = registry()[table["atom"]]
    assert isinstance(atom, Atom), atom
    atoms, order = spec.atoms_layout(table.get("atoms_layout", "1")), spec.permutation(table.get("permutation", "_"))
    return with_instruction(atom, TiledMMA(atom, atoms, order), spec.tile(table["tile"]))


def _feed(table: Mapping[str, str]) -> FeedSpec:
    """How an operand is fed to the threads."""
    smem = spec.swizzle_atom(table["smem"]) if "smem" in table else None
    return FeedSpec(table.get("major", "K"), smem, table.get("load", ""))


def compare_run() -> Iterator[tuple[BankObservation, int]]:
    """Every recorded access pattern, with its wavefronts by `layouts`: at least its operation's least."""
    for observed in recordings_of_banks():
        pattern, operation = observed.pattern, observed.pattern.operation
        if matrices(operation):
            model = matrix_wavefronts(pattern.rows)
        else:
            model = wavefronts(pattern.addresses, pattern.bits, AccessKind(operation))
        yield observed, max(model.total, LEAST.get(operation, 0))


def in_file(file: Path, majors: Mapping[str, str], loads: Sequence[str], size: Tile | None) -> Iterator[TilingKernel]:
    """Yield the tilings of a file of `lanecheck tiling`; UsageError for one that cannot be exported.

    The file leaves open each operand's major (K where absent), the operands with ldmatrix, and the matrices' extents
    (where absent two tiles along m and n, three along k). Shared memory is laid out as the file says, else as the
    instruction reads it. Layouts that the file claims are ignored: `lanecheck tiling` verifies them.
    """
    for given in spec.load(file):
        atom = find(given, registry())
        try:
            mma = TiledMMA(atom, given.atoms_layout, given.permutation)
            kernel = with_instruction(atom, mma, given.tile or mma.shape_mnk)
            a, b = (feed_spec(kernel, x, majors.get(x, "K"), given.smem.get(x), matrix_load=x in loads) for x in "AB")
            tiling = tiling_of(given.name, kernel, a, b, size=size)
            check(tiling)
            hash_of(tiling)  # raises where no kernel can be written
        except (IsaError, LayoutError, TilingError) as error:
            raise UsageError(f"{file}: {given.name}: {str(error).removeprefix(f'{given.name}: ')}") from error
        yield tiling


def main(argv: Sequence[str] | None = None) -> int:
    """Export the tilings that the arguments name; returns the exit code."""
    return ending.run_guarded(_main, argv)


def _main(argv: Sequence[str] | None) -> int:
    parser = Parser(prog=PROG, description=DESCRIPTION, epilog=EPILOG, formatter_class=Help)
    parser.add_argument("--version", action=Version, nargs=0, help="print the version and stop")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="tilings as `lanecheck tiling` reads them")
    parser.add_argument(
        "--major",
        action="append",
        default=[],
        metavar="X=MN",
        help="of the FILEs: the major of operand X in memory, K or MN",
    )
    parser.add_argument(
        "--ldmatrix", action="append", default=[], choices=("A", "B"), help="of the FILEs: ldmatrix reads this operand"
    )
    parser.add_argument(
        "--size", metavar="M,N,K", help="of the FILEs: extents of the matrices, not necessarily whole tiles"
    )
    add_output(parser, "write them there, as `gpu_checks.tilings --file` reads")
    options = parser.parse_args(argv)
    majors, size = _of_files(options)
    try:
        tilings = [tiling for file in options.files for tiling in in_file(file, majors, options.ldmatrix, size)]
    except AtomFileError as error:
        raise UsageError(str(error)) from error
    if options.files and not tilings:
        raise UsageError("the files have no tiling")
    if options.files or options.output:
        output.write(lines(tilings or list_shipped()), options.output)
        return Exit.OK
    return _compare([*list_shipped()])


def _of_files(options: argparse.Namespace) -> tuple[dict[str, str], Tile | None]:
    """Return the majors of the operands and the extents of the matrices, which only tilings of a FILE leave open."""
    given = options.major or options.ldmatrix or options.size
    if given and not options.files:
        raise UsageError("--major, --ldmatrix and --size are for the tilings of a FILE: give a FILE too")
    majors = {}
    for word in options.major:
        operand, _, major = word.partition("=")
        if operand not in ("A", "B") or major not in ("K", "MN") or operand in majors:
            raise UsageError(f"--major {word}: expected A=K, A=MN, B=K or B=MN, each operand once")
        majors[operand] = major
    try:
        extent = spec.tile(options.size) if options.size else None
    except ValueError as error:
        raise UsageError(f"--size {error}") from error
    return majors, extent


def _compare(derived: Sequence[TilingKernel]) -> int:
    """Print the differences of shipped tilings, recordings and the model of bank conflicts; returns the exit code."""
    files, runs, banks = tilings(), recordings_of_tilings(), list(compare_run())
    stale = [tiling.name for tiling in derived if tiling not in files]
    wrong = [
        run.tiling.name
        for run in runs
        if not (run.equal and run.finds_controls and run.kernel_hash == hash_of(run.tiling))
    ]
    differing = [
        f"{observed.pattern.name}: {model}, observed {observed.wavefronts}"
        for observed, model in banks
        if model != observed.wavefronts
    ]
    for count, what, differ in (
        (len(derived), "shipped tilings are those derived today", stale),
        (len(runs), "recorded runs equal numpy, with the kernels of today", wrong),
        (len(banks), "access patterns take the wavefronts that layouts counts", differing),
    ):
        print(f"{count - len(differ)} of {count} {what}", *differ, sep="\n  ")
    return Exit.REFUTED if stale or wrong or differing else Exit.OK


if __name__ == "__main__":
    ending.as_process(main)

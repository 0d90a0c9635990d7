# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.movement …`: judge data on the way: through registers, shared memory and matrix descriptors."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from verify.cli import arguments, ending, inputs, output
from verify.core.errors import Exit, UsageError

if TYPE_CHECKING:
    from verify.core.verdict import Verdict
    from verify.movement.spec import Movement
    from verify.report import Report

DESCRIPTION = """Judge data on its way between instructions. --from X --to Y: what X leaves in registers is what Y wants
there (ldmatrix to mma, accumulators to stmatrix, accumulators to A of the next product); with --shared LAYOUT also what
is asked of shared memory. --shared LAYOUT --access LAYOUT: there is room, and accesses are whole, aligned and free of
bank conflicts for every base address. --descriptor LAYOUT: an operand of wgmma lies as a matrix descriptor says, and
which. Or a TOML FILE that states several."""
COUNTED = 1 << 12  # points up to which the solver's counterexamples are counted: the book counts them at base 0
FLAGS = {
    "from": "mnemonic or atom that gives: a matrix load, or an mma its accumulators",
    "to": "mnemonic or atom that takes: an mma an operand, or a matrix store",
    "operand": "operand of --to: A (where absent), B or C",
    "tiles": "tiles of the mma side by side, as n=2; as many as the counts ask for where absent",
    "rows": "row of a matrix load or store -> element of the tile that it starts with; derived where absent",
    "values": "value wanted -> value held; where absent the same value for a matrix load or store, else derived",
    "major": "how the tile lies in memory: K, M or N; MN for whichever A or B has",
    "shared": "index in the tile, (x, y) with --from -> element of shared memory: a layout, or Sw<B,M,S> o LAYOUT",
    "access": "(thread, value) -> index in the tile",
    "how": "load (where absent), store, cp.async, ldmatrix or stmatrix",
    "global": "index in the tile -> element of global memory, which is accessed as widely",
    "arch": "architecture whose shared memory it is, sm_90 where absent",
    "descriptor": "(mn, k) -> element of shared memory: a layout, or Sw<B,M,S> o LAYOUT",
}
BYTES = {
    "base": "byte of shared memory at which the tile starts; any that suits it where absent",
    "lbo": "leading dimension byte offset of the descriptor; read off where absent",
    "sbo": "stride dimension byte offset of the descriptor; read off where absent",
}
COUNTS = {"times": "how often a matrix load or store is issued, each time for rows of its own; once where absent"}
BITS = {
    "narrow": "bits that accumulators are converted to before they are stored; theirs where absent",
    "element": "bits of an element",
    "width": "bits that a thread asks for at once; an element where absent",
}
STATED = (*FLAGS, *BITS, *BYTES, *COUNTS)
READ = ("files", "only", *STATED, "output")
STOPS = {"list": READ, "search_swizzle": (*READ, "format")}
EXAMPLE = '--shared 256:1 --access "(32,1):(1,0)" --element 32'


def main(argv: Sequence[str] | None = None) -> int:
    """Judge the movements that the arguments state; returns the exit code."""
    return ending.guarded(inputs.stating(_parser, _stated, _told, STOPS), argv)


def _told(stated: Sequence[Movement], options: argparse.Namespace) -> int:
    if options.search_swizzle:
        if options.format != "text":
            raise UsageError(f"--search-swizzle prints a line: there is no {options.format} of it")
        return _search(stated, options)
    report = _judge(stated, options)
    return output.report(report, options)


def _parser() -> argparse.ArgumentParser:
    parser = arguments.parser("python -m verify.movement", DESCRIPTION, EXAMPLE)
    arguments.add_statements(parser, "movements")
    for flag, what in FLAGS.items():
        parser.add_argument(f"--{flag}", metavar=flag.upper(), help=what)
    for unit, flags in (("BITS", BITS), ("BYTES", BYTES), ("N", COUNTS)):
        for flag, what in flags.items():
            parser.add_argument(f"--{flag}", metavar=unit, type=int, help=what)
    parser.add_argument(
        "--search-swizzle", action="store_true", help="the smallest swizzle without a conflict in all accesses stated"
    )
    parser.add_argument(
        "--require", action="append", default=[], choices=("book", "proof", "silicon"), help="who must have spoken"
    )
    return parser


def _stated(options: argparse.Namespace) -> list[Movement]:
    """What the arguments state, in their order."""
    from verify.movement import spec

    table = {key: value for key in STATED if (value := getattr(options, key)) is not None}
    if options.files:
        if table:
            raise UsageError(f"--{next(iter(table))}: a FILE states its movements in whole; give one or the other")
        return inputs.in_files(options, spec.read, "movement")
    if options.only:
        raise UsageError("--only chooses among the movements of a FILE, and there is none")
    sort = next((sort for sort in spec.SORTS if sort in table), None)
    if sort is None:
        raise UsageError("which movement? Give --from with --to, --shared with --access, --descriptor, or a FILE")
    required, optional = spec.SORTS[sort]
    missing = [key for key in required if key not in table]
    idle = [key for key in table if key not in (*required, *optional)]
    if missing or idle:
        what = f"--{sort} needs --{missing[0]} too" if missing else f"--{idle[0]} says nothing about --{sort}"
        raise UsageError(what)
    return [spec.movement(_name(table), table, _command(table), _fail)]


def _fail(key: str, problem: str, _: object = None) -> None:
    raise UsageError(f"--{key}: {problem}")


def _name(table: dict[str, Any]) -> str:
    if "from" in table:
        return f"{table['from']} -> {table['to']} {table.get('operand', '')}".rstrip()
    return str(table.get("shared") or table["descriptor"])


def _command(table: dict[str, Any]) -> str:
    words = [word for key, value in table.items() for word in (f"--{key}", str(value))]
    return shlex.join(["python", "-m", "verify.movement", *words])


def _judge(stated: Sequence[Movement], options: argparse.Namespace) -> Report:
    """The report on all movements but those that we fail at, which are told in a line of their own."""
    import proofs
    from verify.cli.batch import judged
    from verify.report import Case

    budget, solver = inputs.budget(options), proofs.Solver(COUNTED)

    def case(one: Movement) -> Case:
        return Case(one.name, tuple(verdicts(one, budget, solver)))

    return judged(stated, case, "movements", options.require, quiet=options.quiet)


def verdicts(one: Movement, budget: int, solver: Any) -> list[Verdict]:
    """The verdicts on one movement, whichever sort it is."""
    from verify.movement import register_handover, smem, wgmma_descriptor

    if one.link is not None:
        handed = register_handover.judge(one.link, one.major, one.reach is not None, budget, solver)
        return handed + ([] if one.reach is None else smem.judge(one.reach, budget, solver))
    if one.reach is None:
        raise UsageError(f"{one.name} states nothing")
    if one.described:
        return wgmma_descriptor.judge(one.reach, wgmma_descriptor.Stated(one.major, *one.offsets), budget, solver)
    return smem.judge(one.reach, budget, solver)


def _search(stated: Sequence[Movement], options: argparse.Namespace) -> int:
    """One swizzle for all accesses that are stated, which must be of one element width."""
    from layouts import LayoutError
    from verify.movement.bank_conflicts import searched
    from verify.movement.smem import confirmed

    reaches = [one.reach for one in stated if one.reach is not None and not one.described]
    if len(reaches) != len(stated):
        raise UsageError("--search-swizzle needs accesses: --shared with --access, or a FILE of them")
    if len({reach.element for reach in reaches}) > 1:
        raise UsageError("--search-swizzle: the accesses have elements of different widths")
    try:
        best = searched(reaches)
    except LayoutError as error:
        raise UsageError(f"--search-swizzle: {error}") from error
    fault = confirmed(reaches, best.swizzle) if best.free else ""
    told = f"no swizzle serves: under {best.swizzle} {fault}" if fault else f"{best.swizzle} of elements: {best.said}"
    output.write(f"{told}\n", options.output)
    return Exit.STANDS if best.free and not fault else Exit.REFUTED


if __name__ == "__main__":
    raise SystemExit(main())

# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.movement …`: judge data on the way: through registers, shared memory and matrix descriptors."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from verify.cli import arguments, ending, inputs, output
from verify.core.errors import Exit, UsageError
from verify.core.specs import keys
from verify.movement import spec

if TYPE_CHECKING:
    from verify.core.verdict import Verdict
    from verify.movement.bind import Movement
    from verify.report import Report

DESCRIPTION = """Judge data on its way between instructions. --from X --to Y: what X leaves in registers is what Y wants
there (ldmatrix to mma, accumulators to stmatrix, accumulators to A of the next product); with --shared LAYOUT also what
is asked of shared memory. --shared LAYOUT --access LAYOUT: there is room, and accesses are whole, aligned and free of
bank conflicts for every base address. --descriptor LAYOUT: an operand of wgmma lies as a matrix descriptor says, and
which. Or a TOML FILE that states several."""
COUNTED = 1 << 12  # points up to which the solver's counterexamples are counted: the ISA check counts them at base 0
KEYS = spec.options()
READ = ("files", "only", *KEYS, "output")
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
    for name, key in KEYS.items():
        parser.add_argument(f"--{name}", metavar=key.unit or name.upper(), type=int if key.unit else str, help=key.help)
    parser.add_argument(
        "--search-swizzle", action="store_true", help="the smallest swizzle without a conflict in all accesses stated"
    )
    parser.add_argument(
        "--require", action="append", default=[], choices=("isa", "proof", "gpu"), help="who must have spoken"
    )
    return parser


def _stated(options: argparse.Namespace) -> list[Movement]:
    """What the arguments state, in their order."""
    from verify.movement import bind

    table = {name: value for name in KEYS if (value := getattr(options, name)) is not None}
    if options.files:
        if table:
            raise UsageError(f"--{next(iter(table))}: a FILE states its movements in whole; give one or the other")
        return inputs.in_files(options, bind.read, "movement")
    if options.only:
        raise UsageError("--only chooses among the movements of a FILE, and there is none")
    sort = spec.sort_of(table)
    if not sort:
        raise UsageError("which movement? Give --from with --to, --shared with --access, --descriptor, or a FILE")
    known = keys(spec.SORTS[sort])
    missing = [name for name, key in known.items() if key.required and name not in table]
    idle = [name for name in table if name not in known]
    if missing or idle:
        raise UsageError(
            f"--{sort} needs --{missing[0]} too" if missing else f"--{idle[0]} says nothing about --{sort}"
        )
    return [bind.bind(spec.of_options(table))]


def _judge(stated: Sequence[Movement], options: argparse.Namespace) -> Report:
    """The report on all movements; one that fails by a fault of ours is a line of its own."""
    import proofs
    from verify.cli.batch import judged
    from verify.report import Case

    budget, solver = inputs.budget(options), proofs.Solver(COUNTED)

    def case(one: Movement) -> Case:
        return Case(one.name, tuple(verdicts(one, budget, solver)))

    return judged(stated, case, "movements", options.require, quiet=options.quiet)


def verdicts(one: Movement, budget: int, solver: Any) -> list[Verdict]:
    """The verdicts on one movement, whichever sort it is."""
    from verify.movement import registers, smem, wgmma_descriptor
    from verify.movement.register_handover import HandOver
    from verify.movement.smem_access import DescribedOperand

    if isinstance(one, DescribedOperand):
        return wgmma_descriptor.verdicts(one, budget, solver)
    if not isinstance(one, HandOver):
        return smem.verdicts(one, budget, solver)
    handed = registers.verdicts(one, budget, solver)
    return handed if one.access is None else [*handed, *smem.verdicts(one.access, budget, solver)]


def _search(stated: Sequence[Movement], options: argparse.Namespace) -> int:
    """One swizzle for all accesses that are stated, which must be of one element width."""
    from layouts import LayoutError
    from verify.movement.bank_conflicts import searched
    from verify.movement.register_handover import HandOver
    from verify.movement.smem import confirmed
    from verify.movement.smem_access import SmemAccess

    given = (one.access if isinstance(one, HandOver) else one for one in stated)
    accesses = [one for one in given if isinstance(one, SmemAccess)]
    if len(accesses) != len(stated):
        raise UsageError("--search-swizzle needs accesses: --shared with --access, or a FILE of them")
    if len({one.element for one in accesses}) > 1:
        raise UsageError("--search-swizzle: the accesses have elements of different widths")
    try:
        best = searched(accesses)
    except LayoutError as error:
        raise UsageError(f"--search-swizzle: {error}") from error
    fault = confirmed(accesses, best.swizzle) if best.free else ""
    told = f"no swizzle serves: under {best.swizzle} {fault}" if fault else f"{best.swizzle} of elements: {best.words}"
    output.write(f"{told}\n", options.output)
    return Exit.OK if best.free and not fault else Exit.REFUTED


if __name__ == "__main__":
    raise SystemExit(main())

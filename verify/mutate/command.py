# SPDX-License-Identifier: Apache-2.0
"""`lanecheck mutate`: the campaign that counts how many wrong atoms each check refutes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from layouts.atoms import registry
from verify.atom import selection
from verify.cli import arguments, ending, output
from verify.core.errors import Exit
from verify.mutate.score import campaign

if TYPE_CHECKING:
    from verify.mutate.score import Score

DESCRIPTION = """Mutate every distinct operand layout of the registry, copies included and families sampled (each stride
doubled, halved, incremented, each pair swapped, each mode dropped) and count how many mutants each check refutes. Then
relabel an axis in both operands that have it: every product stays right, and only isa refutes such a mutant."""
EXAMPLE = "SM80_16x8x16_F32F16F16F32_TN"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the campaign; returns 0 where every mutant is refuted, 4 where a check has no evidence."""
    return ending.run_guarded(_main, argv)


def _main(argv: Sequence[str] | None) -> int:
    parser = arguments.parser("lanecheck mutate", DESCRIPTION, EXAMPLE, formats=("text", "json"))
    parser.add_argument("names", nargs="*", metavar="NAME", help="atoms to mutate (default: all registered)")
    options = parser.parse_args(argv)

    pool = registry()
    names = selection.choose_names(options.names, None, pool)
    score = campaign([pool[name] for name in names], options.quiet)
    if not (score.mutants or score.missing):
        line = f"lanecheck: nothing to mutate: the ISA tables have no formula for {', '.join(names)}"
        return ending.complain(line, Exit.EMPTY)
    as_json = options.format == "json"
    text = json.dumps(score.as_dict(), indent=2) + "\n" if as_json else _text(score, options)
    output.write(text, options.output)
    if score.missing:
        return Exit.INTERRUPTED
    if score.has_survivor:
        return Exit.REFUTED
    return Exit.UNDECIDED if score.without_evidence and not options.allow_unchecked else Exit.OK


def _text(score: Score, options: argparse.Namespace) -> str:
    """Return the survivors: none when quiet, all when verbose, else the first twenty and how many more there are."""
    if options.quiet:
        return f"{score.lines()[-1]}\n"
    shown = score.survivors if options.verbose else score.survivors[:20]
    more = len(score.survivors) - len(shown)
    lines = [*shown, *[f"and {more} more (-v shows all)"][: more > 0], *score.lines()]
    return output.wrap_report("\n".join(lines), options.output)

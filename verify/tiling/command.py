# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.tiling FILE|--atom NAME …`: judge tiled MMAs by enumeration and by proof."""

from __future__ import annotations

import argparse
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from verify.cli import arguments, ending, inputs, output
from verify.core.errors import Exit, UsageError
from verify.core.names import select
from verify.core.specs import read as read_key

if TYPE_CHECKING:
    from layouts.atoms import AnyAtom
    from verify.report import Report
    from verify.tiling.spec import Stated

DESCRIPTION = """Judge a tiled MMA: how its atoms, the threads that share them and a permutation deal a CTA's tile out.
Every element of A, B and C must be held as often as stated, for the tile given and for all multiples; registers and
instructions are counted; a product is computed through the partitions and fragments alone. A tiling is stated by a TOML
FILE, or by --atom with --atoms-layout, --permutation and --tile."""
WORDS = ("atoms_layout", "permutation", "tile", "smem_a", "smem_b")
STATED = ("files", "only", "atom", "all", "atoms", *WORDS, "output")
STOPS = {"list": STATED, "explain": (*STATED, "thread", "format", "quiet")}
T = TypeVar("T")
EXAMPLE = "--atom SM75_16x8x8_F32F16F16F32_TN --tile 32,16,8"


def main(argv: Sequence[str] | None = None) -> int:
    """Judge the tilings that the arguments state; returns the exit code."""
    return ending.guarded(inputs.stating(_parser, _stated, _told, STOPS), argv)


def _told(stated: Sequence[Stated], options: argparse.Namespace) -> int:
    if options.explain:
        if options.format != "text":
            raise UsageError(f"--explain prints text: there is no {options.format} of it")
        from verify.cli.batch import told_apart
        from verify.report import Failure
        from verify.tiling.explain import explained

        pool = _pool(options)
        told, missing = told_apart(
            stated, lambda one: explained(one, pool, options.thread or 0), "tilings", options.quiet
        )
        texts = [text for text in told if isinstance(text, str)]
        if texts:
            output.write(output.fitted("\n".join(texts), options.output), options.output)
        if missing:
            raise KeyboardInterrupt
        failures = [*(one for one in told if isinstance(one, Failure)), *getattr(options, "malformed", ())]
        return max((failure.code for failure in failures), default=Exit.STANDS)
    report = output.allowing(_judge(stated, options), options)
    if options.format == "text" and not options.quiet and report.cases:
        from verify.report import as_text
        from verify.tiling.as_text import render

        text = render(report, as_text.render(report, verbose=options.verbose))
        output.write(output.fitted(text, options.output), options.output)
        return report.exit()
    return output.report(report, options)


def _parser() -> argparse.ArgumentParser:
    parser = arguments.parser("python -m verify.tiling", DESCRIPTION, EXAMPLE)
    arguments.add_statements(parser, "tilings")
    parser.add_argument("--atom", action="append", default=[], metavar="NAME", help="exact name, prefix or glob")
    parser.add_argument("--all", action="store_true", help="every registered MMA atom")
    parser.add_argument("--atoms", action="append", default=[], metavar="FILE", help="atoms of yours, in a TOML file")
    parser.add_argument(
        "--atoms-layout",
        metavar="M,N,K",
        help="atoms along M, N, K, or a layout of them; one atom where absent, as in 2,2",
    )
    parser.add_argument(
        "--permutation",
        metavar="M,N,K",
        help="for M, N and K: an extent, a layout of positions, or _ to keep, as where absent",
    )
    parser.add_argument("--tile", metavar="M,N,K", help="the CTA's tile; what one tiled MMA covers where absent")
    for operand in "ab":
        parser.add_argument(
            f"--smem-{operand}", metavar="ATOM", help=f"the swizzle atom of {operand.upper()}'s shared memory"
        )
    parser.add_argument("--explain", action="store_true", help="print the five steps from layout to thread, and stop")
    parser.add_argument("--thread", type=_natural, metavar="T", help="with --explain: whose part to show (0)")
    parser.add_argument(
        "--require", action="append", default=[], choices=("proof", "silicon"), help="a witness that must have spoken"
    )
    parser.add_argument("--expect-known", action="store_true", help="known defects, and only they, must be REFUTED")
    return parser


def _natural(text: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise argparse.ArgumentTypeError(f"{text!r} is no thread's number")
    return int(text)


def _stated(options: argparse.Namespace) -> list[Stated]:
    """What the arguments state, in their order."""
    from verify.tiling import spec

    alone = [word for word in WORDS if getattr(options, word) is not None]
    if options.thread is not None and not options.explain:
        raise UsageError("--thread goes with --explain")
    if not (options.files or options.atom or options.all):
        raise UsageError("which tiling? Give a FILE, or --atom NAME with --atoms-layout, --permutation and --tile")
    if options.files and (options.atom or options.all or alone):
        word = next(iter(alone), "all" if options.all else "atom").replace("_", "-")
        raise UsageError(f"--{word}: a FILE states its tilings in whole; give a FILE or --atom, not both")
    if options.only and not options.files:
        raise UsageError("--only chooses among the tilings of a FILE, and there is none")
    if not options.files:
        return _on_the_line(options)
    atoms = tuple(options.atoms)
    return [replace(one, atoms=atoms) for one in inputs.in_files(options, spec.read, "tiling")]


def _on_the_line(options: argparse.Namespace) -> list[Stated]:
    """The tilings of each atom that is named, all stated alike."""
    from layouts.atoms import Atom
    from verify.tiling import spec
    from verify.tiling.spec import Stated

    plain = Stated("", "")
    alike = replace(
        plain,
        atoms_layout=_option(options, "atoms_layout", spec.atoms_layout, plain.atoms_layout),
        permutation=_option(options, "permutation", spec.permutation, plain.permutation),
        tile=_option(options, "tile", spec.tile, plain.tile),
        smem={
            x: layout
            for x in "AB"
            if (layout := _option(options, f"smem_{x.lower()}", spec.swizzle_atom, None)) is not None
        },
    )
    pool = _pool(options)
    mma = [name for name in pool if isinstance(pool[name], Atom)]
    names = select(options.atom, pool if set(options.atom) & set(pool) else mma, "atom") if options.atom else mma
    return [replace(alike, name=name, atom=name, atoms=tuple(options.atoms)) for name in names]


def _option(options: argparse.Namespace, key: str, reader: Callable[[object], T], default: T) -> T:
    given = getattr(options, key)
    return default if given is None else read_key(key, reader, given)


def _pool(options: argparse.Namespace) -> Mapping[str, AnyAtom]:
    """The atoms to choose from: the user's where given, else the shipped; a FILE may name either."""
    from layouts.atoms import registry
    from verify.atom.selection import pool as chosen_from

    pool = chosen_from(options.atoms, options) if options.atoms else {}
    if options.files:
        return ChainMap(dict(pool), registry())  # type: ignore[arg-type]
    return pool if options.atoms else registry()


def _judge(stated: Sequence[Stated], options: argparse.Namespace) -> Report:
    """The report on all that are tilings; what is none is told in a line of its own."""
    from verify.cli.batch import judged
    from verify.evidence.recorded import runs
    from verify.tiling.proof import Prover
    from verify.tiling.properties import case

    prover = Prover(budget=inputs.budget(options), runs=runs())
    pool = _pool(options)
    return judged(
        stated, lambda one: case(one, pool, prover), "tilings", options.require, options.expect_known, options.quiet
    )


if __name__ == "__main__":
    raise SystemExit(main())

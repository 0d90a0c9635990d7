# SPDX-License-Identifier: Apache-2.0
"""`lanecheck tiling FILE|--atom NAME …`: verify tiled MMAs by enumeration and by proof."""

from __future__ import annotations

import argparse
from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from layouts.atoms import Atom, registry
from layouts.atoms.shelf import Shelf
from verify.atom import selection
from verify.cli import arguments, ending, inputs, output
from verify.cli.batch import check_each, verify_each
from verify.core.errors import Exit, UsageError
from verify.core.names import select
from verify.core.specs import keys, parse_key
from verify.evidence.gpu_runs import runs
from verify.report import Failure, as_text
from verify.report.loaded import LoadedFiles
from verify.tiling import spec
from verify.tiling.as_text import render
from verify.tiling.bind import IllFormed, OutOfTile, find, prepare
from verify.tiling.explain import explain_partitions
from verify.tiling.proof import Prover
from verify.tiling.properties import case
from verify.tiling.spec import TilingSpec

if TYPE_CHECKING:
    from layouts.atoms import AnyAtom
    from verify.report import Report

DESCRIPTION = """Verify a tiled MMA: how its atoms, their threads and a permutation distribute a CTA's tile. Every
element of A, B and C must have its number of owners, for the tile given and for all multiples of it; registers and
instructions are counted; a product is computed through the partitions and fragments alone. A tiling is given by a TOML
FILE, or by --atom with --atoms-layout, --permutation and --tile."""
KEYS = keys(spec.TilingSpec)
WORDS = (*KEYS, "smem_a", "smem_b")
OPTIONS = ("files", "only", "atom", "all", "atoms", *WORDS, "output")
STOPS = {"list": OPTIONS, "explain": (*OPTIONS, "thread", "format", "quiet")}
EXAMPLE = "--atom SM75_16x8x8_F32F16F16F32_TN --tile 32,16,8"


def main(argv: Sequence[str] | None = None) -> int:
    """Verify the tilings that the arguments name; returns the exit code."""
    return ending.run_guarded(_main, argv)


def _main(argv: Sequence[str] | None) -> int:
    options = arguments.parse(_parser(), argv, STOPS)
    _check(options)
    own, atoms = selection.pool(options.atoms)
    pool = ChainMap(dict(own), registry()) if options.files and options.atoms else own  # type: ignore[arg-type]
    if options.files:
        loaded = inputs.load(options.files, spec.read_tilings).only(options.only, "tiling").adding(atoms.failures)
        loaded = replace(loaded, items=tuple(replace(tiling, atoms=tuple(options.atoms)) for tiling in loaded.items))
    else:
        loaded = LoadedFiles(tuple(_on_the_line(pool, options)), atoms.sources, atoms.failures)
    if options.list:
        return output.list_names(loaded, options)
    return _explain(loaded, pool, options) if options.explain else _verify(loaded, pool, options)


def _explain(loaded: LoadedFiles[TilingSpec], pool: Mapping[str, AnyAtom], options: argparse.Namespace) -> int:
    """Print the derivation of a thread's partitions in each tiling."""
    if options.format != "text":
        raise UsageError(f"--explain prints text: there is no {options.format} of it")

    explain = partial(_explain_thread, pool=pool, thread=options.thread or 0)
    answers, missing = check_each(loaded.items, explain, "tilings", options.quiet)
    texts = [text for text in answers if isinstance(text, str)]
    if texts:
        output.write(output.wrap_report("\n".join(texts), options.output), options.output)
    if missing:
        raise KeyboardInterrupt
    failures = [*(answer for answer in answers if isinstance(answer, Failure)), *loaded.failures]
    return max((failure.code for failure in failures), default=Exit.OK)


def _verify(loaded: LoadedFiles[TilingSpec], pool: Mapping[str, AnyAtom], options: argparse.Namespace) -> int:
    """Print the report on all tilings; a spec that is rejected is a line of its own."""
    report = output.allowing(_report(loaded.items, pool, options), options, loaded)
    if options.format == "text" and not options.quiet and report.cases:
        text = render(report, as_text.render(report, verbose=options.verbose))
        output.write(output.wrap_report(text, options.output), options.output)
        return report.exit()
    return output.report(report, options, loaded)


def _explain_thread(given: TilingSpec, pool: Mapping[str, AnyAtom], thread: int) -> str:
    """Explain a thread's partitions in a tiling; raise UsageError or SpecError where there are none."""
    try:
        tiling = prepare(given, find(given, pool))
    except IllFormed as error:
        raise UsageError(f"{given.name}: {error.part} = {error.text} is no (thread, value) layout: {error}") from error
    except OutOfTile as error:
        raise UsageError(f"{given.name}: {error}") from error
    if thread >= tiling.mma.size:
        raise UsageError(f"--thread {thread}: {given.name} has the threads 0 .. {tiling.mma.size - 1}")
    return explain_partitions(tiling, thread)


def _parser() -> argparse.ArgumentParser:
    parser = arguments.parser("lanecheck tiling", DESCRIPTION, EXAMPLE)
    arguments.add_statements(parser, "tilings")
    parser.add_argument("--atom", action="append", default=[], metavar="NAME", help="exact name, prefix or glob")
    parser.add_argument("--all", action="store_true", help="every registered MMA atom")
    parser.add_argument(
        "--atoms", action="append", default=[], metavar="FILE", help="atoms of your own, in a TOML file"
    )
    for name, key in KEYS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", metavar="M,N,K", help=key.help)
    for operand in "ab":
        parser.add_argument(
            f"--smem-{operand}", metavar="ATOM", help=f"the swizzle atom of {operand.upper()}'s shared memory"
        )
    parser.add_argument("--explain", action="store_true", help="print the five steps from layout to thread, and stop")
    parser.add_argument(
        "--thread", type=_natural, metavar="T", help="with --explain: the thread whose partitions are shown (0)"
    )
    arguments.add_require(parser)
    parser.add_argument("--expect-known", action="store_true", help="known defects, and only they, must be REFUTED")
    return parser


def _natural(text: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise argparse.ArgumentTypeError(f"expected the number of a thread, found {text!r}")
    return int(text)


def _check(options: argparse.Namespace) -> None:
    """Raise UsageError unless there is a FILE, or an atom with the options of a tiling, and each option is read."""
    alone = [word for word in WORDS if getattr(options, word) is not None]
    if options.thread is not None and not options.explain:
        raise UsageError("--thread needs --explain")
    if not (options.files or options.atom or options.all):
        raise UsageError("which tiling? Give a FILE, or --atom NAME with --atoms-layout, --permutation and --tile")
    if options.files and (options.atom or options.all or alone):
        word = next(iter(alone), "all" if options.all else "atom").replace("_", "-")
        raise UsageError(f"--{word}: a FILE has whole tilings; give a FILE or --atom, not both")
    if options.only and not options.files:
        raise UsageError("--only chooses among the tilings of a FILE: give a FILE too")


def _on_the_line(pool: Mapping[str, AnyAtom], options: argparse.Namespace) -> list[TilingSpec]:
    """Return a spec for each atom that is named, with the same options."""
    given = {word: value for word in WORDS if (value := getattr(options, word)) is not None}
    values = {name: key.parse_value(given[name]) for name, key in KEYS.items() if name in given}
    smem = {x: parse_key(word, spec.swizzle_atom, given[word]) for x in "AB" if (word := f"smem_{x.lower()}") in given}
    shared = TilingSpec("", "", **values, smem=smem)
    if options.atom and isinstance(pool, Shelf) and all(name in pool for name in options.atom):
        names = select(options.atom, pool.beginning(*options.atom), "atom")  # no other family is read
    else:
        mma = [name for name in pool if isinstance(pool[name], Atom)]
        names = select(options.atom, pool if set(options.atom) & set(pool) else mma, "atom") if options.atom else mma
    return [replace(shared, name=name, atom=name, atoms=tuple(options.atoms)) for name in names]


def _report(specs: Sequence[TilingSpec], pool: Mapping[str, AnyAtom], options: argparse.Namespace) -> Report:
    prover = Prover(budget=inputs.budget(options), runs=runs())
    return verify_each(
        specs, lambda given: case(given, pool, prover), "tilings", options.require, options.expect_known, options.quiet
    )

# SPDX-License-Identifier: Apache-2.0
"""Probe instructions on the GPU at hand: `lanecheck probe MNEMONIC… | --all`."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from fnmatch import fnmatchcase
from itertools import groupby
from math import prod
from pathlib import Path

from gpu_checks.check import check
from gpu_checks.command import (
    Interrupted,
    add_unchecked,
    exit_undecided,
    find_mnemonics,
    guard_exit,
    parse_options,
    show,
)
from gpu_checks.inference.absolute import sources_of_coordinates
from gpu_checks.kernels.modules import group_instructions
from gpu_checks.model import DeviceInfo, Unavailable
from gpu_checks.opcodes.command import list_forms, probe_opcodes
from gpu_checks.recordings_io.writer import RecordedLines, write
from gpu_checks.summary import Find, RecordingSummary
from gpu_checks.worker import Worker
from isa_tables.signature import Signature, mnemonics, signature
from lanecheck.console.command import parser as parser_of
from lanecheck.console.counts import join_counts
from lanecheck.console.exits import Exit
from lanecheck.console.outputs import reserve_folder
from lanecheck.console.progress import Progress

_STOPS: Mapping[str, Sequence[str]] = {
    "check": (),
    "list": ("mnemonic", "all", "family", "opcodes"),
    "opcodes": ("list", "output", "allow_unchecked", "require", "quiet"),
}
_GLOB = frozenset("*?[")
_MOST = 12  # processes: more contexts take longer to open than they save
_WAKE = 1.0  # seconds of a wait
_ALWAYS = 3000  # the cost of a probe with the smallest matrices
EPILOG = """\
Each instruction is run on every pair of one element of A and one of B, which shows which elements share a
row, a column or a k; then C is passed through, random products are multiplied through the labels found
(also renamed, which must pass, and rotated, which must fail), and ldmatrix, stmatrix and wgmma give the labels
absolute coordinates. Instructions with metadata or with matrices in shared memory get a digit-coded probe, in
which B's elements are numbered in digits; ldmatrix, stmatrix and movmatrix are followed byte by byte. Compiled
kernels are kept in the folder LANECHECK_CACHE (~/.cache/lanecheck); if it is empty, none are kept.

It is a contradiction if a probe contradicts its own controls, or if the labels of a recording under --check do not
rebuild its table. A run that is interrupted prints what it found, and writes nothing.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    return guard_exit("probe", lambda: _run_probes(parse_options(_parser(), argv, _STOPS)))


def _run_probes(options: argparse.Namespace) -> int:
    if options.check is not None:
        return check(options.check)
    if options.opcodes:
        return list_forms() if options.list else probe_opcodes(options)
    if options.list:
        return _list(_choose_signatures(options))
    with ExitStack() as until_done:
        # The workers find the GPU while the instructions are looked up.
        workers = [until_done.enter_context(Worker(timeout=options.timeout)) for _ in range(_processes(options))]
        chosen = _choose_signatures(options)
        if options.output and chosen:
            options.output.mkdir(parents=True, exist_ok=True)
        return _probe(chosen, workers, options) if chosen else _list(chosen)


def _list(chosen: Sequence[Signature]) -> int:
    if not chosen:
        print("probe: nothing selected (see --list)", file=sys.stderr)
        return Exit.EMPTY
    show(*(s.mnemonic for s in chosen))
    return Exit.OK


def _processes(options: argparse.Namespace) -> int:
    """Return the number of worker processes: no more than instructions are named."""
    several = options.all or options.family or any(set(name) & _GLOB for name in options.mnemonic)
    return int(options.jobs if several else min(options.jobs, len(options.mnemonic)))


def _parser() -> argparse.ArgumentParser:
    what = "Record what matrix instructions do with the elements of their operands on this GPU."
    parser = parser_of("lanecheck probe", what, "--family mma.sync -o recordings", EPILOG)
    parser.add_argument(
        "mnemonic", nargs="*", metavar="MNEMONIC", help="PTX mnemonic, its short name, or a glob such as '*.s8.*'"
    )
    parser.add_argument("--all", action="store_true", help="every instruction")
    parser.add_argument("--family", help="only this family: mma.sync, dp4a, ...")
    words = "run every form of every opcode on plain bits instead: integers, comparisons, conversions, loads, shuffles"
    parser.add_argument("--opcodes", action="store_true", help=words)
    parser.add_argument("--list", action="store_true", help="print what is selected, or all, and stop")
    parser.add_argument(
        "-o", "--output", type=reserve_folder, metavar="DIR", help="write the recordings there, as JSON Lines"
    )
    parser.add_argument("--trials", type=_positive, default=64, metavar="N", help="random products (64)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the random products (0)")
    parser.add_argument("--timeout", type=_positive, default=60, metavar="S", help="seconds for one probe (60)")
    parser.add_argument(
        "--jobs",
        type=_positive,
        default=min(os.cpu_count() or 1, _MOST),
        metavar="N",
        help=f"processes (a CPU each, at most {_MOST})",
    )
    add_unchecked(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="the summary only, no progress")
    parser.add_argument(
        "--check", nargs="*", type=Path, metavar="PATH", help="check every line of recordings, ours too, and stop"
    )
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not positive")
    return number


def _choose_signatures(options: argparse.Namespace) -> list[Signature]:
    """Return the selected signatures, each once, sorted; ValueError for a name that no instruction has."""
    known, names, family = mnemonics("*"), options.mnemonic, options.family
    if not (names or family or options.all or options.list):
        raise ValueError("which instructions? Give a MNEMONIC, --family or --all, or --list to see them")
    selected = set(known) if options.all or ((family or options.list) and not names) else set()
    for name in names:
        if set(name) & _GLOB:
            alike = {mnemonic for mnemonic in known if fnmatchcase(mnemonic, name)}
            if not alike:
                raise ValueError(f"no instruction is named {name!r} (see --list)")
            selected |= alike
        else:
            selected.update(find_mnemonics(name))
    chosen = [signature(name) for name in sorted(selected)]
    kept = [s for s in chosen if family in (None, s.family)]
    if chosen and not kept and not names:
        raise ValueError(f"no family is named {family!r} (see --list)")
    return kept


def _probe(chosen: Sequence[Signature], workers: Sequence[Worker], options: argparse.Namespace) -> int:
    started = time.monotonic()
    results: dict[str, RecordingSummary | Unavailable] = {}
    probed: Mapping[str, RecordingSummary | Unavailable] = results  # what an interruption tells of
    waiting = deque(groups_of(chosen))
    try:
        with Progress(len(chosen), "instructions", options.quiet) as shown, ThreadPoolExecutor(len(workers)) as pool:
            try:
                _join([pool.submit(_collect, worker, waiting, options, results, shown) for worker in workers])
                for worker in workers:  # groups that one put back when the others had ended
                    _collect(worker, waiting, options, results, shown)
            except BaseException:
                probed = dict(results)  # from now on the workers answer that they were ended
                for worker in workers:  # or else the pool would wait until all is probed
                    worker.end()
                raise
    except KeyboardInterrupt:
        if not options.quiet:  # a file of recordings that lacks some is not written
            show(*_lines(probed))
        raise Interrupted(len(chosen) - len(probed), len(chosen)) from None
    info = next((worker.device for worker in workers if isinstance(worker.device, DeviceInfo)), workers[0].device)
    if isinstance(info, Unavailable):  # no worker has the GPU, so groups are left
        results |= {s.mnemonic: info for group in waiting for s in group}
    results = {s.mnemonic: results[s.mnemonic] for s in chosen}
    seconds = time.monotonic() - started
    if not options.quiet:
        show(*_lines(results))
    recorded = [result for result in results.values() if not isinstance(result, Unavailable)]
    if options.output:
        _save(options.output, chosen, recorded)
    summary = _summary(results, info, seconds)
    print(summary) if options.quiet else show(summary)
    if any(not r.sound for r in recorded):
        return Exit.CONTRADICTION
    return exit_undecided(options) if len(recorded) < len(results) else Exit.OK


def groups_of(chosen: Sequence[Signature]) -> list[Sequence[Signature]]:
    """Return what is compiled and probed together, the longest first.

    An instruction that gives others absolute coordinates is alone: any process may need it, and one module serves all.
    """
    alone = sources_of_coordinates(chosen)
    together = group_instructions([s for s in chosen if s.mnemonic not in alone])
    return sorted([*together, *([s] for s in chosen if s.mnemonic in alone)], key=_effort, reverse=True)


def _effort(group: Sequence[Signature]) -> int:
    """How long a group takes, about, in elements of B: the longest groups are probed first."""
    return sum(_ALWAYS * (1 + (s.sparsity is not None)) + prod(s.shape[1:]) for s in group)


def _collect(
    worker: Worker,
    waiting: deque[Sequence[Signature]],
    options: argparse.Namespace,
    results: dict[str, RecordingSummary | Unavailable],
    shown: Progress,
) -> None:
    """Probe waiting groups on one worker until none is left, and add the results.

    It takes the next group ahead, to be compiled meanwhile. What was taken before it was known that the worker has no
    GPU is put back: another worker may have one.
    """
    group = _next(waiting)
    while group and worker.usable:
        jobs = [Find(s, options.trials, options.seed, options.output is not None) for s in group]
        ahead, left = _next(waiting), []
        for index, result in worker.run_jobs(jobs, ahead):
            if result is worker.device:
                left.append(group[index])
            else:
                results[group[index].mnemonic] = result
                shown.step(group[index].mnemonic)
        if left:
            waiting.append(left)
        group = ahead
    if group:
        waiting.append(group)


def _join(running: Iterable[Future[None]]) -> None:
    """Wait for all, and raise what the first of them raises.

    Python handles a signal that arrives just as a wait begins when that wait ends: so no wait is long.
    """
    left = {*running}
    while left:
        done, left = wait(left, _WAKE, FIRST_COMPLETED)
        for future in done:
            future.result()


def _next(waiting: deque[Sequence[Signature]]) -> Sequence[Signature]:
    """Return the next group, or none; several threads call this."""
    try:
        return waiting.popleft()
    except IndexError:
        return ()


def _lines(results: Mapping[str, RecordingSummary | Unavailable]) -> Iterable[str]:
    for mnemonic, result in results.items():
        if not isinstance(result, Unavailable):
            how = f"{result.sass or 'SASS not seen'}{'  emulated' if result.emulated else ''}"
            yield f"{mnemonic}  {'RECORDED' if result.sound else 'CONTRADICTS'}  {result.extent}  {how}"
            yield from (f"    {note}" for note in result.objections)
    unchecked = {m: r.reason for m, r in results.items() if isinstance(r, Unavailable)}
    for reason, group in groupby(sorted(unchecked, key=lambda m: (unchecked[m], m)), key=unchecked.__getitem__):
        names = list(group)
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield f"{names[0]}{more}  UNCHECKED  {reason}"


def _save(folder: Path, chosen: Sequence[Signature], summaries: Sequence[RecordingSummary]) -> None:
    kin: dict[str, list[RecordedLines]] = {}
    family = {s.mnemonic: s.family for s in chosen}
    for summary in summaries:
        if summary.lines is not None:
            kin.setdefault(family[summary.mnemonic], []).append(summary.lines)
    for name in sorted(kin):
        print(f"wrote {write(folder, name, kin[name])}", file=sys.stderr)


def _summary(
    results: Mapping[str, RecordingSummary | Unavailable], info: DeviceInfo | Unavailable | None, seconds: float
) -> str:
    recorded = [result for result in results.values() if not isinstance(result, Unavailable)]
    emulated = sum(result.emulated is True for result in recorded)
    broken = sum(not result.sound for result in recorded)
    pairs = sum(result.pairs for result in recorded)
    doubts = f" ({join_counts({'emulated': emulated, 'contradict their controls': broken})})" * bool(emulated or broken)
    counts = {"recorded": len(recorded), f"pairs{doubts}": pairs, "unchecked": len(results) - len(recorded)}
    text = f"{join_counts(counts)}, {seconds:.1f} s"
    if isinstance(info, DeviceInfo):
        text += f"   {info.gpu}, {info.sm}, driver {info.driver or 'unknown'}, CUDA {info.cuda}, NVRTC {info.nvrtc}"
    return text


if __name__ == "__main__":
    raise SystemExit(main())

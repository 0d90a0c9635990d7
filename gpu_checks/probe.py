# SPDX-License-Identifier: Apache-2.0
"""Probe instructions on the GPU at hand: `python -m gpu_checks.probe MNEMONIC… | --all`."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path

from gpu_checks.rebuilt import lossy
from gpu_checks.sources import grouped
from gpu_checks.store import recordings, write
from gpu_checks.values import DeviceInfo, Move, Recording, Unavailable
from gpu_checks.worker import Relate, Worker, WorkerError
from isa_tables.signature import Signature, mnemonics, signature

OK, CONTRADICTED, USAGE, INTERNAL, UNCHECKED, EMPTY = range(6)
EPILOG = """\
Each instruction is run on every pair of one element of A and one of B, which shows which elements share a
row, a column or a k; then C is passed through, random products are multiplied through the labels found
(also renamed, which must pass, and rotated, which must fail), and ldmatrix, stmatrix and wgmma anchor the
labels. Of instructions with metadata or with matrices in shared memory, B's elements are numbered in digits
instead; ldmatrix, stmatrix and movmatrix are followed byte by byte. Compiled kernels are kept in the folder
LANECHECK_CACHE (~/.cache/lanecheck); empty, nothing is kept.

exit code: 0 done, what could not be probed is counted as UNCHECKED; 1 a probe contradicted its own controls, or a
recording under --check does not rebuild its table; 2 usage, an unknown mnemonic, a malformed recording; 3 a defect
of the probe itself; 4 under --require something stayed UNCHECKED, and nothing is contradicted; 5 nothing selected
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    options = _parser().parse_args(argv)
    try:
        return _run(options)
    except WorkerError as defect:
        print(f"probe: internal error\n{defect}", file=sys.stderr)
        return INTERNAL
    except (ValueError, OSError) as error:  # an unknown mnemonic, a malformed recording, an unwritable folder
        print(f"probe: {error}", file=sys.stderr)
        return USAGE


def _run(options: argparse.Namespace) -> int:
    if options.check is not None:
        return _check(options.check)
    chosen = _select(options.mnemonic, options.all, options.family)
    if not chosen:
        print("probe: nothing selected (see --list)", file=sys.stderr)
        return EMPTY
    if options.list:
        print("\n".join(s.mnemonic for s in chosen))
        return OK
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
    return _probe(chosen, options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m gpu_checks.probe",
        description="Record what matrix instructions do with the elements of their operands on this GPU.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("mnemonic", nargs="*", metavar="MNEMONIC", help="PTX mnemonic, or a glob such as '*.s8.*'")
    parser.add_argument("--all", action="store_true", help="every instruction")
    parser.add_argument("--family", help="only this family: mma.sync, dp4a, ...")
    parser.add_argument("--list", action="store_true", help="print what is selected and stop")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="write the recordings there, as JSON Lines")
    parser.add_argument("--trials", type=_positive, default=64, metavar="N", help="random products (64)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the random products (0)")
    parser.add_argument("--timeout", type=_positive, default=60, metavar="S", help="seconds for one probe (60)")
    parser.add_argument("--jobs", type=_positive, default=_jobs(), metavar="N", help="processes (one for each CPU)")
    parser.add_argument("--require", action="store_true", help="exit 4 if anything stays UNCHECKED")
    parser.add_argument("-q", "--quiet", action="store_true", help="the summary only, no progress")
    parser.add_argument(
        "--check", nargs="*", type=Path, metavar="PATH", help="read recordings (the shipped ones too) and stop"
    )
    return parser


def _jobs() -> int:
    return os.cpu_count() or 1


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not positive")
    return number


def _select(names: Sequence[str], every: bool, family: str | None) -> list[Signature]:
    """The signatures asked for, each once, sorted; ValueError for an unknown mnemonic, with the nearest."""
    known = mnemonics("*")
    found = set(known) if every or (family and not names) else set()
    for name in names:
        if any(sign in name for sign in "*?["):
            found |= {one for one in known if fnmatchcase(one, name)}
        else:
            found.add(signature(name).mnemonic)
    chosen = [signature(name) for name in sorted(found)]
    return [s for s in chosen if family in (None, s.family)]


def _probe(chosen: Sequence[Signature], options: argparse.Namespace) -> int:
    started = time.monotonic()
    results: dict[str, Recording | Move | Unavailable] = {}
    info: DeviceInfo | Unavailable | None = None
    groups = grouped(chosen)
    parts = [[s for group in groups[start :: options.jobs] for s in group] for start in range(options.jobs)]
    parts = [part for part in parts if part]
    with ThreadPoolExecutor(len(parts)) as pool:
        for seen, found in pool.map(lambda part: _heard(part, options), parts):
            info = info or seen
            results |= found
    results = {s.mnemonic: results[s.mnemonic] for s in chosen}
    seconds = time.monotonic() - started
    if not options.quiet:
        print("\n".join(_lines(results)))
    recorded = [result for result in results.values() if not isinstance(result, Unavailable)]
    if options.output:
        _save(options.output, chosen, recorded)
    print(_summary(results, info, seconds))
    if any(not r.sound for r in recorded):
        return CONTRADICTED
    return UNCHECKED if options.require and len(recorded) < len(results) else OK


def _heard(
    chosen: Sequence[Signature], options: argparse.Namespace
) -> tuple[DeviceInfo | Unavailable | None, dict[str, Recording | Move | Unavailable]]:
    """What one worker process finds out about some instructions, and the GPU it found."""
    results = {}
    with Worker(timeout=options.timeout) as worker:
        for index, result in worker.run([Relate(s, options.trials, options.seed) for s in chosen]):
            results[chosen[index].mnemonic] = result
            if not options.quiet:
                _progress(index + 1, chosen)
        return worker.device, results


def _progress(count: int, chosen: Sequence[Signature]) -> None:
    if sys.stderr.isatty():
        end = "\n" if count == len(chosen) else ""
        print(f"\r\x1b[K{count}/{len(chosen)}  {chosen[count - 1].mnemonic}", end=end, file=sys.stderr, flush=True)


def _lines(results: Mapping[str, Recording | Move | Unavailable]) -> Iterable[str]:
    for mnemonic, result in results.items():
        if not isinstance(result, Unavailable):
            how = f"{result.sass or 'SASS not seen'}{'  emulated' if result.emulated else ''}"
            word = "RECORDED   " if result.sound else "CONTRADICTS"
            size = f"{result.pairs} pairs" if isinstance(result, Recording) else f"{result.places.size // 2} bytes"
            yield f"{word}  {mnemonic}  {size}  {how}"
            yield from (f"             {note}" for note in _objections(result))
    silent = {m: r.reason for m, r in results.items() if isinstance(r, Unavailable)}
    for reason, group in groupby(sorted(silent, key=lambda m: (silent[m], m)), key=silent.__getitem__):
        names = list(group)
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield f"UNCHECKED    {names[0]}{more}: {reason}"


def _objections(recording: Recording | Move) -> Iterable[str]:
    yield from recording.exceptions
    if isinstance(recording, Move):
        return
    controls = recording.controls
    if controls is None:
        yield "the labels are not complete: nothing could be multiplied through them"
    elif not controls.hold:
        yield (
            f"controls: {controls.product} wrong elements through the labels (want 0), {controls.relabelled} "
            f"when renamed (want 0), {controls.rotated} when rotated (want some)"
        )


def _save(folder: Path, chosen: Sequence[Signature], found: Sequence[Recording | Move]) -> None:
    family = {s.mnemonic: s.family for s in chosen}
    for name in sorted({family[r.mnemonic] for r in found}):
        path = write(folder, name, [r for r in found if family[r.mnemonic] == name])
        print(f"wrote {path}", file=sys.stderr)


def _summary(
    results: Mapping[str, Recording | Move | Unavailable], info: DeviceInfo | Unavailable | None, seconds: float
) -> str:
    found = [result for result in results.values() if not isinstance(result, Unavailable)]
    emulated = sum(result.emulated is True for result in found)
    broken = sum(not result.sound for result in found)
    pairs = sum(result.pairs for result in found if isinstance(result, Recording))
    text = f"{len(found)} recorded, {pairs} pairs ({emulated} emulated, {broken} contradict their controls), "
    text += f"{len(results) - len(found)} unchecked, {seconds:.1f} s"
    if isinstance(info, DeviceInfo):
        text += f"   {info.gpu}, {info.sm}, driver {info.driver or 'unknown'}, CUDA {info.cuda}, NVRTC {info.nvrtc}"
    return text


def _check(paths: Sequence[Path]) -> int:
    """Read every recording: the schema, and that the labels rebuild the table whose hash was taken."""
    library = recordings(*paths)
    every = [recording for mnemonic in library for recording in library[mnemonic]]
    lost = list(lossy(every))
    for recording in lost:
        print(f"{recording.file}: {recording.mnemonic}: the labels do not rebuild the table that was observed")
    print(f"{len(every)} recordings of {len(library)} instructions read, {len(lost)} do not rebuild their table")
    return CONTRADICTED if lost else OK


if __name__ == "__main__":
    sys.exit(main())

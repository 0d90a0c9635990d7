# SPDX-License-Identifier: Apache-2.0
"""`python -m gpu_checks.probe --check`: every line of every recordings file, ours and those named, read and checked."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from gpu_checks import banks, laws
from gpu_checks.command import show
from gpu_checks.fitting import foreign, hold, is_stale, stale_notice
from gpu_checks.lines import RecordingError, files, text_of
from gpu_checks.rebuilt import lossy
from gpu_checks.store import Recordings, recordings
from gpu_checks.tilings import runner
from gpu_checks.tilings import store as tilings
from gpu_checks.values import Move, Recording
from isa_tables.signature import IsaError, Signature, signature

OK, CONTRADICTED = 0, 1
Stale = Mapping[Path, Sequence[str]]  # file -> what was recorded there by kernels of another text than today's


def _banks(file: Path) -> tuple[int, list[str]]:
    found = banks.recordings_of_banks(file)
    return len(found), [one.pattern.name for one in found if one.kernel_hash != banks.hash_of(one.pattern)]


def _tilings(file: Path) -> tuple[int, list[str]]:
    found = tilings.recordings_of_tilings(file)
    return len(found), [run.tiling.name for run in found if run.kernel_hash != runner.hash_of(run.tiling)]


def _laws(file: Path) -> tuple[int, list[str]]:
    return len(laws.recordings_of_laws(file)), []  # no kernel of ours: CuPy compiles what is evaluated


# By the key that a file of the kind has behind its schema: what is counted, where ours are, the reader of a file.
_OTHERS: Mapping[str, tuple[str, Path, Callable[[Path], tuple[int, list[str]]]]] = {
    "name": ("access patterns", banks.RECORDINGS, _banks),
    "tiling": ("tilings", tilings.RECORDINGS, _tilings),
    "arrays": ("campaigns of laws", laws.RECORDINGS, _laws),
}
_KIND = re.compile(r'\{"schema": ?\d+, ?"([a-z]+)"')


def check(paths: Sequence[Path]) -> int:
    """Read every line: its digest and schema, that it can be its instruction's, that its labels rebuild the table.

    RecordingError for the first that cannot be, and for one of ours that was made by kernels of another text than
    today's; of other files this is a warning.
    """
    given = list(chain.from_iterable(map(files, paths)))
    kinds = {file: kind for file in given if (kind := _kind(file))}
    library = recordings(*(file for file in given if file not in kinds))
    every, stale = _products(library)
    counts = [f"{len(every)} recordings of {len(library)} instructions"]
    for kind, (what, ours, read) in _OTHERS.items():
        theirs = [file for file, its in kinds.items() if its == kind]
        found = {file: read(file) for file in (*files(ours), *theirs)}
        counts.append(f"{sum(count for count, _ in found.values())} of {what}")
        stale |= {file: names for file, (_, names) in found.items() if names}
    _tell_stale(stale)
    lost = list(lossy(every))
    for recording in lost:
        show(f"{recording.file}: {recording.mnemonic}: the labels do not rebuild the table that was observed")
    show(f"{', '.join(counts)} read, {len(lost)} do not rebuild their table")
    return CONTRADICTED if lost else OK


def _kind(file: Path) -> str:
    """The key that tells another kind of recordings; empty for those of instructions and for what is none."""
    found = _KIND.match(next(iter(text_of(file)), ""))
    return found[1] if found and found[1] in _OTHERS else ""


def _products(library: Recordings) -> tuple[list[Recording], dict[Path, list[str]]]:
    """The recordings of matrix products, and what is stale of them and of the matrix moves."""
    library.read_all()
    every = [recording for mnemonic in library for recording in library[mnemonic]]
    stale: dict[Path, list[str]] = {}
    found: Iterator[Recording | Move] = chain(every, *library.moves.values())
    for one in found:
        instruction = _instruction(one)
        if foreign(one):
            hold(one, instruction)
        if is_stale(one, instruction):
            stale.setdefault(Path(one.file), []).append(one.mnemonic)
    return every, stale


def _instruction(recording: Recording | Move) -> Signature:
    try:
        return signature(recording.mnemonic)
    except IsaError as unknown:
        raise RecordingError(f"{recording.file}: {unknown}") from unknown


def _tell_stale(stale: Stale) -> None:
    for file, names in stale.items():
        if Path(__file__).parent in file.parents:
            raise RecordingError(stale_notice(file, names))
        print(f"probe: warning: {stale_notice(file, names)}", file=sys.stderr)

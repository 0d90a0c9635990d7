# SPDX-License-Identifier: Apache-2.0
"""`lanecheck probe --check`: reads and checks every line of all recordings, ours and those named."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from gpu_checks import laws, statements
from gpu_checks.banks import command as banks
from gpu_checks.command import show
from gpu_checks.inference.reconstructed import incomplete
from gpu_checks.opcodes import recording as opcodes
from gpu_checks.opcodes.rejected import accepted_forms
from gpu_checks.opcodes.text import Probe
from gpu_checks.order import command as order
from gpu_checks.recording import Move, Recording
from gpu_checks.recordings_io import manifest
from gpu_checks.recordings_io.capabilities import capabilities
from gpu_checks.recordings_io.errors import RecordingError
from gpu_checks.recordings_io.lines import files, rows, text_of
from gpu_checks.recordings_io.reader import Recordings, is_external, recordings
from gpu_checks.recordings_io.validation import is_stale, stale_notice, validate
from gpu_checks.tilings import runner
from gpu_checks.tilings import store as tilings
from isa_tables.signature import IsaError, Signature, signature
from lanecheck.console.exits import Exit

Stale = Mapping[Path, Sequence[str]]  # file -> what was recorded there by kernels of another text than today's


@dataclass(frozen=True, slots=True)
class FileContent:
    """The content of a file: how many lines, which of them are stale, and the GPUs that they name."""

    count: int
    stale: Sequence[str]
    gpus: frozenset[str]


def _banks(file: Path) -> FileContent:
    found = banks.recordings_of_banks(file)
    stale = [one.pattern.name for one in found if one.kernel_hash != banks.hash_of(one.pattern)]
    return FileContent(len(found), stale, frozenset(one.device.gpu for one in found))


def _tilings(file: Path) -> FileContent:
    found = tilings.recordings_of_tilings(file)
    stale = [run.tiling.name for run in found if run.kernel_hash != runner.hash_of(run.tiling)]
    return FileContent(len(found), stale, frozenset(run.device.gpu for run in found))


def _order(file: Path) -> FileContent:
    found = order.recordings_of_order(file)
    today = {one.name: order.hash_of(one) for one in order.PROBES}
    stale = [f"{one.name}, {one.delay} cycles late" for one in found if one.kernel_hash != today.get(one.name)]
    return FileContent(len(found), stale, frozenset(one.device.gpu for one in found))


def _laws(file: Path) -> FileContent:
    """Count campaigns of laws: one of another statement than today's is stale; of a law that is gone nothing is."""
    found, today = laws.recordings_of_laws(file), statements.laws()
    stale = [one.law for one in found if one.law in today and one.text != today[one.law].digest]
    gpus = {fields["gpu"] for _, fields in rows(file, laws.SCHEMA)}
    return FileContent(len(found), stale, frozenset(gpus - {None}))


def _opcodes(file: Path) -> FileContent:
    """Forms of opcodes. Of a form that no row of today has nothing is compared, so it is not stale."""
    found = opcodes.recordings_of_opcodes(file)
    today = {form.name: form for form in accepted_forms()}
    forms = [one for recording in found for one in recording.forms.values()]
    stale = [one.form for one in forms if one.form in today and one.probe != Probe(today[one.form]).digest]
    return FileContent(len(forms), stale, frozenset(recording.device.gpu for recording in found))


# By the key that a file of the kind has behind its schema: what is counted, where ours are, the reader of a file.
_OTHERS: Mapping[str, tuple[str, Path, Callable[[Path], FileContent]]] = {
    "name": ("access patterns", banks.RECORDINGS, _banks),
    "tiling": ("tilings", tilings.RECORDINGS, _tilings),
    "gpu": ("runs without a barrier or a fence", order.RECORDINGS, _order),
    "arrays": ("campaigns of laws", laws.RECORDINGS, _laws),
    "opcodes": ("forms of opcodes", opcodes.RECORDINGS, _opcodes),
}
_KIND = re.compile(r'\{"schema": ?\d+, ?"([a-z]+)"')


def check(paths: Sequence[Path]) -> int:
    """Check every line: its digest and schema, that it is valid for its instruction, that its labels rebuild the table.

    RecordingError for the first line that is not valid, and for one of ours that was made by kernels of another text
    than today's; for other files this is a warning.
    """
    shipped = manifest.check_all()
    given = list(chain.from_iterable(map(files, paths)))
    kinds = {file: kind for file in given if (kind := _kind(file))}
    library = recordings(*(file for file in given if file not in kinds))
    every, stale = _products(library)
    gpus = {one.gpu for one in chain(every, *library.moves.values())}
    counts = [f"{len(every)} recordings of {len(library)} instructions"]
    for kind, (what, ours, read) in _OTHERS.items():
        theirs = [file for file, its in kinds.items() if its == kind]
        found = {file: read(file) for file in (*files(ours), *theirs)}
        counts.append(f"{sum(one.count for one in found.values())} {what}")
        stale |= {file: one.stale for file, one in found.items() if one.stale}
        gpus |= {gpu for one in found.values() for gpu in one.gpus}
    _report_stale(stale)
    for gpu in sorted(gpu for gpu in gpus if not capabilities(gpu)):
        print(f"probe: {gpu}: not in the table of GPUs, so that its sm was not checked", file=sys.stderr)
    wrong = list(incomplete(every))
    for recording in wrong:
        show(f"{recording.file}: {recording.mnemonic}: the labels do not rebuild the table that was observed")
    rebuilt = f"the labels of {len(wrong)} don't rebuild their table" if wrong else "the labels rebuild every table"
    also = f" and of {len(given)} given" if given else ""
    show(f"{', '.join(counts)} read; {rebuilt}; every line of {shipped} shipped files was checked{also}")
    return Exit.CONTRADICTION if wrong else Exit.OK


def _kind(file: Path) -> str:
    """Return the kind of a file of banks, tilings, laws or opcodes, from its first line; empty for any other file."""
    found = _KIND.match(next(iter(text_of(file)), ""))
    return found[1] if found and found[1] in _OTHERS else ""


def _products(library: Recordings) -> tuple[list[Recording], dict[Path, Sequence[str]]]:
    """Return the recordings of matrix products, and what is stale of them and of the matrix moves."""
    library.read_all()
    every = [recording for mnemonic in library for recording in library[mnemonic]]
    stale: dict[Path, Sequence[str]] = {}
    found: Iterator[Recording | Move] = chain(every, *library.moves.values())
    for one in found:
        instruction = _instruction(one)
        if is_external(one):
            validate(one, instruction)
        if is_stale(one, instruction):
            stale[Path(one.file)] = [*stale.get(Path(one.file), ()), one.mnemonic]
    return every, stale


def _instruction(recording: Recording | Move) -> Signature:
    try:
        return signature(recording.mnemonic)
    except IsaError as unknown:
        raise RecordingError(f"{recording.file}: {unknown}") from unknown


def _report_stale(stale: Stale) -> None:
    for file, names in stale.items():
        if Path(__file__).parent in file.parents:
            raise RecordingError(stale_notice(file, names))
        print(f"probe: warning: {stale_notice(file, names)}", file=sys.stderr)

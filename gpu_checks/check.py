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
    observed = banks.recordings_of_banks(file)
    stale = [
        observation.pattern.name
        for observation in observed
        if observation.kernel_hash != banks.hash_of(observation.pattern)
    ]
    return FileContent(len(observed), stale, frozenset(observation.device.gpu for observation in observed))


def _tilings(file: Path) -> FileContent:
    runs = tilings.recordings_of_tilings(file)
    stale = [run.tiling.name for run in runs if run.kernel_hash != runner.hash_of(run.tiling)]
    return FileContent(len(runs), stale, frozenset(run.device.gpu for run in runs))


def _order(file: Path) -> FileContent:
    observed = order.recordings_of_order(file)
    today = {probe.name: order.hash_of(probe) for probe in order.PROBES}
    stale = [
        f"{observation.name}, {observation.delay} cycles late"
        for observation in observed
        if observation.kernel_hash != today.get(observation.name)
    ]
    return FileContent(len(observed), stale, frozenset(observation.device.gpu for observation in observed))


def _laws(file: Path) -> FileContent:
    """Count campaigns of laws: one of another statement than today's is stale; of a law that is gone nothing is."""
    campaigns, today = laws.recordings_of_laws(file), statements.laws()
    stale = [
        campaign.law for campaign in campaigns if campaign.law in today and campaign.text != today[campaign.law].digest
    ]
    gpus = {fields["gpu"] for _, fields in rows(file, laws.SCHEMA)}
    return FileContent(len(campaigns), stale, frozenset(gpus - {None}))


def _opcodes(file: Path) -> FileContent:
    """Forms of opcodes. Of a form that no row of today has nothing is compared, so it is not stale."""
    recorded = opcodes.recordings_of_opcodes(file)
    today = {form.name: form for form in accepted_forms()}
    forms = [computed for recording in recorded for computed in recording.forms.values()]
    stale = [
        computed.form
        for computed in forms
        if computed.form in today and computed.probe != Probe(today[computed.form]).digest
    ]
    return FileContent(len(forms), stale, frozenset(recording.device.gpu for recording in recorded))


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
    gpus = {recording.gpu for recording in chain(every, *library.moves.values())}
    counts = [f"{len(every)} recordings of {len(library)} instructions"]
    for kind, (what, ours, read) in _OTHERS.items():
        theirs = [file for file, its in kinds.items() if its == kind]
        contents = {file: read(file) for file in (*files(ours), *theirs)}
        counts.append(f"{sum(content.count for content in contents.values())} {what}")
        stale |= {file: content.stale for file, content in contents.items() if content.stale}
        gpus |= {gpu for content in contents.values() for gpu in content.gpus}
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
    match = _KIND.match(next(iter(text_of(file)), ""))
    return match[1] if match and match[1] in _OTHERS else ""


def _products(library: Recordings) -> tuple[list[Recording], dict[Path, Sequence[str]]]:
    """Return the recordings of matrix products, and what is stale of them and of the matrix moves."""
    library.read_all()
    every = [recording for mnemonic in library for recording in library[mnemonic]]
    stale: dict[Path, Sequence[str]] = {}
    probed: Iterator[Recording | Move] = chain(every, *library.moves.values())
    for recording in probed:
        instruction = _instruction(recording)
        if is_external(recording):
            validate(recording, instruction)
        if is_stale(recording, instruction):
            stale[Path(recording.file)] = [*stale.get(Path(recording.file), ()), recording.mnemonic]
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

# SPDX-License-Identifier: Apache-2.0
"""What is locked of a subject: the function of each of its operands, point by point, or why it has none, in words.

Each kind says what its functions are (`Kind.functions`). However a map is written, its function is the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from layouts.toml.errors import AtomFileError
from layouts.toml.tables import ReadTables
from verify import kinds
from verify.cli.arguments import check_execution
from verify.core.errors import SpecError, UsageError
from verify.core.files import purpose
from verify.core.verdict import Place
from verify.core.wording import in_words
from verify.kind import Functions, Kind, Resources
from verify.maps.fragment_map import FragmentMap


@dataclass(frozen=True)
class Subject:
    """A subject of a file with its functions."""

    name: str  # of the entry
    file: str  # as it is locked: relative to the lock
    table: str  # of the file; of a family's member that of the family
    says: Mapping[str, str]  # what isn't a function: the instructions, the tile, a layout that is not well formed
    maps: Mapping[str, FragmentMap] = field(default_factory=dict)  # operand -> its function
    place: Place | None = None  # of a definition in a header; else the table's


def of_file(path: Path, file: str, pool: Mapping[str, Any], allowed: bool = True) -> ReadTables[Subject]:
    """Return the subjects of a file, which the lock names `file`, and all errors in the others.

    Tilings are of the pool's atoms. Code of others runs only where that is `allowed`. Raises AtomFileError for a file
    that cannot be read, UsageError for one with other entries.
    """
    kind = kinds.of_file(path)
    if kind.read is None or kind.functions is None:
        lockable = [
            candidate.plural
            for candidate in kinds.all()
            if candidate.functions is not None and candidate.signs is not None
        ]
        raise UsageError(f"{path}: {in_words(lockable)} can be locked; {purpose(path)}")
    entries = kind.read(path)
    return ReadTables(
        tuple(_subject(kind, entry, file, Resources(atoms=pool), allowed) for entry in entries.items), entries.errors
    )


def _subject(kind: Kind[Any], entry: Any, file: str, resources: Resources, allowed: bool) -> Subject:
    if kind.runs_code is not None and kind.runs_code(entry):
        check_execution(allowed)
    try:
        functions: Functions = kind.functions(entry, resources) if kind.functions is not None else Functions({})
    except SpecError as error:
        raise SpecError(error.key, error.problem, error.entry or f"{file}: {entry.name}") from error
    return Subject(entry.name, file, "" if functions.place else kind.table(entry), *functions)


def pool_of(paths: Sequence[Path]) -> Mapping[str, Any]:
    """Return the subjects that others may name, which are atoms: those of the files, then the shipped ones."""
    own: dict[str, Any] = {}
    for path in paths:
        with suppress(AtomFileError):  # it is reported where its entries are read
            kind = kinds.of_file(path)
            if kind.shipped is not None and kind.read is not None:
                own |= {subject.name: subject for subject in kind.read(path).items}
    return kinds.with_shipped(own)

# SPDX-License-Identifier: Apache-2.0
"""The kinds of subjects. Whatever treats them all alike asks `all()`, so that a kind is added here and nowhere else."""

from __future__ import annotations

import os
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from layouts.toml.document import read_document
from layouts.toml.errors import AtomFileError
from verify.atom.kind import ATOM
from verify.campaign.kind import CAMPAIGN
from verify.core import python_files
from verify.core.errors import MalformedError, UsageError
from verify.core.files import list_fitting, purpose
from verify.core.wording import in_words
from verify.foreign.kind import FOREIGN
from verify.index.kind import INDEX
from verify.instruction.kind import INSTRUCTION
from verify.kernel.kind import KERNEL
from verify.kind import SURE, Kind, Recognition
from verify.laws.kind import LAW
from verify.layout.kind import LAYOUT
from verify.movement.kind import MOVEMENT
from verify.scan.kind import HEADER
from verify.tiling.kind import TILING

CUDA = (".cu", ".cuh", ".h", ".hpp")  # suffixes of source files
KINDS: tuple[Kind[Any], ...] = (
    ATOM, LAYOUT, INSTRUCTION, TILING, MOVEMENT, INDEX,
    LAW, CAMPAIGN, HEADER, FOREIGN, KERNEL,
)  # fmt: skip
_registered: list[Kind[Any]] = []  # beside those: of a test, or of a plugin


def all() -> tuple[Kind[Any], ...]:
    """Return every kind, in the order in which lists of them are printed."""
    return (*KINDS, *_registered)


@contextmanager
def register(kind: Kind[Any]) -> Iterator[None]:
    """Add a kind for a while."""
    _registered.append(kind)
    try:
        yield
    finally:
        _registered.remove(kind)


def of(name: str) -> Kind[Any]:
    """Return the kind of a name. Raises UsageError if none has it.

    >>> of("tiling").plural
    'tilings'
    """
    named = next((kind for kind in all() if kind.name == name), None)
    if named is None:
        raise UsageError(f"no kind of subject is named {name!r}: there are {', '.join(kind.name for kind in all())}")
    return named


def bind(name: str, keys: Mapping[str, Any]) -> Any:
    """Return the subject of a kind that keys give, as a table of a file or options do. Raises SpecError, UsageError."""
    from_keys = of(name).from_keys
    if from_keys is None:
        raise UsageError(f"{of(name).singular} is given by a file")
    return from_keys(keys)


def of_tables(tables: Mapping[str, object], file: str | Path) -> Kind[Any]:
    """Return the kind of a TOML file. If its keys fit none, it is read as atoms, which says what is wrong.

    >>> of_tables({"mine": {"from": "ldmatrix", "to": "mma"}}, "mine.toml").name
    'movement'

    Raises UsageError if its tables are of several kinds.
    """
    fitting = [of(name) for name in list_fitting(tables)]
    if len(fitting) > 1:
        listed = in_words([kind.plural for kind in fitting])
        raise UsageError(f"{file}: its tables are of several kinds, {listed}: a file has those of one")
    return fitting[0] if fitting else ATOM


def of_file(path: Path) -> Kind[Any]:
    """Return the kind of a file's subjects, by its suffix or its keys. Raises AtomFileError if it cannot be read."""
    by_suffix = next((kind for kind in all() if path.suffix in kind.suffixes), None)
    return by_suffix or of_tables(read_document(path).tables, path)


def recognize(what: str) -> Kind[Any]:
    """Return the kind of what an argument names: a file, a folder, or what a text spells.

    Raises UsageError if no kind recognizes it, or two equally surely, and MalformedError for a file that can't be read.

    >>> recognize("SM80_16x8x16").name, recognize("examples/maps.toml").name
    ('atom', 'index')
    """
    if not what.strip():
        raise UsageError("'' names nothing: give a file, a layout in quotes, or a name")
    if fault := python_files.find_fault(what):
        raise UsageError(fault)
    path, matches = Path(what), _list_recognitions(what, all())
    if path.suffix in CUDA and not path.exists():
        raise UsageError(f"{what}: there is no such file")
    if path.is_dir():
        matches += [(Recognition(SURE, "a folder"), kind) for kind in all() if kind.folders]
    elif path.is_file() or path.suffix in (".toml", *(suffix for kind in all() for suffix in kind.suffixes)):
        matches.append(_in_file(path))
    surest = _surest(what, matches)
    if surest is None:
        raise UsageError(
            f"{what:.200} isn't a file, and no kind recognizes it: give a file, a layout in quotes, or a name"
        )
    return surest


def _in_file(path: Path) -> tuple[Recognition, Kind[Any]]:
    """Return the kind of a file with how it is recognized. Raises UsageError for one that no kind reads."""
    if suffix := next((kind for kind in all() if path.suffix in kind.suffixes), None):
        return Recognition(SURE, f"a file {path.suffix}"), suffix
    if path.suffix != ".toml":
        raise UsageError(f"{path}: {purpose(path)}")
    try:
        tables = read_document(path).tables
    except AtomFileError as error:
        raise MalformedError(error.errors) from error
    return Recognition(SURE, "its keys"), of_tables(tables, path)


def with_shipped(own: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the subjects that others may name, which are atoms: a user's, then the shipped ones."""
    return ChainMap(dict(own), *(kind.shipped() for kind in all() if kind.shipped is not None))  # type: ignore[arg-type]


def find_surest(text: str, kinds: Sequence[Kind[Any]]) -> Kind[Any] | None:
    """Return the kind that recognizes a text most surely, or None.

    Raises UsageError if two recognize it equally.

    >>> find_surest("(4,8):(8,1)", all()).name
    'layout'
    """
    return _surest(text, _list_recognitions(text, kinds))


def _list_recognitions(text: str, kinds: Sequence[Kind[Any]]) -> list[tuple[Recognition, Kind[Any]]]:
    return [(match, kind) for kind in kinds if (match := kind.spelled(text))]


def _surest(text: str, matches: Sequence[tuple[Recognition, Kind[Any]]]) -> Kind[Any] | None:
    """Return the kind with the strongest match. Raises UsageError if two are as strong."""
    most = max((match.strength for match, _ in matches), default=0)
    best = [(match, kind) for match, kind in matches if match.strength == most]
    if len(best) > 1:
        ways = " or ".join(f"{kind.singular} ({match.why})" for match, kind in best)
        options = " or ".join(f"--kind {kind.name}" for _, kind in best)
        path = f", or ./{text} for the path" if Path(text).exists() and os.sep not in text else ""
        raise UsageError(f"{text:.200} may be {ways}: give {options}{path}")
    return best[0][1] if best else None

# SPDX-License-Identifier: Apache-2.0
"""The kinds of subjects. Whatever treats them all alike asks `all()`, so that a kind is added here and nowhere else."""

from __future__ import annotations

import re
from argparse import Namespace
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from layouts.atoms.document import read
from verify.atom.kind import ATOM
from verify.campaign.kind import CAMPAIGN
from verify.core.errors import UsageError
from verify.core.files import meant_for
from verify.foreign.kind import FOREIGN
from verify.index.kind import INDEX
from verify.kernel.kind import KERNEL
from verify.kind import LIKELY, Drawing, Kind, Recognition
from verify.laws.kind import LAW
from verify.layout.kind import LAYOUT
from verify.movement.kind import MOVEMENT
from verify.scan.kind import HEADER
from verify.tiling.kind import TILING

if TYPE_CHECKING:
    from verify.pictures.picture import Picture

MNEMONIC = re.compile(r"[a-z][a-z0-9_]*\.[\w.:]+")


def _recognize_mnemonic(text: str) -> Recognition | None:
    return Recognition(LIKELY, "it is spelled as a mnemonic") if MNEMONIC.fullmatch(text) else None


def _draw_instruction(text: str, options: Namespace) -> Picture:
    from verify.pictures.instructions import of_instruction

    return of_instruction(text, (options.rows, options.columns))


INSTRUCTION: Kind[Any] = Kind(  # of the ISA tables: what all others are compared with, so nothing verifies it
    name="instruction",
    one="an instruction",
    plural="instructions",
    command="verify.show.command",
    spelled=_recognize_mnemonic,
    drawing=Drawing(_draw_instruction),
)
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
    found = next((kind for kind in all() if kind.name == name), None)
    if found is None:
        raise UsageError(f"no kind of subject is named {name!r}: there are {', '.join(kind.name for kind in all())}")
    return found


def bind(name: str, keys: Mapping[str, Any]) -> Any:
    """Return the subject of a kind that keys give, as a table of a file or options do. Raises SpecError, UsageError."""
    from_keys = of(name).from_keys
    if from_keys is None:
        raise UsageError(f"{of(name).one} is given by a file")
    return from_keys(keys)


def of_tables(tables: Mapping[str, object]) -> Kind[Any]:
    """Return the kind of a TOML file. If its keys fit none, or several, it is read as atoms, which says what is wrong.

    >>> of_tables({"mine": {"from": "ldmatrix", "to": "mma"}}).name
    'movement'
    """
    named = {kind.name: kind for kind in all()}
    return named.get(meant_for(tables), ATOM)


def of_file(path: Path) -> Kind[Any]:
    """Return the kind of a file's subjects, by its suffix or its keys. Raises AtomFileError if it cannot be read."""
    found = next((kind for kind in all() if path.suffix in kind.suffixes), None)
    return found or of_tables(read(path).tables)


def with_shipped(own: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the subjects that others may name, which are atoms: a user's, then the shipped ones."""
    return ChainMap(dict(own), *(kind.shipped() for kind in all() if kind.shipped is not None))  # type: ignore[arg-type]


def spelled(text: str, kinds: Sequence[Kind[Any]]) -> Kind[Any] | None:
    """Return the kind that recognizes a text most surely, or None.

    Raises UsageError if two recognize it equally.

    >>> spelled("(4,8):(8,1)", all()).name
    'layout'
    """
    matches: list[tuple[Recognition, Kind[Any]]] = [(match, kind) for kind in kinds if (match := kind.spelled(text))]
    if not matches:
        return None
    most = max(match.strength for match, _ in matches)
    best = [(match, kind) for match, kind in matches if match.strength == most]
    if len(best) > 1:
        ways = " or ".join(f"{kind.one} ({match.why})" for match, kind in best)
        raise UsageError(f"{text:.200} may be {ways}: give --kind {' or --kind '.join(kind.name for _, kind in best)}")
    return best[0][1]

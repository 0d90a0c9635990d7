# SPDX-License-Identifier: Apache-2.0
"""Tables of a test's own among the shipped ones, for commands, which read no others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from isa_tables import signature, tables
from verify.binding import atom


@contextmanager
def planted(path: Path, text: str, instead: str = "") -> Iterator[Path]:
    """Have a table file read beside the shipped ones, in place of the one of a name if one is given."""
    path.write_text(text)
    files = tables.files

    def more(folder: Path, key: tables.Said | None = None) -> Sequence[Path]:
        held = key is None or tables.may_hold(path.name, key.stem, key.shape)
        others = [other for other in files(folder, key) if other.name != instead]
        return [*others, *([path] if held else [])]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "files", more)
        forget()
        yield path
    forget()


def forget() -> None:
    """Drop what was looked up in the tables as they were."""
    signature._shipped.cache_clear()
    atom.look_up.cache_clear()

# SPDX-License-Identifier: Apache-2.0
"""A context manager that adds a test's own table to the shipped ones, for commands, which read no others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from isa_tables import signature, tables
from verify.binding import atom


@contextmanager
def plant_table(path: Path, text: str, instead: str = "") -> Iterator[Path]:
    """Write a table file and have it read with the shipped ones, in place of the file named `instead` if given."""
    path.write_text(text)
    files = tables.files

    def more(folder: Path, key: tables.Said | None = None) -> Sequence[Path]:
        fits = key is None or tables.may_have(path.name, key.stem, key.shape)
        rest = [file for file in files(folder, key) if file.name != instead]
        return [*rest, *([path] if fits else [])]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "files", more)
        forget()
        yield path
    forget()


def forget() -> None:
    """Clear the caches of the tables; what was made of a variant or an entry is kept by their identity."""
    signature._find_shipped.cache_clear()  # seam: the cache
    signature._shipped_variants.cache_clear()  # seam: the cache
    atom.look_up.cache_clear()

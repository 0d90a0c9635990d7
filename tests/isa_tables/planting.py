# SPDX-License-Identifier: Apache-2.0
"""Tables of a test's own among the shipped ones, for commands, which read no others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from isa_tables import signature, tables
from verify import subject


def plant(monkeypatch: pytest.MonkeyPatch, path: Path, text: str, instead: str = "") -> Path:
    """Write a table file and have it read beside the shipped ones, in place of the one of a name if one is given."""
    path.write_text(text)
    files = tables.files

    def more(folder: Path, key: tables.Said | None = None) -> Sequence[Path]:
        held = key is None or tables.may_hold(path.name, key.stem, key.shape)
        others = [other for other in files(folder, key) if other.name != instead]
        return [*others, *([path] if held else [])]

    monkeypatch.setattr(tables, "files", more)
    for cached in (signature._shipped, subject.look_up):
        cached.cache_clear()
    return path

# SPDX-License-Identifier: Apache-2.0
"""A cache on disk of what was compiled and disassembled: the compiler takes most of the time of a probe.

An entry is named by the SHA-256 of all that it depends on, so that a fault planted in a kernel's text is compiled. It
is sealed (`lanecheck.console.digests`): a damaged entry, or one that was copied from another name, is ignored.
LANECHECK_CACHE names the folder (else lanecheck in XDG_CACHE_HOME or ~/.cache); if it is empty, nothing is kept. A
folder that cannot be written isn't an error.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from lanecheck.console.digests import seal, unseal
from lanecheck.console.outputs import write_file


def folder() -> Path | None:
    """Return the folder of the entries; None where nothing is kept."""
    named = os.environ.get("LANECHECK_CACHE")
    if named is not None:
        return Path(named) if named else None
    home = os.environ.get("XDG_CACHE_HOME")
    return Path(home) / "lanecheck" if home else Path.home() / ".cache" / "lanecheck"


def fetch(name: str) -> bytes | None:
    """Return the entry of that name; None where there is none or it is damaged."""
    place = folder()
    if place is None:
        return None
    try:
        return unseal(name, (place / name).read_bytes())
    except OSError:
        return None


def keep(name: str, content: bytes) -> None:
    """Write an entry atomically; where that fails, it is compiled again the next time."""
    place = folder()
    if place is None:
        return
    with suppress(OSError):
        place.mkdir(parents=True, exist_ok=True)
        write_file(place / name, seal(name, content), durable=False)

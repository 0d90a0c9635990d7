# SPDX-License-Identifier: Apache-2.0
"""A cache on disk of what was compiled and disassembled: the compiler takes most of the time of a probe.

An entry is named by the SHA-256 of all that it depends on, so that a fault planted in a kernel's text is compiled. It
begins with the SHA-256 of its content: a damaged entry is ignored. LANECHECK_CACHE names the folder (else
lanecheck in XDG_CACHE_HOME or ~/.cache); if it is empty, nothing is kept. A folder that cannot be written is no error.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress
from pathlib import Path

_SEAL = hashlib.sha256().digest_size


def folder() -> Path | None:
    """The folder of the entries; None where nothing is kept."""
    named = os.environ.get("LANECHECK_CACHE")
    if named is not None:
        return Path(named) if named else None
    home = os.environ.get("XDG_CACHE_HOME")
    return Path(home) / "lanecheck" if home else Path.home() / ".cache" / "lanecheck"


def name_of(*parts: str | bytes) -> str:
    """The name of an entry that depends on these texts and nothing else."""
    whole = hashlib.sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        whole.update(len(content).to_bytes(8, "little") + content)
    return whole.hexdigest()


def fetch(name: str) -> bytes | None:
    """The entry of that name; None where there is none or it is damaged."""
    place = folder()
    if place is None:
        return None
    try:
        found = (place / name).read_bytes()
    except OSError:
        return None
    seal, content = found[:_SEAL], found[_SEAL:]
    return content if hashlib.sha256(content).digest() == seal else None


def keep(name: str, content: bytes) -> None:
    """Write an entry atomically; where that fails, it is compiled again the next time."""
    place = folder()
    if place is None:
        return
    with suppress(OSError):
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=place, delete=False) as part:
            part.write(hashlib.sha256(content).digest() + content)
        os.replace(part.name, place / name)

# SPDX-License-Identifier: Apache-2.0
"""What was compiled and disassembled before, kept on disk: the compiler takes most of the time of a probe.

An entry is named by the SHA-256 of all that it depends on, so that a fault planted in a kernel's text is compiled. It
begins with the SHA-256 of its content: a damaged one is as good as none. LANECHECK_CACHE names the folder (else
lanecheck in XDG_CACHE_HOME or ~/.cache); empty, nothing is kept. A folder that cannot be written is no error.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress
from pathlib import Path

_SEAL = hashlib.sha256().digest_size


def folder() -> Path | None:
    """Where entries are kept, None if nowhere."""
    named = os.environ.get("LANECHECK_CACHE")
    if named is not None:
        return Path(named) if named else None
    home = os.environ.get("XDG_CACHE_HOME")
    return Path(home) / "lanecheck" if home else Path.home() / ".cache" / "lanecheck"


def name_of(*parts: str | bytes) -> str:
    """The name of what depends on these texts and nothing else."""
    whole = hashlib.sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        whole.update(len(content).to_bytes(8, "little") + content)
    return whole.hexdigest()


def fetch(name: str) -> bytes | None:
    """The entry of that name, if there is one and it is whole."""
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
    """Put an entry on disk, whole or not at all; where that fails it is compiled again the next time."""
    place = folder()
    if place is None:
        return
    with suppress(OSError):
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=place, delete=False) as part:
            part.write(hashlib.sha256(content).digest() + content)
        os.replace(part.name, place / name)

# SPDX-License-Identifier: Apache-2.0
"""The PTX of a kernel that was compiled here, kept in a file: findings name lines of it, so a reader must have it."""

from __future__ import annotations

import os
import re
import zlib
from pathlib import Path

from lanecheck.console.outputs import Unwritable, write_file


def keep_ptx(ptx: str, name: str) -> str:
    """Write the PTX of the kernel `name`, FILE or FILE::function, to the user's cache; return where, or why not.

    The file is `lanecheck/ptx/NAME-DIGEST.ptx` in `$XDG_CACHE_HOME`, or in `~/.cache`; the digest is of the source's
    name, so the next compile of the same source takes the place of this one.
    """
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "lanecheck", "ptx").absolute()
        file, _, function = name.partition("::")
        digest = zlib.crc32(f"{Path(file).absolute()}::{function}".encode())
        path = folder / f"{re.sub('[^A-Za-z0-9_.-]', '_', function or Path(file).stem)}-{digest:08x}.ptx"
        folder.mkdir(parents=True, exist_ok=True)
        write_file(path, ptx, durable=False)
    except (OSError, Unwritable, RuntimeError) as error:  # RuntimeError: a user without a home
        return f"its PTX is not kept: {error}"
    return f"its PTX is {path}"

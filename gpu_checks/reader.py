# SPDX-License-Identifier: Apache-2.0
"""A reader of what a command prints, such as `head -1`, that has seen enough and closed the pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def until_closed() -> Iterator[None]:
    """End the process with code 2, and without a word, where nobody reads its output any longer."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(2) from None

# SPDX-License-Identifier: Apache-2.0
"""Where a command prints to: a reader such as `head -1`, that has seen enough and closed the pipe, or a full device."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def until_closed() -> Iterator[None]:
    """End the process with code 2 where nobody reads its output any longer, without a word, or the device is full."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        if error.filename or error.errno not in (errno.EPIPE, errno.ENOSPC):
            raise
        if error.errno == errno.ENOSPC:
            print(f"cannot write: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(2) from None

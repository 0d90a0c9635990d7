# SPDX-License-Identifier: Apache-2.0
"""What the commands of this package share: a parser with --version and an example, and a clean end on a closed pipe.

`gpu_checks` has a copy of its own: the three checks share no code.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from proofs import installation


class Help(argparse.HelpFormatter):
    """A help formatter that keeps paragraphs separate and leaves one with indented lines, an example, unchanged."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        parts = text.split("\n\n")
        return "\n\n".join(
            part if "\n  " in part else super(Help, self)._fill_text(part, width, indent) for part in parts
        )


def parser(name: str, description: str | None, example: str) -> argparse.ArgumentParser:
    """A parser with the option --version; `example` is the arguments of one call, shown at the end of the help."""
    made = argparse.ArgumentParser(
        prog=f"python -m {name}",
        description=description,
        epilog=f"example:\n  python -m {name} {example}",
        formatter_class=Help,
    )
    made.add_argument("--version", action="version", version=installation.version())
    return made


@contextmanager
def until_closed() -> Iterator[None]:
    """A block that ends with exit code 2 when stdout cannot be written; without a message on a closed pipe."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()  # also where argparse has printed its help and ends with SystemExit
    except OSError as error:
        if error.filename or error.errno not in (errno.EPIPE, errno.ENOSPC):
            raise
        if error.errno == errno.ENOSPC:
            print(f"cannot write: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(2) from None

# SPDX-License-Identifier: Apache-2.0
"""What the commands of all packages share: help with an example, the option --version, a clean end on a closed pipe."""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from lanecheck_console import installation


class Version(argparse.Action):
    """Prints the version and ends; the module that reads it is imported only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print it."""
        print(installation.version())
        parser.exit()


class Help(argparse.HelpFormatter):
    """Help that keeps paragraphs, and leaves one with indented lines, an example, as it is."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        parts = text.split("\n\n")
        return "\n\n".join(
            part if "\n  " in part else super(Help, self)._fill_text(part, width, indent) for part in parts
        )


def parser(name: str, description: str | None, example: str, epilog: str = "") -> argparse.ArgumentParser:
    """A parser with the option that every command has; `example` is the arguments of one call."""
    made = argparse.ArgumentParser(
        prog=f"python -m {name}",
        description=description,
        epilog=f"example:\n  python -m {name} {example}\n\n{epilog}",
        formatter_class=Help,
    )
    made.add_argument("--version", action=Version, nargs=0, help="show program's version number and exit")
    return made


@contextmanager
def until_closed() -> Iterator[None]:
    """Exit with code 2: without a message where a reader such as `head -1` closed the pipe, with one on a full disk."""
    if sys.stdout is None:
        print("cannot write to stdout: it is closed", file=sys.stderr)
        raise SystemExit(2)
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

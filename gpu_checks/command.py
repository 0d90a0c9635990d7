# SPDX-License-Identifier: Apache-2.0
"""The frame of this package's commands: an expected error is one line on stderr and an exit code."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence

from gpu_checks.model import WorkerError
from isa_tables.signature import expand, signature
from lanecheck.console.command import unread, width
from lanecheck.console.exits import Exit
from lanecheck.console.frame import guarded_printing


class Interrupted(KeyboardInterrupt):
    """An interruption that leaves items undone; the text says how many."""

    def __init__(self, missing: int, total: int) -> None:
        """`missing` of `total` items have no result."""
        super().__init__(f"interrupted: {missing} of {total} not done")


def guard_exit(name: str, body: Callable[[], int]) -> int:
    """Return the exit code of a command: 2 for what its user gave, 3 for a defect or a GPU that fails."""
    return guarded_printing(name, body, _find_defect)


def _find_defect(error: BaseException) -> str:
    if isinstance(error, WorkerError):
        return error.summary()
    if isinstance(error, RuntimeError | MemoryError):  # which CuPy raises when the GPU failed
        return str(error).partition("\n")[0] or type(error).__name__
    return ""


def parse_options(
    parser: argparse.ArgumentParser, argv: Sequence[str] | None, stops: Mapping[str, Sequence[str]]
) -> argparse.Namespace:
    """Return the options; a usage error for an option that has no effect (`unread`)."""
    options = parser.parse_args(argv)
    if line := unread(parser, options, stops):
        parser.error(line)
    return options


def add_unchecked(parser: argparse.ArgumentParser) -> None:
    """Add the options that decide whether something UNCHECKED ends the command with exit code 4: it does by default."""
    both = parser.add_mutually_exclusive_group()
    both.add_argument("--allow-unchecked", action="store_true", help="exit 0 though something stays UNCHECKED")
    both.add_argument("--require", action="store_true", help="exit 4 if anything stays UNCHECKED, which is the default")


def exit_undecided(options: argparse.Namespace) -> Exit:
    """Return the exit code of a command that left something UNCHECKED."""
    return Exit.OK if options.allow_unchecked else Exit.UNDECIDED


def find_mnemonics(name: str) -> tuple[str, ...]:
    """Return the mnemonic of an instruction, or every one that a short name may mean, those with f32 first.

    >>> find_mnemonics("mma.m16n8k8.f32.f16")
    ('mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32',)

    Raises IsaError, a ValueError with the nearest mnemonics, for any other name.
    """
    try:
        return (signature(name).mnemonic,)
    except ValueError:
        if meant := expand(name):
            return meant
        raise


def show(*lines: str) -> None:
    """Print lines of a report. A long line is wrapped and indented between words."""
    most = width(sys.stdout.isatty())
    print("".join(f"{line if len(line) <= most else _broken(line, most)}\n" for line in lines), end="", flush=True)


def _broken(line: str, width: int) -> str:
    further = " " * (len(line) - len(line.lstrip(" ")) + 4)
    return textwrap.fill(line, width, subsequent_indent=further, break_long_words=False, break_on_hyphens=False)

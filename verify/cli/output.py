# SPDX-License-Identifier: Apache-2.0
"""How a report reaches its reader: in which format, how wide, in colour or not, to a file or to stdout."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from verify.core.errors import Exit, UsageError
from verify.core.names import Named

if TYPE_CHECKING:
    from verify.report import Report

COLOURS = {
    **dict.fromkeys(("VERIFIED", "PROVED", "AGREES"), "32"),  # green
    **dict.fromkeys(("UNKNOWN", "UNCHECKED", "TAKEN"), "33"),  # yellow
    **dict.fromkeys(("REFUTED", "VACUOUS", "CONTRADICTION"), "1;31"),  # bold red
}
COLOURED = re.compile(rf"\b(?:{'|'.join(COLOURS)})\b")


def report(judged: Report, options: argparse.Namespace) -> Exit:
    """Write a report in the format that the options ask for, and return its exit code.

    Where no subject has verdicts it is written only as JUnit.
    """
    judged = allowing(judged, options)
    if judged.failures and not judged.cases and options.format != "junit":
        return judged.exit()
    if options.format == "json":
        from verify.report import as_json

        text = as_json.render(judged, options.verbose)
    elif options.format == "junit":
        from verify.report import as_junit

        text = as_junit.render(judged)
    elif options.format == "html":
        from verify.report import as_html

        text = as_html.render(judged, options.verbose)
    else:
        from verify.report import as_text

        text = as_text.render(judged, options.quiet, options.verbose)
        text = text if options.quiet else fitted(text, options.output)
    write(text, options.output)
    return judged.exit()


def allowing(judged: Report, options: argparse.Namespace) -> Report:
    """The report as the options have it: --allow-unchecked, and what was wrong with files as failures."""
    failures = dict.fromkeys((*getattr(options, "malformed", ()), *judged.failures))
    return replace(judged, allow_unchecked=options.allow_unchecked, failures=tuple(failures))


def fitted(text: str, output: str | None) -> str:
    """A text report within COLUMNS where that is set, or else within 80 on a terminal and 100 elsewhere."""
    from verify.report import columns

    asked = os.environ.get("COLUMNS", "")
    usual = columns.IN_A_FILE if output or not on_terminal() else columns.ON_A_TERMINAL
    return columns.fitted(text, int(asked) if asked.isdecimal() and int(asked) > 0 else usual)


def list_names(stated: Iterable[Named], options: argparse.Namespace) -> Exit:
    """Print the names of what is stated, for --list."""
    write("".join(f"{one.name}\n" for one in stated), options.output)
    return Exit.USAGE if getattr(options, "malformed", ()) else Exit.OK


def write(text: str, output: str | None) -> None:
    """Write a report to a file, or to stdout, there in colour where a terminal reads it."""
    if output:
        try:
            Path(output).write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write {output}: {error.strerror}") from error
    else:
        if sys.stdout is None:
            raise UsageError("cannot write to stdout: it is closed")
        if coloured():
            text = COLOURED.sub(lambda word: f"\x1b[{COLOURS[word[0]]}m{word[0]}\x1b[0m", text)
        with _writing():
            sys.stdout.write(text)
        flush()


def coloured() -> bool:
    """Whether stdout is written in colour: on a terminal; NO_COLOR and FORCE_COLOR decide otherwise, NO_COLOR first."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (on_terminal() and os.environ.get("TERM") != "dumb")


def on_terminal() -> bool:
    """Whether stdout is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def flush() -> None:
    """Write what stdout still holds, where there is one."""
    if sys.stdout is not None:
        with _writing():
            sys.stdout.flush()


@contextmanager
def _writing() -> Iterator[None]:
    """Let a stdout that takes no more be told in a line, but for a pipe whose reader has gone."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        discard(sys.stdout)
        raise UsageError(f"cannot write to stdout: {error.strerror}") from error


def discard(stream: TextIO) -> None:
    """Let what was not written go nowhere, or Python would try again at its end and tell that it cannot."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())

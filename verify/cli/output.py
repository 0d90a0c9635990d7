# SPDX-License-Identifier: Apache-2.0
"""How a report is written: in which format, how wide, in colour or not, to a file or to stdout."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TextIO

from lanecheck.console.outputs import Unwritable, write_file
from verify.core.errors import Exit, UsageError

if TYPE_CHECKING:
    import argparse

    from verify.report import Report
    from verify.report.loaded import LoadedFiles

COLOURS = {
    **dict.fromkeys(("VERIFIED", "PROVED", "AGREES"), "32"),  # green
    **dict.fromkeys(("UNKNOWN", "UNCHECKED", "TAKEN"), "33"),  # yellow
    **dict.fromkeys(("REFUTED", "RELABELLED", "VACUOUS", "CONTRADICTION"), "1;31"),  # bold red
}
LISTING = ("junit", "sarif", "github", "gcc")
"""The formats in which a report is written where nothing could be verified, too: they say why."""
SIGNS = str.maketrans({"…": "...", "–": "-", "×": "x", "·": "*", "≠": "!=", "≤": "<=", "≥": ">=", "→": "->"})
DESTINATION: ContextVar[argparse.Namespace | None] = ContextVar("DESTINATION", default=None)
"""Where the report of the command that runs now goes: a rejected argument must not hide the --format behind it."""
ONLY_ASCII: ContextVar[bool] = ContextVar("ONLY_ASCII", default=False)  # of the command that runs now: --no-unicode
COLOURED = rf"\b(?:{'|'.join(COLOURS)})\b"


class Rejected(SystemExit):
    """The end of a command whose arguments argparse rejects; `problem` is what argparse printed."""

    def __init__(self, problem: str) -> None:
        super().__init__(2)
        self.problem = problem


def report(given: Report, options: argparse.Namespace, loaded: LoadedFiles[Any] | None = None) -> Exit:
    """Write a report in the format of --format, on the subjects that were `loaded`; returns its exit code.

    A report without verdicts on any subject is written in the formats of LISTING alone.
    """
    if (options.format in ("json", "html", *LISTING) or options.baseline) and loaded is not None:
        from verify.report.placing import place_subjects

        given = place_subjects(given, loaded.sources)
    given = allowing(given, options, loaded)
    if given.failures and not given.cases and options.format not in LISTING:
        return given.exit()
    if options.format == "json":
        from verify.report import as_json

        text = as_json.render(given, options.verbose)
    elif options.format == "junit":
        from verify.report import as_junit

        text = as_junit.render(given)
    elif options.format == "sarif":
        from verify.report import as_sarif

        text = as_sarif.render(given)
    elif options.format == "github":
        from verify.report import as_github

        text = as_github.render(given)
    elif options.format == "gcc":
        from verify.report import as_gcc

        text = as_gcc.render(given)
    elif options.format == "html":
        from verify.report import as_html

        text = as_html.render(given, options.verbose)
    else:
        from verify.report import as_text

        text = as_text.render(given, options.quiet, options.verbose)
        text = text if options.quiet else wrap_report(text, options.output)
    write(text, options.output)
    return given.exit()


def allowing(given: Report, options: argparse.Namespace, loaded: LoadedFiles[Any] | None = None) -> Report:
    """Return the report with --allow-unchecked and --baseline of the options, and files' errors as failures."""
    from dataclasses import replace

    failures = dict.fromkeys((*(loaded.failures if loaded is not None else ()), *given.failures))
    given = replace(given, allow_unchecked=options.allow_unchecked, failures=tuple(failures))
    if options.baseline is None:
        return given
    from verify.report.baseline import accept

    return accept(given, options.baseline)


def wrap_report(text: str, output: str | None) -> str:
    """Return a text report, wrapped to the columns of the terminal, or of a file (`width`)."""
    from lanecheck.console import columns
    from lanecheck.console.command import width

    text = in_ascii(text) if ONLY_ASCII.get() else text  # before: a sign may take more columns in ASCII
    return columns.wrap_clauses(text, width(on_terminal() and not output))


def list_names(loaded: LoadedFiles[Any], options: argparse.Namespace) -> Exit:
    """Print the names of subjects, for --list."""
    write("".join(f"{subject.name}\n" for subject in loaded.items), options.output)
    return Exit.USAGE if loaded.failures else Exit.OK


def write(text: str, output: str | None) -> None:
    """Write a report to a file or to stdout; on a terminal in colour, after --no-unicode in ASCII alone."""
    if ONLY_ASCII.get():
        text = in_ascii(text)
    if output:
        write_content(text.encode(), output)
    else:
        if sys.stdout is None:
            raise UsageError("cannot write to stdout: it is closed")
        if has_colour():
            text = re.sub(COLOURED, lambda word: f"\x1b[{COLOURS[word[0]]}m{word[0]}\x1b[0m", text)
        with _writing():
            sys.stdout.write(text)
        flush()


def write_content(content: bytes, output: str) -> None:
    """Write a file."""
    try:
        write_file(output, content)
    except Unwritable as error:
        raise UsageError(str(error)) from error


def in_ascii(text: str) -> str:
    r"""Return a report in ASCII alone: signs as ASCII has them, other letters escaped as XML, JSON or Python do.

    >>> in_ascii("4 × 8, é"), in_ascii('{"name": "é"}'), in_ascii("<b>é</b>")
    ('4 x 8, \\u00e9', '{"name": "\\u00e9"}', '<b>&#233;</b>')
    """
    if text.startswith("<"):
        return text.encode("ascii", "xmlcharrefreplace").decode("ascii")
    import json

    text = text if text.startswith(("{", "[")) else text.translate(SIGNS)
    return re.sub(r"[^\x00-\x7f]", lambda letter: json.dumps(letter[0])[1:-1], text)


def has_colour() -> bool:
    """Whether stdout is written in colour: on a terminal; NO_COLOR and FORCE_COLOR decide otherwise, NO_COLOR first."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (on_terminal() and os.environ.get("TERM") != "dumb")


def on_terminal() -> bool:
    """Whether stdout is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def flush() -> None:
    """Write what is in stdout's buffer, if there is a stdout."""
    if sys.stdout is not None:
        with _writing():
            sys.stdout.flush()


@contextmanager
def _writing() -> Iterator[None]:
    """Make a failed write to stdout a UsageError."""
    try:
        yield
    except OSError as error:
        discard(sys.stdout)
        raise UsageError(f"cannot write to stdout: {error.strerror}") from error


def discard(stream: TextIO) -> None:
    """Send what was not written to /dev/null: Python would try again when it exits, and print an error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())

# SPDX-License-Identifier: Apache-2.0
"""What the commands share: options, exit codes, selection of names, output, and errors in one line."""

from __future__ import annotations

import argparse
import difflib
import fnmatch
import gc
import io
import os
import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, suppress
from dataclasses import replace
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TextIO, TypeVar

from verify import installation
from verify.arguments import Help, Parser, Rejected, Version

if TYPE_CHECKING:
    from layouts.atoms import AtomFileError
    from layouts.atoms.tables import Found
    from verify.report import Report

EPILOG = """exit codes: 0 all stand; 1 something REFUTED; 2 usage, unknown name or malformed file; 3 contradiction,
VACUOUS or internal error (outranks 1); 4 UNKNOWN or UNCHECKED (--allow-unchecked accepts that), or a required witness
that did not speak; 5 nothing selected; 130 interrupted: what was found until then is reported"""


COLOURS = {
    **dict.fromkeys(("STANDS", "PROVED", "AGREES"), "32"),  # green
    **dict.fromkeys(("UNKNOWN", "UNCHECKED", "TAKEN"), "33"),  # yellow
    **dict.fromkeys(("REFUTED", "VACUOUS", "CONTRADICTION"), "1;31"),  # bold red
}
COLOURED = re.compile(rf"\b(?:{'|'.join(COLOURS)})\b")


class Named(Protocol):
    """Anything with a name."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...


S = TypeVar("S", bound=Named)


class Exit(IntEnum):
    """Exit codes, the same for every command."""

    STANDS = 0
    REFUTED = 1
    USAGE = 2
    CONTRADICTION = 3
    UNKNOWN = 4
    NOTHING = 5
    INTERRUPTED = 130


class UsageError(Exception):
    """Something the user asked for that cannot be done; its text is the one line that is printed."""

    code = Exit.USAGE
    shown = ""  # instead of its text on stderr


class AbsentError(UsageError):
    """A check that was asked for and that this machine cannot make."""

    code = Exit.UNKNOWN


class MalformedError(UsageError):
    """A file with errors: its text is a line for each; `shown` has the lines of the file where they stand, too."""

    def __init__(self, errors: Sequence[AtomFileError]) -> None:
        super().__init__("\n".join(map(str, errors)))
        told = [line for error in errors for line in (f"lanecheck: {error}", error.pointed) if line]
        self.shown = "\n".join(told)


def guarded(body: Callable[[Sequence[str] | None], int], argv: Sequence[str] | None) -> int:
    """Run a command's body; every failure becomes one line on stderr and an exit code."""
    spell()
    if line := installation.fault():
        return complain(line, Exit.USAGE)
    try:
        try:
            return int(body(argv))
        finally:
            _flush()  # also where argparse has printed its help and ends with SystemExit
    except UsageError as error:
        return _failed(argv, str(error), error.code, error.shown)
    except Rejected as error:
        _as_junit(argv, error.problem, Exit.USAGE)
        raise
    except BrokenPipeError:
        _discard(sys.stdout)
        return Exit.USAGE
    except KeyboardInterrupt:
        return _failed(argv, "interrupted", Exit.INTERRUPTED)
    except Exception as error:
        if os.environ.get("LANECHECK_TRACEBACK"):
            raise
        return _failed(argv, *_unforeseen(error))


@contextmanager
def warnings_in_a_line() -> Iterator[None]:
    """Print a warning as one line on stderr, without the line of ours that gave it."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: print(f"lanecheck: warning: {message}", file=sys.stderr)
        yield


def spell() -> None:
    """Let stdout spell what its encoding lacks, as stderr does: a name such as `é` is no reason to fail."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _failed(argv: Sequence[str] | None, message: str, code: Exit, shown: str = "") -> Exit:
    """Say why a command ends without a report, also as an error in the JUnit file where one was asked for."""
    complain(shown or f"lanecheck: {message.splitlines()[0]}", code)
    _as_junit(argv, message, code)
    return code


def _as_junit(argv: Sequence[str] | None, message: str, code: Exit) -> None:
    from verify.report import Failure, Report

    peek = Parser(add_help=False)
    peek.add_argument("--format", default="text")
    peek.add_argument("-o", "--output")
    peek.add_argument("--allow-unchecked", action="store_true")
    # Whether such a file can be written, or was meant, may be what is being said.
    with suppress(UsageError, Rejected), redirect_stderr(io.StringIO()):
        options, _ = peek.parse_known_args(argv)
        if options.format == "junit":
            failures = tuple(Failure("lanecheck", line, code) for line in message.splitlines())
            report(Report((), failures=failures), options)


def _unforeseen(error: Exception) -> tuple[str, Exit, str]:
    """What no command expects: a badly written table of the ISA, a damaged recording of ours, or a bug of ours."""
    from gpu_checks import RecordingError
    from isa_tables import TableError

    if isinstance(error, TableError):
        from verify.files import in_table

        found = MalformedError(in_table(error))
        return str(found), Exit.USAGE, found.shown
    if isinstance(error, RecordingError):
        return str(error), Exit.USAGE, ""
    said = str(error).partition("\n")[0]
    told = f"internal error, nothing was judged: {type(error).__name__}: {said} (LANECHECK_TRACEBACK=1 shows where)"
    return told, Exit.CONTRADICTION, ""


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the collector of cycles: a run makes millions of objects that are kept and next to no cycle."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def complain(line: str, code: Exit) -> Exit:
    """Print a line on stderr, and hand the exit code on."""
    try:
        print(line, file=sys.stderr)
    except OSError:  # its reader has gone, and Python would try again at its end
        _discard(sys.stderr)
    return code


def parser(
    prog: str, description: str, example: str, formats: Sequence[str] = ("text", "json", "junit", "html")
) -> argparse.ArgumentParser:
    """A parser with the options that every command has; `example` is the arguments of one call."""
    epilog = f"example:\n  {prog} {example}\n\n{EPILOG}"
    made = Parser(prog=prog, description=description, epilog=epilog, formatter_class=Help)
    made.add_argument("--version", action=Version, nargs=0, help="print the version and stop")
    made.add_argument("--format", choices=formats, default="text", help="how to report")
    made.add_argument("-o", "--output", metavar="FILE", help="write the report there instead of stdout")
    made.add_argument("--allow-unchecked", action="store_true", help="what could not be checked does not fail the run")
    loud = made.add_mutually_exclusive_group()
    loud.add_argument("-q", "--quiet", action="store_true", help="the last line only")
    loud.add_argument("-v", "--verbose", action="store_true", help="every claim with its evidence and times")
    return made


def add_statements(parser: argparse.ArgumentParser, what: str) -> None:
    """The options of a command that judges what files state: `what` they hold, in the plural."""
    parser.add_argument("files", nargs="*", metavar="FILE", help=f"{what}, one TOML table each")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help=f"of the files: these {what}")
    parser.add_argument("--list", action="store_true", help="print the names instead of judging")
    parser.add_argument("--rlimit", type=int, metavar="N", help="the solver's budget per proof, in z3's units")


def in_files(options: argparse.Namespace, read: Callable[[Path], Found[S]], what: str) -> list[S]:
    """What the files state, or those of it that --only names; what cannot be read is told, and counts as a failure."""
    from layouts.atoms import AtomFileError

    found: list[S] = []
    errors: list[AtomFileError] = []
    for file in options.files:
        try:
            stated = read(Path(file))
        except AtomFileError as error:
            errors += error.errors
            continue
        found += stated.items
        errors += stated.errors
    note(errors, options, bool(found))
    if not options.only:
        return found
    chosen = select(options.only, dict.fromkeys(one.name for one in found), what)
    return [one for one in found if one.name in chosen]


def note(errors: Sequence[AtomFileError], options: argparse.Namespace, others: bool) -> None:
    """Print what is wrong with files, and keep it as failures; MalformedError where there are no others to judge."""
    from verify.report import Failure

    before = getattr(options, "malformed", ())
    failures = {Failure(error.key or error.file, str(error), Exit.USAGE): error for error in errors}
    told = [error for failure, error in failures.items() if failure not in before]
    if errors and not others:
        raise MalformedError(errors)
    if told:
        complain(MalformedError(told).shown, Exit.USAGE)
    options.malformed = tuple(dict.fromkeys((*before, *failures)))


def budget(options: argparse.Namespace) -> int:
    """The solver's budget per proof."""
    import proofs

    if options.rlimit is not None and not 0 < options.rlimit < 1 << 32:
        raise UsageError(f"--rlimit {options.rlimit}: the budget must be positive and below 2^32")
    return options.rlimit or proofs.BUDGET


def parsed(
    parser: argparse.ArgumentParser, argv: Sequence[str] | None, stops: Mapping[str, Collection[str]]
) -> argparse.Namespace:
    """The options; a UsageError for one that would be passed over.

    `stops` are the options that print something and stop, each with the others that it reads.
    """
    options = parser.parse_args(argv)
    given = [one for one in parser._actions if getattr(options, one.dest, one.default) not in ([], one.default)]
    for stop in stops:
        unread = [one for one in given if one.dest not in (stop, *stops[stop])]
        if unread and any(one.dest == stop for one in given):
            told = ", ".join(one.option_strings[-1] if one.option_strings else str(one.metavar) for one in unread)
            raise UsageError(f"--{stop.replace('_', '-')} reads no {told}")
    return options


def stating(
    parser: Callable[[], argparse.ArgumentParser],
    stated: Callable[[argparse.Namespace], Sequence[S]],
    judge: Callable[[Sequence[S], argparse.Namespace], int],
    stops: Mapping[str, Collection[str]],
) -> Callable[[Sequence[str] | None], int]:
    """The body of a command that judges what its arguments state, or with --list names it."""

    def body(argv: Sequence[str] | None) -> int:
        options = parsed(parser(), argv, stops)
        found = stated(options)
        return names(found, options) if options.list else judge(found, options)

    return body


def names(stated: Iterable[Named], options: argparse.Namespace) -> Exit:
    """Print the names of what is stated, for --list."""
    write("".join(f"{one.name}\n" for one in stated), options.output)
    return Exit.USAGE if getattr(options, "malformed", ()) else Exit.STANDS


def select(patterns: Sequence[str], names: Iterable[str], what: str) -> list[str]:
    """The names that the patterns mean, in the order of `names`.

    A pattern is an exact name (which then means only itself), a prefix that ends at `_`, `<` or the end, or a glob;
    capitals count only where a name has them as they are written.
    One that means nothing is a :class:`UsageError` with the nearest names.

    >>> select(["SM80_8x8x4"], ["SM80_8x8x4_F64", "SM80_8x8x40"], "atom")
    ['SM80_8x8x4_F64']
    """
    known = list(names)
    wanted: set[str] = set()
    for pattern in patterns:
        found = {pattern} & set(known) or {name for name in known if means(pattern, name)}
        found = found or {name for name in known if means(pattern.lower(), name.lower())}
        if not found:
            raise UsageError(f"no {what} is named {pattern!r}{nearest(pattern, known, what)}")
        wanted |= found
    return [name for name in known if name in wanted]


def means(pattern: str, name: str) -> bool:
    """Whether a pattern means a name: as a glob, or as a prefix that ends where a word of the name does."""
    if any(c in pattern for c in "*?["):
        return fnmatch.fnmatchcase(name, pattern)
    if not pattern or not name.startswith(pattern):
        return False
    return pattern[-1] in "_<" or name[len(pattern) : len(pattern) + 1] in ("", "_", "<")


def nearest(word: str, known: Sequence[str], what: str = "") -> str:
    """The nearest known names as a clause; of a file what it is, and when nothing is near how to see all names."""
    if os.path.isfile(word):  # unlike a Path's own, without an error for what cannot be a path
        from verify.files import purpose

        return f"; {purpose(Path(word))}"
    lists = "python -m verify.atom --list" if what == "atom" else "--list"
    lowered = {name.lower(): name for name in known}
    close = [lowered[c] for c in difflib.get_close_matches(word.lower(), lowered, n=3, cutoff=0.5)]
    return f"; nearest: {', '.join(close)}" if close else f"; {lists} shows all"


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


def write(text: str, output: str | None) -> None:
    """Write a report to a file, or to stdout, there in colour where a terminal reads it."""
    if output:
        try:
            Path(output).write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write {output}: {error.strerror}") from error
    else:
        _plainly(COLOURED.sub(_painted, text) if coloured() else text)


def coloured() -> bool:
    """Whether stdout is written in colour: on a terminal; NO_COLOR and FORCE_COLOR decide otherwise, NO_COLOR first."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (on_terminal() and os.environ.get("TERM") != "dumb")


def on_terminal() -> bool:
    """Whether stdout is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def _painted(word: re.Match[str]) -> str:
    return f"\x1b[{COLOURS[word[0]]}m{word[0]}\x1b[0m"


def _plainly(text: str) -> None:
    if sys.stdout is None:
        raise UsageError("cannot write to stdout: it is closed")
    with _writing():
        sys.stdout.write(text)
    _flush()


def _flush() -> None:
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
        _discard(sys.stdout)
        raise UsageError(f"cannot write to stdout: {error.strerror}") from error


def _discard(stream: TextIO) -> None:
    """Let what was not written go nowhere, or Python would try again at its end and tell that it cannot."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())

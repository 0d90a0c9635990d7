# SPDX-License-Identifier: Apache-2.0
"""How every command ends: a failure is one line on stderr and an exit code, and stays in the report."""

from __future__ import annotations

import gc
import io
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, suppress

from verify import installation
from verify.cli.arguments import Parser, Rejected
from verify.cli.output import discard, flush, report
from verify.core.errors import Exit, MalformedError, SpecError, UsageError


def guarded(body: Callable[[Sequence[str] | None], int], argv: Sequence[str] | None) -> int:
    """Run a command's body; every failure becomes one line on stderr and an exit code."""
    spell()
    if line := installation.fault():
        return complain(line, Exit.USAGE)
    try:
        try:
            return int(body(argv))
        except SpecError as error:
            raise UsageError(option(error)) from error
        finally:
            flush()  # also where argparse has printed its help and ends with SystemExit
    except UsageError as error:
        return _failed(argv, str(error), error.code, error.shown)
    except Rejected as error:
        _as_junit(argv, error.problem, Exit.USAGE)
        raise
    except BrokenPipeError:
        discard(sys.stdout)
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


def option(error: SpecError) -> str:
    """What is wrong with a spec, its key as an option where it comes from no file."""
    return f"--{error.key.replace('_', '-')}: {error.problem}" if error.key and not error.entry else str(error)


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
        from verify.core.files import in_table

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
        discard(sys.stderr)
    return code

# SPDX-License-Identifier: Apache-2.0
"""How every command ends: a failure is one line on stderr and an exit code, and in the report of a CI too."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

from lanecheck.console import frame, installation
from lanecheck.console.outputs import Unwritable
from lanecheck.console.outputs import output as writable
from verify.cli.output import DESTINATION, LISTING, ONLY_ASCII, Rejected, discard, flush, in_ascii, report
from verify.core.errors import Exit, MalformedError, SpecError, UsageError

if TYPE_CHECKING:
    from layouts.toml.errors import AtomFileError


def as_process(command: Callable[[], int] | str) -> NoReturn:
    """Run a command, a function or the `main` of a module, as the whole of this process, and end it at once.

    Nothing is freed object by object. Only where a profiler or a debugger is on, which writes when Python ends, does
    Python end as usual.
    """
    frame.collect_rarely()
    # glibc gives back the memory of freed arrays, and has to map it again, until it has freed a block as large as this
    bytes(2 << 20)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # our matrices are small: more threads take twice the time
    if not callable(command):
        installation.insist()  # before the command's imports, which fail where a file of the user's hides ours
    code = command() if callable(command) else import_module(command).main()
    if not _is_watched():
        with suppress(OSError, AttributeError):  # there is no stderr
            sys.stderr.flush()
        os._exit(code)
    raise SystemExit(code)


def _is_watched() -> bool:
    """Whether a profiler, a debugger or a measurement of coverage is on."""
    if sys.version_info >= (3, 12) and any(map(sys.monitoring.get_tool, range(6))):
        return True
    return sys.getprofile() is not None or sys.gettrace() is not None


def run_guarded(body: Callable[[Sequence[str] | None], int], argv: Sequence[str] | None) -> int:
    """Run a command's body; every failure becomes one line on stderr and an exit code."""

    def run_body() -> int:
        escape_unknown_letters()
        ONLY_ASCII.set(False)
        DESTINATION.set(None)
        if line := installation.fault():
            return complain(line, Exit.USAGE)
        try:
            return body(argv)
        finally:
            flush()  # also after argparse has printed its help and raised SystemExit

    return frame.run_guarded(run_body, _end)


def _end(error: BaseException) -> int | None:
    """Report what ends a command and return its exit code; None for an end that argparse has reported itself."""
    if isinstance(error, SpecError | Unwritable):
        return _report_failure(option(error) if isinstance(error, SpecError) else str(error), Exit.USAGE)
    if isinstance(error, UsageError):
        return _report_failure(str(error), error.code, error.shown, error.errors)
    if isinstance(error, Rejected):
        _as_failures(error.problem, Exit.USAGE)
        return None
    if isinstance(error, KeyboardInterrupt):
        return _report_failure("interrupted", Exit.INTERRUPTED)
    if not isinstance(error, Exception) or os.environ.get("LANECHECK_TRACEBACK"):
        return None
    return _report_failure(*_unforeseen(error))


@contextmanager
def warnings_in_a_line() -> Iterator[None]:
    """Print a warning as one line on stderr, without the line of code that raised it."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: print(f"lanecheck: warning: {message}", file=sys.stderr)
        yield


def escape_unknown_letters() -> None:
    """Make stdout escape letters that its encoding lacks, as stderr does: a name with `é` must not end a run."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def option(error: SpecError) -> str:
    """Return the message of a spec's error; its key is written as an option if the spec comes from no file."""
    return f"--{error.key.replace('_', '-')}: {error.problem}" if error.key and not error.entry else str(error)


def _report_failure(message: str, code: Exit, shown: str = "", errors: Sequence[AtomFileError] = ()) -> Exit:
    """Print why a command ends without a report; in a format that lists failures it is in the file too."""
    complain(shown or f"lanecheck: {message.splitlines()[0]}", code)
    _as_failures(message, code, errors)
    return code


def _as_failures(message: str, code: Exit, errors: Sequence[AtomFileError] = ()) -> None:
    from verify.report import Failure, Report, failure_of
    from verify.report.placing import read_place

    options = DESTINATION.get()
    if options is None or options.format not in LISTING:
        return
    plain = (Failure("lanecheck", line, code, read_place(line)) for line in message.splitlines())
    with suppress(UsageError, Unwritable):  # the message may be that this file cannot be written
        destination = type(options)(**{**vars(options), "output": options.output and writable(options.output)})
        report(Report((), failures=tuple(map(failure_of, errors) if errors else plain)), destination)


def _unforeseen(error: Exception) -> tuple[str, Exit, str]:
    """(message, exit code, text for stderr) of a malformed ISA table, a damaged recording, or an internal error."""
    from gpu_checks import RecordingError
    from isa_tables import TableError

    if isinstance(error, TableError):
        from verify.core.files import in_table

        malformed = MalformedError(in_table(error))
        return str(malformed), Exit.USAGE, malformed.shown
    if isinstance(error, RecordingError):
        return str(error), Exit.USAGE, ""
    first = str(error).partition("\n")[0]
    line = f"internal error, nothing was verified: {type(error).__name__}: {first} (LANECHECK_TRACEBACK=1 shows where)"
    return line, Exit.CONTRADICTION, ""


def complain(line: str, code: Exit) -> Exit:
    """Print a line on stderr; returns the exit code."""
    try:
        print(in_ascii(line) if ONLY_ASCII.get() else line, file=sys.stderr)
    except OSError:  # its reader has gone; Python would try again when it exits
        discard(sys.stderr)
    return code

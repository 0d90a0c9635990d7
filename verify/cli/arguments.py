# SPDX-License-Identifier: Apache-2.0
"""How every command reads its arguments: its help and version; a rejected argument is kept for the JUnit report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NoReturn

from lanecheck.console.command import Help, Version, forbidden, unread
from lanecheck.console.exits import RULE
from lanecheck.console.outputs import output as writable
from verify.cli.output import DESTINATION, ONLY_ASCII, Rejected
from verify.core.errors import UsageError
from verify.report.baseline import read_baseline

FORMATS = ("text", "json", "junit", "sarif", "github", "gcc", "html")
"""How a report can be written; `verify.cli.output` writes it."""


class OnlyAscii(argparse.Action):
    """Makes the command that runs now write ASCII alone."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, *_: object) -> None:
        """Set it: it is no option of the report, and goes with every other."""
        ONLY_ASCII.set(True)


class Parser(argparse.ArgumentParser):
    """A parser that raises :class:`Rejected` where argparse exits with an error."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and what is wrong; raises Rejected."""
        try:
            super().error(message)
        except SystemExit as end:
            raise Rejected(message) from end

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse; a value that begins with - and is no option belongs to the option before it: --row -lane/4."""
        known, words = self._option_string_actions, list(sys.argv[1:] if args is None else args)
        if "--format" in known:
            note_destination(words)
        for at in range(len(words) - 1, 0, -1):
            before, word = words[at - 1], words[at]
            takes_one = before.startswith("--") and before in known and known[before].nargs is None
            if takes_one and word.startswith("-") and not word.startswith("--") and word not in known:
                words[at - 1 : at + 1] = [f"{before}={word}"]
        return super().parse_known_args(words, namespace)


def note_destination(words: Sequence[str]) -> None:
    """Note where the report of a command goes, before its arguments are read."""
    destination = argparse.Namespace(
        format="text", output=None, allow_unchecked="--allow-unchecked" in words, baseline=None
    )
    for word, following in zip(words, [*words, ""][1:], strict=True):
        if word == "--":
            break
        name, equals, value = word.partition("=")
        if name == "--format":
            destination.format = value if equals else following
        elif name in ("-o", "--output"):
            destination.output = value if equals else following
        elif word.startswith("-o") and not word.startswith("--"):
            destination.output = word[2:]
    DESTINATION.set(destination)


def parser(prog: str, description: str, example: str, formats: Sequence[str] = FORMATS) -> argparse.ArgumentParser:
    """Return a parser with the options that every command has; `example` is the arguments of one call."""
    epilog = f"example:\n  {prog} {example}\n\n{RULE}"
    made = Parser(prog=prog, description=description, epilog=epilog, formatter_class=Help)
    made.add_argument("--version", action=Version, nargs=0, help="print the version and stop")
    made.add_argument("--format", choices=formats, default="text", help="how to report")
    add_output(made, "write the report there instead of stdout")
    made.add_argument("--allow-unchecked", action="store_true", help="accept what could not be checked")
    if formats is FORMATS:  # of verdicts
        words = "accept the refutations that this SARIF log of an earlier run has; others fail"
        made.add_argument("--baseline", metavar="FILE", type=_baseline, help=words)
    made.add_argument("--no-unicode", action=OnlyAscii, nargs=0, default=argparse.SUPPRESS, help="write only ASCII")
    loud = made.add_mutually_exclusive_group()
    loud.add_argument("-q", "--quiet", action="store_true", help="the last line only")
    loud.add_argument("-v", "--verbose", action="store_true", help="every claim with its evidence and times")
    return made


def _baseline(file: str) -> Any:
    """Read a baseline before the run; ArgumentTypeError, in one line, for what is none."""
    try:
        return read_baseline(file)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_output(parser: argparse.ArgumentParser, words: str) -> None:
    """Add the option for the file that a command writes, None for stdout; `words` is its help."""
    parser.add_argument("-o", "--output", metavar="FILE", type=writable, help=words)


def add_statements(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the options of a command that verifies the entries of files; `what` names the entries, in the plural."""
    parser.add_argument("files", nargs="*", metavar="FILE", help=f"{what}, one TOML table each")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help=f"only these {what} of the files")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    add_budget(parser)


def add_budget(parser: argparse.ArgumentParser) -> None:
    """Add the option for the solver's budget, which `inputs.budget` reads."""
    parser.add_argument("--rlimit", type=int, metavar="N", help="the solver's budget per proof, in z3's units")


def add_require(parser: argparse.ArgumentParser) -> None:
    """Add the option for checks that must have been made of every subject."""
    words = "a check that must give evidence"
    parser.add_argument("--require", action="append", default=[], choices=("isa", "proof", "gpu"), help=words)


def check_execution(allowed: bool, how: str = "--allow-exec") -> None:
    """UsageError where code of others would run in CI (the variable CI is set) and that is not allowed; `how` it is."""
    if line := forbidden(allowed, how):
        raise UsageError(line)


def parse(
    parser: argparse.ArgumentParser, argv: Sequence[str] | None, stops: Mapping[str, Collection[str]]
) -> argparse.Namespace:
    """Return the options; a UsageError for an option that would have no effect (`unread`)."""
    options = parser.parse_args(argv)
    if line := unread(parser, options, stops):
        raise UsageError(line)
    return options


def positive(text: str) -> int:
    """Return an integer of 1 or more, of at most nine digits; raises ArgumentTypeError for anything else."""
    if not text.isascii() or not text.isdigit() or int(text[:20]) < 1:
        raise argparse.ArgumentTypeError(f"{text[:50]!r} is not an integer of 1 or more")
    if len(text) > 9:
        raise argparse.ArgumentTypeError(f"{text[:50]!r} is too large: it should have at most nine digits")
    return int(text)

# SPDX-License-Identifier: Apache-2.0
"""What the commands of all packages share: help with an example, the option --version, options of several."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Collection, Mapping

from lanecheck.console import installation
from lanecheck.console.exits import RULE


class Version(argparse.Action):
    """Prints the version and ends; the module that reads it is imported only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print it."""
        print(installation.version())
        parser.exit()


class Help(argparse.HelpFormatter):
    """Help that keeps paragraphs, and leaves one with indented lines, an example, as it is."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        parts = text.split("\n\n")
        return "\n\n".join(
            part if "\n  " in part else super(Help, self)._fill_text(part, width, indent) for part in parts
        )


def _columns() -> int:
    """Return the columns of the terminal, or 80, as shutil.get_terminal_size does, which loads four compressors."""
    chosen = os.environ.get("COLUMNS", "")
    if chosen.isdecimal() and int(chosen) > 0:
        return int(chosen)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):  # stdout is closed, or no terminal
        return 80


def parser(prog: str, description: str | None, example: str, epilog: str = "") -> argparse.ArgumentParser:
    """Return a parser with the option that every command has; `example` is the arguments of one call."""
    made = argparse.ArgumentParser(
        prog=prog,
        description=description,
        epilog="\n\n".join(filter(None, (f"example:\n  {prog} {example}", epilog, RULE))),
        formatter_class=Help,
    )
    made.add_argument("--version", action=Version, nargs=0, help="show program's version number and exit")
    return made


def unread(parser: argparse.ArgumentParser, options: argparse.Namespace, stops: Mapping[str, Collection[str]]) -> str:
    """`--STOP reads no X, Y`, where options are given that have no effect; empty where there are none.

    `stops` maps each option that prints something and stops to the other options that it reads.
    """
    given = [  # a positional argument that is absent may be an empty list
        action
        for action in parser._actions
        if getattr(options, action.dest, action.default)
        not in (action.default, action.default if action.option_strings else [])
    ]
    for stop in stops:
        ignored = [action for action in given if action.dest not in (stop, *stops[stop])]
        if ignored and any(action.dest == stop for action in given):
            names = ", ".join(
                action.option_strings[-1] if action.option_strings else str(action.metavar) for action in ignored
            )
            return f"--{stop.replace('_', '-')} reads no {names}"
    return ""


RUNS_CODE = (
    "index, identify, show, lock and kernel with FILE.py::function, discover with FILE.cu::function, foreign, "
    "laws --module, campaign --module"
)
"""Every command that runs third-party code."""


def add_execution(parser: argparse.ArgumentParser) -> None:
    """Add the option without which no code of others runs in CI (`forbidden`)."""
    parser.add_argument(
        "--allow-exec", action="store_true", help=f"run third-party code in CI too, as these commands do: {RUNS_CODE}"
    )


def forbidden(allowed: bool, how: str = "--allow-exec") -> str:
    """Why code of others may not run: in CI (the variable CI is set) it must be allowed, and `how`; empty if it may."""
    return f"this runs third-party code; in CI, allow that with {how}" if os.environ.get("CI") and not allowed else ""


def width(on_terminal: bool) -> int:
    """Return the columns of a report: COLUMNS where that is set, or else 80 on a terminal and 100 elsewhere."""
    chosen = os.environ.get("COLUMNS", "")
    return int(chosen) if chosen.isdecimal() and int(chosen) > 0 else 80 if on_terminal else 100

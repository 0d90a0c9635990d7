# SPDX-License-Identifier: Apache-2.0
"""The page of the documentation on the command line: every option of every command, as its parser has it."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from importlib import import_module
from unittest import mock

from lanecheck.console.exits import RULE
from verify.__main__ import COMMANDS

ESCAPED = re.compile(r"[|*]")  # a column's end, and the beginning of an emphasis
INTRODUCTION = """# The command line

`lanecheck COMMAND …` is the same as `python -m MODULE …`, with the module that each section names. This page is made of
the commands' own parsers; `lanecheck COMMAND --help` prints the same.

| command | what it does |
|---|---|
"""


class Caught(BaseException):
    """Carries the parser of a command out of its `main`; nothing that guards a command catches it."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        super().__init__()
        self.parser = parser


def parser_of(module: str) -> argparse.ArgumentParser:
    """The parser that the `main` of a module reads its arguments with."""

    def catch(parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        raise Caught(parser)

    with mock.patch.object(argparse.ArgumentParser, "parse_args", catch):
        try:
            import_module(module).main(["x"])  # without an argument `check` reads the project
        except Caught as caught:
            return caught.parser
    raise AssertionError(f"{module}.main reads no arguments")


def page() -> str:
    """The whole page, in Markdown."""
    rows = [f"| [`{name}`](#lanecheck-{name}) | {what} |\n" for name, (_, what) in COMMANDS.items()]
    sections = [_section(name, module) for name, (module, _) in COMMANDS.items()]
    return "".join([INTRODUCTION, *rows, f"\n{RULE[0].upper()}{RULE[1:]}.\n", *sections])


def _section(name: str, module: str) -> str:
    parser = parser_of(module)
    lines = [f"\n## lanecheck {name}\n", f"`{parser.prog}`\n", parser.description or ""]
    lines += ["", "| argument | what it does |", "|---|---|", *_rows(parser), ""]
    lines += [_paragraph(text) for text in (parser.epilog or "").split("\n\n") if text != RULE]
    return "\n".join(lines)


def _rows(parser: argparse.ArgumentParser) -> Iterator[str]:
    formatter = parser._get_formatter()
    for action in parser._actions:
        if action.help is argparse.SUPPRESS:
            continue
        value = "" if action.nargs == 0 else formatter._format_args(action, _metavar(action))
        names = ", ".join(action.option_strings)
        shown = f"{names} {value}".strip().replace("|", "\\|")
        says = formatter._expand_help(action) if action.help else ""
        plain = ESCAPED.sub(r"\\\g<0>", says).replace("<", "&lt;")
        yield f"| `{shown}` | {plain} |"


def _metavar(action: argparse.Action) -> str:
    return action.dest.upper() if action.option_strings else action.dest


def _paragraph(text: str) -> str:
    """A paragraph of the text after the options; the lines of an example as code."""
    head, _, example = text.partition("\n  ")
    return f"{head}\n\n```\n{example}\n```\n" if example else f"{text}\n"

# SPDX-License-Identifier: Apache-2.0
"""How every command reads its arguments: help as it is laid out, the version, and what is wrong kept for a report."""

from __future__ import annotations

import argparse
from typing import NoReturn

from verify import installation


class Rejected(SystemExit):
    """The end of a command whose arguments argparse turns down; what was wrong is printed, and kept."""

    def __init__(self, problem: str) -> None:
        super().__init__(2)
        self.problem = problem


class Parser(argparse.ArgumentParser):
    """A parser that ends a command by :class:`Rejected`."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and what is wrong; raises Rejected."""
        try:
            super().error(message)
        except SystemExit as end:
            raise Rejected(message) from end


class Help(argparse.HelpFormatter):
    """Help in which paragraphs stay apart, and one with indented lines, an example, stays as it is."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        parts = text.split("\n\n")
        return "\n\n".join(
            part if "\n  " in part else super(Help, self)._fill_text(part, width, indent) for part in parts
        )


class Version(argparse.Action):
    """Prints the version and ends; what knows it is imported no sooner."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print it."""
        print(installation.version())
        parser.exit()

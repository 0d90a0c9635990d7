# SPDX-License-Identifier: Apache-2.0
"""Which options each sort of argument reads, as its kind says; any other that is given is rejected by name."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence

from verify import kinds
from verify.core.errors import UsageError
from verify.pictures.picture import Window

REPORT = "report"
IN_FILES = "FILE of "  # begins the sort of a file's subjects: "FILE of atoms" beside "atom"


def readers() -> dict[str, tuple[str, frozenset[str]]]:
    """Return each sort of argument, by its name its words and the options that it reads and some others don't."""
    sorts: dict[str, tuple[str, frozenset[str]]] = {}
    for kind in kinds.all():
        pictures = frozenset(kind.pictures)
        if kind.shipped is not None and kind.verifier is not None:
            sorts[kind.name] = kind.singular, pictures | {"atoms"}
        if kind.drawing is not None:
            sorts[kind.name] = kind.singular, frozenset(kind.drawing.options)
        if kind.signs is not None and kind.verifier is not None:
            allowed = {"allow_exec"} if kind.runs_code is not None else set()
            named = {"atoms"} if kind.names_atoms else set()
            sorts[IN_FILES + kind.plural] = f"a FILE of {kind.plural}", pictures | {"only"} | allowed | named
    return sorts | {REPORT: ("a report", frozenset({"only", "atoms"}))}


WITHOUT: Mapping[str, Sequence[str]] = {"onto": ("table", "banks"), "ptx": ("table", "banks"), "table": ("banks",)}
"""The options that another one leaves nothing to do."""
OF_TEXT = ("quiet", "no_unicode")
"""The options of --format text alone."""


def check(options: Namespace, sorts: Sequence[str]) -> None:
    """Raise UsageError for an option that is given and not read by all of the subjects, or not beside another."""
    every = readers()
    for option in (name for name in vars(options) if any(name in read for _, read in every.values())):
        for sort in sorts:
            if option not in every[sort][1] and is_given(options, option):
                read = " or ".join(words for words, read in every.values() if option in read)
                raise UsageError(f"{_name(option)} is not read for {every[sort][0]}, only for {read}")
    for option, excluded in WITHOUT.items():
        for name in excluded:
            if is_given(options, option) and is_given(options, name):
                raise UsageError(f"{_name(name)} is not read with {_name(option)}: give one of them")
    for option in OF_TEXT:
        if options.format != "text" and is_given(options, option):
            raise UsageError(f"{_name(option)} is not read with --format {options.format}, only with --format text")


def window(options: Namespace) -> Window:
    """Return the rows and columns that the options choose."""
    return options.rows, options.columns


def is_given(options: Namespace, option: str) -> bool:
    """Return whether a user gave an option."""
    value = getattr(options, option)
    return value is not None and value is not False and value != []


def _name(option: str) -> str:
    return f"--{option.replace('_', '-')}"

# SPDX-License-Identifier: Apache-2.0
"""Which options each sort of subject reads, as one table; any other that is given is rejected by name."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence

from verify.core.errors import UsageError
from verify.pictures.picture import Window

SORTS: Mapping[str, str] = {
    "atom": "an atom",
    "atoms": "a FILE of atoms",
    "layout": "a layout",
    "instruction": "an instruction",
    "tiling": "a FILE of tilings",
    "movement": "a FILE of movements",
    "index": "a FILE of maps",
    "report": "a report",
}
READ_BY: Mapping[str, Sequence[str]] = {
    "only": ("atoms", "tiling", "movement", "index", "report"),
    "atoms": ("atom", "tiling", "report"),
    "allow_exec": ("index",),
    "onto": ("layout",),
    "ptx": ("layout",),
    "table": ("atom", "atoms", "layout"),
    "banks": ("layout",),
    "thread": ("tiling",),
}
"""The sorts that read an option; what is not here is read by all."""
WITHOUT: Mapping[str, Sequence[str]] = {"onto": ("table", "banks"), "ptx": ("table", "banks"), "table": ("banks",)}
"""The options that another one leaves nothing to do."""
OF_TEXT = ("quiet", "no_unicode")
"""The options of --format text alone."""


def check(options: Namespace, sorts: Sequence[str]) -> None:
    """Raise UsageError for an option that is given and not read by all of the subjects, or not beside another."""
    for option, readers in READ_BY.items():
        for sort in sorts:
            if sort not in readers and _given(options, option):
                read = " or ".join(SORTS[one] for one in readers)
                raise UsageError(f"{_name(option)} is not read for {SORTS[sort]}, only for {read}")
    for option, others in WITHOUT.items():
        for other in others:
            if _given(options, option) and _given(options, other):
                raise UsageError(f"{_name(other)} is not read with {_name(option)}: give one of them")
    for option in OF_TEXT:
        if options.format != "text" and _given(options, option):
            raise UsageError(f"{_name(option)} is not read with --format {options.format}, only with --format text")


def window(options: Namespace) -> Window:
    """The rows and columns that the options choose."""
    return options.rows, options.columns


def _given(options: Namespace, option: str) -> bool:
    value = getattr(options, option)
    return value is not None and value is not False and value != []


def _name(option: str) -> str:
    return f"--{option.replace('_', '-')}"

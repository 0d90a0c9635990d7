# SPDX-License-Identifier: Apache-2.0
"""Errors that end a command: each has its exit code, its key and the lines that are printed."""

import pytest

from layouts.toml.errors import AtomFileError, Spot
from verify.cli.ending import option
from verify.core.errors import AbsentError, Exit, MalformedError, SpecError, UsageError


@pytest.mark.parametrize(
    ("error", "written"),
    [
        (SpecError("tile", "is odd"), "--tile: is odd"),
        (SpecError("atoms_layout", "is odd"), "--atoms-layout: is odd"),
        (SpecError("", "no atom is named 'x'"), "no atom is named 'x'"),
        (SpecError("atoms_layout", "is odd", "mine.toml: one"), "mine.toml: one.atoms_layout: is odd"),
    ],
)
def test_a_key_is_an_option_unless_it_is_from_a_file(error: SpecError, written: str) -> None:
    assert option(error) == written


def test_what_this_machine_cannot_check_is_undecided_and_everything_else_is_usage() -> None:
    assert (UsageError.code, MalformedError.code, AbsentError.code) == (Exit.USAGE, Exit.USAGE, Exit.UNDECIDED)


def test_a_malformed_file_has_a_line_for_each_error_and_shows_where() -> None:
    errors = [AtomFileError("f.toml", "one", "is odd"), AtomFileError("f.toml", "two", "is even", Spot("two", "", ""))]
    malformed = MalformedError(errors)
    assert str(malformed).splitlines() == [str(error) for error in errors]
    assert [line for line in malformed.shown.splitlines() if line.startswith("lanecheck: ")] == [
        f"lanecheck: {error}" for error in errors
    ]

# SPDX-License-Identifier: Apache-2.0
"""The file of a claim: its tables, and its errors with line and column."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from layouts.toml.document import read_document
from layouts.toml.errors import AtomFileError, Spot
from verify.core.errors import SpecError, UsageError
from verify.kernel.claims.claim import KernelClaim, claim_of
from verify.kernel.claims.expression import ClaimTextError
from verify.kernel.claims.keys import is_claim


def read_claim(path: Path | str, *, claimed: bool = True) -> KernelClaim:
    """Return the claim of a file; raise UsageError, with line and column, where it cannot be read or a key is wrong.

    Without `claimed` it may leave the key `claim` out, and says how to launch.
    """
    with open_claim(path) as table:
        return claim_of(table, str(path), claimed=claimed)


@contextmanager
def open_claim(path: Path | str) -> Iterator[dict[str, Any]]:
    """Yield the tables of a claim's file; an error in a key that the block raises gets its line and column."""
    try:
        document = read_document(Path(path))
    except AtomFileError as error:
        raise UsageError(str(error)) from None
    if document.errors:
        raise UsageError(str(document.errors[0]))
    if not is_claim(document.tables):
        from verify.core.files import meant_for, purpose  # which asks every kind

        if meant_for(document.tables) not in ("", "kernel"):
            raise UsageError(f"{path} isn't a claim: {purpose(Path(path))}")
    try:
        yield dict(document.tables)
    except SpecError as error:
        root, rest = re.match(r"([^.[]*)\.?(.*)", error.key, re.DOTALL).groups()  # type: ignore[union-attr]
        spot = Spot(root, rest)
        if isinstance(error, ClaimTextError):
            spot = Spot(root, rest, error.text, error.letter)
        raise UsageError(str(document.locate(AtomFileError(str(path), error.key, error.problem, spot)))) from None

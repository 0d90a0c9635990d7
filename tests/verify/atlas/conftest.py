# SPDX-License-Identifier: Apache-2.0
"""What the tests of the atlas share: the whole table, made once a process."""

from __future__ import annotations

import pytest

from layouts.atoms import registry
from verify.atlas.rows import Atlas, tabulate
from verify.atlas.without_atom import without_atom
from verify.atom.checker import AtomChecker


@pytest.fixture(scope="session")
def whole() -> Atlas:
    return tabulate(registry().values(), AtomChecker(), without_atom(registry().values()))

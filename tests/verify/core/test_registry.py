# SPDX-License-Identifier: Apache-2.0
"""The rooms below the list of kinds ask it here, whichever module of ours is loaded first."""

from __future__ import annotations

import subprocess
import sys

from verify import kinds
from verify.core.registry import Signs, list_kinds


def test_the_signs_are_those_of_the_list() -> None:
    assert list_kinds() == [*kinds.all()]


def test_a_reader_that_is_loaded_alone_knows_every_kind() -> None:
    text = "from verify.core.files import meant_for; print(meant_for({'mine': {'from': 'a', 'to': 'b'}}))"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == "movement\n"


def test_a_table_of_one_of_the_keys_counts_only_where_it_may_be_inside() -> None:
    table = {"A": {"row": "lane"}}
    assert Signs(frozenset({"row"}), "maps", inside=True).fit(table)
    assert not Signs(frozenset({"row"}), "maps").fit(table)
    assert not Signs(frozenset({"A"}), "atoms").fit(table)

# SPDX-License-Identifier: Apache-2.0
"""An entry of a cache is read under its own name and whole, and as nothing else."""

from __future__ import annotations

from lanecheck.console.digests import name_of, seal, unseal


def test_names_differ_where_the_parts_do() -> None:
    parts = [("ab", "c"), ("a", "bc"), ("abc",), ("abc", ""), (b"ab", "d")]
    assert len({name_of(*part) for part in parts}) == len(parts)
    assert name_of("ab", b"c") == name_of(b"ab", "c")


def test_what_was_not_sealed_under_a_name_is_nothing() -> None:
    entry = seal("one", b"content")
    assert unseal("one", entry) == b"content"
    changed = [entry[:-1], entry + b"x", entry.replace(b"content", b"CONTENT"), entry[1:], b"", b"content"]
    assert [unseal("one", damaged) for damaged in changed] == [None] * 6
    assert unseal("other", entry) is None

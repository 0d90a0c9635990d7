# SPDX-License-Identifier: Apache-2.0
"""Counts in words, as summaries end with them: zeros are left out."""

from __future__ import annotations

from collections.abc import Mapping


def join_counts(counts: Mapping[str, int]) -> str:
    """Return the counts that are not 0, each before its word; "none" if all are.

    >>> join_counts({"verified": 2, "refuted": 0, "unchecked": 1}), join_counts({"refuted": 0})
    ('2 verified, 1 unchecked', 'none')
    """
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count) or "none"

# SPDX-License-Identifier: Apache-2.0
"""How many random inputs a test takes."""

from __future__ import annotations

from hypothesis import settings


def many(count: int) -> int:
    """Return a number of random inputs: `count`, and fifty times as many with `--hypothesis-profile nightly`."""
    return count * max(1, settings().max_examples // 100)

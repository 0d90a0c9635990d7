# SPDX-License-Identifier: Apache-2.0
"""The keys by which the file of a claim is known: nothing else is loaded to ask for them."""

from __future__ import annotations

from collections.abc import Mapping

# keys at the top of a claim's file
OF_CLAIMS = frozenset({"claim", "arrays", "params", "grid", "block", "ptx", "triton"})


def is_claim(tables: Mapping[str, object]) -> bool:
    """Return whether a TOML file is the claim of a kernel."""
    return len(OF_CLAIMS & tables.keys()) > 1

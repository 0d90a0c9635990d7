# SPDX-License-Identifier: Apache-2.0
"""The official JSON Schema of SARIF 2.1.0 with its errata: it is not ours, so it lies in the environment, not here."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

COMMIT = "e0583813964ec43cea53b6b531b402866095ed1f"
URL = f"https://raw.githubusercontent.com/oasis-tcs/sarif-spec/{COMMIT}/sarif-2.1/schema/sarif-schema-2.1.0.json"
SHA256 = "c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e"
KEPT = Path(sys.prefix, "share", "sarif-schema-2.1.0.json")
MISSING = f"the schema is missing: curl --create-dirs -o {KEPT} {URL}"
needs_schema = pytest.mark.skipif(not KEPT.is_file(), reason=MISSING)


def official_schema() -> Any:
    """The schema; a test that reads it is marked `needs_schema`. Another text fails it."""
    raw = KEPT.read_bytes()
    assert hashlib.sha256(raw).hexdigest() == SHA256
    return json.loads(raw)

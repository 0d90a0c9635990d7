# SPDX-License-Identifier: Apache-2.0
"""The official JSON Schema of SARIF 2.1.0 with its errata, fetched once and kept in the environment: it is not ours."""

from __future__ import annotations

import hashlib
import json
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

COMMIT = "e0583813964ec43cea53b6b531b402866095ed1f"
URL = f"https://raw.githubusercontent.com/oasis-tcs/sarif-spec/{COMMIT}/sarif-2.1/schema/sarif-schema-2.1.0.json"
SHA256 = "c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e"
KEPT = Path(sys.prefix, "share", "sarif-schema-2.1.0.json")


def official_schema() -> Any:
    """The schema; the test is skipped where it is not kept and cannot be fetched; another text fails it."""
    if not KEPT.is_file():
        try:
            with urllib.request.urlopen(URL, timeout=20) as answer:
                raw = answer.read()
        except OSError as error:
            pytest.skip(f"{URL}: {error}")
        KEPT.parent.mkdir(exist_ok=True)
        KEPT.write_bytes(raw)
    raw = KEPT.read_bytes()
    assert hashlib.sha256(raw).hexdigest() == SHA256
    return json.loads(raw)

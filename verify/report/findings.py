# SPDX-License-Identifier: Apache-2.0
"""What each finding means, with an example and its fix: `findings.toml`, for `lanecheck explain` and for SARIF."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path


@cache
def read_findings() -> Mapping[str, Mapping[str, str]]:
    """Read the texts of each finding, by its code."""
    findings: dict[str, dict[str, str]] = tomllib.loads(
        Path(__file__).with_name("findings.toml").read_text(encoding="utf-8")
    )
    return findings

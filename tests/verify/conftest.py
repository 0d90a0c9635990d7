# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of the commands."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_ci(monkeypatch):
    """Outside CI, unless a test says otherwise."""
    monkeypatch.delenv("CI", raising=False)

# SPDX-License-Identifier: Apache-2.0
"""Which entries of our folder count as another package; `tests/project/test_installation` runs the commands there."""

from pathlib import Path

import pytest

from lanecheck.console import installation


def test_another_package_has_one_of_our_names_and_was_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installation, "ROOT", tmp_path)
    fault = installation.fault.__wrapped__  # without its cache
    for package in ("verify", "verify-notes", "lanecheck-0.1.0.dist-info"):
        (tmp_path / package).mkdir()
    assert "not Lanecheck's own" in fault()  # where nothing of ours is imported from
    for package in ("layouts-2.0.dist-info", "proofs-1.egg-info"):
        (tmp_path / package).mkdir()
        assert f"another package `{package.partition('-')[0]}` ({package}) is installed" in fault()
        (tmp_path / package).rmdir()

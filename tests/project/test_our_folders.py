# SPDX-License-Identifier: Apache-2.0
"""Which entries of our folder count as another package; `test_installation` runs the commands there."""

from collections.abc import Callable
from pathlib import Path

import pytest

import gpu_checks.installation
import proofs.installation
import verify.installation

FAULTS = {
    gpu_checks.installation: gpu_checks.installation.fault,
    proofs.installation: proofs.installation.fault,
    verify.installation: verify.installation.fault.__wrapped__,
}


@pytest.mark.parametrize(("module", "fault"), FAULTS.items(), ids=[module.__name__ for module in FAULTS])
def test_another_package_has_one_of_our_names_and_was_installed(
    module: object, fault: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ROOT", tmp_path)
    for other in ("verify", "verify-notes", "lanecheck-0.1.0.dist-info"):
        (tmp_path / other).mkdir()
    assert "not Lanecheck's own" in fault()  # where nothing of ours is imported from
    for other in ("layouts-2.0.dist-info", "proofs-1.egg-info"):
        (tmp_path / other).mkdir()
        assert f"another package `{other.partition('-')[0]}` ({other}) is installed" in fault()
        (tmp_path / other).rmdir()


def test_the_copies_differ_in_the_names_of_their_package_alone() -> None:
    """`proofs` and `gpu_checks` may not import each other."""
    one, other = (Path(module.__file__).read_text() for module in (proofs.installation, gpu_checks.installation))
    for mine, theirs in (("proofs.COMMAND", "gpu_checks.COMMAND"), ("`layouts`", "`isa_tables`")):
        one = one.replace(mine, theirs)
    assert one.replace('find_spec("layouts")', 'find_spec("isa_tables")') == other

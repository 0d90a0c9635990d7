# SPDX-License-Identifier: Apache-2.0
"""Small kernels that are unsafe, and their safe twins: `unsafe.cu`, with what is said of both in `unsafe.toml`."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from verify.kernel.claims.claim import claim_of
from verify.kernel.safety import SAFE, check_safety

SOURCE = Path(__file__).with_name("unsafe.cu")
ROWS = tomllib.loads(SOURCE.with_suffix(".toml").read_text(encoding="utf-8"))
SHARED = ROWS.pop("every")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The PTX of all kernels, unsafe and safe."""
    if shutil.which("nvcc") is None:
        pytest.skip("nvcc is not on the PATH")
    texts = {}
    for which, options in (("unsafe", ["-DUNSAFE"]), ("safe", [])):
        to = tmp_path_factory.mktemp(which) / "unsafe.ptx"
        subprocess.run(
            ["nvcc", "-ptx", "-arch=sm_90a", "-diag-suppress=20054", *options, "-o", str(to), str(SOURCE)], check=True
        )
        texts[which] = to.read_text()
    return texts


@pytest.mark.long
@pytest.mark.parametrize("name", ROWS)
def test_an_unsafe_kernel_is_not_safe_and_a_safe_one_is_not_refuted(name: str, compiled: dict[str, str]) -> None:
    row = ROWS[name]
    launch = {key: row.get(key, SHARED[key]) for key in ("grid", "block", "smem", "params")}
    arrays = {
        array: SHARED["arrays"][array] | row.get("arrays", {}).get(array, {})
        for array in launch["params"]
        if isinstance(array, str)
    }
    claim = claim_of({"kernel": name, **launch, "arrays": arrays}, claimed=False)
    outcomes = {which: check_safety(text, claim, seed=1)[0] for which, text in compiled.items()}
    said = {which: outcome.status for which, outcome in outcomes.items()}
    assert said == {"unsafe": row.get("unsafe", "REFUTED"), "safe": row.get("safe", SAFE)}, outcomes
    assert said["safe"] != "REFUTED" and (said["unsafe"] != SAFE or outcomes["unsafe"].findings)


def test_each_row_is_about_a_kernel_and_says_why_no_more_is_known() -> None:
    text = SOURCE.read_text(encoding="utf-8")
    assert {name for name in ROWS if f"K({name})" not in text} == set()
    assert text.count("\nK(") == len(ROWS)
    for name, row in ROWS.items():
        assert ("safe" in row or row.get("unsafe") == SAFE) <= ("why" in row), name

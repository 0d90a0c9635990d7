# SPDX-License-Identifier: Apache-2.0
"""The launch as another verifier reads it, and the page of what was measured."""

from __future__ import annotations

import json
import tomllib

from benchmarks.kernels import safety_page
from benchmarks.kernels.verifiers import describe_launch, judge_ours, judge_theirs
from tests.kernels.compile import COMPILED
from verify.kernel.claims.claim import claim_of


def test_the_page_is_what_the_records_say() -> None:
    """`python -m benchmarks.kernels.safety_page FAULTS.json VERIFIERS.json` writes both anew."""
    data = json.loads(safety_page.DATA.read_text(encoding="utf-8"))
    text = safety_page.write_page(**data)
    assert safety_page.PAGE.read_text(encoding="utf-8") == text
    assert "not explained" not in text
    assert set(data["faults"].values()) <= {"refuted", "warned", "SAFE"}
    assert {one["ours"]["verdict"] for one in data["verifiers"].values()} == {"SAFE"}


def test_a_launch_has_its_numbers_and_maps_and_leaves_pointers_out() -> None:
    path = COMPILED / "tma_3.ptx"
    launch = claim_of(tomllib.loads(path.with_suffix(".toml").read_text()), claimed=False).launches[0]
    found = describe_launch(path.read_text(), launch)
    assert [(one["parameter"][-1], one["value"]) for one in found["arguments"]] == [
        ("0", 128), ("1", 128), ("2", 320), ("6", 152),
    ]  # fmt: skip
    assert [one["parameter"][-1] for one in found["tma_descriptors"]] == ["3", "4"]
    assert found["tma_descriptors"][0]["global_shape"] == [320, 128]
    assert found["tma_descriptors"][0]["global_strides_bytes"] == [672]


def test_a_verdict_is_that_of_the_report() -> None:
    assert judge_ours('{"subjects": [{"headline": "SAFE"}]}') == "SAFE" and judge_ours("") == "failed"
    assert judge_theirs('{"result": "race_free", "diagnostics": []}') == "race_free"
    assert judge_theirs('{"result": "unsupported", "diagnostics": [{"code": "x"}]}') == "unsupported: x"

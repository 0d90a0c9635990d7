# SPDX-License-Identifier: Apache-2.0
"""The launch as another verifier reads it, and the page of what was measured."""

from __future__ import annotations

import json
import tomllib

from benchmarks.kernels import safety_page
from benchmarks.kernels.verifiers import FIRST, WHOLE, describe_launch, gates, judge_ours, judge_theirs, list_texts
from tests.kernels.compile import COMPILED
from verify.kernel.claims.claim import claim_of


def test_the_page_is_what_the_records_say() -> None:
    """`python -m benchmarks.kernels.safety_page RECORD.json` writes both anew."""
    data = json.loads(safety_page.DATA.read_text(encoding="utf-8"))
    text = safety_page.write_page(**data)
    assert safety_page.PAGE.read_text(encoding="utf-8") == text
    assert "not explained" not in text and "not settled" not in text
    assert set(data["faults"].values()) <= {"refuted", "warned", "SAFE"}
    assert {record["ours"]["verdict"] for record in data["verifiers"].values()} == {"SAFE"}


def test_a_launch_has_its_numbers_and_maps_and_leaves_pointers_out() -> None:
    path = COMPILED / "tma_3.ptx"
    launch = claim_of(tomllib.loads(path.with_suffix(".toml").read_text()), claimed=False).launches[0]
    described = describe_launch(path.read_text(), launch)
    assert [(argument["parameter"][-1], argument["value"]) for argument in described["arguments"]] == [
        ("0", 128), ("1", 128), ("2", 320), ("6", 152),
    ]  # fmt: skip
    assert [descriptor["parameter"][-1] for descriptor in described["tma_descriptors"]] == ["3", "4"]
    assert described["tma_descriptors"][0]["global_shape"] == [320, 128]
    assert described["tma_descriptors"][0]["global_strides_bytes"] == [672]


def test_a_verdict_is_that_of_the_report() -> None:
    assert judge_ours('{"subjects": [{"headline": "SAFE", "status": "CONFIRMED"}]}') == "SAFE"
    assert judge_ours('{"subjects": [{"status": "REFUTED"}]}') == "REFUTED" and judge_ours("") == "failed"
    assert judge_theirs('{"result": "race_free", "diagnostics": []}') == "race_free"
    assert judge_theirs('{"result": "unsupported", "diagnostics": [{"code": "x"}]}') == "unsupported: x"


def test_the_sum_is_of_launches_that_both_went_through() -> None:
    def took(ours: float, theirs: float, said: str, own: str = "SAFE") -> dict[str, dict[str, object]]:
        return {"ours": {"seconds": ours, "verdict": own}, "theirs": {"seconds": theirs, "verdict": said}}

    launches = {
        "a": took(1.0, 10.0, "race_free"), "b": took(0.4, 0.2, "race_free"),
        "c": took(5.0, 60.0, "timeout: time_budget"),
        "d": took(3.0, 9.8, "potential_race: x"), "e": took(9.0, 9.0, "race_free", "UNKNOWN"),
    }  # fmt: skip
    assert gates(launches, "seconds") == (1.4 / 10.2, [])
    assert gates(launches, "seconds", (*WHOLE, *FIRST)) == (4.4 / 20.0, ["d"])


def test_accepted_edits_are_of_lines_that_the_kernel_has() -> None:
    """The record of the score lists them, of kept kernels and of others."""
    accepted = [
        (path, name, text)
        for path in sorted(COMPILED.glob("*.ptx"))
        for name, text, _ in list_texts([path], "accepted")
    ]  # fmt: skip
    assert accepted
    for path, name, text in accepted:
        before, after = path.read_text().splitlines(), text.splitlines()
        (line,) = (number for number, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1])
        assert name.startswith(f"{path.stem} line {line + 1}: ")
        assert " ".join(before[line].split()) in name

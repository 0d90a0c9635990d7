# SPDX-License-Identifier: Apache-2.0
"""The record of rank 3: it is complete, speaks about the code as it is, and nothing in it is wrong or left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proofs.laws import campaign

KEPT = json.loads(campaign.FILE.read_text())["operations"]


def test_the_record_is_current_and_complete() -> None:
    assert list(campaign.faults()) == []


@pytest.mark.parametrize("label", KEPT)
def test_every_path_is_accounted_for(label: str) -> None:
    """Proved, refused, unknown or wrong; what is left over was reached by no numbers."""
    told = KEPT[label]
    assert told["proved"] + told["refused"] + len(told["violations"]) <= told["paths"]
    assert told["proved"] > 0
    assert told["violations"] == []


def test_nothing_is_unknown_or_left_over() -> None:
    assert {label for label, told in KEPT.items() if told["unknown"] or told["unexplored"]} == set()


def test_every_refusal_lies_outside_the_precondition() -> None:
    assert {label: told["refused"] for label, told in KEPT.items() if told["refused"] != told["outside"]} == {}


def test_a_change_of_the_code_makes_the_record_speak_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in campaign.EXECUTED:
        (tmp_path / "layouts").mkdir(exist_ok=True)
        (tmp_path / "layouts" / f"{name}.py").write_text((campaign.ROOT / "layouts" / f"{name}.py").read_text())
    for name in campaign.ENGINE:
        (tmp_path / "proofs" / "laws").mkdir(parents=True, exist_ok=True)
        source = campaign.ROOT / "proofs" / "laws" / f"{name}.py"
        (tmp_path / "proofs" / "laws" / f"{name}.py").write_text(source.read_text())
    monkeypatch.setattr(campaign, "ROOT", tmp_path)
    inverse = tmp_path / "layouts" / "inverse.py"
    text = inverse.read_text()
    inverse.write_text(f"# a comment\n{text}")
    assert campaign.recorded()
    inverse.write_text(text.replace("modes.sort()", "modes.sort(reverse=True)"))
    assert campaign.recorded() == {}
    assert "has changed" in next(iter(campaign.faults()))


def test_a_run_that_was_cut_short_goes_on(tmp_path: Path) -> None:
    """Only what is missing is executed: all but one operation are taken from the record."""
    kept = tmp_path / "code.json"
    whole = json.loads(campaign.FILE.read_text())
    told = whole["operations"].pop("coalesce, rank 1")
    kept.write_text(json.dumps(whole))
    campaign.run(1, kept)
    assert json.loads(kept.read_text())["operations"]["coalesce, rank 1"] == told
    assert list(campaign.faults(kept)) == []

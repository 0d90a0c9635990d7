# SPDX-License-Identifier: Apache-2.0
"""A product as TileLang makes it for Hopper: all threads of the producers wait, and one of them loads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.verify.kernel.test_lanes import tell
from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim_file import read_claim
from verify.kernel.state.findings import Severity

HOME = Path(__file__).parent
TEXT = (HOME / "tilelang_90.ptx").read_text()


def run(old: str = "", new: str = "", strict: bool = False, seed: int = 1) -> LaunchOutcome:
    """The outcome, the first match of a pattern exchanged."""
    text, count = re.subn(old, new, TEXT, count=1) if old else (TEXT, 1)
    assert count == 1
    (outcome,) = check(text, read_claim(HOME / "tilelang_90.toml"), seed=seed, strict=strict)
    return outcome


@pytest.mark.long
def test_producers_that_only_wait_are_a_warning_with_its_remedy() -> None:
    outcome = run()
    assert outcome.status == "VERIFIED", tell(outcome)
    assert {(finding.kind, finding.severity) for finding in outcome.findings} == {
        ("a waiter a phase late", Severity.LETTER)
    }
    assert "let only threads wait that use what the phase guards" in outcome.findings[0].text
    assert run(strict=True).status == "REFUTED"


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"wgmma.wait_group.sync.aligned 0;", "wgmma.wait_group.sync.aligned 1;"),
        (r"wgmma.fence.sync.aligned;(?P<rest>(?s:.*?))wgmma.commit_group.sync.aligned;", r"\g<rest>"),
        (r"\.shared::cta\.b64 _, \[%r\d+\], %r\d+;", ".shared::cta.b64 _, [%r1], 2048;"),
        (r"%r1, 96;", "%r1, 112;"),
    ],
    ids=["late-wait", "no-commit", "bytes", "elected-lane-of-a-half"],
)
def test_a_wrong_twin_is_refuted(old: str, new: str) -> None:
    for seed in (1, 4):  # which draw lanes of either half
        outcome = run(old, new, seed=seed)
        assert outcome.status == "REFUTED", tell(outcome)

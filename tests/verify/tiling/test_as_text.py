# SPDX-License-Identifier: Apache-2.0
"""The numbers of a tiling before its verdicts: those that are confirmed, of few tilings only."""

from dataclasses import replace

from tests.verify.tiling.tilings import F16, TWO_BY_TWO, verify_tiling
from verify.core.verdict import Status
from verify.report import Report
from verify.tiling.as_text import FEW, render
from verify.tiling.properties import THREADS
from verify.tiling.spec import TilingSpec

CASE = verify_tiling(TilingSpec("mine", F16, TWO_BY_TWO))


def test_the_numbers_come_first_and_then_the_verdicts() -> None:
    lines = render(Report((CASE,)), "verdicts\n").splitlines()
    assert lines[0] == "mine" and lines[-1] == "verdicts"
    assert "  128 threads: 32 for each of 2x2x1 atoms" in lines


def test_a_number_that_is_not_confirmed_is_not_shown() -> None:
    verdicts = [v._replace(status=Status.REFUTED) if v.claim.prop == THREADS else v for v in CASE.verdicts]
    text = render(Report((replace(CASE, verdicts=tuple(verdicts)),)), "")
    assert text.startswith("mine\n") and "128 threads" not in text


def test_of_many_tilings_there_are_verdicts_alone() -> None:
    assert render(Report((CASE,) * FEW), "verdicts\n") != "verdicts\n"
    assert render(Report((CASE,) * (FEW + 1)), "verdicts\n") == "verdicts\n"

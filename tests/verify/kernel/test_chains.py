# SPDX-License-Identifier: Apache-2.0
"""A launch after others on the same arrays: it reads what they left, and what they leave unwritten is unknown."""

from typing import Any

import pytest

from tests.verify.capture.logs import ADD, SIZE
from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import claim_of
from verify.kernel.ptx.parse import parse_kernel

MULTIPLY = ADD.replace("add.f32 %f3, %f1, %f2", "mul.f32 %f3, %f1, %f2")


def launch(params: str, claim: str = "", grid: int = 3) -> dict[str, Any]:
    """The table of a launch of x, y, t and o."""
    arrays = {
        name: {"dims": "i", "type": "f32", "strides": [1], "offset": 64 * (at + 1), "out": True}
        for at, name in enumerate("xyto")
    }
    table = {"kernel": "add", "grid": [grid], "block": 32, "sizes": {"i": SIZE}, "arrays": arrays}
    return table | {"params": [*params, SIZE]} | ({"claim": claim} if claim else {})


def chain(claim: str, first: str = ADD, grid: int = 3, params: tuple[str, str] = ("xyt", "txo")) -> LaunchOutcome:
    """The outcome of `add` on x, y and t, and then of `multiply` on t, x and o."""
    before = claim_of(launch(params[0], grid=grid), claimed=False).launches[0]
    claims = claim_of(launch(params[1], claim))
    last = claims.launches[0]._replace(before=((parse_kernel(first, "add"), before),))
    return check(MULTIPLY, claims._replace(launches=(last,)), seed=3)[0]


def test_a_launch_reads_what_the_one_before_it_left() -> None:
    outcome = chain("o[i] = (x[i] + y[i]) * x[i]")
    assert (outcome.status, outcome.written) == ("VERIFIED", {"o"})
    assert chain("x[i] = (x[i] + y[i]) * y[i]", params=("xyt", "tyx")).status == "VERIFIED"  # x has its old numbers


@pytest.mark.parametrize("claim", ["o[i] = (x[i] + y[i]) * y[i]", "o[i] = x[i] * x[i]", "o[i] = t[i] * x[i]"])
def test_another_result_is_refuted(claim: str) -> None:
    assert chain(claim).status == "REFUTED"


def test_what_nobody_wrote_is_not_the_claim() -> None:
    """The first launch has a CTA less: six elements of t are what they were."""
    outcome = chain("o[i] = (x[i] + y[i]) * x[i]", grid=2)
    assert outcome.status == "REFUTED"
    assert "6 of 70 elements are wrong" in outcome.findings[0].text


@pytest.mark.parametrize(
    ("old", "new"),
    [("st.global.f32 [%rd7]", "st.global.f32 [%rd7+8]"), ("add.f32 %f3", "frob.f32 %f3"), ("  @%p1 bra DONE;\n", "")],
)
def test_an_earlier_launch_that_is_not_right_decides_nothing(old: str, new: str) -> None:
    outcome = chain("o[i] = (x[i] + y[i]) * x[i]", first=ADD.replace(old, new))
    assert outcome.status == "UNKNOWN"
    assert "in add, which was launched before: " in outcome.findings[0].text

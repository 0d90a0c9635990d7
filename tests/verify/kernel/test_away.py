# SPDX-License-Identifier: Apache-2.0
"""Forms are compared with the interpreter's bits away from the sample: a rule that is right there alone is found."""

from __future__ import annotations

import pytest

from tests.verify.kernel import plain
from verify.kernel.ptx.parse import parse_kernel
from verify.kernel.sizes.away import compare_away
from verify.kernel.sizes.forms import NotLifted, Polynomial
from verify.kernel.sizes.runs import LiftedRun
from verify.kernel.sizes.statement import state

TRIPS, STEP = 2, 32


def test_a_form_that_is_right_at_the_sample_alone_is_found() -> None:
    statement, kernel = state(plain.claim()), parse_kernel(plain.PTX, "plain")
    statement.step = STEP
    run = LiftedRun(statement, kernel, statement.region(TRIPS, statement.numbers(TRIPS)), TRIPS, 1)
    run.to_the_end(-1)
    assert compare_away(run, -1, 0, 0) > 100
    key = next(key for key, (_, content, _) in run.shadow.made.items() if isinstance(content, Polynomial))
    index, content, width = run.shadow.made[key]
    assert isinstance(content, Polynomial)
    wrong = content + Polynomial.symbol("M") - Polynomial.number(run.region.sample["M"])
    assert (wrong.value(run.region.sample) == content.value(run.region.sample)).all()
    run.shadow.made[key] = index, wrong, width
    with pytest.raises(NotLifted, match="wrong at M = "):
        compare_away(run, -1, 0, 0)

# SPDX-License-Identifier: Apache-2.0
"""What follows from a fault of a kernel is told below it, as one alert; two faults are two; none of it has a size."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.verify.kernel.test_mends import LAUNCH, TURN, without
from verify.kernel.report import verify_kernel, verify_safety
from verify.report import Report
from verify.report.alerts import alerts
from verify.report.as_gcc import render

KERNELS = Path(__file__).parents[2] / "kernels/compiled"
LANES = {**LAUNCH, "sizes": [{"I": 64}], "grid": 1}


def rules_of(report: Report) -> list[str]:
    return [alert.rule for alert in alerts(report)]


def read_kernel(name: str, **sizes: int) -> tuple[str, dict[str, Any]]:
    table = tomllib.loads((KERNELS / f"{name}.toml").read_text())
    return (KERNELS / f"{name}.ptx").read_text(), {**table, "sizes": {**table["sizes"], **sizes}}


@pytest.mark.long
def test_a_deadlock_behind_a_wrong_phase_and_what_was_not_written_are_told_with_the_phase() -> None:
    ptx, table = read_kernel("tma_3")
    old = "AGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%r67], %r68;"
    assert ptx.count(old) == 1
    ptx = ptx.replace(old, f"xor.b32 %r68, %r68, 1;\n{old}")
    report = verify_kernel(ptx, table, seed=1)
    assert rules_of(report) == ["order"] and rules_of(verify_safety(ptx, table, seed=1)) == ["order"]
    text = alerts(report)[0].text
    assert text.count("so too REFUTED") == 2 and "stuck threads" in text and "is never written" in text


def test_a_store_beside_the_array_is_one_alert_with_the_race_and_the_wrong_values() -> None:
    store = "st.global.f32 [%d5], %f5;"
    stray = TURN.replace(store, "add.u64 %d5, %d5, 4;\nst.global.f32 [%d5], %f5;")
    assert rules_of(verify_kernel(stray, LANES, seed=1)) == ["memory"]
    barrier = without("bar.sync", 0, stray)  # a second fault has an alert of its own
    assert rules_of(verify_kernel(barrier, LANES, seed=1)) == ["order", "memory"]


def test_wrong_values_below_a_read_that_races_keep_their_alert() -> None:
    wrong = without("bar.sync", 0, TURN).replace("add.f32 %f5, %f3, %f4;", "sub.f32 %f5, %f3, %f4;")
    assert {"order", "values"} <= {*rules_of(verify_kernel(wrong, LANES, seed=1))}


@pytest.mark.long
@pytest.mark.parametrize("fault", ["barrier", "bounds", "values"])
def test_an_alert_is_the_same_with_other_sizes_and_another_seed(fault: str) -> None:
    texts, exact = set(), set()
    for number, sizes in enumerate(({}, {"M": 64, "N": 192, "K": 192})):
        ptx, table = read_kernel("pipeline_3", **sizes)
        if fault == "barrier":
            ptx = without("bar.sync", 0, ptx)
        elif fault == "bounds":
            ptx = ptx.replace("[%rd63]", "[%rd63+1048576]")
        else:
            table["claim"] = "C[m,n] = sum_k A[m,k]*B[n,k] + sum_k A[m,k]*B[n,k]"
        report = verify_kernel(ptx, table, seed=number)
        raised = alerts(report)
        assert raised, fault
        texts.add(tuple(alert.text for alert in raised))
        exact.add(render(report))
    assert len(texts) == 1 and len(exact) == 2

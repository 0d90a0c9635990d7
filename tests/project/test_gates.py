# SPDX-License-Identifier: Apache-2.0
"""The gates of benchmarks/: a ratio to a baseline of the same run, and when it is missed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks.paired import PAIRS, Figure, cpu, paired, process


def figure(*ratios: float, target: float = 1.5) -> Figure:
    return Figure("it", "base", tuple((2.0 * ratio, 2.0) for ratio in ratios), target)


def test_a_gate_limits_the_lower_quartile_of_at_least_fifteen_pairs() -> None:
    disturbed = figure(*[1.4] * 5, *[3.0] * 10)
    assert (disturbed.ratio, disturbed.quartile, disturbed.met) == (3.0, 1.4, True)
    slower = figure(*[1.4] * 3, *[1.6] * 12)
    assert (slower.quartile, slower.met) == (1.6, False)
    assert PAIRS >= 15


def test_measurement_and_baseline_take_turns_and_the_first_is_discarded() -> None:
    order: list[str] = []

    def clock(body: Callable[[], object]) -> float:
        body()
        return 100.0 if len(order) <= 2 else len(order) % 2 + 1.0

    measured = paired("it", lambda: order.append("it"), "base", lambda: order.append("base"), 1.0, 3, clock)
    assert order == ["it", "base"] * 4
    assert measured.pairs == ((2.0, 1.0),) * 3
    assert str(measured).endswith("(at most 1: MISSED)")


def test_a_process_is_measured_with_its_children_and_must_not_fail() -> None:
    parent = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'sum(range(3_000_000))'], check=True)"
    assert cpu(process("-c", parent)) > 1.5 * cpu(process("-c", "pass"))
    with pytest.raises(Exception, match="exit status 3"):
        process("-c", "raise SystemExit(3)")()

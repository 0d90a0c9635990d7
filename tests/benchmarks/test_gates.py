# SPDX-License-Identifier: Apache-2.0
"""The gates of benchmarks/: a ratio to a baseline of the same run, and when it is missed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import pytest

import gpu_checks
from benchmarks import __main__ as gates
from benchmarks import absolute, laws
from benchmarks.absolute import Absolute, Unmeasured
from benchmarks.paired import PAIRS, Figure, cpu, paired
from benchmarks.programs import Observed, ProgramFailed, observed, process


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
    with pytest.raises(ProgramFailed, match=r"-c .* ended with exit code 3: no atlas$"):
        process("-c", "import sys; print('first\\nno atlas', file=sys.stderr); sys.exit(3)")()


@pytest.mark.long
def test_memory_is_that_of_all_processes_and_the_worst_of_three_runs_is_limited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A child fills 64 MiB, after its parent has."""
    fill = "import time; full = bytearray(b'x') * (64 << 20); time.sleep(0.2)"
    child = f"{fill}; import subprocess, sys; subprocess.run([sys.executable, '-c', {fill!r}], check=True)"
    alone, two = observed("-c", fill), observed("-c", child)
    assert 64 < alone.memory < 100 and 128 < two.memory < 200
    assert two.cpu > 0 and two.wall > 0.4
    samples = iter([200.0, 301.0, 100.0])
    monkeypatch.setattr(absolute, "observed", lambda *_: Observed(0.0, 0.0, next(samples), ""))
    figure = absolute.memory("it", "-c", "pass", target=300.0)
    assert (figure.value, figure.met) == (301.0, False)
    assert str(figure).endswith("worst of 3, 100.0 to 301.0 (at most 300: MISSED)") and "PSS" in str(figure)


def test_memory_that_cannot_be_read_is_not_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.programs._pss", lambda _: 0.0)
    with pytest.raises(ProgramFailed, match="memory cannot be read"):
        absolute.memory("it", "-c", "pass", target=300.0)


def test_variables_are_those_of_one_program() -> None:
    shown = "import os, time; time.sleep(0.1); print(os.environ.get('LANECHECK_CACHE', ''))"
    assert observed("-c", shown, LANECHECK_CACHE="here").output == "here\n"
    assert os.environ.get("LANECHECK_CACHE") != "here"


# ---- what is printed at the end


def run(monkeypatch: pytest.MonkeyPatch, *words: str, **suites: list[Any]) -> int:
    """The exit code of the command with these suites, in each of which an exception is raised at its place."""

    def figures(name: str, *_: object) -> Any:
        for figure in suites[name]:
            if isinstance(figure, Exception):
                raise figure
            yield figure

    monkeypatch.setattr(gates, "SUITES", tuple(suites))
    monkeypatch.setattr(gates, "figures", figures)
    return gates.main(words)


MET, MISSED = figure(1.0), figure(2.0)
NO_GPU = Unmeasured("there is no GPU")


@pytest.mark.parametrize(
    ("words", "suites", "code", "last"),
    [
        ([], {"a": [MET, MET], "b": [MET]}, 0, "3 of 3 targets met"),
        ([], {"a": [MET, MISSED]}, 1, "1 of 2 targets met"),
        ([], {"a": [MET], "b": [NO_GPU]}, 0, "1 of 1 targets met; not measured: b"),
        (["b"], {"a": [MET], "b": [NO_GPU]}, 4, "0 of 0 targets met; not measured: b"),
        (["b", "a"], {"a": [MET], "b": [MET, NO_GPU]}, 4, "2 of 2 targets met; not measured: b"),
        (["a", "b"], {"a": [MISSED], "b": [NO_GPU]}, 1, "0 of 1 targets met; not measured: b"),
        (["a"], {"a": []}, 4, "0 of 0 targets met; not measured: a"),
        (["a"], {"a": [MET, Absolute("it", (1.0,), "s", None)]}, 0,
         "1 of 1 targets met; without a target on this machine: 1"),
    ],
)  # fmt: skip
def test_what_is_not_measured_is_named_and_met_by_nothing(
    words: list[str], suites: dict[str, list[Any]], code: int, last: str,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    assert run(monkeypatch, *words, **suites) == code
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == last
    assert ("b: not measured: there is no GPU" in lines) == (NO_GPU in suites.get("b", []))


@pytest.mark.parametrize("load", [0.1, 6.0])
def test_a_machine_with_other_work_is_named(
    load: float, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    assert run(monkeypatch, a=[MET]) == 0
    words = "benchmarks: the load is 6.0 processes: figures by the clock need idle cores\n"
    assert capsys.readouterr().err == words * (load > 1)


@pytest.mark.parametrize("suite", ["algebra", "campaign", "gpu", "scan"])
def test_a_suite_without_its_premise_is_not_measured(suite: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pycute", None)
    monkeypatch.delenv("CUTLASS", raising=False)
    monkeypatch.setattr(gpu_checks, "device_info", lambda: gpu_checks.Unavailable("no GPU"))
    assert gates.main([suite]) == 4


def test_the_laws_need_both_solvers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laws, "cold", lambda *_, **__: MET)
    monkeypatch.setattr(laws, "has_cvc5", lambda: False)
    assert gates.main(["laws"]) == 4
    monkeypatch.setattr(laws, "has_cvc5", lambda: True)
    assert gates.main(["laws"]) == 0

# SPDX-License-Identifier: Apache-2.0
"""The interpretation of recorded launches: large ones in part, and arrays that a kernel only reads as inputs."""

from pathlib import Path
from typing import Any

import pytest

from tests.verify.capture.logs import Log, only
from verify.capture import session
from verify.capture.decisions import Decision
from verify.capture.session import KernelSession
from verify.kernel import interpretation


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path)


def add_decision(log: Log, name: str = "torch.Tensor.add") -> Decision:
    x, y, out = log.draw(), log.draw(), log.op("torch.empty")
    _, _, written = log.launch([x, y, out])
    log.compare(written, log.op(name, log.operand(x), log.operand(y)))
    return only(log)


@pytest.mark.parametrize(("name", "status"), [("add", "PARTIAL"), ("sub", "REFUTED")])
def test_a_large_launch_is_decided_in_part_at_once(
    log: Log, monkeypatch: pytest.MonkeyPatch, name: str, status: str
) -> None:
    """No tables of all of its elements are made: one CTA has shown that all of them take too long."""
    monkeypatch.setattr(interpretation, "PAGED", 0)
    monkeypatch.setattr(session, "FAR", 0)
    monkeypatch.setattr(session, "choose_ctas", lambda grid, seed: (0, 2))
    monkeypatch.setattr(interpretation, "Region", None)  # which has them
    decision = add_decision(log, f"torch.Tensor.{name}")
    assert decision.status == status
    assert status == "REFUTED" or decision.text.startswith("PARTIAL: 2 of 3 CTAs")


def test_the_time_of_a_cta_is_not_that_of_the_first(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small kernel's first CTA ends before the clock is read once: it would seem to take no time."""

    class SlowClock:
        now = -100.0

        def read_time(self) -> float:
            self.now += 100.0
            return self.now

    monkeypatch.setattr(interpretation, "PAGED", 0)
    monkeypatch.setattr(interpretation, "Region", None)  # which has the tables of all elements
    monkeypatch.setattr(session, "Clock", SlowClock)
    assert add_decision(log).text.startswith("PARTIAL: 2 of 3 CTAs")


def test_a_large_launch_that_is_fast_is_decided_in_full(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpretation, "PAGED", 0)
    assert add_decision(log).status == "VERIFIED"


def test_arrays_that_the_text_never_stores_to_are_inputs(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[set[str]] = []
    real = session.check

    def look(ptx: str, claim: Any, **keys: Any) -> Any:
        seen.append({array.name for array in claim.launches[0].arrays if array.out})
        return real(ptx, claim, **keys)

    monkeypatch.setattr(session, "check", look)
    assert add_decision(log).status == "VERIFIED"
    assert seen[0] == {"out"}


def test_a_store_that_the_text_does_not_show_is_no_finding(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known of stores says too little: then every array may be written, as before."""
    x, y = log.draw(), log.draw()
    reference = log.op("torch.Tensor.add", log.operand(x), log.operand(y))
    later = log.launch([x, y, x])
    log.compare(later[2], reference)
    monkeypatch.setattr(KernelSession, "list_stored", lambda *_: frozenset())
    assert only(log).status == "VERIFIED"

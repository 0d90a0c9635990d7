# SPDX-License-Identifier: Apache-2.0
"""A run over a table of properties: which checks are made, and what evidence has."""

import pytest

from tests.verify.test_cross_check import ATOM
from verify.binding.atom import prepare
from verify.evidence import isa


def test_evidence_has_the_time_it_took(monkeypatch: pytest.MonkeyPatch) -> None:
    times, subject = iter([100.0, 102.5, 200.0, 201.5]), prepare(ATOM)
    monkeypatch.setattr(isa.time, "perf_counter", lambda: next(times))
    assert isa.product(subject).seconds == 2.5
    assert isa.compared(isa.ownership, subject, subject.parts[0]).seconds == 1.5

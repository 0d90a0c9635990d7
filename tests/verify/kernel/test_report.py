# SPDX-License-Identifier: Apache-2.0
"""A compiled kernel is verified from Python as by the command: a file or a text, its claim a file or a table."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import lanecheck
from verify.core.errors import SpecError, UsageError
from verify.kernel.report import verify_kernel

ROOT = Path(__file__).parents[3]
PTX, CLAIM = (ROOT / "examples/kernel" / name for name in ("fragment.ptx", "fragment.toml"))
TABLE = tomllib.loads(CLAIM.read_text())


def test_a_file_and_its_text_have_the_same_verdicts() -> None:
    reports = [verify_kernel(kernel, claim, seed=1) for kernel in (PTX, PTX.read_text()) for claim in (CLAIM, TABLE)]
    statuses = {
        tuple((verdict.claim.prop.key, verdict.status) for verdict in report.cases[0].verdicts) for report in reports
    }
    assert len(statuses) == 1
    assert not any(reports)
    with pytest.raises(AssertionError, match="A register 2 low half holds"):
        reports[0].check()


def test_it_is_what_the_package_offers() -> None:
    assert lanecheck.verify_kernel is verify_kernel


@pytest.mark.parametrize(
    ("kernel", "claim", "error", "says"),
    [
        ("no.ptx", CLAIM, UsageError, "cannot read no.ptx"),
        (PTX, "no.toml", UsageError, "no.toml"),
        (PTX, {"claim": "C = 1"}, SpecError, "this key is missing"),
        ("x.py::kernel", TABLE, UsageError, "cannot read x.py: there is no such file"),
        (".version 8.0\nnonsense", TABLE, UsageError, "kernel:1: no .entry"),
    ],
)
def test_what_cannot_be_read_is_one_line(kernel: str, claim: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error) as raised:
        verify_kernel(kernel, claim)
    assert says in str(raised.value) and len(str(raised.value).splitlines()) == 1

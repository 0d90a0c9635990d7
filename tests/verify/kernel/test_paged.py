# SPDX-License-Identifier: Apache-2.0
"""A part of a large launch: tables of what its CTAs touch give what tables of all elements give."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.messages import OUT_OF_BOUNDS
from verify.core.errors import SpecError
from verify.kernel import interpretation
from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import claim_of

EXAMPLES = Path(__file__).parents[3] / "examples/kernel"
TABLE = tomllib.loads((EXAMPLES / "matmul.toml").read_text("utf-8"))
PTX = (EXAMPLES / "matmul.ptx").read_text("utf-8")
SIZES = {"M": 100, "N": 80, "K": 48}


def run_part(ptx: str, ctas: tuple[int, ...], sizes: dict[str, int] | None = None, **keys: Any) -> LaunchOutcome:
    claim = claim_of({**TABLE, "sizes": sizes or SIZES, **keys})
    (launch,) = claim.launches
    return check(ptx, claim._replace(launches=(launch._replace(ctas=ctas),)), seed=1)[0]


@pytest.fixture
def paged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpretation, "PAGED", 0)


def count_ctas() -> int:
    x, y, z = claim_of({**TABLE, "sizes": SIZES}).launches[0].grid
    return x * y * z


@pytest.mark.long
@pytest.mark.parametrize("ctas", [(0,), (0, 3), (1, 2, 3)])
def test_a_part_compares_what_it_would_with_all_tables(ctas: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    dense = run_part(PTX, ctas)
    monkeypatch.setattr(interpretation, "PAGED", 0)
    outcome = run_part(PTX, ctas)
    assert outcome.status == dense.status == "VERIFIED" and not outcome.findings
    assert outcome.part == dense.part == (len(ctas), count_ctas())
    assert 0 < outcome.elements == outcome.compared == dense.compared < SIZES["M"] * SIZES["N"]
    assert outcome.written == dense.written


@pytest.mark.long
@pytest.mark.usefixtures("paged")
def test_all_ctas_compare_all_elements() -> None:
    outcome = run_part(PTX, tuple(range(count_ctas())))
    assert (outcome.status, outcome.part) == ("VERIFIED", None)
    assert outcome.elements == outcome.compared == SIZES["M"] * SIZES["N"]


@pytest.mark.usefixtures("paged")
@pytest.mark.parametrize(
    "claim",
    [
        "C[m,n] = sum_k A[m,k]*B[k,n] + A[m,n//80]",
        "C[m,n] = sum_k A[m,k]*B[k,n]*2",
        "C[m,n] = A[m,n%48]",
    ],
)
def test_a_wrong_claim_is_refuted_by_a_part(claim: str) -> None:
    outcome = run_part(PTX, (0, 3), claim=claim)
    assert outcome.status == "REFUTED"
    assert {finding.kind for finding in outcome.findings} == {"wrong element"}


@pytest.mark.long
@pytest.mark.usefixtures("paged")
def test_a_wrong_kernel_is_refuted_by_a_part() -> None:
    outcome = run_part((EXAMPLES / "wrong.ptx").read_text("utf-8"), tuple(range(count_ctas())))
    assert outcome.status == "REFUTED"


@pytest.mark.usefixtures("paged")
def test_an_access_outside_is_reported_by_its_place() -> None:
    """A has a column fewer than the kernel is told."""
    arrays = {**TABLE["arrays"], "A": {**TABLE["arrays"]["A"], "dims": ["m", "47"]}}
    outcome = run_part(PTX, (0,), arrays=arrays, claim="C[m,n] = A[m,n//80]")
    assert OUT_OF_BOUNDS in {finding.kind for finding in outcome.findings}
    assert any("A[" in finding.text and "of 100x47" in finding.text for finding in outcome.findings)


@pytest.mark.long
def test_an_array_of_more_than_all_tables_hold_runs_in_part() -> None:
    large = {"M": 8192, "N": 8192, "K": 64}
    last = claim_of({**TABLE, "sizes": large}).launches[0].grid
    outcome = run_part(PTX, (0, last[0] * last[1] - 1), sizes=large)
    assert outcome.status == "VERIFIED" and outcome.part is not None and outcome.part[0] == 2
    assert outcome.elements == outcome.compared > 0
    with pytest.raises(SpecError, match="all CTAs run"):
        check(PTX, claim_of({**TABLE, "sizes": large}), seed=1)


def test_a_part_ends_where_its_tables_are_nearly_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpretation, "PAGED", 0)
    monkeypatch.setattr(interpretation, "ROWS", 80_000)  # a fourth for C's 30,720 places; a CTA writes to half of them
    outcome = run_part(PTX, tuple(range(6)), {"M": 128, "N": 192, "K": 160})
    assert outcome.status == "VERIFIED" and outcome.part is not None and 0 < outcome.part[0] < 6
    monkeypatch.setattr(interpretation, "ROWS", 1 << 9)
    assert run_part(PTX, (0,)).status == "UNKNOWN"


def test_an_array_without_pages_has_all_of_its_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one of which the test gives the numbers: the others have theirs all the same."""
    monkeypatch.setattr(interpretation, "PAGED", 0)
    for places in (8_000, 6_000):  # C has more, and then A too
        monkeypatch.setattr(interpretation, "MOST_PLACES", places)
        assert run_part(PTX, (0, 3)).status == "VERIFIED"
        assert run_part(PTX, (0, 3), claim="C[m,n] = sum_k A[m,k]*B[k,n]*2").status == "REFUTED"

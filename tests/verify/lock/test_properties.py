# SPDX-License-Identifier: Apache-2.0
"""Comparisons: a renamed subject is one change, two of the same functions differ by their names."""

from __future__ import annotations

from verify.lock.functions import Subject
from verify.lock.lockfile import Locked
from verify.lock.properties import LockComparison
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Axis

MAP = FragmentMap.tabulate(lambda t, v: (t, v), [Axis("lane", 4), Axis("value", 2)], [Axis("m", 4), Axis("n", 2)])
OTHER = FragmentMap.tabulate(lambda t, v: (t, 1 - v), MAP.inputs, MAP.outputs)


def statuses(now: dict[str, FragmentMap], locked: dict[str, FragmentMap]) -> dict[str, tuple[str, str]]:
    """Name -> status, and the first words of what is wrong."""
    comparison = LockComparison(
        "a.lock",
        [Subject(name, "f", name, {"ptx": "x"}, {"C": fragment}) for name, fragment in now.items()],
        [Locked(name, "f", {"ptx": "x"}, {"C": fragment}) for name, fragment in locked.items()],
    )
    shown = {}
    for subject, case in comparison.cases():
        wrong = next((v.counterexample for v in case.verdicts if v.counterexample), None)
        shown[subject.name] = (case.status, wrong.statement.split()[0] if wrong else "")
    return shown


def test_a_changed_renamed_added_or_missing_map_is_refuted() -> None:
    assert statuses({"a": MAP}, {"a": MAP}) == {"a": ("VERIFIED", "")}
    assert statuses({"a": OTHER}, {"a": MAP}) == {"a": ("REFUTED", "lane")}
    assert statuses({"b": MAP}, {"a": MAP}) == {"b": ("REFUTED", "renamed:")}
    assert statuses({"b": OTHER}, {"a": MAP}) == {"b": ("REFUTED", "added:"), "a": ("REFUTED", "missing:")}
    twice = statuses({"b": MAP, "c": MAP}, {"a": MAP})
    assert twice == {"b": ("REFUTED", "renamed:"), "c": ("REFUTED", "added:")}
    assert statuses({"a": MAP}, {"a": MAP, "b": MAP})["b"] == ("REFUTED", "missing:")


def test_an_operand_that_came_or_went_is_rejected() -> None:
    more = Subject("a", "f", "a", {"ptx": "x"}, {"A": MAP, "C": MAP})
    less = Locked("a", "f", {"ptx": "x"}, {"C": MAP, "B": MAP})
    ((_, case),) = LockComparison("a.lock", [more], [less]).cases()
    wrong = {v.claim.part: v.counterexample.statement for v in case.verdicts if v.counterexample}
    assert wrong == {"A": "added", "B": "missing"} and case.status == "REFUTED"

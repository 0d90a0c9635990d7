# SPDX-License-Identifier: Apache-2.0
"""The campaign that changes one token of our packages at a time: what it changes, and whether its list is current."""

import pytest

from benchmarks.mutants import ROOT, listed, mutants

TEXT = """\
from functools import lru_cache

@lru_cache(maxsize=7)
def f(a: int | None, *rest: int) -> int | None:
    "Not 1 and not 2."
    return a + 1 if not rest and a < 3 else max(*rest)
"""


def test_a_mutant_exchanges_one_token_that_is_evaluated() -> None:
    found = [(one.line, one.old, one.new) for one in mutants("f.py", TEXT)]
    assert found == [
        (6, "+", "-"),
        (6, "1", "2"),
        (6, "not", ""),
        (6, "and", "or"),
        (6, "<", "<="),
        (6, "3", "4"),
        (6, "max", "min"),
        (6, "*", "+"),
    ]


def test_the_text_of_a_mutant_differs_in_its_token_alone() -> None:
    one = next(one for one in mutants("f.py", TEXT) if one.old == "<")
    assert one.applied(TEXT) == TEXT.replace("a < 3", "a <= 3")
    assert one.key == ("f.py", "return a + 1 if not rest and a < 3 else max(*rest)", "<", "<=")


@pytest.mark.parametrize("file", sorted({file for file, *_ in listed()}))
def test_what_is_listed_is_a_mutant_of_todays_code_and_has_a_reason(file: str) -> None:
    today = {one.key for one in mutants(file, (ROOT / file).read_text(encoding="utf-8"))}
    mine = {key: reason for key, reason in listed().items() if key[0] == file}
    assert mine.keys() <= today
    assert all(len(reason.split()) > 3 for reason in mine.values())

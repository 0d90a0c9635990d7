# SPDX-License-Identifier: Apache-2.0
"""An answer against the schema is a missing map, never an error and never a map."""

from __future__ import annotations

from typing import Any

import pytest

from verify.maps.answers import ForeignMap, MissingMap, read_answer
from verify.maps.map import Axis

GOOD: dict[str, Any] = {
    "source": "mma.py: C",
    "ptx": "mma.sync",
    "operand": "C",
    "select": {"A_space": "reg", "F": 1},
    "inputs": [["lane", 2], ["value", 1]],
    "outputs": [["m", 2]],
    "pairs": [[0, 0, 1], [1, 0, 0]],
    "inverse": [[0, 0, 1], [1, 0, 0]],
    "note": "",
}


def test_a_whole_answer_is_a_map_with_its_inverse_in_the_same_columns():
    answer = read_answer({"name": "C", "map": GOOD})
    assert isinstance(answer, ForeignMap)
    assert answer.map.inputs == (Axis("lane", 2), Axis("value", 1)) and answer.map(0, 0) == (1,)
    assert answer.inverse == answer.map and (answer.ptx, answer.operand) == ("mma.sync", "C")
    assert answer.select == {"A_space": "reg", "F": 1} and answer.map.origin.text == "mma.py: C"


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"pairs": None}, "pairs are lists of 3 integers"),
        ({"pairs": [[0, 0]]}, "pairs are lists of 3 integers"),
        ({"pairs": [[0, 0, True]]}, "pairs are lists of 3 integers"),
        ({"pairs": [[0, 0, 1.0]]}, "pairs are lists of 3 integers"),
        ({"inverse": [[0, 0, "1"]]}, "pairs are lists of 3 integers"),
        ({"inputs": []}, "inputs and outputs are lists of one to four [name, extent]"),
        ({"inputs": [["lane"]]}, "a coordinate is [name, extent]"),
        ({"outputs": [["m", 0]]}, "the extent of 'm' is 0"),
        ({"outputs": [["m", 2**40]]}, "the extent of 'm' is 1099511627776"),
        ({"ptx": 5}, "'ptx' of the answer isn't a short text"),
        ({"source": "x" * 501}, "'source' of the answer isn't a short text"),
        ({"select": {"F": [1]}}, "'select' of the answer isn't a table of numbers and texts"),
        ({"verdict": "VERIFIED"}, "the answer has an unknown key 'verdict'"),
    ],
)
def test_what_is_no_answer_is_missing_with_the_reason(changed, why):
    assert read_answer({"name": "C", "map": {**GOOD, **changed}}) == MissingMap("C", why)


@pytest.mark.parametrize("answer", [None, 5, [], {}, {"name": 5}, {"map": GOOD}])
def test_an_answer_without_a_name_is_missing(answer):
    assert read_answer(answer) == MissingMap("?", "the answer has no name")


@pytest.mark.parametrize("value", [None, 5, "map", []])
def test_a_map_that_is_no_table_is_missing(value):
    assert read_answer({"name": "C", "map": value}) == MissingMap("C", "the answer isn't a table")

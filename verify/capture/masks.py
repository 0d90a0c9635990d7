# SPDX-License-Identifier: Apache-2.0
"""Truth values, triangles and ranges of a reference, as a claim's text: `where(m >= n, …, -inf)`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Protocol

from verify.capture.contents import KINDS, Contents, TensorReading, read_operand, say_made
from verify.capture.places import Unchecked

Names = tuple[str, ...]  # of the indices of a reading; "" where it does not depend on one
OPPOSITE = {">": "<=", "<=": ">", "<": ">=", ">=": "<", "==": "!=", "!=": "=="}
Condition = tuple[str, list[tuple[str, str, str]]]  # "and" or "or" between the relations (left, relation, right)


class TextWriter(Protocol):
    """What writes a reading's text."""

    contents: Contents

    def write(self, reading: TensorReading, names: Names, depth: int = 0) -> str:
        """Return the text of an element of a reading."""

    def find_content(self, reading: TensorReading, names: Names) -> tuple[Mapping[str, Any], Names]:
        """Return the content of a reading, with its number, and the names of its own indices."""


def write_condition(writer: TextWriter, value: Any, names: Names, depth: int) -> str:
    """Return the text of a condition that a tensor of truth values is; raises Unchecked."""
    word, relations = _read_condition(writer, value, names, depth)
    return f" {word} ".join(" ".join(relation) for relation in relations)


def _read_condition(writer: TextWriter, value: Any, names: Names, depth: int) -> Condition:
    """Return the relations of a tensor of truth values, which is broadcast to the indices `names`."""
    if not isinstance(value, dict) or "reading" not in value:
        raise Unchecked("a condition of the reference isn't a tensor")
    reading = TensorReading.of(value["reading"])
    content, names = writer.find_content(reading, _broadcast(reading, names))
    row = writer.contents.operation(content["number"])
    given = writer.contents.arguments(content["number"]) if row is not None else {}
    if row is None or not (row.relation or row.triangle or row.cast) or reading.dtype != "bool":
        raise Unchecked(f"the reference rests on {say_made(content)}, which isn't a condition of a claim")
    if row.cast:
        return _read_cast(writer, content, given, names, depth)
    if row.triangle:
        side: Condition = "and", [_compare_indices(content, given, row.triangle, names)]
        if _is_true(writer.contents, read_operand(content, given["a"])):
            return side
        return _join("and", _read_condition(writer, given["a"], names, depth + 1), side, content)
    if row.relation == "not":
        word, relations = _read_condition(writer, given["a"], names, depth + 1)
        dual = "or" if word == "and" else "and"
        return dual, [(left, OPPOSITE[relation], right) for left, relation, right in relations]
    if row.relation in ("and", "or"):
        left, right = (_read_condition(writer, given[key], names, depth + 1) for key in "ab")
        return _join(row.relation, left, right, content)
    return "and", [(*_write_sides(writer, content, given, row.relation, names, depth),)]


def _is_true(contents: Contents, reading: TensorReading) -> bool:
    """Return whether a tensor of truth values is true everywhere."""
    number = contents.resolve(reading.content)
    row = contents.operation(number)
    if row is None or not row.constant or reading.dtype != "bool" or contents.table[number]["dtype"] != "bool":
        return False
    return row.constant == "1" or (row.constant == "value" and contents.arguments(number)["value"] in (1, True))


def _read_cast(
    writer: TextWriter, content: Mapping[str, Any], given: Mapping[str, Any], names: Names, depth: int
) -> Condition:
    """Return the relations of a copy of truth values, or of numbers that are true where they aren't 0."""
    reading = read_operand(content, given["a"])
    if list(reading.shape) != content["layout"]["shape"]:
        raise Unchecked(f"{say_made(content)} gives another shape to what was computed")
    if reading.dtype == "bool":
        return _read_condition(writer, given["a"], names, depth + 1)
    return "and", [(writer.write(reading, _broadcast(reading, names), depth + 1), "!=", "0")]


def _join(word: str, left: Condition, right: Condition, content: Mapping[str, Any]) -> Condition:
    """Return two conditions as one, if one word stands between all relations."""
    for joiner, relations in (left, right):
        if len(relations) > 1 and joiner != word:
            raise Unchecked(f"{say_made(content)} joins conditions by `and` and by `or`")
    return word, [*left[1], *right[1]]


def _write_sides(
    writer: TextWriter, content: Mapping[str, Any], given: Mapping[str, Any], relation: str, names: Names, depth: int
) -> tuple[str, str, str]:
    """Return the two sides of a relation; both are floats, or both integers."""
    kinds, texts = set(), []
    for operand in (given["a"], given["b"]):
        if isinstance(operand, dict) and "reading" in operand:
            reading = TensorReading.of(operand["reading"])
            kinds.add(KINDS.get(reading.dtype, "?")[0])
            texts.append(writer.write(reading, _broadcast(reading, names), depth + 1))
        else:
            texts.append(write_number(operand))
    if "?" in kinds or len({kind in "su" for kind in kinds}) > 1:
        raise Unchecked(f"{say_made(content)} compares numbers of two types")
    return texts[0], relation, texts[1]


def _broadcast(reading: TensorReading, names: Names) -> Names:
    """Return the names of a reading's indices, where it is broadcast to indices with names."""
    own = names[len(names) - len(reading.shape) :]
    return tuple(name if extent > 1 else "" for name, extent in zip(own, reading.shape, strict=True))


def _compare_indices(
    content: Mapping[str, Any], given: Mapping[str, Any], relation: str, names: Names
) -> tuple[str, str, str]:
    """Return the relation of the column to the row on a side of a diagonal."""
    diagonal = given["diagonal"]
    if len(names) < 2 or not isinstance(diagonal, int):
        raise Unchecked(f"{say_made(content)} has a diagonal that is not read")
    row, column = (name or "0" for name in names[-2:])
    if diagonal:
        row = f"{row} {'+' if diagonal > 0 else '-'} {abs(diagonal)}"
    return column, relation, row


def write_triangle(
    writer: TextWriter, content: Mapping[str, Any], given: Mapping[str, Any], relation: str, names: Names, depth: int
) -> str:
    """Return the text of a matrix that is 0 on one side of a diagonal."""
    reading = read_operand(content, given["a"])
    condition = " ".join(_compare_indices(content, given, relation, names))
    return f"where({condition}, {writer.write(reading, names, depth + 1)}, 0)"


def write_range(content: Mapping[str, Any], given: Mapping[str, Any], names: Names) -> str:
    """Return the text of torch.arange(count): the index."""
    if not isinstance(given["a"], int) or KINDS.get(content["dtype"], "?")[0] not in "su":
        raise Unchecked(f"{say_made(content)} begins elsewhere than at 0, or has no integers")
    return names[0] if names[0].isidentifier() else f"({names[0] or 0})"


def write_number(value: Any) -> str:
    """Return a number as a claim has it.

    >>> write_number(2), write_number(-0.5)
    ('2', '(0 - 0.5)')
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise Unchecked(f"{value!r} isn't a number of a claim")
    text = repr(abs(value)).lower()
    return f"(0 - {text})" if value < 0 else text

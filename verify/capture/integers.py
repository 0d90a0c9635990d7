# SPDX-License-Identifier: Apache-2.0
"""Integers in floats: `torch.matmul(a.float(), b.float()).to(torch.int32)` is exact while no sum is too large."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from verify.capture.contents import BITS, KINDS, Contents
from verify.capture.places import Unchecked

DEEP = 20  # operations
DEFAULTS = {"bias": "none", "where": True, "initial": "none", "alpha": 1, "exponent": 2}
ARITHMETIC: Mapping[str, Callable[[int, int], int]] = {
    "a + alpha * b": lambda a, b: a + b,
    "a - alpha * b": lambda a, b: a + b,
    "a * b": lambda a, b: a * b,
    "0 - a": lambda a, b: a,
    "a * a": lambda a, b: a * a,
}


def bound_integers(contents: Contents, number: int, depth: int = 0) -> int | None:
    """Return a bound on |x| of a content whose floats are integers, all exact; None if that isn't known.

    Each result must be below 2^p, where p is the precision of its type, so that no order of a sum rounds.
    """
    content = contents.table[number]
    kind = KINDS.get(content.get("dtype", ""), "")
    bound = _bound_result(contents, number, depth) if depth < DEEP else None
    return bound if bound is not None and kind in BITS and bound <= 1 << BITS[kind][0] else None


def _bound_result(contents: Contents, number: int, depth: int) -> int | None:
    """Return a bound on the exact result of the operation that made a content."""
    row = contents.operation(number)
    if row is None:
        return None
    try:
        given = contents.arguments(number)
    except Unchecked:
        return None
    first, second = (_bound_operand(contents, given.get(name), depth + 1) for name in "ab")
    if first is None or (second is None and "b" in row.parameters) or not _has_defaults(given, DEFAULTS):
        return None
    bound = None
    if row.cast:
        bound = first
    elif row.product:
        bound = first * (second or 0) * int(given["a"]["reading"]["shape"][-1])
    elif row.sum == "sum":
        bound = first * int(np.prod(given["a"]["reading"]["shape"], dtype=object))
    elif row.text in ARITHMETIC:
        bound = ARITHMETIC[row.text](first, second or 0)
    return bound


def _has_defaults(given: Mapping[str, Any], defaults: Mapping[str, Any]) -> bool:
    return all(given.get(name) in (None, default) for name, default in defaults.items())


def _bound_operand(contents: Contents, value: Any, depth: int) -> int | None:
    """Return a bound on an operand."""
    if isinstance(value, Mapping) and "reading" in value:
        kind = KINDS.get(value["reading"]["dtype"], "")
        if kind[:1] in ("s", "u") and kind:  # whatever the content is, and however it came about
            return int(2 ** (int(kind[1:]) - (kind[0] == "s")))
        return bound_integers(contents, contents.resolve(int(value["reading"]["content"])), depth)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and float(value).is_integer():
        return abs(int(value))
    return None

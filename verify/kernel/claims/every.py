# SPDX-License-Identifier: Apache-2.0
"""A claim for all sizes: `sizes = "all"`, what is `given` of them, and the sizes that are run besides.

A stride that is a new name, as "lda", is a size of its own. `concrete` fills such names in, so that the launches of a
claim have numbers, and keeps to what is given.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from math import lcm
from typing import Any

from verify.core.errors import SpecError
from verify.kernel.claims import defaults

ALL = "all"
LARGEST = 1 << 16  # divisor of a size
_SPEAKS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


class GivenSizes:
    """What a claim gives of its sizes: divisors, and bounds as (low, high, whether strictly below).

    >>> found = GivenSizes(["K % 16 == 0", "M < 2**16"])
    >>> found.divisors, [(ast.unparse(low), ast.unparse(high), strict) for low, high, strict in found.bounds]
    ({'K': 16}, [('M', '2 ** 16', True)])
    """

    def __init__(self, given: Any) -> None:
        if not isinstance(given, list | tuple) or not all(isinstance(condition, str) for condition in given):
            raise SpecError("given", 'expected a list of conditions, as ["K % 16 == 0", "M < 65536"]')
        self.texts = tuple(given)
        self.divisors: dict[str, int] = {}
        self.bounds: list[tuple[ast.AST, ast.AST, bool]] = []
        for text in self.texts:
            self._read_condition(text)

    def _read_condition(self, text: str) -> None:
        try:
            node = ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise SpecError("given", f"{text!r:.80}: expected one comparison, as M < 65536 or K % 16 == 0") from None
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            raise SpecError("given", f"{text!r:.80}: expected one comparison, as M < 65536 or K % 16 == 0")
        left, right, kind = node.left, node.comparators[0], node.ops[0]
        if isinstance(kind, _SPEAKS):
            low, high = (left, right) if isinstance(kind, ast.Lt | ast.LtE) else (right, left)
            self.bounds.append((low, high, isinstance(kind, ast.Lt | ast.Gt)))
            return
        zero = isinstance(right, ast.Constant) and type(right.value) is int and right.value == 0
        if isinstance(kind, ast.Eq) and zero and isinstance(left, ast.BinOp) and isinstance(left.op, ast.Mod):
            name, by = left.left, left.right
            if isinstance(name, ast.Name) and isinstance(by, ast.Constant) and type(by.value) is int:
                if not 0 < by.value <= LARGEST:
                    raise SpecError("given", f"{text!r:.80}: expected a divisor from 1 to {LARGEST}")
                self.divisors[name.id] = lcm(self.divisors.get(name.id, 1), by.value)
                return
        raise SpecError("given", f"{text!r:.80}: expected < <= > >= or NAME % NUMBER == 0")


def strides_of(name: str, given: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the strides of an array as texts: those that are not given are row-major, with a name for a row's step."""
    if "strides" in given:
        return tuple(str(stride) for stride in given["strides"])
    count = len(given["dims"])
    if count > 2:
        raise SpecError(f"arrays.{name}.strides", f"for all sizes, an array with {count} indices needs its strides")
    return (f"ld{name.lower()}", "1") if count == 2 else ("1",)


def for_all(table: Mapping[str, Any]) -> bool:
    """Return whether a claim's table is for all sizes; SpecError for `given` without that."""
    sizes = table.get("sizes")
    is_all = sizes == ALL or (isinstance(sizes, list) and ALL in sizes)
    if "given" in table and not is_all:
        raise SpecError("given", 'it is about sizes = "all"')
    return is_all


def with_all(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a claim's table that is for all sizes besides the sizes that it lists."""
    sizes = table.get("sizes", [])
    if sizes == ALL or (isinstance(sizes, list) and ALL in sizes):
        return dict(table)
    return {**table, "sizes": [*(sizes if isinstance(sizes, list) else [sizes]), ALL]}


def concrete(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table of a claim for all sizes with the sizes that are run besides, and numbers for its strides."""
    given, arrays = GivenSizes(table.get("given", ())), table["arrays"]
    strides = {
        name: strides_of(name, array) for name, array in arrays.items() if isinstance(array, dict) and "dims" in array
    }
    rest = {key: held for key, held in table.items() if key not in ("sizes", "given")}
    listed = [chosen for chosen in table["sizes"] if chosen != ALL] if isinstance(table["sizes"], list) else []
    made = {name: {**array, "strides": [int(each) if each.isdigit() else each for each in strides.get(name, ())]}
            for name, array in arrays.items()}  # fmt: skip
    sizes = listed or [_round_up(chosen, given.divisors) for chosen in defaults.sizes(rest)]
    return {
        **rest,
        "arrays": made,
        "sizes": [_with_strides(chosen, arrays, strides, given.divisors) for chosen in sizes],
    }


def _round_up(sizes: Mapping[str, int], divisors: Mapping[str, int]) -> dict[str, int]:
    """Return sizes, each rounded up to what divides it."""
    return {name: -(-size // divisors.get(name, 1)) * divisors.get(name, 1) for name, size in sizes.items()}


def _with_strides(
    sizes: Any, arrays: Mapping[str, Any], strides: Mapping[str, Sequence[str]], divisors: Mapping[str, int]
) -> Any:
    """Return a table of sizes with a number for each stride that is a name, and that it does not have."""
    if not isinstance(sizes, dict):
        return sizes
    numbers = dict(sizes)
    for name, each in strides.items():
        dims = [dim.upper() for dim in arrays[name]["dims"]]
        for stride in each:
            if stride.isidentifier() and stride not in numbers:
                row = [sizes.get(dim, 1) for dim, step in zip(dims, each, strict=False) if step == "1"]
                by = lcm(divisors.get(stride, 1), defaults.PAD)
                least = (max(row, default=1) // by + 1) * by
                while least in numbers.values():
                    least += by
                numbers[stride] = least
    return numbers

# SPDX-License-Identifier: Apache-2.0
"""A launch as options of the command give it: the table that a launch's file has.

>>> launch_table("4", "128", 0, ["X=const f32[512]", "n=512"])["params"]
['X', 512]
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from verify.core.errors import UsageError

_ARRAY = re.compile(r"(const\s+)?(\w+)\[(\d+)\]")
_EXTENTS = re.compile(r"[0-9]+(?:[,x][0-9]+){0,2}")


def launch_table(grid: str, block: str, smem: int, params: Sequence[str]) -> dict[str, Any]:
    """Return the table of a launch. Raises UsageError for a text that is none, with what is expected.

    A parameter is NAME=TYPE[ELEMENTS], a pointer to an array, `const` before its type if the kernel only reads it; or
    NAME=NUMBER.
    """
    table: dict[str, Any] = {"grid": _three("--grid", grid), "block": _three("--block", block), "smem": smem}
    table |= {"params": [], "arrays": {}}
    for text in params:
        name, equals, given = (part.strip() for part in text.partition("="))
        match = _ARRAY.fullmatch(given)
        if not equals or not name.isidentifier() or name in table["arrays"]:
            raise UsageError(f"--param {text!r:.80}: expected NAME=TYPE[ELEMENTS] or NAME=NUMBER, each name once")
        if match is None:
            table["params"].append(_number(text, given))
            continue
        table["params"].append(name)
        table["arrays"][name] = {"dims": [match[3]], "type": match[2], "strides": [1], "out": not match[1]}
    return table


def _three(option: str, text: str) -> list[int]:
    if _EXTENTS.fullmatch(text) is None:
        raise UsageError(f"{option} {text!r:.80}: expected one to three numbers, as 4,2")
    return [int(part) for part in re.split("[,x]", text)]


def _number(text: str, given: str) -> int | float:
    for kind in (lambda each: int(each, 0), float):
        try:
            return kind(given)
        except ValueError:
            continue
    raise UsageError(f"--param {text!r:.80}: {given!r:.40} is neither a number nor TYPE[ELEMENTS], as f32[4096]")

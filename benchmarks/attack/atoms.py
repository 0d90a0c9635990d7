# SPDX-License-Identifier: Apache-2.0
"""Shipped MMA atoms with one edit: wrong unless it is the same function, since a fragment has one layout."""

from __future__ import annotations

import json
import random
import tempfile
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.attack import oracle
from benchmarks.attack.attempt import Attempt, Truth, fault_of, verdict_of
from benchmarks.attack.edits import edited
from verify import verify_atom

ATOMS = Path(__file__).parents[2] / "layouts" / "atoms"
LEFT_OUT = ("known_defect", "expect", "relabel")  # an edit of these may be right in another way


@cache
def entries(*operands: str) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """Return the shipped entries that give these operands as plain layouts of rank 2."""
    tables = [tomllib.loads(path.read_text()) for path in sorted(ATOMS.glob("*.toml"))]
    named = [(name, entry) for table in tables for name, entry in table.items() if isinstance(entry, dict)]
    return tuple((name, entry) for name, entry in named if _is_plain(entry, operands))


def _is_plain(entry: Mapping[str, Any], operands: tuple[str, ...]) -> bool:
    if set(LEFT_OUT) & entry.keys() or "params" in entry:
        return False
    try:
        return all(isinstance(entry.get(name), str) and len(oracle.rows(entry[name])) > 0 for name in operands)
    except ValueError:
        return False


def toml(name: str, entry: Mapping[str, Any]) -> str:
    """Return an entry as a TOML table; its values are texts, numbers, lists and flat tables."""
    return f"[{json.dumps(name)}]\n" + "".join(f"{key} = {_value(value)}\n" for key, value in entry.items())


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(part)}" for key, part in value.items()) + " }"
    return json.dumps(value)


def same_function(first: str, second: str) -> bool:
    """Whether two (thread, value) layouts have equal images, by the oracle; False for a text that is none."""
    try:
        return oracle.rows(first) == oracle.rows(second)
    except ValueError:
        return False


def attempt(number: int, rng: random.Random) -> Attempt:
    """Edit one operand of an atom, and verify it as an entry of a user's file."""
    name, entry = rng.choice(entries("A", "B", "C"))
    operand = rng.choice("ABC")
    text = edited(entry[operand], rng)
    truth = Truth.RIGHT if same_function(text, entry[operand]) else Truth.WRONG
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mine.toml"
        path.write_text(toml("MINE", {**entry, operand: text}))
        verdict, _ = verdict_of(lambda: verify_atom("MINE", path))
    return Attempt("atoms", number, f"{name}: {operand} = {text}", truth, verdict, fault_of(truth, verdict))

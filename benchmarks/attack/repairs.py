# SPDX-License-Identifier: Apache-2.0
"""Atoms and copies with one wrong edit: every repair that is printed must give back what was right.

Of an atom the repaired operand is the shipped function. Of a copy it is enough that Src and Dst name alike what they
named alike before: which name a bit has is free.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.attack import oracle
from benchmarks.attack.atoms import entries, same_function, toml
from benchmarks.attack.attempt import Attempt, Truth, fault_of, verdict_of
from benchmarks.attack.edits import edited
from verify import Report, verify_atom


def moved(entry: Mapping[str, Any]) -> set[tuple[tuple[int, int], tuple[int, int]]]:
    """Return which (thread, value) of Src has the name of which of Dst."""
    by_name: dict[int, list[tuple[int, int]]] = {}
    for place in _named(entry["Src"]):
        by_name.setdefault(place[1], []).append(place[0])
    return {(source, place) for place, name in _named(entry["Dst"]) for source in by_name.get(name, [])}


def _named(text: str) -> Iterator[tuple[tuple[int, int], int]]:
    for thread, row in enumerate(oracle.rows(text)):
        yield from (((thread, value), name) for value, name in enumerate(row))


def is_right(entry: Mapping[str, Any], changed: Mapping[str, Any], copy: bool) -> bool:
    """Whether a changed entry does what the shipped one does, by the oracle."""
    if not copy:
        return all(same_function(str(changed[name]), entry[name]) for name in "ABC")
    try:
        return moved(changed) == moved(entry)
    except ValueError:
        return False


def attempt(number: int, rng: random.Random) -> Attempt:
    """Edit one operand, verify, and put each printed repair in its place."""
    copy = rng.random() < 0.5
    operands = ("Src", "Dst") if copy else ("A", "B", "C")
    name, entry = rng.choice(entries(*operands))
    operand = rng.choice(operands)
    changed = {**entry, operand: edited(entry[operand], rng)}
    truth = Truth.RIGHT if is_right(entry, changed, copy) else Truth.WRONG
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mine.toml"
        path.write_text(toml("MINE", changed))
        verdict, report = verdict_of(lambda: verify_atom("MINE", path))
    if copy and entry.get("Ref") in (entry["Src"], entry["Dst"]) and verdict == "REFUTED":
        truth = Truth.WRONG  # Ref is a name of its own: it may contradict where Src and Dst agree
    fault = fault_of(truth, verdict)
    given = f"{name}: {operand} = {changed[operand]}"
    for part, repair in _repairs(report, operands) if report else ():
        if not is_right(entry, {**changed, part: repair}, copy):
            return Attempt("repairs", number, f"{given}; repair {part} = {repair}", truth, verdict, "wrong repair")
        given += f"; repaired {part}"
    return Attempt("repairs", number, given, truth, verdict, fault)


def _repairs(report: Report, operands: tuple[str, ...]) -> set[tuple[str, str]]:
    """Return the layouts that a report offers instead, each with its operand."""
    wrong = [(verdict.claim.part, verdict.counterexample) for verdict in report.verdicts() if verdict.counterexample]
    return {
        (part, counterexample.repair)
        for part, counterexample in wrong
        if counterexample.repair and part in operands and ":" in counterexample.repair
    }

# SPDX-License-Identifier: Apache-2.0
"""The mutation campaign: edits of right kernels, what the check says of each, and why those that it accepts are right.

All others are listed: each is a wrong kernel that was accepted, or one without a reason so far.
"""

from __future__ import annotations

import os
import time
import tomllib
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from math import inf
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

from benchmarks.kernels.edits import Edit, drawn, planted
from benchmarks.kernels.fates import Fate, Key, digest
from benchmarks.kernels.meanings import draw_meanings
from benchmarks.kernels.reasons import ACCEPTED, Refuted, assembled, checked, reason_of, right
from verify.core.errors import SpecError, UsageError
from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import claim_of
from verify.kernel.state.findings import WARNINGS

X = TypeVar("X")
CORPUS = Path(__file__).parents[2] / "tests" / "kernels" / "compiled"
OUTPUTS = Path(__file__).with_name("outputs.toml")  # claims about other outputs than that of the kept claim
MOST = 12  # planted edits of each class that a kernel gets


@dataclass(frozen=True)
class Sample:
    """How many edits a kernel gets."""

    most: int  # planted ones of each class, spread over its lines
    random: int
    meanings: int
    seed: int


def edits_of(text: str, sample: Sample) -> list[Edit]:
    """Return the planted edits of a kernel, random ones, and those of meanings."""
    by_class: dict[str, list[Edit]] = {}
    for edit in planted(text) if sample.most else ():
        by_class.setdefault(edit.sort, []).append(edit)
    spread = [picked for alike in by_class.values() for picked in alike[:: -(-len(alike) // sample.most)]]
    edits = [*spread, *drawn(text, sample.random, sample.seed)]
    edits += draw_meanings(text, sample.meanings, sample.seed) if sample.meanings else []
    return list(dict.fromkeys(edits))


@lru_cache(maxsize=4)
def texts(path: Path) -> tuple[str, str]:
    """A kernel `NAME.ptx` and its claim `NAME.toml`."""
    return path.read_text(encoding="utf-8"), path.with_suffix(".toml").read_text(encoding="utf-8")


def fate(path: Path, edit: Edit) -> Fate:
    """Check one edited kernel; any error that is not one of its text is a defect of the check, and counted."""
    text, claim = texts(path)
    made = Fate(path.stem, digest(text, claim), edit, "")
    try:
        outcomes = checked(edit, text, claim)
    except Refuted as error:
        return replace(made, status="REFUTED", finding=f"line {error.finding.line}: {error.finding.text}")
    except (UsageError, SpecError) as error:
        return replace(made, status="rejected", finding=str(error))
    except Exception as error:
        return replace(made, status="crashed", finding=f"{type(error).__name__}: {error}")
    worst = next((outcome for outcome in outcomes if outcome.status != ACCEPTED), outcomes[0])
    made = replace(made, status=worst.status, finding=_first_finding(worst))
    if not made.accepted:
        return made
    if (refused := check_others(path.stem, edit, text, claim)) is not None:
        return replace(made, status=refused.status, finding=_first_finding(refused))
    warned = _kinds(outcomes) - _kinds(right(text, claim))
    return replace(made, reason=reason_of(text, claim, edit) or ("a warning" if warned else ""))


def check_others(name: str, edit: Edit, text: str, claim: str) -> LaunchOutcome | None:
    """Return the outcome of a claim about another of an edited kernel's outputs that isn't accepted, if one isn't."""
    for output_claim in _outputs().get(name, ()):
        outcomes = check(edit.on(text), claim_of({**tomllib.loads(claim), "claim": output_claim}))
        if any(outcome.status != ACCEPTED for outcome in outcomes):
            return next(outcome for outcome in outcomes if outcome.status != ACCEPTED)
    return None


def _first_finding(outcome: LaunchOutcome) -> str:
    """Return the first finding that decides, in words."""
    there = [finding for finding in outcome.findings if finding.severity not in WARNINGS] or [*outcome.findings]
    return f"line {there[0].line}: {there[0].text}" if there else ""


@cache
def _outputs() -> dict[str, list[str]]:
    table: dict[str, list[str]] = tomllib.loads(OUTPUTS.read_text(encoding="utf-8"))
    return table


def _kinds(outcomes: Sequence[LaunchOutcome]) -> set[str]:
    return {finding.kind for outcome in outcomes for finding in outcome.findings}


def recoded(path: Path, accepted: Fate) -> Fate:
    """An accepted edit with what ptxas makes of it for its reason, if that is one."""
    text = texts(path)[0]
    return replace(accepted, reason=assembled(text, accepted.edit.on(text)) or accepted.reason)


def planned(kernels: Sequence[Path], thorough: Collection[str], many: Sample, few: Sample) -> list[Key]:
    """Return every edit of some kernels: thorough ones have `many`, each of the others `few`."""
    tasks = []
    for path in kernels:
        text, claim = texts(path)
        sample = many if path.stem in thorough else few
        tasks += [(path.stem, digest(text, claim), edit) for edit in edits_of(text, sample)]
    return tasks


def unverified(kernels: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """The kernels that are not verified as they are, with the status: their edits would say nothing."""
    for path in kernels:
        worst = next((outcome for outcome in right(*texts(path)) if outcome.status != ACCEPTED), None)
        if worst is not None:
            yield path, worst.status


def campaign(
    work: Callable[[Path, X], Fate], tasks: Sequence[tuple[Path, X]], processes: int, seconds: float | None = None
) -> Iterator[Fate]:
    """Yield the fates of tasks, each as soon as it is known; those that are not begun within `seconds` are left out.

    One process is this one, which has the right kernel's outcome already.
    """
    if processes == 1:
        end = time.monotonic() + (inf if seconds is None else seconds)
        yield from (work(path, subject) for path, subject in tasks if time.monotonic() < end)
        return
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # there are other processes
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
    try:
        waiting = [pool.submit(work, path, subject) for path, subject in tasks]
        for done in as_completed(waiting, timeout=seconds):
            yield done.result()
    except TimeoutError:
        return
    finally:
        pool.shutdown(cancel_futures=True)

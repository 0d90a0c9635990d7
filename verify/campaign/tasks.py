# SPDX-License-Identifier: Apache-2.0
"""The chunks of a campaign, as tasks that any process of any machine can run.

`parts`   what a campaign counts by itself, each with its chunks: the cases of one law, the mutants of the atoms
`work`    the result of one task
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import isqrt
from typing import Protocol

from proofs.symbolic import execution
from proofs.symbolic.attempt import Stopped, attempt
from proofs.symbolic.enumerated import LAWS
from proofs.symbolic.execution import Target
from verify.campaign import code, mutants
from verify.campaign.domain import Domain
from verify.campaign.examine import Second, examine_cases
from verify.campaign.spec import CampaignSpec, LawsSpec, MutantsSpec
from verify.campaign.tally import Tally
from verify.core.errors import SpecError, UsageError

CHUNKS = 10_000  # of one law, about, unless they would be larger than LARGEST
SIDE = 128  # layouts of a chunk of pairs, at least, on each side
ROW = 4096  # cases of a chunk of single layouts, at least
LARGEST = 1 << 17  # cases of a chunk: some seconds
MOST = 1 << 20  # chunks of one law
BUDGET = 600  # seconds that a chunk of another implementation may take
BLOCK = 1 << 14  # cases that are called before any is decided


WORDS = {"confirmed": "confirmed", "refuted": "refuted", "rejected": "rejected", "unmet": "outside the law"}
"""The outcomes of cases of a law."""


class Task(Protocol):
    """A chunk: how many cases it has, and how they are decided."""

    @property
    def cases(self) -> int:
        """How many cases it has."""

    def count(self) -> Tally | Stopped:
        """Return the cases counted, or why a implementation of others has none."""


@dataclass(frozen=True, slots=True)
class Implementation:
    """The implementation that is checked: ours, or a module that each process imports."""

    module: str = ""
    path: str = ""
    seconds: float = BUDGET  # that a chunk may take; ours always ends

    @property
    def name(self) -> str:
        """Its name."""
        return self.module or "layouts"

    def target(self) -> Target | Stopped:
        """Its functions; or why they cannot be had."""
        return _target(self.module, self.path, self.seconds)


@lru_cache(maxsize=4)
def _target(module: str, path: str, seconds: float) -> Target | Stopped:
    return attempt(lambda: execution.foreign(module, path or None), seconds) if module else execution.ours()


@dataclass(frozen=True, slots=True)
class LawTask:
    """Some layouts, each with some second arguments: layouts, cotargets, or none."""

    spec: LawsSpec
    law: str
    firsts: range
    seconds: range | tuple[int | None, ...]
    target: Implementation

    @property
    def cases(self) -> int:
        """How many cases it has."""
        return len(self.firsts) * len(self.seconds)

    def count(self) -> Tally | Stopped:
        """Return the cases counted, or why the implementation has none."""
        target = self.target.target()
        if isinstance(target, Stopped):
            named = self.target.module + f" in {self.target.path}" * bool(self.target.path)
            raise UsageError(f"--module: {named}: {target.why}")
        if not hasattr(target.functions, self.law):
            return Stopped(f"{target.name} has no function {self.law}")
        return (
            attempt(lambda: self._decide_law(target), self.target.seconds)
            if self.target.module
            else self._decide_law(target)
        )

    def _decide_law(self, target: Target) -> Tally:
        domain, tally = domain_of(self.spec), Tally()
        seconds: list[Second] = [*self.seconds]
        if isinstance(self.seconds, range):
            seconds = [*domain.between(self.seconds.start, self.seconds.stop)]
        step = max(1, BLOCK // len(seconds))
        for start in range(self.firsts.start, self.firsts.stop, step):
            block = [*domain.between(start, min(start + step, self.firsts.stop))]
            tally += examine_cases(target, self.law, block, seconds)
        return tally


@lru_cache(maxsize=8)
def domain_of(spec: LawsSpec) -> Domain:
    """All layouts of a spec."""
    extents = spec.extents or tuple(range(1, spec.size + 1))
    try:
        return Domain(spec.rank, spec.depth, spec.size, extents, spec.strides)
    except ValueError as error:
        raise SpecError("extents", str(error), spec.name) from error


@dataclass(frozen=True, slots=True)
class CampaignPart:
    """What is counted by itself: the cases of one law, or the mutants of some atoms.

    entry    the name of its campaign
    name     what is checked: the operation, or `mutants`
    domain   over which cases, in words
    claim    what is checked of each
    key      the digest of its code, its spec and its budget
    tasks    its chunks
    words    its outcomes in words
    gap      whether a case without evidence is a gap; an implementation may reject a case
    """

    entry: str
    name: str
    domain: str
    claim: str
    key: str
    tasks: Sequence[Task] = field(repr=False)
    words: Mapping[str, str]
    gap: bool = False

    @property
    def cases(self) -> int:
        """How many cases it has."""
        return sum(task.cases for task in self.tasks)


def parts(spec: CampaignSpec, target: Implementation) -> list[CampaignPart]:
    """Return the parts of a campaign."""
    if isinstance(spec, LawsSpec):
        return [_of_law(spec, law, target) for law in spec.laws]
    assert isinstance(spec, MutantsSpec)

    words = f"every one-edit mutant of {', '.join(spec.atoms)}" if spec.atoms != ("*",) else "every one-edit mutant"
    key = _key(spec, "", code.digest())
    return [CampaignPart(spec.name, "mutants", words, mutants.CLAIM, key, mutants.tasks(spec), mutants.WORDS, gap=True)]


def _of_law(spec: LawsSpec, law: str, target: Implementation) -> CampaignPart:
    count = len(domain_of(spec))
    second = LAWS[law].second
    made: list[Task] = []
    if second == "layout":
        side = min(max(SIDE, -(-count // isqrt(CHUNKS))), isqrt(LARGEST))
        _check(spec, law, count**2, side**2)
        made = [LawTask(spec, law, a, b, target) for a in _ranges(count, side) for b in _ranges(count, side)]
    else:
        seconds: tuple[int | None, ...] = (spec.cotargets or (spec.size,)) if second else (None,)
        step = max(1, min(max(ROW // len(seconds), -(-count // CHUNKS)), LARGEST // len(seconds)))
        _check(spec, law, count * len(seconds), step * len(seconds))
        made = [LawTask(spec, law, a, seconds, target) for a in _ranges(count, step)]
    key = _key(spec, law, code.digest(target.module, target.path))
    return CampaignPart(spec.name, law, _words(spec, second), LAWS[law].statement, key, made, WORDS)


def _check(spec: LawsSpec, law: str, cases: int, chunk: int) -> None:
    if cases // chunk > MOST:
        raise SpecError("", f"{law} has {cases} cases, which no machine tries: name a smaller bound", spec.name)


def _ranges(count: int, step: int) -> list[range]:
    return [range(start, min(start + step, count)) for start in range(0, count, step)]


def _words(spec: LawsSpec, second: str) -> str:
    what = {"": "layouts", "layout": "pairs of layouts", "cotarget": "layouts with a cotarget"}[second]
    bounds = [f"rank at most {spec.rank}", f"at most {spec.size} points", f"strides {_list_words(spec.strides)}"]
    bounds += [f"extents {_list_words(spec.extents)}"] if spec.extents else []
    bounds += [f"nested at most {spec.depth} deep"] * (spec.depth > 1)
    bounds += [f"cotargets {_list_words(spec.cotargets or (spec.size,))}"] * (second == "cotarget")
    return f"all {what}: {'; '.join(bounds)}"


def _list_words(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def _key(spec: CampaignSpec, law: str, digest: str) -> str:
    """Return the key of a part's chunks. The laws of a spec do not depend on each other."""
    data = spec.as_key() | ({"laws": law} if law else {})
    return hashlib.sha256(f"{digest}\0{json.dumps(data, sort_keys=True)}".encode()).hexdigest()


def work(task: Task, digest: str, module: str = "", path: str = "") -> Tally | Stopped:
    """Return the result of a task. Raises UsageError in a process that has other code than the one that counts."""
    if code.digest(module, path) != digest:
        raise UsageError("a worker has other code than this process: install the same version there")
    before = frozenset(sys.modules)
    tally = task.count()
    if module and (stray := code.left_out(module, path, before)):
        raise UsageError(f"--module {module}: it runs {stray}, which is not in the folder of --path: put it there")
    return tally

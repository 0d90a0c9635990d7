# SPDX-License-Identifier: Apache-2.0
"""Cases on their way from one process to another, where they become what they would be if they were found there.

Evidence under a key of the cache travels once, with its key; in verdicts and in other evidence it is a reference. Where
it arrives, the first subject that needs it, in the order of the report, is the one that `shared` names. Properties
travel as their keys; formulas and pictures are made anew.

`Packer`     in the process that found cases
`Unpacker`   in the process that reports them
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from verify.atom.checker import shown
from verify.atom.properties import TAKEN
from verify.core.evidence_cache import Given
from verify.core.verdict import Claim, Evidence, Property, Verdict
from verify.evidence.run import shared_name

if TYPE_CHECKING:
    from layouts.atoms import AnyAtom
    from verify.atom.checker import AtomChecker
    from verify.report import Case

Reference: TypeAlias = "tuple[int, int] | Evidence"  # number of a key and which of its evidence; else itself


# A verdict without its subject's name, as a plain tuple, which travels fastest: its evidence, in order; the key of its
# property; the part, text and provenance of its claim; its status, counterexample, reason and place.
PackedVerdict: TypeAlias = "tuple[Any, ...]"
Packed: TypeAlias = "tuple[Case, list[PackedVerdict]]"  # a case without verdicts, and those


class Parcel(NamedTuple):
    """What is sent at once."""

    keys: list[tuple[Hashable, tuple[Reference, ...]]]  # evidence under keys that were not sent before
    cases: list[Packed | None]  # None for what failed


@dataclass
class Packer:
    """Packs what a checker finds."""

    checker: AtomChecker
    _sent: int = 0  # how many keys with evidence
    _places: dict[int, tuple[int, int]] = field(default_factory=dict)  # of evidence under a key, by its id

    def packed(self, cases: Iterable[Case | None]) -> Parcel:
        """Some cases, with the evidence under keys that they need."""
        new = self._new()
        return Parcel(new, [None if case is None else self._case(case) for case in cases])

    def _new(self) -> list[tuple[Hashable, tuple[Reference, ...]]]:
        found, new = self.checker.cache.evidence, []
        for key, given in islice(found.items(), self._sent, None):
            new.append((key, tuple(map(self._reference, given.first))))
            for at, each in enumerate(zip(given.first, given.later, strict=True)):
                for evidence in each:  # that which was found under another key has its place there
                    self._places.setdefault(id(evidence), (self._sent, at))
            self._sent += 1
        return new

    def _reference(self, evidence: Evidence) -> Reference:
        return self._places.get(id(evidence), evidence)

    def _case(self, case: Case) -> Packed:
        verdicts = [
            (tuple(map(self._reference, evidence)), prop.key, part, text, provenance, status, *rest)
            for (_, part, prop, text, provenance), status, evidence, *rest in case.verdicts
        ]
        return replace(case, verdicts=(), formulas=tuple, picture=None), verdicts


class Unpacker:
    """Unpacks what a packer of another process packed, in the order of the report."""

    def __init__(self, checker: AtomChecker) -> None:
        self._cache = checker.cache
        self._rows: dict[str, Property] = {row.key: row for row in (*checker.table, TAKEN)}
        self._keys: list[tuple[Hashable, tuple[Reference, ...]]] = []
        self._given: dict[int, Given] = {}  # by the number of the key

    def take(self, parcel: Parcel) -> None:
        """Have the evidence of a parcel at hand, for cases in it and for what is found here."""
        for key, references in parcel.keys:
            if key not in self._cache.evidence:
                self._cache.ahead.setdefault(key, partial(self._known, references))
        self._keys += parcel.keys

    def case(self, packed: Packed, entry: Callable[[], AnyAtom]) -> Case:
        """The case of an atom; raises Differs where it rests on other evidence than was found here."""
        case, verdicts = packed
        found = tuple(self._verdict(case.name, one) for one in verdicts)
        return replace(case, verdicts=found, **shown(entry, found))

    def _verdict(self, name: str, packed: PackedVerdict) -> Verdict:
        references, prop, part, text, provenance, status, *rest = packed
        row = self._rows[prop]
        evidence = self._evidence(references, shared_name(name, part, row.scope))
        return Verdict(Claim(name, part, row, text, provenance), status, tuple(evidence), *rest)

    def _known(self, references: Sequence[Reference], subject: str) -> list[Evidence] | None:
        """The evidence of references; None where some of it is not what was found here."""
        try:
            return self._evidence(references, subject)
        except Differs:
            return None

    def _evidence(self, references: Sequence[Reference], subject: str) -> list[Evidence]:
        found = []
        for one in references:
            if isinstance(one, Evidence):
                found.append(one)
            else:
                given = self._given.get(one[0]) or self._under(one[0], subject)
                found.append(given.to(subject)[one[1]])
        return found

    def _under(self, number: int, subject: str) -> Given:
        """The evidence under a key that is needed first; raises Differs where it is not what was found here."""
        key, references = self._keys[number]
        found = self._evidence(references, subject)
        given = self._cache.given(key, subject, lambda: found)
        if [*map(_unnamed, given.first)] != [*map(_unnamed, found)]:
            raise Differs
        self._given[number] = given
        return given


class Differs(Exception):
    """What another process found under a key is not what was found here: its cases are verified here."""


def _unnamed(evidence: Evidence) -> Evidence:
    return evidence._replace(shared="")

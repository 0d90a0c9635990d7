# SPDX-License-Identifier: Apache-2.0
"""Subjects that were read from files, with where each stands and what could not be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, NamedTuple

from verify.core.names import S, select
from verify.report import Failure


class SubjectSource(NamedTuple):
    """The table of a file in which a subject is written; of a family's member that of the family."""

    file: str
    table: str


@dataclass(frozen=True)
class LoadedFiles(Generic[S]):
    """The subjects of some files, where each stands, and the errors of what could not be read, which are printed."""

    items: tuple[S, ...] = ()
    sources: Mapping[str, SubjectSource] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()

    def only(self, names: Sequence[str], what: str) -> LoadedFiles[S]:
        """Return those that names and patterns select, all without any. Raises SpecError for a name of none."""
        if not names:
            return self
        chosen = select(names, dict.fromkeys(subject.name for subject in self.items), what)
        return replace(self, items=tuple(subject for subject in self.items if subject.name in chosen))

    def adding(self, failures: Sequence[Failure]) -> LoadedFiles[S]:
        """Return those with the errors of further files."""
        return replace(self, failures=tuple(dict.fromkeys((*self.failures, *failures))))

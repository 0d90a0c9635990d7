# SPDX-License-Identifier: Apache-2.0
"""Lanecheck for a test suite: the entries of a TOML file, whichever command it is for, and their reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layouts.toml.document import read_document
from layouts.toml.errors import AtomFileError, combine_errors
from verify import kinds
from verify.cli.arguments import check_execution
from verify.cli.batch import attempt
from verify.core.errors import Exit, SpecError, UsageError
from verify.core.files import purpose
from verify.core.names import Named
from verify.core.verdict import Check
from verify.kind import Kind, Resources
from verify.report import Case, Failure, Report, as_text

__all__ = ["GateEntry", "GateResult", "Suite"]


@dataclass(frozen=True, slots=True)
class GateEntry:
    """A subject of a file: its name, the function that verifies it, its line in the file."""

    name: str
    cases: Callable[[], Sequence[Case]]  # one, or for a claim one for each table of its sizes
    line: int

    def case(self) -> Case:
        """Return the only case."""
        (case,) = self.cases()
        return case


@dataclass(frozen=True, slots=True)
class GateResult:
    """A report, with the reason to fail a test or else to skip it; both are empty if everything is verified."""

    report: Report
    failure: str = ""
    unchecked: str = ""


def _as_failing_entry(error: AtomFileError) -> GateEntry:
    """Return an error of a file as an entry that fails, beside the entries that can be read."""

    def fail() -> Sequence[Case]:
        raise error

    return GateEntry(error.key or "syntax", fail, error.place[0] if error.place else 1)


class Suite:
    """Verifies entries one by one; the solver, the recordings and the evidence are shared by all of a kind.

    `allow_exec` lets functions of users' files be called in CI; `how` is what a user says for that. `given` are the
    seed, strictness and target of kernels.
    """

    def __init__(
        self, allow_exec: bool = False, how: str = "allow_exec=True", given: Mapping[str, Any] | None = None
    ) -> None:
        self.allow_exec, self.how, self.given = allow_exec, how, given or {}
        self._verifiers: dict[Kind[Any], Callable[[Any], Case]] = {}

    def read_entries(self, path: Path) -> tuple[list[GateEntry], str]:
        """Return the entries of a file in their order, and the error of the file; one of the two is empty."""
        try:
            return self._entries(path), ""
        except (AtomFileError, UsageError) as error:
            return [], str(error)

    def _entries(self, path: Path) -> list[GateEntry]:
        document = read_document(path)
        whole = next((kind for kind in kinds.all() if kind.report and kind.document(document.tables)), None)
        if whole is not None:
            return [GateEntry(path.stem, lambda: self._report(whole, path), 1)]
        kind = kinds.of_tables(document.tables, path)
        if kind.read is None or kind.verifier is None:
            raise AtomFileError(str(path), "", purpose(path))
        loaded = kind.read(path)
        entries = [self.entry(kind, subject, document.line(kind.table(subject))) for subject in loaded.items]
        if loaded.errors and not entries:
            raise combine_errors(loaded.errors)
        return [*entries, *map(_as_failing_entry, loaded.errors)]

    def select(self, names: Sequence[str], file: Path | str | None, sort: str) -> tuple[list[GateEntry], str]:
        """Return the subjects of a kind that names select, from a file or those shipped, or the error; one is empty."""
        kind = kinds.of(sort)
        if kind.read is None or kind.shipped is None:
            raise TypeError(f"{kind.plural} are not selected by name")
        if file is None and not names:
            return [], f"which {sort}? Give a name, or file="
        pool: Mapping[str, Any] = kind.shipped()
        errors: tuple[AtomFileError, ...] = ()
        try:
            if file is not None:
                loaded = kind.read(Path(file))
                pool, errors = {subject.name: subject for subject in loaded.items}, loaded.errors
            entries = [self.entry(kind, pool[name]) for name in kind.choose(names, pool)]
        except (AtomFileError, SpecError) as error:
            return [], "\n".join(map(str, (error, *errors)))
        return [*entries, *map(_as_failing_entry, () if names else errors)], ""

    def verify(
        self, entries: Sequence[GateEntry], require: Sequence[str] = (), allow_unchecked: bool = False
    ) -> GateResult:
        """Return the report on some entries; the check `gpu` reads the shipped recordings."""
        outcomes = [attempt(entry, lambda chosen: chosen.cases()) for entry in entries]
        cases = tuple(case for several in outcomes if not isinstance(several, Failure) for case in several)
        failures = [failure.message for failure in outcomes if isinstance(failure, Failure)]
        report = Report(cases, frozenset(map(Check, require)), allow_unchecked=True)
        if failures:
            return GateResult(report, "\n".join([*failures, as_text.render(report).rstrip() if cases else ""]).rstrip())
        if report.exit() is not Exit.OK:
            return GateResult(report, as_text.render(report).rstrip())
        unchecked = [f"UNCHECKED {case.name}: {case.gap}" for case in report.unchecked_cases if not case.expects.excuse]
        return GateResult(report, unchecked="" if allow_unchecked else "; ".join(unchecked))

    def entry(self, kind: Kind[Any], subject: Named, line: int = 1) -> GateEntry:
        """Return a subject of a kind as an entry."""
        return GateEntry(subject.name, lambda: [self._case(kind, subject)], line)

    def _report(self, kind: Kind[Any], path: Path) -> Sequence[Case]:
        """Return the cases of a file that is one subject, as a kernel's claim is."""
        if kind.report is None:
            raise TypeError(f"{kind.plural} have no report")
        return kind.report([str(path)], allow_exec=self.allow_exec, allowed_by=self.how, **self.given).cases

    def _case(self, kind: Kind[Any], subject: Named) -> Case:
        if kind.runs_code is not None and kind.runs_code(subject):
            check_execution(self.allow_exec, self.how)
        if kind.verifier is None:
            raise TypeError(f"{kind.plural} are not verified")
        if kind not in self._verifiers:
            self._verifiers[kind] = kind.verifier(Resources())
        return self._verifiers[kind](subject)

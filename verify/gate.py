# SPDX-License-Identifier: Apache-2.0
"""What a test suite asks of Lanecheck: the entries of a TOML file, whichever command it is for, and their reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import proofs
from layouts.atoms import AtomFileError, registry
from layouts.atoms.document import read
from layouts.atoms.errors import raised
from layouts.atoms.tables import Found as Readable
from verify.atom import selection
from verify.binding.completion import atoms
from verify.cli.batch import attempt
from verify.core.errors import Exit, UsageError
from verify.core.files import meant_for
from verify.core.verdict import Check
from verify.movement import bind as movements
from verify.report import Case, Failure, Report, as_text
from verify.tiling import spec as tiling_stated

if TYPE_CHECKING:
    from layouts.atoms import AnyAtom
    from verify.atom.checker import AtomChecker
    from verify.movement.bind import Movement
    from verify.tiling.proof import Prover
    from verify.tiling.spec import TilingSpec

__all__ = ["Entry", "Found", "Suite"]


@dataclass(frozen=True, slots=True)
class Entry:
    """An atom, a tiling or a movement, what verifies it, and the line of its file where that matters."""

    name: str
    case: Callable[[], Case]
    line: int


@dataclass(frozen=True, slots=True)
class Found:
    """A report; why it fails a test, or else why it skips one. Both are empty where everything is verified."""

    report: Report
    failure: str = ""
    unchecked: str = ""


def _malformed(error: AtomFileError) -> Entry:
    """What is wrong with an entry, as one that fails beside those that can be read."""

    def told() -> Case:
        raise error

    return Entry(error.key or "syntax", told, error.place[0] if error.place else 1)


class Suite:
    """Verifies entries one by one. Solver, recordings and evidence are loaded with the first, then shared."""

    def read(self, path: Path) -> tuple[list[Entry], str]:
        """The entries of a file in its order, and what is wrong with the file; one of the two is empty."""
        try:
            return self._entries(path), ""
        except (AtomFileError, UsageError) as error:
            return [], str(error)

    def _entries(self, path: Path) -> list[Entry]:
        document = read(path)
        sort, line = meant_for(document.tables), document.line
        found: Readable[Movement] | Readable[TilingSpec] | Readable[AnyAtom]
        if sort == "movement":
            found = movements.read(path)
            entries = [self.of_movement(one, line(one.name)) for one in found.items]
        elif sort == "tiling":
            found = tiling_stated.read(path)
            entries = [self.of_tiling(one, line(one.name)) for one in found.items]
        else:
            found = atoms(path)
            roots = [(atom, atom.family.name if atom.family else atom.name) for atom in found.items]
            entries = [self.of_atom(atom, line(root)) for atom, root in roots]
        if found.errors and not entries:
            raise raised(found.errors)
        return [*entries, *map(_malformed, found.errors)]

    def select(self, names: Sequence[str], file: Path | str | None) -> tuple[list[Entry], str]:
        """The atoms that names mean, of a file or else of the registry, and what is wrong; one of the two is empty."""
        if file is None and not names:
            return [], "which atom? Give a name, or file="
        pool: Mapping[str, AnyAtom] = registry()
        errors: tuple[AtomFileError, ...] = ()
        try:
            if file is not None:
                found = atoms(Path(file))
                pool, errors = {atom.name: atom for atom in found.items}, found.errors
            entries = [self.of_atom(pool[name]) for name in selection.chosen(names, None, pool)]
        except (AtomFileError, UsageError) as error:
            return [], "\n".join(map(str, (error, *errors)))
        return [*entries, *map(_malformed, () if names else errors)], ""

    def verify(self, entries: Sequence[Entry], require: Sequence[str] = (), allow_unchecked: bool = False) -> Found:
        """The report on some entries, with shipped recordings as the silicon's witness."""
        told = [attempt(entry, lambda one: one.case()) for entry in entries]
        cases = tuple(case for case in told if isinstance(case, Case))
        failures = [failure.message for failure in told if isinstance(failure, Failure)]
        report = Report(cases, frozenset(map(Check, require)), allow_unchecked=True)
        if failures:
            return Found(report, "\n".join([*failures, as_text.render(report).rstrip() if cases else ""]).rstrip())
        if report.exit() is not Exit.OK:
            return Found(report, as_text.render(report).rstrip())
        unread = [f"UNCHECKED {case.name}: {case.gap}" for case in report.unchecked if not case.excuse]
        return Found(report, unchecked="" if allow_unchecked else "; ".join(unread))

    def of_atom(self, atom: AnyAtom, line: int = 1) -> Entry:
        """An atom as an entry."""
        return Entry(atom.name, lambda: self._atoms.case(atom), line)

    def of_tiling(self, stated: TilingSpec, line: int = 1) -> Entry:
        """A tiling as an entry."""
        return Entry(stated.name, partial(self._tiling, stated), line)

    def of_movement(self, stated: Movement, line: int = 1) -> Entry:
        """A movement as an entry."""
        return Entry(stated.name, partial(self._movement, stated), line)

    def _tiling(self, stated: TilingSpec) -> Case:
        from verify.tiling.properties import case

        return case(stated, registry(), self._prover)

    def _movement(self, stated: Movement) -> Case:
        from verify.movement.command import verdicts

        return Case(stated.name, tuple(verdicts(stated, proofs.BUDGET, self._solver)))

    @cached_property
    def _atoms(self) -> AtomChecker:
        from verify.atom.checker import AtomChecker

        return AtomChecker()

    @cached_property
    def _solver(self) -> proofs.Solver:
        from verify.movement.command import COUNTED

        return proofs.Solver(COUNTED)

    @cached_property
    def _prover(self) -> Prover:
        from verify.evidence.recorded import runs
        from verify.tiling.proof import Prover

        return Prover(runs=runs())

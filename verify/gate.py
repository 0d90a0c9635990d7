# SPDX-License-Identifier: Apache-2.0
"""Lanecheck for a test suite: the entries of a TOML file, whichever command it is for, and their reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from layouts.atoms import AtomFileError, registry
from layouts.atoms.document import read
from layouts.atoms.errors import raised
from layouts.atoms.tables import Found as Readable
from verify.atom import selection
from verify.binding.completion import atoms
from verify.cli.arguments import check_execution
from verify.cli.batch import attempt
from verify.core.errors import Exit, SpecError, UsageError
from verify.core.files import meant_for
from verify.core.verdict import Check
from verify.index import bind as indices
from verify.movement import bind as movements
from verify.report import Case, Failure, Report, as_text
from verify.tiling import spec as tiling_specs

if TYPE_CHECKING:
    from layouts.atoms import AnyAtom
    from verify.atom.checker import AtomChecker
    from verify.index.bind import BoundIndex
    from verify.movement.bind import Movement
    from verify.movement.properties import MovementChecker
    from verify.tiling.proof import Prover
    from verify.tiling.spec import TilingSpec

__all__ = ["Entry", "Found", "Suite"]


@dataclass(frozen=True, slots=True)
class Entry:
    """An atom, a tiling, a movement or an index map: its name, the function that verifies it, its line in the file."""

    name: str
    case: Callable[[], Case]
    line: int


@dataclass(frozen=True, slots=True)
class Found:
    """A report, with the reason to fail a test or else to skip it; both are empty if everything is verified."""

    report: Report
    failure: str = ""
    unchecked: str = ""


def _malformed(error: AtomFileError) -> Entry:
    """An error of a file as an entry that fails, beside the entries that can be read."""

    def fail() -> Case:
        raise error

    return Entry(error.key or "syntax", fail, error.place[0] if error.place else 1)


class Suite:
    """Verifies entries one by one; the solver, the recordings and the evidence are shared by all.

    `allow_exec` lets functions of users' files be called in CI; `how` is what a user says for that.
    """

    def __init__(self, allow_exec: bool = False, how: str = "allow_exec=True") -> None:
        self.allow_exec, self.how = allow_exec, how

    def read(self, path: Path) -> tuple[list[Entry], str]:
        """The entries of a file in their order, and the error of the file; one of the two is empty."""
        try:
            return self._entries(path), ""
        except (AtomFileError, UsageError) as error:
            return [], str(error)

    def _entries(self, path: Path) -> list[Entry]:
        document = read(path)
        sort, line = meant_for(document.tables), document.line
        found: Readable[Movement] | Readable[TilingSpec] | Readable[BoundIndex] | Readable[AnyAtom]
        if sort == "movement":
            found = movements.read(path)
            entries = [self.of_movement(one, line(one.name)) for one in found.items]
        elif sort == "tiling":
            found = tiling_specs.read(path)
            entries = [self.of_tiling(one, line(one.name)) for one in found.items]
        elif sort == "index":
            found = indices.read(path)
            entries = [self.of_index(one, line(one.name)) for one in found.items]
        else:
            found = atoms(path)
            roots = [(atom, atom.family.name if atom.family else atom.name) for atom in found.items]
            entries = [self.of_atom(atom, line(root)) for atom, root in roots]
        if found.errors and not entries:
            raise raised(found.errors)
        return [*entries, *map(_malformed, found.errors)]

    def select(self, names: Sequence[str], file: Path | str | None) -> tuple[list[Entry], str]:
        """The atoms that names select, from a file or the registry, and the error; one of the two is empty."""
        if file is None and not names:
            return [], "which atom? Give a name, or file="
        pool: Mapping[str, AnyAtom] = registry()
        errors: tuple[AtomFileError, ...] = ()
        try:
            if file is not None:
                found = atoms(Path(file))
                pool, errors = {atom.name: atom for atom in found.items}, found.errors
            entries = [self.of_atom(pool[name]) for name in selection.chosen(names, None, pool)]
        except (AtomFileError, SpecError) as error:
            return [], "\n".join(map(str, (error, *errors)))
        return [*entries, *map(_malformed, () if names else errors)], ""

    def verify(self, entries: Sequence[Entry], require: Sequence[str] = (), allow_unchecked: bool = False) -> Found:
        """The report on some entries; the check `gpu` reads the shipped recordings."""
        found = [attempt(entry, lambda one: one.case()) for entry in entries]
        cases = tuple(case for case in found if isinstance(case, Case))
        failures = [failure.message for failure in found if isinstance(failure, Failure)]
        report = Report(cases, frozenset(map(Check, require)), allow_unchecked=True)
        if failures:
            return Found(report, "\n".join([*failures, as_text.render(report).rstrip() if cases else ""]).rstrip())
        if report.exit() is not Exit.OK:
            return Found(report, as_text.render(report).rstrip())
        unchecked = [f"UNCHECKED {case.name}: {case.gap}" for case in report.unchecked if not case.excuse]
        return Found(report, unchecked="" if allow_unchecked else "; ".join(unchecked))

    def of_atom(self, atom: AnyAtom, line: int = 1) -> Entry:
        """An atom as an entry."""
        return Entry(atom.name, lambda: self._atoms.case(atom), line)

    def of_tiling(self, spec: TilingSpec, line: int = 1) -> Entry:
        """A tiling as an entry."""
        return Entry(spec.name, partial(self._tiling, spec), line)

    def of_movement(self, movement: Movement, line: int = 1) -> Entry:
        """A movement as an entry."""
        return Entry(movement.name, lambda: self._movements.case(movement), line)

    def of_index(self, index: BoundIndex, line: int = 1) -> Entry:
        """Index arithmetic as an entry."""
        return Entry(index.name, partial(self._index, index), line)

    def _index(self, index: BoundIndex) -> Case:
        from verify.index.properties import case

        if index.spec.runs_code:
            check_execution(self.allow_exec, self.how)
        return case(index)

    def _tiling(self, spec: TilingSpec) -> Case:
        from verify.tiling.properties import case

        return case(spec, registry(), self._prover)

    @cached_property
    def _atoms(self) -> AtomChecker:
        from verify.atom.checker import AtomChecker

        return AtomChecker()

    @cached_property
    def _movements(self) -> MovementChecker:
        from verify.movement.properties import MovementChecker

        return MovementChecker()

    @cached_property
    def _prover(self) -> Prover:
        from verify.evidence.gpu_runs import runs
        from verify.tiling.proof import Prover

        return Prover(runs=runs())

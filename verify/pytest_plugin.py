# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin: atoms as tests of your own repository.

`pytest --lanecheck FILE.toml` collects every atom of the file as a test, and the `verify_atom` fixture judges atoms
inside a test of yours. Nothing heavy is imported when pytest loads this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from layouts.atoms import AnyAtom
    from verify.report import Report


class RefutedError(Exception):
    """An atom does not stand; the text is the report."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--lanecheck FILE` (may be repeated)."""
    group = parser.getgroup("lanecheck", "layouts of GPU matrix code")
    group.addoption(
        "--lanecheck", action="append", default=[], metavar="FILE", help="judge every atom of a TOML file as a test"
    )
    group.addoption(
        "--lanecheck-require",
        action="append",
        default=[],
        choices=("book", "proof", "silicon"),
        help="a witness that must have spoken on every atom; may be repeated",
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the files that `--lanecheck` names."""
    named = {Path(name).resolve() for name in parent.config.getoption("--lanecheck")}
    if file_path.resolve() in named:
        collector: pytest.Collector = AtomFile.from_parent(parent, path=file_path)
        return collector
    return None


def pytest_configure(config: pytest.Config) -> None:
    """Let pytest walk to the files that `--lanecheck` names, also when no other argument leads there."""
    for name in config.getoption("--lanecheck"):
        if not Path(name).is_file():
            raise pytest.UsageError(f"--lanecheck {name}: no such file")
        if name not in config.args:
            config.args.append(name)


class AtomFile(pytest.File):
    """A TOML file of atoms; each is one test."""

    def collect(self) -> Iterator[pytest.Item]:
        """One item per atom of the file, in its order."""
        from layouts.atoms import AtomFileError, load

        try:
            atoms = load(self.path)
        except AtomFileError as error:
            raise self.CollectError(str(error)) from error
        for atom in atoms:
            yield AtomItem.from_parent(self, name=atom.name, atom=atom)


class AtomItem(pytest.Item):
    """The judgement of one atom as a test."""

    def __init__(self, *, atom: AnyAtom, **kwargs: object) -> None:
        super().__init__(**kwargs)  # type: ignore[arg-type]
        self.atom = atom

    def runtest(self) -> None:
        """Fail with the report unless every claim that a witness could speak on stands."""
        insist(judge([self.atom], self.config.getoption("--lanecheck-require")))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The report alone, or what is wrong with the file, without a traceback; a fault of ours with its traceback."""
        from layouts.atoms import AtomFileError

        told = excinfo.errisinstance((RefutedError, AtomFileError))
        return str(excinfo.value) if told else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the atom stands."""
        return self.path, None, self.name


def judge(atoms: list[AnyAtom], require: Sequence[str] = ()) -> Report:
    """The report on some atoms, with shipped recordings as the silicon's witness."""
    from verify.judgement import Court
    from verify.report import Case, Report
    from verify.verdict import Witness

    court = Court()
    cases = (Case(a.name, tuple(court.judge(a)), a.known_defect or "", tuple(a.operands.items())) for a in atoms)
    return Report(tuple(cases), frozenset(map(Witness, require)))


def insist(report: Report) -> Report:
    """The report itself when everything stands, else :class:`RefutedError` with its text."""
    from verify.report import as_text

    if report.exit() != 0:
        raise RefutedError(as_text.render(report))
    return report


@pytest.fixture
def verify_atom(request: pytest.FixtureRequest) -> Callable[..., Report]:
    """`verify_atom("SM80_16x8x16", file="my_atoms.toml")` fails the test unless every selected atom stands.

    A relative path is looked for beside the test first, then in the working folder. `require=("book",)` makes a
    witness mandatory.
    """

    def check(*names: str, file: str | Path | None = None, require: Sequence[str] = ()) -> Report:
        from layouts.atoms import AtomFileError
        from verify import selection
        from verify.cli import UsageError

        beside = request.path.parent / file if file is not None else None
        try:
            where = beside if beside is not None and beside.exists() else file
            pool = selection.pool([] if where is None else [str(where)])
            judged = judge([pool[name] for name in selection.chosen(names, None, pool)], require)
        except (AtomFileError, UsageError) as error:
            pytest.fail(str(error), pytrace=False)
        return insist(judged)

    return check

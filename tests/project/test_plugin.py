# SPDX-License-Identifier: Apache-2.0
"""The plugin in a repository of a user's own: the entries of files as tests, and the fixture."""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from verify.atom.checker import AtomChecker

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
MUSEUM = ROOT / "tests" / "museum"
MINE = (ROOT / "examples" / "my_atoms.toml").read_text(encoding="utf-8")
TILING = '["MY_TILING"]\natom = "SM80_16x8x16_F32F16F16F32_TN"\natoms_layout = "2,2"\n'
MOVEMENT = '["MY_LOAD"]\nfrom = "ldmatrix.sync.aligned.m8n8.x4.shared.b16"\nto = "SM80_16x8x16_F32F16F16F32_TN"\n'
WRONG = MINE.replace('"((4,8),(2,2)):((16,1),(8,64))"', '"((4,8),(2,2)):((8,1),(16,64))"')
PLAIN = "def test_it(): pass\n"


class Keeper:
    """A plugin that restores the modules that pytester removes after a run, except those of some folder.

    A module that is loaded twice has its classes and constants twice, and other tests use the first ones.
    """

    def __init__(self) -> None:
        self.folder = Path()
        self.loaded: dict[str, ModuleType] = {}

    def pytest_unconfigure(self) -> None:
        """Note what a run has loaded."""
        inside = f"{self.folder}{os.sep}"
        for name, module in sys.modules.items():
            if not (getattr(module, "__file__", None) or "").startswith(inside):
                self.loaded[name] = module

    def put_back(self) -> None:
        """Restore the modules that were removed."""
        for name, module in self.loaded.items():
            sys.modules.setdefault(name, module)


class Guest:
    """A repository with some files, in which pytest runs in this process."""

    def __init__(self, pytester: pytest.Pytester, keeper: Keeper) -> None:
        self.pytester, self.keeper = pytester, keeper
        keeper.folder = pytester.path

    def write(self, **files: str) -> None:
        for name, text in files.items():
            path = self.pytester.path / name.replace("__", "/").replace("_toml", ".toml").replace("_py", ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def run(self, *arguments: str) -> pytest.RunResult:
        options = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest")
        done = self.pytester.runpytest_inprocess(*options, *arguments, plugins=[self.keeper])
        self.keeper.put_back()
        return done

    def collected(self, *arguments: str) -> list[str]:
        """The tests of a run, by name."""
        done = self.run("--collect-only", "-q", *arguments)
        return sorted(line for line in done.outlines if "::" in line)


@pytest.fixture
def keeper() -> Iterator[Keeper]:
    kept = Keeper()
    yield kept
    kept.put_back()


@pytest.fixture
def guest(keeper: Keeper, pytester: pytest.Pytester) -> Guest:
    """A guest; its first fixture ends last, after pytester has removed modules."""
    return Guest(pytester, keeper)


def text_of(done: pytest.RunResult) -> str:
    return "\n".join([*done.outlines, *done.errlines])


def test_what_a_run_imports_stays_but_for_the_guest_s_own(guest: Guest) -> None:
    sys.modules.pop("colorsys", None)
    guest.write(test_it_py="import colorsys\ndef test_it(): pass\n")
    guest.run().assert_outcomes(passed=1)
    assert "colorsys" in sys.modules and "test_it" not in sys.modules


@pytest.mark.slow
def test_each_atom_of_a_file_is_a_test(guest: Guest) -> None:
    done = guest.run("--lanecheck", str(MUSEUM / "wrong.toml"))
    done.assert_outcomes(failed=8)
    assert "T0 V4 and T1 V0 both hold (n=0, k=4)" in text_of(done) and "Traceback" not in text_of(done)
    guest.run("--lanecheck", str(MUSEUM / "right.toml")).assert_outcomes(passed=8)


@pytest.mark.long
def test_tilings_and_movements_are_recognised_by_their_keys(guest: Guest) -> None:
    guest.write(atoms_toml=MINE, tilings_toml=TILING, movements_toml=MOVEMENT)
    done = guest.run("--lanecheck", ".", "-v")
    done.assert_outcomes(passed=3)
    for line in ("atoms.toml::MY_16x8x16*", "movements.toml::MY_LOAD*", "tilings.toml::MY_TILING*"):
        done.stdout.fnmatch_lines([line])
    guest.write(tilings_toml=TILING + 'A = "(32,8):(1,32)"\n')
    done = guest.run("--lanecheck", "tilings.toml")
    done.assert_outcomes(failed=1)


INI = "[pytest]\nlanecheck = {}\n"
PLACED = ["atoms/a.toml::MY_16x8x16_F32F16F16F32", "test_it.py::test_it"]


@pytest.mark.long
@pytest.mark.parametrize("named", ["atoms/a.toml", "atoms", "atoms/*.toml", "**/a.toml"])
def test_the_ini_option_names_files_folders_and_globs_of_the_rootdir(guest: Guest, named: str) -> None:
    guest.write(atoms__a_toml=MINE, test_it_py=PLAIN, sub__test_sub_py=PLAIN)
    (guest.pytester.path / "pytest.ini").write_text(INI.format(named), encoding="utf-8")
    assert guest.collected() == sorted([*PLACED, "sub/test_sub.py::test_it"])
    assert guest.collected("atoms") == PLACED[:1]
    assert guest.collected("atoms/a.toml::MY_16x8x16_F32F16F16F32") == PLACED[:1]
    guest.pytester.path.joinpath("sub").mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(guest.pytester.path / "sub")
        assert "1 passed" in text_of(guest.run("test_sub.py"))


def test_selecting_one_test_collects_no_atom(guest: Guest, monkeypatch: pytest.MonkeyPatch) -> None:
    guest.write(atoms__a_toml=MINE, test_it_py=PLAIN, beside_toml=MINE)
    (guest.pytester.path / "pytest.ini").write_text(
        "[pytest]\nlanecheck = beside.toml\naddopts = --lanecheck=atoms/a.toml\n", encoding="utf-8"
    )
    beside = "beside.toml::MY_16x8x16_F32F16F16F32"
    assert guest.collected() == guest.collected(".") == [PLACED[0], beside, PLACED[1]]
    assert guest.collected("test_it.py::test_it") == guest.collected("test_it.py") == PLACED[1:]
    assert guest.collected("test_it.py::test_it", "--lanecheck", "atoms/a.toml") == PLACED
    monkeypatch.setattr(AtomChecker, "verify", lambda *_: pytest.exit("an atom was verified"))
    guest.run("-k", "test_it").assert_outcomes(passed=1, deselected=2)


def test_files_in_folders_that_pytest_does_not_walk_are_verified_too(guest: Guest) -> None:
    guest.write(build__a_toml=MINE, test_it_py=PLAIN)
    guest.run("--lanecheck", "build/a.toml").assert_outcomes(passed=2)
    guest.run("--lanecheck", "build/a.toml", "--lanecheck", "build", ".").assert_outcomes(passed=2)


@pytest.mark.long
@pytest.mark.parametrize(
    "option",
    ["--ignore=atoms", "--ignore=atoms/a.toml", "--ignore-glob=*.toml", "--ignore-glob=at*", "--deselect=atoms/a.toml"],
)
@pytest.mark.parametrize("named", ["atoms/a.toml", "atoms", "**/a.toml"])
def test_options_that_leave_files_out_apply_to_those_of_the_ini_option(guest: Guest, named: str, option: str) -> None:
    guest.write(atoms__a_toml=MINE, test_it_py=PLAIN)
    (guest.pytester.path / "pytest.ini").write_text(INI.format(named), encoding="utf-8")
    assert guest.collected() == PLACED
    assert guest.collected(option) == guest.collected(option, ".") == PLACED[1:]
    assert guest.collected(option, "--lanecheck", "atoms") == PLACED[1:]


def test_what_a_conftest_ignores_is_not_collected(guest: Guest) -> None:
    guest.write(
        atoms__a_toml=MINE, atoms__b_toml=MINE, test_it_py=PLAIN, conftest_py='collect_ignore = ["atoms/a.toml"]'
    )
    (guest.pytester.path / "pytest.ini").write_text(INI.format("atoms"), encoding="utf-8")
    assert guest.collected() == [PLACED[0].replace("a.toml", "b.toml"), PLACED[1]]


def test_a_file_that_is_an_argument_is_collected_though_its_folder_is_ignored(guest: Guest) -> None:
    """As pytest does with a module that is an argument."""
    guest.write(atoms__a_toml=MINE, test_it_py=PLAIN)
    assert guest.collected("--ignore=atoms", "--lanecheck", "atoms/a.toml") == PLACED
    (guest.pytester.path / "pytest.ini").write_text(INI.format("atoms"), encoding="utf-8")
    assert guest.collected("--ignore=atoms", "--lanecheck", "atoms/a.toml") == PLACED


@pytest.mark.long
def test_what_is_no_file_of_entries_is_reported_in_one_line(guest: Guest) -> None:
    done = guest.run("--lanecheck", "nowhere.toml")
    assert done.ret == 4 and "--lanecheck nowhere.toml: no such file in" in text_of(done)
    (guest.pytester.path / "empty").mkdir()
    assert "--lanecheck empty: no TOML file is in this folder" in text_of(guest.run("--lanecheck", "empty"))
    guest.write(bad_toml="not toml")
    done = guest.run("--lanecheck", "bad.toml")
    assert done.ret == 2 and "bad.toml" in text_of(done) and "Traceback" not in text_of(done)
    guest.write(none_toml="# to be written\n", test_it_py=PLAIN)
    done = guest.run("--lanecheck", "none.toml")
    assert done.ret == 2 and "none.toml: there is no table in it" in text_of(done)
    (guest.pytester.path / "pytest.ini").write_text(INI.format("gone.toml"), encoding="utf-8")
    done = guest.run()
    assert done.ret == 4 and "ini option lanecheck: gone.toml: no such file in" in text_of(done)


def test_an_operand_that_the_instruction_has_not_fails_no_other_entry(guest: Guest) -> None:
    """It is an error of its entry, with its line: the others of the file are verified, by a fixture too."""
    wrong, right = MINE + 'E = "(32,8):(1,32)"\n', MINE.replace("MY_", "THEIRS_")
    name = re.findall(r'^\["(.*)"\]', right, re.M)[0]
    guest.write(
        mine_toml=wrong + right,
        test_mine_py=f"""
def test_all(verify_atom): verify_atom(file='mine.toml')
def test_one(verify_atom): verify_atom({name!r}, file='mine.toml')
def test_wrong(verify_atom): verify_atom({name.replace("THEIRS_", "MY_")!r}, file='mine.toml')
""",
    )
    done = guest.run("--lanecheck", "mine.toml")
    done.assert_outcomes(failed=3, passed=2)
    line = wrong.count("\n")
    assert sum(f"mine.toml:{line}:1: " in text and text.endswith("has no operand E") for text in done.outlines) >= 3
    assert "AtomFileError" not in text_of(done)


def test_an_internal_error_fails_one_entry(guest: Guest, monkeypatch: pytest.MonkeyPatch) -> None:
    verify = AtomChecker.verify

    def failing(checker: AtomChecker, atom: object, **options: object) -> object:
        if getattr(atom, "name", "").startswith("MY"):
            raise RuntimeError("planted")
        return verify(checker, atom, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(AtomChecker, "verify", failing)
    guest.write(mine_toml=MINE + "\n" + MINE.replace("MY_", "THEIRS_"))
    done = guest.run("--lanecheck", "mine.toml")
    done.assert_outcomes(failed=1, passed=1)
    assert "internal error, MY_16x8x16_F32F16F16F32 was not verified: RuntimeError: planted" in text_of(done)
    assert "gate.py" not in text_of(done)


def test_the_fixture_finds_the_file_beside_the_test(guest: Guest) -> None:
    guest.write(
        inner__atoms_toml=(MUSEUM / "wrong.toml").read_text(encoding="utf-8"),
        inner__test_ours_py="def test_shipped(verify_atom):\n    verify_atom('SM75_16x8x8')\n"
        "def test_ours(verify_atom):\n    verify_atom('24: SM75*', file='atoms.toml')\n"
        "def test_unknown(verify_atom):\n    verify_atom('SM99')\n",
    )
    done = guest.run()
    done.assert_outcomes(passed=1, failed=2)
    assert "equals PTX ISA 9.7.14.5.7" in text_of(done) and "no atom is named 'SM99'" in text_of(done)


@pytest.mark.long
@pytest.mark.parametrize(("columns", "file"), [("80", "wrong.toml"), ("70", "tiling.toml")])
def test_a_report_fits_the_terminal(guest: Guest, monkeypatch: pytest.MonkeyPatch, columns: str, file: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    guest.write(wrong_toml=WRONG, tiling_toml=TILING + 'A = "(32,8):(1,32)"\n')
    done = guest.run("--lanecheck", file, "-rN")
    done.assert_outcomes(failed=1)
    shown = done.outlines[next(i for i, line in enumerate(done.outlines) if line.startswith("____")) :]
    long = [line for line in shown if len(line) > int(columns) and str(guest.pytester.path) not in line]
    assert long == [] and any("REFUTED" in line for line in shown)


def test_a_failure_of_the_fixture_is_the_report_alone(guest: Guest) -> None:
    guest.write(wrong_toml=WRONG, test_it_py="def test_it(verify_atom):\n    verify_atom(file='wrong.toml')\n")
    done = guest.run("-ra", "-vv", "--showlocals")
    done.assert_outcomes(failed=1)
    start = done.outlines.index(next(line for line in done.outlines if line.startswith("____")))
    shown = done.outlines[start + 1 :]
    end = next(i for i, line in enumerate(shown) if line.startswith("===="))
    assert shown[0].startswith("MY_16x8x16_F32F16F16F32  B  REFUTED") and shown[end - 1].endswith("exit 1")
    for alien in ("lanecheck.pytest_plugin", "gate.py", "def ", "Failed:", "Report("):
        assert alien not in "\n".join(shown), alien
    assert sum(line.startswith("1 subject: 1 refuted") for line in shown) == 1
    assert shown[end + 1].startswith("FAILED test_it.py::test_it - MY_16x8x16_F32F16F16F32  B  REFUTED")
    assert shown[end + 2].startswith("====")


@pytest.mark.long
@pytest.mark.parametrize("words", ["'isa'", "('isa', 'proof')", "['gpu']"])
def test_the_fixture_takes_one_check_or_several(guest: Guest, words: str) -> None:
    guest.write(mine_toml=MINE, test_it_py=f"def test_it(verify_atom): verify_atom(file='mine.toml', require={words})")
    guest.run().assert_outcomes(passed=1)


@pytest.mark.parametrize("words", ["'isb'", "('isa', 'isb')"])
def test_a_word_that_is_no_check_is_one_line(guest: Guest, words: str) -> None:
    guest.write(mine_toml=MINE, test_it_py=f"def test_it(verify_atom): verify_atom(file='mine.toml', require={words})")
    done = guest.run("-rN")
    done.assert_outcomes(failed=1)
    shown = [line for line in done.outlines if "verify_atom" in line or "check has" in line]
    assert shown == ["require='isb': no check has that name; one of isa, proof, gpu"]


UNNAMED = "\n".join(line for line in MINE.splitlines() if not line.startswith("ptx"))


@pytest.mark.long
def test_what_nothing_could_be_compared_with_is_skipped_with_the_reason(guest: Guest) -> None:
    guest.write(mine_toml=f"# a comment\n\n{UNNAMED}")
    done = guest.run("--lanecheck", "mine.toml", "-rs")
    done.assert_outcomes(skipped=1)
    header = UNNAMED.splitlines().index('["MY_16x8x16_F32F16F16F32"]') + 3
    done.stdout.fnmatch_lines([f"SKIPPED * mine.toml:{header}: UNCHECKED MY_16x8x16_F32F16F16F32: *"])
    guest.run("--lanecheck", "mine.toml", "--lanecheck-allow-unchecked").assert_outcomes(passed=1)
    guest.run("--lanecheck", "mine.toml", "--lanecheck-require", "isa").assert_outcomes(failed=1)


@pytest.mark.parametrize("line", ["ptx = []", 'expect = "UNCHECKED"'])
def test_what_is_unchecked_on_purpose_passes(guest: Guest, line: str) -> None:
    guest.write(mine_toml=UNNAMED.replace("shape ", f"{line}\nshape "))
    guest.run("--lanecheck", "mine.toml").assert_outcomes(passed=1)


def test_the_fixture_skips_and_passes_what_is_unchecked_likewise(guest: Guest) -> None:
    calls = ("", ", allow_unchecked=True", ", require='isa'")
    tests = (f"def test_{i}(verify_atom): verify_atom(file='mine.toml'{call})\n" for i, call in enumerate(calls))
    guest.write(mine_toml=UNNAMED, test_it_py="".join(tests))
    done = guest.run("-rs")
    done.assert_outcomes(skipped=1, passed=1, failed=1)
    done.stdout.fnmatch_lines(["SKIPPED * test_it.py:1: UNCHECKED MY_16x8x16_F32F16F16F32: *"])


def test_a_fixture_that_names_nothing_verifies_nothing(guest: Guest) -> None:
    guest.write(test_it_py="def test_it(verify_atom): verify_atom()")
    done = guest.run()
    done.assert_outcomes(failed=1)
    assert "which atom? Give a name, or file=" in text_of(done)


@pytest.mark.long
def test_the_page_shows_how_a_repository_is_gated(guest: Guest) -> None:
    page = (ROOT / "docs" / "pytest.md").read_text(encoding="utf-8")
    settings, test = (page.split(f"```{language}\n")[1].split("```")[0] for language in ("toml", "python"))
    guest.write(pyproject_toml=settings, layouts_of_ours__mma_toml=MINE, mma_toml=MINE, tests__test_ours_py=test)
    names = ["layouts_of_ours/mma.toml::MY_16x8x16_F32F16F16F32", "tests/test_ours.py::test_our_atoms"]
    assert guest.collected() == names
    guest.run().assert_outcomes(passed=2)
    assert guest.collected(names[0]) == names[:1] and names[0] in page
    options = ["--lanecheck", "--lanecheck-require", "--lanecheck-allow-unchecked"]
    assert [o for o in guest.run("--help").outlines if o.strip().startswith("--lanecheck")] and all(
        o in page for o in options
    )


def test_the_projects_list_is_read_where_no_ini_option_is(guest: Guest) -> None:
    guest.write(maps__mine_toml=MINE, tests__test_it_py=PLAIN)
    guest.write(pyproject_toml='[tool.lanecheck]\nfiles = ["maps"]\n')
    assert any("mine.toml" in node for node in guest.collected())
    guest.write(
        pyproject_toml='[tool.lanecheck]\nfiles = ["maps"]\n[tool.pytest.ini_options]\nlanecheck = "none.toml"\n'
    )
    (guest.pytester.path / "none.toml").write_text("", encoding="utf-8")
    assert not any("mine.toml" in node for node in guest.collected())
    guest.write(  # the ini option goes before the list alone: what the project requires stays
        pyproject_toml='[tool.lanecheck]\nrequire = ["gpu"]\n[tool.pytest.ini_options]\nlanecheck = "unrun.toml"\n',
        unrun_toml=(ROOT / "examples" / "movement.toml").read_text(encoding="utf-8"),
    )
    guest.run().assert_outcomes(passed=3, failed=6)
    guest.write(pyproject_toml='[tool.lanecheck]\nfile = ["maps"]\n')
    done = guest.run()
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["*pyproject.toml:2:1: tool.lanecheck.file: there is no such key; *"])

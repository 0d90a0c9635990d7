# SPDX-License-Identifier: Apache-2.0
"""A kind that is registered for a test works in every verb, format, schema and table of the docs: none lists kinds."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest

from tests.messages import NO_KIND
from tests.project import schemas, tables
from tests.verify.toy import TOY, Rotation
from verify import api, kinds, verify_kind
from verify.__main__ import COMMANDS
from verify.check import command as check
from verify.cli.arguments import FORMATS
from verify.core.errors import SpecError, UsageError
from verify.core.verdict import Check
from verify.gate import Suite
from verify.kind import LIKELY, Kind, Recognition
from verify.lock import command as lock
from verify.movement import command as movement
from verify.show import command as show

RIGHT = '["mine"]\nplaces = 4\norder = [1, 2, 3, 0]\n'
WRONG = '["yours"]\nplaces = 4\norder = [1, 2, 0, 3]\n'


@pytest.fixture(autouse=True)
def toy() -> Iterator[None]:
    with kinds.register(TOY):
        yield
    assert TOY not in kinds.all()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rotations.toml"
    path.write_text(f"{RIGHT}\n{WRONG}")
    return path


def test_the_pytest_suite_verifies_it(file: Path) -> None:
    suite = Suite()
    entries, problem = suite.read_entries(file)
    assert ([(entry.name, entry.line) for entry in entries], problem) == ([("mine", 1), ("yours", 5)], "")
    first, second = (suite.verify([entry]) for entry in entries)
    assert (first.failure, first.unchecked) == ("", "")
    assert "place 2 goes to 0" in second.failure
    file.write_text(RIGHT + "ordre = [0]\n")
    entries, problem = suite.read_entries(file)
    assert not entries and "rotations.toml:4:1: mine.ordre: unknown key; did you mean 'order'?" in problem


def test_the_api_verifies_it_by_file_by_name_and_as_a_value(file: Path) -> None:
    assert not verify_kind("rotation", file)
    assert verify_kind("rotation", "mine", file).check()
    assert verify_kind("rotation", Rotation("value", 2, (1, 0))).check()
    assert verify_kind("rotation", kinds.bind("rotation", {"places": 2, "order": (0, 1)})).check()
    with pytest.raises(SpecError, match="no rotation is named 'mein'; nearest: mine"):
        verify_kind("rotation", "mein", file)
    with pytest.raises(UsageError, match=f"{NO_KIND} 'rotations'"):
        verify_kind("rotations", file)


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_reports_it(form: str, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main([str(file), "--format", form]) == 1
    out = capsys.readouterr().out
    assert "yours" in out and "place 2 goes to 0" in out
    if form == "json":
        assert [subject["status"] for subject in json.loads(out)["subjects"]] == ["VERIFIED", "REFUTED"]


@pytest.mark.parametrize("form", show.TEXTS)
def test_show_draws_it_from_a_file_and_from_its_spelling(
    form: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert show.main([str(file), "--only", "mine", "--format", form]) == 0
    drawn = capsys.readouterr().out
    assert show.main([str(file), "--only", "mine", "--thread", "0", "--format", form]) == 0
    assert drawn != capsys.readouterr().out
    assert show.main(["rotate 1 2 3 0", "--format", form]) == 0
    assert show.main([str(file), "--format", form]) == 1


def test_show_draws_it_from_a_report(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = str(file.with_suffix(".json"))
    assert check.main([str(file), "--format", "json", "-o", report]) == 1
    assert show.main([report, "--only", "mine"]) == 1  # the report's code
    out = capsys.readouterr().out
    assert "mine" in out and "place" in out and "is not drawn" not in out


def test_show_rejects_what_it_does_not_read(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert show.main([str(file), "--onto", "4x4"]) == 2
    assert "--onto is not read for a FILE of rotations, only for a layout" in capsys.readouterr().err
    assert show.main(["rotate 1 0", "--thread", "0"]) == 2
    line = "--thread is not read for a rotation, only for a FILE of tilings or a FILE of rotations"
    assert line in capsys.readouterr().err


def test_lock_keeps_it_and_names_what_changed(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(RIGHT)
    locked = str(file.with_suffix(".lock"))
    assert lock.main([str(file), "--lock", locked]) == 0
    assert lock.main(["--check", "--lock", locked]) == 0
    file.write_text(RIGHT.replace("1, 2, 3, 0", "2, 3, 0, 1"))
    capsys.readouterr()
    assert lock.main(["--check", "--lock", locked]) == 1
    assert f"{file.name}:1:2" not in capsys.readouterr().err
    assert lock.main(["--check", "--lock", locked, "--format", "sarif"]) == 1
    assert '"startLine": 1' in capsys.readouterr().out
    assert lock.main(["examples/movement.toml", "--lock", locked]) == 2
    err = capsys.readouterr().err
    assert "rotations can be locked; this is a file of movements" in err and "atoms, tilings, " in err


def test_another_command_says_whose_file_it_is(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert movement.main([str(file)]) == 2
    assert "this is a file of rotations: lanecheck check" in capsys.readouterr().err


def test_it_has_a_schema_and_a_table_of_the_docs() -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is in the test group")
    fits = jsonschema.Draft202012Validator(json.loads(schemas.text("rotations")))
    assert fits.is_valid({"mine": {"places": 4, "order": [1, 0]}})
    assert not fits.is_valid({"mine": {"places": 4}}) and not fits.is_valid({"mine": {"places": 1, "order": [0]}})
    (table,) = TOY.tables()
    row = "| `rotates` | rotation | each place goes as far as the first | every place | | |\n"
    assert tables.text(table).endswith(row)


def test_two_kinds_that_recognize_a_text_equally_are_a_usage_error() -> None:
    turn: Kind[Rotation] = Kind(
        name="turn",
        singular="a turn",
        plural="turns",
        command="none",
        spelled=lambda _: Recognition(LIKELY, "it turns"),
    )
    assert kinds.find_surest("rotate 1 0", kinds.all()) is TOY
    with kinds.register(turn), pytest.raises(UsageError, match=r"a rotation \(it begins with rotate\) or a turn"):
        kinds.find_surest("rotate 1 0", kinds.all())
    assert kinds.find_surest("\0", kinds.all()) is None


def test_every_kind_has_a_command_and_words_of_its_own() -> None:
    ours = [kind for kind in kinds.all() if kind is not TOY]
    assert {kind.command for kind in ours} - {""} <= {module for module, _ in COMMANDS.values()}
    for words in ("name", "singular", "plural"):
        assert len({getattr(kind, words) for kind in ours}) == len(ours)


def test_verbs_name_few_kinds_and_each_for_a_reason() -> None:
    """A literal name of a kind in a verb is a kind wired by hand."""
    home, names = Path(kinds.__file__).parent, {kind.name for kind in kinds.KINDS}
    verbs = ("check", "gate.py", "init.py", "listing.py", "lock", "show", "api.py")
    paths = [path for verb in verbs for path in ([home / verb] if ".py" in verb else (home / verb).rglob("*.py"))]
    literals = {
        (path.name, node.value)
        for path in paths
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        for node in call.args
        if isinstance(node, ast.Constant) and node.value in names
    }
    # What is spelled as nothing else may be an atom's name, and --atoms gives the atoms that tilings name.
    assert literals - {(path, name) for path, name in literals if path == "api.py"} == {("subjects.py", "atom")}
    # `verify_atom` and its kin, which docs/stability.md promises; `verify_kind` takes every kind, TOY too.
    kept = {"verify_kind", "verify_map", "verify_identify"}
    of_kinds = {name.removeprefix("verify_") for name in api.__all__ if name.startswith("verify_")} - {
        name.removeprefix("verify_") for name in kept
    }
    assert {name for path, name in literals if path == "api.py"} <= of_kinds <= names


def test_only_atoms_are_shipped_and_named_by_others() -> None:
    """So the option for a user's own is --atoms, and `show` reads it for the kinds whose row says `names_atoms`."""
    assert [kind.name for kind in kinds.KINDS if kind.shipped is not None] == ["atom"]
    naming = {kind.name for kind in kinds.KINDS if kind.names_atoms}
    assert naming == {kind.name for kind in kinds.KINDS for spec in kind.specs() if "atom" in spec.__dataclass_fields__}


@pytest.mark.long
def test_a_run_alone_joins_evidence_and_makes_verdicts() -> None:
    """So that `needs`, `gaps` and a claim's place are those of every kind."""
    home = Path(kinds.__file__).parent
    calls: dict[str, set[str]] = {"join": set(), "Verdict": set()}
    for path in home.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in calls:
                calls[node.func.id].add(path.relative_to(home).as_posix())
    assert calls["join"] == {"evidence/run.py"}
    # A key that an entry leaves to its instruction, which nothing checks; and verdicts that were made before.
    read_again = {"show/reports.py"}
    assert calls["Verdict"] - {"core/verdict.py", "evidence/run.py"} == {"atom/checker.py"} | read_again


def test_no_key_is_a_sign_of_two_kinds() -> None:
    signed = [(kind, kind.signs) for kind in kinds.all() if kind.signs]
    for (left, first), (right, second) in combinations(signed, 2):
        assert not first.keys & second.keys, (left.name, right.name)


def test_a_file_of_two_kinds_names_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "both.toml"
    path.write_text(RIGHT + '["other"]\nfrom = "a"\nto = "b"\n')
    assert check.main([str(path)]) == 2
    line = f"{path}: its tables are of several kinds, movements and rotations: a file has those of one"
    assert line in capsys.readouterr().err
    assert Suite().read_entries(path) == ([], line)


WITH_PROPERTIES = [kind for kind in (*kinds.KINDS, TOY) if kind.tables()]


def arguments(kind: Kind[Any], folder: Path) -> list[str]:
    """Arguments of `check` that verify a subject of the kind."""
    if kind is not TOY:
        return list(kind.example)
    (folder / "rotations.toml").write_text(RIGHT)
    return [str(folder / "rotations.toml")]


def evidence_of(words: Sequence[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, list[dict[str, Any]]]:
    """The exit code of a check, and the verdicts of its report that a check was made for."""
    capsys.readouterr()
    code = check.main([*words, "--format", "json", "-v"])
    return code, [
        claim
        for subject in json.loads(capsys.readouterr().out)["subjects"]
        for claim in subject["verdicts"]
        if claim["evidence"]
    ]


@contextmanager
def every_row(**fields: object) -> Iterator[None]:
    """Give all properties of all kinds other fields for a while: some kinds have rows of atoms too."""
    rows = {id(row): row for kind in kinds.all() for table in kind.tables() for row in table.rows}.values()
    before = [{name: getattr(row, name) for name in fields} for row in rows]
    try:
        for row, name in product(rows, fields):
            object.__setattr__(row, name, fields[name])
        yield
    finally:
        for row, kept in zip(rows, before, strict=True):
            for name, value in kept.items():
                object.__setattr__(row, name, value)


def test_every_kind_but_those_without_verdicts_has_properties() -> None:
    assert {kind.name for kind in kinds.KINDS} - {kind.name for kind in WITH_PROPERTIES} == {"campaign", "instruction"}
    assert all(kind.example for kind in kinds.KINDS)


@pytest.mark.long
@pytest.mark.parametrize("kind", WITH_PROPERTIES, ids=lambda kind: kind.name)
def test_needs_and_gaps_hold_for_every_kind(
    kind: Kind[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = arguments(kind, tmp_path)
    with every_row(needs=(lambda *_: "a need of the test",), alike=None):
        code, claims = evidence_of(words, capsys)
    assert code == 4 and {claim["status"] for claim in claims} == {"UNCHECKED"}
    assert all("a need of the test" in str(claim) for claim in claims)
    with every_row(gaps=lambda *_: ("a gap of the test",), alike=None):
        code, claims = evidence_of(words, capsys)
    assert all("a gap of the test" in str(claim) for claim in claims)


@pytest.mark.long
@pytest.mark.parametrize("kind", WITH_PROPERTIES, ids=lambda kind: kind.name)
def test_require_holds_for_every_kind(kind: Kind[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A check that was made of nothing is missing."""
    words = arguments(kind, tmp_path)
    _, claims = evidence_of(words, capsys)
    made = {
        evidence["check"] for claim in claims for evidence in claim["evidence"] if evidence["status"] != "UNCHECKED"
    }
    for required in {*Check} - made if kind.name != "law" else ():  # its option asks for a second solver
        code = check.main([*words, "--require", required])
        out, err = capsys.readouterr()
        assert (code == 4 and "required but missing" in out) or (
            code == 2 and f"{required} is not among the checks" in err
        )
    if Check.ISA in made:
        assert check.main([*words, "--require", "isa"]) == 0

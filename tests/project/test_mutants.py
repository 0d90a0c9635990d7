# SPDX-License-Identifier: Apache-2.0
"""The campaign that changes one token of our packages at a time: what it changes, and whether its list is current."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from benchmarks import mutants as benchmark
from benchmarks.mutants import ROOT, Executed, Fate, Mutant, listed, mutants, sample, unnoticed

TEXT = """\
from functools import lru_cache

@lru_cache(maxsize=7)
def f(a: int | None, *rest: int) -> int | None:
    "Not 1 and not 2."
    return a + 1 if not rest and a < 3 else max(*rest)
"""


def test_a_mutant_exchanges_one_token_that_is_evaluated() -> None:
    exchanged = [(mutant.line, mutant.old, mutant.new) for mutant in mutants("f.py", TEXT)]
    assert exchanged == [
        (4, "*", "+"),
        (6, "+", "-"),
        (6, "1", "2"),
        (6, "not", ""),
        (6, "and", "or"),
        (6, "<", "<="),
        (6, "3", "4"),
        (6, "max", "min"),
        (6, "*", "+"),
    ]


@pytest.mark.long
def test_sampled_mutants_compile_and_a_seed_draws_the_same() -> None:
    few = sample(9, 3, "verify/core/verdict.py")
    text = (ROOT / "verify/core/verdict.py").read_text(encoding="utf-8")
    assert few == sample(9, 3, "verify/core/verdict.py") != sample(9, 4, "verify/core/verdict.py")
    assert len(few) == 9 and all(mutant.compiles(text) for mutant in few)
    assert not all(mutant.compiles(TEXT) for mutant in mutants("f.py", TEXT))


def test_the_text_of_a_mutant_differs_in_its_token_alone() -> None:
    mutant = next(mutant for mutant in mutants("f.py", TEXT) if mutant.old == "<")
    assert mutant.applied(TEXT) == TEXT.replace("a < 3", "a <= 3")
    assert mutant.key == ("f.py", "return a + 1 if not rest and a < 3 else max(*rest)", "<", "<=")


@pytest.mark.long
@pytest.mark.parametrize("file", sorted({file for file, *_ in listed()}))
def test_what_is_listed_is_a_mutant_of_todays_code_and_has_a_reason(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    mine = {key: reason for key, reason in listed().items() if key[0] == file}
    today = {mutant.key for mutant in mutants(file, text) if mutant.key in mine and mutant.compiles(text)}
    assert mine.keys() == today
    assert all(len(reason.split()) > 3 for reason in mine.values())


MOVED = TEXT + "\n\ndef g(a: int) -> int:\n    return a * 1 + 1\n"
BEFORE = "def g(a: int) -> int:\n    return a * 1 + 1\n\n\ndef h(a: int) -> int:\n    return a + 1\n"


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A campaign's log: no test noticed the second number of `a * 1 + 1`, nor a mutant whose line is gone today."""
    monkeypatch.setattr(benchmark, "ROOT", tmp_path)
    monkeypatch.setattr(benchmark, "WORK", tmp_path)
    (tmp_path / "f.py").write_text(MOVED)
    numbers = [mutant for mutant in mutants("f.py", BEFORE) if mutant.old == "1"]
    fates = [Fate(numbers[0], "killed", 1), Fate(numbers[1], "survived", 1), Fate(numbers[2], "unexecuted", 0)]
    fates.append(Fate(replace(numbers[1], file="gone.py"), "survived", 3))
    path = tmp_path / "earlier.jsonl"
    path.write_text("".join(json.dumps(asdict(fate)) + "\n" for fate in fates))
    return path


def test_what_was_not_noticed_is_found_again_where_its_line_is_today_or_gone(log: Path) -> None:
    line = MOVED.splitlines().index("    return a * 1 + 1") + 1
    assert unnoticed(log) == ([Mutant("f.py", line, 19, "1", "2", "return a * 1 + 1")], 2)


def test_a_line_that_occurs_once_is_one_mutant_however_often_it_occurred(log: Path) -> None:
    log.write_text(log.read_text() + log.read_text())
    assert (len(unnoticed(log)[0]), unnoticed(log)[1]) == (1, 5)


@pytest.mark.parametrize(("outcome", "code"), [("killed", 0), ("timed out", 0), ("survived", 1), ("unexecuted", 1)])
def test_a_campaign_tried_again_accounts_for_every_mutant(
    log: Path, outcome: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured: list[list[str]] = []
    monkeypatch.setattr(benchmark, "executed", lambda jobs, tests: measured.append(tests))
    monkeypatch.setattr(benchmark, "digest", lambda: "")
    monkeypatch.setattr(benchmark, "campaign", lambda chosen, *_: (Fate(mutant, outcome, 1) for mutant in chosen))
    assert (
        benchmark.main(["--again", str(log)]) == benchmark.main(["--again", str(log), "--tests", "tests/a.py"]) == code
    )
    assert measured == [[], ["tests/a.py"]]
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == f"{log}: 3 mutants: " + ", ".join(sorted(["2 gone", f"1 {outcome}"], key=lambda part: part[2:]))
    assert any(line.endswith("1 -> 2  in  return a * 1 + 1") for line in lines) == bool(code)


def test_a_constant_of_several_lines_has_the_tests_that_execute_its_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python folds it into one line of the code, so coverage knows no other; a line that never ran has no tests."""
    monkeypatch.setattr(benchmark, "ROOT", tmp_path)
    text = "def f():\n    if g():\n        return (\n            1, 2,\n        )\n    return 7\n"
    (tmp_path / "f.py").write_text(text)
    run = Executed({"f.py": {1: [""], 2: ["t::a", "t::b"], 3: ["t::a"]}}, {})
    folded, never = (next(mutant for mutant in mutants("f.py", text) if mutant.old == old) for old in "27")
    assert (run.tests(folded), run.tests(never)) == (["t::a"], [])

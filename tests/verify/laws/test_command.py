# SPDX-License-Identifier: Apache-2.0
"""`lanecheck laws`: exit codes, a missing solver, the conformance of another implementation to the laws."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

import pytest

from proofs.laws import solve
from proofs.laws.decide import list_shipped
from proofs.symbolic import families, infer
from verify.campaign import command as campaign
from verify.laws import command as laws
from verify.laws import conformance

MODULE = """
class Layout:
    def __init__(self, shape, stride):
        self.shape, self.stride = shape, stride

    def __str__(self):
        return f"{self.shape}:{self.stride}"


def modes(shape, stride):
    if isinstance(shape, tuple):
        return [mode for s, d in zip(shape, stride) for mode in modes(s, d)]
    return [(shape, stride * {factor})]


def coalesce(layout):
    out = [(1, 0)]
    for s, d in modes(layout.shape, layout.stride):
        if s != 1 and (out[-1][0] == 1 or out[-1][0] * out[-1][1] == d):
            out[-1] = (out[-1][0] * s, d if out[-1][0] == 1 else out[-1][1])
        elif s != 1:
            out.append((s, d))
    return Layout(*out[0]) if len(out) == 1 else Layout(*map(tuple, zip(*out)))
"""


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = laws.main(words)
    out = capsys.readouterr()
    return int(code), out.out, out.err


def test_a_name_that_is_not_known_gets_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "NOCARY")
    assert (code, "NOCARRY" in err) == (2, True)


def test_a_missing_second_solver_is_reported(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solve, "has_cvc5", lambda: False)
    code, out, err = run(capsys, "DM", "--jobs", "1", "-v")
    assert (code, "one solver" in out, "one solver" in err) == (0, True, True)
    assert "one solver" in run(capsys, "DM", "--jobs", "1", "-q")[2]
    assert run(capsys, "DM", "--jobs", "1", "--solver", "z3")[2] == ""
    assert run(capsys, "DM", "--jobs", "1", "--require", "recheck")[0] == 4


def test_a_blocked_second_solver_is_no_pass(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The import itself is blocked, so that only a real import of cvc5 notices."""
    monkeypatch.setitem(sys.modules, "cvc5", None)
    code, out, _ = run(capsys, "DM", "--jobs", "1", "-v", "--require", "recheck")
    assert (code, "one solver" in out) == (4, True)
    code, out, err = run(capsys, "DM", "--jobs", "1", "--solver", "cvc5")
    assert (code, out, "cvc5 is not installed" in err) == (2, "", True)


def test_with_both_solvers_the_requirement_is_met(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("cvc5", reason="cvc5 is not installed: one solver")
    assert run(capsys, "DM", "--jobs", "1", "--require", "recheck")[0] == 0


def test_the_second_solver_belongs_to_the_tests() -> None:
    """`make test` installs the group dev, so the re-proofs by cvc5 run there."""
    groups = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["dependency-groups"]
    assert any(str(line).startswith("cvc5") for line in groups["test"])
    assert {"include-group": "test"} in groups["dev"]


def test_list_names_every_proved_law_and_explain_shows_one(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--list")
    assert code == 0
    assert {line.split()[0] for line in out.splitlines()} >= {
        n for n, law in list_shipped().items() if not law.why_open
    }
    code, out, _ = run(capsys, "--explain", "NOCARRY")
    assert code == 0
    assert all(
        part in out for part in ("source", "proof, by", "DIGITS_ADD", "rests on", "false when", "any rank", "example")
    )
    broken = out.partition("false when")[2].splitlines()
    assert all("=" in line.rpartition(": ")[2] for line in broken if line.strip()), broken


def test_a_module_that_prints_does_not_write_into_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = MODULE.replace("{factor}", "1").replace("def coalesce(layout):", "def coalesce(layout):\n    print('hello')")
    (tmp_path / "cutelike_loud.py").write_text("print('hello')\n" + text)
    words = ("--module", "cutelike_loud", "--path", str(tmp_path), "--only", "coalesce", "--rank", "1")
    code, out, err = run(capsys, *words, "--format", "json")
    assert (code, "hello" in err) == (0, True)
    assert json.loads(out)


@pytest.mark.parametrize("slip", ["raise RuntimeError('a bad day')", "raise SystemExit(0)", "def ("])
def test_a_module_that_cannot_be_imported_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], slip: str
) -> None:
    name = f"unimportable_{abs(hash(slip))}"
    (tmp_path / f"{name}.py").write_text(slip)
    code, out, err = run(capsys, "--module", name, "--path", str(tmp_path))
    assert (code, out, err.count("\n")) == (2, "", 1), err


@pytest.mark.slow
def test_the_record_of_rank_3_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--code", "--only", "complement", "--rank", "3", "-v")
    assert code == 0, out
    assert "recorded: 1238 paths" in out


def test_a_module_that_is_not_there_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "--module", "no_such_module")
    assert (code, "no_such_module" in err) == (2, True)


def test_in_ci_another_module_is_run_only_where_that_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    line = "lanecheck: this runs third-party code; in CI, allow that with --allow-exec\n"
    assert run(capsys, "--module", "no_such_module") == (2, "", line)
    assert "ModuleNotFoundError" in run(capsys, "--module", "no_such_module", "--allow-exec")[2]
    assert campaign.main(["examples/campaign.toml", "--only", "small pairs", "--module", "no_such_module"]) == 2
    assert capsys.readouterr().err == line


@pytest.mark.slow
def test_infer_prints_both_cases(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--infer", "composition", "--shape", "(6,2)", "--by", "N:2")
    assert code == 0
    assert "proved" in out
    assert "rejected" in out
    assert run(capsys, "--infer", "composition")[0] == 2


@pytest.mark.slow
def test_infer_reports_its_budget_and_an_unknown_end(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "--infer", "complement", "--shape", "(M,K,L)", "--budget", "1")
    assert code == 4
    assert out.splitlines()[-1].startswith("UNKNOWN")
    assert "at most 1 s" in err
    code, out, err = run(capsys, "--infer", "composition", "--shape", "(4,", "--by", "N:r")
    assert (code, out, err.count("\n")) == (2, "", 1)


@pytest.mark.slow
def test_infer_writes_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, *"--infer composition --shape (6,2) --by N:2 --format json".split())
    document = json.loads(out)
    assert (code, document["exact"], document["schema"]) == (0, True, 2)
    assert {"status": "rejected", "when": ["3 < N", "N % 3 != 0"]}.items() <= document["cases"][-1].items()
    assert document["cases"][-1]["example"].startswith("composition(")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--only foo", "go with --code or --module"),
        ("--fresh", "go with --code or --module"),
        ("DM --open", "it goes without NAME"),
        ("--shape 4", "go with --infer"),
        ("--path .", "name it"),
        ("DM --code", "use --only"),
        ("--code --module pycute", "one of them"),
        ("--code --require recheck", "are about laws"),
        ("--module pycute --solver cvc5", "are about laws"),
        ("--infer composition --shape 4 --by 2:1 --list", "--infer reads no --list"),
        ("--infer composition --shape 4 --by 2:1 --format html", "text or json"),
        ("--infer composition --shape 4 --by 2:1 DM", "--infer reads no NAME"),
        ("--explain DM --explain NOCARY", "nearest: NOCARRY"),
        ("--module os", "no attribute 'Layout'"),
    ],
)
def test_an_option_without_effect_is_rejected_in_a_line(
    capsys: pytest.CaptureFixture[str], words: str, message: str
) -> None:
    code, out, err = run(capsys, *words.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


@pytest.mark.parametrize("seeds", ["0", "-1", "x", "1.5", "²"])
def test_a_number_that_is_none_is_a_usage_error(capsys: pytest.CaptureFixture[str], seeds: str) -> None:
    with pytest.raises(SystemExit) as exit:
        run(capsys, "--seeds", seeds)
    assert exit.value.code == 2
    assert "is not an integer of 1 or more" in capsys.readouterr().err


def test_explain_takes_names_too(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "--explain", "R5", "MONO")
    assert [line.split(":")[0] for line in out.splitlines() if line and line[0] != " "] == ["MONO", "R5"]


@pytest.mark.slow
def test_what_would_be_executed_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, *"--code --list --rank 3 --only logical_divide --only R1".split())
    assert code == 0
    assert "logical_divide, rank 3 by rank 3, by the contract of composition" in out
    assert out.splitlines()[-1].startswith("R1")
    assert "complement" not in out


@pytest.mark.long
def test_a_letter_that_a_run_also_has_is_renamed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """N is the user's letter: the mode of B that a run is about gets another name then, and so does n of N = n q."""
    monkeypatch.setattr(  # what is unknown after a second is unknown after a fifth of it
        conformance,
        "infer_conditions",
        lambda *given: infer.infer_conditions(*given[:3], seconds=given[3] / 5, report=given[4]),
    )
    family = families.one_run("(N,n,u0,8):(1,d,r,e)")
    assert {family.given[x] for x in ("M0", "M1", "D2")} == {"N", "n", "r"}
    assert (family.given["N"], family.given["r"], family.given["u0"]) == ("N_", "r_", "u0_")
    lines = "\n".join(infer._runs_are(family))  # seam: the conditions
    assert "N_:r_ is now any mode of B" in lines
    assert "N_ = n_ q" in lines
    code, out, err = run(capsys, *"--infer composition --shape (N,K,8) --by M:r --budget 1".split())
    assert (code, "taken" in err, "any mode of B" in out) == (4, False, True), err


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--list --explain DM", "--list reads no --explain"),
        ("--list NOCARY", "nearest: NOCARRY"),
        ("--list --code --only nonsense", "no operation is named 'nonsense'"),
        ("--list --module no_such_module", "no_such_module"),
    ],
)
def test_a_name_that_list_does_not_know_is_reported(
    capsys: pytest.CaptureFixture[str], words: str, message: str
) -> None:
    code, out, err = run(capsys, *words.split())
    assert (code, out) == (2, ""), err
    assert message in err

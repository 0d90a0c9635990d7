# SPDX-License-Identifier: Apache-2.0
"""The laws: all obligations proved, all hypotheses needed, no cycle, no law vacuous, certificates current."""

from __future__ import annotations

import json
import shutil
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from proofs.errors import ProblemError
from proofs.laws import certificates, decide, solve
from proofs.laws.decide import decide_law, kept_models, list_shipped
from proofs.laws.formula import LawFormulaError, evaluate, parse, smt, text
from proofs.laws.law import LawError, catalogue
from proofs.laws.problem import denial, mutants, obligations
from proofs.laws.solve import Model
from tests.cases import each

LAWS = [name for name, law in list_shipped().items() if not law.why_open]
A_LAW = 'statement = "s"\nsource = "t"\ninteger = "x"\nmutants = [{ why = "w", goal = ["x == 1"] }]\n'


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
def test_law_is_proved_by_z3_satisfiable_and_false_in_each_mutant(name: str) -> None:
    decided = decide_law(list_shipped()[name])
    assert {a.status for t in decided.tried for a in t.answers} == {"unsat"}
    assert decided.example is not None
    assert decided.example.is_confirmed, decided.example
    assert [(m.query.why, m.status) for m in decided.mutants if not m.is_confirmed] == []
    assert max(a.seconds for t in decided.tried for a in t.answers) < 20  # a guard against explosion; the figure is 2


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
def test_law_is_proved_by_the_second_solver(name: str) -> None:
    pytest.importorskip("cvc5", reason="cvc5 is not installed: one solver")
    answers = {o.name: solve.cvc5(o.smt()).status for o in obligations(list_shipped()[name])}
    assert set(answers.values()) == {"unsat"}, answers


@pytest.mark.long
@each("name", [n for n in LAWS if not list_shipped()[n].functions and list_shipped()[n].bits is None])
def test_law_holds_on_small_numbers_in_plain_python(name: str) -> None:
    """The formula is evaluated on every small assignment: the proof is not an artefact of the encoding."""
    law = list_shipped()[name]
    names = law.variables
    reach = 4 if len(names) <= 4 else 3 if len(names) <= 6 else 2
    formula = denial(law).formulas
    ranges = [range(1, reach + 1) if x in law.positive else range(-1, reach) for x in names]
    for values in product(*ranges) if len(names) <= 8 else ():
        at = dict(zip(names, values, strict=True))
        assert not all(evaluate(part, at, {}) for part in formula), at


def write_catalogue(tmp_path: Path, body: str) -> Path:
    (tmp_path / "base.toml").write_text(body)
    return tmp_path


def test_a_hint_may_name_an_earlier_law_only(tmp_path: Path) -> None:
    forward = f'[FIRST]\n{A_LAW}goal = ["x == x"]\nhints = ["SECOND(x)"]\n[SECOND]\n{A_LAW}goal = ["x == x"]\n'
    with pytest.raises(LawError, match=r"FIRST.*earlier"):
        catalogue(write_catalogue(tmp_path, forward))


def test_a_cycle_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(LawError, match="earlier"):
        catalogue(write_catalogue(tmp_path, f'[SELF]\n{A_LAW}goal = ["x == x"]\nhints = ["SELF(x)"]\n'))


def test_a_formula_is_not_a_hint(tmp_path: Path) -> None:
    with pytest.raises(LawError, match="not an instance"):
        catalogue(write_catalogue(tmp_path, f'[ONE]\n{A_LAW}goal = ["x == x"]\nhints = ["x > 3"]\n'))


def test_a_false_cut_is_refuted(tmp_path: Path) -> None:
    laws = catalogue(write_catalogue(tmp_path, f'[ONE]\n{A_LAW}goal = ["x > 2"]\ncuts = ["x > 3"]\n'))
    assert [t.answers[0].status for t in decide_law(laws["ONE"]).tried] == ["sat", "unsat"]


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        ('goal = ["y == x"]', "'y' is not declared"),
        ('goal = ["f(x) == x"]', "'f' of 1 arguments"),
        ('goal = ["x // x == 1"]', "not a product of extents"),
        ('goal = ["x =="]', "column"),
        ('goal = ["x == x"]\nbogus = 1', "bogus"),
        ("goal = []", "needs a goal"),
    ],
)
def test_a_malformed_law_is_rejected_with_the_reason(tmp_path: Path, lines: str, wrong: str) -> None:
    with pytest.raises(LawError, match=wrong):
        catalogue(write_catalogue(tmp_path, f"[ONE]\n{A_LAW}{lines}\n"))


def test_a_superfluous_hypothesis_is_found(tmp_path: Path) -> None:
    laws = catalogue(write_catalogue(tmp_path, f'[ONE]\n{A_LAW}hyps = ["x > 7"]\ngoal = ["x*x >= 0"]\n'))
    query = next(q for q in mutants(laws["ONE"]) if q.why.startswith("without"))
    assert solve.counterexample(query).status == "unsat"
    together = {model.query.why: model.status for model in solve.counterexamples(laws["ONE"])}
    assert together[query.why] == "unsat", "a mutant that is true has no counterexample among the others either"
    assert together["w"] == "sat"


@pytest.mark.parametrize("name", ["MONO", "MRAD", "SWIZZLE_KEEPS"])
def test_mutants_are_refuted_together_as_they_are_alone(name: str) -> None:
    queries = list(mutants(list_shipped()[name]))
    models = solve.counterexamples(list_shipped()[name])
    assert [model.query.why for model in models] == [query.why for query in queries]
    assert all(model.is_confirmed and solve.counterexample(model.query).is_confirmed for model in models)


@pytest.mark.long
@pytest.mark.parametrize("wrong", [{}, {"a": 9}, {"a": True}, {"a": "1"}, {"b": None}, {"z": 1}, 3])
def test_a_kept_model_that_does_not_hold_is_searched_anew(wrong: Any) -> None:
    law = list_shipped()["MONO"]
    kept: dict[str, Any] = {why: dict(values) for why, values in kept_models()["MONO"].items()}
    assert decide_law(law, kept=kept).mutants == tuple(Model("sat", q, kept[q.why]) for q in mutants(law))
    for why, values in kept.items():
        planted = kept | {why: {**values, **wrong} if isinstance(wrong, dict) and wrong else wrong}
        decided = decide_law(law, kept=planted)
        models = {model.query.why: model for model in (*decided.mutants, decided.example) if model}
        assert models.keys() == kept.keys() and all(model.is_confirmed for model in models.values())
        assert all(type(value) is int for value in models[why].values.values())


@pytest.mark.parametrize("models", [None, [], 3, [1], {}, "no", {"strict": []}])
def test_an_edited_index_of_certificates_is_searched_anew(
    models: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = json.loads(decide.INDEX.read_text(encoding="utf-8"))
    index["laws"]["MONO"]["models"] = models
    (tmp_path / "index.json").write_text(json.dumps(index))
    monkeypatch.setattr(decide, "INDEX", tmp_path / "index.json")
    kept = kept_models.__wrapped__().get("MONO", {})
    assert decide_law(list_shipped()["MONO"], kept=kept).mutants


def test_a_kept_model_does_not_hide_a_mutant_that_is_true(tmp_path: Path) -> None:
    law = catalogue(write_catalogue(tmp_path, f'[ONE]\n{A_LAW}hyps = ["x > 7"]\ngoal = ["x*x >= 0"]\n'))["ONE"]
    models = {model.query.why: model for model in decide_law(law, kept={"without x > 7": {"x": 3}}).mutants}
    assert models["without x > 7"].status == "unsat"


def test_contradictory_hypotheses_are_vacuous(tmp_path: Path) -> None:
    laws = catalogue(write_catalogue(tmp_path, f'[ONE]\n{A_LAW}hyps = ["x > 7", "x < 7"]\ngoal = ["x == 0"]\n'))
    decided = decide_law(laws["ONE"])
    assert decided.example is not None
    assert decided.example.status == "unsat"


def test_a_budget_that_runs_out_is_unknown() -> None:
    problem = obligations(list_shipped()["SWIZZLE_LINEAR"])[0].smt()
    answer = solve.z3(problem, budget=1000)
    assert (answer.status, "rlimit" in answer.reason) == ("unknown", True)


@pytest.mark.parametrize(
    "formula",
    ["x % (a*b) == x % a + a*((x // a) % b)", "implies(x < 3 and not a == b, x != 7)", "-x + (2 if x < a else b)"],
)
def test_a_formula_prints_as_what_it_parses_to(formula: str) -> None:
    assert parse(text(parse(formula))) == parse(formula)


@pytest.mark.parametrize("formula", ["x.y", "x < y in z", "lambda: 1", "[1]", "x ** 2", "x if", "f(x=1)", "1.5", "'a'"])
def test_a_text_that_is_not_a_formula_is_rejected(formula: str) -> None:
    with pytest.raises(LawFormulaError):
        parse(formula)


def test_numbers_are_written_in_smt_lib_syntax() -> None:
    assert smt(-3) == "(- 3)"
    assert smt(5, 8) == "(_ bv5 8)"


def test_certificates_are_current() -> None:
    assert list(certificates.faults()) == []


def test_a_stale_certificate_is_reported(tmp_path: Path) -> None:
    shutil.copytree(certificates.FOLDER, tmp_path / "kept")
    (tmp_path / "kept" / "MONO.smt2").write_text("(check-sat)")
    index = json.loads((tmp_path / "kept" / "index.json").read_text())
    index["laws"]["DM"]["obligations"]["DM"]["cvc5"]["status"] = ["unknown"]
    del index["laws"]["U"]
    index["laws"]["NOCARRY"] |= {"obligations": {}, "models": {}}
    (tmp_path / "kept" / "index.json").write_text(json.dumps(index))
    faults = "\n".join(certificates.faults(tmp_path / "kept"))
    assert "MONO: the law has changed" in faults
    assert "DM: the answer of cvc5 is unknown, not unsat" in faults
    assert "U: no certificate" in faults
    assert "NOCARRY: no certificate" in faults
    assert "NOCARRY: no model in the certificate: hypotheses" in faults


@pytest.mark.parametrize(
    ("place", "value", "expected"),
    [
        (("seeds",), 1, "index.json: made with other seeds"),
        (("schema",), 9, "index.json: made with other seeds, solvers or in another form"),
        (("laws",), [], "MONO: no certificate"),
        (("laws",), 3, "index.json: TypeError"),
        (("laws", "MONO"), {}, "MONO: its certificate is malformed: KeyError"),
        (("laws", "MONO", "obligations", "MONO"), {}, "MONO: its certificate is malformed: KeyError"),
        (
            ("laws", "DIGITS3", "obligations", "DIGITS3", "unused"),
            ["hyp.99"],
            "DIGITS3: lists unused assumptions that it does not have: hyp.99",
        ),
        (("laws", "MONO", "models", "made up"), {"a": 1}, "MONO: a model of nothing: made up"),
        (("laws", "MONO", "models", "strict"), "unknown", "MONO: not a model: strict: unknown"),
        (("laws", "MONO", "models", "strict", "a"), 9, "MONO: not a model: strict: {'a': 9, "),
        (("laws", "MONO", "models", "hypotheses", "a"), 9, "MONO: not a model: hypotheses: {'a': 9, "),
    ],
)
def test_an_edited_certificate_is_reported(
    tmp_path: Path, place: tuple[str, ...], value: object, expected: str
) -> None:
    shutil.copytree(certificates.FOLDER, tmp_path / "kept")
    index = json.loads((tmp_path / "kept" / "index.json").read_text())
    inner = index
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    (tmp_path / "kept" / "index.json").write_text(json.dumps(index))
    assert next(iter(certificates.faults(tmp_path / "kept"))).startswith(expected)


def test_a_problem_of_no_law_is_reported(tmp_path: Path) -> None:
    shutil.copytree(certificates.FOLDER, tmp_path / "kept")
    (tmp_path / "kept" / "MADE_UP.smt2").write_text("(check-sat)")
    assert list(certificates.faults(tmp_path / "kept")) == ["MADE_UP.smt2: a problem of no law in the catalogue"]


@pytest.mark.slow
def test_certificates_that_are_made_again_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cvc5", reason="cvc5 is not installed: one solver")
    monkeypatch.setattr(certificates, "list_shipped", lambda: {name: list_shipped()[name] for name in ("MONO", "U")})
    laws = {name: certificates.certificate(law) for name, law in certificates.list_shipped().items()}
    index = {"engines": [solve.version("z3"), solve.version("cvc5")], "laws": laws}
    (tmp_path / "index.json").write_text(json.dumps(index))
    assert list(certificates.list_unproved(tmp_path)) == []
    laws["U"]["models"]["hypotheses"] = {"S": 1}
    index["engines"] = ["z3 1.2.3", index["engines"][1]]
    (tmp_path / "index.json").write_text(json.dumps(index))
    versions, changed = certificates.list_unproved(tmp_path)
    assert versions.startswith("index.json: made by z3 1.2.3, cvc5 ")
    assert changed == "U: proved anew, its certificate is another"


@each("name", LAWS)
def test_every_part_of_a_goal_is_mutated(name: str) -> None:
    """Each part is changed by a declared mutant, or by one."""
    law = list_shipped()[name]
    declared = [mutant.goal for mutant in law.mutants]
    off = [query.why for query in mutants(law) if query.why.startswith("instead of its goal")]
    assert len(off) == sum(all(part in goal for goal in declared) for part in law.goal)
    assert off or any(part not in goal for part in law.goal for goal in declared)


def test_errors_are_problem_errors() -> None:
    assert issubclass(LawError, ProblemError)

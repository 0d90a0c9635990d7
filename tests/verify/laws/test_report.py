# SPDX-License-Identifier: Apache-2.0
"""The laws as a report: each with every law that its proof uses."""

from __future__ import annotations

import json

import pytest

from tests.verify.laws.test_command import run


def test_a_law_is_verified_with_every_law_that_its_proof_uses(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "COALESCE_LAST", "--solver", "z3", "--jobs", "1")
    assert code == 0
    assert [line.split()[:2] for line in out.splitlines()[:2]] == [
        ["DIVDEF", "VERIFIED"],
        ["COALESCE_LAST", "VERIFIED"],
    ]


def test_an_open_statement_is_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "OPEN_DYNAMIC", "--jobs", "1")
    assert (code, "UNKNOWN" in out) == (4, True)


def test_json_names_the_claims(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "MONO", "--solver", "z3", "--jobs", "1", "--format", "json")
    document = json.loads(out)
    assert (code, document["claims"]["PROVED"]) == (0, 3)
    assert [v["property"] for v in document["subjects"][0]["verdicts"]] == ["holds", "not_vacuous", "mutants_broken"]


def test_a_refuted_claim_has_its_counterexample(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "R9", "-v", "--jobs", "1")
    assert (code, "compatible with one another" in out) == (0, True)

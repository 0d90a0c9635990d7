# SPDX-License-Identifier: Apache-2.0
"""Entries of files as tests of a suite: an error costs no other entry."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from layouts.atoms import AnyAtom
from tests.verify.test_several_instructions import ENTRY, K8, K16, quote
from tests.verify.test_user_files import FULL, MINIMAL
from verify.atom.checker import AtomChecker
from verify.core.verdict import Verdict
from verify.gate import Suite


def test_in_pytest_an_error_costs_no_other_entry(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f"{FULL}\n{MINIMAL.replace('MIN', 'BAD').replace('A =', 'a =')}", encoding="utf-8")
    entries, problem = Suite().read_entries(path)
    assert ([entry.name for entry in entries], problem) == (["MIN", "BAD.a"], "")
    assert [Suite().verify([entry]).failure.partition("BAD")[2] for entry in entries] == [
        "",
        ".a: unknown key; did you mean 'A'?",
    ]
    path.write_text(MINIMAL.replace("A =", "a =").replace("B =", "b ="), encoding="utf-8")
    entries, problem = Suite().read_entries(path)
    assert not entries and problem.count("mine.toml:") == 2


@pytest.mark.long
def test_the_claim_of_a_kernel_is_an_entry(tmp_path: Path) -> None:
    example = Path("examples/kernel/matmul.toml").resolve()
    path = tmp_path / "gemm.toml"
    for claim, status in (("sum_k", "VERIFIED"), ("2 * sum_k", "REFUTED")):
        text = example.read_text().replace('"C[m,n] = sum_k', f'"C[m,n] = {claim}')
        path.write_text(f'ptx = "{example.with_suffix(".ptx")}"\n{text}')
        (entry,), problem = Suite().read_entries(path)
        assert (entry.name, problem) == ("gemm", "")
        result = Suite().verify([entry])
        assert [case.status for case in result.report.cases] == [status] * 2
        assert bool(result.failure) == (status == "REFUTED")
    path.write_text(example.read_text())
    (entry,), _ = Suite().read_entries(path)
    assert "names no kernel" in Suite().verify([entry]).failure


def test_the_gate_of_a_test_suite_reports_the_others_beside_the_one_that_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "three.toml"
    names = {"one": K16, "two": K16, "three": K8}
    path.write_text("".join(ENTRY.format(name=name, ptx=quote(ptx)) for name, ptx in names.items()))
    true = AtomChecker.verify

    def checked(self: AtomChecker, atom: AnyAtom, *rest: object, **options: object) -> list[Verdict]:
        if atom.name == "two":
            raise ZeroDivisionError("planted")
        return true(self, atom, *rest, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(AtomChecker, "verify", checked)
    checker = Suite()
    entries, fault = checker.read_entries(path)
    result = checker.verify(entries)
    assert not fault and [case.name for case in result.report.cases] == ["one", "three"]
    assert "internal error, two was not verified" in result.failure
    assert re.search(r"^three .*REFUTED", result.failure, re.MULTILINE)

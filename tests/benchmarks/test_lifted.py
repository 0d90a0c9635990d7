# SPDX-License-Identifier: Apache-2.0
"""The attacks on proofs for all sizes: drifts are real and unseen at few trips; no sample is proved."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from benchmarks.kernels import lifted
from benchmarks.kernels.drifts import Drift, apply_drift, draw_drifts
from benchmarks.kernels.lifted import MISSED, ProvedKernel, Trial, draw_sizes, refuted_at
from tests.verify.kernel import small
from verify.kernel.ptx.parse import parse_kernel

SEED, SAMPLE = 37, 2


@pytest.fixture(scope="module")
def kernel() -> ProvedKernel:
    return ProvedKernel(small.PTX, small.claim(), SEED)


@pytest.mark.long
def test_every_operand_from_the_head_on_may_drift(kernel: ProvedKernel) -> None:
    every = draw_drifts(small.PTX, "small", kernel.theorem.head, kernel.executed_lines(), 1000, SEED)
    assert len(every) > 40 and {drift.shift for drift in every} == {4, 9}
    assert {"%p1", "%rd5", "%f2", "%r20", "2"} <= {drift.operand for drift in every}
    for drift in every:
        parse_kernel(apply_drift(small.PTX, "small", kernel.theorem.head, drift), "small")


@pytest.mark.long
def test_no_operand_drifts_in_a_line_that_nobody_executes(kernel: ProvedKernel) -> None:
    text = small.PTX.replace("	ret;", "	bra $end;\n	add.s32 %r50, %r51, 1;\n$end:\n	ret;")
    dead = 1 + text[: text.index("add.s32 %r50")].count("\n")
    lines = ProvedKernel(text, small.claim(), SEED).executed_lines()
    assert dead not in lines and {dead - 1, kernel.theorem.head} <= lines


@pytest.mark.long
def test_a_drift_is_seen_from_its_trip_on_and_not_before(kernel: ProvedKernel) -> None:
    line = next(number for number, code in enumerate(small.PTX.splitlines(), 1) if "add.s64 %rd5, %rd5, 8;" in code)
    place = small.PTX.splitlines()[line - 1].index("8;")
    late, at_once = (
        apply_drift(small.PTX, "small", kernel.theorem.head, Drift(line, place, "8", shift)) for shift in (4, 0)
    )
    sizes = {"M": 5, "N": 9, "K": 13, "lda": 16, "ldb": 16, "ldc": 16}
    assert [verdict.status for verdict in lifted.check(late, kernel.statement.launch(sizes), seed=SEED)] == ["VERIFIED"]
    assert refuted_at(at_once, kernel.statement, 1, SEED, 4).startswith("REFUTED at {")
    assert kernel.judge("drifts", late, [Trial(at_once, 4)])[0] == "not proved"


@pytest.mark.long
def test_a_mutant_that_is_proved_is_a_miss_only_if_it_is_wrong(
    kernel: ProvedKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifted, "SIZES", {"edits": 1})
    monkeypatch.setattr(lifted, "prove", lambda text, table, seed: kernel.theorem)
    wrong = small.PTX.replace("add.s32 %r20, %r20, 2;", "add.s32 %r20, %r20, 4;")
    assert kernel.judge("edits", small.PTX, [Trial(wrong, 1)])[0] == MISSED
    assert (
        kernel.judge("edits", small.PTX, [Trial(wrong, 1), Trial(small.PTX, 1)])[0]
        == "proved, equivalent by twenty sizes"
    )


@pytest.mark.long
def test_a_campaign_goes_on_where_it_ended(
    kernel: ProvedKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sample: as many drifts and edits, none of which may be missed."""
    monkeypatch.setattr(ProvedKernel, "kept", lambda name, seed: kernel)
    output = tmp_path / "lifted.jsonl"
    for what in ("drifts", "edits"):
        words = [what, "small", "--many", str(SAMPLE), "--seed", str(SEED), "-o", str(output)]
        for part in range(1, SAMPLE + 1):
            assert lifted.main([*words, "--part", f"{part}/{SAMPLE}"]) == 0
            assert len([kept for kept in lifted.kept_lines(output) if kept["what"] == what]) == part
    lines = output.read_text().splitlines()
    assert len(lines) == 2 * SAMPLE and MISSED not in {json.loads(line)["status"] for line in lines}
    output.write_text("\n".join(lines[:-1]) + "\n" + lines[-1][:20], encoding="utf-8")  # cut off
    assert len(lifted.kept_lines(output)) == 2 * SAMPLE - 1


def test_random_sizes_are_those_of_the_theorem(kernel: ProvedKernel) -> None:
    draw = random.Random(SEED)
    for _ in range(50):
        sizes = draw_sizes(kernel.statement, draw, 4)
        assert sizes["lda"] >= sizes["K"] > 6 and min(sizes.values()) >= 1
        kernel.statement.symbols(sizes)


def test_a_table_counts_what_became_of_each_attack(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output, page = tmp_path / "lifted.jsonl", tmp_path / "page.md"
    page.write_text("before\n<!-- attacks -->\n<!-- /attacks -->\nafter\n", encoding="utf-8")
    row = {"what": "drifts", "kernel": "plain_f16", "seed": 1, "mutant": "line 1", "status": "not proved", "why": ""}
    kept = (row, row, {**row, "status": MISSED}, {**row, "what": "oracle", "status": "verified"})
    output.write_text("".join(json.dumps(each) + "\n" for each in kept), encoding="utf-8")
    assert lifted.main(["table", "-o", str(output), "--page", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert "| drifts | `plain_f16` | 3 | 1 missed; 2 not proved |" in text and "Of 4 tried 1 were missed." in text
    assert "| oracle | `plain_f16` | 1 | 1 verified |" in capsys.readouterr().out

# SPDX-License-Identifier: Apache-2.0
"""Right kernels are never refuted, and wrong twins of each class are never verified."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

import pytest

from benchmarks.kernels.campaign import MOST, Sample, edits_of, fate
from benchmarks.kernels.edits import Edit, body, planted
from tests.kernels import compile as corpus
from verify.kernel.check import check
from verify.kernel.claims.claim import claim_of
from verify.kernel.claims.claim_file import read_claim

PATHS = [path for path in sorted(corpus.COMPILED.glob("*.ptx")) if not path.stem.startswith(corpus.EXPONENTIALS)]
QUICK = {"mma_relu", "triton_ragged"}
# What is right and has no meaning yet: a line with the reason for each.
UNCLEAR = {
    "triton_leaky": "a choice whose two values are multiples of what is compared",
}
WITHOUT_EFFECT = {"strides", "swizzles", "trips"}  # classes whose edits of a number may be equivalent
# Lines that are not needed at the sizes of the claim, and why: leaving them out is accepted.
NOT_NEEDED = {
    "triton_f16": {398, 399, 549, 550},  # a second wait for the same groups, and a barrier after a barrier
    "pipeline_stmatrix": {1516, 1518},  # results are staged where the last trip but one was, which a barrier follows
    "tma_3": {273},  # a warning: a wait is for the warp that executes it, and no barrier joins the four
}
CLASSES = {"barriers", "epilogue", "fragments", "strides", "swizzles", "transposes", "trips", "waits"}


def mark_slow(path: Path) -> object:
    """A kernel as a parameter, slow unless it is a quick one."""
    marks = () if path.stem in QUICK else pytest.mark.slow
    return pytest.param(path, id=path.stem, marks=marks)


@pytest.mark.long
@pytest.mark.parametrize("path", [mark_slow(path) for path in PATHS])
def test_a_kept_kernel_is_verified(path: Path) -> None:
    (outcome,) = check(path.read_text(), read_claim(path.with_suffix(".toml")), seed=7)
    assert outcome.status == "VERIFIED", outcome.findings
    assert outcome.findings == () and 0 < outcome.bound < 1e-15


@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path in PATHS if "sparse" not in path.stem], ids=lambda path: path.stem)
def test_a_kept_kernel_is_verified_at_sizes_and_strides_that_are_chosen(path: Path) -> None:
    """Two tables at least: a deep loop and a single step; ragged ones where the grid rounds up."""
    table = tomllib.loads(path.with_suffix(".toml").read_text())
    del table["sizes"]
    table |= {"tiles": {"K": 8}} if "simt" in path.stem else {}
    for array in table["arrays"].values():
        if array["strides"][-1] == 1:
            del array["strides"]
    outcomes = check(path.read_text(), claim_of(table), seed=7)
    assert len(outcomes) == 2 + ("cdiv" in str(table["grid"]))
    assert [(outcome.status, outcome.findings) for outcome in outcomes] == [("VERIFIED", ())] * len(outcomes)
    assert all(
        text.startswith(("the setp of line", "every array ends", "the claim is about"))
        for outcome in outcomes
        for text in outcome.hidden
    )


@pytest.mark.slow
def test_no_right_kernel_is_refuted() -> None:
    rows = corpus.rows()
    if reason := corpus.explain_missing():
        pytest.skip(reason)
    made = list(corpus.compile_rows(rows))
    assert len(made) >= 60
    unclear = set()
    for row, (ptx, claim) in zip(rows, made, strict=True):
        for outcome in check(ptx, claim_of(tomllib.loads(claim))):
            assert outcome.status != "REFUTED", (row.name, outcome.findings)
            unclear |= {row.name} if outcome.status == "UNKNOWN" else set()
    assert unclear == UNCLEAR.keys()


def test_the_twins_are_of_every_class() -> None:
    sorts = {edit.sort for path in PATHS for edit in planted(path.read_text())}
    assert sorts == CLASSES


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "sort"), [("mma_relu", "barriers"), ("mma_relu", "fragments"), ("pipeline_trans", "waits")]
)
def test_a_wrong_twin_of_a_quick_kernel_is_refuted(name: str, sort: str) -> None:
    path = corpus.COMPILED / f"{name}.ptx"
    edit = [edit for edit in planted(path.read_text()) if edit.sort == sort][-1]
    verdict = fate(path, edit)
    assert verdict.status == "REFUTED" and verdict.finding


def list_cleared(text: str) -> list[Edit]:
    """Edits that leave out one register's copy of the 0.0 that a sum begins with."""
    copied = re.compile(r"\s*mov\.f32\s+%f\d+, %f\d+;")
    return [Edit(line, "cleared", old, "") for line, old in body(text) if copied.match(old)]


@pytest.mark.long
def test_a_sum_that_begins_with_nothing_is_refuted() -> None:
    """The accumulator of one register is not cleared: what nobody wrote goes through all products of the loop."""
    path = corpus.COMPILED / "mma_relu.ptx"
    copies = list_cleared(path.read_text())
    assert len(copies) > 20
    verdict = fate(path, copies[3])
    assert verdict.status == "REFUTED" and "never written" in verdict.finding


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_no_wrong_twin_is_verified(path: Path) -> None:
    """Those that are accepted are no twins: ptxas makes the same of them, or their line never runs at these sizes.

    One of each class, or all where the variable EVERY_TWIN is set. A number may also change
    without effect: a mask of bits that are 0, or a trip more whose loads are masked.
    """
    edits = edits_of(path.read_text(), Sample(MOST, 0, 0, 1))
    if not os.environ.get("EVERY_TWIN"):
        edits = [next(edit for edit in edits if edit.sort == sort) for sort in {edit.sort for edit in edits}]
    fates = [fate(path, edit) for edit in edits]
    assert sum(twin.status == "REFUTED" for twin in fates) >= len(edits) // 2
    accepted = [twin for twin in fates if twin.open and twin.edit.line not in NOT_NEEDED.get(path.stem, ())]
    assert [str(twin.edit) for twin in accepted if twin.edit.sort not in WITHOUT_EFFECT] == []
    assert len(accepted) <= max(1, len(fates) // 10)

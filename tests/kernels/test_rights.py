# SPDX-License-Identifier: Apache-2.0
"""The table of right kernels on the page of attention is that of the record, which has every kernel, none refuted."""

from __future__ import annotations

from collections import Counter

from tests.kernels import on_gpu, rights


def test_the_page_has_the_table_of_the_record() -> None:
    text = rights.PAGE.read_text(encoding="utf-8").partition(rights.MARKS[0])[2].partition(rights.MARKS[1])[0]
    assert text.strip().splitlines() == list(rights.table(rights.read_record()))


def test_no_right_kernel_is_refuted_and_at_most_three_are_unknown() -> None:
    record = rights.read_record()
    counts = Counter(record.values())
    assert list(record) == [row.name for row in rights.list_rows()]
    assert counts["VERIFIED"] >= 40 and counts["UNKNOWN"] <= 3 and set(counts) <= {"VERIFIED", "UNKNOWN"}
    heads = {rights.describe(row)[2] for row in rights.list_rows()}
    assert {32, 64, 128, 256} <= heads and {"sm_80", "sm_90", "sm_100"} <= {row.target for row in rights.list_rows()}


def test_every_right_kernel_ran_on_a_gpu_within_its_tolerance_or_is_for_another_target() -> None:
    gpu, kernels = on_gpu.read_record()
    targets = {row.name: row.target for row in rights.list_rows()}
    assert sorted(kernels) == sorted(targets)
    for name, kernel in kernels.items():
        if kernel["status"] == on_gpu.UNCHECKED:
            assert targets[name] == "sm_100" and gpu in kernel["reason"]
        else:
            assert kernel["status"] == on_gpu.AGREES and kernel["gap"] < kernel["allowed"] <= 2e-2

# SPDX-License-Identifier: Apache-2.0
"""A gather whose index the test gives: with its numbers it is safe or refuted, without them it is undecided."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.verify.capture.logs import ADD, SIZE, Log, decide, only
from verify.capture.decisions import Decision

GATHER = ADD.replace("ld.global.f32 %f1, [%rd5];", "ld.global.u32 %r5, [%rd5]; mul.wide.s32 %rd5, %r5, 4;")
GATHER = GATHER.replace("ld.global.f32 %f2, [%rd6];", "add.s64 %rd6, %rd2, %rd5; ld.global.f32 %f3, [%rd6];")
GATHER = GATHER.replace("add.f32 %f3, %f1, %f2;", "")


def gather(folder: Path, numbers: Any, ptx: str = GATHER, kind: str = "int32", **more: Any) -> Decision:
    """Return the decision on a launch that reads y where the numbers say."""
    log = Log(folder, ptx)
    index, y, out = log.op("torch.randint", dtype=kind), log.draw(), log.op("torch.empty")
    log.launch([index, y, out], **more)
    first = log.events[-1]["variants"][0]["tensors"][0]
    first["dtype"] = kind
    if numbers is not None:
        np.save(folder / "numbers.npy", numbers)
        first["numbers"] = "numbers.npy"
    return only(log)


def test_a_gather_within_its_array_is_safe_with_the_numbers_of_the_test(tmp_path: Path) -> None:
    decision = gather(tmp_path, np.arange(SIZE, dtype=np.int32)[::-1])
    assert (decision.status, decision.safe) == ("UNCHECKED", True), decision.text
    assert "checked with this test's numbers in x, whatever its other data are" in decision.text
    assert "all other data; the numbers of x as they are given" in " ".join(decision.report().split())


@pytest.mark.parametrize("wrong", [SIZE, -1, 2**31 - 1])
def test_one_number_beyond_it_is_refuted(wrong: int, tmp_path: Path) -> None:
    numbers = np.arange(SIZE, dtype=np.int32)
    numbers[-1] = wrong
    decision = gather(tmp_path, numbers)
    assert (decision.status, decision.safe) == ("REFUTED", False), decision.text
    assert "out of bounds" in decision.report()


def test_without_the_numbers_it_is_undecided(tmp_path: Path) -> None:
    assert gather(tmp_path, None).status == "UNKNOWN"


def test_numbers_that_a_launch_may_have_written_are_not_used(tmp_path: Path) -> None:
    log = Log(tmp_path, GATHER)
    (tmp_path / "other.ptx").write_text(ADD)
    index, y, out = log.op("torch.randint", dtype="int32"), log.draw(), log.op("torch.empty")
    written = log.launch([y, y, index], ptx="other.ptx")[2]
    log.launch([written, y, out])
    first = log.events[-1]["variants"][0]["tensors"][0]
    np.save(tmp_path / "numbers.npy", np.zeros(SIZE, np.int32))
    first |= {"dtype": "int32", "numbers": "numbers.npy"}
    assert decide(log)[-1].status == "UNKNOWN"


def test_numbers_of_an_array_that_the_launch_writes_are_not_used(tmp_path: Path) -> None:
    writes = GATHER.replace("DONE:", "add.s64 %rd5, %rd1, %rd4; st.global.u32 [%rd5], %r5;\nDONE:")
    assert gather(tmp_path, np.zeros(SIZE, np.int32), writes).status == "UNKNOWN"

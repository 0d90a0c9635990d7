# SPDX-License-Identifier: Apache-2.0
"""Comparisons of parts of an array: together they are one claim if they compare every element."""

from pathlib import Path

import pytest

from tests.messages import NOT_DECISIVE
from tests.verify.capture.logs import SIZE, Log, decide, only
from verify.capture.decisions import Decision


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path)


def compare_halves(log: Log, *names: str, last: int = SIZE) -> list[Decision]:
    """The decisions where each part of a sum is compared with its own operation."""
    x, y, out = log.draw(), log.draw(), log.op("torch.empty")
    written = log.launch([x, y, out])[2]
    for name, first, end in zip(names, (0, SIZE // 2), (SIZE // 2, last), strict=False):
        part = {"offset": first, "shape": [end - first], "strides": [1]}
        layout = {**part, "offset": 0}
        made = log.op(name, log.operand(x, **part), log.operand(y, **part), layout=layout)
        log.compare(log.see(written, **part), log.see(made, **layout))
    return decide(log)


def test_comparisons_of_all_parts_are_one_claim(log: Log) -> None:
    (decision,) = compare_halves(log, "torch.Tensor.add", "torch.Tensor.add")
    assert (decision.status, decision.name) == ("VERIFIED", "launch 1: values")
    assert decision.text == f"out[i] = where(i < {SIZE // 2}, (x[i%35+0] + y[i%35+0]), (x[i%35+35] + y[i%35+35]))"


def test_one_wrong_part_is_refuted(log: Log) -> None:
    (decision,) = compare_halves(log, "torch.Tensor.add", "torch.Tensor.sub")
    assert decision.status == "REFUTED"


def test_parts_that_leave_out_elements_are_no_claim(log: Log) -> None:
    for decision in compare_halves(log, "torch.Tensor.add", "torch.Tensor.add", last=SIZE - 1):
        assert decision.status == "UNCHECKED"
        assert "a part of out is compared" in decision.text


def test_parts_of_which_one_may_differ_are_no_claim(log: Log) -> None:
    x, y, out = log.draw(), log.draw(), log.op("torch.empty")
    written = log.launch([x, y, out])[2]
    for first in (0, SIZE // 2):
        part = {"offset": first, "shape": [SIZE // 2], "strides": [1]}
        layout = {**part, "offset": 0}
        made = log.op("torch.Tensor.add", log.operand(x, **part), log.operand(y, **part), layout=layout)
        log.compare(log.see(written, **part), log.see(made, **layout))
    decision = only(log, asserted=[1])
    assert decision.status == "UNCHECKED"
    assert NOT_DECISIVE in decision.text


def test_a_part_without_elements_is_no_claim(log: Log) -> None:
    x, y, out = log.draw(), log.draw(), log.op("torch.empty")
    written = log.launch([x, y, out])[2]
    empty = {"offset": 0, "shape": [0], "strides": [1]}
    log.compare(log.see(written, **empty), log.see(log.op("torch.zeros", 0, layout=empty), **empty))
    assert "a part of out is compared" in only(log).text

# SPDX-License-Identifier: Apache-2.0
"""A comparison of elements counts if every element does: ways to use the answers, and twins that leave some out."""

from pathlib import Path

import pytest

from tests.verify.capture.logs import SIZE, VECTOR, Log
from verify.capture.contents import Contents
from verify.capture.elements import explain_part

ONE = {"offset": 0, "shape": [], "strides": []}


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path)


def explain(log: Log) -> str:
    record = log.record()
    return explain_part(Contents(record["contents"], lambda launch: frozenset()), record["events"], 0)


def compare_elements(log: Log, number: int = 0) -> int:
    return log.add("compared", number=number, dtype="bool", layout=VECTOR)


@pytest.mark.parametrize("name", ["torch.Tensor.all", "torch.Tensor.abs", "torch.max[0]", "numpy.logical_and.reduce"])
def test_an_operation_of_which_every_element_counts(log: Log, name: str) -> None:
    log.use(log.op(name, log.operand(compare_elements(log)), layout=ONE), shape=[], strides=[])
    assert explain(log) == ""


@pytest.mark.parametrize("name", ["torch.Tensor.__getitem__", "torch.Tensor.tril", "torch.max[1]", "torch.argmax"])
def test_an_operation_that_may_leave_out_elements(log: Log, name: str) -> None:
    log.use(log.op(name, log.operand(compare_elements(log)), layout=ONE), shape=[], strides=[])
    assert "may leave out elements" in explain(log)


def test_a_view_of_some_elements_is_a_part(log: Log) -> None:
    some = log.operand(compare_elements(log), shape=[SIZE // 2], strides=[2])
    log.use(log.op("torch.Tensor.all", some, layout=ONE), shape=[], strides=[])
    assert explain(log) == "a part of the comparison (test_x.py:0) is read"


def test_a_part_of_a_result_is_a_part(log: Log) -> None:
    made = log.op("torch.Tensor.abs", log.operand(compare_elements(log)))
    log.use(log.op("torch.Tensor.max", log.operand(made, shape=[SIZE - 1]), layout=ONE), shape=[], strides=[])
    assert explain(log) == "a part of abs (test_x.py:1) is read"


def test_a_product_with_another_tensor_may_hide_elements(log: Log) -> None:
    answers, factor = compare_elements(log), log.draw()
    log.use(log.op("torch.Tensor.mul", log.operand(answers), log.operand(answers)))
    assert explain(log) == ""
    log.use(log.op("torch.Tensor.mul", log.operand(answers), log.operand(factor)))
    assert "mul (test_x.py:3) may leave out elements" in explain(log)


def test_a_tolerance_may_be_a_tensor(log: Log) -> None:
    log.use(log.op("torch.Tensor.le", log.operand(compare_elements(log)), log.operand(log.draw())))
    assert explain(log) == ""


def test_a_masked_reduction_may_leave_out_elements(log: Log) -> None:
    answers = log.operand(compare_elements(log))
    log.use(log.op("numpy.maximum.reduce", answers, kwargs={"where": log.operand(log.draw())}, layout=ONE))
    assert "may leave out elements" in explain(log)


def test_answers_that_are_read_one_by_one(log: Log) -> None:
    log.use(compare_elements(log), "tolist")
    assert explain(log) == "a part of the answers may be read (tolist, test_x.py:10)"


def test_answers_that_nothing_reads(log: Log) -> None:
    log.use(compare_elements(log, number=1))
    assert explain(log) == "what the test makes of the answers was not seen"

# SPDX-License-Identifier: Apache-2.0
"""The derivation of a thread's partitions: every step with its layout, and the elements that the thread has."""

import re

from layouts import Layout
from layouts.tensor import Tensor
from tests.verify.tiling.tilings import F16, TWO_BY_TWO, prepare_tiling
from verify.tiling.explain import explain_partitions
from verify.tiling.spec import TilingSpec

TILING = prepare_tiling(TilingSpec("mine", F16, TWO_BY_TWO))


def test_every_operand_has_its_steps_in_order() -> None:
    text = explain_partitions(TILING)
    assert text.startswith("mine: 2x2x1 atoms of 16x8x16, 128 threads\n")
    operands = re.findall(r"^  ([ABC]) (\d+x\d+) ", text, re.MULTILINE)
    assert operands == [("A", "32x16"), ("B", "16x16"), ("C", "32x16")]
    steps = re.findall(r"^    (\d) (?!element)", text, re.MULTILINE)
    assert steps == [str(number) for number in range(1, len(steps) // 3 + 1)] * 3


def test_another_thread_has_other_elements_and_they_are_its_partition() -> None:
    a = next(tiled for tiled in TILING.operands if tiled.name == "A")
    own = a.partition(33, Tensor(None, Layout((32, 16), (16, 1))))
    assert f"{own.size} elements: " in explain_partitions(TILING, 33)
    assert explain_partitions(TILING, 33) != explain_partitions(TILING, 1)
    first = next(divmod(int(at), 16) for at in own.values())
    assert first == (16, 2)  # the second atom along M, whose lane 1 begins at column 2

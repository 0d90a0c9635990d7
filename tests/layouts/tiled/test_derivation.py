# SPDX-License-Identifier: Apache-2.0
"""The derivation of a thread's view: each step is the same function in other coordinates; and known numbers."""

from __future__ import annotations

import numpy as np
import pytest

from layouts import Layout, LayoutError, size
from layouts.atoms import registry
from layouts.tensor import Tensor
from layouts.tiled import TiledMMA, derive

FMA = "UniversalFMA<float,float,float,float>"
ROWS = Layout((128, 128), (128, 1))


def simt(permutation: str) -> TiledMMA:
    return TiledMMA(registry()[FMA], "(16,16,1):(16,1,0)", (permutation, permutation))


@pytest.mark.parametrize(
    ("permutation", "rows", "first"),
    [
        ("(16,4):(4,1)", "((16,4),2):((512,128),8192)", [0, 1, 2, 3, 64, 65, 66, 67]),
        ("(16,4):(1,16)", "((16,4),2):((128,2048),8192)", [0, 16, 32, 48, 64, 80, 96, 112]),
        ("(16,8):(8,1)", "((16,8),1):((1024,128),", [0, 1, 2, 3, 4, 5, 6, 7]),
    ],
)
def test_three_permutations_of_one_tile(permutation: str, rows: str, first: list[int]) -> None:
    """The same tile and threads: other strides, other rows for thread 0."""
    mma = simt(permutation)
    _, permuted, *_, view = derive(mma, "C", ROWS)
    assert str(permuted.layout[0]).startswith(rows)
    assert isinstance(view.layout, Layout)
    assert [view.layout(0, i, 0) // 128 for i in range(8)] == first
    assert [view.layout(0, 0, i) for i in range(8)] == first  # the columns, of stride 1


def test_the_steps_of_one_thread_of_many() -> None:
    """Thread (tm, tn) = (5, 9) has the rows 4*5 + 0..3, its columns 4*9 + 0..3, and both again 64 on."""
    steps = derive(simt("(16,4):(4,1)"), "C", ROWS, thread=5 * 16 + 9)
    assert [step.name for step in steps] == [
        "C",
        "logical_divide",
        "zipped_divide",
        "compose",
        "zipped_divide",
        "slice",
    ]
    assert str(steps[-1].layout) == "(1,(4,2),(4,2)):(0,(128,8192),(1,64))"
    assert steps[-1].text.endswith("(0,(5,9)), offset 2596") and 2596 == 20 * 128 + 36
    assert str(steps[-2].layout) == "((1,(16,16)),(1,((4,2),(4,2)))):((0,(512,4)),(0,((128,8192),(1,64))))"


@pytest.mark.parametrize("operand", "ABC")
def test_each_step_of_a_tensor_core_has_every_element_once(operand: str) -> None:
    mma = TiledMMA(registry()["SM80_16x8x16_F32F16F16F32_TN"], (2, 2, 1), ("(4,4,2):(1,8,4)", 32, 16))
    shape = tuple(2 * x for x in mma.tile_shape(operand))
    *whole, view = derive(mma, operand, Layout(shape, (shape[1], 1)), thread=77)
    for step in whole:
        assert isinstance(step.layout, Layout)
        assert sorted(step.layout(np.arange(size(step.layout)))) == [*range(shape[0] * shape[1])], step.name
        assert step.profile.count(",") >= 1
    part = mma.get_slice(77).partition(operand, Tensor(None, whole[0].layout))
    assert view.layout == part.layout and view.text.endswith(f"offset {part.offset}")
    assert whole[-1].layout == mma.thrfrg(operand, Layout(shape, (shape[1], 1)))


def test_a_shape_means_its_column_major_layout() -> None:
    assert derive(simt("(16,4):(4,1)"), "A", (64, 8)) == derive(simt("(16,4):(4,1)"), "A", Layout((64, 8)))


def test_what_does_not_divide_is_named() -> None:
    with pytest.raises(LayoutError, match=r"M = 100 of C .* 64 or 128 would do"):
        derive(simt("(16,4):(4,1)"), "C", (100, 64))

# SPDX-License-Identifier: Apache-2.0
"""Tiled MMAs exported to a GPU: shipped tilings are those derived today, and the models agree with recordings."""

from __future__ import annotations

import numpy as np
import pytest

from layouts import Layout, LayoutError, size
from verify.tiling.export import copying, piece, read_strides, rename_kernel


@pytest.mark.parametrize("extent", [(64, 32), (32, 64), (16, 8), (128, 64)], ids=str)
@pytest.mark.parametrize("major", ["K", "MN"])
@pytest.mark.parametrize("threads", [1, 4, 32, 64, 128, 256])
def test_every_element_of_a_tile_is_copied_once_and_in_neighbours(extent, major, threads):
    layout = copying(extent, major, 8, threads)
    assert size(layout[0]) <= threads
    at = layout(np.arange(size(layout))).reshape(size(layout[1]), size(layout[0])).T
    assert sorted(at.ravel().tolist()) == list(range(extent[0] * extent[1]))
    step = extent[0] if major == "K" else 1
    assert size(layout[0]) == threads or extent[0] * extent[1] < 8 * threads
    assert (np.diff(at[:, : min(8, extent[0])].astype(int), axis=1) == step).all()


@pytest.mark.parametrize("bits", [8, 16, 32])
@pytest.mark.parametrize("width", [16, 32, 64, 128])
def test_a_piece_of_shared_memory_exchanges_the_chunks_of_its_lines(bits, width):
    """Row i, 16-byte chunk c of a line of `width` bytes lies at chunk c ^ (i * width // 128 % (width // 16))."""
    chunk = 128 // bits
    layout = piece("K", width, bits)
    for i in range(8):
        for c in range(width // 16):
            line = i * width // 128 % (width // 16)
            assert layout(i, c * chunk) == i * width * 8 // bits + (c ^ line) * chunk
            assert piece("MN", width, bits)(c * chunk, i) == layout(i, c * chunk)


def test_registers_are_renamed_only_within_a_thread():
    given = Layout((4, (2, 2)), (4, (1, 2)))
    assert str(rename_kernel(given, Layout((4, (2, 2)), (4, (2, 1))))) == "(2,2):(2,1)"
    with pytest.raises(LayoutError, match="threads have other elements"):
        rename_kernel(given, Layout((4, (2, 2)), (1, (4, 8))))


def test_a_layout_that_is_no_swizzle_of_a_layout_is_not_exported():
    swizzled = piece("K", 128, 16)
    with pytest.raises(LayoutError, match="not a swizzle of a layout"):
        read_strides(type(swizzled)(swizzled.layout_a, 8, swizzled.layout_b))

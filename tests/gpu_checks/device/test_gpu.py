# SPDX-License-Identifier: Apache-2.0
"""The kernels that a GPU launches, by value, on a module that runs nothing."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from gpu_checks.device import gpu
from gpu_checks.kernels.forms import forms
from gpu_checks.kernels.smem_matrix import ALIGNMENT, window
from gpu_checks.machine import DigitQuery, Numbering
from isa_tables.signature import signature
from tests.gpu_checks.simulated import INFO

WIDE = "wgmma.mma_async.sync.aligned.m64n24k16.f32.f16.f16"
RELATED = {  # blocks of four warps, each warp for an element of A; as many more for elements of B, 4096 warps in all
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32": (64, 16),
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64": (8, 32),
    "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc": (1024, 1),
    "dp4a.u32.u32": (1, 4),
}


class Idle:
    """A module that keeps what it was launched with."""

    def launch(self, name, grid, threads, arrays, results, shared=0):
        self.name, self.grid, self.threads, self.shared = name, grid, threads, shared
        self.arrays = arrays
        return SimpleNamespace(results=lambda: [arrays[i] for i in results])


@pytest.fixture
def idle(monkeypatch):
    module = Idle()
    monkeypatch.setattr(gpu.Gpu, "_find", lambda self, s: gpu._Kernels(module, 7, "codes", None, 2, 3))  # seam: no GPU
    return module


@pytest.mark.parametrize("name", RELATED)
def test_a_relation_has_a_warp_for_each_element_of_a(name, idle):
    s = signature(name)
    table = gpu.Gpu(INFO).table(s)
    assert table.shape == tuple(s.lanes * s.operands[x].values for x in "AB") and (table == 0xFFF0).all()
    assert (idle.name, idle.grid, idle.threads) == ("relation_7", RELATED[name], 128)


def test_images_of_b_lie_side_by_side_where_a_block_has_room_for_all(idle):
    """An image begins at a multiple of 1024 bytes; D of 24 columns is 12 words of each of 128 threads."""
    s = signature(WIDE)
    form, image = forms(s)[0], window("B", forms(s)[0].signature.operands["B"])
    for planes, resident in ((1, 1), (9, 9), (1000, 1)):
        given = np.zeros((planes, 1, image.size // 4), np.uint32)
        chosen, numbering = np.arange(5, dtype=np.uint32), Numbering(given, 8, 384, 24)
        query = DigitQuery(form, None, image, chosen, numbering, np.zeros((2, 1, 1), np.uint32))
        (hits,) = gpu.Gpu(INFO).hits(s, [query])
        assert [part.shape for part in (hits.counts, hits.places, hits.codes)] == [(10,), (10, 24), (10, 24)]
        assert (idle.name, idle.grid, idle.threads) == ("coded_2_0", (10,), 128)
        stride = 1024 // 4  # words, of the 192 of an image
        assert image.size == 24 * 16 * 2 and idle.shared == ALIGNMENT + 4 * (12 * 128 + resident * stride)
        assert idle.arrays[0].tolist()[:5] == [planes, 10, 5, 24, 8]
        assert idle.arrays[0].tolist()[-5:] == [3, 12, 12 * 128, stride, resident]

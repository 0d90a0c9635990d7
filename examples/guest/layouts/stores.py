# SPDX-License-Identifier: Apache-2.0
"""The Triton layout that our epilogue stores from: that of the accumulators, so that nothing has to be exchanged.

lanecheck foreign layouts/stores.py --python venv/bin/python
"""

from triton._C.libtriton import gluon_ir, ir
from triton.experimental.gluon.language import BlockedLayout

PROJECT = "triton"
STORES = BlockedLayout(size_per_thread=[1, 2], threads_per_warp=[8, 4], warps_per_cta=[1, 1], order=[1, 0])


def stores():
    """Return the element of 16 x 8 accumulators that each lane and value has in `STORES`."""
    context = ir.context()
    ir.load_dialects(context)
    builder = gluon_ir.GluonOpBuilder(context)
    bases = builder.to_linear_layout(STORES._to_ir(builder), [16, 8])

    def of(lane, value):
        row = col = 0
        for steps, index in ((bases.lane_bases, lane), (bases.reg_bases, value)):
            for bit, (down, right) in enumerate(steps):
                if index >> bit & 1:
                    row, col = row ^ down, col ^ right
        return row, col

    return {
        "source": "layouts/stores.py: STORES",
        "ptx": "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        "operand": "C",
        "inputs": (("lane", 32), ("value", 4)),
        "outputs": (("m", 16), ("n", 8)),
        "of": of,
    }


def maps():
    """One map."""
    yield "stores", stores

# SPDX-License-Identifier: Apache-2.0
"""The output of attention from those of parts of the keys and their base-2 log-sum-exps, in Triton."""

import triton
import triton.language as tl


@triton.jit
def combine(p, lse, o, M, PARTS: tl.constexpr, BM: tl.constexpr, HEAD: tl.constexpr):
    """A program has BM rows; a part's weight is 2 to its log-sum-exp."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, HEAD)
    most = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    accumulator = tl.zeros((BM, HEAD), tl.float32)
    for part in range(PARTS):
        size = tl.load(lse + part * M + m, mask=m < M, other=0.0)
        tile = tl.load(p + (part * M + m)[:, None] * HEAD + d[None, :], mask=m[:, None] < M, other=0.0)
        new = tl.maximum(most, size)
        weight, shrink = tl.exp2(size - new), tl.exp2(most - new)
        total = total * shrink + weight
        accumulator = accumulator * shrink[:, None] + weight[:, None] * tile
        most = new
    tl.store(o + m[:, None] * HEAD + d[None, :], accumulator / total[:, None], mask=m[:, None] < M)

# SPDX-License-Identifier: Apache-2.0
"""O = softmax(scale * Q * K^T) * V in Triton, block by block with a running maximum; causal, grouped heads, LSE."""

import triton
import triton.language as tl


@triton.jit
def attention(  # noqa: PLR0917
    q, k, v, o, lse, scale, N, rows,
    BM: tl.constexpr, BN: tl.constexpr, HEAD: tl.constexpr,
    CAUSAL: tl.constexpr, LSE: tl.constexpr, GROUP: tl.constexpr, FLOOR: tl.constexpr,
):  # fmt: skip
    """A program has BM rows of one head; `rows` is the stride of a head, GROUP heads of Q share a head of K."""
    head = tl.program_id(1)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, HEAD)
    mine, theirs = head * rows * HEAD, head // GROUP * rows * HEAD
    query = tl.load(q + mine + m[:, None] * HEAD + d[None, :], mask=m[:, None] < N, other=0.0)
    most = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    accumulator = tl.zeros((BM, HEAD), tl.float32)
    factor = scale * 1.44269504
    end = min((tl.program_id(0) + 1) * BM, N) if CAUSAL else N
    for start in range(0, end, BN):
        n = start + tl.arange(0, BN)
        key = tl.load(k + theirs + n[None, :] * HEAD + d[:, None], mask=n[None, :] < N, other=0.0)
        score = tl.dot(query, key) * factor
        score = tl.where(n[None, :] < N, score, float("-inf"))
        if CAUSAL and FLOOR:
            score += tl.where(m[:, None] >= n[None, :], 0.0, -1.0e6)
        elif CAUSAL:
            score = tl.where(m[:, None] >= n[None, :], score, float("-inf"))
        new = tl.maximum(most, tl.max(score, 1))
        p = tl.exp2(score - new[:, None])
        shrink = tl.exp2(most - new)
        total = total * shrink + tl.sum(p, 1)
        value = tl.load(v + theirs + n[:, None] * HEAD + d[None, :], mask=n[:, None] < N, other=0.0)
        accumulator = accumulator * shrink[:, None]
        accumulator = tl.dot(p.to(value.dtype), value, accumulator)
        most = new
    accumulator = accumulator / total[:, None]
    tl.store(o + mine + m[:, None] * HEAD + d[None, :], accumulator.to(o.dtype.element_ty), mask=m[:, None] < N)
    if LSE:
        tl.store(lse + head * rows + m, most + tl.log2(total), mask=m < N)

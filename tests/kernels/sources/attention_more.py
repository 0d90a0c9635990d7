# SPDX-License-Identifier: Apache-2.0
"""Attention with fewer queries than keys, a sink, a cap of the scores, a bias or weights of the keys, in Triton."""

import triton
import triton.language as tl


@triton.jit
def more(  # noqa: PLR0917
    q, k, v, o, sink, bias, keep, scale, cap, M, N,
    BM: tl.constexpr, BN: tl.constexpr, HEAD: tl.constexpr,
    CORNER: tl.constexpr, SINK: tl.constexpr, CAP: tl.constexpr, BIAS: tl.constexpr, KEEP: tl.constexpr,
):  # fmt: skip
    """A program has BM rows of one head; CORNER 1: the diagonal begins at the first key, 2: it ends at the last one."""
    head = tl.program_id(1)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, HEAD)
    there = m[:, None] < M
    query = tl.load(q + head * M * HEAD + m[:, None] * HEAD + d[None, :], mask=there, other=0.0)
    most = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    if SINK:
        most = tl.zeros((BM,), tl.float32) + tl.load(sink + head) * 1.44269504
        total += 1.0
    accumulator = tl.zeros((BM, HEAD), tl.float32)
    offset = N - M if CORNER == 2 else 0
    for start in range(0, N, BN):
        n = start + tl.arange(0, BN)
        key = tl.load(k + head * N * HEAD + n[None, :] * HEAD + d[:, None], mask=n[None, :] < N, other=0.0)
        score = tl.dot(query, key) * scale
        if CAP:
            inner = score / cap
            inner = tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", [inner], tl.float32, True, 1)
            score = cap * inner
        if BIAS:
            score += tl.load(bias + head * N + n, mask=n < N, other=0.0)[None, :]
        score = tl.where(n[None, :] < N, score * 1.44269504, float("-inf"))
        if CORNER:
            score = tl.where(m[:, None] + offset >= n[None, :], score, float("-inf"))
        new = tl.maximum(most, tl.max(score, 1))
        p = tl.exp2(score - new[:, None])
        shrink = tl.exp2(most - new)
        total = total * shrink + tl.sum(p, 1)
        if KEEP:
            p *= tl.load(keep + m[:, None] * N + n[None, :], mask=there & (n[None, :] < N), other=0.0)
        value = tl.load(v + head * N * HEAD + n[:, None] * HEAD + d[None, :], mask=n[:, None] < N, other=0.0)
        accumulator = tl.dot(p.to(value.dtype), value, accumulator * shrink[:, None])
        most = new
    tl.store(o + head * M * HEAD + m[:, None] * HEAD + d[None, :], accumulator / total[:, None], mask=there)

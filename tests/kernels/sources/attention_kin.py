# SPDX-License-Identifier: Apache-2.0
"""Attention with a window, ALiBi, guards, a lazy maximum, or a part of the keys for each CTA, in Triton."""

import triton
import triton.language as tl


@triton.jit
def kin(  # noqa: PLR0917
    q, k, v, o, lse, slope, scale, N, rows,
    BM: tl.constexpr, BN: tl.constexpr, HEAD: tl.constexpr,
    WINDOW: tl.constexpr, ALIBI: tl.constexpr, GUARD: tl.constexpr, LAZY: tl.constexpr, PART: tl.constexpr,
):  # fmt: skip
    """A program has BM rows of one head, and PART keys of it if there are parts; `lse` is to the base 2."""
    head, part = tl.program_id(1), tl.program_id(2)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, HEAD)
    mine = head * rows * HEAD
    query = tl.load(q + mine + m[:, None] * HEAD + d[None, :], mask=m[:, None] < N, other=0.0)
    most = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    accumulator = tl.zeros((BM, HEAD), tl.float32)
    factor = scale * 1.44269504
    bias = tl.load(slope + head) * 1.44269504 if ALIBI else 0.0
    first = part * PART if PART else 0
    end = min(first + PART, N) if PART else N
    for start in range(first, end, BN):
        n = start + tl.arange(0, BN)
        key = tl.load(k + mine + n[None, :] * HEAD + d[:, None], mask=n[None, :] < N, other=0.0)
        score = tl.dot(query, key) * factor
        if ALIBI:
            score += bias * (n[None, :] - m[:, None]).to(tl.float32)
        there = n[None, :] < end
        if WINDOW:
            there = there & (m[:, None] >= n[None, :]) & (m[:, None] - n[None, :] < WINDOW)
        score = tl.where(there, score, float("-inf"))
        new = tl.maximum(most, tl.max(score, 1))
        if LAZY:
            new = tl.where(new - most > 8.0, new, most)
        known = tl.where(new == float("-inf"), 0.0, new) if GUARD else new
        p = tl.exp2(score - known[:, None])
        shrink = tl.exp2(most - known)
        total = total * shrink + tl.sum(p, 1)
        value = tl.load(v + mine + n[:, None] * HEAD + d[None, :], mask=n[:, None] < N, other=0.0)
        accumulator = tl.dot(p.to(value.dtype), value, accumulator * shrink[:, None])
        most = new
    accumulator = accumulator / total[:, None]
    place = (part * tl.num_programs(1) + head) * rows + m
    tl.store(o + place[:, None] * HEAD + d[None, :], accumulator.to(o.dtype.element_ty), mask=m[:, None] < N)
    tl.store(lse + place, most + tl.log2(total), mask=m < N)

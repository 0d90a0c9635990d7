# SPDX-License-Identifier: Apache-2.0
"""The gradients of attention by K and V in Triton, from the base-2 log-sum-exp of each row."""

import triton
import triton.language as tl


@triton.jit
def backward(  # noqa: PLR0917
    q, k, v, do, lse, delta, dk, dv, scale, N,
    BM: tl.constexpr, BN: tl.constexpr, HEAD: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """A program has BN rows of K and V; delta is sum_d O[m,d]*dO[m,d]."""
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    d = tl.arange(0, HEAD)
    key = tl.load(k + n[:, None] * HEAD + d[None, :])
    value = tl.load(v + n[:, None] * HEAD + d[None, :])
    gk = tl.zeros((BN, HEAD), tl.float32)
    gv = tl.zeros((BN, HEAD), tl.float32)
    factor = scale * 1.44269504
    for start in range(0, N, BM):
        m = start + tl.arange(0, BM)
        query = tl.load(q + m[:, None] * HEAD + d[None, :])
        out = tl.load(do + m[:, None] * HEAD + d[None, :])
        p = tl.exp2(tl.dot(query, tl.trans(key)) * factor - tl.load(lse + m)[:, None])
        if CAUSAL:
            p = tl.where(m[:, None] >= n[None, :], p, 0.0)
        gv = tl.dot(tl.trans(p).to(out.dtype), out, gv)
        dp = tl.dot(out, tl.trans(value))
        ds = p * (dp - tl.load(delta + m)[:, None])
        gk = tl.dot(tl.trans(ds).to(query.dtype), query, gk)
    tl.store(dv + n[:, None] * HEAD + d[None, :], gv)
    tl.store(dk + n[:, None] * HEAD + d[None, :], gk * scale)

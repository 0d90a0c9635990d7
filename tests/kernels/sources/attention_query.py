# SPDX-License-Identifier: Apache-2.0
"""The gradient of attention by Q in Triton, from the base-2 log-sum-exp of each row."""

import triton
import triton.language as tl


@triton.jit
def backward(  # noqa: PLR0917
    q, k, v, do, lse, delta, dq, scale, N,
    BM: tl.constexpr, BN: tl.constexpr, HEAD: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """A program has BM rows of Q; delta is sum_d O[m,d]*dO[m,d]."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, HEAD)
    query = tl.load(q + m[:, None] * HEAD + d[None, :])
    out = tl.load(do + m[:, None] * HEAD + d[None, :])
    level, drift = tl.load(lse + m), tl.load(delta + m)
    made = tl.zeros((BM, HEAD), tl.float32)
    factor = scale * 1.44269504
    end = (tl.program_id(0) + 1) * BM if CAUSAL else N
    for start in range(0, end, BN):
        n = start + tl.arange(0, BN)
        key = tl.load(k + n[:, None] * HEAD + d[None, :])
        value = tl.load(v + n[:, None] * HEAD + d[None, :])
        p = tl.exp2(tl.dot(query, tl.trans(key)) * factor - level[:, None])
        if CAUSAL:
            p = tl.where(m[:, None] >= n[None, :], p, 0.0)
        ds = p * (tl.dot(out, tl.trans(value)) - drift[:, None])
        made = tl.dot(ds.to(key.dtype), key, made)
    tl.store(dq + m[:, None] * HEAD + d[None, :], made * scale)

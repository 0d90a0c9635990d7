# SPDX-License-Identifier: Apache-2.0
"""C = A * B in Triton on a grid of two axes: masked edges, pointers that move, no grouped ids."""

import triton
import triton.language as tl


@triton.jit
def plain(  # noqa: PLR0917
    a, b, c, M, N, K, lda, ldb, ldc,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """A program has BM x BN elements of C."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    x_at, y_at = a + m[:, None] * lda + k[None, :], b + k[:, None] * ldb + n[None, :]
    accumulator = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, K, BK):
        x = tl.load(x_at, mask=(m[:, None] < M) & (k[None, :] < K - step), other=0.0)
        y = tl.load(y_at, mask=(k[:, None] < K - step) & (n[None, :] < N), other=0.0)
        accumulator = tl.dot(x, y, accumulator)
        x_at += BK
        y_at += BK * ldb
    tl.store(c + m[:, None] * ldc + n[None, :], accumulator, mask=(m[:, None] < M) & (n[None, :] < N))

# SPDX-License-Identifier: Apache-2.0
"""C = A * B in Triton, as in its tutorial: grouped program ids, rows and columns modulo their sizes."""

import triton
import triton.language as tl


@triton.jit
def grouped(  # noqa: PLR0917
    a, b, c, M, N, K, lda, ldb, ldc,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """A program has BM x BN elements of C; neighbours in a group of GROUP rows share columns of B."""
    program = tl.program_id(axis=0)
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    in_group = GROUP * columns
    first = program // in_group * GROUP
    size = min(rows - first, GROUP)
    at_m = first + program % in_group % size
    at_n = program % in_group // size
    m = (at_m * BM + tl.arange(0, BM)) % M
    n = (at_n * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    x_at, y_at = a + m[:, None] * lda + k[None, :], b + k[:, None] * ldb + n[None, :]
    accumulator = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        x = tl.load(x_at, mask=k[None, :] < K - step * BK, other=0.0)
        y = tl.load(y_at, mask=k[:, None] < K - step * BK, other=0.0)
        accumulator = tl.dot(x, y, accumulator)
        x_at += BK
        y_at += BK * ldb
    m = at_m * BM + tl.arange(0, BM)
    n = at_n * BN + tl.arange(0, BN)
    tl.store(c + m[:, None] * ldc + n[None, :], accumulator.to(tl.float16), mask=(m[:, None] < M) & (n[None, :] < N))

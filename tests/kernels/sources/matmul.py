# SPDX-License-Identifier: Apache-2.0
"""C = act(A * B) in Triton: masked edges, grouped program ids, parts of the sum by atomic adds."""

import triton
import triton.language as tl


@triton.jit
def matmul(  # noqa: PLR0917
    a, b, c, M, N, K, lda, ldb, ldc,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    GROUP: tl.constexpr, ACT: tl.constexpr, SPLITS: tl.constexpr,
):  # fmt: skip
    """A program has BM x BN elements of C; neighbours in a group of GROUP rows share columns of B."""
    program = tl.program_id(0)
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = program // (GROUP * columns) * GROUP
    size = min(rows - first, GROUP)
    m = (first + program % (GROUP * columns) % size) * BM + tl.arange(0, BM)
    n = program % (GROUP * columns) // size * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    accumulator = tl.zeros((BM, BN), dtype=tl.int32 if a.dtype.element_ty == tl.int8 else tl.float32)
    for step in range(tl.program_id(1), tl.cdiv(K, BK), SPLITS):
        at = step * BK + k
        x = tl.load(a + m[:, None] * lda + at[None, :], mask=(m[:, None] < M) & (at[None, :] < K), other=0.0)
        y = tl.load(b + at[:, None] * ldb + n[None, :], mask=(at[:, None] < K) & (n[None, :] < N), other=0.0)
        accumulator = tl.dot(x, y, accumulator, out_dtype=accumulator.dtype)
    if ACT == "relu":
        accumulator = tl.maximum(accumulator, 0.0)
    if ACT == "leaky":
        accumulator = tl.where(accumulator >= 0, accumulator, 0.25 * accumulator)
    to, there = c + m[:, None] * ldc + n[None, :], (m[:, None] < M) & (n[None, :] < N)
    if SPLITS == 1:
        tl.store(to, accumulator.to(c.dtype.element_ty), mask=there)
    else:
        tl.atomic_add(to, accumulator, mask=there)

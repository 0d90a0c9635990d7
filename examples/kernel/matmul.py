# SPDX-License-Identifier: Apache-2.0
"""A matrix product in Triton, compiled for sm_80 on any machine: `python matmul.py` writes matmul.ptx."""

from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def matmul(a, b, c, M, N, K, lda, ldb, ldc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):  # noqa: PLR0913, PLR0917
    """C = A * B; a program computes BM x BN elements."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(tl.cdiv(K, BK)):
        at = step * BK + k
        x = tl.load(a + m[:, None] * lda + at[None, :], mask=(m[:, None] < M) & (at[None, :] < K), other=0.0)
        y = tl.load(b + at[:, None] * ldb + n[None, :], mask=(at[:, None] < K) & (n[None, :] < N), other=0.0)
        total = tl.dot(x, y, total)
    tl.store(c + m[:, None] * ldc + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))


if __name__ == "__main__":
    pointers = {"a": "*fp16", "b": "*fp16", "c": "*fp32"}
    constants = {"BM": 64, "BN": 64, "BK": 32}
    types = {name: pointers.get(name, "constexpr" if name in constants else "i32") for name in matmul.arg_names}
    divisible = [matmul.arg_names.index(name) for name in ("a", "b", "c", "K", "N", "lda", "ldb", "ldc")]
    source = ASTSource(matmul, types, constants, {(at,): [["tt.divisibility", 16]] for at in divisible})
    made = triton.compile(source, target=GPUTarget("cuda", 80, 32), options={"num_warps": 4, "num_stages": 3})
    Path("matmul.ptx").write_text(made.asm["ptx"])
    print(f"matmul.ptx: {32 * made.metadata.num_warps} threads, {made.metadata.shared} bytes of shared memory")

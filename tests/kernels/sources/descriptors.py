# SPDX-License-Identifier: Apache-2.0
"""C = A * B in Triton by tensor descriptors that the kernel makes; a program goes on to the next tile."""

import triton
import triton.language as tl


@triton.jit
def descriptors(  # noqa: PLR0917
    a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WS: tl.constexpr
):  # fmt: skip
    """A (m, k) and B (n, k) are stored along k; WS divides the warps into those that load and those that multiply."""
    x = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    y = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    z = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    columns = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * columns, tl.num_programs(0), warp_specialize=WS):
        m, n = tile // columns * BM, tile % columns * BN
        accumulator = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, K, BK):
            accumulator = tl.dot(x.load([m, k]), y.load([n, k]).T, accumulator)
        z.store([m, n], accumulator.to(c.dtype.element_ty))

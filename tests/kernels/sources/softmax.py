# SPDX-License-Identifier: Apache-2.0
"""Row softmax, its logarithm and the cross entropy in Triton: a program has a row."""

import triton
import triton.language as tl


@triton.jit
def softmax(x, y, N, ld, BLOCK: tl.constexpr, LOG: tl.constexpr):
    """Y[m,n] = exp(X[m,n]) / sum_n exp(X[m,n]), or its logarithm."""
    row = tl.program_id(0)
    n = tl.arange(0, BLOCK)
    given = tl.load(x + row * ld + n, mask=n < N, other=float("-inf")).to(tl.float32)
    shifted = given - tl.max(given, 0)
    powers = tl.exp(shifted)
    total = tl.sum(powers, 0)
    made = shifted - tl.log(total) if LOG else powers / total
    tl.store(y + row * ld + n, made.to(y.dtype.element_ty), mask=n < N)

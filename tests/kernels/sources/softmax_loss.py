# SPDX-License-Identifier: Apache-2.0
"""The cross entropy of rows of logits, by labels or by weights, block by block with a running maximum, in Triton."""

import triton
import triton.language as tl


@triton.jit
def loss(x, t, y, N, ld, BLOCK: tl.constexpr, SOFT: tl.constexpr):
    """A program has a row: log(sum_n exp(x)) less the logit of its label, or less the weighted sum of its logits."""
    row = tl.program_id(0)
    most, total, taken = float("-inf"), 0.0, 0.0
    label = 0 if SOFT else tl.load(t + row)
    for start in range(0, N, BLOCK):
        n = start + tl.arange(0, BLOCK)
        given = tl.load(x + row * ld + n, mask=n < N, other=float("-inf")).to(tl.float32)
        new = tl.maximum(most, tl.max(given, 0))
        total = total * tl.exp(most - new) + tl.sum(tl.exp(given - new), 0)
        clear = tl.where(n < N, given, 0.0)
        if SOFT:
            taken += tl.sum(clear * tl.load(t + row * ld + n, mask=n < N, other=0.0), 0)
        else:
            taken += tl.sum(tl.where(n == label, clear, 0.0), 0)
        most = new
    tl.store(y + row, most + tl.log(total) - taken)

# SPDX-License-Identifier: Apache-2.0
"""Local memory: that of each thread, of the variables that a kernel declares there."""

from __future__ import annotations

import numpy as np

from verify.kernel.data.values import UNWRITTEN, Bits, Ids
from verify.kernel.ptx.source import Kernel
from verify.kernel.state.findings import Findings, Severity, Unclear
from verify.kernel.state.order import Ints
from verify.kernel.state.windows import WINDOW

MAX_LOCAL = 1 << 27  # bytes of local memory of a batch's threads, each kept with its label


class LocalMemory:
    """The local memory of a batch's threads: a row of bytes for each thread, with the label of each byte."""

    labels: Ids  # [thread][byte]
    plain: np.ndarray[tuple[int, int], np.dtype[np.uint8]]  # the bits of those that are plain

    def __init__(self, kernel: Kernel, findings: Findings) -> None:
        self.findings = findings
        self.symbols: dict[str, int] = {}  # where each variable lies in a thread's memory
        self.size = 0  # bytes of a thread
        for name, variable in kernel.local.items():
            align = max(variable.align, 1)
            self.symbols[name] = -(-self.size // align) * align
            self.size = self.symbols[name] + variable.size

    def __bool__(self) -> bool:
        """Whether the kernel has any."""
        return self.size > 0

    def start(self, threads: int) -> None:
        """Set up the memory of a batch, which nobody has written; Unclear where it is too large to keep."""
        if self.size * threads > MAX_LOCAL:
            raise Unclear(0, f"{self.size} bytes of local memory for each of {threads} threads: too many to keep")
        self.labels = np.full((threads, max(self.size, 16)), UNWRITTEN << 3, np.uint32)
        self.plain = np.zeros(self.labels.shape, np.uint8)

    def places(self, addresses: Bits, count: int) -> Ints:
        """Return the bytes (threads, count) of accesses; one outside is reported, and moved to the start."""
        first = addresses.astype(np.int64)
        first = np.where(first >> (WINDOW - 1) & 1, first - (1 << WINDOW), first)  # below the start of the window
        outside = (first < 0) | (first + count > self.size)
        if outside.any():
            text = f"byte {int(first[outside][0])} of local memory, which has {self.size}"
            self.findings.add("local memory out of bounds", Severity.MEMORY, text)
            first = np.where(outside, 0, first)
        if count & (count - 1) == 0 and (odd := first & (count - 1)).any():
            text = f"byte {int(first[odd > 0][0])} of local memory, for {count} bytes at once"
            self.findings.add("misaligned access", Severity.MEMORY, text)
        return first[:, None] + np.arange(count)

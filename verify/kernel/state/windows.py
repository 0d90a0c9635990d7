# SPDX-License-Identifier: Apache-2.0
"""The windows of addresses: array i of the claim starts at (i + 1) << 40, shared and local memory behind all arrays.

Main declarations: `WINDOW`, `check_window`.
"""

from __future__ import annotations

import numpy as np

from verify.kernel.data.values import Bits
from verify.kernel.state.findings import Findings, Severity, Unclear

PARAMETER_ROOM = 20  # bits of an address within one parameter
# An address that leaves its array by less than 2^40 bytes comes to no other array: the error is seen as what it is, an
# access out of bounds, and not as one of another array's elements. The ISA (6.4.1.1) leaves the windows' places open.
WINDOW = 40  # bits of an address within its window
# Far above the number of any array: a grouped product has hundreds of them. Signed 64 bits must hold an address.
SHARED_WINDOW, LOCAL_WINDOW, PARAMETER_WINDOW, MODULE_WINDOW = range(1 << 22, (1 << 22) + 4)
GENERIC = "6.4.1.1"  # of the PTX ISA: generic addressing


def check_window(findings: Findings, bits: Bits, window: int, *, generic: bool = False) -> None:
    """Report offsets from a window's start used as generic addresses, or the opposite; Unclear for any other."""
    if not len(bits) or (not generic and int(bits.max()) >> WINDOW == 0):
        return
    number = (bits + np.uint64(1 << (WINDOW - 1))) >> np.uint64(WINDOW)  # what lies just below its start is near it
    name = "shared" if window == SHARED_WINDOW else "local"
    if not np.isin(number, (0, window)).all():
        raise Unclear(findings.line, f"the address is not in {name} memory")
    if generic and (number == 0).any():
        text = f"no state space is named, so the address is a generic one, and here is an offset in {name} memory: "
        text += f"write .{name}, or convert the address by cvta.{name}"
        findings.add("an offset as a generic address", Severity.LETTER, text, GENERIC)
    elif not generic and number.any():
        text = f"the address is a generic one, and the instruction takes an offset in {name} memory: convert it by "
        findings.add("a generic address as an offset", Severity.MEMORY, f"{text}cvta.to.{name}", GENERIC)

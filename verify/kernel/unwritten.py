# SPDX-License-Identifier: Apache-2.0
"""Registers that no instruction wrote: they hold any bits, and a kernel that is wrong with some of them is wrong.

Where such a register leaves a verdict open, the kernel is interpreted again with bits in all of them: as many random
ones as there is room for, which are an address of nothing, then the opposite of each, which has the other sign and the
other truth, then small numbers, which are lanes, sizes and phases.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from verify.kernel.ptx.source import WIDTHS, Kernel
from verify.kernel.state.findings import WARNINGS, Finding, Severity

WAYS = ("random", "opposite", "small")
_SMALL = 0x3F  # the bits of a small number
_ROOM = 64  # bits of a register that can be plain
_NAMED = 2  # registers


def fill_registers(kernel: Kernel, seed: int, way: str) -> Kernel:
    """Return a kernel whose registers hold bits from the start, in one of the `WAYS`; one seed has one set of bits.

    >>> kernel = Kernel("k", "sm_80", {}, {}, {}, [], ["b32", "pred"], ["%r1", "%p1"], None)
    >>> bits, opposite, small = (fill_registers(kernel, 1, way).contents for way in WAYS)
    >>> [one + other for one, other in zip(bits, opposite)] == [2**32 - 1, 1], small[0] < 64 < bits[0]
    (True, True)
    """
    draw, contents = random.Random(seed), []
    for kind in kernel.registers:
        width = min(WIDTHS.get(kind, _ROOM), _ROOM)
        bits, all_ones = draw.getrandbits(width), (1 << width) - 1
        contents.append(bits ^ all_ones if way == "opposite" else bits & _SMALL if way == "small" else bits)
    return replace(kernel, contents=contents)


def blame_contents(findings: Sequence[Finding], kernel: Kernel, read: Mapping[int, int]) -> tuple[Finding, ...]:
    """Return findings of which the first that refutes says what the unwritten registers held; `read` has their lines.

    >>> kernel = Kernel("k", "sm_80", {}, {}, {}, [], ["b32"], ["%r1"], None, contents=[255])
    >>> wrong = Finding("out of bounds", Severity.MEMORY, 7, "byte 255 of A")
    >>> blame_contents([wrong], kernel, {0: 5})[0].text
    'byte 255 of A; line 5 reads %r1, which no instruction wrote before: it may hold 0xff, as here'
    """
    open_ = {*WARNINGS, Severity.UNKNOWN}
    at = next(number for number, finding in enumerate(findings) if finding.severity not in open_)
    named = list(read.items())[:_NAMED]
    said = "; ".join(
        f"line {line} reads {kernel.names[index]}, which no instruction wrote before: it may hold "
        f"{kernel.contents[index]:#x}, as here" for index, line in named
    )  # fmt: skip
    return (*findings[:at], findings[at]._replace(text=f"{findings[at].text}; {said}"), *findings[at + 1 :])

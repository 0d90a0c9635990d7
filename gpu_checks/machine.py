# SPDX-License-Identifier: Apache-2.0
"""What a probe needs of the thing that executes instructions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
import numpy.typing as npt

from gpu_checks.packing import Words
from gpu_checks.values import DeviceInfo, Table

if TYPE_CHECKING:
    from isa_tables.signature import Signature

Rows = npt.NDArray[np.uint32]


class Machine(Protocol):
    """Runs probes. Every method raises Refused or DeviceFault where it cannot give a true answer."""

    @property
    def info(self) -> DeviceInfo:
        """Which GPU this is."""
        ...

    def prepare(self, signatures: Sequence[Signature]) -> None:
        """Announce what will be asked, so that it can be compiled together."""
        ...

    def table(self, signature: Signature) -> Table:
        """The D slot (or code) that each one-hot pair reached: [A slot][B slot]."""
        ...

    def run(self, signature: Signature, a: Words, b: Words, c: Words) -> Words:
        """Issue the instruction once per trial on words [trial][lane][word]; D is poisoned beforehand."""
        ...

    def move(self, name: Literal["ldmatrix", "stmatrix"], words: Words, rows: Rows) -> Words:
        """One .x4 matrix move; lane r passes the address of the 16-byte row rows[r].

        ldmatrix takes the memory image [row][word] and gives registers [lane][register]; stmatrix takes
        registers and gives the image, whose bytes are 0xFF where nothing was stored.
        """
        ...

    def sass(self, signature: Signature) -> str:
        """The matrix opcodes the instruction was compiled to, empty where no disassembler is found."""
        ...

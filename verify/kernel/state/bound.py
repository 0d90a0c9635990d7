# SPDX-License-Identifier: Apache-2.0
"""An instruction as a machine executes it: what `instructions.handlers` binds once, before the first thread runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from verify.kernel.data.registers import Word
from verify.kernel.data.values import Mask

Run: TypeAlias = Callable[[Mask | None], None]  # what it does to the threads of a mask
Read: TypeAlias = Callable[[], Word]


class BoundInstruction(NamedTuple):
    """What the machine knows of an instruction before it executes it."""

    run: Run  # executes it
    lanes: int  # that must execute it together
    members: Read | None  # the mask of the lanes that must, where it has one
    pure: bool  # whether it writes registers alone
    doubts: bool  # whether data may decide which threads execute it
    control: str  # branch, exit, barrier, wait or empty

# SPDX-License-Identifier: Apache-2.0
"""What a probe takes in and gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Labels = npt.NDArray[np.int64]  # [lane][value][...]
Table = npt.NDArray[np.uint16]  # [A slot][B slot] -> D slot or a code of `kernels`

ROW, COLUMN, CONTRACTED, PRODUCT = range(4)  # the columns of a label: m, n and k class, product


class Refused(Exception):
    """The GPU or its compiler will not take the instruction; the message says why. The device is unharmed."""


class DeviceFault(Exception):
    """The instruction broke the CUDA context: a trap, an illegal access. Nothing more runs in this process."""


@dataclass(frozen=True, slots=True)
class Unavailable:
    """There is no answer from silicon, and why, as one sentence."""

    reason: str


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """The GPU and the software that compiled for it."""

    gpu: str
    sm: str  # the architecture compiled for: "sm_90a"
    driver: str  # version of the driver, empty where it could not be read
    cuda: str  # CUDA version of the driver
    nvrtc: str


@dataclass(frozen=True, slots=True, eq=False)
class Anchor:
    """Labels that memory addresses give to the elements of one operand."""

    name: str  # ldmatrix, stmatrix
    operand: str
    premise: str  # what has to hold for the labels to be the instruction's own
    labels: Labels  # [lane][value] -> (row, col) of the operand, -1 where the anchor is silent


@dataclass(frozen=True, slots=True)
class Controls:
    """Products of random exact integers through the recovered labels: D elements that came out wrong.

    `relabelled` uses the same labels after random permutations of m, n and k, which must not matter;
    `rotated` has the D lanes rotated by one, which must. With one lane, A's elements are rotated instead.
    """

    trials: int
    product: int
    relabelled: int
    rotated: int

    @property
    def hold(self) -> bool:
        """Whether the probe passed where it must and failed where it must."""
        return self.product == 0 and self.relabelled == 0 and self.rotated > 0


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """What one GPU showed about one instruction. A slot is lane * values + value.

    `operands[x][lane][value]` is (row class, column class, k class, product) as `classes.classes` defines
    them, -1 where the operand has no such axis or the table gave no class.
    """

    mnemonic: str
    operands: Mapping[str, Labels]  # A, B, D
    passthrough: Labels  # [lane][value] of C -> the D slot it arrives in when A = B = 0; -1: none or several
    anchors: tuple[Anchor, ...]
    controls: Controls | None  # None where the labels are too broken to multiply through
    pairs: int
    exceptions: tuple[str, ...]
    hash: str  # SHA-256 of the observed table: D slots as little-endian 16-bit numbers, A slot major
    gpu: str
    sm: str
    driver: str
    cuda: str
    nvrtc: str
    sass: str  # matrix opcodes the instruction became; empty where no disassembler was found
    emulated: bool | None  # not one native opcode; None where the SASS was not seen
    kernel_hash: str  # SHA-256 of the CUDA text of the probe
    date: str
    file: str = field(default="", kw_only=True)  # where it was read, empty for a live one

    @property
    def sound(self) -> bool:
        """Whether the table is a matrix product without exception and the controls hold."""
        return not self.exceptions and self.controls is not None and self.controls.hold

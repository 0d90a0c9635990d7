# SPDX-License-Identifier: Apache-2.0
"""What a probe takes in and gives back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from gpu_checks.arrays import np

if TYPE_CHECKING:
    import numpy.typing as npt

Labels: TypeAlias = "npt.NDArray[np.signedinteger[Any]]"  # [lane][value][...]
Table: TypeAlias = "npt.NDArray[np.uint16]"  # [A slot][B slot] -> D slot or a code of `kernels`

ROW, COLUMN, CONTRACTED, PRODUCT = range(4)  # the columns of a label: m, n and k class, product


class Unsupported(Exception):
    """The GPU or its compiler will not take the instruction; the message says why. The device is unharmed."""


class DeviceFault(Exception):
    """The instruction broke the CUDA context: a trap, an illegal access. Nothing more runs in this process."""


class Unavailable(NamedTuple):
    """No evidence from a GPU; `reason` is why, in one sentence."""

    reason: str


class DeviceInfo(NamedTuple):
    """The GPU and the software that compiled for it."""

    gpu: str
    sm: str  # the architecture compiled for: "sm_90a"
    driver: str  # version of the driver, empty where it could not be read
    cuda: str  # CUDA version of the driver
    nvrtc: str

    @property
    def file(self) -> str:
        """The name of a file of recordings: "nvidia_h200.jsonl"."""
        return f"{self.gpu.lower().replace(' ', '_')}.jsonl"


class ElementCoordinates(NamedTuple):
    """Absolute coordinates of the elements of one operand, from the memory addresses of an instruction."""

    name: str  # of the instruction: ldmatrix, stmatrix or wgmma
    operand: str
    premise: str  # what has to hold for the labels to be the instruction's own
    labels: Labels  # [lane][value] -> (row, col) of the operand, -1 where it has none


class Controls(NamedTuple):
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


class Image(NamedTuple):
    """A matrix in shared memory in one mode of its descriptor: which element each place of the image holds."""

    operand: str  # A or B
    swizzle: str  # none, 32B, 64B or 128B
    major: str  # K or MN
    lbo: int  # the descriptor's leading byte offset
    sbo: int  # and its stride byte offset
    labels: Labels  # [0][element of the image in order of address] -> classes, as in `Recording.operands`


class Metadata(NamedTuple):
    """How the metadata of a sparse instruction moves the stored elements of A along k.

    A field is four bits of E. `rulers[F]` is for each stored element the lane and the field that decide its k
    when the selector is F, and `kept[pattern]` its k class when that field is the pattern.
    """

    kept: Mapping[int, Labels]  # pattern -> [lane][value] of A -> k class
    rulers: Mapping[int, Labels]  # F -> [lane][value] of A -> (lane of E, field counted from the low bits)
    words: int  # random configurations of all fields in which every element had the k that this gives


class SlotClasses(NamedTuple):
    """The classes of every slot of a matrix product, as either probe observed them, and what they were taken from."""

    operands: Mapping[str, Labels]  # A (its k under the first pattern), B or its plainest image, D
    pairs: int  # of a slot of A and a slot of B
    hash: str  # SHA-256 of the observed table
    notes: tuple[str, ...]  # what does not fit a matrix product
    metadata: Metadata | None = None  # of a sparse instruction
    images: tuple[Image, ...] = ()  # the other modes of matrices in shared memory
    coordinates: tuple[ElementCoordinates, ...] | None = None  # None where they come from other instructions

    def ways(self) -> Labels:
        """[pattern][A slot] -> k, the one row of a dense instruction if there are no patterns."""
        kept = [self.operands["A"][..., CONTRACTED]] if self.metadata is None else list(self.metadata.kept.values())
        return np.stack([k.reshape(-1) for k in kept])


class WorkerError(RuntimeError):
    """A probe raised what no probe may raise: a defect here, not of the GPU. In its first line what, then where."""

    def summary(self) -> str:
        """Return what, in one line; where too, under LANECHECK_TRACEBACK."""
        what, _, where = str(self).partition("\n")
        if os.environ.get("LANECHECK_TRACEBACK"):
            return f"internal error: {what}\n{where}"
        return f"internal error: {what} (LANECHECK_TRACEBACK=1 shows where)"

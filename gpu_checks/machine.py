# SPDX-License-Identifier: Apache-2.0
"""The interface of a machine that executes instructions for probes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from gpu_checks.arrays import np
from gpu_checks.kernels.packing import Words
from gpu_checks.model import DeviceInfo, Table

if TYPE_CHECKING:
    import numpy.typing as npt

    from gpu_checks.kernels.forms import InstructionForm
    from gpu_checks.kernels.smem_matrix import Window
    from isa_tables.signature import Signature

Rows: TypeAlias = "npt.NDArray[np.uint32]"


@dataclass(frozen=True, slots=True)
class Numbering:
    """How B's elements are numbered: planes of ones, then of the digits of each element's number, the lowest first."""

    planes: Words  # [plane][lane][word]
    base: int  # of the digits
    numbers: int  # that are there: 0 up to this
    columns: int  # of B that are not zero: an element of A contributes to so many elements of D


@dataclass(frozen=True, slots=True)
class DigitQuery:
    """What a digit-coded probe runs: the planes of B, and metadata or scale factors for every item.

    Each of the chosen elements of A is one, in turn, under each of the fixed words: item = configuration *
    chosen + place.
    """

    form: InstructionForm  # the way in which the instruction is written
    a: Window | None  # the image of A in shared memory; None where it is in registers
    b: Window | None  # that of B
    chosen: npt.NDArray[np.uint32]  # slots of A
    numbering: Numbering  # of B
    fixed: Words  # [configuration][lane][word]


@dataclass(frozen=True, slots=True)
class Hits:
    """What D showed for each item: how many elements changed, which, and the codes in them."""

    counts: npt.NDArray[np.uint32]  # [item]
    places: npt.NDArray[np.uint16]  # [item][place], rising; places from counts on are undefined
    codes: npt.NDArray[np.int32]  # [item][place]


class ProbeMachine(Protocol):
    """Runs probes. Every method raises Unsupported or DeviceFault where it cannot give a true answer."""

    @property
    def info(self) -> DeviceInfo:
        """Which GPU this is."""

    def open(self) -> None:
        """Prepare to run kernels."""

    def prepare(self, signatures: Sequence[Signature]) -> None:
        """Announce the instructions that will be probed, so that they can be compiled together."""

    def table(self, signature: Signature) -> Table:
        """Return the D slot (or code) that each one-hot pair contributes to: [A slot][B slot]."""

    def hits(self, signature: Signature, queries: Sequence[DigitQuery]) -> list[Hits]:
        """For each query, the D elements that each A element contributes to, and the numbers of the B elements."""

    def begin(
        self, signature: Signature, a: Words, b: Words, c: Words, fixed: Words | None = None
    ) -> Callable[[], Words]:
        """Issue the instruction once per trial on words [trial][lane][word]; what is returned waits for D.

        D is poisoned beforehand. A matrix in shared memory is one lane's words: its plainest image. `fixed` are
        metadata and the like.
        """

    def move(self, signature: Signature, memory: Words, rows: Rows, given: Words) -> tuple[Words, Words]:
        """Return memory [trial][row][word] and registers [trial][lane][register] after a matrix move of each trial.

        Lane l passes the address of the 16-byte row rows[trial][l]. The rows of Tensor Memory are its lanes, the words
        its columns, and rows[trial][l] is a column. What the move does not write is as given.
        """

    def sass(self, signature: Signature) -> str:
        """Return the matrix opcodes the instruction was compiled to, empty where no disassembler is found."""

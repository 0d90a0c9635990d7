# SPDX-License-Identifier: Apache-2.0
"""What one GPU showed about one instruction: a matrix product, or a move between memory and registers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpu_checks.model import Controls, ElementCoordinates, Image, Labels, Metadata


# Nothing is made of this class alone: it needs no methods of its own.
@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False, eq=False)
class Observed:
    """What belongs to every recording: the instruction, the GPU, the software and the day."""

    mnemonic: str  # as the ISA tables have it
    exceptions: tuple[str, ...]  # what does not fit a matrix product, or a move; empty where all does
    gpu: str  # its name, as the driver has it
    sm: str  # the architecture compiled for: "sm_90a"
    driver: str  # version, empty where it could not be read
    cuda: str  # CUDA version of the driver
    nvrtc: str  # version of the compiler
    sass: str  # matrix opcodes the instruction became; empty where no disassembler was found
    emulated: bool | None  # not one native opcode; None where the SASS was not seen
    kernel_hash: str  # SHA-256 of the CUDA text of the probe
    date: str  # of the run, YYYY-MM-DD
    file: str = ""  # where it was read, empty for a live one
    line: int = 0  # of that file
    stale: bool = False  # by kernels of another text than today's; set where the recording is looked up


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Recording(Observed):
    """What one GPU showed about one matrix product. A slot is lane * values + value.

    `operands[x][lane][value]` is (row class, column class, k class, product) as `pair_relation.classes` defines
    them, -1 where the operand has no such axis or the table gave no class. A matrix in shared memory has one
    lane, and its values are the elements of its plainest image in order of address. A's k classes of a sparse
    instruction are those under the first pattern of its metadata.
    """

    operands: Mapping[str, Labels]  # of A, B and D
    passthrough: Labels  # [lane][value] of C -> the D slot it arrives in when A = B = 0; -1: none or several
    coordinates: tuple[ElementCoordinates, ...]  # absolute, of operands whose registers memory gives them to
    controls: Controls | None  # None where the labels are too broken to multiply through
    pairs: int  # of a slot of A and a slot of B, all of which were observed
    hash: str  # SHA-256 of the observed table (pair_relation.digest or interactions.digest, by the probe)
    probe: str = "pairs"  # pairs or codes: how the table was observed
    images: tuple[Image, ...] = ()  # the other modes of matrices in shared memory
    metadata: Metadata | None = None  # of a sparse instruction

    @property
    def sound(self) -> bool:
        """Whether the table is a matrix product without exception and the controls hold."""
        return not self.exceptions and self.controls is not None and self.controls.hold


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Move(Observed):
    """What one GPU showed about a move between memory rows and registers.

    `places[lane][register byte]` is (lane, byte): for ldmatrix and stmatrix the lane that gave the row's
    address and the byte of that row, for movmatrix the lane and the byte of its source register, for tcgen05.ld and
    st the lane of Tensor Memory and the byte behind the address, as `tensor_memory` reads and writes them.
    """

    places: Labels
    trials: int  # random choices of addresses, under all of which the places were the same

    @property
    def sound(self) -> bool:
        """Whether every byte of the registers moved to or from one byte, whatever the addresses."""
        return not self.exceptions

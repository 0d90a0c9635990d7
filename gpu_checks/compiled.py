# SPDX-License-Identifier: Apache-2.0
"""Runs a compiled kernel, PTX text of any compiler, on the GPU of this machine: bytes go in, bytes come back.

Nothing is known here of what the kernel means: its memory is arrays of bytes, its parameters are bytes, pointers into
these arrays, or tensor maps of them.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gpu_checks.device.cuda import Array, load
from gpu_checks.model import Unavailable, Unsupported
from gpu_checks.record import Bench
from gpu_checks.tilings.runner import FACTORY
from gpu_checks.worker import Worker

_TARGET = re.compile(r"^\s*\.target\s+sm_(\d+)([af]?)", re.MULTILINE)
_TYPES = {
    "u8": 0,
    "u16": 1,
    "u32": 2,
    "s32": 3,
    "f16": 6,
    "f32": 7,
    "f64": 8,
    "bf16": 9,
    "tf32": 11,
}  # CUtensorMapDataType of cuda.h
_SWIZZLES = {"none": 0, "32B": 1, "64B": 2, "128B": 3}  # CUtensorMapSwizzle of cuda.h


@dataclass(frozen=True, slots=True)
class Pointer:
    """A parameter that points to byte `offset` of an array."""

    array: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class TensorMapParameter:
    """A parameter of 128 bytes that describes a tensor to the copy engine."""

    array: int  # that holds it
    offset: int  # of the tensor in the array, in bytes
    type: str  # of an element: f16, bf16, f32, ...
    extents: tuple[int, ...]  # in elements, the contiguous axis first
    strides: tuple[int, ...]  # in bytes, of all axes but the first
    box: tuple[int, ...]  # in elements, of one copy
    swizzle: str  # none, 32B, 64B or 128B


@dataclass(frozen=True, slots=True, eq=False)
class RunCompiled:
    """One launch of a compiled kernel, as a job for a worker process."""

    ptx: str  # the text
    entry: str  # the name of the kernel
    grid: tuple[int, ...]  # CTAs
    block: tuple[int, ...]  # threads of each
    shared: int  # bytes of dynamic shared memory
    memory: tuple[Array, ...]  # arrays of bytes
    parameters: tuple[bytes | Pointer | TensorMapParameter, ...]  # in the order of the text

    @property
    def signature(self) -> None:
        """None: the kernel is compiled already."""
        return

    def on(self, bench: Bench) -> list[Array]:
        """Return the arrays after the launch; Unsupported or DeviceFault where it cannot be made."""
        here = bench.machine.info
        check_target(self.ptx, here.sm, here.gpu)
        module = load(self.ptx.encode() + b"\0")
        return module.call(self.entry, (self.grid, self.block, self.shared), self.memory, self.bytes_of)

    def bytes_of(self, addresses: Sequence[int]) -> list[bytes]:
        """Return the bytes of each parameter, where the arrays begin at these addresses."""
        return [
            parameter
            if isinstance(parameter, bytes)
            else (addresses[parameter.array] + parameter.offset).to_bytes(8, "little")
            if isinstance(parameter, Pointer)
            else _encode(parameter, addresses[parameter.array] + parameter.offset)
            for parameter in self.parameters
        ]


def check_target(ptx: str, sm: str, gpu: str) -> None:
    """Raise Unsupported unless PTX for its target runs on an architecture: on later ones, or with `a` on its own."""
    match = _TARGET.search(ptx)
    if match is None:
        raise Unsupported("the text has no .target: it isn't PTX")
    own, here = int(match[1]), int(sm[3:].rstrip("af"))
    fits = own == here if match[2] == "a" else own // 10 == here // 10 and own <= here if match[2] else own <= here
    if not fits:
        raise Unsupported(f"the kernel is for sm_{match[1]}{match[2]}; {gpu} is {sm}")


def _encode(tensor_map: TensorMapParameter, address: int) -> bytes:
    """Return the tensor map as the driver encodes it. Unsupported where it rejects it."""
    room = (ctypes.c_uint64 * 24)()  # of which 128 bytes begin at a multiple of 64
    start = -(-ctypes.addressof(room) // 64) * 64
    rank = len(tensor_map.extents)
    driver = ctypes.CDLL("libcuda.so.1")
    code = driver.cuTensorMapEncodeTiled(
        ctypes.c_void_p(start),
        ctypes.c_int(_TYPES[tensor_map.type]),
        ctypes.c_uint32(rank),
        ctypes.c_void_p(address),
        (ctypes.c_uint64 * rank)(*tensor_map.extents),
        (ctypes.c_uint64 * (rank - 1))(*tensor_map.strides),
        (ctypes.c_uint32 * rank)(*tensor_map.box),
        (ctypes.c_uint32 * rank)(*[1] * rank),
        ctypes.c_int(0),
        ctypes.c_int(_SWIZZLES[tensor_map.swizzle]),
        ctypes.c_int(0),
        ctypes.c_int(0),
    )
    if code:
        raise Unsupported(f"the driver rejects the tensor map {tensor_map} with error {code}")
    return ctypes.string_at(start, 128)


def run_all(jobs: Sequence[RunCompiled]) -> Iterator[list[Array] | Unavailable]:
    """Yield the memory after each launch, in order; Unavailable, with the reason, for one that could not be made."""
    with Worker(FACTORY) as worker:
        for _, memory in worker.run_jobs(jobs):
            yield memory


__all__ = ["Pointer", "RunCompiled", "TensorMapParameter", "check_target", "run_all"]

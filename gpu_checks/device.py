# SPDX-License-Identifier: Apache-2.0
"""The GPU, through CuPy and NVRTC: the only file that imports cupy, and only inside functions."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gpu_checks.kernels import MATRIX_SOURCES, WARPS, module
from gpu_checks.machine import Rows
from gpu_checks.packing import POISON, Words, words_per_lane
from gpu_checks.values import DeviceFault, DeviceInfo, Refused, Table, Unavailable

if TYPE_CHECKING:
    from gpu_checks.sass import Listing
    from isa_tables.signature import Signature

GROUP = 16  # instructions compiled as one module: NVRTC's start-up is half the time of a small one
_UNWRITTEN = 0xFFF0  # in the table before the kernel runs: no slot and no code


def device() -> DeviceInfo | Unavailable:
    """The GPU that probes would run on, or why there is none. Creates no CUDA context."""
    try:
        return _look()
    except Refused as refused:
        return Unavailable(str(refused))


def _look() -> DeviceInfo:
    if importlib.util.find_spec("cupy") is None:
        raise Refused("CuPy is not installed: pip install 'lanecheck[cuda13]' (or cuda12)")
    try:
        import cupy
        from cupy.cuda import runtime
    except Exception as error:  # a broken CUDA installation raises ImportError, OSError or RuntimeError
        raise Refused(f"CuPy cannot be imported: {_line(error)}") from error
    if runtime.driverGetVersion() == 0:
        raise Refused("no NVIDIA driver is loaded")
    try:
        runtime.getDeviceCount()  # no device is an error too
    except runtime.CUDARuntimeError as error:
        raise Refused(f"no CUDA device: {_line(error)}") from error
    properties = runtime.getDeviceProperties(cupy.cuda.Device().id)
    name = properties["name"].decode()
    capability = 10 * properties["major"] + properties["minor"]
    nvrtc = _nvrtc(name, capability)
    suffix = "a" if capability >= 90 else ""  # the architecture-specific instructions too
    offered = runtime.driverGetVersion()  # CuPy's own runtime is linked in and says nothing about the machine
    cuda = f"{offered // 1000}.{offered % 1000 // 10}"
    return DeviceInfo(name, f"sm_{capability}{suffix}", _driver(), cuda, nvrtc)


def _nvrtc(gpu: str, capability: int) -> str:
    """Version of the run-time compiler; Refused unless it compiles for the GPU."""
    from cupy.cuda import nvrtc

    try:
        version = ".".join(map(str, nvrtc.getVersion()))
        known = sorted(nvrtc.getSupportedArchs())
    except Exception as error:  # the library is missing, or too old for the call
        raise Refused(f"NVRTC cannot be used: {_line(error)}") from error
    if capability not in known:
        span = f"sm_{known[0]} to sm_{known[-1]}"
        raise Refused(f"{gpu} is sm_{capability}; NVRTC {version} compiles for {span}")
    return version


def _driver() -> str:
    """Version of the NVIDIA driver, from the kernel module or nvidia-smi; empty if neither tells."""
    import shutil
    import subprocess

    module_file = Path("/proc/driver/nvidia/version")
    text = module_file.read_text() if module_file.is_file() else ""
    smi = shutil.which("nvidia-smi")
    if not text and smi:
        command = [smi, "--query-gpu=driver_version", "--format=csv,noheader"]
        text = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False).stdout
    found = re.search(r"\b\d{3}\.\d+(?:\.\d+)?\b", text)
    return found[0] if found else ""


def machine() -> Gpu | Unavailable:
    """The GPU as a Machine, or why there is none."""
    found = device()
    return found if isinstance(found, Unavailable) else Gpu(found)


def compile_cubin(text: str, architecture: str) -> bytes:
    """Machine code for CUDA text by NVRTC; Refused with the compiler's first error."""
    from cupy.cuda import nvrtc

    program = nvrtc.createProgram(text, "probe.cu", (), ())
    try:
        nvrtc.compileProgram(program, (f"-arch={architecture}", "-std=c++17"))
        cubin: bytes = nvrtc.getCUBIN(program)
    except nvrtc.NVRTCError as error:
        log = nvrtc.getProgramLog(program).splitlines()
        told = next((line for line in log if "error" in line), _line(error))
        raise Refused(f"NVRTC refuses it for {architecture}: {told.strip()}") from error
    finally:
        nvrtc.destroyProgram(program)
    # CuPy cuts off the last byte, a zero: such a cubin loads, but no disassembler takes it.
    return cubin + b"\0" * (-len(cubin) % 8)


@dataclass(frozen=True, slots=True)
class _Kernels:
    """Where one instruction's kernels are: the loaded module, its place in it, and the module's disassembly."""

    module: Any
    index: int
    listing: Listing

    def function(self, name: str) -> Any:
        return self.module.get_function(f"{name}_{self.index}")


@dataclass(slots=True)
class Gpu:
    """A Machine that compiles with NVRTC, several instructions at a time, and runs on the current device."""

    info: DeviceInfo
    _groups: list[list[Signature]] = field(default_factory=list)
    _place: dict[str, int] = field(default_factory=dict)  # mnemonic -> its group
    _compiled: int = 0  # groups compiled so far
    _kernels: dict[str, _Kernels | Refused] = field(default_factory=dict)

    def prepare(self, signatures: Sequence[Signature]) -> None:
        """Group what this GPU can run; a group is compiled when first needed."""
        from isa_tables.signature import runs_on

        fresh = {s.mnemonic: s for s in signatures if s.mnemonic not in self._place}
        new = [s for s in fresh.values() if runs_on(s, self.info.sm)]
        for start in range(0, len(new), GROUP):
            self._place |= dict.fromkeys((s.mnemonic for s in new[start : start + GROUP]), len(self._groups))
            self._groups.append(new[start : start + GROUP])

    def table(self, signature: Signature) -> Table:
        """The D slot (or code) that each one-hot pair reached: [A slot][B slot]."""
        import cupy

        a_slots, b_slots = (signature.lanes * signature.operands[x].values for x in "AB")
        kernel = self._find(signature).function("relation")
        with _faults():
            out = cupy.full((a_slots, b_slots), _UNWRITTEN, np.uint16)
            spread = max(1, min(b_slots, 4096 // a_slots))
            kernel(((a_slots + WARPS - 1) // WARPS, spread), (32 * WARPS,), (out,))
            table: Table = out.get()
        return table

    def run(self, signature: Signature, a: Words, b: Words, c: Words) -> Words:
        """Issue the instruction once per trial on words [trial][lane][word]; D is poisoned beforehand."""
        import cupy

        kernel = self._find(signature).function("run")
        shape = (len(a), signature.lanes, words_per_lane(signature.operands["D"]))
        with _faults():
            out = cupy.full(shape, POISON, np.uint32)
            given = [cupy.asarray(np.ascontiguousarray(x, np.uint32)) for x in (a, b, c)]
            kernel((len(a),), (signature.lanes,), (*given, out))
            words: Words = out.get()
        return words

    def move(self, name: Literal["ldmatrix", "stmatrix"], words: Words, rows: Rows) -> Words:
        """One .x4 matrix move between memory rows and registers."""
        import cupy

        cubin = compile_cubin(MATRIX_SOURCES[name], self.info.sm)
        with _faults():
            kernel = _load(cubin).get_function(name)
            given, moved = cupy.asarray(words), cupy.full((32, 4), 0xFFFFFFFF, np.uint32)
            image, registers = (given, moved) if name == "ldmatrix" else (moved, given)
            kernel((1,), (32,), (image, cupy.asarray(rows), registers))
            out: Words = moved.get()
        return out

    def sass(self, signature: Signature) -> str:
        """The matrix opcodes of the `run` kernel, empty where no disassembler is found."""
        kernels = self._find(signature)
        return kernels.listing.opcodes.get(f"run_{kernels.index}", "")

    def _find(self, signature: Signature) -> _Kernels:
        """The module of an instruction. One group more is compiled, while this one is being disassembled."""
        self.prepare([signature])
        while self._compiled < min(len(self._groups), self._place[signature.mnemonic] + 2):
            self._compile(self._groups[self._compiled])
            self._compiled += 1
        found = self._kernels[signature.mnemonic]
        if isinstance(found, Refused):
            raise found
        return found

    def _compile(self, group: Sequence[Signature]) -> None:
        from gpu_checks.sass import Listing

        try:
            cubin = compile_cubin(module(group), self.info.sm)
        except Refused as refused:
            if len(group) == 1:
                self._kernels[group[0].mnemonic] = refused
            else:  # one of them is to blame
                for one in group:
                    self._compile([one])
            return
        listing = Listing(cubin)
        with _faults():
            loaded = _load(cubin)
        self._kernels |= {s.mnemonic: _Kernels(loaded, index, listing) for index, s in enumerate(group)}


def _load(cubin: bytes) -> Any:
    from cupy.cuda import function

    loaded = function.Module()
    loaded.load(cubin)
    return loaded


@contextmanager
def _faults() -> Iterator[None]:
    """Turn a CUDA error into DeviceFault: after most of them the context is of no more use."""
    from cupy.cuda import driver, runtime

    try:
        yield
    except (runtime.CUDARuntimeError, driver.CUDADriverError) as error:
        raise DeviceFault(_line(error)) from error


def _line(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 300 else text[:297] + "..."

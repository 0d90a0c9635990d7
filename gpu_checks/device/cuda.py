# SPDX-License-Identifier: Apache-2.0
"""The GPU, through CuPy and NVRTC: the only file that imports cupy, and only inside functions."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, TypeAlias

from gpu_checks.arrays import np
from gpu_checks.device import cache
from gpu_checks.model import DeviceFault, DeviceInfo, Unavailable, Unsupported
from lanecheck.console.digests import name_of

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
_FAST = ("--Ofast-compile=mid",)  # 0.6 of the time
_SINCE = (12, 9)  # of NVRTC
_ALIGNMENT = 256  # bytes: where arrays begin, as in memory that CUDA allocates


def device_info() -> DeviceInfo | Unavailable:
    """Return the GPU that probes would run on, or why there is none. Creates no CUDA context."""
    try:
        return _device()
    except Unsupported as error:
        return Unavailable(str(error))


def _device() -> DeviceInfo:
    if importlib.util.find_spec("cupy") is None:
        raise Unsupported("CuPy is not installed: pip install 'lanecheck[cuda13]' (or cuda12)")
    try:
        import cupy
        from cupy.cuda import runtime
    except Exception as error:  # a broken CUDA installation raises ImportError, OSError or RuntimeError
        raise Unsupported(f"CuPy cannot be imported: {_line(error)}") from error
    if runtime.driverGetVersion() == 0:
        raise Unsupported("no NVIDIA driver is loaded")
    try:
        runtime.getDeviceCount()  # no device is an error too
    except runtime.CUDARuntimeError as error:
        raise Unsupported(f"no CUDA device: {_line(error)}") from error
    properties = runtime.getDeviceProperties(cupy.cuda.Device().id)
    name = properties["name"].decode()
    capability = 10 * properties["major"] + properties["minor"]
    nvrtc = _nvrtc(name, capability)
    suffix = "a" if capability >= 90 else ""  # the architecture-specific instructions too
    offered = runtime.driverGetVersion()  # CuPy's own runtime is linked in and is not the machine's
    cuda = f"{offered // 1000}.{offered % 1000 // 10}"
    return DeviceInfo(name, f"sm_{capability}{suffix}", _driver(), cuda, nvrtc)


def _nvrtc(gpu: str, capability: int) -> str:
    """Version of the run-time compiler; Unsupported unless it compiles for the GPU."""
    from cupy.cuda import nvrtc

    try:
        version = ".".join(map(str, nvrtc.getVersion()))
        known = sorted(nvrtc.getSupportedArchs())
    except Exception as error:  # the library is missing, or too old for the call
        raise Unsupported(f"NVRTC cannot be used: {_line(error)}") from error
    if capability not in known:
        span = f"sm_{known[0]} to sm_{known[-1]}"
        raise Unsupported(f"{gpu} is sm_{capability}; NVRTC {version} compiles for {span}")
    return version


def _driver() -> str:
    """Version of the NVIDIA driver, from the kernel module or nvidia-smi; empty if neither has it."""
    import shutil
    import subprocess

    module_file = Path("/proc/driver/nvidia/version")
    text = module_file.read_text() if module_file.is_file() else ""
    smi = shutil.which("nvidia-smi")
    if not text and smi:
        command = [smi, "--query-gpu=driver_version", "--format=csv,noheader"]
        text = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False).stdout
    match = re.search(r"\b\d{3}\.\d+(?:\.\d+)?\b", text)
    return match[0] if match else ""


def compile_cubin(text: str, architecture: str, fast: bool = False, options: Sequence[str] = ()) -> bytes:
    """Machine code for CUDA text by NVRTC, or as it was compiled before; Unsupported with the compiler's first error.

    With `fast` the compiler leaves out slow optimizations that a probe does not need. With `options`, which may name
    folders of headers, it is compiled anew: a header may have changed.
    """
    from cupy.cuda import nvrtc

    version = nvrtc.getVersion()
    given = (f"-arch={architecture}", "-std=c++17", *(_FAST if fast and version >= _SINCE else ()), *options)
    name = name_of("cubin", ".".join(map(str, version)), *given, text)
    kept = None if options else cache.fetch(name)
    if kept is not None:
        return kept
    program = nvrtc.createProgram(text, "probe.cu", (), ())
    try:
        nvrtc.compileProgram(program, given)
        cubin: bytes = nvrtc.getCUBIN(program)
    except nvrtc.NVRTCError as error:
        log = nvrtc.getProgramLog(program).splitlines()
        first_error = next((line for line in log if "error" in line), _line(error))
        raise Unsupported(f"NVRTC rejects it for {architecture}: {first_error.strip()}") from error
    finally:
        nvrtc.destroyProgram(program)
    # CuPy cuts off the last byte, a zero: such a cubin loads, but no disassembler takes it.
    whole = cubin + b"\0" * (-len(cubin) % 8)
    if not options:
        cache.keep(name, whole)
    return whole


@dataclass(frozen=True, slots=True)
class Uninitialized:
    """An array on the GPU that the kernel writes before it reads it, so that nothing is copied there."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def nbytes(self) -> int:
        """Its size in bytes, named as numpy's arrays name theirs."""
        return prod(self.shape) * self.dtype.itemsize


@dataclass(frozen=True, slots=True)
class Launched:
    """A kernel under way."""

    memory: Any  # CuPy's: where the results begin
    size: int  # their bytes
    shown: Sequence[tuple[int, Array | Uninitialized]]  # where each result begins in them, and what it looks like
    staged: Any  # host memory that the arrays are still copied from
    ended: Any  # CuPy's event behind it

    def results(self) -> list[Array]:
        """Return the results, copied back once the kernel has ended.

        The wait sleeps, so that other processes can run.
        """
        content = np.empty(self.size, np.uint8)
        with _faults():
            self.ended.synchronize()
            self.memory.copy_to_host(content.ctypes.data, self.size)
        return [content[at : at + array.nbytes].view(array.dtype).reshape(array.shape) for at, array in self.shown]


@dataclass(frozen=True, slots=True)
class Loaded:
    """A module in the GPU's memory."""

    functions: Any  # CuPy's module

    def launch(
        self,
        name: str,
        grid: tuple[int, ...],
        threads: int,
        arrays: Sequence[Array | Uninitialized],
        results: Sequence[int],
        shared: int = 0,
    ) -> Launched:
        """Begin to run a kernel on copies of the arrays, of which some are results. Kernels run one after the other.

        `shared` are the bytes of the shared memory that it does not declare itself.
        """
        import cupy
        from cupy.cuda import driver

        starts, given, size = _laid_out(arrays, results)
        first = min(starts[index] for index in results)
        with _faults():
            memory, staged = cupy.cuda.alloc(size), cupy.cuda.alloc_pinned_memory(given)
            for start, array in zip(starts, arrays, strict=True):
                if not isinstance(array, Uninitialized):
                    np.ndarray(array.shape, array.dtype, staged, start)[...] = array
            memory.copy_from_host_async(staged.ptr, given)
            function = self.functions.get_function(name)
            if shared:  # with what it declares, more than is given without asking
                driver.funcSetAttribute(function.ptr, driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)
            function(grid, (threads,), tuple(np.uint64(memory.ptr + start) for start in starts), shared)
            ended = cupy.cuda.Event(block=True, disable_timing=True)
            ended.record()
        shown = [(starts[index] - first, arrays[index]) for index in results]
        return Launched(memory + first, size - first, shown, staged, ended)

    def call(
        self,
        name: str,
        launch: tuple[tuple[int, ...], tuple[int, ...], int],
        memory: Sequence[Array],
        parameters: Callable[[Sequence[int]], Sequence[bytes]],
    ) -> list[Array]:
        """Return what a kernel with parameters of any kind leaves in arrays of bytes, a copy of each.

        `launch` has the grid, the block and the bytes of dynamic shared memory; `parameters` gives the bytes of each
        parameter for the addresses at which the arrays begin.
        """
        import cupy
        from cupy.cuda import driver

        grid, block, shared = launch
        with _faults():
            there = [cupy.asarray(array) for array in memory]
            given = [
                np.frombuffer(content, f"V{len(content)}")
                for content in parameters([array.data.ptr for array in there])
            ]
            function = self.functions.get_function(name)
            if shared:
                driver.funcSetAttribute(function.ptr, driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)
            function(grid, block, tuple(given), shared)
            return [cupy.asnumpy(array) for array in there]


def _laid_out(arrays: Sequence[Array | Uninitialized], results: Sequence[int]) -> tuple[list[int], int, int]:
    """Where each array begins in one allocation, how many bytes are copied to the GPU, and how many there are in all.

    The results are last, uninitialized arrays at the end: one copy to the GPU and one back cost less than many.
    """
    starts, given, size = [0] * len(arrays), 0, 0
    for index in sorted(
        range(len(arrays)), key=lambda place: (place in results, isinstance(arrays[place], Uninitialized))
    ):
        starts[index] = -(-size // _ALIGNMENT) * _ALIGNMENT
        size = starts[index] + arrays[index].nbytes
        given = given if isinstance(arrays[index], Uninitialized) else size
    return starts, given, size


def open_context() -> None:
    """Make the context, as the first launch would otherwise; DeviceFault if it cannot be."""
    from cupy.cuda import runtime

    with _faults():
        runtime.free(0)


def load(cubin: bytes) -> Loaded:
    """Put machine code into the GPU's memory."""
    from cupy.cuda import function

    functions = function.Module()
    with _faults():
        functions.load(cubin)
    return Loaded(functions)


@contextmanager
def _faults() -> Iterator[None]:
    """Turn a CUDA error into DeviceFault: most of them leave the context unusable."""
    from cupy.cuda import driver, runtime

    try:
        yield
    except (runtime.CUDARuntimeError, driver.CUDADriverError, MemoryError) as error:  # CuPy's is of the GPU's memory
        raise DeviceFault(_line(error)) from error


def _line(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 300 else text[:297] + "..."


def array_module(on_gpu: bool) -> Any:
    """Return the module whose arrays to compute with: CuPy, or numpy where no GPU is meant."""
    if not on_gpu:
        return np
    import cupy

    return cupy

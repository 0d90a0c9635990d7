# SPDX-License-Identifier: Apache-2.0
"""The reasons why there is no GPU, word for word, with a stand-in for CuPy."""

from __future__ import annotations

import ctypes
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import gpu_checks
from gpu_checks import DeviceInfo, Unavailable
from gpu_checks.device import gpu as gpu_module
from isa_tables.signature import signature
from tests.gpu_checks.conftest import CudaError

device_module = sys.modules["gpu_checks.device.cuda"]
F16 = signature("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
BF16 = signature("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")


def test_without_cupy_the_reason_names_what_to_install(monkeypatch):
    monkeypatch.setattr(device_module.importlib.util, "find_spec", lambda name: None)
    want = "CuPy is not installed: pip install 'lanecheck[cuda13]' (or cuda12)"
    assert gpu_checks.device_info() == Unavailable(want)


def test_with_a_cupy_that_cannot_be_imported(monkeypatch):
    monkeypatch.setattr(device_module.importlib.util, "find_spec", lambda name: object())
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert gpu_checks.device_info().reason.startswith("CuPy cannot be imported: import of cupy halted")


def test_a_gpu_is_described_by_its_name_architecture_and_versions(cupy):
    assert gpu_checks.device_info() == DeviceInfo("NVIDIA H200", "sm_90a", "580.1", "13.0", "13.0")


def test_older_architectures_have_no_suffix(cupy):
    cupy.runtime.getDeviceProperties = lambda number: {"name": b"NVIDIA A100", "major": 8, "minor": 0}
    assert gpu_checks.device_info().sm == "sm_80"


def test_without_a_driver_the_reason_says_so(cupy):
    cupy.runtime.driverGetVersion = lambda: 0
    assert gpu_checks.device_info() == Unavailable("no NVIDIA driver is loaded")


def test_without_a_device_the_reason_has_the_error_of_cuda(cupy):
    def none():
        raise CudaError("cudaErrorNoDevice: no CUDA-capable device is detected")

    cupy.runtime.getDeviceCount = none
    want = "no CUDA device: cudaErrorNoDevice: no CUDA-capable device is detected"
    assert gpu_checks.device_info() == Unavailable(want)


def test_a_gpu_too_old_for_the_compiler_is_unavailable(cupy):
    cupy.runtime.getDeviceProperties = lambda number: {"name": b"Tesla V100", "major": 7, "minor": 0}
    want = "Tesla V100 is sm_70; NVRTC 13.0 compiles for sm_75 to sm_120"
    assert gpu_checks.device_info() == Unavailable(want)


def test_without_nvrtc_the_reason_says_what_is_missing(cupy):
    def missing(self=None):
        raise RuntimeError("libnvrtc.so.13 not found")

    cupy.nvrtc.getVersion = missing
    assert gpu_checks.device_info() == Unavailable("NVRTC cannot be used: libnvrtc.so.13 not found")


def test_the_machine_code_gets_its_last_byte_back(cupy):
    assert device_module.compile_cubin("good", "sm_90a") == b"cubin" * 3 + b"\0"
    assert cupy.nvrtc.texts == [("good", ("-arch=sm_90a", "-std=c++17"))]


@pytest.mark.parametrize(("version", "more"), [((13, 0), ("--Ofast-compile=mid",)), ((12, 8), ())])
def test_a_compiler_that_has_the_option_compiles_fast(cupy, version, more):
    cupy.nvrtc.getVersion = lambda: version
    device_module.compile_cubin("good", "sm_90a", fast=True)
    assert cupy.nvrtc.texts == [("good", ("-arch=sm_90a", "-std=c++17", *more))]


def test_a_kernel_compiled_with_fast_is_not_taken_for_the_other(cupy, monkeypatch, tmp_path):
    monkeypatch.setenv("LANECHECK_CACHE", str(tmp_path))
    for fast in (True, False, True):
        device_module.compile_cubin("good", "sm_90a", fast=fast)
    assert [len(options) for _, options in cupy.nvrtc.texts] == [3, 2]


def test_a_rejected_instruction_does_not_take_its_group_with_it(cupy):
    gpu = gpu_module.machine()
    cupy.nvrtc.rejected = BF16.mnemonic
    gpu.prepare([F16, BF16])
    assert gpu.sass(F16) == ""
    with pytest.raises(device_module.Unsupported) as rejection:
        gpu.sass(BF16)
    assert str(rejection.value) == "NVRTC rejects it for sm_90a: ptxas fatal error : Unknown modifier"
    assert [text.count("asm volatile") for text, _ in cupy.nvrtc.texts] == [2, 1, 1]


def test_every_group_is_compiled_at_once_and_none_twice(cupy, monkeypatch):
    monkeypatch.setattr(gpu_module, "GROUP", 1)
    gpu = gpu_module.machine()
    third = signature("dp4a.s32.s32")
    absent = signature("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32")
    gpu.prepare([F16, absent, BF16, third])
    gpu.sass(F16)
    gpu.prepare([F16, third])
    gpu.sass(F16)
    gpu.sass(BF16)
    gpu.sass(third)
    assert len(cupy.nvrtc.texts) == 3


def test_a_cuda_error_is_a_fault(cupy):
    def load(cubin):
        raise CudaError("CUDA_ERROR_ILLEGAL_INSTRUCTION: an illegal instruction was encountered")

    cupy.function.Module = lambda: SimpleNamespace(load=load)
    with pytest.raises(device_module.DeviceFault, match="an illegal instruction was encountered"):
        gpu_module.machine().sass(F16)


def test_a_gpu_without_enough_memory_is_a_fault(cupy):
    """CuPy's OutOfMemoryError is a MemoryError: another process may have taken it."""

    def alloc(size):
        raise MemoryError(f"Out of memory allocating {size} bytes")

    cupy.alloc = alloc
    loaded = device_module.Loaded(SimpleNamespace())
    with pytest.raises(device_module.DeviceFault, match="Out of memory allocating 12 bytes"):
        loaded.launch("kernel", (1,), 32, [np.zeros(3, np.uint32)], [0])


class Memory:
    """Memory of a GPU that is the host's, as CuPy points to it."""

    def __init__(self, content, at=0):
        self.content, self.at = content, at

    @property
    def ptr(self):
        return self.content.ctypes.data + self.at

    def __add__(self, further):
        return Memory(self.content, self.at + further)

    def copy_from_host_async(self, pointer, size):
        ctypes.memmove(self.ptr, pointer, size)

    def copy_to_host(self, pointer, size):
        ctypes.memmove(pointer, self.ptr, size)


class Pinned(bytearray):
    @property
    def ptr(self):
        return ctypes.addressof(ctypes.c_char.from_buffer(self))


def test_a_kernel_gets_every_array_and_its_results_come_back(cupy):
    def kernel(grid, block, pointers, shared):
        seen.append((grid, block, shared, [int(pointer) % 256 for pointer in pointers[1:]], int(pointers[0]) % 256))
        back, given, odd, room = (
            np.frombuffer((ctypes.c_char * array.nbytes).from_address(int(at)), array.dtype).reshape(array.shape)
            for at, array in zip(pointers, arrays, strict=True)
        )
        assert given.tolist() == arrays[1].tolist() and odd.tolist() == arrays[2].tolist()
        back += 1
        room[:] = 7

    seen = []
    cupy.alloc = lambda size: Memory(np.full(size, 0xEE, np.uint8))
    cupy.alloc_pinned_memory = Pinned
    cupy.Event = lambda block, disable_timing: SimpleNamespace(record=lambda: None, synchronize=lambda: None)
    turned = np.arange(6, dtype=np.uint32).reshape(2, 3).T  # not in C's order
    room = device_module.Uninitialized((5,), np.dtype(np.int32))
    arrays = [np.arange(3, dtype=np.uint16), turned, np.array([9], np.uint8), room]
    loaded = device_module.Loaded(SimpleNamespace(get_function=lambda name: kernel))
    back, filled = loaded.launch("kernel", (4,), 32, arrays, [0, 3]).results()
    assert back.dtype == np.uint16 and back.tolist() == [1, 2, 3] and arrays[0].tolist() == [0, 1, 2]
    assert filled.dtype == np.int32 and filled.tolist() == [7] * 5
    ((grid, block, shared, remainders, first),) = seen
    assert (grid, block, shared) == ((4,), (32,), 0) and set(remainders) == {first}  # as far apart as CUDA has them

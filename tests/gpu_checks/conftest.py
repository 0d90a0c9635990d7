# SPDX-License-Identifier: Apache-2.0
"""A stand-in for CuPy; and no test finds what another run left behind."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

from gpu_checks.device import gpu

device_module = sys.modules[gpu.compile_cubin.__module__]


@pytest.fixture(autouse=True, scope="package")
def nothing_is_kept():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LANECHECK_CACHE", "")
        yield


class CudaError(RuntimeError):
    pass


class NvrtcError(RuntimeError):
    pass


class Nvrtc(SimpleNamespace):
    """Rejects texts that hold `rejected`, and cuts off the last byte as CuPy does."""

    NVRTCError = NvrtcError
    rejected = "no such instruction"
    texts: list

    def getVersion(self):
        return (13, 0)

    def getSupportedArchs(self):
        return [75, 80, 90, 120]

    def createProgram(self, text, name, headers, names):
        return text

    def compileProgram(self, text, options):
        self.texts.append((text, options))
        if self.rejected in text:
            raise NvrtcError("NVRTC_ERROR_COMPILATION (6)")

    def getCUBIN(self, text):
        return b"cubin" * 3

    def getProgramLog(self, text):
        return "probe.cu(7): warning: dull\nptxas fatal error : Unknown modifier\n"

    def destroyProgram(self, text):
        pass


@pytest.fixture
def cupy(monkeypatch):
    """A CuPy with one H200."""
    fake, cuda = ModuleType("cupy"), ModuleType("cupy.cuda")
    runtime = SimpleNamespace(
        CUDARuntimeError=CudaError,
        free=lambda pointer: None,
        driverGetVersion=lambda: 13000,
        getDeviceCount=lambda: 1,
        getDeviceProperties=lambda number: {"name": b"NVIDIA H200", "major": 9, "minor": 0},
    )
    cuda.Device = lambda: SimpleNamespace(id=0)
    cuda.runtime, cuda.nvrtc = runtime, Nvrtc(texts=[])
    cuda.driver = SimpleNamespace(CUDADriverError=CudaError)
    cuda.function = SimpleNamespace(Module=lambda: SimpleNamespace(load=lambda cubin: None))
    fake.cuda = cuda
    monkeypatch.setitem(sys.modules, "cupy", fake)
    monkeypatch.setitem(sys.modules, "cupy.cuda", cuda)
    monkeypatch.setattr(device_module.importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(device_module, "_driver", lambda: "580.1")
    return cuda

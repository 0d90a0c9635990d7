# SPDX-License-Identifier: Apache-2.0
"""A GPU that is not there: Triton's active driver, and what `torch.cuda` answers, for one target."""

from __future__ import annotations

import contextlib
import importlib
import re
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

# target -> (multiprocessors, bytes of shared memory of a CTA, name), of CUDA's deviceQuery
GPUS = {
    75: (40, 65536, "Tesla T4"),
    80: (108, 166912, "NVIDIA A100"),
    86: (84, 101376, "NVIDIA A10"),
    89: (142, 101376, "NVIDIA L40"),
    90: (132, 232448, "NVIDIA H100"),
    100: (148, 232448, "NVIDIA B200"),
    103: (148, 232448, "NVIDIA B300"),
    120: (170, 101376, "NVIDIA GeForce RTX 5090"),
}
MEMORY = 80 << 30  # bytes
PROFILER = "triton.profiler", "triton.profiler.viewer"


class UnknownTarget(ValueError):
    """A target of which no GPU is known."""


class TargetGpu:
    """The numbers of the target's GPU."""

    def __init__(self, target: str) -> None:
        match = re.fullmatch(r"sm_(\d+)[af]?", target)
        if match is None or int(match[1]) not in GPUS:
            known = ", ".join(f"sm_{number}" for number in GPUS)
            raise UnknownTarget(f"no GPU is known for the target {target!r}: there are {known}")
        self.number = int(match[1])
        self.capability = divmod(self.number, 10)
        self.multiprocessors, self.shared, self.name = GPUS[self.number]


class Driver:
    """Triton's active driver: it compiles for the target, and launches nothing."""

    def __init__(self, gpu: TargetGpu) -> None:
        self.gpu = gpu
        self.torch = importlib.import_module("torch")
        numbers = {
            "max_shared_mem": gpu.shared,
            "max_num_regs": 65536,
            "multiprocessor_count": gpu.multiprocessors,
            "warpSize": 32,
            "sm_clock_rate": 1_755_000,
            "mem_clock_rate": 2_619_000,
            "mem_bus_width": 5120,
        }
        self.utils = SimpleNamespace(get_device_properties=lambda device: dict(numbers))

    def get_current_target(self) -> Any:
        """Return the target as Triton names it."""
        return importlib.import_module("triton.backends.compiler").GPUTarget("cuda", self.gpu.number, 32)

    def get_current_device(self) -> int:
        """Return the number of the only device."""
        return 0

    def set_current_device(self, device: int) -> None:
        """Do nothing: there is one device."""

    def get_current_stream(self, device: int | None = None) -> int:
        """Return the default stream."""
        return 0

    def get_device_capability(self, device: int | None = None) -> tuple[int, int]:
        """Return the compute capability."""
        return self.gpu.capability

    def get_active_torch_device(self) -> Any:
        """Return the device of tensors."""
        return self.torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        """Return the module that answers for the device."""
        return self.torch.cuda

    def get_benchmarker(self) -> Any:
        """Return a function that measures nothing and calls its function once."""
        return run_once

    def get_empty_cache_for_benchmark(self) -> Any:
        """Return memory that a benchmark would clear."""
        return self.torch.empty(1)

    def clear_cache(self, cache: Any) -> None:
        """Do nothing: there is no cache."""


class Idle:
    """A stream or an event on which nothing waits."""

    cuda_stream = 0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.device = "cuda:0"

    def __enter__(self) -> Idle:
        return self

    def __exit__(self, *args: object) -> None:
        return None

    def elapsed_time(self, end_event: Any) -> float:
        """Return a time, in milliseconds."""
        return 1.0

    def query(self) -> bool:
        """Return whether the work is done, which it is."""
        return True

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: None


class Blas:
    """What takes the place of cuBLAS, which Triton loads from CUDA's libraries: its products are torch's."""

    def __init__(self, workspace: Any) -> None:
        """Take the memory that cuBLAS would work in."""

    def matmul(self, a: Any, b: Any, c: Any) -> None:
        """Write c = a * b^T."""
        c.copy_(a @ b.T)

    def gemm(self, a: Any, b: Any, c: Any, d: Any, alpha: float, beta: float) -> None:
        """Write d = alpha * a * b^T + beta * c."""
        d.copy_(alpha * (a @ b.T) + beta * c)


class Profiler(ModuleType):
    """What takes the place of Triton's profiler and its viewer: nothing is measured, and nothing read."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return (lambda *args, **kwargs: ([], [])) if name == "parse" else (lambda *args, **kwargs: Idle())


def run_once(function: Any, *args: Any, quantiles: Any = None, **kwargs: Any) -> Any:
    """Call a function once in place of a benchmark; returns a time for each quantile."""
    function()
    return [1.0] * len(quantiles) if quantiles else 1.0


def run_benchmarks(mark: Any, *args: Any, save_path: str = "", **kwargs: Any) -> None:
    """Call the function of a report once for each line, at its first place on the x axis; draw and print nothing."""
    own = {key: value for key, value in kwargs.items() if key not in ("show_plots", "print_data", "return_df")}
    for benchmark in mark.benchmarks if isinstance(mark.benchmarks, (list, tuple)) else [mark.benchmarks]:
        first = benchmark.x_vals[0]
        values = first if isinstance(first, (list, tuple)) else [first] * len(benchmark.x_names)
        for line in benchmark.line_vals:
            mark.fn(
                **dict(zip(benchmark.x_names, values, strict=True)),
                **{benchmark.line_arg: line},
                **benchmark.args,
                **own,
            )


def make_generator(real: Any) -> Any:
    """Return a class of generators that are on the CPU, whatever device they are asked for."""

    class Generator(real):  # type: ignore[misc]
        def __new__(cls, device: Any = "cpu") -> Any:
            return real.__new__(cls, "cpu")

    return Generator


def make_inference_mode(no_grad: Any) -> Any:
    """Return what takes the place of torch.inference_mode: no gradients, and tensors that count their changes."""

    def inference_mode(mode: Any = True) -> Any:
        if callable(mode):
            return no_grad()(mode)
        return no_grad() if mode else contextlib.nullcontext()

    return inference_mode


def install_device(gpu: TargetGpu) -> None:
    """Let `torch.cuda` and Triton answer for the GPU."""
    torch: Any = importlib.import_module("torch")
    triton: Any = importlib.import_module("triton")
    cuda = torch.cuda
    properties = SimpleNamespace(
        name=gpu.name, major=gpu.capability[0], minor=gpu.capability[1], total_memory=MEMORY, warp_size=32,
        multi_processor_count=gpu.multiprocessors, shared_memory_per_block=49152, regs_per_multiprocessor=65536,
        shared_memory_per_block_optin=gpu.shared, max_threads_per_multi_processor=2048, L2_cache_size=50 << 20,
    )  # fmt: skip
    answers: dict[str, Any] = {
        **dict.fromkeys(("is_available", "is_initialized", "is_bf16_supported"), True),
        **dict.fromkeys(("current_device", "memory_allocated", "max_memory_allocated", "memory_reserved"), 0),
        **dict.fromkeys(("synchronize", "empty_cache", "set_device", "init", "manual_seed", "manual_seed_all")),
        **dict.fromkeys(("reset_peak_memory_stats", "set_stream", "_lazy_init")),
        **dict.fromkeys(("current_stream", "default_stream"), Idle()),
        "device_count": 1,
        "get_device_capability": gpu.capability,
        "get_device_name": gpu.name,
        "get_device_properties": properties,
        "mem_get_info": (MEMORY, MEMORY),
    }
    for name, answer in answers.items():
        setattr(cuda, name, lambda *args, answer=answer, **kwargs: answer)
    cuda.Stream = cuda.Event = Idle
    cuda.stream = cuda.device = cuda.device_of = lambda *args, **kwargs: contextlib.nullcontext()
    torch.version.cuda = torch.version.cuda or "12.9"
    torch.Generator = make_generator(torch.Generator)
    for name in ("torch", "torch.autograd", "torch.autograd.grad_mode"):
        module: Any = importlib.import_module(name)
        module.inference_mode = make_inference_mode(torch.no_grad)
    triton.runtime.driver.set_active(Driver(gpu))
    libraries: Any = importlib.import_module("triton._C.libtriton")
    if hasattr(libraries.nvidia, "cublas"):
        libraries.nvidia.cublas.CublasLt = Blas
    testing: Any = importlib.import_module("triton.testing")
    testing.do_bench = testing.do_bench_cudagraph = run_once
    testing.Mark.run = run_benchmarks
    profiler, viewer = (Profiler(name) for name in PROFILER)
    sys.modules.update(zip(PROFILER, (profiler, viewer), strict=True))
    triton.profiler, profiler.viewer = profiler, viewer  # type: ignore[attr-defined]

# SPDX-License-Identifier: Apache-2.0
"""Kernels of the corpus on a GPU: their launches as jobs, and whether an edited one writes what the right one does."""

from __future__ import annotations

import queue
import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.kernels.campaign import texts
from benchmarks.kernels.fates import DIFFERS, SAME_OUTPUT, Fate
from benchmarks.kernels.reasons import NOT_ASSEMBLED
from gpu_checks import Unavailable
from gpu_checks.compiled import Pointer, RunCompiled, TensorMapParameter, check_target
from gpu_checks.device.cuda import Array as Bytes
from gpu_checks.device.cuda import Loaded, load
from gpu_checks.kernels.packing import encode
from gpu_checks.model import DeviceFault, DeviceInfo, Unsupported
from gpu_checks.record import Bench
from gpu_checks.tilings.runner import FACTORY
from gpu_checks.worker import Worker
from verify.kernel.claims.claim_file import read_claim
from verify.kernel.claims.launch import MAP_BYTES, Array, Launch
from verify.kernel.data.values import LIMITS
from verify.kernel.ptx.parse import parse_kernel
from verify.kernel.ptx.source import Kernel

BITS = {
    "f16": 16,
    "bf16": 16,
    "tf32": 32,
    "f32": 32,
    "f64": 64,
    "s8": 8,
    "u8": 8,
    "u16": 16,
    "s32": 32,
    "e4m3": 8,
    "e5m2": 8,
}
POISON = 0xFF  # a NaN in every type of a float: what is read outside of the elements is seen in a sum
WORKERS = 4  # processes with the GPU
SECONDS = 30.0  # of the runs of one edited kernel


def packed(array: Array, values: np.ndarray) -> np.ndarray:
    """The bytes of an array, poison where it has no element."""
    width = BITS[array.kind] // 8
    memory = np.full((int(array.places.max()) + 1) * width, POISON, np.uint8).view(f"u{width}")
    if array.scratch:
        return memory.view(np.uint8)
    there = array.places >= 0  # all but what a sparse matrix does not store
    bits = encode_numbers(array.kind, values.ravel()) if array.content is None else array.content.ravel()
    memory[array.places[there]] = bits[there]
    return memory.view(np.uint8)


def encode_numbers(kind: str, values: np.ndarray) -> np.ndarray:
    """The bits of numbers that a type holds exactly."""
    if (whole := values.astype(np.int64)).size and (whole == values).all():
        return encode(kind, whole)
    if kind == "bf16":
        return values.astype(np.float32).view(np.uint32) >> 16
    floats = values.astype({"f16": np.float16, "f64": np.float64}.get(kind, np.float32))
    return floats.view(f"u{floats.itemsize}")


def unpacked(array: Array, memory: np.ndarray) -> np.ndarray:
    """The elements of an array as numbers."""
    bits = memory.view(f"u{BITS[array.kind] // 8}")[array.places].reshape(array.shape)
    if array.kind == "bf16":
        return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    kinds = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "s32": np.int32}
    return bits.view(kinds[array.kind]).astype(np.float64)


def rounded(array: Array, values: np.ndarray) -> np.ndarray:
    """Exact numbers as the output's type has them, rounded once to nearest even."""
    if array.kind == "bf16":
        bits = values.astype(np.float32).view(np.uint32)
        return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(np.float32).astype(np.float64)
    kinds = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "s32": np.int32}
    return values.astype(kinds[array.kind]).astype(np.float64)


def job(kernel: Kernel, ptx: str, launch: Launch, samples: dict[str, np.ndarray]) -> RunCompiled:
    """The launch of the claim, on the samples."""
    numbers = {array.name: number for number, array in enumerate(launch.arrays)}

    def parameter(number: int, size: int) -> bytes | Pointer | TensorMapParameter:
        given: Any = launch.params[number]
        if isinstance(given, str) and given in numbers:
            return Pointer(numbers[given], launch.array(given).offset * BITS[launch.array(given).kind] // 8)
        contents = launch.parameter(number, size, {})
        if contents is None:
            return bytes(size)
        if not contents.maps:
            return contents.octets
        if [*contents.maps] != [0] or size != MAP_BYTES:
            raise ValueError(f"parameter {number} holds tensor maps beside other bytes, which no launch here makes")
        box = contents.maps[0]
        array = launch.array(box.array)
        width, inner = BITS[array.kind] // 8, array.strides.index(1)
        extents = (array.shape[inner], array.shape[1 - inner])
        strides = (array.strides[1 - inner] * width,)
        return TensorMapParameter(
            numbers[box.array], array.offset * width, array.kind, extents, strides, box.box, box.swizzle
        )

    parameters = sorted(kernel.parameters.values(), key=lambda variable: variable.number)
    return RunCompiled(
        ptx=ptx,
        entry=kernel.name,
        grid=launch.grid,
        block=launch.block,
        shared=launch.smem,
        memory=tuple(packed(array, samples[array.name]) for array in launch.arrays),
        parameters=tuple(parameter(variable.number, variable.size) for variable in parameters),
    )


def drawn(launch: Launch, seed: int) -> dict[str, np.ndarray]:
    """Random integers so small that every sum is exact, of those that an array may hold."""
    source, samples = np.random.default_rng(seed), {}
    for array in launch.arrays:
        least, most = array.limits or LIMITS.get(array.kind) or (-2, 2)
        numbers = np.clip(source.integers(-2, 3, array.shape), least, most).astype(np.float64)
        samples[array.name] = numbers * (array.places >= 0).reshape(array.shape)
    return samples


# ---- edited kernels


@dataclass(frozen=True, slots=True, eq=False)
class RunBoth:
    """The launches of a right kernel and the text of an edited one, as a job for a worker process."""

    right: tuple[RunCompiled, ...]  # the same kernel on different data
    edited: str
    times: int  # that the edited one runs on each

    @property
    def signature(self) -> None:
        """None: the kernels are compiled already."""
        return

    def on(self, bench: Bench) -> int:
        """How many of the edited kernel's runs leave another byte in any array than the right kernel leaves.

        -1 where the driver does not assemble it.
        """
        wrong = 0
        good = _loaded(self.right[0].ptx)
        try:
            edited = load(self.edited.encode() + b"\0")
        except DeviceFault:
            return -1
        for run in self.right:
            wanted = _after(good, run)
            wrong += sum(_after(edited, run) != wanted for _ in range(self.times))
        return wrong


@lru_cache(maxsize=2)
def _loaded(text: str) -> Loaded:
    return load(text.encode() + b"\0")


def _after(module: Loaded, run: RunCompiled) -> list[bytes]:
    """The bytes of every array after one launch."""
    arrays: Sequence[Bytes] = module.call(run.entry, (run.grid, run.block, run.shared), run.memory, run.bytes_of)
    return [array.tobytes() for array in arrays]


def both(path: Path, fate: Fate, here: DeviceInfo, seeds: int, times: int) -> RunBoth:
    """The job of an edit: every launch of the claim, on data of several seeds."""
    text = retargeted(texts(path)[0], here)
    claim = read_claim(path.with_suffix(".toml"))
    kernel = parse_kernel(text, claim.kernel)
    jobs = [job(kernel, text, launch, drawn(launch, seed)) for launch in claim.launches for seed in range(seeds)]
    return RunBoth(tuple(jobs), fate.edit.on(text), times)


def retargeted(text: str, here: DeviceInfo) -> str:
    """A kernel for this GPU: the target of one for another is exchanged, unless it is for that one alone."""
    try:
        check_target(text, here.sm, here.gpu)
    except Unsupported:
        target = here.sm.rstrip("af")
        return re.sub(r"^(\s*\.target\s+)sm_\d+\b", rf"\g<1>{target}", text, count=1, flags=re.MULTILINE)
    return text


def answered(
    tasks: Sequence[tuple[Path, Fate]], here: DeviceInfo, seeds: int, times: int, seconds: float | None = None,
    factory: str = FACTORY,
) -> Iterator[Fate]:  # fmt: skip
    """Each fate with what a GPU made of its edit, as soon as it is known; those after `seconds` are left out.

    A fault or a hang ends its own process.
    """
    end = time.monotonic() + (seconds or float("inf"))
    waiting: queue.SimpleQueue[tuple[Path, Fate] | None] = queue.SimpleQueue()
    done: queue.SimpleQueue[Fate | BaseException] = queue.SimpleQueue()
    for task in [*tasks, *[None] * WORKERS]:
        waiting.put(task)

    def serve() -> None:
        try:
            with Worker(factory, timeout=SECONDS) as worker:
                while (task := waiting.get()) is not None:
                    path, fate = task
                    made = both(path, fate, here, seeds, times)
                    ((_, wrong),) = worker.run_jobs([made])
                    if isinstance(worker.device, Unavailable):
                        raise ValueError(worker.device.reason)
                    done.put(replace(fate, gpu=_words(wrong, len(made.right) * times)))
        except BaseException as error:
            done.put(error)

    for _ in range(WORKERS):
        threading.Thread(target=serve, daemon=True).start()
    for _ in tasks:
        try:
            answer = done.get(timeout=None if seconds is None else max(0.0, end - time.monotonic()))
        except queue.Empty:
            return
        if isinstance(answer, BaseException):
            raise answer
        yield answer


def _words(wrong: int | Unavailable, runs: int) -> str:
    if isinstance(wrong, Unavailable):
        return f"{DIFFERS}: {wrong.reason}"
    if wrong < 0:
        return NOT_ASSEMBLED
    return f"{DIFFERS} in {wrong} of {runs} runs" if wrong else f"{SAME_OUTPUT} in {runs} runs"


def runnable(tasks: Sequence[tuple[Path, Fate]], here: DeviceInfo) -> Iterator[tuple[Path, Fate]]:
    """The edits of kernels that are for this GPU, or can be made for it."""
    for path, fate in tasks:
        with suppress(Unsupported):
            check_target(retargeted(texts(path)[0], here), here.sm, here.gpu)
            yield path, fate

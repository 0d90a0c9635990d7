# SPDX-License-Identifier: Apache-2.0
"""Runs a tiling's kernel on exact integers and compares every element with numpy's product."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from math import isqrt, prod
from typing import TYPE_CHECKING

from gpu_checks.arrays import np
from gpu_checks.device.cuda import Array, compile_cubin, device_info, load, open_context
from gpu_checks.device.sass import Listing
from gpu_checks.kernels.packing import NUMBERS, POISON, Ints, encode
from gpu_checks.model import DeviceInfo, Unavailable, Unsupported
from gpu_checks.record import Bench
from gpu_checks.tilings.kernel import NAME, kernel, kernel_operands
from gpu_checks.tilings.store import TilingRun
from gpu_checks.tilings.tiling import TilingKernel, mutants
from isa_tables.signature import Signature, runs_on

if TYPE_CHECKING:
    import numpy.typing as npt

FACTORY = "gpu_checks.tilings.runner:tiling_gpu"
_RESULTS: Mapping[str, type[np.generic]] = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "s32": np.int32}


@dataclass(frozen=True, slots=True)
class TilingGpu:
    """The GPU of a worker process for tilings, which need only its name and architecture."""

    info: DeviceInfo

    def open(self) -> None:
        """Open the CUDA context."""
        open_context()

    def prepare(self, signatures: Sequence[Signature]) -> None:
        """Nothing: each tiling compiles its own kernels."""


def tiling_gpu() -> TilingGpu | Unavailable:
    """Return the GPU at hand, or why there is none."""
    info = device_info()
    return info if isinstance(info, Unavailable) else TilingGpu(info)


@dataclass(frozen=True, slots=True)
class RunTiling:
    """Run a tiling and its controls, as a job for a worker process."""

    tiling: TilingKernel
    seed: int = 0

    @property
    def signature(self) -> Signature:
        """The instruction of its first product."""
        return self.tiling.product.signature

    def on(self, bench: Bench) -> TilingRun:
        """Return the run; Unsupported or DeviceFault where it cannot be made."""
        info = bench.machine.info
        for needed in (self.tiling.product.signature, self.tiling.last.signature):
            if not runs_on(needed, info.sm):
                raise Unsupported(f"{needed.mnemonic} needs {' or '.join(needed.targets)}; {info.gpu} is {info.sm}")
        wrong = dict(mutants(self.tiling))
        texts = [kernel(self.tiling), *map(kernel, wrong.values())]
        with ThreadPoolExecutor(os.cpu_count()) as compilers:
            first, *broken = compilers.map(lambda text: compile_cubin(text, info.sm), texts)
        listing, matrices = Listing(first), draw(self.tiling, self.seed)
        listing.begin()
        return TilingRun(
            tiling=self.tiling,
            seed=self.seed,
            elements=prod(self.tiling.extents["C"]),
            mismatches=mismatches(self.tiling, first, matrices),
            controls={
                name: mismatches(self.tiling, cubin, matrices) for name, cubin in zip(wrong, broken, strict=True)
            },
            kernel_hash=hash_of(self.tiling),
            sass=listing.opcodes.get(NAME, ""),
            device=info,
            date=date.today().isoformat(),
        )


def hash_of(tiling: TilingKernel) -> str:
    """SHA-256 of the CUDA text."""
    return hashlib.sha256(kernel(tiling).encode()).hexdigest()


def draw(tiling: TilingKernel, seed: int) -> dict[str, Ints]:
    """Random integers for A (m, k), B (n, k) and V (n, k), small enough that every sum is exact in its type."""
    random = np.random.default_rng(seed)
    extents = tiling.extents
    k, sums = extents["A"][1], _exact(tiling.product.fragment("C").type)
    if tiling.reuse is None:
        bounds = dict.fromkeys("AB", isqrt(sums // k))
    else:
        bound = isqrt(min(sums, _exact(tiling.reuse.product.fragment("A").type)) // k)
        most = bound * bound * k * extents["V"][1]
        bounds = {"A": bound, "B": bound, "V": _exact(tiling.reuse.product.fragment("C").type) // most}
    matrices = {}
    for name, operand in kernel_operands(tiling).items():
        number = NUMBERS[operand.fragment.type]
        low, high = max(number.low, -bounds[name]), min(number.high, bounds[name])
        matrices[name] = random.integers(low, high, extents[name], np.int64, endpoint=True)
    return matrices


def _exact(type_: str) -> int:
    """Return the largest integer up to which every one is exact in the type."""
    number = NUMBERS[type_]
    return (1 << number.mantissa + 1) if number.exponent else (1 << number.bits - 1) - 1


def compute_expected(tiling: TilingKernel, matrices: Mapping[str, Ints]) -> Ints:
    """Return a @ B, or (A @ B) @ V; operands of type B are stored (n, k)."""
    made: Ints = matrices["A"] @ matrices["B"].T
    if tiling.reuse:
        made = made @ matrices["V"].T
    return made


def mismatches(tiling: TilingKernel, cubin: bytes, matrices: Mapping[str, Ints]) -> int:
    """How many elements of the result differ from numpy's."""
    fragment = tiling.last.fragment("C")
    kind = _RESULTS[fragment.type]
    arrays: list[Array] = []
    for name, operand in kernel_operands(tiling).items():
        bits = encode(operand.fragment.type, matrices[name] if operand.feed.major == "K" else matrices[name].T)
        arrays.append(bits.astype(f"u{operand.fragment.bits // 8}"))
    size = prod(tiling.extents["C"])
    blank = np.zeros if tiling.last.splits > 1 else _poison
    arrays.append(blank(size, kind))
    (result,) = load(cubin).launch(NAME, tiling.tiles[:2], tiling.threads, arrays, [len(arrays) - 1]).results()
    want = compute_expected(tiling, matrices)
    return int((result.reshape(want.shape).astype(np.float64) != want).sum())


def _poison(size: int, kind: type[np.generic]) -> Array:
    """Values that no product gives, so that an element left unwritten is found."""
    words: npt.NDArray[np.uint32] = np.full(size * np.dtype(kind).itemsize // 4, POISON, np.uint32)
    return words.view(kind)

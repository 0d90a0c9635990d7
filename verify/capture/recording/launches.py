# SPDX-License-Identifier: Apache-2.0
"""The launches of Triton's kernels: each is compiled for the target, recorded, and not made."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from verify.capture.recording.device import TargetGpu
from verify.capture.recording.recorder import Recorder, Tracked, digest, find_line, name_of

TYPES = {  # as Triton names them in a signature -> of torch
    **{"fp8e5": "float8_e5m2", "fp8e4nv": "float8_e4m3fn", "bf16": "bfloat16"},
    **{f"fp{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{f"{sign}{bits}": f"{name}{bits}" for sign, name in (("i", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)},
}
SWIZZLES = ("none", "32B", "64B", "128B")  # by CUDA's number
WIDE = ("torch.int64", "torch.uint64")  # types that hold an address
FEW_POINTERS = 64  # of an array of addresses
FEW_NUMBERS = 1 << 16  # of a tensor of integers, which are kept
FEW = 2  # configurations beside the first that are compared by default


class UnknownArgument(TypeError):
    """An argument of a launch that a claim cannot describe."""


class Launches:
    """The hooks into Triton."""

    def __init__(self, recorder: Recorder, gpu: TargetGpu, folder: Path, configs: str, seed: int) -> None:
        self.recorder, self.gpu, self.folder, self.all_configs, self.seed = (
            recorder,
            gpu,
            folder,
            configs == "all",
            seed,
        )

    def install(self) -> None:
        """Take the place of JITFunction.run and Autotuner.run."""
        jit = importlib.import_module("triton.runtime.jit").JITFunction
        tuner = importlib.import_module("triton.runtime.autotuner").Autotuner
        real, hooks = jit.run, self

        def record_run(function: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
            if warmup:
                return real(function, *args, grid=grid, warmup=True, **kwargs)
            with hooks.recorder.torch._C.DisableTorchFunction():
                kernel = real(function, *args, grid=grid, warmup=True, **kwargs)
            hooks.record(function, kernel, args, kwargs, grid)
            return kernel

        jit.run = record_run
        tuner.run = lambda function, *args, **kwargs: hooks.tune(function, args, kwargs)

    def tune(self, tuner: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Record the configurations that survive pruning: all, or the first and a few that the seed draws."""
        tuner.nargs = dict(zip(tuner.arg_names, args, strict=False))
        configs = tuner.configs if len(tuner.configs) == 1 else list(tuner.prune_configs(kwargs))
        chosen = configs
        if not self.all_configs and len(configs) > 1 + FEW:
            picked = sorted(random.Random(self.seed).sample(range(1, len(configs)), FEW))
            chosen = [configs[0], *(configs[index] for index in picked)]
        timed = len(configs) > 1 and self._is_first(tuner, {**tuner.nargs, **kwargs})
        answer, too_large = None, None
        with self.recorder.group(len(configs)):
            for config in chosen:
                every = {**tuner.nargs, **kwargs, **config.all_kwargs()}
                held = self._list_held(every)
                if timed:
                    tuner.pre_hook(every, reset_only=True)
                if config.pre_hook is not None:
                    config.pre_hook(every)
                same = [name for name, content in self._list_held(every).items() if held[name] == content]
                self.timed = [name for name in same if name not in tuner.restore_value] if timed else []
                self.config = str(config)
                try:
                    answer = tuner.fn.run(*args, **kwargs, **config.all_kwargs())
                except Exception as error:
                    if type(error).__name__ != "OutOfResources":  # which makes Triton choose another one
                        raise
                    too_large = error
            if answer is None and too_large is not None:
                raise too_large
        tuner.nargs, self.config, self.timed = None, "", []
        tuner.best_config = configs[0]
        return answer

    def _is_first(self, tuner: Any, arguments: Mapping[str, Any]) -> bool:
        """Return whether Triton would time the configurations now, as it does once in a process for equal keys."""
        given = {name: value for name, value in arguments.items() if name in tuner.arg_names}
        kinds = [str(value.dtype) for value in given.values() if hasattr(value, "dtype")]
        key = (*(given[name] for name in tuner.keys if name in given), *kinds)
        seen = vars(tuner).setdefault("seen_by_lanecheck", {})
        test, run = seen.get(key, (self.recorder.test, -1))
        first = bool(test == self.recorder.test and run != self.recorder.run)
        if first:
            seen[key] = (test, self.recorder.run)
        return first

    def _list_held(self, arguments: Mapping[str, Any]) -> dict[str, int]:
        """Return what the memory of each tensor among arguments holds."""
        bases = {name: getattr(value, "base", value) for name, value in arguments.items()}
        tensors = {name: base for name, base in bases.items() if isinstance(base, self.recorder.torch.Tensor)}
        with self.recorder.torch._C.DisableTorchFunction():
            return {name: self.recorder.track(tensor).content for name, tensor in tensors.items()}

    timed: Sequence[str] = ()  # tensors that the autotuner's runs may change before this launch
    config = ""  # of the launch that is compiled now
    maps: Iterator[Any] = iter(())  # what the compiler chose for each descriptor of the host, in order

    def record(self, function: Any, kernel: Any, args: Sequence[Any], kwargs: Mapping[str, Any], grid: Any) -> None:
        """Record one launch of a compiled kernel."""
        signature = kernel.src.signature
        self.maps = iter(getattr(kernel.metadata, "tensordesc_meta", None) or ())
        names = set(inspect.signature(function.fn).parameters)
        bound = inspect.signature(function.fn).bind(*args, **{k: v for k, v in kwargs.items() if k in names})
        bound.apply_defaults()
        grid = grid(dict(bound.arguments)) if callable(grid) else grid
        grid = [int(extent) for extent in (list(grid) if isinstance(grid, (list, tuple)) else [grid])]
        grid += [1] * (3 - len(grid))
        if not all(grid):
            return
        meta = kernel.metadata
        if meta.shared > self.gpu.shared:
            errors = importlib.import_module("triton.runtime.errors")
            raise errors.OutOfResources(meta.shared, self.gpu.shared, "shared memory")
        given: list[tuple[str, Any]] = []
        with self.recorder.torch._C.DisableTorchFunction():
            params: list[Any] = []
            pointers: dict[str, list[str]] = {}
            problem = ""
            try:
                for name, kind in signature.items():
                    params += self._params(name, kind, bound.arguments[name], given, kernel)
                for name, tensor in [pair for pair in given if not isinstance(pair[1], Tracked)]:
                    storages = self._list_pointers(name, tensor)
                    pointers |= {name: [f"{name}_at_{at}" for at in range(len(storages))]} if storages else {}
                    given += zip(pointers.get(name, ()), storages, strict=True)
            except UnknownArgument as error:
                problem = str(error)
            tensors = [{"arg": name, **self._describe(value)} for name, value in given]
        if getattr(meta, "num_ctas", 1) != 1:
            problem = problem or f"a cluster of {meta.num_ctas} CTAs"
        self.recorder.launch({
            "name": function.fn.__name__, "config": self.config, "ptx": self._keep(kernel.asm["ptx"]),
            "entry": meta.name, "grid": grid, "block": 32 * meta.num_warps, "smem": meta.shared,
            "scratch": getattr(meta, "global_scratch_size", 0) or 0, "params": params, "problem": problem,
            "constants": list_constants(signature, bound.arguments), "tensors": tensors, "given": given,
            "pointers": pointers,
            "timed": list(self.timed), "at": find_line(), "file": function.fn.__code__.co_filename,
        })  # fmt: skip

    def _list_pointers(self, name: str, tensor: Any) -> list[Tracked]:
        """Return the storages to which the numbers of an argument point; none if they are no addresses."""
        if str(tensor.dtype) not in WIDE or tensor.is_meta or not 0 < tensor.numel() <= FEW_POINTERS:
            return []
        storages = [self._find_pointed(name, address) for address in tensor.detach().flatten().tolist()]
        return [storage for storage in storages if storage is not None] if None not in storages else []

    def _find_pointed(self, name: str, number: int) -> Tracked | None:
        """Return the storage whose tensor begins at an address; None if it isn't an address that the program took."""
        pointed = self.recorder.find_pointed(number)
        if pointed is not None and not pointed[1]:
            raise UnknownArgument(f"{name} has an address inside a tensor, which isn't that of its first element")
        return pointed[0] if pointed is not None else None

    def _describe(self, given: Any) -> dict[str, Any]:
        """Return the reading of a tensor, or of the storage at an address, as a launch is given it."""
        if isinstance(given, Tracked):
            return self.recorder.read_pointed(given)
        elements = given.untyped_storage().nbytes() // given.element_size()
        return {"elements": elements, **self.recorder.read_tensor(given), **self._keep_numbers(given)}

    def _keep_numbers(self, tensor: Any) -> dict[str, str]:
        """Return the file that has the numbers of a tensor of integers, if these are few."""
        kind = tensor.dtype
        if kind.is_floating_point or kind.is_complex or tensor.is_meta or not 0 < tensor.numel() <= FEW_NUMBERS:
            return {}
        numbers = np.ascontiguousarray(tensor.detach().numpy())
        name = f"{digest(numbers).hex()}-{numbers.dtype}-{'x'.join(map(str, numbers.shape))}.npy"
        np.save(self.folder / name, numbers)
        return {"numbers": name}

    def _keep(self, ptx: str) -> str:
        """Return the name of the file that has a kernel's PTX."""
        name = f"{hashlib.sha256(ptx.encode()).hexdigest()[:24]}.ptx"
        (self.folder / name).write_text(ptx, encoding="utf-8")
        return name

    def _params(self, name: str, kind: Any, value: Any, given: list[tuple[str, Any]], kernel: Any) -> Iterator[Any]:
        """Yield the parameters of the PTX for one argument, and collect its tensors."""
        torch = self.recorder.torch
        if kind == "constexpr":
            return
        if isinstance(kind, tuple):
            for number, (inner, part) in enumerate(zip(kind, value, strict=True)):
                yield from self._params(f"{name}_{number}", inner, part, given, kernel)
        elif isinstance(value, torch.Tensor):
            given.append((name, value))
            yield {"tensor": name}
        elif hasattr(value, "block_shape") and hasattr(value, "base"):
            yield from expand_descriptor(name, value, next(self.maps, None))
            given.append((name, value.base))
        elif hasattr(value, "base") and isinstance(value.base, torch.Tensor):  # triton.reinterpret gave it
            dtype = getattr(torch, TYPES.get(str(kind).lstrip("*k"), ""), None)
            known = dtype is not None and dtype.itemsize == value.base.element_size()
            given.append((name, value.base.view(dtype) if known else value.base))
            if not known:
                raise UnknownArgument(f"{name} is a tensor of {name_of(value.base.dtype)} that is read as {kind}")
            yield {"tensor": name}
        elif isinstance(value, (bool, int)) and str(kind)[:1] in "iu":
            pointed = self._find_pointed(name, int(value))
            if pointed is not None:
                given.append((name, pointed))
            yield {"tensor": name} if pointed is not None else int(value)
        elif isinstance(value, (int, float)):
            yield {"value": float(value), "type": {"fp32": "f32", "fp64": "f64", "fp16": "f16"}.get(str(kind), "f32")}
        else:
            raise UnknownArgument(f"{name} is a {type(value).__name__}")


def list_constants(signature: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, int]:
    """Return the integers and truth values that the code of a launch was compiled for."""
    names = (name for name, kind in signature.items() if kind == "constexpr")
    values = {name: getattr(arguments[name], "value", arguments[name]) for name in names}
    return {name: value for name, value in values.items() if isinstance(value, int)}


def expand_descriptor(name: str, value: Any, chosen: Any) -> Iterator[Any]:
    """Yield the parameters of a tensor descriptor of the host: a tensor map, or a pointer, then shape and strides.

    `chosen` is what the compiler says of the map; None where it uses none. Raises UnknownArgument.
    """
    shape, strides = list(value.shape), list(value.strides)
    if shape != list(value.base.shape) or strides != list(value.base.stride()):
        raise UnknownArgument(f"{name} is a descriptor of another shape than its tensor's")
    if value.padding != "zero" or value.round_f32_to_tf32:
        raise UnknownArgument(f"{name} is a descriptor that pads with NaN, or rounds to tf32")
    if chosen is None:
        yield {"tensor": name}
        yield from [*shape, *strides, 0, 0, *shape, *strides]
        return
    if chosen.get("is_im2col") or chosen["fp4_padded"]:
        raise UnknownArgument(f"{name} is a descriptor of an image, or of padded fp4")
    box = list(reversed(chosen["block_size"]))
    yield {"map": name, "box": box, "swizzle": SWIZZLES[chosen["swizzle"]]}
    yield from [*shape, *strides]

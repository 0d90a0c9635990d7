# SPDX-License-Identifier: Apache-2.0
"""A mode of torch that keeps tensors on the CPU, says that they are on the GPU, and records each operation."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from verify.capture.recording.arrays import ArrayRecorder, find_bytes
from verify.capture.recording.gradients import HOOKS, Gradients
from verify.capture.recording.recorder import Recorder, digest, layout_of, name_of
from verify.capture.table import read_table

EQUALS = frozenset("eq __eq__ ne __ne__".split())
MINUS = frozenset("sub __sub__ rsub __rsub__ subtract".split())
FINITE = frozenset("isnan isinf isfinite".split())
MOST = 1 << 24  # multiply-adds of a product that is computed
USES = frozenset(
    "item tolist __bool__ __int__ __float__ __index__ __complex__ __contains__ nonzero is_nonzero unique".split()
)
FREE = frozenset("__repr__ __format__ __len__ __hash__ __get__ __set__ data_ptr size stride dim numel".split())
ESCAPES = {
    "torch.Tensor.data.__get__": "its memory has another name (.data)",
    "torch.Tensor.untyped_storage": "its storage was taken",
    "torch.Tensor.storage": "its storage was taken",
    "torch.Tensor.__dlpack__": "its memory was given away (dlpack)",
    "torch.Tensor.share_memory_": "its memory is shared",
}


def make_mode(recorder: Recorder, arrays: ArrayRecorder, index: int = 0) -> Any:
    """Return the mode, which is a context; `torch.from_numpy`, which no mode sees, is replaced."""
    torch = recorder.torch
    overrides = importlib.import_module("torch.overrides")
    mode = type("Recording", (_Handler, overrides.TorchFunctionMode), {})(recorder, arrays, torch.device("cuda", index))
    from_numpy = torch.from_numpy

    def record_array(array: Any) -> Any:
        with torch._C.DisableTorchFunction():
            return mode._call(from_numpy, "torch.from_numpy", "from_numpy", (array,), {})

    torch.from_numpy = record_array
    torch.set_default_device = mode.set_default_device
    torch.get_default_device = lambda: mode.default or torch.device("cpu")
    return mode


class _Handler:
    """The method of a mode that sees every function of torch."""

    def __init__(self, recorder: Recorder, arrays: ArrayRecorder, device: Any) -> None:
        super().__init__()
        self.recorder, self.arrays, self.torch, self.device = recorder, arrays, recorder.torch, device
        self.resolve = importlib.import_module("torch.overrides").resolve_name
        self.products = frozenset(name for row in read_table() if row.product for name in row.names)
        self.default: Any = None  # the device of tensors that are made without one
        self.makers = importlib.import_module("torch.utils._device")._device_constructors()
        self.gradients = Gradients(recorder, self)
        self.special: Mapping[str, Callable[..., Any]] = {
            "cuda": lambda tensor, *_, **__: self._copy_to(tensor, True, tensor.dtype),
            "cpu": lambda tensor, *_, **__: self._copy_to(tensor, False, tensor.dtype),
            "to": self._move,
            **dict.fromkeys(("allclose", "equal"), self._compare),
            "isclose": self._isclose,
            "numpy": self._numpy,
            "__array__": self._numpy,
            "pin_memory": lambda tensor, *_, **__: tensor,
            "backward": self.gradients.backward_any,
            "grad": self.gradients.grad,
            "get_device": lambda tensor: self.device.index if self._on_device([tensor]) else -1,
        }

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Answer one call of the program."""
        kwargs, name = dict(kwargs or {}), getattr(func, "__name__", "")
        if name == "__get__":
            owner = getattr(getattr(func, "__self__", None), "__name__", "")
            if owner == "device" and self._on_device(args[:1]):
                return self.device
            if owner in ("is_cuda", "is_cpu"):
                return self._on_device(args[:1]) == (owner == "is_cuda")
        if func is self.torch.device:
            return self._find_device(args[0]) if len(args) == 1 else func(*args, **kwargs)
        if kwargs.get("device") is not None:
            kwargs["device"] = self._find_device(kwargs["device"])
        elif self.default is not None and func in self.makers:
            kwargs["device"] = self.default
        if name in self.special and (tensors := list(self._tensors((args, kwargs)))) and tensors:
            return self.special[name](*args, **kwargs)
        if not kwargs and (made := self._answer_each_of(name, args)) is not None:
            return made
        full = self.resolve(func) or f"{getattr(func, '__module__', '')}.{name}"
        if full in ESCAPES:
            self._escape(args[0], ESCAPES[full])
        if full == "torch.Tensor.data_ptr" and self.is_strided(args[0]) and called_by_program():
            self.recorder.note_address(args[0])
        made = self._call(func, full, name, args, kwargs)
        if name in HOOKS:
            self.gradients.note_hook(made)
        elif full == "torch.Tensor.data.__set__":
            self._share_memory(*args)
        return made

    def _share_memory(self, tensor: Any, given: Any) -> None:
        """Note that a tensor has another's memory now, as `Module.to` gives it; it goes on to count its own writes."""
        if self.is_strided(tensor) and self.is_strided(given):
            self.recorder.write(tensor, self.recorder.track(given).content)

    def set_default_device(self, device: Any) -> None:
        """Let tensors that are made without a device be on this one."""
        self.default = None if device is None else self._find_device(device)

    def _find_device(self, value: Any) -> Any:
        """Return a device as torch names it; its own constructor needs a GPU for a mere number."""
        number = isinstance(value, int) and not isinstance(value, bool)
        return self.torch.device("cuda", value) if number else self.torch.device(value)

    # ---- what a call is given

    def _tensors(self, value: Any) -> Iterator[Any]:
        """Yield the tensors of arguments or results, in order."""
        if isinstance(value, self.torch.Tensor):
            yield value
        elif isinstance(value, Mapping):
            for inner in value.values():
                yield from self._tensors(inner)
        elif isinstance(value, (list, tuple)):
            for inner in value:
                yield from self._tensors(inner)

    def _is_gpu(self, value: Any) -> bool:
        if isinstance(value, str):
            return value.partition(":")[0] == "cuda"
        return isinstance(value, self.torch.device) and value.type == "cuda"

    def _on_device(self, tensors: Sequence[Any]) -> bool:
        return any(self.is_strided(tensor) and self.recorder.track(tensor).device for tensor in tensors)

    @staticmethod
    def is_strided(tensor: Any) -> bool:
        """Return whether a tensor has memory with strides, of which readings can be made."""
        return str(tensor.layout) == "torch.strided" and tensor.device.type == "cpu"

    def _escape(self, tensor: Any, why: str) -> None:
        if self.is_strided(tensor) and called_by_program():
            self.recorder.track(tensor).escaped = why

    # ---- calls

    def _call(self, func: Any, full: str, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Call a function on the CPU and record what it made or changed."""
        recorder = self.recorder
        before = [operand for operand in self._tensors((args, kwargs)) if self.is_strided(operand)]
        if name in USES:
            recorder.note_use(before, name)
        if name in FREE:
            return func(*args, **kwargs)
        gpu = any(map(self._is_gpu, (*args, *kwargs.values()))) or self._on_device(before)
        encoded = [self._encode(argument) for argument in args]
        named = {key: self._encode(argument) for key, argument in kwargs.items()}
        versions = [(operand, operand._version) for operand in before]
        args, kwargs = self._to_cpu(args), self._to_cpu(kwargs)
        operation: dict[str, Any] = {"op": full, "args": encoded, "kwargs": named}
        if gpu and full in self.products and self._rounds_to_tf32():
            operation["rounds"] = "tf32"
        grads = self.torch.is_grad_enabled() and any(operand.requires_grad for operand in before)
        if full in self.products and self._cost(before) > MOST and not grads:
            made = self._without_value(func, args, kwargs)
            operation["valueless"] = "it has more than 2^24 multiply-adds"
        else:
            made = func(*args, **kwargs)
        changed = [operand for operand, version in versions if operand._version != version]
        for tensor in changed:
            recorder.write(tensor, self._describe_change(operation, tensor))
        old = {operand.untyped_storage()._cdata for operand in before}
        for number, tensor in enumerate(self._tensors(made)):
            if not self.is_strided(tensor):
                continue
            key = tensor.untyped_storage()._cdata
            if key not in old and key not in recorder.tracked:
                several = f"[{number}]" if isinstance(made, (list, tuple)) else ""
                content = recorder.add(
                    "op", layout=layout_of(tensor), dtype=name_of(tensor.dtype), **{**operation, "op": full + several}
                )
                recorder.write(tensor, content)
                recorder.tracked[key].device = gpu
                self._note_shared(tensor, args)
        return made

    def _note_shared(self, tensor: Any, args: Sequence[Any]) -> None:
        """Note that a tensor has the memory of an array, which NumPy may write."""
        given = [array for array in args if isinstance(array, np.ndarray) and array.size]
        if any(find_bytes(array)[0] == tensor.data_ptr() for array in given):
            known = self.recorder.track(tensor)
            known.numbers = tensor.detach().numpy()
            known.digest = digest(known.numbers)

    def _describe_change(self, operation: Mapping[str, Any], tensor: Any) -> int:
        """Return the content of a tensor that an operation changed: its result, if it changed the whole storage."""
        whole = tensor.numel() * tensor.element_size() == tensor.untyped_storage().nbytes()
        if whole and operation["op"].rpartition(".")[2] not in ("__setitem__", "copy_"):
            return self.recorder.add(
                "op", layout=layout_of(tensor), dtype=name_of(tensor.dtype), changed=True, **operation
            )
        if whole and operation["op"].endswith(".copy_"):
            keys = {**operation, "args": operation["args"][1:2]}
            return self.recorder.add("op", layout=layout_of(tensor), dtype=name_of(tensor.dtype), **keys)
        known = self.recorder.track(tensor).content
        why = f"{operation['op']} changed a part of it"
        return self.recorder.add("unknown", why=why, of=[known], **operation)

    def _encode(self, value: Any) -> Any:
        """Return an argument as it stands in the log."""
        if isinstance(value, self.torch.Tensor):
            return (
                {"reading": self.recorder.read_tensor(value)}
                if self.is_strided(value)
                else {"other": "a tensor elsewhere"}
            )
        if isinstance(value, (list, tuple)):
            return [self._encode(part) for part in value]
        if isinstance(value, self.torch.dtype):
            return {"dtype": name_of(value)}
        if isinstance(value, (np.ndarray, np.generic)):
            return self.arrays.encode(value)
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        return {"other": type(value).__name__}

    def _to_cpu(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._to_cpu(part) for key, part in value.items() if key != "pin_memory"}
        if type(value) in (list, tuple):
            return type(value)(self._to_cpu(part) for part in value)
        return "cpu" if self._is_gpu(value) else value

    def _rounds_to_tf32(self) -> bool:
        """Return whether the program lets a GPU round the float32 tensors of a product to tf32."""
        settings = self.torch.backends.cuda.matmul
        return (getattr(settings, "fp32_precision", "") or ("tf32" if settings.allow_tf32 else "")) == "tf32"

    def _cost(self, tensors: Sequence[Any]) -> int:
        """Return the multiply-adds of a product of two tensors."""
        wide = [tensor for tensor in tensors if tensor.dim()][-2:]
        return wide[0].numel() * (wide[1].shape[-1] if wide[1].dim() > 1 else 1) if len(wide) == 2 else 0

    def _without_value(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Return a tensor of the result's shape and type that has no value."""
        torch = self.torch

        def to_meta(value: Any) -> Any:
            if isinstance(value, torch.Tensor):
                return value.detach().to("meta")
            if type(value) in (list, tuple):
                return type(value)(map(to_meta, value))
            return value

        shape = func(*to_meta(tuple(args)), **{key: to_meta(value) for key, value in kwargs.items()})
        return torch.zeros(shape.shape, dtype=shape.dtype)

    # ---- calls that mean something else here

    def _move(self, tensor: Any, *args: Any, **kwargs: Any) -> Any:
        """Return what `to` gives: a copy on the device, or in the type, that the program asks for."""
        given = (*args, *kwargs.values())
        templates = [value for value in given if isinstance(value, self.torch.Tensor)]
        places = (self._find_device(value) if type(value) is int else value for value in given)
        devices = [place for place in places if isinstance(place, (str, self.torch.device))]
        gpu = self._on_device([tensor])
        if devices or templates:
            gpu = any(map(self._is_gpu, devices)) or (bool(templates) and self._on_device(templates))
        dtypes = [template.dtype for template in templates] + [
            value for value in given if isinstance(value, self.torch.dtype)
        ]
        return self._copy_to(tensor, gpu, dtypes[0] if dtypes else tensor.dtype, bool(kwargs.get("copy")))

    def _copy_to(self, tensor: Any, gpu: bool, dtype: Any, copy: bool = False) -> Any:
        if gpu == self._on_device([tensor]) and dtype == tensor.dtype and not copy:
            return tensor
        encoded = [self._encode(tensor)]
        made = tensor.to(dtype, copy=True)
        content = self.recorder.add(
            "op", op="torch.Tensor.to", args=encoded, kwargs={}, layout=layout_of(made), dtype=name_of(dtype)
        )
        self.recorder.write(made, content)
        self.recorder.track(made).device = gpu
        return made

    def _compare(self, actual: Any, expected: Any, *args: Any, **kwargs: Any) -> bool:
        """Record torch.allclose or torch.equal, which say that the two are equal if shapes and types are."""
        if actual.shape != expected.shape or actual.dtype != expected.dtype:
            raise RuntimeError(f"shapes or types differ: {actual.shape}, {expected.shape}")
        read = self.recorder.read_tensor
        equal = self.recorder.compare("allclose", read(actual), read(expected))
        self.recorder.note_tolerances(args, kwargs)
        return equal

    def _isclose(self, actual: Any, expected: Any, *args: Any, **kwargs: Any) -> Any:
        """Record torch.isclose: a tensor of truth values, on which `all` may be asked."""
        made = self._answer_each("isclose", actual, expected)
        self.recorder.note_tolerances(args, kwargs)
        return made

    def _answer_each_of(self, name: str, args: Sequence[Any]) -> Any:
        """Record what `==`, `!=`, `-` or `isnan` says of what a launch wrote; None if it is none of them."""
        wanted = 2 if name in EQUALS | MINUS else 1 if name in FINITE else 0
        if not wanted or len(args) != wanted:
            return None
        if not all(
            isinstance(tensor, self.torch.Tensor) and self.is_strided(tensor) and tensor.numel() for tensor in args
        ):
            return None
        outputs = [self.recorder.is_output(self.recorder.read_tensor(tensor)["content"]) for tensor in args]
        if outputs.count(True) != 1 or len({tensor.shape for tensor in args}) != 1:
            return None
        return self._answer_each(name, *args) if wanted == 2 else self._answer_finite(name, *args)

    def _answer_finite(self, name: str, tensor: Any) -> Any:
        """Return that what a launch wrote is finite, as it is if it is what the test compares it with."""
        made = self.torch.full(tensor.shape, name == "isfinite")
        content = self.recorder.add("op", op=name, args=[], kwargs={}, layout=layout_of(made), dtype="bool")
        self.recorder.write(made, content)
        self.recorder.track(made).device = self._on_device([tensor])
        return made

    def _answer_each(self, name: str, actual: Any, expected: Any) -> Any:
        """Return what an operation on equal tensors gives; one element is another if the comparison is to differ."""
        torch, recorder = self.torch, self.recorder
        shape = torch.broadcast_shapes(actual.shape, expected.shape)
        gpu = self._on_device([actual, expected])
        at = recorder.compare_each(name, recorder.read_tensor(actual), recorder.read_tensor(expected), shape.numel())
        if name in MINUS:
            made = torch.zeros(shape, dtype=torch.result_type(actual, expected))
            wrong = 60.0 * (-1 if recorder.place == 1 else 1)  # above a tolerance, but no mean of many is
        else:
            made, wrong = torch.full(shape, "ne" not in name), "ne" in name
        if at is not None:
            made.view(-1)[at] = wrong
        content = recorder.add("compared", number=recorder.comparisons - 1, layout=layout_of(made),
                               dtype=name_of(made.dtype))  # fmt: skip
        recorder.write(made, content)
        recorder.track(made).device = gpu
        return made

    def _numpy(self, tensor: Any, *args: Any, **kwargs: Any) -> Any:
        """Return a tensor's numbers as an array that is recorded."""
        return self.arrays.share(tensor)


def called_by_program() -> bool:
    """Return whether the program's own code, not a library, called torch."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("verify", "torch"):
        frame = frame.f_back
    return frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] not in ("triton", "numpy")

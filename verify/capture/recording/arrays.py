# SPDX-License-Identifier: Apache-2.0
"""NumPy's arrays as references: what the memory of each holds, and the operations of numpy that are recorded on them.

An array is known by its memory, not by its object, so a view of it is a reading too. NumPy has no version that a write
moves, so each memory has a digest: bytes that changed without a recorded operation make a content of which nothing is
known.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from verify.capture.recording.recorder import OUTSIDE, UNSEEN, Recorder, digest

DRAWS = "rand randn random random_sample standard_normal normal uniform randint integers".split()
FILLED = "zeros ones full zeros_like ones_like full_like empty empty_like".split()
FUNCTIONS = frozenset(
    "where dot tril triu einsum concatenate stack".split()
)  # of which the whole call is recorded; others are recorded in their parts
MADE_OF = "array asarray asanyarray ascontiguousarray".split()
COPIES = "astype copy flatten".split()
EACH = frozenset("numpy.equal numpy.not_equal numpy.subtract".split())  # also compare each element of two arrays
FINITE = frozenset("numpy.isnan numpy.isinf numpy.isfinite".split())
USES = "item tolist tobytes nonzero argmax argmin argsort searchsorted __bool__ __int__ __float__ __index__".split()
NEUTRAL = ("casting", "order", "subok")  # arguments that change no number: the result's type is recorded
Array = np.ndarray[Any, Any]


@dataclass
class ArrayMemory:
    """The memory of one array that owns it, or of a tensor that gave its numbers."""

    owner: Array  # all of it, kept alive so that no other array has its addresses
    start: int  # its first byte
    content: int
    digest: bytes


def find_bytes(array: Array) -> tuple[int, int]:
    """Return the addresses of an array's first byte and of the one behind its last."""
    at = int(array.__array_interface__["data"][0])
    spans = [(extent - 1) * stride for extent, stride in zip(array.shape, array.strides, strict=True)]
    return at + sum(min(span, 0) for span in spans), at + sum(max(span, 0) for span in spans) + array.itemsize


def find_owner(array: Array) -> Array:
    """Return the array that owns the memory of a view."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array.view(np.ndarray)


def plain(value: Any) -> Any:
    """Return a value with arrays of numpy's own class in place of ours."""
    if isinstance(value, RecordedArray):
        return value.view(np.ndarray)
    if type(value) in (list, tuple):
        return type(value)(map(plain, value))
    return value


class RecordedArray(np.ndarray):
    """An array whose operations are recorded."""

    recording: ArrayRecorder

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        """Compute a function of numpy element by element, or a reduction, and record it."""
        name = f"numpy.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")
        if name in EACH and not kwargs and out is None:
            made = self.recording.compare_each(name, *inputs)
            if made is not None:
                return made
        if (
            name in FINITE
            and not kwargs
            and out is None
            and (made := self.recording.answer_finite(name, inputs[0])) is not None
        ):
            return made
        function = getattr(ufunc, method)
        return self.recording.compute(name, function, inputs, kwargs, out)

    def __array_function__(self, func: Any, types: Any, args: Iterable[Any], kwargs: Mapping[str, Any]) -> Any:
        """Record a function of numpy as a whole, if the table may have it."""
        args = tuple(args)
        if func.__name__ == "isclose" and (made := self.recording.compare_each("numpy.isclose", *args[:2])) is not None:
            return made
        if func.__name__ not in FUNCTIONS:
            return super().__array_function__(func, types, args, dict(kwargs))
        deep = func.__name__ == "dot" and any(np.ndim(arg) > 2 for arg in args)  # which isn't a product of matrices
        return self.recording.compute(f"numpy.{func.__name__}{'.deep' * deep}", func, args, kwargs, None)

    def __getitem__(self, key: Any) -> Any:
        """Return a view, or chosen elements, or a number, which the program then uses."""
        made = super().__getitem__(plain(key))
        if not isinstance(made, np.ndarray):
            self.recording.note_use([self], "__getitem__")
        elif made.size and not np.may_share_memory(made, self):
            return self.recording.keep("numpy.ndarray.__getitem__", [self.recording.encode(self)], {}, made)
        return made

    def __iter__(self) -> Iterator[Any]:
        """Yield rows, or numbers, which the program then uses."""
        if self.ndim == 1:
            self.recording.note_use([self], "__iter__")
        return super().__iter__()

    def dot(self, b: Any, out: Any = None) -> Any:
        """Return numpy.dot of two arrays."""
        return np.dot(self, b) if out is None else super().dot(b, out)


def _record_copy(name: str) -> Callable[..., Any]:
    real = getattr(np.ndarray, name)

    def copy(array: RecordedArray, *args: Any, **kwargs: Any) -> Any:
        encoded = [array.recording.encode(array)]
        made = real(array.view(np.ndarray), *args, **kwargs)
        if find_bytes(made)[0] >= find_bytes(array)[0] and np.may_share_memory(made, array):
            return made.view(RecordedArray)
        return array.recording.keep(f"numpy.ndarray.{name}", encoded, {}, made)

    return copy


def _record_use(name: str) -> Callable[..., Any]:
    real = getattr(np.ndarray, name)

    def use(array: RecordedArray, *args: Any, **kwargs: Any) -> Any:
        array.recording.note_use([array], name)
        return real(array.view(np.ndarray), *plain(args), **kwargs)

    return use


for _name in COPIES:
    setattr(RecordedArray, _name, _record_copy(_name))
for _name in USES:
    setattr(RecordedArray, _name, _record_use(_name))


class ArrayRecorder:
    """What is known of arrays, in the log of a recorder."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        RecordedArray.recording = self

    # ---- memory

    def find(self, array: Array) -> ArrayMemory | None:
        """Return the memory that an array is in, if it is known."""
        if not array.size:
            return None
        first, end = find_bytes(array)
        memories: list[ArrayMemory] = self.recorder.arrays
        for memory in reversed(memories):
            if memory.start <= first and end <= memory.start + memory.owner.nbytes:
                return memory
        return None

    def add(self, array: Array, content: int) -> ArrayMemory:
        """Let the memory of an array hold a content."""
        owner = find_owner(array)
        known = self.find(owner)
        if known is not None:
            known.content, known.digest = content, digest(known.owner)
            return known
        made = ArrayMemory(owner, find_bytes(owner)[0], content, digest(owner))
        self.recorder.arrays.append(made)
        return made

    def read_array(self, array: Array) -> dict[str, Any]:
        """Return the reading of an array as it is now; one that is new holds data of the host."""
        memory = self.find(array)
        if memory is None:
            owner = find_owner(array)
            made = self.recorder.add("source", made="host", layout=layout_in(owner, owner), dtype=owner.dtype.name)
            memory = self.add(array, made)
        now = digest(memory.owner)
        if now != memory.digest:
            memory.content = self.recorder.add("unknown", why=UNSEEN, of=[memory.content])
            memory.digest = now
        return {"content": memory.content, "dtype": array.dtype.name, **layout_in(array, memory.owner)}

    def is_known(self, array: Any) -> bool:
        """Return whether an array is in a memory that was recorded."""
        return isinstance(array, np.ndarray) and self.find(array) is not None

    def share(self, tensor: Any) -> Array:
        """Return a tensor's numbers as an array that cannot be written, so that it stays what was recorded."""
        reading = self.recorder.read_tensor(tensor)
        storage = tensor.untyped_storage()
        flat = tensor.detach().as_strided((storage.nbytes() // tensor.element_size(),), (1,), 0).numpy()
        if flat.size:
            self.add(flat, reading["content"])
        array: Array = tensor.detach().numpy().view(RecordedArray)
        array.flags.writeable = False
        return array

    # ---- operations

    def encode(self, value: Any) -> Any:
        """Return an argument as it stands in the log."""
        if isinstance(value, np.ndarray):
            return (
                {"reading": self.read_array(value)}
                if value.size and value.dtype.name != "object"
                else {"other": "array"}
            )
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, (list, tuple)):
            return [self.encode(part) for part in value]
        if isinstance(value, (np.dtype, type)):
            return {"dtype": np.dtype(value).name} if value is not object else {"other": "object"}
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        return {"other": type(value).__name__}

    def compute(self, name: str, function: Any, inputs: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> Any:
        """Return what a function of numpy gives, and record it."""
        encoded = [self.encode(value) for value in inputs]
        options = {key: plain(value) for key, value in kwargs.items()}
        if out is not None:
            targets = out if isinstance(out, tuple) else (out,)
            options["out"] = tuple(map(plain, targets))
            function(*map(plain, inputs), **options)
            for target in targets:
                if target is not None:
                    self._write(name, encoded, kwargs, target)
            return targets[0] if len(targets) == 1 else targets
        made = function(*map(plain, inputs), **options)
        if isinstance(made, np.ndarray) and made.size:
            return self.keep(name, encoded, kwargs, made)
        masked = isinstance(kwargs.get("where"), np.ndarray)
        self.note_use([*inputs, *kwargs.values()], "where" if masked else name)
        return made

    def compare_each(self, name: str, actual: Any, expected: Any) -> RecordedArray | None:
        """Record a comparison of what a launch wrote and a reference, and return its answer; None if these are none."""
        sides = [actual, expected]
        if not all(isinstance(side, np.ndarray) and side.size for side in sides) or actual.shape != expected.shape:
            return None
        readings = [self.read_array(side) for side in sides]
        if [self.recorder.is_output(reading["content"]) for reading in readings].count(True) != 1:
            return None
        at = self.recorder.compare_each(name.rpartition(".")[2], readings[0], readings[1], actual.size)
        if name == "numpy.subtract":
            made = np.full(actual.shape, 0, np.result_type(*sides)).view(np.ndarray)
            made.flat[[] if at is None else [at]] = -60 if self.recorder.place == 1 else 60
        else:
            made = np.full(actual.shape, name != "numpy.not_equal").view(np.ndarray)
            made.flat[[] if at is None else [at]] = name == "numpy.not_equal"
        owner = find_owner(made)
        content = self.recorder.add("compared", number=self.recorder.comparisons - 1, layout=layout_in(made, owner),
                                    dtype=made.dtype.name)  # fmt: skip
        self.add(made, content)
        return made.view(RecordedArray)

    def answer_finite(self, name: str, array: Any) -> RecordedArray | None:
        """Return that what a launch wrote is finite, as it is if it is what the test compares it with; else None."""
        if not array.size or not self.recorder.is_output(self.read_array(array)["content"]):
            return None
        return self.keep(name, [], {}, np.full(array.shape, name == "numpy.isfinite").view(np.ndarray))

    def _encode_options(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the named arguments of an operation that may change its numbers."""
        absent = (*NEUTRAL, *(key for key, value in kwargs.items() if value is np._NoValue))
        return {key: self.encode(value) for key, value in kwargs.items() if key not in absent}

    def keep(self, name: str, encoded: Sequence[Any], kwargs: Mapping[str, Any], made: Array) -> RecordedArray:
        """Return the result of an operation, recorded."""
        layout = layout_in(made, find_owner(made))
        content = self.recorder.add(
            "op", op=name, args=list(encoded), kwargs=self._encode_options(kwargs), layout=layout, dtype=made.dtype.name
        )
        self.add(made, content)
        return made.view(RecordedArray)

    def _write(self, name: str, encoded: Sequence[Any], kwargs: Mapping[str, Any], target: Array) -> None:
        """Record what an operation wrote into an array that was there."""
        memory = self.find(target)
        whole = memory is not None and memory.owner.size == target.size and memory.owner.dtype == target.dtype
        if memory is None or whole:
            layout = layout_in(target, find_owner(target) if memory is None else memory.owner)
            named = self._encode_options(kwargs)
            content = self.recorder.add(
                "op", op=name, args=list(encoded), kwargs=named, layout=layout, dtype=target.dtype.name
            )
        else:
            content = self.recorder.add("unknown", why=f"{name} changed a part of it", of=[memory.content])
        if memory is None:
            self.add(target, content)
        else:
            memory.content, memory.digest = content, digest(memory.owner)

    def note_use(self, values: Sequence[Any], how: str) -> None:
        """Note that the program reads numbers of arrays."""
        for value in values:
            if isinstance(value, np.ndarray) and value.size:
                self.recorder.note_reading(self.read_array(value), how)


def layout_in(array: Array, owner: Array) -> dict[str, Any]:
    """Return where the elements of an array lie in its owner, in elements."""
    size = max(array.itemsize, 1)
    first = int(array.__array_interface__["data"][0]) - find_bytes(owner)[0]
    return {
        "offset": first // size,
        "shape": list(array.shape),
        "strides": [stride // size for stride in array.strides],
    }


# ---- numpy's own functions


def install_arrays(recorder: Recorder) -> ArrayRecorder:
    """Let arrays that numpy draws or fills be recorded, from here on."""
    made = ArrayRecorder(recorder)
    random: Any = np.random
    state, generator = random.RandomState, random.Generator
    random.RandomState = _wrap_class(made, state)
    random.Generator = _wrap_class(made, generator)
    draw = random.default_rng
    random.default_rng = lambda seed=None: (
        seed if isinstance(seed, random.Generator) else random.Generator(draw(seed).bit_generator)
    )
    for name in DRAWS:
        if hasattr(random, name):
            setattr(random, name, _wrap(made, f"numpy.random.{name}", getattr(random, name), False))
    numpy: Any = np
    for name in FILLED:
        setattr(numpy, name, _wrap(made, f"numpy.{name}", getattr(np, name), True))
    for name in MADE_OF:
        setattr(numpy, name, _wrap_copy(made, getattr(np, name)))
    return made


def _wrap_copy(recording: ArrayRecorder, real: Any) -> Callable[..., Any]:
    """Return numpy.array or one of its kin, which keeps an array recorded."""

    def call(*args: Any, **kwargs: Any) -> Any:
        made = real(*args, **kwargs)
        if not args or not isinstance(args[0], (RecordedArray, recording.recorder.torch.Tensor)) or not made.size:
            return made
        given = args[0] if isinstance(args[0], RecordedArray) else recording.share(args[0])
        if recording.is_known(made):
            return made.view(RecordedArray)
        return recording.keep("numpy.array", [recording.encode(given)], {}, made)

    return call


def _wrap_class(recording: ArrayRecorder, real: Any) -> Any:
    """Return a class of generators whose arrays are recorded."""
    methods = {
        name: _wrap(recording, f"numpy.random.{name}", getattr(real, name), False)
        for name in DRAWS
        if hasattr(real, name)
    }
    return type(real.__name__, (real,), methods)


def _wrap(recording: ArrayRecorder, name: str, real: Any, program: bool) -> Callable[..., Any]:
    """Return a function whose array is recorded; those that libraries call too, only for the program's own code."""

    def call(*args: Any, **kwargs: Any) -> Any:
        made = real(*args, **kwargs)
        module = sys._getframe(1).f_globals.get("__name__", "").partition(".")[0]
        if not isinstance(made, np.ndarray) or not made.size or (program and module in OUTSIDE):
            return made
        drawn = args and isinstance(args[0], (np.random.RandomState, np.random.Generator))
        shown = args[1:] if drawn else args
        return recording.keep(name, [recording.encode(value) for value in shown], kwargs, made)

    call.__name__ = name.rpartition(".")[2]
    return call

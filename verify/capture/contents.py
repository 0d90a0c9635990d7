# SPDX-License-Identifier: Apache-2.0
"""The contents of a recorded test: which data a reading is of, through copies and views, and where its elements lie."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from verify.capture.places import Unchecked, ViewPlaces
from verify.capture.table import TorchOperation, by_name

KINDS = {  # type of torch -> type of a claim
    **{"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"},
    **{"float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2"},
    **{f"int{bits}": f"s{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"u{bits}" for bits in (8, 16, 32, 64)},
}
BITS = {"f64": (53, 11), "f32": (24, 8), "f16": (11, 5), "bf16": (8, 8), "e4m3": (4, 4), "e5m2": (3, 5)}
EMPTY = (
    *("torch.empty", "torch.empty_like", "torch.Tensor.new_empty", "torch.empty_strided"),
    *("numpy.empty", "numpy.empty_like"),
)
PLACED = ("device", "dtype", "layout", "pin_memory", "requires_grad")  # arguments that change no number of a range
SYNONYMS = {  # names of parameters that the table has once
    **{"input": "a", "self": "a", "other": "b", "negative_slope": "slope", "fill_value": "value"},
    **{"axis": "dim", "keepdims": "keepdim", "k": "diagonal", "min": "low", "max": "high", "normalized_shape": "shape"},
}


@dataclass(frozen=True)
class TensorReading:
    """A view of a content."""

    content: int  # its number in the log
    dtype: str  # of torch, without "torch."
    offset: int  # of its first element in the storage, in elements
    shape: tuple[int, ...]  # as torch has it
    strides: tuple[int, ...]  # in elements
    grad: bool = field(default=False, compare=False)  # whether a gradient flows back through it

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> TensorReading:
        """Return the reading of a table of the log."""
        shape, strides = tuple(table["shape"]), tuple(table["strides"])
        return cls(table["content"], table["dtype"], table["offset"], shape, strides, bool(table.get("grad")))

    @property
    def places(self) -> ViewPlaces:
        """Return the place of each element in its storage, in elements, in the order of its indices."""
        return ViewPlaces(self.offset, self.shape, self.strides)


def read_layout(layout: Mapping[str, Any]) -> ViewPlaces:
    """Return where the elements of a content lie."""
    return ViewPlaces(layout["offset"], layout["shape"], layout["strides"])


def count_bits(dtype: str) -> int:
    """Return how many bits a number of a type has.

    >>> count_bits("float8_e5m2"), count_bits("bfloat16"), count_bits("int32")
    (8, 16, 32)
    """
    return int(re.sub(r"_.*|\D", "", dtype) or 8)


def is_exact(source: str, target: str) -> bool:
    """Return whether each number of a type is one of another.

    >>> is_exact("float16", "float32"), is_exact("float32", "float16"), is_exact("int8", "bfloat16")
    (True, False, True)
    """
    if source == target:
        return True
    old, new = KINDS.get(source, ""), KINDS.get(target, "")
    if old in BITS and new in BITS:
        return all(x <= y for x, y in zip(BITS[old], BITS[new], strict=True))
    if old[:1] in ("s", "u") and new in BITS:
        return int(old[1:]) <= BITS[new][0] and (new not in ("f16", "e4m3", "e5m2") or int(old[1:]) <= 8)
    if old[:1] in ("s", "u") and new[:1] in ("s", "u"):
        return (int(old[1:]) < int(new[1:]) and (old[0] == new[0] or old[0] == "u")) or (
            old[1:] == new[1:] and old[0] == new[0]
        )
    return False


class Contents:
    """The contents of one test, and what is known of its launches."""

    def __init__(self, table: Mapping[str, Mapping[str, Any]], written: Callable[[int], frozenset[str]]) -> None:
        self.table = {int(number): content for number, content in table.items()}
        self.written = written  # launch -> the arguments that it wrote; raises Unchecked where that isn't known

    def resolve(self, number: int, launch: int = -1) -> int:
        """Return the content behind launches that did not write it; that of `launch` itself is left as it is."""
        while (content := self.table[number])["kind"] == "after" and content["launch"] != launch:
            if self.written(content["launch"]) & set(content["args"]):
                return number
            number = content["before"]
        return number

    def operation(self, number: int) -> TorchOperation | None:
        """Return the row of the operation that made a content."""
        content = self.table[number]
        return by_name().get(content["op"]) if content["kind"] == "op" else None

    def arguments(self, number: int) -> dict[str, Any]:
        """Return the arguments of the operation by the names of its row, with defaults; raises Unchecked."""
        content, row = self.table[number], self.operation(number)
        assert row is not None
        names, given = list(row.parameters), dict[str, Any]()
        if len(content["args"]) > len(names) and not (row.cast or row.constant or row.random):
            raise Unchecked(f"{say_made(content)} has more arguments than are known")
        given.update(zip(names, content["args"], strict=False))
        for key, value in content["kwargs"].items():
            if key == "out" and content.get("changed") and has_one_type(content):
                continue
            name = key if key in names else SYNONYMS.get(key, key)
            if name in names:
                given[name] = value
            elif not (row.cast or row.constant or row.random or value is None or (row.range and key in PLACED)):
                raise Unchecked(f"{say_made(content)} has the argument {key}")
        for name, default in row.parameters.items():
            if name not in given:
                if isinstance(default, object) and type(default) is object:
                    raise Unchecked(f"{say_made(content)} lacks the argument {name}")
                given[name] = default
        return given

    def trace(self, reading: TensorReading, launch: int = -1) -> Iterator[tuple[int, str, ViewPlaces]]:
        """Yield (content, type, places) of the same numbers: as it is read, and where it is an exact copy of others."""
        places = reading.places
        number, dtype = self.resolve(reading.content, launch), reading.dtype
        while True:
            content = self.table[number]
            yield number, dtype, places
            row = self.operation(number)
            given = content["args"][0] if row is not None and row.cast and content["args"] else None
            if not isinstance(given, dict) or "reading" not in given:
                return
            source = TensorReading.of(given["reading"])
            layout, bytes_alone = content["layout"], content["dtype"] != dtype
            if bytes_alone and (source.dtype != content["dtype"] or count_bits(dtype) != count_bits(source.dtype)):
                return
            if not (bytes_alone or is_exact(source.dtype, dtype)) or np.prod(source.shape) != np.prod(layout["shape"]):
                return
            moved = places.relocate(read_layout(layout), source.places)
            if moved is None:
                return
            places = moved
            number, dtype = self.resolve(source.content, launch), dtype if bytes_alone else source.dtype

    def closure(self, number: int) -> Iterator[int]:
        """Yield a content and all that it was made of."""
        seen, rest = set(), [number]
        while rest:
            source = rest.pop()
            if source not in seen:
                seen.add(source)
                yield source
                rest += list(parents(self.table[source])) if self._has_parents(source) else []

    def _has_parents(self, number: int) -> bool:
        """Return whether more than the shape of a content comes from what it was made of."""
        content, row = self.table[number], self.operation(number)
        drawn = row is not None and (row.random or row.constant)
        return not drawn and not (content["kind"] == "op" and content["op"] in EMPTY)

    def rests_on(self, number: int) -> str:
        """Return why a content has no value that could be used here; empty if it has one."""
        for source in self.closure(number):
            content = self.table[source]
            if content.get("valueless"):
                return f"{say_made(content)} was not computed: {content['valueless']}"
            if content["kind"] == "after" and self.written(content["launch"]) & set(content["args"]):
                return f"launch {content['launch'] + 1} writes {content['args'][0]}, and no kernel runs here"
        return ""

    def is_free(self, number: int) -> bool:
        """Return whether any numbers could be the content's: it is drawn, or nobody gave it any."""
        number = self.resolve(number)
        content, row = self.table[number], self.operation(number)
        if content["kind"] != "op":
            return False
        if row is None:
            return content["op"] in EMPTY
        given = [argument for argument in content["args"] if isinstance(argument, dict) and "reading" in argument]
        if row.cast or (row.text in ("a + alpha * b", "a - alpha * b", "b - a", "a * b", "a / b", "0 - a")):
            return len(given) == 1 and self.is_free(given[0]["reading"]["content"]) and 0 not in content["args"]
        return row.random


def find_launch(contents: Contents, side: TensorReading) -> int | None:
    """Return the last launch that was given the memory of a side, behind casts and copies; None if there was none."""
    number = side.content
    while True:
        content, row = contents.table[number], contents.operation(number)
        if content["kind"] == "after":
            return int(content["launch"])
        given = content["args"][0] if row is not None and row.cast and content["args"] else None
        if not isinstance(given, dict) or "reading" not in given:
            return None
        number = given["reading"]["content"]


def follow(contents: Contents, side: TensorReading, launch: int) -> tuple[set[str], str, ViewPlaces]:
    """Return (arguments, type, places) of what a launch left: the side without casts and copies; raises Unchecked."""
    places, number, dtype = side.places, side.content, side.dtype
    while (content := contents.table[number])["kind"] != "after":
        row = contents.operation(number)
        if row is None or not row.cast:
            raise Unchecked(f"a side is {say_made(content)}, not what a launch wrote")
        source, bytes_alone = TensorReading.of(content["args"][0]["reading"]), content["dtype"] != dtype
        if bytes_alone and (source.dtype != content["dtype"] or count_bits(dtype) != count_bits(source.dtype)):
            refuse_type(content, content["dtype"], dtype)
        if KINDS.get(content["dtype"]) not in BITS and not is_exact(source.dtype, content["dtype"]):
            raise Unchecked(f"{say_made(content)} changes what the launch wrote: it is {content['dtype']} then")
        moved = places.relocate(read_layout(content["layout"]), source.places)
        if moved is None:
            raise Unchecked(f"a part of {say_made(content)} is compared")
        places, number, dtype = moved, source.content, dtype if bytes_alone else source.dtype
    if content["launch"] != launch:
        raise Unchecked(f"launch {content['launch'] + 1} may have written it later")
    return set(content["args"]), dtype, places


def refuse_type(content: Mapping[str, Any], own: str, dtype: str) -> None:
    """Refuse the bytes of numbers of one type as numbers of another, as `Tensor.view(dtype)` gives them."""
    if own != dtype:
        raise Unchecked(f"{say_made(content)} is of {own}, and is read as {dtype}")


def has_one_type(content: Mapping[str, Any]) -> bool:
    """Return whether an operation on tensors of one type has a result of that type too."""
    kinds = {
        argument["reading"]["dtype"]
        for argument in content["args"]
        if isinstance(argument, dict) and "reading" in argument
    }
    return kinds == {content["dtype"]}


def parents(value: Any) -> Iterator[int]:
    """Yield the contents that a content was made of."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key in ("content", "before"):
                yield inner
            elif key == "of":
                yield from inner
            elif isinstance(inner, (Mapping, list, tuple)):
                yield from parents(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from parents(inner)


def say_made(content: Mapping[str, Any]) -> str:
    """Return how a content came about, with its line: `torch.cumsum (line test_x.py:12)`."""
    made = (
        content.get("op")
        or content.get("why")
        or {"source": "data of the host, or of autograd,"}.get(content["kind"], "a tensor")
    )
    return f"{made.removeprefix('torch.Tensor.').removeprefix('torch.')} ({content['at']})"


def read_operand(content: Mapping[str, Any], value: Any) -> TensorReading:
    """Return the reading that an operand is; raises Unchecked for numbers of the host."""
    if not isinstance(value, dict) or "reading" not in value:
        raise Unchecked(f"{say_made(content)} has an operand that was not recorded")
    return TensorReading.of(value["reading"])

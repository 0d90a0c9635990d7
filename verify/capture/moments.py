# SPDX-License-Identifier: Apache-2.0
"""Sums, means, variances, norms and einsum of a reference, as a claim's text: `(sum_k (X[m,k]) / 64)`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from verify.capture.contents import Contents, TensorReading, read_operand, say_made
from verify.capture.masks import Names, write_number
from verify.capture.places import Unchecked

Content = Mapping[str, Any]
Given = Mapping[str, Any]


class IndexWriter(Protocol):
    """What writes a reading's text, and makes indices to sum over."""

    contents: Contents
    sizes: dict[str, int]  # extent of each index

    def write(self, reading: TensorReading, names: Names, depth: int = 0) -> str:
        """Return the text of an element of a reading."""

    def index(self, extent: int, summed: bool) -> str:
        """Return a new index."""

    def check_kind(self, content: Content, reading: TensorReading) -> None:
        """Raise Unchecked if the numbers of a reading change with the type of a content."""


def sum_over(writer: IndexWriter, names: Sequence[str], text: str) -> str:
    """Return the text of a sum over some indices; of what doesn't have one, so many times that."""
    for name in names:
        many = not re.search(rf"\b{name}\b", text)
        text = f"({writer.sizes[name]} * ({text}))" if many else f"sum_{name} ({text})"
    return text


def write_sum(writer: IndexWriter, content: Content, given: Given, kind: str, names: Names, depth: int) -> str:
    """Return the text of a sum, a mean or a variance over some indices; raises Unchecked."""
    reading = read_operand(content, given["a"])
    writer.check_kind(content, reading)
    reduced = _list_axes(content, given["dim"], len(reading.shape))
    kept = iter(name for axis, name in enumerate(names) if not (given["keepdim"] is True and axis in reduced))
    outer = ["" if axis in reduced else next(kept) for axis in range(len(reading.shape))]
    if kind != "variance":
        return _average(writer, reading, outer, reduced, depth, mean=kind == "mean")
    correction = given["correction"]
    if correction in ("none", None):
        correction = 1 if given["unbiased"] in (True, None) else 0
    return _write_variance(writer, content, reading, outer, reduced, depth, correction)


def _list_axes(content: Content, dims: Any, rank: int) -> set[int]:
    """Return the axes that a reduction goes over."""
    listed = list(range(rank)) if dims in ("none", None) else [dims] if isinstance(dims, int) else dims
    if not isinstance(listed, list) or any(not isinstance(dim, int) or isinstance(dim, bool) for dim in listed):
        raise Unchecked(f"{say_made(content)} goes over indices that are not read")
    return {dim % rank for dim in listed}


def _count(reading: TensorReading, axes: set[int]) -> int:
    return int(np.prod([reading.shape[axis] for axis in axes], dtype=object))


def _name_axes(
    writer: IndexWriter, reading: TensorReading, outer: Sequence[str], axes: set[int]
) -> tuple[Names, list[str]]:
    """Return (names of all indices, the new ones) of a reading, of which some axes get indices to sum over."""
    words = [
        name if axis not in axes else writer.index(reading.shape[axis], summed=True) if reading.shape[axis] > 1 else ""
        for axis, name in enumerate(outer)
    ]
    return tuple(words), [words[axis] for axis in sorted(axes) if words[axis]]


def _average(
    writer: IndexWriter, reading: TensorReading, outer: Sequence[str], axes: set[int], depth: int, mean: bool = True
) -> str:
    """Return the text of a sum or a mean over axes."""
    words, new = _name_axes(writer, reading, outer, axes)
    text = writer.write(reading, words, depth + 1)
    text = sum_over(writer, new, text)
    count = _count(reading, axes)
    return f"({text} / {count})" if mean and count > 1 else text


def _write_variance(
    writer: IndexWriter,
    content: Content,
    reading: TensorReading,
    outer: Sequence[str],
    axes: set[int],
    depth: int,
    correction: Any,
) -> str:
    """Return the text of sum (x - mean)^2 / (n - correction)."""
    divisor = _count(reading, axes) - correction if isinstance(correction, (int, float)) else 0
    if divisor <= 0:
        raise Unchecked(f"{say_made(content)} divides by no positive number")
    words, new = _name_axes(writer, reading, outer, axes)
    mean = _average(writer, reading, outer, axes, depth)
    text = f"({writer.write(reading, words, depth + 1)} - {mean})"
    text = f"({text} * {text})"
    return f"({sum_over(writer, new, text)} / {write_number(divisor)})"


def write_norm(writer: IndexWriter, content: Content, given: Given, kind: str, names: Names, depth: int) -> str:
    """Return the text of layer_norm or rms_norm over the last indices; raises Unchecked."""
    reading, shape = read_operand(content, given["a"]), given["shape"]
    writer.check_kind(content, reading)
    shape = [shape] if isinstance(shape, int) else shape
    if not isinstance(shape, list) or tuple(shape) != reading.shape[len(reading.shape) - len(shape) :]:
        raise Unchecked(f"{say_made(content)} goes over indices that are not read")
    if not isinstance(given["eps"], float):
        raise Unchecked(f"{say_made(content)} has no eps")
    axes = set(range(len(names) - len(shape), len(names)))
    outer = ["" if axis in axes else name for axis, name in enumerate(names)]
    value, eps = writer.write(reading, names, depth + 1), write_number(given["eps"])
    if kind == "layer_norm":
        value = f"({value} - {_average(writer, reading, outer, axes, depth)})"
        square = _write_variance(writer, content, reading, outer, axes, depth, 0)
    else:
        words, new = _name_axes(writer, reading, outer, axes)
        element = writer.write(reading, words, depth + 1)
        square = sum_over(writer, new, f"({element} * {element})")
        square = f"({square} / {_count(reading, axes)})"
    text = f"({value} * rsqrt({square} + {eps}))"
    for name, sign in (("weight", "*"), ("bias", "+")):
        if given.get(name, "none") not in ("none", None):
            more = read_operand(content, given[name])
            writer.check_kind(content, more)
            text = f"({text} {sign} {writer.write(more, names[len(names) - len(shape) :], depth + 1)})"
    return text


def write_einsum(writer: IndexWriter, content: Content, names: Names, depth: int) -> str:
    """Return the text of einsum: the sum of products over the letters that the result lacks; raises Unchecked."""
    equation, *rest = content["args"] or [""]
    given = rest[0] if len(rest) == 1 and isinstance(rest[0], list) else rest
    options = {key for key, value in content["kwargs"].items() if value not in (None, False) and key != "optimize"}
    if not isinstance(equation, str) or not given or options:
        raise Unchecked(f"{say_made(content)} is given in a way that is not read")
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if not arrow:
        right = "".join(sorted(letter for letter in set(left) - {","} if left.count(letter) == 1))
    readings = [read_operand(content, operand) for operand in given]
    lengths = [len(reading.shape) for reading in readings] == [len(term) for term in terms] and len(right) == len(names)
    if not lengths or "." in left or any(len(set(letters)) < len(letters) for letters in (*terms, right)):
        raise Unchecked(f"{say_made(content)} has an equation that is not read: {equation}")
    words, extents, new = dict(zip(right, names, strict=True)), dict[str, int](), list[str]()
    for reading, term in zip(readings, terms, strict=True):
        writer.check_kind(content, reading)
        for letter, extent in zip(term, reading.shape, strict=True):
            if extents.setdefault(letter, extent) != extent:
                raise Unchecked(f"{say_made(content)} has two extents of {letter}")
            if letter not in words:
                words[letter] = writer.index(extent, summed=True) if extent > 1 else ""
                new += [words[letter]] if extent > 1 else []
    parts = [
        writer.write(reading, tuple(words[letter] for letter in term), depth + 1)
        for reading, term in zip(readings, terms, strict=True)
    ]
    return sum_over(writer, new, f"({' * '.join(parts)})")

# SPDX-License-Identifier: Apache-2.0
"""One launch of a kernel as its claim gives it: sizes, grid, arrays, and the bytes of its parameters."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from verify.core.errors import SpecError
from verify.core.names import nearest
from verify.kernel.claims.expression import Element, Node, whole

if TYPE_CHECKING:
    from verify.kernel.ptx.source import Kernel

PARAM_KEYS = ("struct", "values", "maps", "map", "box", "swizzle", "dims", "unused", "value", "type")
MAX_ELEMENTS = 1 << 24  # of an array of which each element has its place in tables
MAX_PLACES = 1 << 26  # of an array whose tables have all of its places; a larger one has tables of its elements alone
MAP_BYTES, MAP_ALIGN = 128, 64  # of a tensor map: CUtensorMap of the CUDA driver API
_FLOATS = {2: "<e", 4: "<f", 8: "<d"}


class Array(NamedTuple):
    """An array of a launch, its shape and strides in elements."""

    name: str  # in the claim
    dims: tuple[str, ...]  # the names of its indices
    shape: tuple[int, ...]  # their extents
    strides: tuple[int, ...]  # in elements
    kind: str  # the type of its elements
    offset: int  # of its first element from the start of its memory, in elements
    out: bool  # whether the kernel may write it
    scratch: bool  # whether it may, and nothing is claimed of it
    zero: bool  # whether it holds zeros before the kernel runs
    stored: NDArray[np.int64] | None = None  # of a sparse matrix: the column of each element that has a place
    content: NDArray[np.int64] | None = None  # of metadata: the numbers that it holds
    limits: tuple[float, float] | None = None  # the least and the greatest that it holds before the kernel runs
    origin: tuple[int, ...] = ()  # of a box of a larger array: the indices of its first element there

    @property
    def ndim(self) -> int:
        """Return how many indices an element has."""
        return len(self.shape)

    @property
    def end(self) -> int:
        """Return the first place of its memory behind its last element, in elements."""
        shape = self.shape if self.stored is None else self.stored.shape
        if 0 in shape:
            return self.offset
        last = sum((int(extent) - 1) * step for extent, step in zip(shape, self.strides, strict=True))
        return self.offset + last + 1

    @property
    def places(self) -> NDArray[np.int64]:
        """The place of each element in its memory, in elements, in the order of its indices; -1 for one not stored."""
        shape = self.shape if self.stored is None else self.stored.shape
        places = np.full(shape, self.offset, np.int64)
        for axis, stride in enumerate(self.strides):
            places += (np.arange(shape[axis]) * stride).reshape(-1, *[1] * (len(shape) - 1 - axis))
        if self.stored is None:
            return places.ravel()
        sparse = np.full(self.shape, -1, np.int64)
        np.put_along_axis(sparse, self.stored, places, 1)
        return sparse.ravel()

    def element(self, number: int) -> str:
        """Return an element by its number, as A[m=2,k=0]."""
        indices = np.add(np.unravel_index(number, self.shape), self.origin or 0)
        return f"{self.name}[{','.join(f'{dim}={int(at)}' for dim, at in zip(self.dims, indices, strict=True))}]"

    def cut_box(self, box: Sequence[slice]) -> Array:
        """Return a box of it."""
        shape, first = tuple(span.stop - span.start for span in box), tuple(span.start for span in box)
        offset = self.offset + sum(at * step for at, step in zip(first, self.strides, strict=True))
        return self._replace(shape=shape, offset=offset, origin=first)

    def where(self, place: int) -> str:
        """Return a place of its memory in words, also where no element is."""
        rest, indices = place - self.offset, [0] * len(self.dims)
        for axis in sorted(range(len(self.dims)), key=lambda axis: -abs(self.strides[axis])):
            indices[axis], rest = divmod(rest, self.strides[axis]) if self.strides[axis] else (0, rest)
        extent = "x".join(map(str, self.shape))
        return f"{self.name}[{','.join(map(str, indices))}] of {extent}"


def sort_axes(array: Array) -> list[tuple[int, int, int]] | None:
    """Return (axis, extent, stride) of an array with the largest strides first; None unless each spans those after it.

    So every place has one element at most, and it is found by division; not so in a sparse matrix.
    """
    if array.stored is not None:
        return None
    axes = [(axis, extent, step) for axis, (extent, step) in enumerate(zip(array.shape, array.strides, strict=True))]
    ordered, span = sorted((axis for axis in axes if axis[1] > 1), key=lambda axis: -axis[2]), 1
    for _, extent, step in reversed(ordered):
        if step < span:
            return None
        span = step * extent
    return ordered


class TensorMap(NamedTuple):
    """A tensor map in a parameter: which box of which array TMA copies."""

    array: str
    box: tuple[int, ...]
    swizzle: str
    dims: tuple[str, ...] = ()  # the names of the array's axes in the order of coordinates; empty for that of strides


class Parameter(NamedTuple):
    """What a claim gives for a parameter: its bytes, and the tensor maps in it by their first byte."""

    octets: bytes
    maps: Mapping[int, TensorMap] = {}

    def get_bytes(self, first: int, count: int) -> bytes | None:
        """Return bytes; None if some are not given, or are those of a tensor map."""
        there = 0 <= first <= len(self.octets) - count
        mapped = any(first < at + MAP_BYTES and at < first + count for at in self.maps)
        return self.octets[first : first + count] if there and not mapped else None


class Launch(NamedTuple):
    """One launch of the kernel: its sizes, arrays, and the bytes of its parameters."""

    sizes: Mapping[str, int]  # by name
    grid: tuple[int, int, int]  # CTAs
    block: tuple[int, int, int]  # threads
    smem: int  # bytes of dynamic shared memory
    arrays: tuple[Array, ...]  # in the order of the claim
    params: tuple[Any, ...]  # as they are written
    scalars: Mapping[str, Fraction]  # numbers of the claim by name
    target: Element  # what the claim is about
    value: Node  # and what it should be
    narrow: tuple[str, ...]  # formats that a value may go through
    filled: tuple[str, ...]  # what the claim does not give and was chosen here, in words
    extents: Mapping[str, int] = {}  # of the claim's indices
    floor: float = 0.0  # numbers up to here stand for -inf, as -1e6 of a mask may; 0 for none
    smem_align: int = 0  # bytes: what dynamic shared memory is a multiple of; 0 for what the kernel declares
    ctas: tuple[int, ...] = ()  # the numbers of the CTAs that run, of a part of the launch; all if it is empty
    before: tuple[tuple[Kernel, Launch], ...] = ()  # launches on the same arrays that ran before, in order
    elected: str = "any"  # the lane that elect.sync chooses: any one, which is drawn, the opposite one, or the lowest

    def elect_opposite(self) -> Launch:
        """Return the launch in which elect.sync chooses the opposite lanes, in those before it too."""
        before = tuple((kernel, launch.elect_opposite()) for kernel, launch in self.before)
        return self._replace(before=before, elected="opposite")

    def array(self, name: str) -> Array:
        """Return the array of a name."""
        return next(array for array in self.arrays if array.name == name)

    def parameter(self, number: int, size: int, base: Mapping[str, int]) -> Parameter | None:
        """Return what a parameter holds; None for one that the claim does not give. `base` has arrays' addresses."""
        if number >= len(self.params):
            return None
        given, key = self.params[number], f"params[{number}]"
        if isinstance(given, Mapping):
            return self._table(given, key, size, base)
        return Parameter(self._pack(given, key, size, base))

    def _pack(self, given: Any, key: str, size: int, base: Mapping[str, int]) -> bytes:
        if isinstance(given, str) and given in self.scalars:
            given = float(self.scalars[given])
        if isinstance(given, float):
            if size not in _FLOATS:
                raise SpecError(key, f"a number with a fraction in a parameter of {size} bytes")
            return struct.pack(_FLOATS[size], given)
        number = self._whole(given, key, base)
        if not -(1 << (8 * size - 1)) <= number < 1 << (8 * size):
            raise SpecError(key, f"{number} does not fit the parameter's {size} bytes")
        return (number % (1 << (8 * size))).to_bytes(size, "little")

    def _whole(self, given: Any, key: str, base: Mapping[str, int]) -> int:
        """Return the integer that is given: an array's address, a leading dimension, an expression of sizes."""
        if isinstance(given, str):
            if given in base:
                return base[given]
            if given.startswith("ld") and given not in self.sizes:
                array = next((array for array in self.arrays if array.name.lower() == given[2:].lower()), None)
                if array is not None:
                    return next((stride for stride in array.strides if stride != 1), 1)
            if given.startswith("stride_") and given not in self.sizes:
                for array in self.arrays:
                    for dim, stride in zip(array.dims, array.strides, strict=True):
                        if f"{array.name}{dim}".lower() == given.removeprefix("stride_").lower():
                            return stride
        if isinstance(given, str) and given.isidentifier() and given not in self.sizes:
            names = [*(array.name for array in self.arrays), *self.sizes, *self.scalars]
            same = [known for known in names if known.lower() == given.lower()]
            if same:
                raise SpecError(key, f"no array, size or scalar is named {given!r}; {same[0]!r} is: case matters")
        return whole(key, given, self.sizes)

    def _table(self, given: Mapping[str, Any], key: str, size: int, base: Mapping[str, int]) -> Parameter | None:
        require_known(given, PARAM_KEYS, key)
        if given.get("unused"):
            return None
        if "map" in given:
            return Parameter(b"", {0: _read_map(given, key)})
        if "value" in given:
            kind = given.get("type", "s32")
            number = float(self.scalars[given["value"]]) if given["value"] in self.scalars else given["value"]
            return Parameter(self._pack(float(number) if kind[0] == "f" else number, key, size, base))
        if "struct" not in given or not isinstance(given.get("values", []), list):
            expected = "{ struct, values, maps }, { map, box, swizzle }, { value, type } or { unused }"
            raise SpecError(key, f"expected {expected}")
        packed = self._pack_struct(given["struct"], given.get("values", []), key, base)
        maps = _read_maps(given.get("maps", {}), f"{key}.maps")
        if (last := max([len(packed), *(at + MAP_BYTES for at in maps)])) > size:
            raise SpecError(key, f"the struct has {last} bytes, the parameter {size}")
        return Parameter(packed, maps)

    def _pack_struct(self, layout: Any, given: Sequence[Any], key: str, base: Mapping[str, int]) -> bytes:
        """Return the bytes of a struct."""
        values = []
        for member in given:
            scalar = isinstance(member, str) and member in self.scalars
            values.append(
                float(self.scalars[member])
                if scalar
                else member
                if isinstance(member, float)
                else self._whole(member, key, base)
            )
        try:
            return struct.pack(layout, *values)
        except (struct.error, TypeError) as error:
            raise SpecError(key, f"struct {layout!r}: {error}") from None


def _read_maps(given: Any, key: str) -> dict[int, TensorMap]:
    """Return the tensor maps of a struct by their first byte."""
    if not isinstance(given, Mapping):
        raise SpecError(key, "expected a table of tensor maps by their first byte, as { 64 = { map, box, swizzle } }")
    maps = dict[int, TensorMap]()
    for text, table in given.items():
        if not str(text).isdecimal() or int(text) % MAP_ALIGN:
            raise SpecError(f"{key}.{text}", f"a tensor map begins at a multiple of {MAP_ALIGN} bytes")
        if not isinstance(table, Mapping) or "map" not in table:
            raise SpecError(f"{key}.{text}", "expected { map, box, swizzle }")
        require_known(table, ("map", "box", "swizzle", "dims"), f"{key}.{text}")
        maps[int(text)] = _read_map(table, f"{key}.{text}")
    places = sorted(maps)
    for before, after in pairwise(places):
        if after - before < MAP_BYTES:
            raise SpecError(f"{key}.{after}", f"overlaps the tensor map at {before}, which has {MAP_BYTES} bytes")
    return maps


def _read_map(given: Mapping[str, Any], key: str) -> TensorMap:
    box = given.get("box", ())
    if not isinstance(box, list | tuple) or not all(type(extent) is int for extent in box):
        raise SpecError(f"{key}.box", "expected a list of integers")
    dims = given.get("dims", ())
    if not isinstance(dims, str | list | tuple) or not all(isinstance(dim, str) for dim in dims):
        raise SpecError(f"{key}.dims", 'expected the names of the array\'s axes in the order of coordinates, as "kmh"')
    return TensorMap(str(given["map"]), tuple(box), str(given.get("swizzle", "none")), tuple(dims))


def require_known(table: Mapping[str, Any], keys: Sequence[str], path: str) -> None:
    """SpecError for a key of a table that none of ``keys`` is."""
    for key in table:
        if key not in keys:
            raise SpecError(f"{path}.{key}".lstrip("."), f"unknown key{nearest(key, list(keys), 'key')}")

# SPDX-License-Identifier: Apache-2.0
"""Matrices in shared memory: where the descriptor's canonical layouts put an element, and the descriptor itself.

Both are formulas of the files in `isa_tables/memory`; `schema.toml` has their keys. `mn` is the coordinate that is not
contracted, `lbo` and `sbo` are the leading and the stride dimension byte offset.

>>> k_major = read_layouts("wgmma")
>>> [k_major.address(row, 8, 16, "128B", "K", sbo=1024) for row in range(4)]
[16, 128, 304, 416]
>>> k_major.decode(k_major.descriptor(start=2048, lbo=16, sbo=1024, swizzle="128B"))
Descriptor(start=2048, lbo=16, sbo=1024, base_offset=0, swizzle='128B')
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from isa_tables import schema, tables
from isa_tables.errors import IsaError, TableError
from isa_tables.formula import Formula, evaluate
from isa_tables.formula_parser import parse_in

SHIPPED = Path(__file__).parent / "memory"
_CHUNK = 128  # bits: the 16 bytes that every layout keeps together (PTX ISA 9.7.15.5.1)
_FIELDS = ("start", "lbo", "sbo", "base_offset", "swizzle")  # that every descriptor must have


@dataclass(frozen=True, slots=True)
class SmemSwizzle:
    """The permutation of addresses within a pattern: a formula of `address`, in bytes."""

    name: str
    code: int
    repeat: int  # bytes after which the pattern repeats; it starts at a multiple of them
    formula: Formula


@dataclass(frozen=True, slots=True)
class Field:
    """Bits low..high of the descriptor: `value`, a formula of the number `x`, and `bytes`, one back to the number."""

    name: str
    low: int
    high: int
    value: Formula
    bytes: Formula | None  # None where the bits are constant


@dataclass(frozen=True, slots=True)
class Descriptor:
    """What a matrix descriptor says, in bytes."""

    start: int
    lbo: int
    sbo: int
    base_offset: int
    swizzle: str


@dataclass(frozen=True, slots=True)
class Layouts:
    """The address maps of one kind of matrix descriptor."""

    file: str  # the path of the file
    isa: str  # the PTX ISA version that it cites
    section: str  # of the ISA
    provenance: str  # as of an operand
    texts: Mapping[tuple[str, str], str]  # (swizzle, major) -> formula of the address before swizzling
    canonical: Mapping[tuple[str, str], str]  # the same as a layout, in elements, as the ISA prints it
    swizzles: Mapping[str, SmemSwizzle]  # by name: none, 32B, 64B, 128B, ...
    fields: tuple[Field, ...]  # of the descriptor

    def address(  # noqa: PLR0913 - a matrix descriptor has these numbers
        self, mn: Any, k: Any, bits: int, swizzle: str, major: str, *, lbo: Any = 0, sbo: Any = 0, start: Any = 0
    ) -> Any:
        """Return the address of the byte with the lowest bit of element (mn, k), of a matrix that starts at byte
        `start`.

        The pattern is one of addresses: a matrix that starts inside of it, as after an advance along k within a
        swizzle atom, is permuted by the bits of the sum. Without a start, addresses count from the matrix, which must
        then start at a multiple of the swizzle's `repeat`. `lbo` and `sbo` are the descriptor's offsets in bytes.
        Raises IsaError for a swizzle, major or width that the file does not have.
        """
        name = f"layout.{major}.{swizzle}"
        if (swizzle, major) not in self.texts:
            have = ", ".join(f"{a} {b}-major" for a, b in self.texts)
            raise IsaError(f"no {swizzle} {major}-major layout; there are: {have}")
        if bits < 1 or _CHUNK % bits:
            raise IsaError(f"{bits} bits do not divide 16 bytes")
        formula = _linear(self.file, name, self.texts[swizzle, major], bits)
        linear = evaluate(formula.tree, {"mn": mn, "k": k, "lbo": lbo, "sbo": sbo})
        return evaluate(self.swizzles[swizzle].formula.tree, {"address": start + linear})

    def descriptor(self, *, start: int, lbo: int, sbo: int, swizzle: str, base_offset: int = 0) -> int:
        """Return the 64-bit matrix descriptor, of numbers in bytes.

        Raises IsaError for a swizzle that the file does not have, and for a number that does not fit its field.
        """
        if swizzle not in self.swizzles:
            raise IsaError(f"no swizzle {swizzle!r}; there are: {', '.join(self.swizzles)}")
        said = {"start": start, "lbo": lbo, "sbo": sbo, "base_offset": base_offset}
        word = 0
        for field in self.fields:
            x = self.swizzles[swizzle].code if field.name == "swizzle" else said.get(field.name, 0)
            room = 1 << (field.high - field.low + 1)
            value = evaluate(field.value.tree, {"x": x})
            if not 0 <= value < room or (field.name in ("start", "lbo", "sbo") and x != value << 4):
                raise IsaError(f"{field.name} = {x} does not fit bits {field.high}-{field.low} of the descriptor")
            word |= value << field.low
        return word

    def decode(self, word: int) -> Descriptor:
        """Return what a 64-bit matrix descriptor says: the inverse of `descriptor`.

        Raises IsaError for a code that no swizzle has, for constant bits of another value, and for bits outside all
        fields.
        """
        said: dict[str, int] = {}
        for field in self.fields:
            bits = word >> field.low & (1 << field.high - field.low + 1) - 1
            word &= ~(bits << field.low)
            if field.bytes is not None:
                said[field.name] = evaluate(field.bytes.tree, {"x": bits})
            elif bits != (constant := evaluate(field.value.tree, {"x": 0})):
                place = f"bits {field.low}-{field.high} ({field.name})"
                raise IsaError(f"{place} of the descriptor are {bits}; they must be {constant}")
        if word:
            raise IsaError(f"the descriptor has bits outside its fields: {word:#x}")
        swizzle = next((swizzle.name for swizzle in self.swizzles.values() if swizzle.code == said["swizzle"]), None)
        if swizzle is None:
            raise IsaError(f"no swizzle has the code {said['swizzle']}")
        return Descriptor(said["start"], said["lbo"], said["sbo"], said["base_offset"], swizzle)


@lru_cache(maxsize=64)
def _linear(file: str, name: str, text: str, bits: int) -> Formula:
    """Return the formula of an address before swizzling, for elements of a width; cached."""
    names = dict.fromkeys(("mn", "k", "lbo", "sbo"), False)
    return parse_in(file, name, text, names, {"bits": bits, "T": _CHUNK // bits})


def read_layouts(name: str, folder: Path = SHIPPED) -> Layouts:
    """Return the layouts of a file, by its name: "wgmma" or "tcgen05". Raises TableError where it breaks its schema."""
    path = folder / f"{name}.toml"
    return _read_layouts(str(path), tables.text_of(path))


@lru_cache(maxsize=16)
def _read_layouts(file: str, text: str) -> Layouts:
    data = tables.parse_tables(file, text)
    schema.check(data, schema.keys()["memory"], file, "", tuple(schema.keys()["memory"].keys() - {"errata"}))
    tables.check_schema(data, file)
    for key in ("layout", "swizzle", "field"):
        for number, entry in enumerate(data[key]):
            kinds = schema.keys()[key]
            schema.check(entry, kinds, file, f"{key}[{number}]", tuple(kinds.keys() - {"provenance", "bytes"}))
    layouts = Layouts(
        file=file,
        isa=data["isa"],
        section=data["section"],
        provenance=data["provenance"],
        texts={(entry["name"], entry["major"]): entry["address"] for entry in data["layout"]},
        canonical={(entry["name"], entry["major"]): entry["canonical"] for entry in data["layout"]},
        swizzles={entry["name"]: _swizzle(file, entry) for entry in data["swizzle"]},
        fields=tuple(_field(file, entry) for entry in data["field"]),
    )
    _check_once(file, "layout", [f"{entry['major']} {entry['name']}" for entry in data["layout"]])
    _check_once(file, "swizzle", [entry["name"] for entry in data["swizzle"]])
    for number, entry in enumerate(data["layout"]):
        if entry["name"] not in layouts.swizzles:
            raise TableError(file, f"layout[{number}].name", f"no such swizzle: {entry['name']!r}")
    _check_fields(layouts)
    return layouts


def _check_once(file: str, key: str, names: list[str]) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise TableError(file, key, f"{twice} is described twice")


def _check_fields(layouts: Layouts) -> None:
    """Raise TableError unless every field of the descriptor is there and no two share a bit."""
    taken: set[int] = set()
    for field in layouts.fields:
        bits = set(range(field.low, field.high + 1))
        if not bits or bits & taken:
            reason = f"bits {field.low} to {field.high} are an empty range or overlap another field"
            raise TableError(layouts.file, f"field.{field.name}", reason)
        taken |= bits
    names = [field.name for field in layouts.fields]
    _check_once(layouts.file, "field", names)
    for name in _FIELDS:
        if name not in names:
            raise TableError(layouts.file, f"field.{name}", "this field is missing")
        if layouts.fields[names.index(name)].bytes is None:
            raise TableError(layouts.file, f"field.{name}.bytes", "this key is missing")


def _swizzle(file: str, entry: Mapping[str, Any]) -> SmemSwizzle:
    name = entry["name"]
    formula = parse_in(file, f"swizzle.{name}.address", entry["address"], {"address": False}, {})
    return SmemSwizzle(name, entry["code"], entry["repeat"], formula)


def _field(file: str, entry: Mapping[str, Any]) -> Field:
    def formula(key: str) -> Formula:
        return parse_in(file, f"field.{entry['name']}.{key}", entry[key], {"x": False}, {})

    back = formula("bytes") if "bytes" in entry else None
    return Field(entry["name"], entry["low"], entry["high"], formula("value"), back)

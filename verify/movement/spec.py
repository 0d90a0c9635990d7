# SPDX-License-Identifier: Apache-2.0
"""Specs of movements, as users write them: by options of the command, or as tables of a TOML file.

The fields of the dataclasses below are the keys: options, TOML keys, help, errors and JSON schema are made from them.
A file has one table for each movement, parsed and never executed. The first key of a table is that of its sort:

["registers"]
from   = "ldmatrix.sync.aligned.m8n8.x4.shared.b16"
to     = "SM80_16x8x16_F32F16F16F32_TN"
shared = "Sw<1,3,3> o (16,16):(16,1)"

["access"]
shared  = "Sw<3,3,3> o (64,64):(64,1)"
access  = "(32,8):(1,64)"
element = 16

["operand"]
descriptor = "Sw<3,3,3> o (64,64):(64,1)"
element    = 16

Values are checked one by one here; `verify.movement.bind` checks them against each other and against the ISA.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from layouts import Swizzle, cosize, parse_layout, size
from layouts.int_tuple import leaves
from layouts.pasted import swizzle_and_layout
from verify.core.errors import UsageError
from verify.core.specs import Between, Choice, Key, key, keys, require, text
from verify.movement.smem_access import CAPACITY

if TYPE_CHECKING:
    from layouts import Layout, Swizzle

POINTS = 1 << 20
LARGEST = 1 << 56  # elements: bit addresses fit in 64 bits
TIMES = 64  # of a matrix load or store for one fragment, at most
ADDRESSES = 1 << 32  # of shared memory as the ISA counts them
REPLAY = ("lanecheck", "movement")


def as_it_is(value: object) -> Any:
    """Return the value unchanged: it is parsed once its instruction is known."""
    return value


def layout(value: object) -> Layout:
    """Return a layout of at most 2^20 points, all below 2^56, without negative strides. Raise ValueError."""
    return limit_layout(parse_layout(text(value)), value)


def limit_layout(layout: Layout, value: object) -> Layout:
    """Return the layout, if it has at most 2^20 points, all below 2^56, and no negative strides. Raise ValueError."""
    if size(layout) > POINTS:
        raise ValueError(f"{value} has more than {POINTS} points")
    if cosize(layout) > LARGEST:
        raise ValueError(f"{value} goes up to {cosize(layout) - 1}, beyond 2^56")
    if any(d < 0 for d in leaves(layout.stride)):
        raise ValueError(f"{layout} has a negative stride; addresses are counted from the lowest")
    return layout


class Tile(NamedTuple):
    """A layout of shared memory, and the swizzle of its elements, of no bits where there is none."""

    layout: Layout
    swizzle: Swizzle


def parse_tile(value: object) -> Tile:
    """Return a layout of shared memory, or a swizzle of one, of at most 2^20 points.

    >>> print(*parse_tile("Sw<3,3,3> o (8,64):(64,1)"))
    (8,64):(64,1) Sw<3,3,3>

    Raises ValueError.
    """
    swizzle, inner = swizzle_and_layout(text(value))
    if not swizzle.bits:  # the identity, wherever its fields would be
        swizzle = Swizzle(0, 0, 0)
    if swizzle.period > LARGEST:
        raise ValueError(f"{swizzle} moves bits above 2^56")
    return Tile(limit_layout(inner, value), swizzle)


def tile(value: object) -> Tile:
    """Return a layout of shared memory, or a swizzle of one, with two coordinates. Raise ValueError."""
    parsed = parse_tile(value)
    if len(parsed.layout) != 2:
        raise ValueError(f"{value} has rank {len(parsed.layout)}: expected 2, rows and columns")
    return parsed


def architecture(value: object) -> str:
    """Return an architecture whose size of shared memory is known. Raise ValueError."""
    name = str(value).rstrip("af")
    if name not in CAPACITY:
        raise ValueError(f"expected one of {', '.join(CAPACITY)}, found {str(value)!r}")
    return name


BYTE = Between(0, ADDRESSES - 1, "of bytes ")
MAJORS = Choice(("K", "MN", "M", "N"))
ELEMENT = "bits of an element"
MAJOR = "the axis whose elements are neighbours in memory: K, M or N; MN: M of A, N of B"
SHARED = "index in the tile, (x, y) with --from -> element of shared memory: a layout, or Sw<B,M,S> o LAYOUT"
ARCH = "architecture whose shared memory it is, sm_90 by default"


@dataclass(frozen=True, slots=True, kw_only=True)
class MovementSpec:
    """A movement as its user gives it; each sort of movement has further keys."""

    name: str
    replay: str  # the command that verifies it again
    base: int | None = key(
        "byte of shared memory at which the tile starts (default: every base that is aligned)", BYTE, "BYTES"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOverSpec(MovementSpec):
    """A hand-over: registers that one instruction leaves and the next one reads."""

    from_: str = require("mnemonic or atom of the source: a matrix load, or an mma (its accumulators)", text)
    to: str = require("mnemonic or atom of the destination: an mma (its operand), or a matrix store", text)
    operand: str = key("operand of --to: A (default), B or C", Choice(("A", "B", "C")), default="A")
    tiles: Any = key("tiles of the mma side by side, as n=2 (default: as many as the counts need)", as_it_is)
    times: int | None = key(
        "how often a matrix load or store is issued, each time with other rows (default: once)",
        Between(1, TIMES),
        "N",
    )
    rows: Layout | None = key(
        "row of a matrix load or store -> element of the tile at which it starts (default: derived)", layout
    )
    values: Layout | None = key(
        "value wanted -> value given (default: the same value for a matrix load or store, else derived)", layout
    )
    narrow: Any = key(
        "bits that accumulators are converted to before they are stored (default: no conversion)", as_it_is, "BITS"
    )
    major: str = key(MAJOR, MAJORS, default="")
    shared: Tile | None = key(SHARED, tile)
    arch: str | None = key(ARCH, architecture)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessSpec(MovementSpec):
    """Accesses of shared memory."""

    shared: Tile = require(SHARED, parse_tile)
    access: Layout = require("(thread, value) -> index in the tile", layout)
    element: int = require(ELEMENT, Choice((8, 16, 32, 64), " bits"), "BITS")
    width: Any = key("bits that a thread accesses at once (default: an element)", as_it_is, "BITS")
    how: str = key(
        "load (default), store, cp.async, ldmatrix or stmatrix",
        Choice(("load", "store", "cp.async", "ldmatrix", "stmatrix")),
        default="load",
    )
    global_: Layout | None = key("index in the tile -> element of global memory, accessed in the same width", layout)
    arch: str | None = key(ARCH, architecture)


@dataclass(frozen=True, slots=True, kw_only=True)
class DescriptorSpec(MovementSpec):
    """An operand of wgmma in shared memory, described by a matrix descriptor."""

    descriptor: Tile = require("(mn, k) -> element of shared memory: a layout, or Sw<B,M,S> o LAYOUT", tile)
    element: int = require(ELEMENT, Choice((8, 16, 32), " bits"), "BITS")
    major: str = key(MAJOR, MAJORS, default="")
    lbo: int | None = key("leading dimension byte offset of the descriptor (default: read off)", BYTE, "BYTES")
    sbo: int | None = key("stride dimension byte offset of the descriptor (default: read off)", BYTE, "BYTES")


Spec: TypeAlias = HandOverSpec | AccessSpec | DescriptorSpec
SORTS: Mapping[str, type[Spec]] = {"from": HandOverSpec, "shared": AccessSpec, "descriptor": DescriptorSpec}
UNITS = ("", "BITS", "BYTES", "N")


def options() -> dict[str, Key]:
    """Return the keys of all sorts, in the order of --help: texts, then numbers by what they count."""
    of_accesses = keys(AccessSpec)
    every = {name: option for name, option in keys(HandOverSpec).items() if name not in of_accesses}
    every |= of_accesses | keys(DescriptorSpec)
    return dict(sorted(every.items(), key=lambda item: UNITS.index(item[1].unit)))


def sort_of(table: Mapping[str, object]) -> str:
    """Return the key that names a table's sort; empty where there is none."""
    return next((sort for sort in SORTS if sort in table), "")


def of_options(table: Mapping[str, Any]) -> Spec:
    """Return the spec that options give, in the order of :func:`options`; raise UsageError and SpecError."""
    sort = sort_of(table)
    if not sort:
        raise UsageError("which movement? Give --from with --to, --shared with --access, --descriptor, or a FILE")
    known = keys(SORTS[sort])
    for name in known:
        if known[name].required and name not in table:
            raise UsageError(f"--{sort} needs --{name} too")
    for name in table:
        if name not in known:
            raise UsageError(f"--{name} does not apply to --{sort}")
    name = f"{table['from']} -> {table['to']} {table.get('operand', '')}".rstrip() if "from" in table else table[sort]
    replay = shlex.join([*REPLAY, *(word for key, value in table.items() for word in (f"--{key}", str(value)))])
    values = {key.field: key.parse_value(table[name]) for name, key in known.items() if name in table}
    return SORTS[sort](name=name, replay=replay, **values)

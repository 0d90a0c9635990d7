# SPDX-License-Identifier: Apache-2.0
"""Movements as their users state them: on the command line, or as tables of a TOML file.

A file holds one table per movement, parsed and never executed. There are three sorts:

["registers"]
from    = "ldmatrix.sync.aligned.m8n8.x4.shared.b16"   # a mnemonic or an atom; an mma gives its accumulators
to      = "SM80_16x8x16_F32F16F16F32_TN"
operand = "A"                       # which one of `to`
tiles   = "n=2"                     # of the mma, side by side; as many as the counts ask for where absent
rows    = "(8,2,2):(1,8,128)"       # row of a matrix load or store -> element it starts with; derived where absent
values  = "(2,2,2):(1,2,4)"  # value wanted -> value held; where absent the same of a matrix load or store, else derived
narrow  = 16                        # bits that accumulators are converted to before they are stored
major   = "K"                       # how the tile lies in memory: K, M or N; MN for whichever A or B has
shared  = "Sw<1,3,3> o (16,16):(16,1)"   # or just how: index in the tile -> element of shared memory

["access"]
shared  = "Sw<3,3,3> o (64,64):(64,1)"   # index in the tile -> element of shared memory
access  = "(32,8):(1,64)"           # (thread, value) -> index in the tile
element = 16                        # bits
width   = 128                       # bits that a thread asks for at once
how     = "load"                    # load, store, cp.async, ldmatrix, stmatrix
arch    = "sm_90"                   # whose shared memory it is
base    = 1024                      # byte at which the tile starts; any that suits it where absent
global  = "(64,64):(128,1)"         # index in the tile -> element of global memory, accessed as widely

["operand"]
descriptor = "Sw<3,3,3> o (64,64):(64,1)"   # (mn, k) -> element of shared memory
element    = 16
major      = "K"                    # either where absent
lbo        = 1024                   # bytes, as sbo; read off where absent
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import gcd
from pathlib import Path
from typing import Any, TypeVar

import isa_tables
from layouts import ComposedLayout, Layout, LayoutError, Swizzle, cosize, parse_layout, size
from layouts.atoms.entry import Entry, kind
from layouts.atoms.errors import raised
from layouts.atoms.tables import Found, tables
from layouts.int_tuple import leaves
from verify.core.errors import SpecError, UsageError
from verify.core.files import SWIZZLED, opened
from verify.movement.register_handover import Link, link
from verify.movement.register_operand import Side, side
from verify.movement.smem_access import ARCH, CAPACITY, MATRICES, WIDTHS, Reach, in_parts
from verify.movement.wgmma_descriptor import taken

T = TypeVar("T")
SORTS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {  # key that tells the sort -> required, optional keys
    "from": (
        ("from", "to"),
        ("operand", "tiles", "times", "rows", "values", "narrow", "major", "shared", "arch", "base"),
    ),
    "shared": (("shared", "access", "element"), ("width", "how", "global", "arch", "base")),
    "descriptor": (("descriptor", "element"), ("major", "lbo", "sbo", "base")),
}
POINTS = 1 << 20
REACH = 1 << 56  # elements: the addresses of all bits fit 64 bits
TIMES = 64  # a matrix load or store is issued for one fragment
ADDRESSES = 1 << 32  # of shared memory as the ISA counts them
NEEDS: Mapping[str, tuple[str, dict[str, Any]]] = {  # how memory is accessed -> what an architecture must have
    "ldmatrix": ("ldmatrix.sync.aligned.m8n8.x4.shared.b16", {}),
    "stmatrix": ("stmatrix.sync.aligned.m8n8.x4.shared.b16", {}),
    "cp.async": ("cp.async.ca.shared.global", {"bytes": 16}),
}
MAJORS = ("K", "MN", "M", "N")


@dataclass(frozen=True, slots=True)
class Movement:
    """One movement as stated: a link, with accesses where its tile is placed; or accesses, or a described operand."""

    name: str
    link: Link | None = None
    reach: Reach | None = None
    major: str = ""
    described: bool = False
    offsets: tuple[int | None, int | None] = (None, None)  # LBO and SBO


def load(path: Path) -> list[Movement]:
    """The movements of a file, in its order.

    Raises AtomFileError with all errors: unreadable, over 1 MiB, not TOML, a key missing, unknown or unreadable.
    """
    found = read(path)
    if found.errors:
        raise raised(found.errors)
    return list(found.items)


def read(path: Path) -> Found[Movement]:
    """The movements of a file that can be read, and what is wrong with the others; raises as `load` does."""
    keys = {key for sort in SORTS.values() for listed in sort for key in listed}
    return tables(opened(path, "movement"), "a movement", keys, lambda entry: [_table(entry)])


def _table(entry: Entry) -> Movement:
    sort = next((sort for sort in SORTS if sort in entry.table), None)
    if sort is None:
        entry.fail("", f"expected one of the keys {', '.join(SORTS)}")
    said = _Said(entry.table, entry.fail)
    with entry.collected() as each:
        each(lambda: entry.check_keys(entry.table, "", *SORTS[sort]))
        for key, reader in LAYOUTS.items():
            if key in entry.table:
                each(partial(said.read, key, reader))
    replay = shlex.join(["python", "-m", "verify.movement", entry.file, f"--only={entry.name}"])
    return movement(entry.name, entry.table, replay, entry.fail)


def movement(name: str, table: Mapping[str, Any], replay: str, fail: Callable[..., Any]) -> Movement:
    """The movement that a table states; `fail` is told key and problem of what cannot be read, and may be its cause."""
    said = _Said(table, fail)
    major = said.choice("major", MAJORS, "")
    if "from" in table:
        found = said.link(name, replay)
        axes = [axis.upper() for axis in found.wanted.axes]
        if major and not found.held.rows:
            fail("major", "says how rows lie in memory, and nothing here comes from memory")
        if major and ((major == "MN" and "K" not in axes) or (major != "MN" and major not in axes)):
            fail("major", f"{found.wanted.operand} has the axes {' and '.join(axes)}, found {major!r}")
        return Movement(name, link=found, reach=said.placed(found, name, replay), major=major)
    if "shared" in table:
        return Movement(name, reach=said.reach(name, replay))
    tile = said.read("descriptor", operand)
    if major not in ("", "K", "MN"):
        fail("major", f"expected one of K, MN, found {major!r}")
    element = said.bits("element", (8, 16, 32), 0)
    if major and major not in taken(element)[0]:
        have = "- or ".join(taken(element)[0])
        fail("major", f"wgmma takes operands of {element} bits {have}-major alone, found {major!r}")
    reach = Reach(name, tile, Layout((1, 1)), element, element, replay=replay, base=said.bytes("base"))
    return Movement(name, reach=reach, major=major, described=True, offsets=(said.bytes("lbo"), said.bytes("sbo")))


@dataclass(frozen=True, slots=True)
class _Said:
    """A table being read; a key that cannot be is handed to `fail`, which raises."""

    table: Mapping[str, Any]
    fail: Callable[..., Any]

    def read(self, key: str, reader: Callable[[Any], T]) -> T:
        try:
            return reader(self.table[key])
        except (SpecError, LayoutError, UsageError) as error:
            raise _raised(self.fail(key, str(error), error)) from error

    def choice(self, key: str, choices: tuple[str, ...], default: str) -> str:
        value = self.table.get(key, default)
        if value not in (*choices, default):
            self.fail(key, f"expected one of {', '.join(choices)}, found {value!r}")
        return str(value)

    def bits(self, key: str, allowed: tuple[int, ...], default: int) -> int:
        value = self.table.get(key, default)
        if type(value) is not int or value not in allowed:
            self.fail(key, f"expected one of {', '.join(map(str, allowed))} bits, found {value!r}")
        return int(value)

    def bytes(self, key: str) -> int | None:
        value = self.table.get(key)
        if value is not None and (type(value) is not int or not 0 <= value < ADDRESSES):
            self.fail(key, f"expected a number of bytes from 0 to {ADDRESSES - 1}, found {value!r}")
        return value

    def element(self) -> int:
        return self.bits("element", (8, 16, 32, 64), 0)

    def layout(self, key: str) -> Layout | None:
        return self.read(key, layout) if key in self.table else None

    def link(self, name: str, replay: str) -> Link:
        operand = self.choice("operand", ("A", "B", "C"), "A")
        first = self.read("from", lambda text: side(_text(text), operand, True))
        second = self.read("to", lambda text: side(_text(text), operand, False))
        if first.rows and second.rows:
            self.fail("to", f"{second.mnemonic} is no matrix multiplication, nor is {first.mnemonic}")
        if second.rows and not second.mnemonic.startswith("stmatrix"):
            self.fail("to", f"{second.mnemonic} takes no registers: a store is wanted")
        if first.rows and not first.mnemonic.startswith("ldmatrix"):
            self.fail("from", f"{first.mnemonic} leaves nothing in registers: a load is wanted")
        if "narrow" in self.table:
            if not second.rows:
                self.fail("narrow", f"accumulators are narrowed for a store, and {second.mnemonic} is none")
            first = replace(first, bits=self.bits("narrow", tuple(b for b in (8, 16, 32) if b <= first.bits), 0))
        if not (first.rows or second.rows) and second.operand != "A":
            self.fail("operand", f"accumulators are handed on as A, not as {second.operand}")
        first, second = _matched(first, second, (self.table.get("tiles"), self.times(first, second)), self.fail)
        given = self.layout("rows"), self.layout("values")
        self._sized(first, second, *given)
        found = link(name, first, second, given, replay)
        return replace(found, derived=found.derived and not {"tiles", "times"} & self.table.keys())

    def times(self, first: Side, second: Side) -> int:
        """How often the matrix load or store is issued."""
        value = self.table.get("times", 1)
        if type(value) is not int or not 1 <= value <= TIMES:
            self.fail("times", f"expected a number from 1 to {TIMES}, found {value!r}")
        if value > 1 and not (first.rows or second.rows):
            self.fail("times", "counts matrix loads or stores, and there is none")
        return int(value)

    def placed(self, found: Link, name: str, replay: str) -> Reach | None:
        """The rows of a hand-over as accesses of shared memory, where it is stated how the tile lies there."""
        if "shared" not in self.table:
            idle = next((key for key in ("arch", "base") if key in self.table), None)
            if idle is not None:
                self.fail(idle, "is of shared memory, and where the tile lies there is not stated: shared")
            return None
        if not found.held.rows:
            self.fail("shared", "says where rows lie in memory, and nothing here comes from memory or goes there")
        tile = self.read("shared", operand)
        if found.miscount:  # there are no rows then
            return None
        wanted = found.wanted
        extent = wanted.extent[0] // wanted.parts, wanted.extent[1]
        inner = tile.layout_b if isinstance(tile, ComposedLayout) else tile
        if tuple(map(size, inner)) != extent:
            x, y = wanted.axes
            shown = " x ".join(str(size(mode)) for mode in inner)
            self.fail("shared", f"the tile is {extent[0]} x {extent[1]} ({x}, {y}), found {shown}")
        rows, columns = found.rows, found.columns
        threads = Layout((rows.shape, columns.shape), (rows.stride, columns.stride))
        how, width = ("stmatrix" if found.store else "ldmatrix"), size(columns) * wanted.bits
        arch = self.arch(how)
        return Reach(
            name,
            in_parts(tile, wanted.parts),
            threads,
            wanted.bits,
            width,
            how,
            replay,
            arch=arch,
            base=self.bytes("base"),
        )

    def arch(self, how: str) -> str:
        """The architecture, on which there has to be such an access."""
        stated = str(self.table.get("arch", ARCH))
        arch = stated.rstrip("af")
        if arch not in CAPACITY:
            self.fail("arch", f"expected one of {', '.join(CAPACITY)}, found {stated!r}")
        mnemonic, select = NEEDS.get(how, ("", {}))
        if mnemonic and not isa_tables.runs_on(isa_tables.instruction(mnemonic, **select).signature, arch):
            self.fail("arch", f"{arch} has no {how}")
        return arch

    def _sized(self, first: Side, second: Side, rows: Layout | None, values: Layout | None) -> None:
        """The rows and values that are stated must be as many as there are."""
        held, wanted = (second, first) if second.rows else (first, second)
        if rows is not None and not held.rows:
            self.fail("rows", "nothing here has rows in memory")
        if rows is not None and size(rows) != held.extent[0]:
            self.fail("rows", f"{rows} has {size(rows)} rows, {held.mnemonic} {held.extent[0]}")
        if values is not None and (size(values) != wanted.values or cosize(values) > held.values):
            reach = f"{size(values)} values up to {cosize(values) - 1}"
            self.fail("values", f"{values} has {reach}; {wanted.values} are wanted, of {held.values}")

    def reach(self, name: str, replay: str) -> Reach:
        tile, threads = self.read("shared", placed), self.read("access", layout)
        source = self.layout("global")
        element, how = self.element(), self.choice("how", tuple(WIDTHS), "load")
        width = self.bits("width", WIDTHS[how], WIDTHS[how][0] if how in MATRICES else element)
        if len(threads) != 2:
            self.fail("access", f"{threads} has rank {len(threads)}: modes for threads and values are wanted")
        if cosize(threads) > size(tile):
            self.fail("access", f"{threads} reaches index {cosize(threads) - 1} of a tile of {size(tile)}")
        if source is not None and cosize(threads) > size(source):
            self.fail("global", f"{threads} reaches index {cosize(threads) - 1} of {size(source)} in global memory")
        if source is not None and how in MATRICES:
            self.fail("global", f"{how} has to do with shared memory alone")
        if how in MATRICES and size(threads[0]) not in (8, 16) and size(threads[0]) % 32:
            self.fail("access", f"{size(threads[0])} rows: a matrix has 8, an instruction 1, 2 or 4 of them")
        if width % element or size(threads[1]) * element % width:
            self.fail("width", f"{width} bits at once do not divide {size(threads[1])} values of {element} bits")
        return Reach(name, tile, threads, element, width, how, replay, source, self.arch(how), self.bytes("base"))


def layout(text: object) -> Layout:
    """A layout of at most 2^20 points that all lie below 2^56. Raises SpecError or LayoutError."""
    found = parse_layout(_text(text))
    if size(found) > POINTS:
        raise SpecError(f"{text} has more than {POINTS} points")
    if cosize(found) > REACH:
        raise SpecError(f"{text} reaches {cosize(found) - 1}, beyond 2^56")
    return _from_its_base(found)


def placed(text: object) -> Layout | ComposedLayout:
    """A layout of shared memory, or a swizzle of one, of at most 2^20 points.

    >>> print(placed("Sw<3,3,3> o (8,64):(64,1)"))
    Sw<3,3,3> o 0 o (8,64):(64,1)

    Raises SpecError or LayoutError.
    """
    found = SWIZZLED.fullmatch(_text(text).strip())
    if not found:
        return layout(text)
    return ComposedLayout(Swizzle(*map(int, found.groups()[:3])), 0, layout(found[4]))


LAYOUTS: Mapping[str, Callable[[object], object]] = {
    **dict.fromkeys(("access", "global", "rows", "values"), layout),
    **dict.fromkeys(("shared", "descriptor"), placed),
}


def operand(text: object) -> Layout | ComposedLayout:
    """The same of an operand: (mn, k) -> element. Raises SpecError or LayoutError."""
    found = placed(text)
    inner = found.layout_b if isinstance(found, ComposedLayout) else found
    if not isinstance(inner, Layout) or len(inner) != 2:
        raise SpecError(f"{text} has rank {len(inner)}: modes for rows and columns are wanted")
    return found


def _from_its_base(found: Layout) -> Layout:
    """The layout, whose strides must not be negative: addresses are counted from the lowest."""
    if any(d < 0 for d in leaves(found.stride)):
        raise SpecError(f"{found} has a negative stride; addresses are counted from the lowest")
    return found


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise SpecError(f"expected a text, found {kind(value)}")
    return value


def _raised(error: object) -> Exception:
    """What `fail` raised never comes back; this keeps the type checker's peace."""
    return error if isinstance(error, Exception) else SpecError(str(error))


def _matched(first: Side, second: Side, counts: tuple[object, int], fail: Callable[..., Any]) -> tuple[Side, Side]:
    """Both ends in elements of the same width, the matrix instruction's tiles side by side as stated or as they fit.

    `counts` are these tiles, and how often a matrix load or store is issued.
    """
    tiles, times = counts
    if not (first.rows or second.rows):
        return _passed_on(first, second, tiles, fail)
    bits = gcd(first.bits, second.bits)
    lanes = max(first.lanes, second.lanes)
    first, second = first.split(bits).warps(lanes), second.split(bits).warps(lanes)
    tiled, other = (second, first) if first.rows else (first, second)
    other = other.tiled("row", times)
    axis, count = "n" if "n" in tiled.axes else "m", max(1, other.values // tiled.values)
    tiled = _tiled(tiled, axis, count, tiles, fail)
    return (other, tiled) if first.rows else (tiled, other)


def _passed_on(first: Side, second: Side, tiles: object, fail: Callable[..., Any]) -> tuple[Side, Side]:
    """Accumulators and an operand, which are converted value by value: their n is its k."""
    first = _tiled(first, "n", max(1, second.values // first.values), tiles, fail)
    return first, second.tiled("k", max(1, first.values // second.values))


def _tiled(side: Side, axis: str, count: int, tiles: object, fail: Callable[..., Any]) -> Side:
    """Tiles side by side, as stated or else as they fit."""
    if tiles is not None:
        word, _, number = str(tiles).partition("=")
        if word not in side.axes or not number.isdecimal() or not 1 <= int(number) <= 64:
            fail("tiles", f"expected an axis of {side.operand} and a count such as {axis}=2, found {tiles!r}")
        axis, count = word, int(number)
    return side.tiled(axis, count)

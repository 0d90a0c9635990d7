# SPDX-License-Identifier: Apache-2.0
"""Specs of tilings, as users write them: by options of the command, or as tables of a TOML file.

A file has one table for each tiling, parsed and never executed:

["my_tiling"]
atom         = "SM80_16x8x16_F32F16F16F32_TN"
atoms_layout = "2,2,1"                      # or "(2,2,1):(1,2,4)", or [2, 2, 1]; what is left out is one atom
permutation  = "_,(8,2,2):(1,16,8),_"       # or a list; a number enlarges, a layout also reorders, _ or absent keeps
tile         = "128,128,32"                 # of the CTA; absent: what one tiled MMA covers
C            = "((4,8),…):(…)"              # a (thread, value) layout that your code uses; also A and B
smem         = { A = "Sw<3,3,3> o (8,64):(64,1)" }   # the swizzle atom that A's shared memory repeats; also B
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from layouts import Layout, append, composition, leaves, size
from layouts.pasted import swizzle_and_layout
from layouts.text import numbers
from layouts.toml.entry import kind
from layouts.toml.tables import tables
from verify.core.errors import SpecError
from verify.core.files import open_document, read_keys
from verify.core.specs import Key, key, keys

if TYPE_CHECKING:
    from layouts import ComposedLayout, Layout
    from layouts.toml.entry import Entry
    from layouts.toml.tables import ReadTables

Tiler: TypeAlias = "int | Layout | None"
Smem: TypeAlias = "Layout | ComposedLayout"
Item: TypeAlias = "str | int"
Permutation: TypeAlias = "tuple[Tiler, Tiler, Tiler]"

OPERANDS = ("A", "B", "C")
AXES = ("M", "N", "K")
LARGEST = 1 << 16  # the extent of a tile, or the count of atoms, along one axis
POINTS = 1 << 20  # of a layout
AS_IT_IS: Permutation = (None, None, None)


def items(value: object) -> list[Item]:
    """Return the items of a list, or of a text, cut at the commas outside parentheses; numbers may be joined by x.

    >>> items("_,(8,2,2):(1,16,8),32"), items("2x2x1")
    (['_', '(8,2,2):(1,16,8)', '32'], [2, 2, 1])

    Raises ValueError for anything else.
    """
    if isinstance(value, list) and all(type(item) in (int, str) for item in value):
        return value
    if not isinstance(value, str):
        raise ValueError(f"expected a text or a list of numbers and texts, found {kind(value)}")
    counted = numbers(value)
    if counted is not None:
        return [*counted]
    pieces, level = [""], 0
    for letter in value:
        level += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and level == 0:
            pieces.append("")
        else:
            pieces[-1] += letter
    return [item.strip() for item in pieces]


def _three(value: object, what: str, padding: Item = "") -> list[Item]:
    """Return the items for M, N and K; axes that are left out get the padding, if there is one."""
    given = items(value)
    if len(given) > 3 or (len(given) < 3 and not padding):
        most = "at most " if padding else ""
        raise ValueError(f"{show_spec(value)}: expected {most}{what} for M, N, K, found {len(given)}")
    return given + [padding] * (3 - len(given))


def show_spec(value: object) -> str:
    """Return a value as its user wrote it."""
    return f"'{value}'" if isinstance(value, str) else str(value)


def _number(item: Item, value: object) -> int:
    text = str(item)
    number = int(text) if re.fullmatch(r"[0-9]{1,9}", text) else 0
    if not 1 <= number <= LARGEST:
        raise ValueError(f"{show_spec(value)}: expected a number from 1 to {LARGEST}, found {text!r}")
    return number


def _layout(text: str) -> Layout:
    return _limit_layout(Layout.parse(_short(text)), text)


def _short(text: str) -> str:
    if len(text) > 4096:
        raise ValueError(f"a layout of {len(text)} letters is too long: at most 4096")
    return text


def _limit_layout(layout: Layout, text: str) -> Layout:
    """Return the layout, if its points and strides are few and small enough. Raise ValueError."""
    if size(layout) > POINTS or max(map(abs, leaves(layout.stride)), default=0) > POINTS:
        raise ValueError(f"{text} has more than {POINTS} points, or a stride above that")
    return layout


def atoms_layout(value: object) -> Layout:
    """Return the number of atoms along M, N, K, and the order in which their threads are numbered.

    >>> print(atoms_layout("2,2"), atoms_layout("(2,2,1):(2,1,0)"))
    (2,2,1):(1,2,0) (2,2,1):(2,1,0)

    One atom along the axes that are left out, as in CuTe. Raises ValueError.
    """
    if not isinstance(value, str) or ":" not in value:
        counts = _three(value, "three counts", 1)
        return Layout(tuple(_number(count, value) for count in counts))
    layout = _layout(value)
    if len(layout) > 3:
        raise ValueError(f"{value} has rank {len(layout)}: expected at most 3, for M, N, K")
    return append(layout, up_to_rank=3)


def permutation(value: object) -> Permutation:
    """For each of M, N, K: None to keep the atoms' own order, an extent, or a layout of positions.

    >>> print(*permutation("_,(8,2,2):(1,16,8),32"), *permutation("32"))
    None (8,2,2):(1,16,8) 32 32 None None

    Axes that are left out are kept, as in CuTe. Raises ValueError.
    """
    m, n, k = (_tiler(item, value) for item in _three(value, "three extents or layouts", "_"))
    return m, n, k


def _tiler(item: Item, value: object) -> Tiler:
    if item == "_":
        return None
    return _layout(str(item)) if ":" in str(item) else _number(item, value)


def tile(value: object) -> tuple[int, int, int]:
    """Return the CTA's tile.

    >>> tile("128,128,32")
    (128, 128, 32)

    Raises ValueError.
    """
    m, n, k = (_number(item, value) for item in _three(value, "three extents"))
    return m, n, k


def swizzle_atom(value: object) -> Smem:
    """Return a layout, or a swizzle of one.

    >>> print(swizzle_atom("Sw<3,3,3> o (8,64):(64,1)"))
    Sw<3,3,3> o 0 o (8,64):(64,1)

    Raises ValueError.
    """
    if not isinstance(value, str):
        raise ValueError(f"expected a layout as text, found {kind(value)}")
    swizzle, layout = swizzle_and_layout(_short(value))
    if len(layout) != 2:
        raise ValueError(f"{value} has rank {len(layout)}: expected 2, rows and columns")
    return composition(swizzle, _limit_layout(layout, value))


@dataclass(frozen=True, slots=True)
class TilingSpec:
    """A tiling as its user writes it; `tile` is None where it is what one tiled MMA covers."""

    name: str  # its key in the file
    atom: str  # name of the atom that is repeated
    atoms_layout: Layout = key(
        "atoms along M, N, K, or a layout of them (default: one atom), as in 2,2",
        atoms_layout,
        default_factory=lambda: atoms_layout("1"),
    )
    permutation: Permutation = key(
        "for M, N and K: an extent, a layout of positions, or _ to keep, the default", permutation, default=AS_IT_IS
    )
    tile: tuple[int, int, int] | None = key("the CTA's tile (default: what one tiled MMA covers)", tile)
    claimed: Mapping[str, str] = field(default_factory=dict)  # operand -> layout text
    smem: Mapping[str, Smem] = field(default_factory=dict)  # operand -> swizzle atom
    file: str = ""  # where it is from; empty where given as a value
    atoms: tuple[str, ...] = ()  # files in which the atom is looked up first

    def error(self, key: str, problem: str) -> SpecError:
        """Return the error of one of its keys, or of the whole."""
        return SpecError(key, problem, f"{self.file}: {self.name}" if self.file else "")

    @property
    def counts(self) -> tuple[int, int, int]:
        """The number of atoms along M, N, K."""
        m, n, k = (size(mode) for mode in self.atoms_layout)
        return m, n, k

    def cover(self, shape: tuple[int, int, int]) -> tuple[int, int, int]:
        """Return what one tiled MMA of atoms of a shape covers: a permutation's positions, or atoms side by side."""
        tilers = zip(self.permutation, shape, self.counts, strict=True)
        m, n, k = (size(tiler) if isinstance(tiler, Layout) else tiler or each * count for tiler, each, count in tilers)
        return m, n, k


KEYS = (*keys(TilingSpec), *OPERANDS, "smem")
SMEM_KEYS = {x: Key(x, "the swizzle atom that shared memory repeats", swizzle_atom, "", False) for x in ("A", "B")}


def load(path: Path) -> list[TilingSpec]:
    """Return the tilings of a file, in its order.

    Raises AtomFileError with all errors: unreadable, over 1 MiB, not TOML, nested too deep, a key missing, unknown or
    unreadable.
    """
    return list(read_tilings(path).whole())


def read_tilings(path: Path) -> ReadTables[TilingSpec]:
    """Return the tilings of a file that can be read, and what is wrong with the others; raise as `load` does."""
    return tables(open_document(path, "tiling"), "a tiling", ("atom", *KEYS), lambda entry: [_of_entry(entry)])


def _of_entry(entry: Entry) -> TilingSpec:
    """Return the spec that a table of a file gives; raise AtomFileError with all its errors."""
    table, known = entry.table, keys(TilingSpec)
    with entry.collect_errors() as each:
        each(lambda: entry.check_keys(table, "", ("atom",), KEYS))
        parts = each(lambda: read_keys(entry, {name: table[name] for name in known if name in table}, known)) or {}
        smem = each(lambda: entry.tables("smem", "operands and layouts", tuple(SMEM_KEYS))) or {}
        spec = TilingSpec(
            entry.name,
            each(lambda: entry.text(entry.value("atom"), "atom")),
            **parts,
            claimed={x: each(partial(entry.layout, x)) for x in OPERANDS if x in table},
            smem=each(lambda: read_keys(entry, smem, SMEM_KEYS, "smem.")),
            file=entry.file,
        )
    return spec


def arguments(spec: TilingSpec) -> Sequence[str]:
    """Return the arguments of the command that give the same spec."""
    words = [word for file in spec.atoms for word in ("--atoms", file)]
    if spec.file:
        return [spec.file, "--only", spec.name, *words]
    words += ["--atom", spec.atom]
    atoms, counts = spec.atoms_layout, ",".join(map(str, spec.counts))
    if atoms != atoms_layout("1"):
        words += ["--atoms-layout", counts if atoms == atoms_layout(counts) else str(atoms)]
    if any(tiler is not None for tiler in spec.permutation):
        words += ["--permutation", ",".join("_" if t is None else str(t) for t in spec.permutation)]
    if spec.tile is not None:
        words += ["--tile", ",".join(map(str, spec.tile))]
    return [*words, *(word for x, s in spec.smem.items() for word in (f"--smem-{x.lower()}", str(s)))]

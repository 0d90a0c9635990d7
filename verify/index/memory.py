# SPDX-License-Identifier: Apache-2.0
"""Operands in tensor memory and in shared memory: the ISA's map of each, and the names of its coordinates.

In tensor memory an element has a place: lane and column, and where there are several of them, CTA and byte; in shared
memory the byte at which it begins. The map of a user is from elements to places or, inversely, from places to elements.

>>> mma = isa_tables.instruction("tcgen05.mma.cta_group::2.kind::f16", N=64)
>>> where = reference(mma.operands["D"], {})
>>> where(130, 5), [axis.name for axis in where.outputs]
((1, 2, 5), ['cta', 'TMEM lane', 'TMEM column'])
>>> reference(mma.operands["A"], {"swizzle": "128B", "major": "K", "sbo": 1024})(3, 8)
(416,)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import isa_tables
from verify.core.errors import SpecError
from verify.index.spec import PLACE, OperandSpec
from verify.maps import called, table
from verify.maps.expression import DeclaredName, IndexFunction, InputCoordinates
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Axis, MapOrigin, grid
from verify.maps.operand import ROWS, elements, word

NAMES = {"lane": "TMEM lane", "column": "TMEM column"}  # of axes, so that they are not the lanes of a warp
ONLY = frozenset(PLACE) - {"lane"}  # keys that registers have not
WORDS = ("swizzle", "major")
OFFSETS = ("lbo", "sbo")
SHORT = ("col", "c", "y")  # names of a table's column for an element's; `column` is one of tensor memory


def holds(operand: isa_tables.Operand) -> bool:
    """Whether an operand is in tensor memory or in shared memory, with formulas of its places."""
    return operand.placed or operand.layouts is not None


def reference(operand: isa_tables.Operand, given: Mapping[str, str | int]) -> FragmentMap:
    """Return the places of every element by the ISA tables, coordinates that are always 0 left out.

    Of shared memory `given` has swizzle and major, and lbo and sbo in bytes. Raises SpecError for others.
    """
    if operand.placed:
        if given:
            raise SpecError("memory", f"{operand.name} is in tensor memory: it has no swizzle")
        m = FragmentMap.from_operand(operand)
        kept = [at for at, axis in enumerate(m.outputs) if axis.extent > 1 or axis.name in NAMES]
        images = {
            point: tuple(dict.fromkeys(tuple(image[at] for at in kept) for image in several))
            for point, several in m.images.items()
        }
        outputs = [m.outputs[at] for at in kept]
        named = tuple(Axis(NAMES.get(axis.name, axis.name), axis.extent) for axis in outputs)
        return replace(m, outputs=named, images=images)
    missing = [word for word in WORDS if word not in given]
    if missing:
        wanted = 'memory = { swizzle = "128B", major = "K", sbo = 1024 }'
        raise SpecError("memory", f"missing {missing[0]}: {operand.name} is in shared memory; give {wanted}")
    if unknown := next((name for name in given if name not in (*WORDS, *OFFSETS)), ""):
        raise SpecError("memory", f"unknown {unknown!r:.60}: known are {', '.join((*WORDS, *OFFSETS))}")
    offsets = {name: given.get(name, 0) for name in OFFSETS}
    if wrong := next(
        (name for name, value in offsets.items() if type(value) is not int or not 0 <= value < 1 << 18), ""
    ):
        raise SpecError("memory", f"{wrong} is a number of bytes, found {given[wrong]!r:.60}")
    tile = tuple(map(Axis, operand.axes, operand.extent))
    swizzle, major = str(given["swizzle"]), str(given["major"])
    address: Any = operand.address
    try:
        images = {point: ((address(*point, swizzle, major, **offsets),),) for point in grid(tile)}
    except isa_tables.IsaError as error:
        raise SpecError("memory", str(error).splitlines()[0]) from error
    end = 1 + max(place for ((place,),) in images.values())
    words = ", ".join(f"{name} {value}" for name, value in given.items())
    return FragmentMap(tile, (Axis("byte", end),), images, MapOrigin(f"{operand.name} in shared memory, {words}"))


def keys(wanted: FragmentMap) -> list[str]:
    """Return the keys for the coordinates of a place, in their order."""
    users = {name: key for key, name in NAMES.items()}
    return [users.get(axis.name, axis.name) for axis in wanted.outputs]


def map_of(
    given: OperandSpec, operand: isa_tables.Operand, wanted: FragmentMap, folder: Path
) -> tuple[FragmentMap, IndexFunction | None]:
    """Return the user's map, with the expressions if it is given by some.

    Raises SpecError, ExpressionError and MapError.
    """
    tile, place, names = wanted.inputs, wanted.outputs, keys(wanted)
    where = "tensor memory" if operand.placed else "shared memory"
    form = given.form
    if given.table is not None:
        columns = {name: axis.name for axis, several in zip(tile, (ROWS, SHORT), strict=True) for name in several}
        columns |= {word(axis.name): axis.name for axis in tile}
        columns |= {name: axis.name for name, axis in zip(names, place, strict=True)}
        return table.read_table(folder / given.table, table.Columns(tile, place, columns)), None
    if given.runs_code:
        sides = (tile, place) if given.function is not None else (place, tile)
        return called.of_function(given.function or given.inverse or "", *sides, folder, given.python), None
    if form not in (tuple(names), ("row", "col")):
        raise SpecError(form[0], f"{operand.name} is in {where}: give {' and '.join(names)}, or inversely row and col")
    inverse = form == ("row", "col")
    axes, coordinates = (tile, places(wanted)) if inverse else (place, name_copies(wanted))
    texts = {axis.name: str(getattr(given, key)) for axis, key in zip(axes, form, strict=True)}
    words = [f"{name}: {text}" for name, text in given.let.items()] + [f"{key}: {getattr(given, key)}" for key in form]
    function = IndexFunction(texts, axes, coordinates, given.let, MapOrigin(" ".join("; ".join(words).split())))
    mine = function.map(given.lang, given.type)
    if inverse or wanted.functional:
        return mine, function
    pairs = ((point[:2], image) for point, image in mine.pairs())
    return FragmentMap.from_pairs(tile, place, pairs, mine.origin), None


def places(wanted: FragmentMap) -> InputCoordinates:
    """Return the coordinates of a place and their names, as a text from places to elements may use them."""
    names = {key: DeclaredName(lambda *point, at=at: point[at]) for at, key in enumerate(keys(wanted))}
    return InputCoordinates(wanted.outputs, names, {"i": "a place of memory has no values"})


def name_copies(wanted: FragmentMap) -> InputCoordinates:
    """Return the names of an element, and of its copies where there are several: `copy`."""
    plain = elements(wanted.inputs)
    if wanted.functional:
        return plain
    names = {
        name: DeclaredName(lambda row, col, _, of=declared.value: of(row, col))
        for name, declared in plain.names.items()
    }
    copies = Axis("copy", max(map(len, wanted.images.values())))
    return InputCoordinates((*wanted.inputs, copies), {**names, "copy": DeclaredName(lambda _row, _col, copy: copy)})

# SPDX-License-Identifier: Apache-2.0
"""What is locked of a subject: the function of each of its operands, point by point, and what is no function, in words.

An atom has a map (thread, value) -> element for each operand, and the lanes of its threads; a tiling those of one tiled
MMA; index arithmetic those that its texts compute. However a map is written, its function is the same.
"""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from layouts.atoms import AtomFileError
from layouts.atoms.document import read
from layouts.atoms.tables import Found
from verify.binding.atom import thread_value
from verify.core.digits import lane_of, walks
from verify.core.errors import SpecError, UsageError
from verify.core.files import meant_for, purpose
from verify.core.verdict import Place
from verify.maps.fragment_map import Axis, FragmentMap, Point

HEADERS = (".hpp", ".h", ".cuh", ".hxx")

if TYPE_CHECKING:
    from layouts.atoms import AnyAtom
    from verify.index.bind import BoundIndex
    from verify.tiling.spec import TilingSpec


@dataclass(frozen=True)
class Subject:
    """A subject of a file with its functions."""

    name: str  # of the entry
    file: str  # as it is locked: relative to the lock
    table: str  # of the file; of a family's member that of the family
    says: Mapping[str, str]  # what is no function: the instructions, the tile, a layout that is not well formed
    maps: Mapping[str, FragmentMap] = field(default_factory=dict)  # operand -> its function
    place: Place | None = None  # of a definition in a header; else the table's


def of_file(path: Path, file: str, pool: Mapping[str, AnyAtom], allowed: bool = True) -> Found[Subject]:
    """The subjects of a file, which the lock names `file`, and all errors in the others.

    Tilings are of the pool's atoms. Code of others runs only where that is `allowed`. Raises AtomFileError for a file
    that cannot be read, UsageError for one with other entries.
    """
    from verify.binding.completion import atoms
    from verify.index import bind as indices
    from verify.tiling import spec as tilings

    if path.suffix in HEADERS:
        return Found(tuple(_of_header(path, file)), ())
    sort = meant_for(read(path).tables)
    if sort == "tiling":
        specs = tilings.read(path)
        return Found(tuple(_of_tiling(one, file, pool) for one in specs.items), specs.errors)
    if sort == "index":
        found = indices.read(path)
        return Found(tuple(_of_index(one, file, allowed) for one in found.items), found.errors)
    if sort in ("atom", ""):
        entries = atoms(path)
        return Found(tuple(_of_atom(one, file) for one in entries.items), entries.errors)
    raise UsageError(f"{path}: atoms, tilings and maps can be locked; {purpose(path)}")


def pool_of(paths: Sequence[Path]) -> Mapping[str, AnyAtom]:
    """The atoms that tilings may name: those of the files, then the shipped ones."""
    from layouts.atoms import registry
    from verify.binding.completion import atoms

    own: dict[str, AnyAtom] = {}
    for path in paths:
        with suppress(AtomFileError):  # it is reported where its entries are read
            if path.suffix not in HEADERS and meant_for(read(path).tables) == "atom":
                own |= {atom.name: atom for atom in atoms(path).items}
    return ChainMap(own, registry())  # type: ignore[arg-type]


def _of_atom(atom: AnyAtom, file: str) -> Subject:
    from verify.atom.checker import prepared

    subject = prepared(atom)
    says = {"ptx": "; ".join(atom.ptx or ())} | ({"thr": atom.thr} if subject.thr is None else {})
    maps = {}
    if subject.thr is not None:
        lanes = [lane_of(subject.thr, thread) for thread in range(subject.threads)]
        maps["thr"] = _of_rows([[lane] for lane in lanes], (1 + max(lanes), 1), ("lane",))
    for part in subject.parts:
        if part.map is not None:
            maps[part.name] = part.map  # outside the tile coordinates are those of no element
        elif part.well_formed:
            maps[part.name] = _of_rows(part.rows(), part.extent, part.axes)
        else:
            says[part.name] = part.text
    table = atom.family.name if atom.family else atom.name
    return Subject(atom.name, file, table, says, maps)


def _of_header(path: Path, file: str) -> Iterator[Subject]:
    """The definitions of MMA_Traits and Copy_Traits in a header; what cannot be read is locked as that."""
    from verify.scan.checkout import checkout

    seen: Counter[str] = Counter()
    for definition in checkout([str(path)]).definitions:
        if definition.problem:
            yield Subject(definition.name, file, "", {"unread": definition.problem}, {}, definition.place)
        for instance in definition.instances:
            seen[instance.name] += 1
            name = f"{instance.name} ({seen[instance.name]})" if seen[instance.name] > 1 else instance.name
            texts = {"thr": f"({instance.thr.shape},1):({instance.thr.stride},0)"}
            texts |= {part: str(one.layout) for part, one in instance.operands.items()}
            says, maps = {}, {}
            for part, text in texts.items():
                layout, fault = thread_value(text.replace(" ", ""))
                if layout is None:
                    says[part] = f"{text}: {fault}"
                else:
                    rows = walks(layout)
                    maps[part] = _of_rows(rows, (1 + max(map(max, rows)), 1), ("lane" if part == "thr" else "element",))
            yield Subject(name, file, "", says, maps, definition.place)


def _of_rows(rows: list[list[int]], extent: tuple[int, int], names: tuple[str, ...]) -> FragmentMap:
    """The map of the elements of each thread: x + X*y is (x, y)."""
    inputs = Axis("thread", len(rows)), Axis("value", len(rows[0]))
    outputs = tuple(map(Axis, names, extent)) if len(names) > 1 else (Axis(names[0], extent[0] * extent[1]),)
    images: dict[Point, tuple[Point, ...]] = {
        (thread, value): ((number % extent[0], number // extent[0]) if len(names) > 1 else (number,),)
        for thread, row in enumerate(rows)
        for value, number in enumerate(row)
    }
    return FragmentMap(inputs, outputs, images)


def _of_tiling(spec: TilingSpec, file: str, pool: Mapping[str, AnyAtom]) -> Subject:
    from verify.tiling.bind import IllFormed, OutOfTile, find, prepare

    try:
        tiling = prepare(spec, find(spec, pool))
    except (IllFormed, OutOfTile) as error:
        raise SpecError("atom", str(error), f"{file}: {spec.name}") from error
    says = {"ptx": "; ".join(tiling.subject.mma.ptx or ()), "tile": "x".join(map(str, tiling.tile))}
    says |= {f"smem {operand}": str(layout) for operand, layout in spec.smem.items()}
    maps = {}
    for operand in tiling.operands:
        extent = operand.extent(tiling.covered)
        maps[operand.name] = _of_rows(walks(operand.layout), extent, operand.part.axes)
    return Subject(spec.name, file, spec.name, says, maps)


def _of_index(index: BoundIndex, file: str, allowed: bool) -> Subject:
    from verify.cli.arguments import check_execution

    if index.spec.runs_code:
        check_execution(allowed)
    maps = {part.name: part.found for part in index.parts}
    return Subject(index.name, file, index.name, {"ptx": index.spec.ptx}, maps)

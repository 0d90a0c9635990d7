# SPDX-License-Identifier: Apache-2.0
"""Tilings as a kind of subject."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from verify.core.errors import SpecError, UsageError
from verify.core.registry import Signs
from verify.core.verdict import Check
from verify.kind import Functions, Kind, PropertyTable, Resources

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layouts.atoms import AnyAtom
    from layouts.toml.tables import ReadTables
    from verify.pictures.picture import Picture, Window
    from verify.report import Case
    from verify.tiling.spec import TilingSpec


def list_specs() -> Sequence[type]:
    """Return the keys of a tiling."""
    from verify.tiling.spec import TilingSpec

    return (TilingSpec,)


def read_tilings(path: Path) -> ReadTables[TilingSpec]:
    """Return the tilings of a file, and all errors of the others."""
    from verify.tiling.spec import read_tilings

    return read_tilings(path)


def atoms_of(resources: Resources) -> Mapping[str, AnyAtom]:
    """Return the atoms that a tiling may name."""
    from layouts.atoms import registry

    return registry() if resources.atoms is None else resources.atoms


def verifier(resources: Resources) -> Callable[[TilingSpec], Case]:
    """Return what verifies one tiling after the other."""
    from verify.evidence.gpu_runs import runs
    from verify.tiling.proof import Prover
    from verify.tiling.properties import case

    atoms = atoms_of(resources)
    prover = Prover(resources.checks, runs=runs() if Check.GPU in resources.checks else ())
    return lambda spec: case(spec, atoms, prover)


def functions_of(spec: TilingSpec, resources: Resources) -> Functions:
    """Return the map of each operand of one tiled MMA."""
    from verify.core.digits import walks
    from verify.maps.strided import of_rows
    from verify.tiling.bind import IllFormed, OutOfTile, find, prepare

    try:
        tiling = prepare(spec, find(spec, atoms_of(resources)))
    except (IllFormed, OutOfTile) as error:
        raise SpecError("atom", str(error)) from error
    says = {"ptx": "; ".join(tiling.subject.mma.ptx or ()), "tile": "x".join(map(str, tiling.tile))}
    says |= {f"smem {operand}": str(layout) for operand, layout in spec.smem.items()}
    maps = {}
    for operand in tiling.operands:
        maps[operand.name] = of_rows(walks(operand.layout), operand.extent(tiling.covered_shape), operand.part.axes)
    return Functions(says, maps)


def draw_thread(spec: TilingSpec, resources: Resources, thread: int, window: Window) -> Picture:
    """Return the steps to the part of a thread. Raises UsageError if the tiling has none."""
    from verify.tiling.bind import IllFormed, OutOfTile, find, prepare
    from verify.tiling.drawing import of_thread

    try:
        return of_thread(prepare(spec, find(spec, atoms_of(resources))), thread, window)
    except IllFormed as error:
        raise UsageError(f"{spec.name}: {error.part} = {error.text} is no (thread, value) layout: {error}") from error
    except OutOfTile as error:
        raise UsageError(f"{spec.name}: {error}") from error


def tables() -> Sequence[PropertyTable]:
    """Return the properties of tilings."""
    from verify.tiling.properties import PROPERTIES, TILE

    return (PropertyTable("tiling.md", TILE, PROPERTIES),)


TILING: Kind[TilingSpec] = Kind(
    name="tiling",
    singular="a tiling",
    plural="tilings",
    example=("examples/tilings.toml",),
    command="verify.tiling.command",
    signs=Signs(frozenset({"atom", "atoms_layout", "permutation", "tile", "smem"}), "tilings"),
    specs=list_specs,
    read=read_tilings,
    names_atoms=True,
    verifier=verifier,
    functions=functions_of,
    tables=tables,
    pictures={"thread": draw_thread},
)

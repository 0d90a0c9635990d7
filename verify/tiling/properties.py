# SPDX-License-Identifier: Apache-2.0
"""The properties of a tiling, and the verdicts on one.

`every_point` evaluates the library's TiledMMA, at all points at once, and compares it with the definition: the threads
and coordinates of all atoms in plain integers. The solver encodes the spec itself: `proof`.

`case`                   the verdicts on one tiling of a file
`PROPERTIES`             the table, one row a property, in the order of a report
`PARTITION`, `MULTIPLES`   how many owners each element has, in the tile and in any number of tiles
`REGISTERS`, `CALLS`     what the tiling costs
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING

from layouts import cosize
from layouts.atoms import AnyAtom, Atom
from verify.atom import properties as atoms
from verify.atom.checker import draw_atom
from verify.binding.atom import prepare as prepare_atom
from verify.core.verdict import (
    Check,
    Evidence,
    Property,
    Scope,
    Statement,
    Status,
    Verdict,
    add_replay,
)
from verify.core.verified_repair import settle
from verify.core.wording import owners
from verify.evidence import isa, proof
from verify.evidence.run import first, needs_confirmed
from verify.report import Alone, Case, Expectation, drawing_command
from verify.tiling import cost, every_point, gemm, instruction, smem_atom
from verify.tiling.bind import IllFormed, OutOfTile, TiledOperand, Tiling, find, prepare
from verify.tiling.drawing import of_tiling
from verify.tiling.gpu import compare_recorded
from verify.tiling.proof import Prover, equals, multiples, threads
from verify.tiling.spec import TilingSpec, arguments

if TYPE_CHECKING:
    from verify.pictures.picture import Picture, Window


def case(spec: TilingSpec, pool: Mapping[str, AnyAtom], prover: Prover) -> Case:
    """Return a tiling with its verdicts; raise SpecError where the spec is rejected."""
    atom = find(spec, pool)
    known = Expectation(_defect(atom))
    try:
        tiling = prepare(spec, atom)
    except IllFormed as error:
        verdict = prover.verdict(ATOM_WELL_FORMED, spec, error)
        drawing = partial(draw_atom, prepare_atom(atom), (verdict,))
        return Case(spec.name, (verdict,), expects=known, picture=drawing, drawn_by=drawing_command(_command(spec)))
    except OutOfTile as error:
        refuted = (prover.verdict(ATOM_IN_BOUNDS, spec, (error.subject, part)) for part in error.parts)
        verdicts = tuple(add_replay(verdict, lambda: _command(spec)) for verdict in refuted)
        return Case(
            spec.name, verdicts, tuple((part.name, part.text) for part in error.parts), expects=known,
            picture=partial(draw_atom, error.subject, verdicts), drawn_by=drawing_command(_command(spec)),
        )  # fmt: skip
    texts = {tiled.name: tiled.claimed_text or str(tiled.layout_tv) for tiled in tiling.operands}
    texts |= {f"smem {operand}": str(layout) for operand, layout in spec.smem.items()}
    verdicts = tuple(verify(tiling, prover))
    open_ = any(verdict.claim.prop == INSTRUCTION for verdict in verdicts)
    # why the atom is known not to be comparable with its instruction
    defect = atom.known_defect or ""
    expected = atom.expect or (defect if defect.partition(":")[0] == "ptx" else "")
    return Case(
        spec.name, verdicts, tuple(texts.items()), expects=replace(known, unchecked=expected if open_ else ""),
        picture=lambda window: _draw_tiling(tiling, verdicts, window), drawn_by=drawing_command(_command(spec)),
        alone=TILED_ALONE if atom.ptx == () else None,
    )  # fmt: skip


TILED_ALONE = Alone(
    "each tile is partitioned as the atom has it", "numpy's product", "the atom issues none (`ptx` is empty)"
)


def _draw_tiling(tiling: Tiling, verdicts: Sequence[Verdict], window: Window) -> Picture:
    return of_tiling(tiling, verdicts, window)


def _defect(atom: Atom) -> str:
    """Return the known defect of an atom's layouts; a defect of its instruction does not concern a tiling."""
    defect = atom.known_defect or ""
    return defect if {part.strip() for part in defect.partition(":")[0].split(",")} & set(atom.operands) else ""


def verify(tiling: Tiling, prover: Prover) -> list[Verdict]:
    """Return the verdict on every claim of a tiling, with a repair where one makes the whole tiling right."""
    atom = tiling.subject.mma
    alone = TILED_ALONE if atom.ptx == () else None

    def confirms(spec: TilingSpec) -> bool:
        judged = replace(prover).verdicts(PROPERTIES, prepare(spec, atom))
        return Case(spec.name, tuple(judged), alone=alone).status == "VERIFIED"

    verdicts = settle(prover.verdicts(PROPERTIES, tiling), tiling.spec, confirms)
    return [add_replay(verdict, lambda: _command(tiling.spec)) for verdict in verdicts]


def _numbering(tiling: Tiling, _: None) -> Statement:
    atoms, each = prod(tiling.atoms), tiling.threads // prod(tiling.atoms)
    words = f"{tiling.threads} thread{'s' * (tiling.threads > 1)}"
    words += f": {each} for each of {'x'.join(map(str, tiling.atoms))} atoms" if atoms > 1 else " for one atom"
    last = cosize(tiling.mma.thr_layout_vmnk)
    return Statement("", words if last == tiling.threads else f"{words}, numbered up to {last - 1}")


def _of_layout(words: Callable[[TiledOperand], str]) -> Callable[[Tiling, TiledOperand], Statement]:
    """Return a claim on the (thread, value) layout of one tiled MMA."""

    def claim(_: Tiling, tiled: TiledOperand) -> Statement:
        layout = "the layout" if tiled.claimed_text else f"layout{tiled.name}_TV"
        return Statement(tiled.name, f"{layout} {words(tiled)}")

    return claim


def _partition_text(tiling: Tiling, tiled: TiledOperand) -> Statement:
    x, y = tiled.extent(tiling.tile)
    words = f"partition_{tiled.name} of {x}x{y} ({','.join(tiled.part.axes)}): each element has {owners(tiled.owners)}"
    return Statement(tiled.name, words)


def _multiples_text(tiling: Tiling, tiled: TiledOperand) -> Statement:
    x, y = tiled.extent(tiling.covered_shape)
    words = f"each element of every multiple of {x}x{y} ({','.join(tiled.part.axes)}) has {owners(tiled.owners)}"
    return Statement(tiled.name, words + _why(tiled))


def _why(tiled: TiledOperand) -> str:
    """Why an element has more than one owner, as printed; empty where it has one."""
    if tiled.atoms_across == 1:
        return ": all in one atom" if tiled.copies > 1 else ""
    axis = "MNK"[({0, 1, 2} - set(tiled.along)).pop()]
    return f": {'one' if tiled.copies == 1 else tiled.copies} in each of {tiled.atoms_across} atoms along {axis}"


def _describe_tile(tiled: TiledOperand) -> str:
    """Return what one tiled MMA covers of an operand."""
    return f"{'x'.join(map(str, tiled.covered_map.tile))} ({','.join(tiled.part.axes)})"


def _follows_from_ownership(run: Prover, tiling: Tiling, tiled: TiledOperand) -> list[Evidence]:
    """Evidence that a layout stays in its tile, where ownership of each element is proved."""
    proved = Evidence(Check.PROOF, Status.PROVED, f"follows from {OWNERSHIP.words!r}")
    return [proved] if run.verdict(OWNERSHIP, tiling, tiled).status is Status.PROVED else []


def _multiplies(tiling: Tiling, _: None) -> Statement:
    shape = "x".join(map(str, tiling.tile))
    sums = f", {tiling.atoms[2]} partial sums added" if tiling.atoms[2] > 1 else ""
    return Statement("", f"the {shape} product through partitions and fragments alone equals numpy's{sums}")


def _product_key(check: Check, tiling: Tiling, _: None) -> Hashable:
    """Return the cache key of the computed product; recorded runs are looked up for each tiling."""
    maps = tuple(formula.key for tiled in tiling.operands for formula in tiled.part.formulas)
    return (tiling.cache_key(*tiling.operands), maps) if check is Check.ISA else None


def _law(tiling: Tiling, _: None) -> Statement:
    shape = "x".join(map(str, tiling.subject.mma.shape))
    return Statement("", f"tiles of {shape} atoms, for every count of atoms and repeats")


def _command(spec: TilingSpec) -> str:
    """Return the command that verifies a tiling again."""
    return shlex.join(["lanecheck", "tiling", *arguments(spec)])


def _cache_key(check: Check, tiling: Tiling, tiled: TiledOperand) -> Hashable:
    return tiling.cache_key(tiled)


def _well_formed(_: Tiling, tiled: TiledOperand) -> bool:
    return tiled.claimed_layout[0] is not None


TILE = "tiling"

THREADS = Property(
    "thread_numbers",
    "threads",
    words="threads",
    says={TILE: "each (v, wM, wN, wK) is a different thread"},
    states=_numbering,
    isa=every_point.check_numbering,
    proof=threads,
    reads=lambda check, tiling, _: str(tiling.mma.thr_layout_vmnk) if check is Check.PROOF else None,
    how=("every one", "z3", ""),
)
WELL_FORMED = replace(
    atoms.WELL_FORMED,
    says={TILE: "a layout that the spec claims has congruent profiles (claimed only where it has not)"},
    states=lambda _, tiled: Statement(tiled.name, f"{tiled.claimed_text} is a layout with congruent profiles"),
    applies=lambda tiling, tiled: not _well_formed(tiling, tiled),
    isa=lambda run, tiling, tiled: [isa.form("parsed", tiled.claimed_layout[1])],
    alike=None,
)
_of_operand = partial(Property, scope=Scope.OPERAND, reads=_cache_key)
OWNERSHIP = _of_operand(
    "ownership",
    says={TILE: "the (thread, value) layout gives each element its number of owners"},
    states=_of_layout(lambda tiled: f"gives each element of {_describe_tile(tiled)} {owners(tiled.covering)}"),
    applies=_well_formed,
    isa=lambda _, __, tiled: [
        isa.compare_points(lambda: isa.ownership(tiled.covered_map, tiled.covering), tiled.covered_map)
    ],
    proof=lambda run, _, tiled: [proof.ownership(tiled.covered_map, tiled.covering, run.budget, run.solver)],
    how=("every point", "z3", ""),
)
IN_BOUNDS = _of_operand(
    "in_bounds",
    says={TILE: "the (thread, value) layout stays in the tile"},
    states=_of_layout(lambda tiled: f"stays inside {_describe_tile(tiled)}"),
    applies=_well_formed,
    isa=lambda _, __, tiled: [isa.compare_points(lambda: isa.in_bounds(tiled.covered_map), tiled.covered_map)],
    proof=first(
        _follows_from_ownership, lambda run, _, tiled: [proof.in_bounds(tiled.covered_map, run.budget, run.solver)]
    ),
    how=("every point", "follows from *ownership*, else z3", ""),
)
EQUALS = _of_operand(
    "equals_tiled_atom",
    says={TILE: "it is the atom's layout, tiled as above"},
    states=_of_layout(lambda tiled: "is the atom's, tiled"),
    applies=_well_formed,
    isa=every_point.equals,
    proof=equals,
    required=atoms.EQUALS.required,
    how=("every point, compared with plain integers", "z3", ""),
)
# The only claims on a tiling whose atom cannot be tiled; a unit is the error, or the atom with its operand.
ATOM_WELL_FORMED = replace(
    WELL_FORMED,
    states=lambda _, error: Statement(error.part, f"{error.text} is a layout with congruent profiles"),
    isa=lambda run, _, error: [isa.form("parsed", str(error))],
)
ATOM_IN_BOUNDS = replace(
    IN_BOUNDS,
    states=lambda _, outside: Statement(outside[1].name, f"the atom's layout stays inside {outside[1].tile}"),
    isa=lambda run, _, outside: [isa.compare_points(lambda: isa.in_bounds(outside[1].points), outside[1].points)],
    proof=lambda run, _, outside: [proof.in_bounds(outside[1].points, run.budget, run.solver)],
    reads=lambda *_: None,
)
PARTITION = _of_operand(
    "partition",
    states=_partition_text,
    isa=every_point.partition,
    says={
        TILE: "`partition_X` of the given tile gives each element its number of owners, each thread its own elements"
    },
    how=("every point, compared with plain integers", "", ""),
)
MULTIPLES = _of_operand(
    "multiples",
    states=_multiples_text,
    proof=multiples,
    says={TILE: "each element has its number of owners for **every** M, N, K that are multiples of the tile"},
    how=("", "z3, linear integers", ""),
)
REGISTERS = Property(
    "registers",
    "tiling",
    states=cost.registers,
    isa=cost.count_registers,
    says={TILE: "the registers that a thread needs"},
    how=("counted on the fragments and on the whole tile", "", ""),
)
CALLS = Property(
    "calls",
    "tiling",
    states=cost.calls,
    isa=cost.count_calls,
    says={TILE: "the instructions that an atom issues"},
    how=("counted on the fragments and on the whole tile", "", ""),
)
PRODUCT = Property(
    "product",
    "tiling",
    says={TILE: "A, B and C distributed by the partitions, multiplied by the instruction, gathered: equal to numpy's"},
    states=_multiplies,
    isa=gemm.check_product,
    gpu=lambda run, tiling, _: [compare_recorded(tiling, run.runs)],
    reads=_product_key,
    how=("one product of random integers", "", "where this tiled MMA was run"),
)
TILING = replace(
    atoms.TILING,
    scope="tiling",
    states=_law,
    needs=(needs_confirmed(MULTIPLES),),
    says={TILE: "the law for every bijective atom and every count (premise: *multiples*)"},
    how=("", "z3, uninterpreted atom", ""),
)
SWIZZLE_ATOM = Property(
    "swizzle_atom",
    "shared memory",
    says={TILE: "it divides the tile, its period divides it, no two elements collide, each copy equals the atom"},
    states=smem_atom.divides,
    isa=smem_atom.check_every_point,
    proof=smem_atom.prove_atom,
    reads=smem_atom.copies_key,
    how=("every element", "z3: one copy after another, for an atom without holes", ""),
)
INSTRUCTION = Property(
    "instruction",
    "tiling",
    says={TILE: "every instruction of the atom computes this product (claimed only where one may not)"},
    states=lambda *_: Statement("", "every instruction of the atom computes this product"),
    applies=lambda tiling, _: bool(instruction.compare_instruction(None, tiling, None)),
    isa=instruction.compare_instruction,
    how=("compared", "", ""),
)
PROPERTIES = (
    THREADS,
    WELL_FORMED, IN_BOUNDS, OWNERSHIP, EQUALS, PARTITION, MULTIPLES,
    REGISTERS, CALLS, PRODUCT, TILING,
    SWIZZLE_ATOM,
    INSTRUCTION,
)  # fmt: skip

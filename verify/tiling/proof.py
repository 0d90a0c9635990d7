# SPDX-License-Identifier: Apache-2.0
"""The solver's evidence on a tiling, from the shapes and strides of its spec: no layout is evaluated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import proofs
from gpu_checks.tilings import TilingRun
from layouts import Layout, LayoutError, complement, cosize, make_layout, size
from verify.core.digits import walk, written_out
from verify.core.verdict import Check, Counterexample, Evidence, Scope, finding, leave_unchecked
from verify.evidence.proof import as_evidence
from verify.evidence.run import Run
from verify.tiling.bind import TiledOperand, Tiling

ONE = Layout(1, 0)


@dataclass
class Prover(Run):
    """One run over the properties of tilings: always with all three checks."""

    runs: tuple[TilingRun, ...] = ()  # recorded runs of tilings on a GPU

    def units(self, subject: Tiling, scope: str) -> Sequence[TiledOperand | None]:
        """Return the operands, the operands in shared memory, or None for the whole tiling."""
        if scope not in (Scope.OPERAND, "shared memory"):
            return (None,)
        return [d for d in subject.operands if scope == Scope.OPERAND or d.name in subject.spec.smem]


def threads(run: Prover, tiling: Tiling, _: None) -> list[Evidence]:
    """Evidence that every (v, wM, wN, wK) is a different thread; idle lanes of a warp fill the holes."""
    vmnk = tiling.mma.thr_layout_vmnk
    try:
        idle = complement(vmnk, cosize(vmnk)) if cosize(vmnk) > size(vmnk) else ONE
    except LayoutError as error:
        return [leave_unchecked(Check.PROOF, f"the idle lanes form no layout: {error}")]
    whole = make_layout(vmnk, idle)
    outcome = proofs.prove_bijective(whole, (size(whole),), 1, run.budget, run.solver)
    return [as_evidence(outcome, lambda model: ", ".join(f"{name} = {n}" for name, n in model.items()))]


def equals(run: Prover, tiling: Tiling, tiled: TiledOperand) -> list[Evidence]:
    """Evidence that a (thread, value) layout is the atom's, tiled, at every thread and value."""
    layout = tiled.layout
    x, y = tiled.repeats(tiling.covered_shape)
    threads, values = proofs.domain(layout)
    wanted = size(tiled.layout_tv[0]), tiled.part.values * x * y
    if (threads, values) != wanted:
        statement = f"it has {threads} threads x {values} values, the tiling {wanted[0]} x {wanted[1]}"
        wrong = Counterexample({"threads": threads, "values": values}, statement)
        return [finding(Check.PROOF, wrong, "counted")]
    extent = tiled.extent(tiling.covered_shape)
    axes = tiled.part.axes

    def differing(model: Mapping[str, int]) -> Counterexample:
        thread, value, element = model["thread"], model["value"], model["element"]
        got = f"({axes[0]}={element % extent[0]}, {axes[1]}={element // extent[0]})"
        statement = f"T{thread} V{value}: layout {got}, tiled atom ({axes[0]}={model['x']}, {axes[1]}={model['y']})"
        arithmetic = f"{written_out(layout, thread, value)} = {walk(layout, thread, value)}"
        return Counterexample(dict(model), statement, arithmetic)

    return [as_evidence(proofs.prove_tiled(partition(tiling, tiled), layout, run.budget, run.solver), differing)]


def multiples(run: Prover, tiling: Tiling, tiled: TiledOperand) -> list[Evidence]:
    """Evidence that elements have the claimed number of owners in tiles of every multiple of the tile."""
    a, b = tiled.part.axes

    def statement(model: Mapping[str, int]) -> str:
        if "holders" in model:
            return "{holders} owners for {elements} elements, {repeats} each by stride 0".format(**model)
        who = f"T{model['thread']} V{model['value']} of atom ({model['wx']},{model['wy']})"
        if "thread2" in model:
            who += f" and T{model['thread2']} V{model['value2']} of atom ({model['wx2']},{model['wy2']}) both"
        return f"{who} hold ({a}={model['x']}, {b}={model['y']})"

    return [as_evidence(proofs.prove_partition(partition(tiling, tiled), run.budget, run.solver), statement)]


def partition(tiling: Tiling, tiled: TiledOperand) -> proofs.Partition:
    """Return the operand as the solver's input: the atom's layout, the threads, and its axes by the spec."""
    x, y = (_axis(tiling, axis) for axis in tiled.along)
    along = tiled.along[0] + 1, tiled.along[1] + 1
    return proofs.Partition(tiled.part.layout_of_text, tiling.mma.thr_layout_vmnk, (x, y), along, tiled.copies)


def _axis(tiling: Tiling, axis: int) -> proofs.TileAxis:
    atom, count = tiling.subject.mma.shape[axis], size(tiling.spec.atoms_layout[axis])
    tiler = tiling.spec.permutation[axis] or atom * count
    return proofs.TileAxis(atom, count, tiler if isinstance(tiler, Layout) else Layout(tiler, 1))

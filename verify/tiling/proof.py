# SPDX-License-Identifier: Apache-2.0
"""The solver's evidence on a tiling, from the statement's own shapes and strides: no layout is ever called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import proofs
from gpu_checks.tilings import TilingRun
from layouts import Layout, LayoutError, complement, cosize, make_layout, size
from verify.core.digits import walk, written_out
from verify.core.verdict import Check, Counterexample, Evidence, Scope, Status
from verify.evidence.proof import solved
from verify.evidence.run import Run
from verify.tiling.bind import Dealt, Operand, Tiling

ONE = Layout(1, 0)


@dataclass
class Prover(Run):
    """One run over the properties of tilings: always with all three checks."""

    runs: tuple[TilingRun, ...] = ()  # of tilings on a GPU, as recorded

    def units(self, subject: Tiling, scope: Scope) -> Sequence[Operand | None]:
        """The operands, those in shared memory, or the tiling alone."""
        if scope not in (Scope.OPERAND, Scope.MEMORY):
            return (None,)
        stated = (d for d in subject.dealt if scope is Scope.OPERAND or d.name in subject.stated.smem)
        return [Operand(subject, dealt) for dealt in stated]


def threads(run: Prover, tiling: Tiling, _: None) -> list[Evidence]:
    """Every (v, wM, wN, wK) is a thread of its own; idle lanes of a warp fill the holes that are left."""
    vmnk = tiling.mma.thr_layout_vmnk
    try:
        idle = complement(vmnk, cosize(vmnk)) if cosize(vmnk) > size(vmnk) else ONE
    except LayoutError as error:
        return [Evidence(Check.PROOF, Status.UNCHECKED, "", reason=f"the idle lanes are no layout: {error}")]
    whole = make_layout(vmnk, idle)
    outcome = proofs.prove_bijective(whole, (size(whole),), 1, run.budget, run.solver)
    said = None if outcome.model is None else ", ".join(f"{name} = {n}" for name, n in outcome.model.items())
    return [solved(outcome, None if said is None else Counterexample(dict(outcome.model or {}), said))]


def equals(run: Prover, tiling: Tiling, operand: Operand) -> list[Evidence]:
    """That a (thread, value) layout is the atom, tiled, at every thread and value."""
    dealt, layout = operand.dealt, operand.layout
    x, y = dealt.repeats(tiling.covered)
    threads, values = proofs.domain(layout)
    wanted = size(dealt.layout_tv()[0]), dealt.part.values * x * y
    if (threads, values) != wanted:
        statement = f"it has {threads} threads x {values} values, the tiling {wanted[0]} x {wanted[1]}"
        wrong = Counterexample({"threads": threads, "values": values}, statement)
        return [Evidence(Check.PROOF, Status.REFUTED, "counted", counterexample=wrong)]
    extent = dealt.extent(tiling.covered)
    outcome = proofs.prove_tiled(partition(tiling, dealt), layout, run.budget, run.solver)
    model = outcome.model
    if model is None:
        return [solved(outcome, None)]
    thread, value = model["thread"], model["value"]
    axes = dealt.part.axes
    element = model["element"]
    got = f"({axes[0]}={element % extent[0]}, {axes[1]}={element // extent[0]})"
    statement = f"T{thread} V{value}: layout {got}, tiled atom ({axes[0]}={model['x']}, {axes[1]}={model['y']})"
    arithmetic = f"{written_out(layout, thread, value)} = {walk(layout, thread, value)}"
    return [solved(outcome, Counterexample(dict(model), statement, arithmetic))]


def multiples(run: Prover, tiling: Tiling, operand: Operand) -> list[Evidence]:
    """That elements of tiles of every multiple of the tile are held as often as stated."""
    dealt = operand.dealt
    outcome = proofs.prove_partition(partition(tiling, dealt), run.budget, run.solver)
    model = outcome.model
    if model is None:
        return [solved(outcome, None)]
    if "holders" in model:
        said = "{holders} holders of {elements} elements, {repeats} each by stride 0".format(**model)
        return [solved(outcome, Counterexample(dict(model), said))]
    a, b = dealt.part.axes
    statement = f"T{model['thread']} V{model['value']} of atom ({model['wx']},{model['wy']})"
    where = f"({a}={model['x']}, {b}={model['y']})"
    if "thread2" in model:
        statement += f" and T{model['thread2']} V{model['value2']} of atom ({model['wx2']},{model['wy2']}) both"
    return [solved(outcome, Counterexample(dict(model), f"{statement} hold {where}"))]


def partition(tiling: Tiling, dealt: Dealt) -> proofs.Partition:
    """The operand as the solver sees it: the atom's layout, the threads, and what was stated of its axes."""
    x, y = (_axis(tiling, axis) for axis in dealt.along)
    along = dealt.along[0] + 1, dealt.along[1] + 1
    return proofs.Partition(dealt.part.parsed, tiling.mma.thr_layout_vmnk, (x, y), along, dealt.copies)


def _axis(tiling: Tiling, axis: int) -> proofs.Axis:
    atom, count = tiling.subject.mma.shape[axis], size(tiling.stated.atoms_layout[axis])
    tiler = tiling.stated.permutation[axis] or atom * count
    return proofs.Axis(atom, count, tiler if isinstance(tiler, Layout) else Layout(tiler, 1))

# SPDX-License-Identifier: Apache-2.0
"""Tilings that several tests verify, and what is read off their verdicts."""

from __future__ import annotations

from typing import Any

from layouts import Layout, make_layout
from layouts.atoms import registry
from layouts.tiled import TiledMMA
from verify.core.verdict import Property, Status, Verdict
from verify.report import Case
from verify.tiling import bind
from verify.tiling.proof import Prover
from verify.tiling.properties import case
from verify.tiling.spec import TilingSpec

F16 = "SM80_16x8x16_F32F16F16F32_TN"
FMA = "UniversalFMA<float,float,float,float>"
TWO_BY_TWO = Layout((2, 2, 1))
INTERLEAVED = "_,(8,2,2):(1,16,8),_"
PREPARE, THRFRG = bind.prepare, TiledMMA.thrfrg


def verify_tiling(spec: TilingSpec, prover: Prover | None = None) -> Case:
    return case(spec, registry(), prover or Prover())


def prepare_tiling(spec: TilingSpec) -> bind.Tiling:
    return bind.prepare(spec, bind.find(spec, registry()))


def list_refuted(case: Case) -> set[tuple[str, Any]]:
    return {(v.claim.part, v.claim.prop) for v in case.verdicts if v.status is Status.REFUTED}


def verdict(case: Case, prop: Property, part: str = "") -> Verdict:
    return next(v for v in case.verdicts if v.claim.prop == prop and v.claim.part == part)


def swap_strides(mma: TiledMMA, operand: str, layout: Layout) -> Layout:
    """thrfrg of B with the strides of two atoms and of their repetition exchanged: each stays a bijection."""
    tiled = THRFRG(mma, operand, layout)
    if operand != "B":
        return tiled
    (v, atoms), (frg, (rest, *rests)) = ((*tiled[0],), (tiled[1][0], [*tiled[1][1]]))
    assert atoms.shape == (2, 1) and isinstance(atoms.stride, tuple) and rest.shape == 2
    moved = Layout(atoms.shape, (rest.stride, atoms.stride[1]))
    return make_layout(make_layout(v, moved), make_layout(frg, make_layout(Layout(2, atoms.stride[0]), *rests)))

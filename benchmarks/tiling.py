# SPDX-License-Identifier: Apache-2.0
"""One tiled MMA of 2x2 warps: its proof for all multiples, all properties of a 128x128x32 tile, its GEMM in numpy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

import proofs
from benchmarks.paired import BASELINE, Figure, paired
from benchmarks.programs import process
from layouts import Layout, size
from layouts.atoms import Atom, registry
from layouts.tiled import TiledMMA
from verify.movement.bind import read_movements
from verify.movement.properties import MovementChecker
from verify.tiling import gemm
from verify.tiling.bind import Tiling, prepare
from verify.tiling.proof import Prover, partition
from verify.tiling.properties import verify
from verify.tiling.spec import TilingSpec

ATOM = "SM80_16x8x16_F32F16F16F32_TN"
CHAIN = Path(__file__).parents[1] / "examples" / "movement.toml"


def figures() -> Iterator[Figure]:
    tiling = prepared()
    given = gemm.operands(tiling)
    a, b = given["A"].astype(np.int64), given["B"].astype(np.int64)
    started = f"python -c '{BASELINE}'", process("-c", BASELINE)
    yield paired("one TiledMMA, all multiples, proved", lambda: proved(tiling), *started, 0.4)
    yield paired("all properties of a 128x128x32 tile", lambda: verify(tiling, Prover()), *started, 0.8)
    yield paired("the same, with its movement chain", lambda: chained(tiling), *started, 2.0)
    yield paired("the 128x128x32 GEMM through fragments", lambda: run(tiling), *started, 0.08)
    yield paired("the same GEMM", lambda: run(tiling), "numpy's product of the same integers", lambda: a @ b.T, 25.0)
    yield paired("A, B and C of a CTA's tile, for 256 threads", partitioned, *started, 0.04)


def prepared() -> Tiling:
    atom = registry()[ATOM]
    if not isinstance(atom, Atom):
        raise TypeError(f"{ATOM} is no MMA atom")
    return prepare(TilingSpec(ATOM, ATOM, Layout((2, 2, 1)), (32, 32, 16), (128, 128, 32)), atom)


def proved(tiling: Tiling) -> None:
    """Prove the partitions of A, B and C in a new solver; raises RuntimeError where one is not proved."""
    solver = proofs.Solver()
    for operand in tiling.operands:
        if proofs.prove_partition(partition(tiling, operand), solver=solver).status != "unsat":
            raise RuntimeError(f"{operand.name} is not proved")


def chained(tiling: Tiling) -> None:
    """Verify all properties of the tile, and of its movement through shared memory and registers."""
    verify(tiling, Prover())
    checker = MovementChecker()
    for movement in read_movements(CHAIN).items:
        if any(not verdict.status.confirmed for verdict in checker.case(movement).verdicts):
            raise RuntimeError(f"{movement.name} is not verified")


def run(tiling: Tiling) -> None:
    given = gemm.operands(tiling)
    if (gemm.multiply(tiling, given) != gemm.compute_expected(given)).any():
        raise RuntimeError("the product is wrong")


def partitioned() -> None:
    """Compute the place of every value of every thread in the three matrices."""
    mma = TiledMMA(registry()[ATOM], (2, 4, 1), (32, "(4,8,2):(1,8,4)", 16))
    for operand, shape in (("A", (128, 32)), ("B", (128, 32)), ("C", (128, 128))):
        tv = mma.layout_TV(operand, Layout(shape))
        tv(np.arange(256)[:, None], np.arange(size(tv[1])))

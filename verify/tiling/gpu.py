# SPDX-License-Identifier: Apache-2.0
"""The check `gpu` of a tiling: recorded runs of kernels that multiplied through the same partitions on a GPU."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpu_checks.tilings import Strided, TiledProduct, TilingRun
from layouts import Layout
from layouts.tensor import Tensor
from verify.core.verdict import Check, Counterexample, Evidence, Status, finding, leave_unchecked
from verify.tiling import gemm
from verify.tiling.bind import TiledOperand, Tiling

FMA = "fma.rn."  # mnemonics of scalar multiply-adds in recordings


def compare_recorded(tiling: Tiling, runs: Sequence[TilingRun]) -> Evidence:
    """Evidence of a recorded run of the same tiled MMA, on the tile of that run."""
    for run in runs:
        if _same(tiling, run.tiling.product):
            return _evidence(run)
    return leave_unchecked(Check.GPU, f"no run of this tiled MMA is recorded; {len(runs)} of others are")


def _evidence(run: TilingRun) -> Evidence:
    device, tile = run.device, "x".join(map(str, run.tiling.product.tile))
    method = f"recording of {device.gpu}, {device.sm}, driver {device.driver}, tile {tile}"
    if run.equal and not run.finds_controls:
        reason = "the recorded run has no controls that fail with a wrong stride"
        return Evidence(Check.GPU, Status.UNCHECKED, method, run.elements, reason=reason)
    statement = f"{run.mismatches} of {run.elements} elements differ from numpy's"
    wrong = None if run.equal else Counterexample({}, statement)
    return finding(Check.GPU, wrong, method, run.elements, status=Status.AGREES)


def _same(tiling: Tiling, product: TiledProduct) -> bool:
    """Whether a run multiplied through the partitions of this tiled MMA, compared at every thread and value."""
    atom = tiling.subject.mma
    named = {view.by.signature.mnemonic for view in tiling.subject.views if view.by is not None}
    named |= {f"{FMA}{atom.types.get('A', '')}"} if not atom.ptx and atom.shape == (1, 1, 1) else set()
    undivided = any(extent % unit for extent, unit in zip(product.tile, tiling.mma.shape_mnk, strict=True))
    if product.mnemonic not in named or product.A_space != atom.space.get("A", "reg") or undivided:
        return False
    there = tiling._replace(tile=product.tile)
    return all(same_partition(there, tiled, product) for tiled in tiling.operands)


def same_partition(tiling: Tiling, tiled: TiledOperand, product: TiledProduct) -> bool:
    """Whether each thread had the elements of A, B or C in a recorded product that it has in the tiling."""
    if tiled.name not in ("A", "B", "C"):
        return False
    mine = gemm.partitions(tiling, tiled, Tensor(None, Layout(tiled.extent(tiling.tile))))
    theirs: Strided = getattr(product, tiled.name)
    threads, values = theirs.modes[0].size, theirs.size // theirs.modes[0].size
    if values != mine.shape[1] or threads <= max(gemm.threads(tiling)):
        return False
    numbers = np.array(gemm.threads(tiling))[:, None]
    return bool(np.array_equal(mine, theirs(numbers + threads * np.arange(values))))

# SPDX-License-Identifier: Apache-2.0
"""Recorded runs of tilings: evidence on their own tiled MMA only."""

from __future__ import annotations

from gpu_checks.tilings import recordings_of_tilings
from layouts import Layout
from layouts.atoms import Atom, registry
from tests.verify.tiling.tilings import F16, FMA, INTERLEAVED, PREPARE, TWO_BY_TWO, list_refuted, verdict, verify_tiling
from verify.core.verdict import Check, Status
from verify.tiling import gpu
from verify.tiling.proof import Prover
from verify.tiling.properties import (
    PRODUCT,
)
from verify.tiling.spec import TilingSpec, permutation


def test_an_operand_that_no_run_has_is_not_the_same() -> None:
    """Kernels have A, B and C only: metadata are compared with nothing."""
    atom = registry()["SM120::SPARSE::SM120_SPARSE_16x8x64_TN<float_e2m1_t, float_e2m1_t, float>"]
    assert isinstance(atom, Atom)
    tiling = PREPARE(TilingSpec("planted", atom.name, TWO_BY_TWO), atom)
    (metadata,) = (tiled for tiled in tiling.operands if tiled.name == "E")
    assert not gpu.same_partition(tiling, metadata, recordings_of_tilings()[0].tiling.product)


def test_a_recorded_run_is_evidence_on_its_own_tiled_mma_only() -> None:
    """The H200 ran the atom two by two with its N interleaved, on a tile of 64x64x32; not with these atoms along K."""
    prover = Prover(runs=recordings_of_tilings())
    specs = {
        "as recorded": (TilingSpec("a", F16, TWO_BY_TWO, permutation(INTERLEAVED), (128, 128, 32)), Status.AGREES),
        "another order": (TilingSpec("b", F16, TWO_BY_TWO, permutation("_,(8,2,2):(1,16,8),32")), Status.AGREES),
        "multiply-adds": (TilingSpec("fma", FMA, Layout((16, 4, 1), (4, 1, 0))), Status.AGREES),
        "four along K": (TilingSpec("c", F16, Layout((1, 1, 4))), Status.UNCHECKED),
        "another type": (TilingSpec("d", F16.replace("F32F16F16F32", "F16F16F16F16"), TWO_BY_TWO), Status.UNCHECKED),
    }
    for name, (spec, status) in specs.items():
        evidence = verdict(verify_tiling(spec, prover), PRODUCT).evidence
        assert [e.status for e in evidence if e.check is Check.GPU] == [status], name


def test_a_recorded_run_that_failed_refutes() -> None:
    runs = tuple(run._replace(mismatches=7) for run in recordings_of_tilings())
    case = verify_tiling(TilingSpec("failed", F16, TWO_BY_TWO, permutation(INTERLEAVED)), Prover(runs=runs))
    assert ("", PRODUCT) in list_refuted(case)
    assert case.contradiction  # numpy through the same partitions is right: the two checks contradict each other

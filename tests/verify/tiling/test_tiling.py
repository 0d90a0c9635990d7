# SPDX-License-Identifier: Apache-2.0
"""Verdicts on tilings: right ones are verified, and every way of making one wrong is refuted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpu_checks.tilings import recordings_of_tilings
from layouts import Layout, make_layout
from layouts.atoms import Atom, registry
from layouts.batched.evaluate import Linear
from layouts.tiled import ThrMMA, TiledMMA, tiled_mma
from proofs import BUDGET
from verify.binding.atom import BoundOperand
from verify.core.errors import SpecError
from verify.core.verdict import Check, Property, Status, Verdict
from verify.evidence import proof
from verify.evidence.isa import evaluate
from verify.evidence.repair import with_strides
from verify.report import Case
from verify.tiling import bind, gemm, gpu, properties
from verify.tiling.bind import Tiling
from verify.tiling.proof import Prover
from verify.tiling.properties import (
    CALLS,
    EQUALS,
    IN_BOUNDS,
    OWNERSHIP,
    PARTITION,
    PRODUCT,
    REGISTERS,
    THREADS,
    WELL_FORMED,
    case,
)
from verify.tiling.spec import TilingSpec, permutation

F16 = "SM80_16x8x16_F32F16F16F32_TN"
F16_K8 = "SM80_16x8x8_F32F16F16F32_TN"
FMA = "UniversalFMA<float,float,float,float>"
TWO_BY_TWO = Layout((2, 2, 1))
INTERLEAVED = "_,(8,2,2):(1,16,8),_"


def verified(spec: TilingSpec, prover: Prover | None = None) -> Case:
    return case(spec, registry(), prover or Prover())


def refuted(found: Case) -> set[tuple[str, Any]]:
    return {(v.claim.part, v.claim.prop) for v in found.verdicts if v.status is Status.REFUTED}


def verdict(found: Case, prop: Property, part: str = "") -> Verdict:
    return next(v for v in found.verdicts if v.claim.prop == prop and v.claim.part == part)


def one_of_each() -> dict[str, list[str]]:
    """Every MMA atom, of a family the first, by what its name begins with."""
    groups: dict[str, dict[str, str]] = defaultdict(dict)
    atoms = registry()
    for name in atoms:
        atom = atoms[name]
        if isinstance(atom, Atom):
            entry = atom.family.name if atom.family is not None else name
            groups[name.partition("_")[0].partition("<")[0].partition(":")[0]].setdefault(entry, name)
    return {group: list(names.values()) for group, names in groups.items()}


@pytest.mark.slow
@pytest.mark.parametrize("group", one_of_each())
def test_every_registered_atom_is_verified_two_by_two(group: str) -> None:
    prover = Prover()
    for name in one_of_each()[group]:
        found = verified(TilingSpec(name, name, TWO_BY_TWO), prover)
        if found.known_defect:
            assert found.as_known, name
        elif (registry()[name].known_defect or "").startswith("ptx:"):  # what it issues cannot be compared
            assert (found.status, found.excuse) == ("UNCHECKED", "as expected"), name
        else:
            assert {v.status for v in found.verdicts} == {Status.PROVED, Status.AGREES}, name


PERMUTATIONS = {
    "kept": (F16, "_,_,_"),
    "enlarged": (F16, "64,32,32"),
    "n reordered": (F16, INTERLEAVED),
    "m reordered": (F16, "(16,2,2):(1,32,16),_,_"),
    "k reordered": (F16, "_,_,(2,4,4):(1,8,2)"),
    "all reordered": (F16, "(16,2,2):(1,32,16),(8,2,2):(1,16,8),(4,2,2):(1,8,4)"),
    "fours": (FMA, "(2,4):(4,1),(2,4):(4,1),_"),
    "by threes": (F16, "(16,2,3):(1,48,16),_,_"),
}


@pytest.mark.parametrize("name", PERMUTATIONS)
def test_every_sort_of_permutation_is_verified(name: str) -> None:
    atom, text = PERMUTATIONS[name]
    found = verified(TilingSpec(name, atom, TWO_BY_TWO, permutation(text)))
    assert found.status == "VERIFIED"
    assert all(v.status.confirmed for v in found.verdicts)


ATOMS_LAYOUTS = ["(2,2,1):(2,1,0)", "(2,2,2):(1,2,4)", "(1,1,4):(0,0,1)", "(2,2,1):(1,4,0)", "(3,1,2):(2,0,1)"]


@pytest.mark.parametrize("text", ATOMS_LAYOUTS)
def test_every_order_of_atoms_is_verified(text: str) -> None:
    assert verified(TilingSpec("order", F16, Layout.parse(text), permutation(INTERLEAVED))).status == "VERIFIED"


def test_a_quadpair_alone_and_four_of_them() -> None:
    """Volta's atom has eight threads, at lanes 0 to 3 and 16 to 19; four of them fill a warp."""
    atom = "SM70_8x8x4_F32F16F16F32_NT"
    alone, four = verified(TilingSpec("one", atom)), verified(TilingSpec("four", atom, TWO_BY_TWO))
    assert (alone.status, four.status) == ("VERIFIED", "VERIFIED")
    assert verdict(alone, THREADS).claim.text == "8 threads for one atom, numbered up to 19"
    assert verdict(four, THREADS).claim.text == "32 threads: 8 for each of 2x2x1 atoms"


def test_one_scalar_and_one_thread() -> None:
    """The smallest tiled MMA there is: one element, one thread, all strides 0."""
    found = verified(TilingSpec("one", FMA), Prover(runs=recordings_of_tilings()))
    assert found.status == "VERIFIED" and verdict(found, THREADS).claim.text == "1 thread for one atom"


# What a thread holds, computed by hand: 128*128 accumulators over 128 threads are 128 each; A has 128*32 elements,
# each in the two atoms along N, over 128 threads: 64 of 16 bits in 32 registers. 8 atoms of 16 make M = 128, two
# of them side by side: 4; likewise 128/8/2 = 8 along N and 32/16 = 2 along K.
COUNTED = {
    (F16, (2, 2, 1), (128, 128, 32)): (
        "A 32 (64 x 16 bits), B 32 (64 x 16 bits), C 128 (128 x 32 bits), 192 of 255",
        "64 MMA of each atom for 128x128x32: 4 x 8 x 2 along M, N, K",
    ),
    ("SM80_8x8x4_F64F64F64F64_TN", (2, 2, 1), (32, 32, 8)): (
        "A 8 (4 x 64 bits), B 8 (4 x 64 bits), C 16 (8 x 64 bits), 32 of 255",
        "8 MMA of each atom for 32x32x8: 2 x 2 x 2 along M, N, K",
    ),
    ("SM90_64x128x16_F32F16F16_SS", (2, 1, 1), (256, 128, 64)): (
        "C 128 (128 x 32 bits), 128 of 255; A in smem; B in smem",
        "8 MMA of each atom for 256x128x64: 2 x 1 x 4 along M, N, K",
    ),
    (FMA, (16, 16, 1), (128, 128, 8)): (
        "A 64 (64 x 32 bits), B 64 (64 x 32 bits), C 64 (64 x 32 bits), 192 of 255",
        "512 MMA of each atom for 128x128x8: 8 x 8 x 8 along M, N, K",
    ),
}


@pytest.mark.parametrize("case_", COUNTED, ids=lambda case: case[0])
def test_registers_and_instructions_are_counted(case_: tuple[str, tuple[int, ...], tuple[int, int, int]]) -> None:
    atom, atoms, tile = case_
    found = verified(TilingSpec("counts", atom, Layout(atoms), tile=tile))
    registers, calls = COUNTED[case_]
    assert verdict(found, REGISTERS).claim.text == f"registers of a thread: {registers}"
    assert verdict(found, CALLS).claim.text == calls


def unmasked(mma: TiledMMA) -> Layout:
    """CUTLASS's get_layoutC_TV (#3612): the threads of atoms along K run on beyond the tile."""
    right = mma.layout_TV("C", Layout(mma.tile_shape("C")))
    shape, stride = right[0].shape, right[0].stride
    beyond = mma.tile_shape("C")[0] * mma.tile_shape("C")[1]
    assert isinstance(shape, tuple) and isinstance(stride, tuple)
    return make_layout(Layout(shape, (*stride[:-1], beyond)), right[1])


def test_the_mask_of_k_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TiledMMA, "layoutC_TV", property(unmasked))
    found = verified(TilingSpec("museum 25", F16_K8, Layout((2, 2, 2))))
    assert refuted(found) == {("C", IN_BOUNDS), ("C", OWNERSHIP), ("C", EQUALS)}
    wrong = verdict(found, IN_BOUNDS, "C").counterexample
    assert wrong is not None and wrong.reproduced
    assert wrong.statement == "T128 V0 holds element 512 = (m=0, n=16), the tile has 0..511"


def swapped(mma: TiledMMA, operand: str, layout: Layout) -> Layout:
    """thrfrg of B with the strides of two atoms and of their repetition exchanged: each stays a bijection."""
    tiled = THRFRG(mma, operand, layout)
    if operand != "B":
        return tiled
    (v, atoms), (frg, (rest, *others)) = ((*tiled[0],), (tiled[1][0], [*tiled[1][1]]))
    assert atoms.shape == (2, 1) and isinstance(atoms.stride, tuple) and rest.shape == 2
    moved = Layout(atoms.shape, (rest.stride, atoms.stride[1]))
    return make_layout(make_layout(v, moved), make_layout(frg, make_layout(Layout(2, atoms.stride[0]), *others)))


THRFRG = TiledMMA.thrfrg


def test_two_strides_swapped_in_b(monkeypatch: pytest.MonkeyPatch) -> None:
    """Still each element once, but not where the accumulators want it: the product and the definition differ."""
    monkeypatch.setattr(TiledMMA, "thrfrg", swapped)
    found = verified(TilingSpec("swapped", F16, TWO_BY_TWO, (None, 32, None)))
    assert refuted(found) == {("B", EQUALS), ("B", PARTITION), ("", PRODUCT)}
    evidence = verdict(found, EQUALS, "B").evidence
    assert [e.status for e in evidence] == [Status.REFUTED, Status.REFUTED]


def test_a_thread_that_takes_its_neighbours_part(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(mma: TiledMMA, thread: Any) -> ThrMMA:
        return SLICE(mma, np.where(np.asarray(thread) == 5, 4, thread))

    monkeypatch.setattr(TiledMMA, "get_slice", wrong)
    found = verified(TilingSpec("neighbour", F16, TWO_BY_TWO))
    assert {("A", PARTITION), ("B", PARTITION), ("C", PARTITION)} <= refuted(found)
    assert ("", PRODUCT) in refuted(found)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_parts_exchanged_along_one_axis(monkeypatch: pytest.MonkeyPatch, axis: int) -> None:
    """Both operands that have the axis go to the other atom: the product is right, the threads are not."""
    right, along = tiled_mma._fragment, {"A": (0, 2), "B": (1, 2), "C": (0, 1)}  # seam: a planted bug

    def wrong(mma: TiledMMA, operand: str, layout: Any, v: Any, place: Any) -> Any:
        turned = (1 - at if mode == axis else at for mode, at in zip(along[operand], place, strict=True))
        return right(mma, operand, layout, v, tuple(turned))

    monkeypatch.setattr(tiled_mma, "_fragment", wrong)  # seam: a planted bug
    found = verified(TilingSpec("exchanged", F16, Layout((2, 2, 2)), permutation(INTERLEAVED), (64, 64, 64)))
    assert refuted(found) == {(part, PARTITION) for part, axes in along.items() if axis in axes}


SLICE = TiledMMA.get_slice


def test_a_permutation_that_the_library_reads_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library tiles by (8,2,2):(1,8,16), the spec has (8,2,2):(1,16,8): same elements, other threads."""

    def prepared(spec: TilingSpec, atom: Atom) -> Tiling:
        right = PREPARE(spec, atom)
        other = TiledMMA(atom, spec.atoms_layout, (None, Layout.parse("(8,2,2):(1,8,16)"), None))
        return replace(right, mma=other, operands=tuple(replace(d, mma=other) for d in right.operands))

    monkeypatch.setattr("verify.tiling.properties.prepare", prepared)
    found = verified(TilingSpec("reordered", F16, TWO_BY_TWO, permutation(INTERLEAVED)))
    assert refuted(found) == {(part, prop) for part in "BC" for prop in (EQUALS, PARTITION)}
    assert all(e.status is Status.REFUTED for part in "BC" for e in verdict(found, EQUALS, part).evidence)


def test_the_instructions_of_a_tiling_compute_by_the_isa_and_not_by_the_atom() -> None:
    """Were a wrong layout taken for the instruction too, its product would be right."""
    atom = registry()[F16]
    assert isinstance(atom, Atom)
    tiling = PREPARE(TilingSpec("planted", F16, TWO_BY_TWO), atom)
    for tiled in tiling.operands:
        assert tiled.part.layout is not None
        right = gemm.table(tiling, tiled)
        assert np.array_equal(right, evaluate(tiled.part.layout))
        wrong = replace(tiled, part=replace(tiled.part, layout=with_strides(tiled.part.layout, [0] * 6)))
        assert np.array_equal(gemm.table(tiling, wrong), right)
        unspecified = replace(wrong, part=replace(wrong.part, formulas=()))
        assert not gemm.table(tiling, unspecified).any() and right.any()


def test_an_element_whose_copies_differ_in_one_tile_is_no_number() -> None:
    """Two threads hold the one element of an atom, which is repeated twice: [v, wM, wN, wK][frg, restX, restY]."""
    registers, where = np.array([[5.0, 6.0], [5.0, 6.0]]).reshape(2, 1, 1, 1, 1, 2, 1), np.zeros((2, 1), np.int64)
    tiled: Any = SimpleNamespace(part=SimpleNamespace(extent=(1, 1)))
    assert gemm.matrix_of(tiled, where, registers).ravel().tolist() == [5, 6]
    registers[1, ..., 1, 0] = 7
    assert np.isnan(gemm.matrix_of(tiled, where, registers)).all()


def test_an_operand_that_no_run_has_is_not_the_same() -> None:
    """Kernels have A, B and C only: metadata are compared with nothing."""
    atom = registry()["SM120::SPARSE::SM120_SPARSE_16x8x64_TN<float_e2m1_t, float_e2m1_t, float>"]
    assert isinstance(atom, Atom)
    tiling = PREPARE(TilingSpec("planted", atom.name, TWO_BY_TWO), atom)
    (metadata,) = (tiled for tiled in tiling.operands if tiled.name == "E")
    assert not gpu.same_partition(tiling, metadata, recordings_of_tilings()[0].tiling.product)


PREPARE = bind.prepare


def doubled(found: Any) -> Any:
    return found * 2


def late(found: Any) -> Any:
    return found - (found > 300)


def along_n_first(right: Callable[..., Layout], *given: Any) -> Layout:
    v, m, n, k = right(*given)
    return Layout((32, 2, 4, 1), (v.stride, n.stride, m.stride, k.stride))


def crowded(right: Callable[..., Layout], *given: Any) -> Layout:
    return Layout(right(*given).shape, (1, 16, 32, 0))


def exchanged(right: Callable[..., Any], *given: Any) -> Any:
    v, m, n, k = right(*given)
    return v, n, m, k


PLANTED: dict[str, tuple[str, Callable[..., Any]]] = {
    "threads numbered along N first": ("_threads", along_n_first),
    "threads of a smaller atom": ("_threads", crowded),
    "a thread's place in other digits": ("flat_coord", exchanged),
    "a permutation ignored": ("_permutation", lambda right, axis, tiler, covered: Layout(covered)),
    "atoms distributed by the other axis": ("_distributed", lambda right, layout, x, y: right(layout, y, x)),
    "idle threads where there are none": ("_place_of", lambda right, threads: Layout(128, 1)),
}
# with these the library cannot build the tiling
REJECTED = {"threads numbered along N first", "threads of a smaller atom", "idle threads where there are none"}


@pytest.mark.parametrize("name", PLANTED)
def test_a_bug_in_tiled_mma_is_never_verified(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Enumeration is compared with a definition that uses no TiledMMA: what it gets wrong is refuted."""
    where, bug = PLANTED[name]
    right = getattr(tiled_mma, where)
    monkeypatch.setattr(tiled_mma, where, lambda *given: bug(right, *given))
    tiled_mma._thrfrg.cache_clear()  # seam: the cache
    try:
        atoms, tiler = Layout((2, 4, 1)), permutation("_,(8,4,2):(1,16,8),_" if "ignored" in name else "_,_,_")
        found = verified(TilingSpec("planted", F16, atoms, tiler))
    except SpecError:
        assert name in REJECTED
    else:
        assert name not in REJECTED and (refuted(found) or found.contradiction)
    finally:
        tiled_mma._thrfrg.cache_clear()  # seam: the cache


@pytest.mark.parametrize("bug", [doubled, late])
@pytest.mark.parametrize(("owner", "name"), [(Layout, "__call__"), (Linear, "table")])
def test_a_bug_in_evaluation_is_a_contradiction(
    monkeypatch: pytest.MonkeyPatch, owner: type, name: str, bug: Callable[[Any], Any]
) -> None:
    """Of single points or of whole domains: the two are compared, and the proof uses neither."""
    right = getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda *given: bug(right(*given)))
    assert verified(TilingSpec("planted", F16, TWO_BY_TWO)).contradiction


WRONG_TILINGS: dict[str, tuple[Callable[[], TilingSpec], set[tuple[str, Any]]]] = {
    "museum 12: two warpgroups swapped": (
        lambda: TilingSpec(
            "swapped",
            "SM90_64x16x16_F32F16F16_SS",
            Layout((2, 1, 1)),
            claimed={"C": "((4,8,4,2),(2,2,2)):((256,1,16,-64),(128,8,1024))"},
        ),
        {("C", IN_BOUNDS), ("C", OWNERSHIP), ("C", EQUALS)},
    ),
    "museum 12: two warpgroups interleaved": (
        lambda: TilingSpec(
            "interleaved",
            "SM90_64x16x16_F32F16F16_SS",
            Layout((2, 1, 1)),
            claimed={"C": "((4,8,4,2),(2,2,2)):((256,1,32,16),(128,8,1024))"},
        ),
        {("C", EQUALS)},
    ),
    "the ISA's own C of one atom, forgotten to tile": (
        lambda: TilingSpec("one", F16, TWO_BY_TWO, claimed={"C": "((4,8),(2,2)):((32,1),(16,8))"}),
        {("C", OWNERSHIP), ("C", EQUALS)},
    ),
    "no layout at all": (
        lambda: TilingSpec("profiles", F16, claimed={"A": "((4,8),4):((32,1),(16,8))"}),
        {("A", WELL_FORMED)},
    ),
}


def test_of_a_layout_of_another_size_nothing_agrees() -> None:
    """One atom's C has 32 threads; of four atoms' 128 threads each holds 4 of 512 accumulators."""
    spec, _ = WRONG_TILINGS["the ISA's own C of one atom, forgotten to tile"]
    wrong = verdict(verified(spec()), EQUALS, "C").counterexample
    assert wrong is not None and wrong.statement == "it has 32 threads x 4 values, the tiling 128 x 4"
    assert wrong.repair.endswith("512 of 512 agree (now 0)")


@pytest.mark.parametrize(("text", "leaves"), [("(2,2):(5,2)", False), ("(2,2):(6,2)", True), ("(2,2):(-1,2)", True)])
def test_an_atom_leaves_its_tile_where_one_element_is_below_0_or_beyond_the_last(text: str, leaves: bool) -> None:
    """The last element of a tile of 8 is 7."""
    assert bind.leaves_its_tile(BoundOperand("A", text, Layout.parse(text), "", (2, 4), ())) == leaves


def test_a_thread_is_named_within_its_atom() -> None:
    """With two atoms of 32 threads along M and three along N, index 32 * (1 + 2 * 2) + 5 is in atom (1,2)."""
    expected = [properties.place_in_words(Layout((32, 2, 3, 1)), index) for index in (31, 165)]
    assert expected == ["T31 of atom (0,0,0)", "T5 of atom (1,2,0)"]


@pytest.mark.parametrize("name", WRONG_TILINGS)
def test_a_claimed_layout_that_is_not_the_tilings(name: str) -> None:
    spec, wanted = WRONG_TILINGS[name]
    assert refuted(verified(spec())) == wanted


def test_a_claimed_layout_that_is_the_tilings_written_otherwise() -> None:
    """(4,8,4,2) and its equal (4,8,8) are one function: museum 11's false alarm must not recur."""
    claimed = {"C": "((4,8,8),(2,2,2)):((256,1,16),(128,8,1024))"}
    two = Layout((2, 1, 1))
    assert verified(TilingSpec("same", "SM90_64x16x16_F32F16F16_SS", two, claimed=claimed)).status == "VERIFIED"


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
        evidence = verdict(verified(spec, prover), PRODUCT).evidence
        assert [e.status for e in evidence if e.check is Check.GPU] == [status], name


def test_a_recorded_run_that_failed_refutes() -> None:
    runs = tuple(replace(run, mismatches=7) for run in recordings_of_tilings())
    found = verified(TilingSpec("failed", F16, TWO_BY_TWO, permutation(INTERLEAVED)), Prover(runs=runs))
    assert ("", PRODUCT) in refuted(found)
    assert found.contradiction  # numpy through the same partitions is right: the two checks contradict each other


def test_the_law_of_tilings_is_proved_once_for_each_budget() -> None:
    found = [proof.tiling(budget) for budget in (BUDGET, BUDGET, 200)]
    assert found[0] is found[1]
    assert (found[0].status, found[2].status) == (Status.PROVED, Status.UNKNOWN)

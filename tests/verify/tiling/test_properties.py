# SPDX-License-Identifier: Apache-2.0
"""Verdicts on tilings: right ones are verified, and every way of making one wrong is refuted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gpu_checks.tilings import recordings_of_tilings
from layouts import Layout
from layouts.atoms import Atom, registry
from tests.verify.tiling.tilings import F16, FMA, INTERLEAVED, TWO_BY_TWO, list_refuted, verdict, verify_tiling
from verify.core.verdict import Status
from verify.tiling.proof import Prover
from verify.tiling.properties import (
    EQUALS,
    IN_BOUNDS,
    OWNERSHIP,
    THREADS,
    WELL_FORMED,
)
from verify.tiling.spec import TilingSpec, permutation


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
        case = verify_tiling(TilingSpec(name, name, TWO_BY_TWO), prover)
        if case.expects.known_defect:
            assert case.as_known, name
        elif (registry()[name].known_defect or "").startswith("ptx:"):  # what it issues cannot be compared
            assert (case.status, case.expects.excuse) == ("UNCHECKED", "as expected"), name
        else:
            assert {v.status for v in case.verdicts} == {Status.PROVED, Status.AGREES}, name


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


@pytest.mark.long
@pytest.mark.parametrize("name", PERMUTATIONS)
def test_every_sort_of_permutation_is_verified(name: str) -> None:
    atom, text = PERMUTATIONS[name]
    case = verify_tiling(TilingSpec(name, atom, TWO_BY_TWO, permutation(text)))
    assert case.status == "VERIFIED"
    assert all(v.status.confirmed for v in case.verdicts)


ATOMS_LAYOUTS = ["(2,2,1):(2,1,0)", "(2,2,2):(1,2,4)", "(1,1,4):(0,0,1)", "(2,2,1):(1,4,0)", "(3,1,2):(2,0,1)"]


@pytest.mark.parametrize("text", ATOMS_LAYOUTS)
def test_every_order_of_atoms_is_verified(text: str) -> None:
    assert verify_tiling(TilingSpec("order", F16, Layout.parse(text), permutation(INTERLEAVED))).status == "VERIFIED"


def test_a_quadpair_alone_and_four_of_them_are_verified() -> None:
    """Volta's atom has eight threads, at lanes 0 to 3 and 16 to 19; four of them fill a warp."""
    atom = "SM70_8x8x4_F32F16F16F32_NT"
    alone, four = verify_tiling(TilingSpec("one", atom)), verify_tiling(TilingSpec("four", atom, TWO_BY_TWO))
    assert (alone.status, four.status) == ("VERIFIED", "VERIFIED")
    assert verdict(alone, THREADS).claim.text == "8 threads for one atom, numbered up to 19"
    assert verdict(four, THREADS).claim.text == "32 threads: 8 for each of 2x2x1 atoms"


def test_one_scalar_and_one_thread() -> None:
    """The smallest tiled MMA there is: one element, one thread, all strides 0."""
    case = verify_tiling(TilingSpec("one", FMA), Prover(runs=recordings_of_tilings()))
    assert case.status == "VERIFIED" and verdict(case, THREADS).claim.text == "1 thread for one atom"


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
    wrong = verdict(verify_tiling(spec()), EQUALS, "C").counterexample
    assert wrong is not None and wrong.statement == "it has 32 threads x 4 values, the tiling 128 x 4"
    assert wrong.repair.endswith("512 of 512 agree (now 0)")


@pytest.mark.long
@pytest.mark.parametrize("name", WRONG_TILINGS)
def test_every_repair_makes_the_whole_tiling_right(name: str) -> None:
    spec, _ = WRONG_TILINGS[name]
    given = spec()
    claimed = [(judged.claim.part, judged.counterexample) for judged in verify_tiling(given).verdicts]
    repairs = {part: wrong.repair for part, wrong in claimed if wrong is not None and wrong.repair}
    texts = {part: text.split(": ", 1)[1].split("   ")[0] for part, text in repairs.items()}
    assert all(wrong is None or not wrong.proposals for _, wrong in claimed)
    if texts:
        whole = replace(given, claimed={**given.claimed, **texts})
        assert whole != given and verify_tiling(whole).status == "VERIFIED"


@pytest.mark.long
@pytest.mark.parametrize("name", WRONG_TILINGS)
def test_a_claimed_layout_that_is_not_the_tilings(name: str) -> None:
    spec, wanted = WRONG_TILINGS[name]
    case = verify_tiling(spec())
    assert list_refuted(case) == wanted and not any(v.contradiction for v in case.verdicts)


def test_a_claimed_layout_that_is_the_tilings_written_otherwise() -> None:
    """(4,8,4,2) and its equal (4,8,8) are one function: museum 11's false alarm must not recur."""
    claimed = {"C": "((4,8,8),(2,2,2)):((256,1,16),(128,8,1024))"}
    two = Layout((2, 1, 1))
    assert verify_tiling(TilingSpec("same", "SM90_64x16x16_F32F16F16_SS", two, claimed=claimed)).status == "VERIFIED"

# SPDX-License-Identifier: Apache-2.0
"""The rows of the atlas: every atom is counted once, by the outcome of each check."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from layouts.atoms import registry
from verify.atlas.rows import Atlas, AtlasRow, CheckOutcome, instruction, tabulate
from verify.atom.checker import AtomChecker
from verify.atom.pool import split
from verify.core.errors import Exit
from verify.core.verdict import Check, Claim, Evidence, Property, Status, Verdict
from verify.maps import search
from verify.report import Case

pytestmark = pytest.mark.xdist_group("atlas")  # `whole` is made once a run

ISA = frozenset({Check.ISA})
NAMES = ("SM61_DP4A", "SM80_16x8x8_F16F16F16F16_TN", "SM75_U32x1_LDSM_N", "SM80_16x8x16_F32F16F16F32_TN", "SM61_DP2A")
ATOMS = [registry()[name] for name in NAMES]
BARE = ("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64")


def after(name: str, end: Callable[[], None]) -> Callable[[AtomChecker, Any], Case]:
    """A checker that makes something else of one atom."""
    right = AtomChecker.case

    def case(self: AtomChecker, entry: Any) -> Case:
        if entry.name == name:
            end()
        return right(self, entry)

    return case


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # pytest's own threads
def test_the_rows_are_those_of_one_process() -> None:
    atoms = [atom for name, atom in registry().items() if name.startswith(("SM80", "SM75"))]
    assert len([*split(atoms)]) == 4
    alone, by_others = (tabulate(atoms, AtomChecker(ISA), BARE, quiet=True, jobs=count) for count in (1, 2))
    assert alone == by_others
    assert alone.total().shared and alone.total_without_atom().verdicts == {"VERIFIED": 1, "UNSPECIFIED": 1}


@pytest.mark.parametrize(("at", "atoms", "missing", "rows"), [(NAMES[2], 2, 3, 2), (BARE[0], 0, 7, 0)])
def test_an_interruption_leaves_what_is_done(
    at: str, atoms: int, missing: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(AtomChecker, "case", after(at, stop))
    atlas = tabulate(ATOMS, AtomChecker(ISA), BARE, quiet=True)
    assert (atlas.exit, atlas.total().atoms, atlas.missing) == (Exit.INTERRUPTED, atoms, missing)
    assert len(atlas.without_atom) == rows


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_atom_that_fails_stops_no_other_and_is_printed_once(
    jobs: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise RuntimeError("planted")

    monkeypatch.setattr(AtomChecker, "case", after(NAMES[-1], fail))
    atlas = tabulate(ATOMS * 8, AtomChecker(ISA), quiet=True, jobs=jobs)
    assert (atlas.exit, atlas.total().atoms, atlas.missing) == (Exit.CONTRADICTION, 32, 0)
    assert capfd.readouterr().err.count("SM61_DP2A was not verified: RuntimeError: planted") == 8


@pytest.mark.slow
def test_every_atom_is_counted_once(whole: Atlas) -> None:
    """Against a plain count of the names, and against the verdicts of the rows."""
    assert Counter({row.instruction: row.atoms for row in whole.rows}) == Counter(
        instruction(atom)[1] for atom in registry().values()
    )
    for atlas in (whole, whole.by_family()):
        for row in (*atlas.rows, atlas.total()):
            assert sum(row.verdicts.values()) == row.atoms
            assert all(sum(counts.values()) == row.atoms for counts in row.outcomes.values())
    assert whole.total().atoms == whole.by_family().total().atoms == len(registry())


@pytest.mark.slow
def test_known_defects_and_only_they_are_refuted(whole: Atlas) -> None:
    refuted = {wrong.name for row in whole.rows for wrong in row.refuted}
    assert refuted == {name for name, atom in registry().items() if atom.known_defect}
    assert whole.exit == 0


@pytest.mark.slow
def test_missing_evidence_is_counted_and_has_a_reason(whole: Atlas) -> None:
    for row in whole.rows:
        for check, counts in row.outcomes.items():
            missing = counts[CheckOutcome.UNCHECKED] + counts[CheckOutcome.PART]
            assert missing <= sum(row.reasons.get(check, Counter()).values())
            assert all(reason.strip() for reason in row.reasons.get(check, ()))


@pytest.mark.slow
def test_evidence_is_shared_among_equal_operands(whole: Atlas) -> None:
    wgmma = next(row for row in whole.rows if row.instruction == "wgmma.mma_async.sync m64nNk16")
    assert 0.6 * wgmma.evidence < wgmma.shared < wgmma.evidence  # each group of neighbours names its first subject


def test_an_atom_that_nothing_was_compared_with_is_undecided_unless_that_is_allowed() -> None:
    bare = replace(registry()["SM80_8x8x4_F64F64F64F64_TN"], ptx=None)
    assert tabulate([bare], AtomChecker()).exit == 4 and tabulate([bare], AtomChecker(), allow_unchecked=True).exit == 0


def test_a_check_that_refutes_what_it_is_not_required_on_counts_as_refuted() -> None:
    product = Property("product", isa=lambda *_: [])
    claim = Claim("one", "", product, "multiplies")
    wrong = Evidence(Check.ISA, Status.REFUTED, "random integers")
    row = AtlasRow("mma.sync m16n8k16", "mma.sync")
    row.add(Case("one", (Verdict(claim, Status.REFUTED, (wrong,)),)), (), (Check.ISA, Check.PROOF))
    assert row.outcomes == {Check.ISA: {CheckOutcome.REFUTED: 1}, Check.PROOF: {CheckOutcome.UNCHECKED: 1}}


def test_provenance_is_of_operands_alone() -> None:
    """The product has none, which depends on all operands, nor have claims without a formula."""
    (row,) = tabulate([registry()["SM90_64x16x16_F32F16F16_SS"]], AtomChecker()).rows
    isa_text, derived = "ISA text", "derived: a figure; CUTLASS; the rule of all fragments"
    assert row.provenance == {"A": {isa_text: None}, "B": {isa_text: None}, "C": {derived: None}}


def test_a_wrong_table_is_a_contradiction(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where isa refutes every layout, the other two checks contradict it."""
    monkeypatch.setattr(search, "locate_difference", lambda *_: search.Disagreement((0, 0), 1, 128))
    atlas = tabulate([registry()["SM80_16x8x16_F32F16F16F32_TN"]], AtomChecker())
    assert atlas.exit == 3 and atlas.rows[0].verdicts["CONTRADICTION"] == 1

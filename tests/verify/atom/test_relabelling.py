# SPDX-License-Identifier: Apache-2.0
"""One permutation of m, n or k in both operands that have it is RELABELLED; anything else stays refuted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from layouts import fit
from layouts.atoms import AnyAtom, Atom, registry
from verify.atom.checker import AtomChecker
from verify.atom.command import main
from verify.atom.properties import EQUALS, EQUALS_ABSOLUTE, OWNERSHIP, RELABEL, RELATION
from verify.atom.relabelling import broken, find_permutations, undone
from verify.binding.atom import prepare
from verify.binding.axes import AXES
from verify.binding.relabelling import order
from verify.core.digits import walks
from verify.core.verdict import Check, Status, Verdict
from verify.evidence.run import everything
from verify.report import Case, Expectation, Report, as_html, as_junit, as_text

MMA = "SM80_16x8x16_F32F16F16F32_TN"
SPARSE = "SM120::SPARSE::SM120_SPARSE_16x8x64_TN<float_e2m1_t, float_e2m1_t, float>"
K16 = "(2,4,2):(1,4,2)"  # four neighbours of k for each lane
BLOCKS = "(16,2,2):(1,32,16)"  # four blocks of 16, the middle ones exchanged


def atom(name: str) -> Atom:
    entry = registry()[name]
    assert isinstance(entry, Atom)
    return entry


def relabel_operands(name: str, relabel: dict[str, str], operands: Sequence[str] = "ABC") -> Atom:
    """An atom whose operands number some axes by a layout, which it does not declare."""
    entry = atom(name)
    extents = dict(zip("mnk", entry.shape, strict=True))
    numbers = {axis: order(text, extents[axis]) for axis, text in relabel.items()}
    texts = dict(entry.operands)
    for part in prepare(entry).parts:
        if part.name in operands:
            x, y = (numbers.get(axis, range(extents[axis])) for axis in AXES[part.name])
            rows = [[x[e % len(x)] + len(x) * y[e // len(x)] for e in row] for row in walks(part.layout_of_text)]
            texts[part.name] = str(fit(rows))
    return replace(entry, operands=texts)


def verdict(verdicts: Sequence[Verdict], part: str, key: object) -> Verdict:
    return next(judged for judged in verdicts if judged.claim.part == part and judged.claim.prop == key)


def statuses(verdicts: Sequence[Verdict]) -> set[Status]:
    return {judged.status for judged in verdicts}


@pytest.fixture(scope="module")
def checker() -> AtomChecker:
    return AtomChecker()


@pytest.mark.long
@pytest.mark.parametrize(
    ("relabel", "parts"),
    [
        ({"k": K16}, "AB"),
        ({"m": "(8,2):(2,1)"}, "AC"),
        ({"n": "(2,4):(4,1)"}, "BC"),
        ({"k": K16, "n": "(2,4):(4,1)"}, "ABC"),
    ],
)
def test_one_permutation_in_both_operands_is_relabelled(
    relabel: dict[str, str], parts: str, checker: AtomChecker
) -> None:
    entry = relabel_operands(MMA, relabel)
    verdicts = checker.verify(entry)
    case = Case(MMA, tuple(verdicts))
    assert case.status == "RELABELLED"
    assert Report((case,)).exit() == 1
    for part in "ABC":
        judged = verdict(verdicts, part, EQUALS)
        assert judged.status is (Status.RELABELLED if part in parts else Status.PROVED)
        assert not judged.status.confirmed or part not in parts
    text = as_text.render(Report((case,)))
    for axis, layout in relabel.items():
        assert f"{axis}' = {layout} of {axis} in" in text
    assert "declare relabel = {" in text
    assert "confirmed, as of every relabelling: product and relation" in text
    assert "1 subject: 1 relabelled" in text
    again = checker.verify(replace(entry, relabel=relabel))
    assert statuses(again) <= {Status.PROVED, Status.AGREES, Status.UNCHECKED}
    assert {e.check for e in verdict(again, parts[0], EQUALS).evidence if e.status is Status.PROVED} == {
        Check.ISA,
        Check.PROOF,
    }
    assert verdict(again, "relabel", RELABEL).status is Status.PROVED
    assert verdict(again, "", EQUALS_ABSOLUTE).status is Status.AGREES


def test_without_it_the_atom_is_the_instructions() -> None:
    subject = prepare(relabel_operands(MMA, {"k": K16}))
    numbers = find_permutations(subject)
    assert numbers == {"k": order(K16, 16)}
    assert find_permutations(undone(subject, numbers)) is None
    assert undone(subject, numbers).parts[0].rows() == walks(prepare(atom(MMA)).parts[0].layout_of_text)


@pytest.mark.parametrize(
    ("relabel", "operands"), [({"k": K16}, "A"), ({"m": "(8,2):(2,1)"}, "C"), ({"k": K16, "m": "(8,2):(2,1)"}, "AB")]
)
def test_in_one_operand_alone_it_is_refuted(relabel: dict[str, str], operands: str, checker: AtomChecker) -> None:
    verdicts = checker.verify(relabel_operands(MMA, relabel, operands))
    assert Status.REFUTED in statuses(verdicts)
    assert Status.RELABELLED not in statuses(verdicts)
    assert verdict(verdicts, "", RELATION).status is Status.REFUTED


def test_a_refutation_that_no_relabelling_explains_stays_beside_those_that_one_explains() -> None:
    """Of several refuted verdicts each must follow from the relabelling: one of ownership doesn't, nor do two checks
    that disagree."""
    subject = prepare(relabel_operands(MMA, {"k": K16}))
    run = AtomChecker()
    verdicts = run.verdicts([row for row in run.table if "mma" in row.says], subject, everything)
    assert Status.RELABELLED in statuses(run.explain_by_relabelling(subject, verdicts))
    first = next(candidate for candidate in verdicts if candidate.status is Status.REFUTED)
    agreeing = first.evidence[0]._replace(status=Status.PROVED, counterexample=None)
    owned = verdict(verdicts, first.claim.part, OWNERSHIP)
    planted = first._replace(evidence=(*first.evidence, agreeing)), owned._replace(status=Status.REFUTED)
    for old, new in zip((first, owned), planted, strict=True):
        changed = [new if candidate is old else candidate for candidate in verdicts]
        assert run.explain_by_relabelling(subject, changed) == changed


def test_two_permutations_of_one_axis_are_refuted(checker: AtomChecker) -> None:
    swapped = relabel_operands(MMA, {"k": "(8,2):(2,1)"})
    mixed = relabel_operands(MMA, {"k": K16})
    both = replace(mixed, operands={**mixed.operands, "B": swapped.operands["B"]})
    assert Status.RELABELLED not in statuses(checker.verify(both))


def test_metadata_knows_k(checker: AtomChecker) -> None:
    entry = relabel_operands(SPARSE, {"k": "(4,2,8):(1,32,4)"})
    verdicts = checker.verify(entry)
    assert Status.REFUTED in statuses(verdicts)
    assert Status.RELABELLED not in statuses(verdicts)
    again = checker.verify(replace(entry, relabel={"k": "(4,2,8):(1,32,4)"}))
    judged = verdict(again, "relabel", RELABEL)
    assert judged.status is Status.REFUTED
    assert judged.counterexample is not None
    assert "metadata names a column of A by its place in a group" in judged.counterexample.statement


def write_scaled() -> str:
    return next(
        name for name in registry() if name.startswith("SM120::BLOCKSCALED::SM120_16x8x64") and name.endswith("16>")
    )


def test_scales_know_blocks_of_k(checker: AtomChecker) -> None:
    name = write_scaled()
    entry = relabel_operands(name, {"k": BLOCKS}, ("A", "B", "SFA", "SFB"))
    assert statuses(checker.verify(replace(entry, relabel={"k": BLOCKS}))) <= {
        Status.PROVED,
        Status.AGREES,
        Status.UNCHECKED,
    }
    scales_alone = {part: text for part, text in atom(name).operands.items() if part.startswith("SF")}
    kept = replace(entry, operands={**entry.operands, **scales_alone}, relabel={"k": BLOCKS})
    assert Status.REFUTED in statuses(checker.verify(kept))
    subject = prepare(atom(name))
    assert list(broken(subject, {"k": order(BLOCKS, 64)})) == []
    split, *_ = broken(subject, {"k": order("(32,2):(2,1)", 64)})
    assert split.statement == (
        "k 0 and k 8 have one scale in SFA, a block of 16; relabelled they are 0 and 16, of two blocks"
    )


def test_memory_knows_its_address() -> None:
    subject = prepare(atom("SM90_64x8x16_F16F16F16_SS"))
    wrong = [wrong_case.statement for wrong_case in broken(subject, {"k": order(K16, 16)})]
    assert wrong == [f"{name} is read from memory: its k is that of an address" for name in "AB"]


def test_what_two_atoms_share_depends_on_the_declaration(checker: AtomChecker) -> None:
    plain = relabel_operands(MMA, {"k": K16})
    stated = replace(plain, relabel={"k": K16})
    for entries in ((plain, stated), (stated, plain)):
        run = AtomChecker()
        seen = [verdict(run.verify(entry), "", EQUALS_ABSOLUTE).status for entry in entries]
        assert seen == [Status.RELABELLED if entry is plain else Status.AGREES for entry in entries]


def test_a_declaration_that_is_wrong_is_refuted(checker: AtomChecker) -> None:
    entry = relabel_operands(MMA, {"k": K16})
    judged = checker.verify(replace(entry, relabel={"k": "(8,2):(2,1)"}))
    assert verdict(judged, "A", EQUALS).status is Status.REFUTED
    assert verdict(judged, "relabel", RELABEL).status is Status.PROVED
    for text, why in (("8:1", "0..15"), ("(8,2):(1,1)", "0..15"), ("16:2", "0..15")):
        wrong = checker.verify(replace(atom(MMA), relabel={"k": text}))
        declared = verdict(wrong, "relabel", RELABEL)
        assert declared.status is Status.REFUTED
        assert declared.counterexample is not None
        assert f"k' = {text} isn't a permutation of {why}" in declared.counterexample.statement


def test_it_is_a_failure_in_every_format(checker: AtomChecker) -> None:
    case = checker.case(relabel_operands(MMA, {"k": K16}))
    report = Report((case,))
    assert 'failures="3"' in as_junit.render(report)
    assert 'class="status RELABELLED"' in as_html.render(report)
    known = replace(case, expects=Expectation("A, B, ptx: k is relabelled"))
    assert Report((known,), expect_known=True).exit() == 0
    assert Report((replace(case, expects=Expectation("A: k is relabelled")),), expect_known=True).exit() == 1


def test_a_file_declares_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry = relabel_operands(MMA, {"k": K16})
    file = tmp_path / "mine.toml"
    lines = [f'{name} = "{text}"' for name, text in entry.operands.items()]
    head = f'["mine"]\nptx = "{entry.mnemonics[0]}"\n' + "\n".join(lines)
    for key, code, words in (
        ("", 1, "1 relabelled"),
        (f'relabel = {{ k = "{K16}" }}', 0, "1 verified"),
        ('relabel = { x = "4:1" }', 2, "unknown key"),
        ('relabel = { k = "(4" }', 2, "relabel.k"),
        ('relabel = "k"', 2, "expected a table of axes and layouts"),
    ):
        file.write_text(f"{head}\n{key}\n", encoding="utf-8")
        assert main([str(file)]) == code, key
        printed = capsys.readouterr()
        assert words in printed.out + printed.err


def test_copies_are_left_as_they_are(checker: AtomChecker) -> None:
    copy: AnyAtom = registry()["SM75_U32x1_LDSM_N"]
    assert Status.RELABELLED not in statuses(checker.verify(copy))


@pytest.mark.parametrize("relabel", [{}, {"m": "(8,2):(2,1)"}])
@pytest.mark.parametrize("checks", [frozenset(Check), frozenset({Check.PROOF}), frozenset({Check.GPU})])
def test_a_map_that_leaves_its_tile_has_labels(relabel: dict[str, str], checks: frozenset[Check]) -> None:
    right = atom(MMA)
    operands = {"A": "((4,8),(2,2,2)):((32,2),(16,1,128))", "C": "((4,8),(2,2)):((2@1,2@0),(1@1,-1@0))"}
    wrong = replace(right, relabel=relabel, operands={**right.operands, **operands})
    unread = checks == {Check.PROOF} and bool(relabel)  # then only C is wrong, and no solver proves anything of a map
    assert AtomChecker(checks).case(wrong).status == ("UNCHECKED" if unread else "REFUTED")

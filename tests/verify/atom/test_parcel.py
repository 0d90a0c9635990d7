# SPDX-License-Identifier: Apache-2.0
"""Cases on their way between processes: they arrive as if they were found where they are reported."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pytest

from layouts.atoms import AnyAtom, registry
from verify.atom.checker import AtomChecker
from verify.atom.parcel import Differs, Packer, Parcel, Unpacker
from verify.core.verdict import Check, Evidence, Status
from verify.report import Case, Report, as_html, as_json

CHECKS = frozenset({Check.ISA, Check.PROOF})
WGMMA = [name for name in registry() if name.startswith("SM90_64x16x16_F")][:4]  # by a proof about their family
DEFECT = next(name for name, atom in registry().items() if atom.known_defect)
NAMES = [*WGMMA[:2], DEFECT, "SM75_U32x1_LDSM_N", *WGMMA[2:], "SM61_DP2A", "UniversalFMA<float,float,float,float>"]
ATOMS = [registry()[name] for name in NAMES]


def sent(parcel: Parcel) -> Parcel:
    found: Parcel = pickle.loads(pickle.dumps(parcel))
    return found


def alone(checks: frozenset[Check]) -> list[Case]:
    checker = AtomChecker(checks)
    return [checker.case(atom) for atom in ATOMS]


def by_two(order: Sequence[int], checks: frozenset[Check], here: Sequence[int] = ()) -> list[Case]:
    """The cases of all atoms: found elsewhere in an order of their own, but for those that are found here."""
    there, checker = AtomChecker(checks), AtomChecker(checks)
    packer, unpacker = Packer(there), Unpacker(checker)
    packed = {}
    for place in order:
        parcel = sent(packer.packed([there.case(ATOMS[place])]))
        unpacker.take(parcel)
        packed[place] = parcel.cases[0]
    found = []
    for place, atom in enumerate(ATOMS):
        one = packed.get(place)
        taken = None if place in here else one
        found.append(checker.case(atom) if taken is None else unpacker.case(taken, partial(itself, atom)))
    return found


def itself(atom: AnyAtom) -> AnyAtom:
    return atom


def text(cases: Sequence[Case]) -> str:
    return as_json.render(Report(tuple(cases)))


@pytest.mark.long
@pytest.mark.parametrize("checks", [CHECKS, frozenset(Check)], ids=["isa, proof", "all"])
@pytest.mark.parametrize("here", [(), (0,), (1, 4), (0, 2, 6)])
def test_a_case_arrives_as_if_it_was_found_here(here: Sequence[int], checks: frozenset[Check]) -> None:
    backwards = range(len(ATOMS))[::-1]
    expected = text(alone(checks))
    assert '"shared": "SM90' in expected and DEFECT in expected
    assert text(by_two(backwards, checks, here)) == expected
    assert text(by_two((3, 0, 5), checks, here)) == expected


@pytest.mark.long
def test_formulas_and_pictures_are_made_where_they_are_shown() -> None:
    pages = [as_html.render(Report(tuple(cases))) for cases in (by_two([2, 0], CHECKS), alone(CHECKS))]
    assert pages[0] == pages[1]
    assert pages[0].count("<svg") >= len(WGMMA)


def test_evidence_under_a_key_travels_once() -> None:
    there = AtomChecker(CHECKS)
    packer = Packer(there)
    first, second = (packer.packed([there.case(registry()[name])]) for name in WGMMA[:2])
    assert first.keys and not {key for key, _ in first.keys} & {key for key, _ in second.keys}

    def by_value(parcel: Parcel) -> list[Evidence]:
        (packed,) = parcel.cases
        assert packed is not None
        return [one for evidence, *_ in packed[1] for one in evidence if isinstance(one, Evidence)]

    assert len(by_value(second)) < len(packed_evidence(second)) / 4


def packed_evidence(parcel: Parcel) -> list[object]:
    (packed,) = parcel.cases
    assert packed is not None
    return [one for evidence, *_ in packed[1] for one in evidence]


def bent() -> Parcel:
    """What another process found of the first atom, each method changed on the way."""
    there = AtomChecker(CHECKS)
    parcel = Packer(there).packed([there.case(ATOMS[0])])
    keys = []
    for key, references in parcel.keys:
        changed = [one._replace(method="bent") if isinstance(one, Evidence) else one for one in references]
        keys.append((key, tuple(changed)))
    return parcel._replace(keys=keys)


def test_what_arrives_is_what_was_sent() -> None:
    """The wrong twin: not what this process would have found."""
    unpacker, parcel = Unpacker(AtomChecker(CHECKS)), bent()
    unpacker.take(parcel)
    (packed,) = parcel.cases
    assert packed is not None
    found = unpacker.case(packed, lambda: ATOMS[0])
    assert any(one.method == "bent" for verdict in found.verdicts for one in verdict.evidence)


def test_a_case_that_rests_on_other_evidence_than_was_found_here_is_not_taken() -> None:
    checker, parcel = AtomChecker(CHECKS), bent()
    checker.case(ATOMS[1])
    unpacker = Unpacker(checker)
    unpacker.take(parcel)
    (packed,) = parcel.cases
    assert packed is not None
    with pytest.raises(Differs):
        unpacker.case(packed, lambda: ATOMS[0])


def test_evidence_that_rests_on_other_than_was_found_here_is_found_here() -> None:
    """A proof that follows from one about a family refers to it: with another one here, it is not taken."""
    proved = Evidence(Check.PROOF, Status.PROVED, "of a family")
    cache = (checker := AtomChecker(CHECKS)).cache
    cache.once("family", "first", lambda: [proved])
    sent = Parcel([("family", (proved._replace(method="bent"),)), ("own", ((0, 0),))], [])
    Unpacker(checker).take(sent)
    assert [one.method for one in cache.once("own", "second", lambda: [proved._replace(method="own")])] == ["own"]
    same = Parcel([("family", (proved,)), ("another", ((0, 0),))], [])
    Unpacker(checker).take(same)
    (found,) = cache.once("another", "third", list)
    assert (found.method, found.shared) == ("of a family", "first")


def test_what_an_entry_leaves_to_its_instruction_arrives() -> None:
    atom = replace(registry()["SM80_16x8x16_F32F16F16F32_TN"], taken={"thr": "32:1"})
    there, checker = AtomChecker(CHECKS), AtomChecker(CHECKS)
    packer, unpacker = Packer(there), Unpacker(checker)
    parcel = sent(packer.packed([there.case(atom)]))
    unpacker.take(parcel)
    (packed,) = parcel.cases
    assert packed is not None
    found = unpacker.case(packed, lambda: atom)
    assert Status.TAKEN in [verdict.status for verdict in found.verdicts]
    assert text([found]) == text([AtomChecker(CHECKS).case(atom)])


def test_what_failed_elsewhere_has_no_case() -> None:
    assert Packer(AtomChecker(CHECKS)).packed([None]).cases == [None]

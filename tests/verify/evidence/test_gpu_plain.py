# SPDX-License-Identifier: Apache-2.0
"""Few labels in Python's integers: the evidence is that of arrays, and where arrays refute there is none."""

from __future__ import annotations

from dataclasses import replace

import pytest

import gpu_checks
from layouts import Layout
from layouts.atoms import Atom, registry
from verify.binding.atom import BoundAtom, prepare
from verify.core.evidence_cache import EvidenceCache
from verify.core.verdict import Evidence, Status
from verify.evidence import gpu, gpu_plain

TN = "SM80_16x8x16_F32F16F16F32_TN"
RECORDED = gpu.Recorded(gpu_checks.recordings())


@pytest.fixture(autouse=True)
def without_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_plain, "loaded", lambda: False)


def of_arrays(atom: BoundAtom) -> list[list[Evidence]]:
    return [check(atom, RECORDED, EvidenceCache()) for check in (gpu.relation, gpu.absolute)]


def of_lists(atom: BoundAtom) -> list[list[Evidence]]:
    return [check(atom, EvidenceCache()) for check in (gpu_plain.relation, gpu_plain.absolute)]


def timeless(found: list[list[Evidence]]) -> list[list[Evidence]]:
    return [[one._replace(seconds=0) for one in each] for each in found]


def test_lists_agree_only_as_arrays_do() -> None:
    atoms = [
        atom
        for name in registry()
        if name.startswith(("SM75_", "SM80_")) and isinstance(atom := registry()[name], Atom)
    ]
    alike = 0
    for atom in map(prepare, atoms[::3]):
        if atom.by is not None:
            for lists, arrays in zip(timeless(of_lists(atom)), timeless(of_arrays(atom)), strict=True):
                assert lists in ([], arrays)
                alike += lists == arrays
    assert alike > 20


@pytest.mark.parametrize(
    ("which", "text", "refuted"),
    [
        (0, "((4,8),(2,2,2)):((32,1),(16,128,8))", (True, True)),
        (2, "((4,8),(2,2)):((32,1),(8,16))", (True, True)),
        (2, "((4,8),(2,2)):((32,1),(16,9))", (True, False)),
        (2, "((4,8),4):((32,1),0)", (True, True)),
    ],
)
def test_what_arrays_refute_lists_do_not_decide(which: int, text: str, refuted: tuple[bool, bool]) -> None:
    atom = prepare(registry()[TN])
    parts = list(atom.parts)
    parts[which] = parts[which]._replace(text=text, layout=Layout.parse(text))
    wrong = replace(atom, parts=tuple(parts))
    assert of_lists(wrong) == [[], []]
    assert tuple(any(one.status is Status.REFUTED for one in each) for each in of_arrays(wrong)) == refuted


def test_relabelled_rows_agree_as_a_relation_and_not_absolutely() -> None:
    atom = prepare(registry()[TN])
    parts = list(atom.parts)
    for which, text in ((0, "((4,8),(2,2,2)):((32,2),(16,1,128))"), (2, "((4,8),(2,2)):((32,2),(16,1))")):
        parts[which] = parts[which]._replace(text=text, layout=Layout.parse(text))
    relabelled = replace(atom, parts=tuple(parts))
    relation, absolute = of_lists(relabelled)
    assert timeless([relation]) == timeless(of_arrays(relabelled)[:1])
    assert [one.status for one in relation] == [Status.AGREES] and absolute == []

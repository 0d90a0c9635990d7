# SPDX-License-Identifier: Apache-2.0
"""Random products through the maps of an atom: what is drawn, what arrives, and what does not."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from layouts.atoms import registry
from verify.atom.checker import prepare_atom
from verify.binding.atom import prepare
from verify.core.verdict import Status
from verify.evidence import product as module
from verify.evidence.product import WRONG, product, random_matrices

ATOM = registry()["SM80_16x8x16_F32F16F16F32_TN"]
SCALED = next(atom for name, atom in registry().items() if {"SFA", "SFB", "E"} <= atom.operands.keys())


@pytest.mark.parametrize(
    ("part", "drawn"),
    [("A", range(-8, 8)), ("B", range(-8, 8)), ("E", range(2)), ("SFA", (1, 2, 3)), ("SFB", (1, 2, 3))],
)
def test_numbers_of_a_product_are_signed_metadata_drop_and_scale_factors_are_positive(part: str, drawn: range) -> None:
    subject = prepare_atom(SCALED)
    (operand,) = (operand for operand in subject.parts if operand.name == part)
    assert set(random_matrices([operand], 1, Random(1))[operand.name].ravel().tolist()) == set(map(float, drawn))


def test_every_operand_and_every_trial_has_numbers_of_its_own() -> None:
    parts = [operand for operand in prepare_atom(ATOM).parts if operand.name in ("A", "B")]
    given = random_matrices(parts, 2, Random(1))
    assert [given[operand.name].shape for operand in parts] == [(2, *operand.extent) for operand in parts]
    drawn = {tuple(trial.ravel()[:32].tolist()) for matrices in given.values() for trial in matrices}
    assert len(drawn) == 4


def test_evidence_has_the_time_it_took(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([100.0, 102.5])
    monkeypatch.setattr(module.time, "perf_counter", lambda: next(times))
    assert product(prepare(ATOM)).seconds == 2.5


def test_where_nothing_arrives_there_is_nothing() -> None:
    """Of two elements that arrive at one place the last stays."""
    elements = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=np.float32)
    source, target = np.array([[2, 0], [1, 0]]), np.array([[0, 3], [1, 1]])
    moved = module._move(elements, source, target, 4, WRONG)  # seam: one step of a product
    assert moved.tolist() == [[3.0, 1.0, WRONG, 1.0], [6.0, 4.0, WRONG, 4.0]]


@pytest.mark.parametrize("operand", ["A", "B", "C"])
def test_an_operand_that_another_lane_holds_makes_a_wrong_product(operand: str) -> None:
    """The wrong twin: the map of the operand with two lanes exchanged."""
    subject = prepare(registry()["SM90_64x16x16_F32F16F16_RS" if operand == "A" else ATOM.name])
    right = module.by_lane

    def exchanged(subject: object, part: object, of: object) -> object:
        table = right(subject, part, of)  # type: ignore[arg-type]
        if part.name != operand:  # type: ignore[attr-defined]
            return table
        table = table.copy()
        table[[0, 4]] = table[[4, 0]]
        return table

    with pytest.MonkeyPatch.context() as planted:
        assert product(subject).status is Status.AGREES
        planted.setattr(module, "by_lane", exchanged)
        assert product(subject).status is Status.REFUTED

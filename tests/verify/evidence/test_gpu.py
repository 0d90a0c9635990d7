# SPDX-License-Identifier: Apache-2.0
"""Relations and labels that a GPU showed: the first that conflicts is reported."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import gpu_checks
from layouts.atoms import registry
from tests.verify.test_cross_check import ATOM, recording
from tests.verify.test_planted_recordings import TN, evidence_on
from tests.verify.test_planted_recordings import recording as recorded
from verify.atom.properties import EQUALS_ABSOLUTE
from verify.binding.atom import prepare
from verify.core.verdict import Status
from verify.evidence.gpu import labels, relabelling


def test_a_label_outside_the_tile_is_a_conflict_first() -> None:
    subject = prepare(replace(ATOM, operands=dict(ATOM.operands) | {"A": "((4,8),1):((8,2),0)"}))
    claimed = labels(subject)
    assert not isinstance(claimed, str)
    hardware = labels(prepare(ATOM))
    assert not isinstance(hardware, str)
    identity = {"m": list(range(8)), "n": list(range(8)), "k": list(range(4))}
    conflict = relabelling(subject, claimed, recording(hardware, identity))
    assert not isinstance(conflict, int) and "outside" in conflict.statement


def test_a_coordinate_outside_the_tile_is_not_that_of_the_element_with_its_number() -> None:
    """(m=16, n=0) of a 16x8 tile has the number of (m=0, n=1), which is what the hardware has there."""
    atom = registry()["SM80_16x8x16_F32F16F16F32_TN"]
    turned = replace(atom, operands=dict(atom.operands) | {"C": "((4,8),(2,2)):((32@0,1@0),(16@0,8@0))"})
    subject = prepare(turned)
    (observed,) = gpu_checks.recordings()[subject.instruction.signature.mnemonic]
    claimed = labels(subject)
    assert not isinstance(claimed, str)
    conflict = relabelling(subject, claimed, observed)
    assert not isinstance(conflict, int) and conflict.statement == "(m=16, n=0) is outside 16x8 (m,n)"
    assert (conflict.lane, conflict.value) == (0, 1)


def test_the_first_element_of_the_second_operand_can_be_the_one_that_breaks() -> None:
    """A's first lane is right, B's first lane is not: the conflict is reported of B."""
    subject, hardware = prepare(ATOM), labels(prepare(ATOM))
    assert not isinstance(hardware, str)
    observed = recording(hardware, {"m": list(range(8)), "n": list(range(8)), "k": list(range(4))})
    observed.operands["B"][0, 0, 2] = 1
    conflict = relabelling(subject, hardware, observed)
    assert not isinstance(conflict, int)
    assert (conflict.axis, conflict.operands, conflict.lane, conflict.value) == ("k", ("A", "B"), 0, 0)
    assert conflict.statement.startswith("B lane 0 value 0 is claimed to hold k=0; the hardware pairs it with other")


def test_absolute_coordinates_that_say_nothing_confirm_nothing() -> None:
    right = recorded(TN)
    missing = tuple(
        coordinates._replace(labels=np.full_like(coordinates.labels, -1)) for coordinates in right.coordinates
    )
    evidence = evidence_on(TN, replace(right, coordinates=missing), EQUALS_ABSOLUTE)
    assert evidence.status is Status.UNCHECKED and "no absolute coordinates are known" in evidence.reason


def test_c_that_arrives_elsewhere_in_d_is_refuted() -> None:
    """An atom has one layout for both."""
    right = recorded(TN)
    order = np.arange(right.passthrough.size)
    order[[17, 40]] = order[[40, 17]]
    evidence = evidence_on(TN, replace(right, passthrough=order.reshape(right.passthrough.shape)))
    assert evidence.status is Status.REFUTED and evidence.counterexample is not None
    said = "what C holds in lane 4 value 1 arrives in D lane 10 value 0, which is claimed to hold another element"
    assert evidence.counterexample.statement == said

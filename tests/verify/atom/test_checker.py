# SPDX-License-Identifier: Apache-2.0
"""Atoms verified by the requested checks: the form always, and none hides the verdict on another."""

import pytest

from layouts.atoms import registry
from tests.verify.test_soundness import NAME, WRONG_B, atom, status
from verify.atom import command
from verify.core.verdict import Check


def test_an_unknown_mnemonic_hides_no_other() -> None:
    wrong = atom(operands={"B": WRONG_B}, ptx=(*(registry()[NAME].ptx or ()), "banana"))
    assert status(wrong) == "REFUTED"
    assert status(atom(ptx=("banana", "mma.sync.aligned.m16n8k24.row.col.f32.f16.f16.f32"))) == "REFUTED"


@pytest.mark.parametrize("check", list(Check))
@pytest.mark.parametrize("name", ["SM80_16x8x128_S32U1U1S32_TN_XORPOPC", "SM61_DP2A"])
def test_form_is_checked_whichever_checks_are_requested(check: Check, name: str) -> None:
    assert status(atom(name), check) == "REFUTED"


def test_required_checks_must_have_been_made() -> None:
    assert command.main(["SM80_16x8x16", "--require", "gpu", "--require", "isa", "-q"]) == 0
    assert command.main(["UniversalFMA", "--require", "isa", "-q"]) == 4
    assert command.main(["SM61_DP4A", "--require", "gpu", "-q"]) == 0

# SPDX-License-Identifier: Apache-2.0
"""Operands beyond A, B, C, operands in memory, and families: they are verified, and refuted when changed."""

from collections.abc import Mapping
from pathlib import Path

import pytest

import layouts.atoms
from layouts.atoms import AnyAtom, load
from verify.atom import command
from verify.atom.checker import AtomChecker
from verify.atom.properties import OWNERSHIP
from verify.core.verdict import Check, Property, Status, Verdict

FOLDER = Path(layouts.atoms.__file__).parent


def shelf(pattern: str) -> Mapping[str, AnyAtom]:
    return {atom.name: atom for path in FOLDER.rglob(pattern) for atom in load(path)}


WGMMA = shelf("sm90_wgmma*.toml")


def list_refuted(atom: AnyAtom) -> set[tuple[str, str]]:
    """(part, property) of every refuted claim; no two checks may disagree."""
    verdicts = AtomChecker(frozenset({Check.ISA, Check.PROOF})).verify(atom)
    assert not any(verdict.contradiction for verdict in verdicts)
    return {(v.claim.part, v.claim.prop.key) for v in verdicts if v.status is Status.REFUTED}


def verdict_on(atom: AnyAtom, part: str, prop: Property) -> Verdict:
    verdicts = AtomChecker(frozenset({Check.ISA, Check.PROOF})).verify(atom)
    return next(v for v in verdicts if (v.claim.part, v.claim.prop) == (part, prop))


def test_matrices_in_memory_are_seen_by_every_thread() -> None:
    atom = WGMMA["SM90_64x24x16_F32F16F16_SS"]
    assert "128 owners" in verdict_on(atom, "A", OWNERSHIP).claim.text
    assert "128 owners" in verdict_on(atom, "B", OWNERSHIP).claim.text


def test_bad_input_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (FOLDER / "sm120.toml").read_text(encoding="utf-8")
    wrong = tmp_path / "mine.toml"
    wrong.write_text(text.replace("source =", 'E = "((2,2,8),32):((8,512,1),16)"\nsource ='), encoding="utf-8")
    assert command.main(["--atoms", str(wrong)]) == 2
    assert "has no operand E" in capsys.readouterr().err
    assert command.main(["SM120_16x8x32_TN<float_e9m9_t, float_e2m1_t, float>"]) == 2
    output = capsys.readouterr().err
    assert "A = e9m9 is not one of e2m1, e3m2, e2m3, e4m3, e5m2" in output and len(output.splitlines()) == 1

# SPDX-License-Identifier: Apache-2.0
"""What follows from one wrong operand of an atom is told once, with the operand's name."""

from __future__ import annotations

import html
import json
import random
import re
from pathlib import Path

import pytest

from layouts.atoms import registry
from tests.verify.edits import edits, verify_entry
from tests.verify.evidence.test_cause import atom, blocks
from verify.atom.checker import AtomChecker
from verify.core.verdict import Check, Status
from verify.report import Report, as_html, as_json

SLOW = ("SM70_8x8x4_F32F16F16F32_NN", "SM90_64x16x16_F32F16F16_RS", "SM100_TMEM_LOAD_16dp256b1x_16b")
PLANTED = (
    "SM80_16x8x16_F32F16F16F32_TN", "SM75_U32x4_LDSM_N", *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW),
)  # fmt: skip
SINGLE = re.compile(r"\w+ (?:stride|extent|two strides)\b|thr$|copies")


@pytest.mark.long
@pytest.mark.parametrize("name", PLANTED)
def test_no_planted_mistake_of_an_atom_has_three_blocks(name: str, tmp_path: Path) -> None:
    """A wrong operand makes the product, what a GPU recorded and the other side of a copy wrong: that is told once."""
    take, counts = random.Random(22), {}
    for edit in edits(registry()[name], take):
        case = verify_entry(edit.name, edit.entry, tmp_path, AtomChecker(frozenset({Check.ISA, Check.GPU})))
        if not isinstance(case, str) and case.status in ("REFUTED", "RELABELLED"):
            counts[edit.what] = blocks(case)
            for claim in (v for v in case.verdicts if v.status is Status.REFUTED and not v.contradiction):
                assert claim.counterexample is not None and claim.counterexample.statement in case.text()
    assert len(counts) > 8 and max(counts.values()) <= 2, counts
    several = [what for what, count in counts.items() if SINGLE.match(what) and count > 1]
    assert len(several) <= 2, several


def test_what_follows_in_the_whole_atom_names_its_operand(tmp_path: Path) -> None:
    (case,) = atom(tmp_path, C="((4,8),(2,2)):((32,1),(16,16))").cases
    assert blocks(case) == 1 and "so too REFUTED A, B and D interact as recorded: " in case.text()
    (subject,) = json.loads(as_json.render(Report((case,))))["subjects"]
    (whole,) = [verdict for verdict in subject["verdicts"] if verdict["property"] == "relation"]
    assert (whole["part"], whole["cause"], whole["cause_part"]) == ("", "equals_isa", "C")
    assert "follows from C equals isa" in html.unescape(as_html.render(Report((case,))))
    two = atom(tmp_path, C="((4,8),(2,2)):((32,1),(16,16))", A="((4,8),(2,2,2)):((32,1),(16,16,128))").cases[0]
    assert not any(v.cause_part for v in two.verdicts)  # neither operand alone explains what was recorded

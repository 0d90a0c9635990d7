# SPDX-License-Identifier: Apache-2.0
"""Candidates: one stride or a swap where that is enough, checked at every point, else the ISA's own layout."""

from dataclasses import replace

import pytest

from layouts.atoms import registry
from verify.atom.checker import prepare_atom
from verify.binding.atom import prepare
from verify.evidence.layout_repair import find, wanted_table
from verify.mutate.score import sample_atoms

NAME = "SM80_16x8x16_F32F16F16F32_TN"


def repair(operand: str, text: str) -> str:
    atom = registry()[NAME]
    subject = prepare(replace(atom, operands=dict(atom.operands) | {operand: text}))
    part = next(p for p in subject.parts if p.name == operand)
    wanted = wanted_table(subject, part)
    assert wanted is not None
    return str(find(part, wanted))


@pytest.mark.parametrize(
    ("operand", "wrong", "words"),
    [
        (
            "C",
            "((4,8),(2,2)):((32,2),(16,8))",
            "one stride: ((4,8),(2,2)):((32,1),(16,8))      128 of 128 agree (now 16)",
        ),
        ("C", "((4,8),(2,2)):((1,32),(16,8))", "two strides swapped: ((4,8),(2,2)):((32,1),(16,8))"),
        ("A", "((4,8),(2,2,2)):((32,1),(8,16,128))", "two strides swapped: ((4,8),(2,2,2)):((32,1),(16,8,128))"),
        ("B", "((4,8),(2,2)):((16,1),(8,0))", "one stride: ((4,8),(2,2)):((16,1),(8,64))"),
        ("C", "((8,4),(2,2)):((16,2),(1,8))", "the ISA's layout: ((4,8),(2,2)):((32,1),(16,8))"),
        ("C", "(32,1):(1,0)", "the ISA's layout: ((4,8),(2,2)):((32,1),(16,8))"),
    ],
)
def test_the_repair_of_a_wrong_layout_is_said_in_words(operand: str, wrong: str, words: str) -> None:
    assert repair(operand, wrong).startswith(words)


def test_the_given_layout_is_no_candidate() -> None:
    subject = prepare(registry()[NAME])
    for part in subject.parts:
        wanted = wanted_table(subject, part)
        assert wanted is not None and find(part, wanted) is None


@pytest.mark.slow
def test_the_isas_layout_is_read_off_for_every_registered_operand() -> None:
    """With its strides zeroed no small repair exists; the candidate is then the layout of the registry."""
    count = 0
    for atom in sample_atoms(list(registry().values())):
        subject = prepare_atom(atom)
        for part in subject.parts:
            if part.layout is None or not part.formulas or subject.thr is None:
                continue
            trivial = part.of_layout(type(part.layout)((subject.threads, 1), (0, 0)))
            wanted = wanted_table(subject, part)
            assert wanted is not None
            candidate = find(trivial, wanted)
            assert (candidate is not None and candidate.how == "the ISA's layout") or part.values == 1
            count += part.values > 1
    assert count > 1100

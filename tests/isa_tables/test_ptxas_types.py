# SPDX-License-Identifier: Apache-2.0
"""The types that go together: of all combinations, ptxas accepts exactly those that the tables list."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cache

import pytest

from isa_tables import mnemonics, runs_on
from isa_tables.mnemonic import Said, list_parts
from isa_tables.schema import WIDTH
from isa_tables.signature import signature
from tests.cases import each
from tests.isa_tables.ptxas_types import FEW, PTX, RELEASE, TARGETS, Question, ask, questions, read
from tests.isa_tables.test_ptxas import MISSING, release

FAMILIES = ("mma.*", "wgmma.*", "wmma.*", "ldmatrix*", "stmatrix*", "movmatrix*", "dp4a", "dp2a", "tcgen05.ld.red*")
QUESTIONS = {question.mnemonic: question for question in questions()}
ANSWERS = read()


@cache
def list_instructions() -> dict[Said, frozenset[str]]:
    """Every instruction of the families with the targets that have it, by the tables."""
    names = {name for family in FAMILIES for name in mnemonics(family)}
    every = [signature(name) for name in names]
    known = [s for s in every if tuple(map(int, s.ptx.split("."))) <= tuple(map(int, PTX.split(".")))]
    return {list_parts(s.mnemonic): frozenset(t for t in TARGETS if runs_on(s, t)) for s in known}


def blank(key: Said) -> Said:
    """The parts of a mnemonic without its types."""
    return Said(key.head, tuple("*" if token in WIDTH else token for token in key.ordered), key.flags)


@cache
def listed_types() -> dict[Said, list[tuple[str, ...]]]:
    """The types of the listed instructions, by the rest of the mnemonic."""
    types: dict[Said, list[tuple[str, ...]]] = defaultdict(list)
    for key in list_instructions():
        types[blank(key)].append(tuple(token for token in key.ordered if token in WIDTH))
    return types


def by_tables(question: Question) -> dict[str, frozenset[str]]:
    """The combinations of a question that the tables list, with the targets."""
    every = list(question.combinations())
    if len(every) > FEW:
        every = [
            types
            for types in listed_types()[blank(list_parts(question.named(every[0])))]
            if len(types) == len(every[0])
        ]
    targets_of = {types: list_instructions().get(list_parts(question.named(types)), frozenset()) for types in every}
    return {"/".join(types): targets & set(question.only) for types, targets in targets_of.items() if targets}


def by_ptxas(question: Question) -> dict[str, frozenset[str]]:
    """The combinations of a question that ptxas accepted, with the targets."""
    return {types: frozenset(targets) for types, targets in ANSWERS[question.mnemonic].items()}


# What ptxas accepts and the ISA does not list: mnemonic, types and the ISA's text, which the tables follow.
TAKEN_ALONE = [
    (r"mma\.sync.*\.m8n8k4\.[^.]*\.[^.]*\.\{", r"f32/(bf16/bf16|tf32/tf32)/f32", "9.7.14.5.14: m8n8k4 has f16 and f64"),
    (r"mma\.sync.*\.(xor|and)\.popc", r"s32/[su]4/[su]4/s32", "9.7.14.5.14: a bit operation is of b1"),
    (
        r"mma\.sync.*\.m16n8k16\..*kind::f8f6f4",
        r"(f16|f32)/(e4m3|e5m2)/(e4m3|e5m2)/(f16|f32)",
        "9.7.14.5.14: .kind::f8f6f4 has m16n8k32",
    ),
    (r"mma\..*kind::f8f6f4", r"(f16|f32)/(e4m3|e5m2)/(e4m3|e5m2)/(f16|f32)", "9.7.14.5.14: .kind requires sm_120a"),
    (r"wmma\.mma\.sync.*\.m16n16k(16|8)\.", r"f64/f64/f64/f64", "9.7.14.4: f64 has m8n8k4"),
    (r"wmma\.mma\.sync", r"s32/(u4/u4|s4/s4)/s32", "9.7.14.4: u4 and s4 have m8n8k32"),
    (r"wmma\.(load\.c|store\.d).*\.m8n8k(32|128)\.", r"f32", "9.7.14.4: C and D of m8n8k32 and m8n8k128 are s32"),
]


def test_every_question_has_its_answer() -> None:
    assert ANSWERS.keys() == QUESTIONS.keys()
    assert (len(QUESTIONS), sum(map(len, ANSWERS.values()))) == (348, 713)


@pytest.mark.long
@each("mnemonic", QUESTIONS)
def test_the_tables_list_what_ptxas_takes_where_it_takes_it(mnemonic: str) -> None:
    ours, theirs = by_tables(QUESTIONS[mnemonic]), by_ptxas(QUESTIONS[mnemonic])
    assert {types for types, targets in ours.items() if targets - theirs.get(types, frozenset())} == set()
    more = {types for types, targets in theirs.items() if targets - ours.get(types, frozenset())}
    known = [types for where, types, _ in TAKEN_ALONE if re.match(where, mnemonic)]
    assert {types for types in more if not any(re.fullmatch(pattern, types) for pattern in known)} == set()


def test_each_disagreement_is_there() -> None:
    for where, types, _ in TAKEN_ALONE:
        disagreeing = [
            combination
            for mnemonic, question in QUESTIONS.items()
            if re.match(where, mnemonic)
            for combination, targets in by_ptxas(question).items()
            if re.fullmatch(types, combination) and targets - by_tables(question).get(combination, frozenset())
        ]
        assert disagreeing, where


# instructions without a question of their own -> the one that differs only in layouts, rounding, spaces or sizes
ALIKE = [
    (r"^(wmma\.mma.*)\.(row|col)\.(row|col)\.", r"\1.row.col."),
    (r"^(wmma\.mma.*m8n8k4)\.(rz|rm|rp)\.", r"\1.rn."),
    (r"^(mma\.sync.*)\.(rz|rm|rp)$", r"\1.rn"),
    (r"^(wmma\.(?:load|store).*)\.(m\d+n\d+k\d+)\.(row|col)", r"\1.\3.\2"),
    (r"^(wmma\.(?:load|store).*)\.(?:global|shared)\.", r"\1."),
    (r"^((?:ld|st)matrix.*)\.shared::cta\.", r"\1.shared."),
    (r"^((?:ld|st)matrix\.(?!.*\.shared\.).*?)\.(b8x16|b16|b8)", r"\1.shared.\2"),
    (r"^(wgmma.*)\.m64n\d+k", r"\1.m64n8k"),
    (r"^(tcgen05\.ld\.red.*)\.(?:32x32b|16x32bx2)\.x\d+", r"\1.32x32b.x2"),
]


def test_every_listed_instruction_is_checked() -> None:
    """By its own name or by that of one that differs only in layouts, rounding, spaces and sizes."""
    wanted = {list_parts(q.named(types.split("/"))) for q in QUESTIONS.values() for types in by_tables(q)}
    missing = []
    for name in (name for family in FAMILIES for name in mnemonics(family) if list_parts(name) in list_instructions()):
        alike = name
        for pattern, instead in ALIKE:
            alike = re.sub(pattern, instead, alike)
        if list_parts(alike) not in wanted:
            missing.append((name, alike))
    assert missing == []


ASSEMBLER = pytest.mark.skipif(MISSING is not None or release() != (13, 0), reason=f"needs ptxas {RELEASE}")


def neighbours(question: Question, taken: Iterable[str]) -> list[tuple[str, ...]]:
    """The combinations that are taken, and those that differ from one of them in one type."""
    accepted = {tuple(types.split("/")) for types in taken}
    near = {
        (*types[:place], word, *types[place + 1 :])
        for types in accepted
        for place, words in enumerate(question.types.values())
        for word in words
    }
    return sorted(accepted | near)


@ASSEMBLER
@pytest.mark.slow
@pytest.mark.xdist_group("ptxas")
@pytest.mark.parametrize("family", sorted({mnemonic.split(".")[0] for mnemonic in QUESTIONS}))
def test_ptxas_answers_as_it_did_about_what_it_takes_and_one_type_beside(family: str) -> None:
    wanted = [mnemonic for mnemonic in QUESTIONS if mnemonic.split(".")[0] == family and ANSWERS[mnemonic]]
    assert wanted
    for mnemonic in wanted:
        question, answers = QUESTIONS[mnemonic], ANSWERS[mnemonic]
        target = max(question.only, key=[t for targets in answers.values() for t in targets].count)
        taken = {types for types, targets in answers.items() if target in targets}
        assert {"/".join(types) for types in ask(question, target, neighbours(question, answers))} == taken


@ASSEMBLER
@pytest.mark.slow
@pytest.mark.xdist_group("ptxas")
@pytest.mark.parametrize(
    ("mnemonic", "target"),
    [
        ("mma.sync.aligned.m16n8k16.row.col.{D}.{A}.{B}.{C}", "sm_80"),
        ("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.{D}.{A}.{B}.{C}", "sm_120a"),
        ("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.{D}.{A}.{B}.{C}", "sm_120a"),
        ("mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.{D}.{A}.{B}.{C}.{S}", "sm_120a"),
        ("wgmma.mma_async.sync.aligned.m64n8k32.{D}.{A}.{B}", "sm_90a"),
        ("wmma.mma.sync.aligned.row.col.m16n16k16.{D}.{A}.{B}.{C}", "sm_75"),
        ("ldmatrix.sync.aligned.m16n16.x1.trans.shared.{R}", "sm_100a"),
    ],
)
def test_ptxas_answers_as_it_did_about_the_full_product(mnemonic: str, target: str) -> None:
    taken = {types for types, targets in ANSWERS[mnemonic].items() if target in targets}
    assert {"/".join(types) for types in ask(QUESTIONS[mnemonic], target)} == taken

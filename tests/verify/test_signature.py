# SPDX-License-Identifier: Apache-2.0
"""An atom's types and elements against those of the instruction that it names: each combination as a whole."""

from __future__ import annotations

from dataclasses import replace

import pytest

from layouts.atoms import Atom, registry
from verify.judgement import Court
from verify.verdict import Counterexample, Kind, Status, Verdict, Witness


def atom(name: str, **changes: object) -> Atom:
    (found,) = [registry()[full] for full in registry() if full == name or full.startswith(f"{name}<")][:1]
    assert isinstance(found, Atom)
    return replace(found, **changes)  # type: ignore[arg-type]


def signatures(judged: Atom) -> list[Verdict]:
    return [v for v in Court(frozenset({Witness.BOOK})).judge(judged) if v.claim.kind is Kind.SIGNATURE]


def told(judged: Atom) -> list[str]:
    """What is wrong with an atom's instruction, in the words of its counterexamples."""
    found: list[str] = []
    for verdict in signatures(judged):
        for evidence in verdict.evidence:
            if isinstance(evidence.counterexample, Counterexample):
                found += [evidence.counterexample.statement, *evidence.counterexample.damage]
    return found


def typed(name: str, d: str, a: str, b: str) -> Atom:
    return atom(name, types={"D": d, "A": a, "B": b, "C": d})


KIND_F16 = ["SM100_MMA_F16BF16_SS", "SM100_MMA_F16BF16_SS_SPARSE", "SM100_MMA_F16BF16_2x1SM_SS"]


@pytest.mark.parametrize("name", KIND_F16)
@pytest.mark.parametrize(
    "types", [("f16", "f16", "f16"), ("f32", "f16", "f16"), ("f32", "bf16", "bf16"), ("f32", "f16", "bf16")]
)
def test_types_that_go_together_stand(name: str, types: tuple[str, str, str]) -> None:
    assert told(typed(name, *types)) == []
    assert {verdict.status for verdict in signatures(typed(name, *types))} == {Status.PROVED}


@pytest.mark.parametrize("name", KIND_F16)
@pytest.mark.parametrize(
    ("types", "nearest"),
    [
        (("f16", "bf16", "bf16"), "D f32, A bf16, B bf16"),
        (("f16", "bf16", "f16"), "D f16, A f16, B f16; or D f32, A bf16, B f16"),
        (("f16", "f16", "bf16"), "D f16, A f16, B f16; or D f32, A f16, B bf16"),
    ],
)
def test_types_that_the_instruction_has_one_by_one_but_not_together_are_refuted(
    name: str, types: tuple[str, str, str], nearest: str
) -> None:
    d, a, b = types
    ours = f"D {d}, A {a}, B {b} do not go together in this instruction; nearest that do: {nearest}"
    assert told(typed(name, *types)) == [ours]
    assert Status.REFUTED in {verdict.status for verdict in signatures(typed(name, *types))}


def test_a_type_that_the_instruction_has_nowhere_is_told_by_itself() -> None:
    assert told(typed("SM100_MMA_F16BF16_SS", "f64", "bf16", "s8")) == [
        "D is f64, the instruction's is f16 or f32",
        "B is s8, the instruction's is f16 or bf16",
    ]
    assert told(typed("SM80_16x8x16_F32F16F16F32_TN", "f32", "f16", "bf16")) == ["B is bf16, the instruction's is f16"]

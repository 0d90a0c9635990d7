# SPDX-License-Identifier: Apache-2.0
"""An atom's types and elements against those of the instruction that it names: each combination as a whole."""

from __future__ import annotations

from dataclasses import replace

import pytest

from layouts.atoms import Atom, registry
from verify.atom.checker import AtomChecker
from verify.atom.properties import SIGNATURE
from verify.core.verdict import Check, Counterexample, Status, Verdict


def atom(name: str, **changes: object) -> Atom:
    (chosen,) = [registry()[full] for full in registry() if full == name or full.startswith(f"{name}<")][:1]
    assert isinstance(chosen, Atom)
    return replace(chosen, **changes)  # type: ignore[arg-type]


def signatures(atom: Atom) -> list[Verdict]:
    return [v for v in AtomChecker(frozenset({Check.ISA})).verify(atom) if v.claim.prop == SIGNATURE]


def faults(atom: Atom) -> list[str]:
    """What is wrong with an atom's instruction, in the words of its counterexamples."""
    statements: list[str] = []
    for verdict in signatures(atom):
        for evidence in verdict.evidence:
            if isinstance(evidence.counterexample, Counterexample):
                statements += [evidence.counterexample.statement, *evidence.counterexample.damage]
    return statements


def make_typed(name: str, d: str, a: str, b: str) -> Atom:
    return atom(name, types={"D": d, "A": a, "B": b, "C": d})


KIND_F16 = ["SM100_MMA_F16BF16_SS", "SM100_MMA_F16BF16_SS_SPARSE", "SM100_MMA_F16BF16_2x1SM_SS"]


@pytest.mark.parametrize("name", KIND_F16)
@pytest.mark.parametrize(
    "types", [("f16", "f16", "f16"), ("f32", "f16", "f16"), ("f32", "bf16", "bf16"), ("f32", "f16", "bf16")]
)
def test_types_that_go_together_are_verified(name: str, types: tuple[str, str, str]) -> None:
    assert faults(make_typed(name, *types)) == []
    assert {verdict.status for verdict in signatures(make_typed(name, *types))} == {Status.PROVED}


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
    assert faults(make_typed(name, *types)) == [ours]
    assert Status.REFUTED in {verdict.status for verdict in signatures(make_typed(name, *types))}


def test_a_type_that_the_instruction_does_not_have_is_reported_alone() -> None:
    assert faults(make_typed("SM100_MMA_F16BF16_SS", "f64", "bf16", "s8")) == [
        "D is f64, the instruction's is f16 or f32",
        "B is s8, the instruction's is f16 or bf16",
    ]
    assert faults(make_typed("SM80_16x8x16_F32F16F16F32_TN", "f32", "f16", "bf16")) == [
        "B is bf16, the instruction's is f16"
    ]


F64 = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"
REAL = "SM80_8x8x4_F64F64F64F64_TN"


def complex_atom(times: int, **components: int) -> Atom:
    """An f64 atom whose elements are of so many numbers, and which issues its instruction so many times."""
    return atom(REAL, ptx=(F64,) * times, element={name: f"{count}xf64" for name, count in components.items()})


@pytest.mark.parametrize(
    ("components", "least", "most"),
    [
        ({"D": 2, "A": 2, "B": 2, "C": 2}, 2, 4),  # a complex product, of up to a * b real ones
        ({"D": 3, "A": 2, "B": 2, "C": 3}, 3, 4),  # Gauss's three products
        ({"D": 2, "A": 2, "C": 2}, 2, 2),  # complex times real
        ({"D": 3, "B": 3, "C": 3}, 3, 3),
    ],
)
def test_a_product_of_elements_of_several_numbers_takes_so_many_instructions(
    components: dict[str, int], least: int, most: int
) -> None:
    for times in range(1, most + 3):
        said = [text for text in faults(complex_atom(times, **components)) if "instructions" in text]
        wrong = f"elements of {components} components take {least} to {most} instructions, the atom issues {times}"
        assert said == ([] if least <= times <= most else [wrong])


def test_one_instruction_that_sums_over_the_components_is_enough_for_a_real_accumulator() -> None:
    (name,) = [full for full in registry() if full.startswith("SM100_MMA_F16BF16_SS_SCALED<complex<half_t>")][:1]
    assert faults(atom(name)) == []
    (mnemonic,) = registry()[name].ptx or ()
    three = faults(atom(name, ptx=(mnemonic,) * 5))
    assert "elements of {'A': 2, 'B': 2} components take 2 to 4 instructions, the atom issues 5" in three


@pytest.mark.parametrize(
    ("components", "c", "d"),
    [({"D": 2, "A": 2, "B": 2}, 1, 2), ({"C": 2, "A": 2, "B": 2}, 2, 1), ({"C": 3, "D": 2, "A": 2, "B": 2}, 3, 2)],
)
def test_an_accumulator_has_as_many_components_in_as_out(components: dict[str, int], c: int, d: int) -> None:
    wrong = f"an element of C has {c} components, of D {d}"
    assert [text for text in faults(complex_atom(4, **components)) if text.startswith("an element of")] == [wrong]


@pytest.mark.parametrize(
    "element", ["f64", "2f64", "2x", "2xf32", "0xf64", "02xf64", "2xf64 ", "x2xf64", "-2xf64", "2xf64x2", "2xf6"]
)
def test_an_element_is_a_number_of_elements_of_the_type(element: str) -> None:
    wrong = f"an element of B is {element}, its type f64"
    statements = faults(atom(REAL, element={"B": element}))
    assert [text for text in statements if text.startswith("an element of") or "components" in text] == [wrong]
    both = faults(atom(REAL, element={"A": "2xf64", "B": element}))
    assert wrong in both and not any("components" in text for text in both)


def test_elements_of_ten_numbers_are_read() -> None:
    tenfold = {"D": 10, "A": 10, "C": 10}
    assert not any("components" in text for text in faults(complex_atom(10, **tenfold)))
    assert any("take 10 to 10 instructions" in text for text in faults(complex_atom(11, **tenfold)))


def test_an_instruction_that_is_issued_twice_needs_elements_of_several_numbers() -> None:
    said = [text for text in faults(atom(REAL, ptx=(F64,) * 2)) if "issues" in text]
    assert f"the atom issues {F64} 2 times, its elements take it once" in said
    assert faults(atom(REAL)) == []


def test_the_most_frequent_of_two_repeated_instructions_is_reported() -> None:
    wider = F64.replace("m8n8k4", "m16n8k4")
    evidence = [e for v in signatures(atom(REAL, ptx=(wider, F64, F64, F64, wider))) for e in v.evidence]
    said = [[e.counterexample.statement, *e.counterexample.damage] for e in evidence if e.counterexample]
    assert said
    for faults in said:
        assert [text for text in faults if "issues" in text] == [
            f"the atom issues {F64} 3 times, its elements take it once"
        ]


@pytest.mark.long
@pytest.mark.parametrize(("scales", "right"), [("ue8m0", True), ("ue4m3", True), ("e4m3", False)])
def test_a_type_of_scale_factors_that_a_descriptor_chooses_is_the_atoms(scales: str, right: bool) -> None:
    entry = atom("SM100_MMA_MXF4_SS")
    m, n, k = entry.shape
    scaled = replace(
        entry,
        ptx=("tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16",),
        types={**entry.types, "SFA": scales, "SFB": scales},
        operands={**entry.operands, "SFA": f"(1,({m},{k})):(0,(1,{m}))", "SFB": f"(1,({n},{k})):(0,(1,{n}))"},
        space={**entry.space, "SFA": "tmem", "SFB": "tmem"},
    )
    assert any(text.startswith("SFA is") for text in faults(scaled)) is not right

# SPDX-License-Identifier: Apache-2.0
"""Floats that are data become integers: `floor`, `trunc` and `rint` of the claim, within a range or clamped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.verify.kernel.test_clamps import read_note, run_body
from tests.verify.kernel.test_lanes import tell
from tests.verify.kernel.test_signs_and_clamps import TEXT
from verify.core.errors import SpecError
from verify.kernel.check import check
from verify.kernel.claims.claim import claim_of

CEILING = "0 - floor(0 - A[i])"
BYTE = "min(max(rint(A[i]), 0-128), 127)"
TO_BYTE = "cvt.rni.sat.s8.f32 z,x;"
ACROSS = "no value is rounded across an integer"


@pytest.mark.long
@pytest.mark.parametrize(
    ("rounding", "value", "wrong"),
    [
        ("rni", "rint(A[i])", "floor(A[i])"), ("rzi", "trunc(A[i])", "floor(A[i])"),
        ("rmi", "floor(A[i])", "trunc(A[i])"), ("rpi", CEILING, "rint(A[i])"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("target", ["f32", "s32"])
def test_a_conversion_rounds_to_an_integer_as_it_says(rounding: str, value: str, wrong: str, target: str) -> None:
    keys = {"range": [-7.5, 7.5], "samples": {name: np.linspace(-7.5, 7.5, 32) for name in "AB"}}
    body = f"cvt.{rounding}.{target}.f32 z,x;"
    outcome = run_body(body, value, out=target, **keys)
    assert (outcome.status, outcome.findings) == ("VERIFIED", ()), tell(outcome)
    assert "; A from -7.5 to 7.5" in outcome.domain and ACROSS not in read_note(outcome)
    assert run_body(body, wrong, out=target, **keys).status == "REFUTED"
    assert run_body(body, "A[i]", out=target, **keys).status == "REFUTED"
    assert run_body(
        f"mul.f32 x,x,0f40400000; {body}", value.replace("A[i]", "(3 * A[i])"), out=target, **keys
    ).status == ("VERIFIED")
    assert ACROSS in read_note(run_body(f"add.f32 x,x,y; {body}", value, out=target, **keys))


@pytest.mark.parametrize(
    ("body", "value", "out", "right", "wider"),
    [
        ("cvt.rzi.s32.f32 z,x;", "trunc(A[i])", "s32", [-2147483648, 2147483000], [-2147483648, 2147483648]),
        ("cvt.rzi.u32.f32 z,x;", "trunc(A[i])", "u32", [-0.5, 4294967040], [-1, 7]),
        ("cvt.rni.sat.s8.f32 z,x;", "rint(A[i])", "s8", [-128.25, 127.25], [-128.25, 127.75]),
        ("cvt.rmi.u8.f32 z,x;", "floor(A[i])", "u8", [0, 255.5], [-0.5, 1]),
    ],
)
def test_an_integer_out_of_a_float_needs_its_range(
    body: str, value: str, out: str, right: list[float], wider: list[float]
) -> None:
    """It is clamped to its type: the identity within a range, and UNKNOWN with the line and the range without."""
    outcome = run_body(body, value, out=out, range=right)
    assert (outcome.status, outcome.findings) == ("VERIFIED", ()), tell(outcome)
    for keys in ({"range": wider}, {}):
        outcome = run_body(body, value, out=out, samples={name: np.ones(32) for name in "AB"}, **keys)
        assert outcome.status == "UNKNOWN", tell(outcome)
        assert outcome.findings[0].line or "line 8" in tell(outcome)
        assert "`range`" in tell(outcome) and ("it lies from" if keys else "it has no bound") in tell(outcome)


def test_a_claim_that_has_the_ends_of_the_type_needs_no_range() -> None:
    assert run_body(TO_BYTE, BYTE, out="s8").status == "VERIFIED"
    assert run_body(TO_BYTE, BYTE.replace("127", "126"), out="s8").status != "VERIFIED"
    far = {name: np.full(32, 300.0) for name in "AB"}
    assert run_body(TO_BYTE.replace("s8", "u8"), BYTE, out="s8", samples=far).status != "VERIFIED"


@pytest.mark.parametrize("given", [[0, 1], [-0.5, 0.25], [2.5, 2.5], [-1e30, 1e30]])
def test_floats_are_drawn_from_their_range(given: list[float]) -> None:
    outcome = run_body("mov.b32 z,x;", "A[i]", range=given)
    drawn = outcome.output["C"]
    assert outcome.status == "VERIFIED" and (drawn >= given[0]).all() and (drawn <= given[1]).all()
    assert len(np.unique(drawn)) > 1 or given[0] == given[1]


def test_a_range_bounds_what_floats_become() -> None:
    """A clamp that the range makes the identity, and no note on what lies beyond the narrow format."""
    clamp = "cvt.sat.f32.f32 z,x;"
    assert run_body(clamp, "A[i]", range=[0, 1]).status == "VERIFIED"
    assert run_body(clamp, "A[i]", range=[0, 1.5]).status != "VERIFIED"
    narrow = "cvt.rn.satfinite.f16.f32 h,x;"
    assert "satfinite" not in read_note(run_body(narrow, "A[i]", out="f16", range=[-9, 9]))
    assert "satfinite" in read_note(run_body(narrow, "A[i]", out="f16", range=[-9, 1e6]))


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        ("f32", [1, 0], "the least first"), ("f32", [0, float("inf")], "the least first"),
        ("f32", [float("nan"), 1], "the least first"), ("f16", [0, 65505], "from -65504 to 65504"),
        ("f32", [0, "1"], "expected the least"), ("f32", [True, 1], "expected the least"),
        ("f32", 3, "expected the least"),
    ],
)  # fmt: skip
def test_a_range_of_floats_that_is_none_is_one_line(kind: str, given: Any, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        arrays = {"A": {"dims": "i", "type": kind, "range": given}, "C": {"dims": "i", "type": kind, "out": True}}
        claim_of({"grid": 1, "block": 32, "sizes": {"I": 32}, "claim": "C[i] = A[i]", "params": ["A", "C"],
                  "arrays": arrays})  # fmt: skip


def test_samples_lie_within_the_range() -> None:
    with pytest.raises(SpecError, match=r"expected numbers from 0 to 1$"):
        run_body("mov.b32 z,x;", "A[i]", range=[0, 1], samples={"A": np.full(32, 2.0)})


# x is a number of A, as f32, and goes through another format.
LOADS = {"f16": "ld.global.b16 h,[pa]; cvt.f32.f16 x,h;", "bf16": "ld.global.b16 h,[pa]; cvt.f32.bf16 x,h;"}
THROUGH = {
    "f16": "cvt.rn.f16.f32 h,x; cvt.f32.f16 z,h;",
    "bf16": "cvt.rn.bf16.f32 h,x; cvt.f32.bf16 z,h;",
    "tf32": "cvt.rna.tf32.f32 z,x;",
}


@pytest.mark.parametrize("doubled", [False, True])
@pytest.mark.parametrize(
    ("kind", "way", "exact"),
    [
        ("f16", "f16", True), ("bf16", "tf32", True), ("tf32", "tf32", True), ("bf16", "bf16", True),
        ("bf16", "f16", False), ("f16", "bf16", False), ("f32", "tf32", False), ("tf32", "f16", False),
    ],
)  # fmt: skip
def test_what_comes_from_a_format_goes_back_to_it_unrounded(kind: str, way: str, exact: bool, doubled: bool) -> None:
    load = f"mul.wide.u32 o,i,{2 if kind in LOADS else 4}; ld.param.u64 pa,[a]; add.u64 pa,pa,o;\n"
    load += LOADS.get(kind, "ld.global.b32 x,[pa];")
    text = TEXT.replace("ld.global.b32 x,[pa]; ld.global.b32 y,[pb];", load)
    text = text.replace("BODY", THROUGH[way] + ("add.f32 z,z,z;" if doubled else ""))
    arrays = {name: {"dims": "i", "type": "f32" if name == "C" else kind, "out": name == "C"} for name in "ABC"}
    table = {"grid": 1, "block": 32, "sizes": {"I": 32}, "params": ["A", "B", "C"], "arrays": arrays}
    (outcome,) = check(text, claim_of(table | {"claim": f"C[i] = {'2 * ' * doubled}A[i]"}), seed=1)
    assert outcome.status == ("VERIFIED" if exact else "REFUTED"), outcome.findings
    if not exact:
        (words,) = [finding.text for finding in outcome.findings if finding.kind == "narrowing"]
        remedy = 'type = "tf32" of A and B' if (kind, way) == ("f32", "tf32") else f'accumulate = "{way}"'
        assert words.endswith(f"says {remedy}")

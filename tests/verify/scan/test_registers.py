# SPDX-License-Identifier: Apache-2.0
"""Declared arrays of registers against what fma() or copy() and the asm strings take: planted faults, no alarms."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

Scan = Callable[..., tuple[int, str]]


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        (
            "ARegisters = uint32_t[4]",
            "ARegisters = uint32_t[5]",
            11,
            "uint32_t[5], the assembly takes uint32_t[4]: a0,",
        ),
        (
            "ARegisters = uint32_t[4]",
            "ARegisters = uint32_t[3]",
            11,
            "uint32_t[3], the assembly takes uint32_t[4]: a0,",
        ),
        (
            "BRegisters = uint32_t[2]",
            "BRegisters = uint64_t[2]",
            12,
            "uint64_t[2], the assembly takes uint32_t[2]: b0,",
        ),
        ("CRegisters = float[4]", "CRegisters = float[2 * 4]", 13, "float[8], the assembly takes float[4]: c0, c1, c2"),
        ("DRegisters = float[4]", "DRegisters = uint32_t[4]", 10, "uint32_t[4], the assembly takes float[4]: d0, d1"),
        ("DRegisters = float[4]", "DRegisters = void", 10, "void, the assembly takes float[4]: d0, d1, d2, d3"),
        ("SRegisters = uint128_t[1]", "SRegisters = uint128_t[2]", 28, "uint128_t[2], copy() has 1 of them: source"),
        ("SRegisters = uint128_t[1]", "SRegisters = uint32_t[1]", 28, "uint32_t[1], copy() takes source as uint128_t"),
        ("SRegisters = uint128_t[1]", "SRegisters = uint128_t[0]", 28, "uint128_t[0], an array has at least 1"),
        ("DRegisters = uint32_t[4]", "DRegisters = uint32_t[2]", 29, "uint32_t[2], the assembly takes uint32_t[4]: d0"),
        ("DRegisters = uint32_t[4]", "DRegisters = float[4]", 29, "float[4], the assembly takes uint32_t[4]: d0, d1"),
    ],
)
def test_a_declared_array_that_the_assembly_does_not_take_is_refuted_at_its_line(
    scan: Scan, old: str, new: str, line: int, said: str
) -> None:
    code, printed = scan(mma=(old, new))
    assert code == 1 and f"arch/mma_own.hpp:{line}:3:" in printed
    assert f"{new.partition(' ')[0]} is {said}" in printed and "1 refuted" in printed


def test_arrays_of_a_and_b_exchanged_are_both_named_and_repaired(scan: Scan) -> None:
    code, printed = scan(
        mma=(
            "ARegisters = uint32_t[4];\n  using BRegisters = uint32_t[2]",
            "ARegisters = uint32_t[2];\n  using BRegisters = uint32_t[4]",
        )
    )
    assert code == 1 and "ARegisters is uint32_t[2], the assembly takes uint32_t[4]: a0, a1, a2, a3" in printed
    assert "mma_own.hpp:12:3: BRegisters is uint32_t[4], the assembly takes uint32_t[2]: b0, b1" in printed
    assert "repair using ARegisters = uint32_t[4]; using BRegisters = uint32_t[2];" in " ".join(printed.split())


def find_declared(scan: Scan, operation: str) -> dict | None:
    """The verdict on the arrays of one more operation in the example headers; None where there is none."""
    _, printed = scan("--format", "json", mma=("}  // namespace own", operation + "}  // namespace own"))
    cases = [case for case in json.loads(printed)["subjects"] if case["name"] == "OP"]
    verdicts = [
        verdict for case in cases for verdict in case["verdicts"] if verdict["property"] == "declared_registers"
    ]
    return verdicts[0] if verdicts else None


TYPED = """struct OP { using DRegisters = KIND[1]; using SRegisters = KIND[1];
  static void copy(KIND const& s, KIND& d) {
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(d) : "r"(s)); } };
"""
FLOAT = TYPED.replace('"=r"', '"=f"')
SCALED = """template <int VS> struct OP { using Bits = uint_bit_t<VS == 32 ? 16 : 32>; using SFBRegisters = KIND[1];
  using DRegisters = float[4]; using ARegisters = uint32_t[4]; using BRegisters = uint32_t[2];
  using CRegisters = float[4]; static void fma(float& d0, float& d1, float& d2, float& d3,
      uint32_t const& a0, uint32_t const& a1, uint32_t const& a2, uint32_t const& a3, uint32_t const& b0,
      uint32_t const& b1, float const& c0, float const& c1, float const& c2, float const& c3, Bits const& sfa0,
      uint8_t const& sfb0) {
    asm volatile("mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e4m3.f32.ue8m0 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13}, {%14}, {%15, %16}, {%17}, {%18, %19};"
      : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "f"(c0),
      "f"(c1), "f"(c2), "f"(c3), "r"(uint32_t(sfa0)), "h"(one), "h"(two), "r"(uint32_t(sfb0)), "h"(one), "h"(two)); } };
"""
IN_PLACE = """struct OP { using DRegisters = KIND; using ARegisters = uint64_t[1]; using BRegisters = uint64_t[1];
  using CRegisters = float[4]; static void fma(uint64_t const& a, uint64_t const& b, float& d0, float& d1, float& d2,
    float& d3, Out const scale = Out::One) {
    asm volatile("{.reg .pred p;\\nsetp.ne.b32 p, %6, 0;\\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0;\\n}\\n"
      : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "l"(a), "l"(b), "r"(int32_t(scale))); } };
"""
RESULTS = """struct OP { using SRegisters = uint32_t[1]; using DRegisters = uint32_t[KIND];
  static void copy(uint32_t const& s, uint32_t& d0, uint32_t& d1, float& row_max) {
    asm volatile("tcgen05.ld.red.sync.aligned.32x32b.x2.max.f32 {%0, %1}, %2, [%3];"
      : "=r"(d0), "=r"(d1), "=f"(row_max) : "r"(s)); } };
"""


@pytest.mark.parametrize(
    ("operation", "kind", "said"),
    [
        (TYPED, "uint32_t", ""),
        (TYPED, "uint64_t", 'SRegisters is uint64_t[1], the assembly takes s as "r", a register of 32 bits'),
        (FLOAT, "uint32_t", 'DRegisters is uint32_t[1], the assembly takes d as "=f", a register of float'),
        (FLOAT, "float", ""),
        (TYPED, "float", ""),  # its bits
        (SCALED, "uint8_t", ""),
        (SCALED, "uint16_t", "SFBRegisters is uint16_t[1], the assembly takes uint8_t[1]: sfb0"),
        (IN_PLACE, "void", ""),
        (IN_PLACE, "float[4]", "DRegisters is float[4], fma() has 1 of them: scale"),
        (RESULTS, "2", ""),
        (RESULTS, "3", "DRegisters is uint32_t[3], the assembly takes uint32_t[2]: d0, d1"),
    ],
)
def test_each_form_of_an_operation_is_compared_with_its_arrays(
    scan: Scan, operation: str, kind: str, said: str
) -> None:
    verdict = find_declared(scan, operation.replace("KIND", kind))
    assert verdict is not None and verdict["status"] == ("REFUTED" if said else "PROVED")
    assert not said or verdict["counterexample"]["statement"] == said


@pytest.mark.parametrize(
    ("kind", "repair"),
    [
        ("uint32_t", "using SRegisters = uint32_t[1]; using DRegisters = uint32_t[1];"),
        ("uint64_t", None),  # the parameters have a type that the assembly doesn't take: no array is right
    ],
)
def test_an_array_is_repaired_if_all_is_verified_with_it(scan: Scan, kind: str, repair: str | None) -> None:
    verdict = find_declared(scan, TYPED.replace("KIND[1]", "KIND[2]").replace("KIND", kind))
    assert verdict is not None and verdict["status"] == "REFUTED"
    assert verdict["counterexample"]["repair"] == repair


@pytest.mark.parametrize(
    ("operation", "status"),
    [
        (TYPED.replace("KIND[1]", "int32_t[1]").replace("KIND", "uint32_t"), "PROVED"),  # the same bits
        ("template <class T> " + TYPED.replace("KIND", "T"), "PROVED"),  # by their number
        (TYPED.replace("KIND[1]", "float[size()]").replace("KIND", "uint32_t"), ""),  # cannot be read
        (TYPED.replace("Registers", "Others").replace("KIND", "uint32_t"), ""),  # none is declared
        (RESULTS.replace("[KIND]", "[9]").replace("asm volatile", "nothing"), ""),  # no assembly
        (IN_PLACE.replace("KIND", "void").replace("m64n8", "m64n9"), ""),  # not of the ISA
        (IN_PLACE.replace("KIND", "void").replace('"wgmma', '"wgmma.mma_async.x; wgmma'), ""),  # two instructions
    ],
)
def test_what_cannot_be_compared_with_an_array_is_no_alarm(scan: Scan, operation: str, status: str) -> None:
    verdict = find_declared(scan, operation)
    assert verdict["status"] == status if verdict else not status

# SPDX-License-Identifier: Apache-2.0
"""A mnemonic that the ISA lacks is refuted at its own line and column, whatever else of the operation can be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.verify.scan.test_command import ONE, PERMUTED
from verify.scan.command import main

Scan = Callable[..., tuple[int, str]]
TEMPLATE = """namespace cute {
template <class A, class B, class C> struct OP {};
template <> struct OP<float_e2m3_t, float_e4m3_t, half_t> {
  using DRegisters = uint32_t[2];
  static void fma(uint32_t& d0, uint32_t& d1, uint32_t const& a0, uint32_t const& a1, uint32_t const& a2,
                  uint32_t const& a3, uint32_t const& b0, uint32_t const& b1, uint32_t const& c0, uint32_t const& c1) {
    asm volatile(
      "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f16.e2m3.e4m3.f16 "
      "{%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};\\n"
      : "=r"(d0), "=r"(d1)
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "r"(c0), "r"(c1));
  }
};
template <class A, class B, class C> struct MMA_Traits<OP<A, B, C>> {
  using ValTypeD = C; using ValTypeA = uint8_t; using ValTypeB = uint8_t; using ValTypeC = C;
  using Shape_MNK = Shape<_16, _8, _32>;
  using ThrID = Layout<_32>;
  using ALayout = Layout<Shape<Shape<_4,_8>,Shape<_4,_2,_2>>, Stride<Stride<_64,_1>,Stride<_16,_8,_256>>>;
  using BLayout = Layout<Shape<Shape<_4,_8>,Shape<_4,_2>>, Stride<Stride<_32,_1>,Stride<_8,_128>>>;
  using CLayout = Layout<Shape<Shape<_4,_8>,Shape<_2,_2>>, Stride<Stride<_32,_1>,Stride<_16,_8>>>;
};
}
"""
TMA = """namespace cute {
struct LOAD {
  static void copy(void const* source, void* target) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(target), "l"(source));
  }
};
template <> struct Copy_Traits<LOAD> {
  using ThrID = Layout<_1>;
  using SrcLayout = Layout<Shape<_1, _128>>; using DstLayout = Layout<Shape<_1, _128>>; using RefLayout = SrcLayout;
};
struct ALONE {
  static void copy(void const* source, uint32_t& target) {
    asm volatile("ld.global.b32 %0, [%1];" : "=r"(target) : "l"(source));
  }
};
}
"""
HEADERS = {"template": TEMPLATE, "adapter": ONE.replace("PERMUTED", PERMUTED), "memory": TMA}


def scan_changed(
    name: str, old: str, new: str, folder: Path, capsys: pytest.CaptureFixture[str], *options: str
) -> tuple[int, str]:
    """The exit code and the report on a header in which a text that stands once is replaced."""
    text = HEADERS[name]
    assert text.count(old) == 1
    path = folder / "mma_traits_own.hpp"
    path.write_text(text.replace(old, new))
    code = main([str(path), *options])
    return code, " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("name", HEADERS)
def test_the_headers_are_right(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mma_traits_own.hpp").write_text(HEADERS[name])
    assert main([str(tmp_path)]) == 0


@pytest.mark.parametrize(
    ("name", "old", "new", "at", "why"),
    [
        ("template", ".row.col", ".col.row", "8:8", "the ISA has no such mma.sync.kind::f8f6f4 instruction"),
        ("template", "mma.sync", "mma.sink", "8:8", "the ISA has no such mma instruction"),
        ("template", "mma.sync", "mmma.sync", "8:8", "PTX has no instruction of this name"),
        ("template", "m16n8k32", "m16n8k31", "8:8", "the ISA has no such"),
        ("template", "kind::f8f6f4.", "", "8:8", "the ISA has no such mma.sync instruction"),
        ("adapter", "x1.trans", "x1", "5:19", "the ISA has no such ldmatrix.sync instruction"),
        ("adapter", "ldmatrix", "ldmatrux", "5:19", "PTX has no instruction of this name"),
        ("memory", "cp.async.cg.shared.global", "cp.async.cg.global.shared", "4:19", "rejects the order of its words"),
        ("memory", "cp.async.cg", "cp.asink.cg", "4:19", "PTX has no instruction of this name"),
        ("memory", "ld.global", "lod.global", "13:19", "PTX has no instruction of this name"),
    ],
)
def test_a_mnemonic_that_the_isa_lacks_is_refuted_where_it_stands(
    name: str, old: str, new: str, at: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, printed = scan_changed(name, old, new, tmp_path, capsys, "--allow-unchecked")
    assert code == 1 and why in printed
    assert f"mma_traits_own.hpp:{at}: " in printed and "REFUTED" in printed


def test_a_mnemonic_split_over_strings_has_the_place_of_its_beginning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = '"mma.sync.aligned."  // "kind"\n "kind::f8f6f4.m16n8k33.row.col.f16.e2m3.e4m3.f16 "'
    code, printed = scan_changed(
        "template", '"mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f16.e2m3.e4m3.f16 "', new, tmp_path, capsys
    )
    assert code == 1 and "mma_traits_own.hpp:8:8: " in printed and "m16n8k33" in printed


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('"mma.sync', 'PREFIX "mma.sync', "its asm string is not text alone: PREFIX"),
        ('"mma.sync', 'R"(mma.sync', "its asm string is not text alone: R"),
        (
            "mma.sync.aligned",
            "tcgen05.shift.cta_group::1.down [%0];mma.sync.aligned",
            "tcgen05.shift.cta_group::1.down",
        ),
        ("{%8, %9};", "{%8, %[c1]};", "operands that have names"),
    ],
)
def test_assembly_that_is_not_read_is_listed(
    old: str, new: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, printed = scan_changed("template", old, new, tmp_path, capsys)
    assert code == 4 and why in printed and "mma_traits_own.hpp:" in printed


@pytest.mark.parametrize(
    ("old", "new", "place", "fault"),
    [
        ('"r"(a2), "r"(a3)', '"r"(a2), "r"(a2)', "22:47", "a2 is given twice"),
        ('"r"(a2), "r"(a3)', '"r"(a3), "r"(a2)', "22:47", "the registers a0, a1, a3, a2 are not in order"),
        ("{%8, %9}", "{%8, %8}", "20:60", "%8 is used 2 times"),
        ("{%8, %9}", "{%9, %8}", "20:55", "{%9, %8} is not in order"),
        ("{%8, %9}", "{%8, %19}", "20:60", "%19 names no operand: there are 14"),
    ],
)
def test_a_fault_in_the_operands_has_its_own_line(scan: Scan, old: str, new: str, place: str, fault: str) -> None:
    code, printed = scan(mma=(old, new))
    assert code == 1 and fault in printed and f"arch/mma_own.hpp:{place}: " in printed


@pytest.mark.parametrize("threads", ["-(0 - 32)", "+32", "~(0 - 33)", "32 * !0"])
def test_a_number_with_a_sign_before_it_is_computed(
    threads: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = "ThrID = Layout<_32>"
    assert scan_changed("template", old, f"ThrID = Layout<Int<{threads}>>", tmp_path, capsys)[0] == 0
    code, printed = scan_changed("template", old, f"ThrID = Layout<Int<{threads} - 16>>", tmp_path, capsys)
    assert code != 0, printed

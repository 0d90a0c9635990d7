# SPDX-License-Identifier: Apache-2.0
"""`ValID` gives each bit of a tile its address in Tensor Memory: compared with the ISA, or listed as not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.scan.command import main

LOAD = """namespace TMEM { using DP_b = cute::constant<int32_t, (1 << 21)>; }
namespace cute {
struct LOAD {
  static void copy(uint32_t const& source, uint32_t& d0, uint32_t& d1, uint32_t& d2, uint32_t& d3) {
    asm volatile("tcgen05.ld.sync.aligned.16x256b.x1.b32 {%0, %1, %2, %3}, [%4];"
      : "=r"(d0), "=r"(d1), "=r"(d2), "=r"(d3) : "r"(source));
  }
};
template <> struct Copy_Traits<LOAD> {
  using ThrID = Layout<_32>;
  using ValID = Layout<Shape<_256, _16>, Stride<_1, TMEM::DP_b>>;
  using SrcLayout = Layout<Shape<_32, _4096>, Stride<_0, _1>>;
  using DstLayout = Layout<Shape<Shape<_4, _8>, Shape<_64, _2>>, Stride<Stride<_64, _256>, Stride<_1, _2048>>>;
  using RefLayout = SrcLayout;
};
}
"""
HALVES = """namespace cute {
struct LOAD {
  static void copy(uint32_t const& source, uint32_t& d0) {
    asm volatile("tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%0}, [%1], 1;" : "=r"(d0) : "r"(source));
  }
};
template <> struct Copy_Traits<LOAD> {
  using ThrID = Layout<_32>;
  using ValID = Layout<Shape<_64, _16>, Stride<_1, Int<1 << 21>>>;
  using SrcLayout = Layout<Shape<_32, _1024>, Stride<_0, _1>>;
  using DstLayout = Layout<Shape<Shape<_16, _2>, _32>, Stride<Stride<_64, _32>, _1>>;
  using RefLayout = SrcLayout;
};
}
"""


@pytest.mark.parametrize(
    ("text", "old", "new", "code", "words"),
    [
        (LOAD, "_16>, Stride<_1, TMEM", "_16>, Stride<_1, TMEM", 0, "1 verified"),
        (LOAD, "TMEM::DP_b>>", "Int<1 << 20>>>", 1, "bit 256 of the tile: ValID has lane 0, column 32768, bit 0"),
        (
            LOAD,
            "Shape<_256, _16>",
            "Shape<_16, _256>",
            1,
            "ValID has lane 1, column 0, bit 0, the ISA lane 0",
        ),
        (LOAD, "Shape<_256, _16>", "Shape<_256, _8>", 1, "ValID has 2048 bits, the instruction moves 4096"),
        (LOAD, "Shape<_256, _16>", "Shape<Shape<_256>, _16>", 1, "differ in profile"),
        (LOAD, "TMEM::DP_b>>", "OTHER::DP_b>>", 4, "ValID is not read: OTHER::DP_b"),
        (HALVES, ", 1;", ", 1;", 0, "1 verified"),
        (HALVES, ", 1;", ", 2;", 1, "bit 32 of the tile: ValID has lane 0, column 1, bit 0, the ISA lane 0, column 2"),
    ],
)
def test_each_bit_has_the_address_of_the_isa(
    text: str, old: str, new: str, code: int, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    assert text.count(old) == 1
    path = tmp_path / "copy_traits_own.hpp"
    path.write_text(text.replace(old, new))
    assert main([str(path)]) == code
    printed = " ".join(capsys.readouterr().out.split())
    assert words in printed
    line = text[: text.index("using ValID")].count("\n") + 1
    assert code != 1 or f"copy_traits_own.hpp:{line}:3: " in printed


def test_the_val_id_of_a_copy_within_memory_is_listed_as_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start, end = LOAD.index("  static"), LOAD.index("};")
    text = (
        LOAD[:start]
        + """static void copy(uint64_t const& s, uint32_t const& d) {
      asm volatile("tcgen05.cp.cta_group::1.128x128b [%0], %1;" :: "r"(d), "l"(s)); } """
        + LOAD[end:]
    )
    (tmp_path / "copy_traits_own.hpp").write_text(text)
    assert main([str(tmp_path), "-v"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "not compared: ValID of 1 copies within memory" in printed
    assert "no operand is in registers; ValID is not compared" in printed

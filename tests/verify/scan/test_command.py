# SPDX-License-Identifier: Apache-2.0
"""Headers of our own through the command: right ones, planted faults, what cannot be read, hostile text."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.samples import many
from verify.scan.command import main

HEADERS = Path(__file__).parents[3] / "examples" / "headers"
Scan = Callable[..., tuple[int, str]]


def test_right_headers_are_verified_and_all_read(scan: Scan) -> None:
    code, printed = scan()
    assert code == 0
    assert "read: 2 of 2 definitions (100.0 %)" in printed and "2 subjects: 2 verified" in printed


def test_a_wrong_stride_has_its_place_a_counterexample_and_a_repair_in_cplusplus(scan: Scan) -> None:
    code, printed = scan(mma_traits=("Stride<_8, _64>", "Stride<_8, _32>"))
    assert code == 1
    assert "mma_traits_own.hpp:24:3: own::MMA_16x8x16_F32F16F16F32 B REFUTED" in printed
    assert "T0 V2: layout (n=0, k=4), ISA (n=0, k=8)" in printed
    assert "using BLayout = Layout<Shape<Shape<_4,_8>,Shape<_2,_2>>, Stride<Stride<_16,_1>,Stride<_8,_64>>>;" in printed


def test_a_stride_in_another_profile_is_refuted_and_repaired(scan: Scan) -> None:
    code, printed = scan(mma_traits=("Stride<_8, _64>", "Stride<Stride<_8, _64>>"))
    assert code == 1 and "differ in profile" in printed
    assert (
        "repair using BLayout = Layout<Shape<Shape<_4,_8>,Shape<_2,_2>>, Stride<Stride<_16,_1>,Stride<_8,_64>>>;"
        in printed
    )


def test_a_wrong_alias_is_refuted_where_it_is_used(scan: Scan) -> None:
    code, printed = scan(mma_traits=("Stride<Stride<_32, _1>, Stride<_16", "Stride<Stride<_16, _1>, Stride<_32"))
    assert code == 1 and "mma_traits_own.hpp:23:3: own::MMA_16x8x16_F32F16F16F32 A REFUTED" in printed


def test_rows_exchanged_in_a_and_c_are_relabelled(scan: Scan) -> None:
    code, printed = scan(
        mma_traits=("Stride<Stride<_32, _1>, Stride<_16, _8, _128>>", "Stride<Stride<_32, _2>, Stride<_16, _1, _128>>")
    )
    assert code == 1 and "A RELABELLED" in printed and "C RELABELLED" in printed
    assert "B REFUTED" not in printed


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('"r"(a2), "r"(a3)', '"r"(a2), "r"(a2)', "a2 is given twice, as %6 and as %7 the parameter a3 is never used"),
        ('"r"(a2), "r"(a3)', '"r"(a3), "r"(a2)', "the registers a0, a1, a3, a2 are not in order"),
        ("{%4, %5, %6, %7}", "{%4, %5, %5, %7}", 'operand %6, "r"(a2), is never used'),
        ("{%4, %5, %6, %7}", "{%5, %4, %6, %7}", "{%5, %4, %6, %7} is not in order"),
        ("{%8, %9}", "{%8, %19}", "%19 names no operand: there are 14"),
        ("{%8, %9}", f"{{%8, %{'1' * 5000}}}", "%111111111 names no operand: there are 14"),
        ("row.col.f32.f16.f16.f32", "row.col.f32.f16.f16.f64", "the ISA has no such mma.sync instruction"),
    ],
)
def test_a_fault_in_an_asm_string_is_refuted(scan: Scan, old: str, new: str, fault: str) -> None:
    code, printed = scan(mma=(old, new))
    assert code == 1 and fault in printed and "arch/mma_own.hpp:" in printed


def test_a_name_that_no_operation_has_is_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own.hpp").write_text(ONE.replace("PERMUTED", PERMUTED))
    assert main([str(tmp_path), "--only", "Other"]) == 2
    assert capsys.readouterr().err == "lanecheck: no operation is named Other\n"


def test_an_asm_string_of_another_instruction_is_refuted(scan: Scan) -> None:
    code, printed = scan(mma=("m16n8k16.row.col.f32.f16", "m16n8k8.row.col.f32.f16"))
    assert code == 1 and "shape is 16x8x16, the instruction's is 16x8x8" in printed


PERMUTED = """
    uchar4& v0 = reinterpret_cast<uchar4&>(t0); uchar4& v1 = reinterpret_cast<uchar4&>(t1);
    uchar4 w0{v0.x, v0.y, v1.x, v1.y}; uchar4 w1{v0.z, v0.w, v1.z, v1.w};
    d0 = reinterpret_cast<uint32_t&>(w0); d1 = reinterpret_cast<uint32_t&>(w1);
"""
ONE = """namespace cute {
struct OP {
  static void copy(uint128_t const& s, uint32_t& d0, uint32_t& d1) {
    uint32_t t0, t1; uint32_t p = address(&s);
    asm volatile("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%0, %1}, [%2];" : "=r"(t0), "=r"(t1) : "r"(p));
    PERMUTED
  }
};
template <> struct Copy_Traits<OP> {
  using ThrID = Layout<_32>;
  using SrcLayout = Layout<Shape<Shape<_2,_2,_4,_2>,_128>, Stride<Stride<_128,_1024,_256,_0>,_1>>;
  using DstLayout = Layout<Shape<Shape<_4,_8>,Shape<_8,_2,_2,_2>>, Stride<Stride<_256,_8>,Stride<_1,_128,_64,_1024>>>;
  using RefLayout = DstLayout;
};
}"""


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        (PERMUTED, 0, "1 verified"),
        ("d0 = t0; d1 = t1;", 4, "what copy() does with its registers after the instruction cannot be read"),
        (PERMUTED.replace("w0{v0.x, v0.y, v1.x, v1.y}", "w0{v0.x, v1.x, v0.y, v1.y}"), 1, "Dst REFUTED"),
    ],
)
def test_what_a_copy_itself_permutes_is_no_alarm(
    body: str, code: int, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "copy_traits_own.hpp"
    path.write_text(ONE.replace("PERMUTED", body))
    assert main([str(path)]) == code
    assert words in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("size", "code"),
    [
        ("(N < 9 ? 1 : 2)", 0),
        ("(N < 9) ? 1 : 2", 0),
        ("(N < 9 && 9 > 3 ? 1 : 2)", 0),
        ("(N < 9 || 9 > 10 ? 1 : 2)", 0),
        ("(N < 9 && 9 > 10 ? 1 : 2)", 1),
        ("(N < 9 ? 2 : 1)", 1),
    ],
)
def test_a_comparison_does_not_open_template_arguments(size: str, code: int, scan: Scan) -> None:
    """A parenthesis, && or || ends it, whatever `>` comes after."""
    assert scan(mma_traits=("Int<N / 8>", f"Int<{size}>"))[0] == code


BASE = """namespace cute { namespace detail {
template <class T, int N = 8> using Row = Layout<Shape<Shape<_4,_8>,Int<N * sizeof_bits<T>::value / 64>>,
                                                Stride<Stride<_16,_1>,conditional_t<(N > 4), _8, _1>>>;
} }
"""
OPERATION = """namespace arch { template <class A, int K> struct OP;
template <int K> struct OP<half_t, K> { static_assert(K == 8 || K == 16);
  static void fma(uint32_t& d0, uint32_t& d1, uint32_t const& a0, uint32_t const& a1, uint32_t const& b0,
                  uint32_t const& c0, uint32_t const& c1) {
    if constexpr (K == 8) {
      asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1},{%2,%3},{%4},{%5,%6};" : "=r"(d0), "=r"(d1)
        : "r"(a0), "r"(a1), "r"(b0), "r"(c0), "r"(c1));
    } else { asm volatile("mov.b32 %0, 0;" : "=r"(d0)); }
  } };
}
"""
TEMPLATE = """namespace cute { using namespace arch;
struct Common { using ThrID = Layout<_32>; using CLayout = Layout<Shape<Shape<_4,_8>,Shape<_2,_2>>,
                                                                  Stride<Stride<_32,_1>,Stride<_16,_8>>>; };
template <class A, int K> struct MMA_Traits<OP<A, K>> : public Common {
  static constexpr int M = 2 * K;
  using ValTypeD = A; using ValTypeA = A; using ValTypeB = A; using ValTypeC = A;
  using Shape_MNK = Shape<Int<M>, _8, Int<K>>;
  using ALayout = typename Common::CLayout;
  using BLayout = detail::Row<A>;
}; }
"""


def test_aliases_bases_templates_and_constants_are_read_at_the_instances_that_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mma_traits.hpp"
    path.write_text(BASE + OPERATION.replace("K == 8 || K == 16", "K == 8") + TEMPLATE)
    assert main([str(path), "-v"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "OP<half_t, 8> VERIFIED" in printed and "1 templates; 1 instances" in printed


@pytest.mark.parametrize(
    ("text", "where", "why"),
    [
        (BASE + TEMPLATE, "", "its operation OP"),
        (
            BASE.replace("_8, _1>", "_8, 1 / 0>").replace("N > 4", "N > 9") + OPERATION + TEMPLATE,
            "",
            "a division by zero",
        ),
        (BASE + OPERATION + TEMPLATE.replace("detail::Row<A>", "decltype(made(A{}))"), "", "a call of made"),
        (BASE + OPERATION + TEMPLATE.replace("detail::Row<A>", "Missing"), "", "BLayout is Missing, no layout"),
        (BASE + OPERATION + TEMPLATE.replace("using BLayout", "using Other"), "", "no member BLayout"),
        (BASE + OPERATION + TEMPLATE + "}", "25:1", "a '}' that closes nothing"),
        ("template <> struct MMA_Traits<A { using B = C; };", "1:30", "a '<' that is never closed"),
    ],
)
def test_what_cannot_be_read_is_listed_with_its_place_and_counted(
    text: str, where: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mma_traits.hpp"
    path.write_text(text)
    assert main([str(path)]) == 4
    printed = " ".join(capsys.readouterr().out.split())
    assert f"mma_traits.hpp:{where}" in printed and why in printed
    assert "not read: " in printed and " unchecked; claims" in printed


def test_a_definition_that_a_directive_disables_is_not_read(scan: Scan) -> None:
    code, printed = scan(copy_traits=("template <>", "#if 0\n}}}\n#endif\ntemplate <>"))
    assert code == 0 and "2 of 2 definitions" in printed


def test_the_json_has_the_places(scan: Scan, tmp_path: Path) -> None:
    code, _ = scan("--format", "json", "-o", str(tmp_path / "found.json"), mma_traits=("_64>>", "_32>>"))
    document = json.loads((tmp_path / "found.json").read_text())
    assert code == document["exit"] == 1
    refuted = [
        verdict for case in document["subjects"] for verdict in case["verdicts"] if verdict["status"] == "REFUTED"
    ]
    assert {(verdict["part"], verdict["place"]["line"]) for verdict in refuted if verdict["part"]} == {("B", 24)}


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", "-C", str(folder), *identity, *words], check=True, capture_output=True)


def test_only_maps_that_changed_since_a_commit_are_shown(
    scan: Scan, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    git(tmp_path, "tag", "v1")
    code, printed = scan("--since", "v1")
    assert code == 0 and "0 maps changed, 6 are the same" in printed
    code, printed = scan("--since", "v1", mma_traits=("Stride<_8, _64>", "Stride<Stride<_8>, _64>"))
    assert code == 1 and "a layout is ill formed: it has no points" in printed
    scan(mma_traits=("Stride<Stride<_8>, _64>", "Stride<_8, Int<64>>"))  # the first again, written differently
    code, printed = scan("--since", "v1", copy_traits=("Stride<_1, _1024>", "Stride<_1, _2048>"))
    assert code == 1 and "1 maps changed" not in printed  # Dst and Ref
    assert "own::LOAD_X4 Dst old (32,(32,4)):(32,(1,1024))" in printed and "3072 of 4096 points changed" in printed
    assert "thread 0, value 32: was (bit=1024), now (bit=2048)" in printed
    assert main([str(tmp_path), "--since", "v9"]) == 2
    assert "v9" in capsys.readouterr().err


def test_an_operation_that_is_gone_or_new_is_counted_and_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--diff", str(HEADERS.parents[1] / "tests/museum/headers"), str(HEADERS), "-v"]) == 1
    printed = capsys.readouterr().out
    assert "new: own::LOAD_X4" in printed and "operations: 1 new, 0 gone" in printed


HOSTILE = {
    "braces": "{" * (8 << 20),
    "pairs": "{}" * (4 << 20),
    "angles": "using A = " + "B<" * (4 << 20),
    "templates": "template <" * 900_000,
    "comment": "/*" * (4 << 20),
    "strings": '"\\"' * 2_800_000,
    "binary": "struct MMA_Traits<A> {\0" * 300_000,
    "aliases": "struct MMA_Traits<A<_1>> { using Shape_MNK = " + "A<" * 500_000 + "; };",
    "parentheses": "struct MMA_Traits<A<_1>> { using ALayout = " + "(" * (8 << 20) + "; };",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_eight_mebibytes_of_hostile_text_get_a_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mma_traits.hpp"
    path.write_text(HOSTILE[name])
    assert main([str(path)]) in (2, 4)
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err and len(captured.out) + len(captured.err) < 4000


SEEDS = [path.read_text() for path in sorted(HEADERS.glob("a*/*.hpp"))] + [BASE + OPERATION + TEMPLATE, ONE]
WORDS = (
    "template <", "struct ", "using ", "{", "}", "<", ">", "(", ")", ",", ";", "::", "...", "typename ", "decltype(",
    "Layout<", "Shape<", "Stride<", "Int<", "_0", "_4", "/ 0", "% 3", "&&", "?", ":", "#if 0\n", "#else\n", "#endif\n",
    "/*", '"', "'", "\\", "\0", "\ufffd", "namespace {", "asm volatile(", "%1", "sizeof_bits<", "MMA_Traits<", " = ",
)  # fmt: skip


@pytest.mark.slow
def test_thousands_of_mangled_headers_end_in_an_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dice = random.Random(16)
    path = tmp_path / "mma_traits.hpp"
    codes = Counter[int]()
    for _ in range(many(1_000)):
        text = "\n".join(dice.sample(SEEDS, dice.randrange(1, 4)))
        for _ in range(dice.randrange(1, 8)):
            at, to = sorted(dice.choices(range(len(text)), k=2))
            to = min(to, at + dice.randrange(40))
            text = text[:at] + dice.choice((dice.choice(WORDS), text[at:to] * 2, "")) + text[to:]
        path.write_text(text)
        code = main([str(path), "-q"])
        codes[code] += 1
        assert "internal error" not in capsys.readouterr().err
    assert codes.keys() <= {0, 1, 2, 4} and all(codes[code] > 10 for code in (0, 1, 4))


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("g++"), reason="there is no g++")
def test_a_compiler_that_prints_another_layout_contradicts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    header = tmp_path / "include" / "copy_traits_own.hpp"
    header.parent.mkdir()
    small = """#include <cstdio>
namespace cute {
template <int N> struct Int {}; using _2 = Int<2>; using _4 = Int<4>;
template <class... T> struct Shape {}; template <class... T> struct Stride {};
template <class S, class D> struct Layout {};
template <int A, int B, int C, int D> void print(Layout<Shape<Int<A>, Int<B>>, Stride<Int<C>, Int<D>>>) {
  std::printf("(_%d,_%d):(_%d,_%d)", A, B, C, D);
}
template <class Op> struct Copy_Traits;
struct OP { static void copy(int const& a, int& b) { b = a; } };
template <> struct Copy_Traits<OP> {
  using ThrID = Layout<Shape<_2, Int<1>>, Stride<Int<1>, _2>>;
  using SrcLayout = Layout<Shape<_2, _4>, Stride<_4, Int<1>>>;
  using DstLayout = SrcLayout;
  using RefLayout = SrcLayout;
};
}
"""
    header.write_text(small)
    assert main([str(header), "-q", "--compiler", "g++"]) == 0
    assert "g++: 3 of 3 layouts are printed as they are read" in capsys.readouterr().err
    header.write_text(small.replace('_%d)", A, B, C, D', '_%d)", A, B, D, C'))  # as if we had read another stride
    assert main([str(header), "-q", "--compiler", "g++"]) == 3
    assert "OP Src is read as (2,4):(4,1), the compiler prints (2,4):(1,4)" in capsys.readouterr().err
    header.write_text(small.replace("void print", "no print"))
    assert main([str(header), "-q", "--compiler", "g++"]) == 4
    assert "not compiled: " in capsys.readouterr().err
    assert main([str(header), "-q", "--compiler", "no-such-compiler"]) == 2

# SPDX-License-Identifier: Apache-2.0
"""Errors and oddities in CUTLASS 4.7's atoms: the printed verdict of each, with its counterexample.

Only the data know these atoms by name; each wrong claim has a twin that is verified.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from layouts.atoms import Atom, CopyAtom, registry
from verify.atom import command
from verify.atom.checker import AtomChecker
from verify.atom.properties import EQUALS, OWNERSHIP, RELATION, SIGNATURE
from verify.core.verdict import Property, Status, Verdict
from verify.layout import command as layout_command


def read_printed(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert command.main(list(words)) == code
    return capsys.readouterr().out


def verdict_on(atom: Atom | CopyAtom, part: str, prop: Property) -> Verdict:
    return next(v for v in AtomChecker().verify(atom) if (v.claim.part, v.claim.prop) == (part, prop))


def mma(name: str) -> Atom:
    atom = registry()[name]
    assert isinstance(atom, Atom)
    return atom


def copy(name: str) -> CopyAtom:
    atom = registry()[name]
    assert isinstance(atom, CopyAtom)
    return atom


@pytest.mark.parametrize("operation", ["XORPOPC", "ANDPOPC"])
def test_a1_shape_and_stride_of_different_profiles(capsys: pytest.CaptureFixture[str], operation: str) -> None:
    name = f"SM80_16x8x128_S32U1U1S32_TN_{operation}"
    out = read_printed(capsys, name, code=1)
    assert f"{name}  A  REFUTED   ((4,8),(32,2)):((512,1),((16,8))) is a (thread, value) layout" in out
    assert "shape ((4,8),(32,2)) and stride ((512,1),((16,8))) differ in profile" in out
    right = replace(
        mma(name), operands={**mma(name).operands, "A": "((4,8),(32,2)):((512,1),(16,8))"}, known_defect=None
    )
    assert not [v for v in AtomChecker().verify(right) if v.status is Status.REFUTED]


def test_a2_dp2a_without_its_mode_and_with_wide_values_of_b(capsys: pytest.CaptureFixture[str]) -> None:
    out = read_printed(capsys, "SM61_DP2A", code=1)
    assert "'dp2a.s32.s32': the ISA has no such dp2a instruction; nearest: dp2a.hi.s32.s32, dp2a.lo.s32.s32" in out
    with_mode = replace(mma("SM61_DP2A"), ptx=("dp2a.lo.s32.s32",))
    wrong = verdict_on(with_mode, "", SIGNATURE).counterexample
    assert wrong is not None and wrong.statement == "B is s16, the instruction's is s8"
    right = replace(with_mode, types={**with_mode.types, "B": "s8"})
    assert not [v for v in AtomChecker().verify(right) if v.status is Status.REFUTED]


def test_a9_a_trailing_trivial_mode_is_the_same_function(capsys: pytest.CaptureFixture[str]) -> None:
    """C++ keeps (2,2,1):(64,8,512) for N = 8 where the DSL prints (2,2):(64,8): a false alarm, dismissed."""
    atom = mma("SM90_64x8x16_F16F16F16_SS")
    shorter = "((4,8,4),(2,2)):((128,1,16),(64,8))"
    assert atom.operands["C"] == "((4,8,4),(2,2,1)):((128,1,16),(64,8,512))"
    assert layout_command.main([atom.operands["C"], "--equals", shorter, "-v"]) == 0
    out = capsys.readouterr().out
    assert f"  -    PROVED    is the same function as {shorter}" in out
    assert "exhaustive, 512 points, Python: written differently, equal at every point" in out
    assert verdict_on(replace(atom, operands={**atom.operands, "C": shorter}), "C", EQUALS).status is Status.PROVED
    assert layout_command.main([atom.operands["C"], "--equals", "((4,8,4),(2,2)):((128,1,16),(8,64))"]) == 1
    assert "T0 V1: layout element 64, the other element 8" in capsys.readouterr().out
    assert layout_command.main([atom.operands["C"], "--equals", "((4,8,4),2):((128,1,16),64)"]) == 1
    assert "128 x 4 points" in capsys.readouterr().out


@pytest.mark.long
def test_a10_a_matrix_in_shared_memory_is_seen_whole_by_each_thread(capsys: pytest.CaptureFixture[str]) -> None:
    out = read_printed(capsys, "SM90_64x24x16_F16F16F16_SS", "-v")
    assert "A    PROVED    gives each element of 64x16 (m,k) 128 owners" in out
    assert "B    PROVED    gives each element of 24x16 (n,k) 128 owners" in out
    assert "128 times" not in read_printed(capsys, "SM90_64x24x16_F16F16F16_RS", "-v").split("  B    ")[0]
    wrong = verdict_on(replace(mma("SM90_64x24x16_F16F16F16_SS"), copies={"A": 1}), "", SIGNATURE).counterexample
    assert wrong is not None and wrong.statement == "each element of A has one owner, in the instruction 128 owners"


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "operand", "often"),
    [
        ("SM90::GMMA::SPARSE::GMMA_64x8x16_F32TF32TF32_SS_TN", "E", "2 owners"),
        ("SM90::GMMA::SPARSE::GMMA_64x8x32_F32F16F16_SS", "E", "2 owners"),
        ("SM90::GMMA::SPARSE::GMMA_64x8x64_S32S8S8_SS_TN", "E", "one owner"),
        (
            "SM120::BLOCKSCALED::SM120_16x8x32_TN_VS<float_e4m3_t, float_e4m3_t, float, float_ue8m0_t, 32>",
            "SFA",
            "2 owners",
        ),
        (
            "SM120::BLOCKSCALED::SM120_16x8x32_TN_VS<float_e4m3_t, float_e4m3_t, float, float_ue8m0_t, 32>",
            "SFB",
            "4 owners",
        ),
    ],
)
def test_a11_metadata_and_scale_factors_are_replicated(name: str, operand: str, often: str) -> None:
    verdict = verdict_on(mma(name), operand, OWNERSHIP)
    assert verdict.claim.text.endswith(often) and verdict.status is Status.PROVED
    copies = {"2 owners": 1, "one owner": 2, "4 owners": 2}[often]
    wrong = verdict_on(replace(mma(name), copies={operand: copies}), "", SIGNATURE)
    assert wrong.status is Status.REFUTED


def test_b1_movmatrix_without_its_transposition(capsys: pytest.CaptureFixture[str]) -> None:
    """Refuted by the ISA tables, by z3 and by the recording; all three confirm the transposed fragment."""
    out = read_printed(capsys, "SM75_U32x1_MOVM_T", code=1)
    assert "T0 V16: layout bit 16, ISA (bit=128)" in out and "896 of 1024 points disagree" in out
    assert "Dst calls byte 2 of lane 0 bits 16..23; it is byte 0 of lane 4, which Src calls bits 128..135" in out
    transposed = "((4,8),(16,2)):((256,16),(1,128))"
    assert f"repair   the ISA's layout: {transposed}" in out
    atom = copy("SM75_U32x1_MOVM_T")
    right = replace(atom, operands={**atom.operands, "Dst": transposed}, known_defect=None)
    statuses = {(v.claim.part, v.claim.prop): v.status for v in AtomChecker().verify(right)}
    assert all(status.confirmed for status in statuses.values())
    assert ("Dst", EQUALS) in statuses and ("Src", EQUALS) not in statuses  # Src names the bits
    assert statuses["bytes", RELATION] is Status.AGREES


@pytest.mark.parametrize(
    ("name", "side", "often"),
    [
        ("SM75_U32x1_LDSM_N", "Src", "1024 bits 4 times"),
        ("SM75_U32x2_LDSM_N", "Src", "2048 bits twice"),
        ("SM75_U32x4_LDSM_N", "Src", "4096 bits once"),
        ("SM90_U32x1_STSM_N", "Dst", "1024 bits 4 times"),
        ("SM90_U32x2_STSM_N", "Dst", "2048 bits twice"),
        ("SM90_U32x4_STSM_N", "Dst", "4096 bits once"),
    ],
)
def test_b3_row_addresses_are_given_several_times(
    capsys: pytest.CaptureFixture[str], name: str, side: str, often: str
) -> None:
    out = read_printed(capsys, name, "-v")
    assert f"{side}  PROVED    names each of {often}" in out
    opposite = {"Src": "Dst", "Dst": "Src"}[side]
    assert f"{opposite}  PROVED    names each of {often.split(maxsplit=1)[0]} bits once" in out


def test_b5_copies_into_tensor_memory_with_gaps_and_broadcast(capsys: pytest.CaptureFixture[str]) -> None:
    out = read_printed(capsys, "SM100_UTCCP_4dp256bit_1cta", code=1)
    assert "bit 1 has no owner, 1 wanted" in out and "T0 V32 holds bit 1024, outside 1024" in out
    out = read_printed(capsys, "SM100_UTCCP_4x32dp128bit_1cta", code=1)
    assert "Dst names bit 4096, Src does not" in out and "12288 of the 16384 bits of Dst are not named by Src" in out
    out = read_printed(capsys, "SM100_UTCCP_2x64dp128bitlw0213_1cta", code=1)
    assert "8192 of the 16384 bits of Dst are not named by Src" in out
    out = read_printed(capsys, "SM100_UTCCP_128dp256bit_2cta", "-v")
    assert "Src  PROVED    names each of 32768 bits twice" in out


def test_b6_the_slab_of_tensor_memory_has_one_address_for_a_warp(capsys: pytest.CaptureFixture[str]) -> None:
    out = read_printed(capsys, "SM100_TMEM_LOAD_32dp32b2x", "SM100_TMEM_STORE_32dp32b2x", "-v")
    load, store = out.split("SM100_TMEM_STORE_32dp32b2x")
    assert (
        "Src  PROVED    names each of 2048 bits 32 times" in load
        and "Dst  PROVED    names each of 2048 bits once" in load
    )
    assert (
        "Dst  PROVED    names each of 2048 bits 32 times" in store
        and "Src  PROVED    names each of 2048 bits once" in store
    )


@pytest.mark.parametrize("name", ["SM100_U8x8_LDSM_T", "SM100_U8x16_LDSM_T"])
def test_b8_the_trait_is_the_instruction_and_a_byte_permutation(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert "then halves of register pairs interleaved" in read_printed(capsys, name, "-v")
    raw = verdict_on(replace(copy(name), adapter=None), "Dst", EQUALS)
    assert raw.status is Status.REFUTED and raw.counterexample is not None
    assert raw.counterexample.statement.startswith("T0 V16: layout bit ")


@pytest.mark.long
def test_expect_known_lists_just_these(capsys: pytest.CaptureFixture[str]) -> None:
    defects = sorted(name for name, atom in registry().items() if atom.known_defect)
    assert len(defects) == 14
    out = read_printed(capsys, *defects, "--expect-known")
    output = [line for line in out.splitlines() if "  REFUTED" in line]
    assert sorted(name for name in registry() if any(line.startswith(f"{name}  ") for line in output)) == defects
    assert "14 subjects: 14 refuted" in out.splitlines()[-1]


def test_nothing_of_this_is_special_cased() -> None:
    """No module names an atom, except those of tilings, which ran them, and of other projects, which have their own."""
    packages = [Path(__file__).parents[2] / name for name in ("verify", "layouts/atoms", "isa_tables", "proofs")]
    paths = [path for package in packages for path in package.rglob("*.py")]
    verifying = [path for path in paths if not {"tiling", "movement", "foreign"} & set(path.parts)]
    assert len(verifying) > 100
    for path in verifying:
        text = path.read_text(encoding="utf-8")
        assert not any(word in text for word in ("MOVM", "UTCCP", "LDSM", "DP2A", "XORPOPC", "GMMA")), path

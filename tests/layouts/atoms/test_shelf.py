# SPDX-License-Identifier: Apache-2.0
"""The shipped atoms agree with CUTLASS 4.7; each fact is given here a second time, in another form."""

import hashlib
import pickle
import re
from collections import Counter
from dataclasses import FrozenInstanceError
from functools import cache
from itertools import product
from math import prod
from pathlib import Path

import pytest

from layouts.atoms import Atom, CopyAtom, registry
from tests.cases import each

COUNTS = {
    **{"SM61": 2, "SM70": 8, "SM75": 3, "SM80": 65, "SM89": 8, "SM90": 6, "UniversalFMA": 5},
    **{"SM90 wgmma": 2112, "SM100": 165, "SM103": 10, "SM120": 157},
}
COPIES = {
    **{"SM50": 2, "SM75": 7, "SM80": 8, "SM90": 6, "SM100": 175, "UniversalCopy": 3},
    "AutoVectorizingCopyWithAssumedAlignment": 1,
}

# SHA-256 of each family's facts, computed from what a compiler printed of CUTLASS 4.7's traits, not from our files.
FACTS = {
    "SM61": "57636512701de786bee66a796c88633997f104771bffd5692368c0cfedd865d2",
    "SM70": "ba6afcf066d961b5e07999d7d710b6c55b5eb7d461c8173aaf50688efb5d0885",
    "SM75": "cc199f787b51a3b6ab002e8ad3627f56686f1d09cde8724cdef689defefd7961",
    "SM80": "db0c8683aa1e2a60d95f7512add6c1536730507f26ac0585cb621ddc8fcb404b",
    "SM89": "f0273de46d07825394665c241f6c02fca8935961e8155a8a8dc8f1b6ab71f31f",
    "SM90": "1515f2b3bc6dde09f82250c7b743a75625990e93daa32ba937de79134a66ee48",
    "UniversalFMA": "4b22a58ba88bde42d1893c198036242965766f0d1c10810454a917eea81395c0",
}

BROKEN_A = {f"SM80_16x8x128_S32U1U1S32_TN_{op}POPC" for op in ("XOR", "AND")}
BROADCAST = {
    f"SM100_UTCCP_{to}_{ctas}cta"
    for to in ("4x32dp128bit", "2x64dp128bitlw0213", "2x64dp128bitlw0123")
    for ctas in (1, 2)
}
MAJORS = "UMMA::Major::K, UMMA::Major::K, UMMA::ScaleIn::One, UMMA::ScaleIn::One>"
E2M1 = "float_e2m1_t, float_e2m1_t, float"
SPARSE_PAIR = {f"SM100_MMA_MXF4NVF4_2x1SM_SS_SPARSE<{E2M1}, float_ue8m0_t, 128, {n}, 32, {MAJORS}" for n in (64, 256)}
DEFECTS = {
    *BROKEN_A,
    *SPARSE_PAIR,
    "SM61_DP2A",
    "SM75_U32x1_MOVM_T",
    *BROADCAST,
    "SM100_UTCCP_4dp256bit_1cta",
    "SM100_UTCCP_4dp256bit_2cta",
}

CPP = {"float": "f32", "double": "f64", "half_t": "f16", "int": "s32"}
ALAYOUT = {"T": "row", "N": "col"}  # T and N are BLAS's: A transposed is row-major,
BLAYOUT = {"N": "col", "T": "row"}  # B not transposed is column-major
NAME = re.compile(
    r"SM\d+_(?P<m>\d+)x(?P<n>\d+)x(?P<k>\d+)_"
    r"(?P<d>[A-Z]+\d+(?:M\d)?)(?P<a>[A-Z]+\d+(?:M\d)?)(?P<b>[A-Z]+\d+(?:M\d)?)(?P<c>[A-Z]+\d+(?:M\d)?)_"
    r"(?P<tn>[TN]{2})(?:_(?P<rest>\w+))?"
)
SUFFIX = {None: "", "SATURATE": ".satfinite", "XORPOPC": ".xor.popc", "ANDPOPC": ".and.popc"}


def family(name: str) -> str:
    return re.split("[_<:]", name)[0]


@cache
def products() -> list[Atom]:
    return [atom for atom in registry().values() if isinstance(atom, Atom)]


@cache
def dense() -> list[Atom]:
    """The atoms of a warp's dense products up to SM90; test_against_cutlass has the others."""
    return [atom for atom in products() if family(atom.name) in FACTS and atom.thr != "128:1"]


def operand_text(atom: Atom) -> list[str]:
    return [atom.operands[operand] for operand in "ABC"]


def facts(atom: Atom) -> str:
    """An atom as one text. The complex atoms have no mnemonic of their own in CUTLASS: they call others."""
    mnemonics = () if atom.element else atom.ptx
    shape = "x".join(map(str, atom.shape))
    types = " ".join(atom.types[operand] for operand in "DABC")
    return "\n".join(
        [atom.name, shape, atom.thr, *operand_text(atom), Path(atom.source).name, types, " ".join(mnemonics)]
    )


def extents(text: str) -> list[int]:
    """The integers of a layout text's shape or stride."""
    return [int(number) for number in re.findall(r"-?\d+", text)]


def test_every_family_has_the_number_of_atoms_that_cutlass_has() -> None:
    families = (family(atom.name) + " wgmma" * (atom.thr == "128:1") for atom in products())
    assert Counter(families) == COUNTS
    assert Counter(family(atom.name) for atom in registry().values() if isinstance(atom, CopyAtom)) == COPIES
    assert len(registry()) == sum(COUNTS.values()) + sum(COPIES.values()) == 2743


@pytest.mark.long
def test_names_are_found_without_parsing_every_family() -> None:
    """The result is a part of all names, in their order, with every name of such a beginning."""
    names = list(registry())
    for start in ("", "SM80_16x8x16_F32", "SM90_64x24x", "SM90_64x16x16_F32F16F16_SS", "SM", "nothing"):
        listed = list(registry().beginning(start))
        assert {name for name in names if name.startswith(start)} <= set(listed)
        assert [name for name in names if name in set(listed)] == listed
    assert len(list(registry().beginning("SM80_", "SM75_"))) == len(list(registry().beginning("SM80_"))) + 10


@pytest.mark.parametrize("name", sorted(FACTS))
def test_the_facts_of_a_family_are_those_that_were_printed_by_a_compiler(name: str) -> None:
    text = "\n".join(facts(atom) for atom in dense() if family(atom.name) == name)
    assert hashlib.sha256(text.encode()).hexdigest() == FACTS[name]


@each("atom", lambda: [a for a in dense() if NAME.fullmatch(a.name)], ids=lambda a: a.name)
def test_a_name_agrees_with_the_entry(atom: Atom) -> None:
    match = NAME.fullmatch(atom.name)
    assert match is not None
    ptx = {"U1": "b1", "C64": "f64", "GC64": "f64", **{f"U{n}": f"u{n}" for n in (4, 8)}}
    d, a, b, c = (ptx.get(match[key], match[key].lower()) for key in "dabc")
    m, n, k = (int(match[key]) for key in "mnk")
    assert atom.shape == (m, n, k)
    assert atom.types == {"D": d, "A": a, "B": b, "C": c}
    layouts = f"{ALAYOUT[match['tn'][0]]}.{BLAYOUT[match['tn'][1]]}"
    mnemonic = f"mma.sync.aligned.m{m}n{n}k{k}.{layouts}.{d}.{a}.{b}.{c}{SUFFIX[match['rest']]}"
    issued = {"C64": 4, "GC64": 3}.get(match["d"], 1)
    assert atom.ptx == (mnemonic,) * issued


def test_names_that_follow_the_pattern_are_all_but_the_scalar_ones() -> None:
    rest = {atom.name for atom in dense() if not NAME.fullmatch(atom.name)}
    assert rest == {n for n in registry() if family(n) in ("SM61", "UniversalFMA")}
    assert len(rest) == 7


@each("atom", lambda: [a for a in dense() if "<" in a.name], ids=lambda a: a.name)
def test_a_scalar_atom_has_the_types_of_its_name_and_no_instruction(atom: Atom) -> None:
    arguments = re.findall(r"\w+", atom.name)[1:]
    assert [atom.types[operand] for operand in "DABC"] == [CPP[argument] for argument in arguments]
    assert (atom.ptx, atom.shape, atom.thr) == ((), (1, 1, 1), "1:0")


@each("atom", dense, ids=lambda a: a.name)
def test_each_operand_has_as_many_points_as_its_tile_has_elements(atom: Atom) -> None:
    m, n, k = atom.shape
    for text, tile in zip(operand_text(atom), (m * k, n * k, m * n), strict=True):
        assert prod(extents(text.split(":")[0])) == tile


@each("text", lambda: sorted({t for a in dense() for t in operand_text(a)}))
def test_each_operand_layout_has_every_element_once(text: str) -> None:
    """By the definition, on the flat extents and strides: profiles that differ do not matter here."""
    shape, stride = map(extents, text.split(":"))
    reached = {sum(map(int.__mul__, point, stride)) for point in product(*map(range, shape))}
    assert reached == set(range(prod(shape)))


def test_the_threads_are_those_of_the_instruction() -> None:
    threads = {family(atom.name): atom.thr for atom in dense()}
    assert {atom.thr for atom in dense()} == set(threads.values())
    assert threads == dict.fromkeys(FACTS, "32:1") | {"SM61": "1:0", "UniversalFMA": "1:0", "SM70": "(4,2):(1,16)"}
    rest = {(family(atom.name), atom.thr) for atom in products()} - set(threads.items())
    one_or_two = {(name, thr) for name in ("SM100", "SM103") for thr in ("1:0", "2:1")}
    assert rest == {("SM90", "128:1"), ("SM120", "32:1")} | one_or_two


def test_the_known_defects_are_listed_and_no_others() -> None:
    assert {name for name, atom in registry().items() if atom.known_defect} == DEFECTS
    assert {atom.name for atom in products() if "((512,1),((16,8)))" in atom.operands["A"]} == BROKEN_A


def test_an_element_of_a_complex_atom_is_several_f64() -> None:
    given = {atom.name: dict(atom.element) for atom in dense() if atom.element}
    pair = dict.fromkeys("DABC", "2xf64")
    planar = ["SM80_8x8x4", "SM90_16x8x4", "SM90_16x8x8", "SM90_16x8x16"]
    expected = {f"{shape}_C64C64C64C64_TN": pair for shape in planar}
    assert given == expected | {"SM80_8x8x4_GC64C64C64GC64_TN": pair | {"D": "3xf64", "C": "3xf64"}}


def test_atoms_are_in_the_order_of_files_and_are_read_once() -> None:
    files = [Path(atom.file).name for atom in registry().values()]
    assert files == sorted(files)
    assert registry() is registry()


def test_nothing_can_be_changed() -> None:
    atom = registry()["SM61_DP4A"]
    with pytest.raises(FrozenInstanceError):
        atom.thr = "32:1"  # type: ignore[misc]
    with pytest.raises(TypeError):
        registry()["SM61_DP4A"] = atom  # type: ignore[index]


def test_atoms_cross_process_borders() -> None:
    atom = registry()["SM80_8x8x4_GC64C64C64GC64_TN"]
    assert pickle.loads(pickle.dumps(atom)) == atom

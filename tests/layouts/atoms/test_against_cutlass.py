# SPDX-License-Identifier: Apache-2.0
"""Entries with parameters agree with CUTLASS 4.7; each fact is given here a second time, in another form."""

import hashlib
import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path

import pytest

import layouts.atoms
from layouts.atoms import Atom, CopyAtom, load

FOLDER = Path(layouts.atoms.__file__).parent

# For each file of CUTLASS its number of atoms and the SHA-256 of their facts, sorted, computed from what a compiler
# printed of its traits, not from our files. wgmma: from the pattern that its 2112 traits were checked against.
FACTS = {
    "copy_traits.hpp": (4, "2770d73c0756f3b5fd63b7b82cbc2d5a202b395fc2374954365a42d53a0e1cd3"),
    "copy_traits_sm100.hpp": (175, "65c653ffd3a9f700bd91d3b4ad5910e504c4d715c0bc8f65f21b1224ea2e99b9"),
    "copy_traits_sm50.hpp": (2, "8279cf3ccb75c12a55e55b0e29e00cd07ba8cbb3f9beab3d5ff8c852c8ae907f"),
    "copy_traits_sm75.hpp": (7, "dcc8f387bacdb82290afc8e12ce054fc2d8619b83b58f60d721aa8cd50a10ec7"),
    "copy_traits_sm80.hpp": (8, "9284e59b38237d85421ba8758e4c9cd9ac935f96315c1747d78c13fc1c968c0d"),
    "copy_traits_sm90.hpp": (6, "f68325e18279fa1585cffff5735ef50544a7f153b22801af2ce05f090ab0ef86"),
    "mma_traits_sm100.hpp": (93, "b6c937286b92e3524158d8e05ea16f15baa8ea03f092b8a8dc24f01b87c71181"),
    "mma_traits_sm120.hpp": (79, "89730065555d3a0ce05e115dfcf171253df8af130560520186f1b012a573d124"),
    "mma_traits_sm120_sparse.hpp": (78, "1c72629419a0b2227ce6858f74d9081d32986f25481c444174c3e1e6ace53351"),
    "mma_traits_sm90_gmma.hpp": (1056, "b718b34f1056fbf3f190cbdb571090b9ea835cbe8a3d26648160ef96517270c4"),
    "mma_traits_sm90_gmma_sparse.hpp": (1056, "4f57d0c92dcbfa76c8f53616590bdcf81917aa4293a386ef9c9c3dbdbbe5e311"),
}
PRINTED = {"1:0": ((64, 64), (128, 256)), "2:1": ((128, 64), (256, 256))}  # the instances of tcgen05.mma's templates


@cache
def list_shipped() -> list[Atom | CopyAtom]:
    return [atom for path in sorted(FOLDER.rglob("*.toml")) for atom in load(path)]


def file_of(atom: Atom | CopyAtom) -> str:
    return Path(atom.source).name


def was_printed(atom: Atom | CopyAtom) -> bool:
    return isinstance(atom, CopyAtom) or "UMMA::" not in atom.name or atom.shape[:2] in PRINTED[atom.thr]


def facts(atom: Atom | CopyAtom) -> str:
    shape = "x".join(map(str, atom.shape)) if isinstance(atom, Atom) else ""
    return "\n".join([atom.name, shape, atom.thr, *atom.operands.values(), file_of(atom), " ".join(atom.mnemonics)])


@pytest.mark.long
@pytest.mark.parametrize("file", sorted(FACTS))
def test_the_facts_of_a_file_are_those_that_were_printed_by_a_compiler(file: str) -> None:
    printed = sorted(facts(atom) for atom in list_shipped() if file_of(atom) == file and was_printed(atom))
    assert (len(printed), hashlib.sha256("\n".join(printed).encode()).hexdigest()) == FACTS[file]


WIDTH = {"f64": 64, "f32": 32, "s32": 32, "tf32": 32, "f16": 16, "bf16": 16, "s8": 8, "u8": 8, "e4m3": 8, "e5m2": 8}
WGMMA = re.compile(
    r"(?P<sparse>SM90::GMMA::SPARSE::GMMA_)?(?:SM90_)?64x(?P<n>\d+)x(?P<k>\d+)_"
    r"(?P<d>[FS]\d+)(?P<a>BF16|TF32|F16|S8|U8|E4M3|E5M2)(?P<b>BF16|TF32|F16|S8|U8|E4M3|E5M2)"
    r"_(?P<from>[SR]S)(?P<tn>_TN)?(?P<sat>_SATURATE)?"
)


def wgmmas() -> list[Atom]:
    return [a for a in list_shipped() if isinstance(a, Atom) and "gmma" in file_of(a)]


def test_names_of_wgmma_agree_with_their_entries() -> None:
    assert len(wgmmas()) == 2112
    for atom in wgmmas():
        match = WGMMA.fullmatch(atom.name)
        assert match is not None
        n, k = int(match["n"]), int(match["k"])
        d, a, b = (match[key].lower() for key in "dab")
        sparse = match["sparse"] is not None
        assert (atom.shape, atom.thr) == ((64, n, k), "128:1")
        assert atom.types == {"D": d, "A": a, "B": b, "C": d}
        assert k * WIDTH[a] == 256 * (1 + sparse)
        operation = "wgmma.mma_async.sp" if sparse else "wgmma.mma_async"
        saturated = ".satfinite" if match["sat"] else ""
        assert atom.ptx == (f"{operation}.sync.aligned.m64n{n}k{k}.{d}.{a}.{b}{saturated}",)
        assert atom.space == ({"A": "smem"} if match["from"] == "SS" else {}) | {"B": "smem"}
        assert ("E" in atom.operands) == sparse


def test_the_values_of_n_are_those_of_the_instruction() -> None:
    """Multiples of 8 up to 256; with integers, 8, 24 and the multiples of 16, as CUTLASS instantiates them."""
    sizes: dict[str, list[int]] = {}
    for atom in wgmmas():
        assert atom.family is not None
        sizes.setdefault(atom.family.name, []).append(atom.shape[1])
    assert len(sizes) == 80
    for family, listed in sizes.items():
        integer = "S32" in family
        assert listed == ([8, 16, 24, *range(32, 257, 16)] if integer else [*range(8, 257, 8)])


def elements(text: str) -> Iterator[int]:
    """By the definition, on the flat extents and strides."""
    shape, stride = ([int(number) for number in re.findall(r"\d+", side)] for side in text.split(":"))
    return (sum(map(int.__mul__, point, stride)) for point in product(*map(range, shape)))


def test_layouts_in_registers_have_every_element_equally_often() -> None:
    """In one place; metadata of K = 16 and 32 in two lanes, scale factors of A in two and of B in four."""
    distinct: set[tuple[str, str, int]] = set()
    for atom in list_shipped():
        if isinstance(atom, Atom):
            m, n, k = atom.shape
            tiles = {"A": m * k, "B": n * k, "C": m * n, "E": m * k, "SFA": m * k, "SFB": n * k}
            distinct |= {(o, t, tiles[o]) for o, t in atom.operands.items() if o not in atom.space}
    for operand, text, tile in sorted(distinct):
        places = [*elements(text)]
        copies = 2 if operand == "E" and ",0," in text else {"SFA": 2, "SFB": 4}.get(operand, 1)
        assert len(places) == tile * copies
        assert set(places) == set(range(tile)), text


@pytest.mark.slow
def test_matrices_in_memory_are_whole_or_in_halves() -> None:
    """Every thread of wgmma has the whole matrix, as has the one of tcgen05.mma; two CTAs share its rows."""
    matrices = 0
    for atom in (atom for atom in list_shipped() if isinstance(atom, Atom) and atom.shape[1] <= 64):
        m, n, k = atom.shape
        tiles = {"A": m * k, "B": n * k, "C": m * n}
        threads = 2 if atom.thr == "2:1" else 1
        for operand in atom.space:
            text = re.sub(r"^\(128,", "(1,", atom.operands[operand]) if atom.thr == "128:1" else atom.operands[operand]
            assert sorted(elements(text)) == [*range(tiles[operand])], atom.name
            assert text.startswith(f"({threads},")
            matrices += 1
    assert matrices >= 1110

# SPDX-License-Identifier: Apache-2.0
"""Specs of tilings: texts, lists and options are read alike, and give the options that are read back as the same."""

from pathlib import Path

import pytest

from layouts import Layout
from layouts.toml.errors import AtomFileError
from tests.messages import RANGE_FROM_1
from verify.core.errors import SpecError
from verify.tiling import spec
from verify.tiling.spec import TilingSpec, atoms_layout, load, permutation, swizzle_atom, tile

F16 = "SM80_16x8x16_F32F16F16F32_TN"


@pytest.mark.parametrize("value", ["2,2", "2x2", "2,2,1", [2, 2], ["2", "2"]])
def test_counts_are_read_in_every_spelling(value: object) -> None:
    assert atoms_layout(value) == Layout((2, 2, 1))


@pytest.mark.parametrize(
    ("parse", "value", "problem"),
    [
        (atoms_layout, "2,2,2,2", "expected at most three counts for M, N, K, found 4"),
        (atoms_layout, "0,2", f"{RANGE_FROM_1} 65536, found '0'"),
        (atoms_layout, "(2,2,2,2):(1,2,4,8)", "expected at most 3, for M, N, K"),
        (permutation, "_,x", f"{RANGE_FROM_1} 65536, found 'x'"),
        (permutation, "(2097152):(1)", "has more than 1048576 points"),
        (tile, "64,64", "expected three extents for M, N, K, found 2"),
        (tile, 64, "expected a text or a list of numbers and texts"),
        (swizzle_atom, "64:1", "has rank 1: expected 2"),
        (swizzle_atom, 64, "expected a layout as text"),
    ],
)
def test_what_is_none_is_rejected_with_what_would_be_right(parse: object, value: object, problem: str) -> None:
    with pytest.raises(ValueError) as error:
        parse(value)  # type: ignore[operator]
    assert problem in str(error.value)


def test_what_one_tiled_mma_covers() -> None:
    plain = TilingSpec("plain", F16, atoms_layout("2,2"))
    assert plain.counts == (2, 2, 1) and plain.cover((16, 8, 16)) == (32, 16, 16)
    wide = TilingSpec("wide", F16, atoms_layout("2,2"), permutation("_,(8,2,2):(1,16,8),32"))
    assert wide.cover((16, 8, 16)) == (32, 32, 32)


def test_the_arguments_of_a_spec_give_it_again() -> None:
    made = TilingSpec("", F16, atoms_layout("(2,2,1):(2,1,0)"), permutation("_,(8,2,2):(1,16,8),32"), (64, 64, 32))
    words = dict(zip(*[iter(spec.arguments(made))] * 2, strict=True))
    read = TilingSpec(
        "",
        words["--atom"],
        atoms_layout(words["--atoms-layout"]),
        permutation(words["--permutation"]),
        tile(words["--tile"]),
    )
    assert read == made


def test_all_errors_of_a_file_name_its_keys(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text(f'["one"]\natom = "{F16}"\ntile = "1"\natoms_layout = "0"\n["two"]\natom = "{F16}"\n')
    with pytest.raises(AtomFileError) as error:
        load(path)
    assert [fault.key for fault in error.value.errors] == ["one.tile", "one.atoms_layout"]
    tilings = spec.read_tilings(path)
    assert [tiling.name for tiling in tilings.items] == ["two"]
    assert isinstance(tilings.items[0].error("tile", "is odd"), SpecError)
    assert str(tilings.items[0].error("tile", "is odd")) == f"{path}: two.tile: is odd"

# SPDX-License-Identifier: Apache-2.0
"""The types that a descriptor may choose together, against the ISA's own table, row by row."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from isa_tables import TableError, mnemonics, tables
from isa_tables.signature import signature

PTX = tables.SHIPPED
BYTES = ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")  # in the order of table 39
# PTX ISA 9.7.16.2.1, table 39, columns .kind, dtype and atype/btype; alike for dense, sparse, .ws and both cta_group.
# atype and btype are fields of their own in the descriptor (table 42), and no sentence makes them equal.
TABLE_39 = {
    "f16": [(("f16",), ("f16",)), (("f32",), ("f16", "bf16"))],
    "tf32": [(("f32",), ("tf32",))],
    "f8f6f4": [(("f32", "f16"), BYTES)],
    "i8": [(("s32",), ("s8", "u8"))],
    "mxf8f6f4": [(("f32",), BYTES)],
    "mxf4": [(("f32",), ("e2m1",))],
    "mxf4nvf4": [(("f32",), ("e2m1",))],
}


@pytest.mark.parametrize("kind", TABLE_39)
def test_types_that_a_descriptor_may_choose_together(kind: str) -> None:
    right = {(d, a, b) for ds, operands in TABLE_39[kind] for d, a, b in product(ds, operands, operands)}
    names = [name for name in mnemonics("tcgen05.mma*") if f"kind::{kind}" in name.split(".")]
    assert len(names) > 5
    for name in names:
        listed = [tuple(types[operand] for operand in "DAB") for types in signature(name).types]
        assert len(listed) == len(set(listed)) and set(listed) == right, name


def test_types_of_scale_factors_are_beside_each_combination() -> None:
    combinations = signature("tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale").types
    assert len(combinations) == 25 and {(types["SFA"], types["SFB"]) for types in combinations} == {("ue8m0", "ue8m0")}


def test_a_mnemonic_with_types_has_one_combination() -> None:
    every = [name for name in mnemonics("*") if not name.startswith("tcgen05.mma")]
    assert len(every) > 2400
    for name in every[::17]:
        s = signature(name)
        assert s.types == ({operand: part.type for operand, part in s.operands.items()},)


TCGEN05 = (PTX / "tcgen05_mma.toml").read_text()
F16_ROWS = '[["f16", "f16", "f16"], ["f32", ["f16", "bf16"], ["f16", "bf16"]]]'
I8 = 'when  = { kind = "i8" }\ntypes'
F16 = '[[descriptor]]\nwhen  = { kind = "f16" }'
BAD = [
    (I8, I8.removesuffix("s"), "descriptor[3].type", "unknown key"),
    (f'{I8} = [["s32"', f'{I8} = [["i32"', "descriptor[3].types", "'i32' is not a PTX element type"),
    (F16_ROWS, "[]", "descriptor[0].types", "must be a list of rows"),
    (F16_ROWS, '[["f16", "f16"]]', "descriptor[0].types", "must be a list of [D, A, B]"),
    (F16_ROWS, '[["f16", "f32", "f16"]]', "descriptor[0].types", "A of tcgen05.mma.cta_group::2.kind::f16 has 16 bits"),
    (F16_ROWS, f'{F16_ROWS}\noperands = ["D", "A", "X"]', "descriptor[0].types", "X of tcgen05.mma"),
    (F16_ROWS, f'{F16_ROWS}\noperands = ["d"]', "descriptor[0].operands", "must be a list of operands"),
    (F16, "[[descriptor]]", "descriptor", "2 apply to"),
    (F16, F16.replace("f16", "f"), "descriptor", "0 apply to"),
    (F16, F16.replace("kind", "kin"), "descriptor[0].when.kin", "unknown"),
    ('extent = ["M", 16]\n', 'extent = ["M", 16]\ntypes = ["f16"]\n', "A.case[0].types", "unknown key"),
]


@pytest.mark.parametrize(("old", "new", "key", "words"), BAD)
def test_a_bad_list_of_types_is_reported_with_its_key(old: str, new: str, key: str, words: str, tmp_path: Path) -> None:
    assert old in TCGEN05
    (tmp_path / "tcgen05_mma.toml").write_text(TCGEN05.replace(old, new, 1))
    with pytest.raises(TableError) as error:
        for kind in ("f16", "tf32", "i8"):
            signature(f"tcgen05.mma.cta_group::2.kind::{kind}", tmp_path)
    assert error.value.key == key and words in str(error.value)


def test_rows_of_a_folder_of_tables_are_read_like_the_shipped(tmp_path: Path) -> None:
    (tmp_path / "tcgen05_mma.toml").write_text(TCGEN05.replace(F16_ROWS, '[["f32", "bf16", ["f16", "bf16"]]]', 1))
    assert signature("tcgen05.mma.cta_group::1.kind::f16", tmp_path).types == (
        {"D": "f32", "A": "bf16", "B": "f16"},
        {"D": "f32", "A": "bf16", "B": "bf16"},
    )

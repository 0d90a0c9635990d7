# SPDX-License-Identifier: Apache-2.0
"""The instruction descriptor of tcgen05.mma, coded a second time from the section's table."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

from isa_tables import IsaError, TableError
from isa_tables.instruction_descriptor import SHIPPED, decode, encode, read_fields
from isa_tables.signature import signature

# 9.7.16.4.2, by kind: the codes of D, and of A and B
CODES = {
    "f16": ({"f16": 0, "f32": 1}, {"f16": 0, "bf16": 1}),
    "tf32": ({"f32": 1}, {"tf32": 2}),
    "f8f6f4": ({"f16": 0, "f32": 1}, {"e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5}),
    "i8": ({"s32": 2}, {"u8": 0, "s8": 1}),
}


def find_wrong(path: Path = SHIPPED) -> list[tuple[str, ...]]:
    """The choices whose descriptor is not the table's."""
    wrong = []
    for kind, (sums, factors) in CODES.items():
        for d, a, b, m, n in product(sums, factors, factors, (64, 128, 256), (8, 64, 256)):
            word = sums[d] << 4 | factors[a] << 7 | factors[b] << 10 | n // 8 << 17 | m // 16 << 24 | 1 << 16
            said = decode(kind, word, path)
            if [said.get(key) for key in ("D", "A", "B", "M", "N", "major_A", "major_B")] != [d, a, b, m, n, "K", "MN"]:
                wrong.append((kind, d, a, b))
    return wrong


def test_it_chooses_types_extents_and_majors() -> None:
    assert find_wrong() == []


@pytest.mark.parametrize(
    ("old", "new"),
    [('"x << 3"', '"x << 2"'), ('0 = "f16", 1 = "bf16"', '1 = "f16", 0 = "bf16"'), ('1 = "MN"', '1 = "K"')],
)
def test_a_planted_error_is_seen(old: str, new: str, tmp_path: Path) -> None:
    text = SHIPPED.read_text()
    assert old in text
    (tmp_path / "wrong.toml").write_text(text.replace(old, new))
    assert find_wrong(tmp_path / "wrong.toml") != []


@pytest.mark.parametrize("word", [0x8100490, 0x4010010, 0x8010017])
def test_a_decoded_descriptor_is_encoded_as_it_was(word: int) -> None:
    assert encode("f16", **decode("f16", word)) == word


def test_its_types_are_those_of_the_instruction() -> None:
    """What the instruction's own table lets a descriptor choose for a kind has a code."""
    for kind in CODES:
        for types in signature(f"tcgen05.mma.cta_group::1.kind::{kind}").types:
            chosen = dict(zip("DAB", (types[name] for name in "DAB"), strict=True))
            assert {key: decode(kind, encode(kind, **chosen))[key] for key in "DAB"} == chosen


@pytest.mark.parametrize(
    ("kind", "word", "words"),
    [
        ("f16", 2 << 4, "bits 4-5 (D) of a kind::f16 instruction descriptor are 2; they may be 0 (f16), 1 (f32)"),
        ("f16", 1 << 3, "bits 3-3 (saturate) of a kind::f16 instruction descriptor are 1; they may be 0 (no)"),
        ("i8", 2 << 4 | 1 << 13, "bits 13-13 (negate_A)"),
        ("f16", 1 << 23, "outside its fields: 0x800000"),
        ("mxf8f6f4", 0, "no kind::mxf8f6f4 here; there are: f16, tf32, f8f6f4, i8"),
    ],
)
def test_bits_that_mean_nothing_are_an_error(kind: str, word: int, words: str) -> None:
    with pytest.raises(IsaError, match=re.escape(words)):
        decode(kind, word)


@pytest.mark.parametrize(
    ("chosen", "words"),
    [({"A": "f64"}, "A = f64 is none of a kind::f16"), ({"K": 16}, "does not choose K"), ({"N": 12}, "N = 12 is none")],
)
def test_what_no_descriptor_says_is_an_error(chosen: dict[str, int | str], words: str) -> None:
    with pytest.raises(IsaError, match=re.escape(words)):
        encode("f16", **chosen)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("schema  = 1", "schema = 2", "only schema 1"),
        ("low    = 17", "low = 16", "part.N: bits 16 to 22 are empty, taken or outside"),
        ("high   = 31", "high = 32", "part.reuse: bits 30 to 32"),
        ('number = "x << 3"', 'number = "y"', "part.N.number: unknown name 'y'"),
        ('number = "x << 3"', "", "part.N: exactly one of number and words"),
        ('i8 = { 2 = "s32" }', 'i8 = { 4 = "s32" }', "part.D.words.i8.4: must be a code below 4"),
        ('i8 = { 2 = "s32" }', "i8 = {}", "part.D.words.i8: must be a table of codes"),
        ('kinds   = ["f16"', 'kinds = ["f16", 1', "kinds: must be a list of texts"),
    ],
)
def test_a_wrong_field_of_a_file_is_named(old: str, new: str, words: str, tmp_path: Path) -> None:
    text = SHIPPED.read_text()
    assert old in text
    (tmp_path / "bad.toml").write_text(text.replace(old, new))
    with pytest.raises(TableError, match=re.escape(words)):
        read_fields(tmp_path / "bad.toml")

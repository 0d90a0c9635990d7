# SPDX-License-Identifier: Apache-2.0
"""Sparse, block-scaled, warpgroup, copy and Tensor Memory tables against the second coding; and planted errors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy
import pytest

import isa_tables
from isa_tables import Instruction, Operand, instruction, mnemonics
from isa_tables.signature import signature
from tests.isa_tables import second_coding

pytestmark = pytest.mark.slow

PTX = Path(isa_tables.__file__).parent / "ptx"
# wmma has no map; test_second_coding has the dense tables, test_thread_copies the copies of one thread
ELSEWHERE = ("mma", "dp2a", "dp4a", "wmma", "cp", "ld", "st")
FILES = sorted(p for p in PTX.glob("*.toml") if p.stem.split("_")[0] not in ELSEWHERE)
# test_tensor_memory has the places of D, of scale factors and of what tcgen05.cp copies
MAPPED = [path for path in FILES if not re.fullmatch(r"tcgen05.*_(mma|cp)", path.stem)]


def selections(select: Mapping[str, tuple[str | int, ...]]) -> Iterator[dict[str, str | int]]:
    """Every value of every selection, the others at their first."""
    first = {name: words[0] for name, words in select.items()}
    yield first
    for name, words in select.items():
        yield from ({**first, name: word} for word in words[1:])


def instructions(folder: Path) -> Iterator[Instruction]:
    """Every map of a folder with every selection, families at four members, none twice over."""
    seen = set()
    for name in mnemonics("*", folder=folder):
        family = re.search(r"\.m64n(\d+)k", name)
        if family and int(family[1]) not in (8, 24, 48, 256):
            continue
        s = signature(name, folder=folder)
        flags = s.qualifiers & {"trans"}
        key = (*((f.bits, f.extent, f.values, f.shift) for f in s.operands.values()), flags)
        if key not in seen:
            seen.add(key)
            spaces = ("smem", "reg") if "A_space" in s.select else (None,)
            for space in spaces:
                chosen = {} if space is None else {"A_space": space}
                for words in selections({n: w for n, w in s.select.items() if n != "A_space"}):
                    yield instruction(name, folder=folder, **chosen, **words)


def table(operand: Operand, chosen: second_coding.Chosen, mnemonic: str) -> tuple[numpy.ndarray, numpy.ndarray]:
    """[lane][value] -> (row, col) by the second coding, -1 where a lane does not contribute; and by the table."""
    rows, cols = second_coding.extent(mnemonic, operand.name)
    expected = numpy.full((operand.lanes, operand.values, 2), -1)
    row, col = numpy.indices((rows, cols))
    for half in (0, 1) if "32bx2." in mnemonic else (0,):
        lane, value = second_coding.holder(mnemonic, operand.name, chosen, row, col, half)
        assert (expected[lane, value] == -1).all(), "the second coding must give each slot one element"
        expected[lane, value] = numpy.stack([row, col], axis=-1)
    lanes = numpy.arange(operand.lanes)
    actual = numpy.stack(operand.locate(lanes[:, None], numpy.arange(operand.values)), axis=-1)
    return expected, numpy.where(operand.holds(lanes)[:, None, None], actual, -1)


def wrong_operands(folder: Path) -> list[str]:
    wrong = []
    for mma in instructions(folder):
        for name, operand in mma.operands.items():
            if operand.maps:
                expected, actual = table(operand, mma.signature.chosen, mma.signature.mnemonic)
                if expected.shape[:2] + operand.extent != actual.shape[:2] + second_coding.extent(
                    mma.signature.mnemonic, name
                ) or not numpy.array_equal(expected, actual):
                    wrong.append(f"{mma.signature.mnemonic} {name} {dict(mma.signature.chosen)}")
    return wrong


def is_cover(folder: Path) -> bool:
    """Over all lanes, each element of a tile has `copies` places, and nothing outside the tile has one."""
    for mma in instructions(folder):
        for operand in mma.operands.values():
            if operand.maps:
                rows, cols = operand.extent
                row, col = operand.locate(numpy.arange(operand.lanes)[:, None], numpy.arange(operand.values))
                if row.max() >= rows or col.max() >= cols or min(row.min(), col.min()) < 0:
                    return False
                if set(numpy.bincount((row * cols + col).ravel(), minlength=rows * cols)) != {operand.copies}:
                    return False
    return True


def copy_table(path: Path, folder: Path, old: str = "", new: str = "") -> Path:
    (folder / path.name).write_text(path.read_text().replace(old, new) if old else path.read_text())
    return folder


@pytest.mark.parametrize("path", MAPPED, ids=lambda path: path.stem)
def test_the_table_agrees_with_the_second_coding(path: Path, tmp_path: Path) -> None:
    copy_table(path, tmp_path)
    assert next(instructions(tmp_path)).operands
    assert wrong_operands(tmp_path) == []
    assert is_cover(tmp_path)


SWAPS = [
    ('>> 2"', '>> 2 ^ 1"'),
    ('threadID_in_group = "%laneid % 4"', 'threadID_in_group = "%laneid % 4 ^ 1"'),
    ('threadID_in_group = "thread % 4"', 'threadID_in_group = "thread % 4 ^ 1"'),
    ('warp = "thread // 32"', 'warp = "thread // 32 ^ 1"'),
    ("(i & 0x1)", "((i & 0x1) ^ 1)"),
    ("(i & 0x3)", "((i & 0x3) ^ 2)"),
    ("(i & 0x7)", "((i & 0x7) ^ 4)"),
    ("8 * (i // 2 % 2)", "8 * (1 - i // 2 % 2)"),
    ("threadID_in_group == F", "threadID_in_group == (F ^ 1)"),
    ("threadID_in_group // 2 == F", "threadID_in_group % 2 == F"),
    ("threadID_in_group // 2 == thread_id_a", "threadID_in_group % 2 == thread_id_a"),
    ("threadID_in_group == thread_id_b", "3 - threadID_in_group == thread_id_b"),
    ("groupID + 8 * (threadID_in_group % 2)", "groupID + 8 * (1 - threadID_in_group % 2)"),
    ("+ 8 * (i // 16)", "+ 8 * (1 - i // 16)"),
    ("32 * (threadID_in_group // 2) + i", "32 * (threadID_in_group // 2) + (i ^ 1)"),
    ("16 * (threadID_in_group % 2) + i % 16", "16 * (threadID_in_group % 2) + (i % 16 ^ 8)"),
    ('"%laneid"', '"%laneid ^ 1"'),
    ('"%laneid % 16"', '"%laneid % 16 ^ 1"'),
    (' + i % 2"', ' + (1 - i % 2)"'),
]


def list_planted() -> list[tuple[Path, str, str]]:
    return [(path, old, new) for path in MAPPED for old, new in SWAPS if old in path.read_text()]


def test_every_table_has_a_planted_error() -> None:
    assert {path for path, _, _ in list_planted()} == set(MAPPED)


@pytest.mark.parametrize(("path", "old", "new"), list_planted(), ids=lambda v: getattr(v, "stem", None))
def test_a_planted_error_is_seen(path: Path, old: str, new: str, tmp_path: Path) -> None:
    copy_table(path, tmp_path, old, new)
    assert wrong_operands(tmp_path) != []
    assert is_cover(tmp_path), "the planted change must be one that only the second coding can see"

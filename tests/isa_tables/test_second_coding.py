# SPDX-License-Identifier: Apache-2.0
"""The tables against a second coding of the same sections, written the other way round.

The tables give the element of each lane and value, piece by piece as the ISA prints it. Here each element of the
tile gives its lane and value: one rule for every fragment whose lanes form eight groups of four,
and lanes written out by hand for m8n8k4 .f16. A table that is a bijection and yet wrong differs from it.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy
import pytest

import isa_tables
from isa_tables import Instruction, instruction, mnemonics
from tests.cases import each

Place = tuple[int, int]
PTX = Path(isa_tables.__file__).parent / "ptx"
SHIPPED = sorted(path for path in PTX.glob("*.toml") if path.stem.split("_")[0] in ("mma", "dp2a", "dp4a"))

# Elements in one register of a multiplicand. Accumulators go by twos whatever their registers hold.
PER_REGISTER = {
    "f64": 1, "tf32": 1, "f16": 2, "bf16": 2, "u8": 4, "s8": 4, "e4m3": 4, "e5m2": 4, "e3m2": 4, "e2m3": 4,
    "e2m1": 4, "u4": 8, "s4": 8, "b1": 32,
}  # fmt: skip

# m8n8k4 .f16: the elements of the lanes of the first product, row and column as two digits; the lanes of product q
# are those of the first plus 4*q.
LANES = (0, 1, 2, 3, 16, 17, 18, 19)
BY_LANE = {
    ("A", "row"): ["00 01 02 03", "10 11 12 13", "20 21 22 23", "30 31 32 33",
                   "40 41 42 43", "50 51 52 53", "60 61 62 63", "70 71 72 73"],
    ("A", "col"): ["00 10 20 30", "01 11 21 31", "02 12 22 32", "03 13 23 33",
                   "40 50 60 70", "41 51 61 71", "42 52 62 72", "43 53 63 73"],
    ("B", "row"): ["00 01 02 03", "10 11 12 13", "20 21 22 23", "30 31 32 33",
                   "04 05 06 07", "14 15 16 17", "24 25 26 27", "34 35 36 37"],
    ("B", "col"): ["00 10 20 30", "01 11 21 31", "02 12 22 32", "03 13 23 33",
                   "04 14 24 34", "05 15 25 35", "06 16 26 36", "07 17 27 37"],
    ("C", "f16"): ["00 01 02 03 04 05 06 07", "10 11 12 13 14 15 16 17",
                   "20 21 22 23 24 25 26 27", "30 31 32 33 34 35 36 37",
                   "40 41 42 43 44 45 46 47", "50 51 52 53 54 55 56 57",
                   "60 61 62 63 64 65 66 67", "70 71 72 73 74 75 76 77"],
    ("C", "f32"): ["00 01 20 21 04 05 24 25", "10 11 30 31 14 15 34 35",
                   "02 03 22 23 06 07 26 27", "12 13 32 33 16 17 36 37",
                   "40 41 60 61 44 45 64 65", "50 51 70 71 54 55 74 75",
                   "42 43 62 63 46 47 66 67", "52 53 72 73 56 57 76 77"],
}  # fmt: skip


def by_rule(rows: int, inner: int, packed: int) -> dict[tuple[int, int], Place]:
    """(lane, value) -> (outer, inner) of a tile in blocks of 8 x 4*packed, walked element by element."""
    places = {}
    for outer in range(rows):
        for column in range(inner):
            lane = 4 * (outer % 8) + column // packed % 4
            register = outer // 8 + rows // 8 * (column // (4 * packed))
            places[lane, register * packed + column % packed] = (outer, column)
    return places


def by_hand(rows: list[str]) -> dict[tuple[int, int], Place]:
    """(lane, value) -> (row, col) from the lines above, for the lanes of all four products."""
    return {
        (lane + 4 * product, value): (int(pair[0]), int(pair[1]))
        for lane, line in zip(LANES, rows, strict=True)
        for product in range(4)
        for value, pair in enumerate(line.split())
    }


def compute_map(mnemonic: str, operand: str) -> dict[tuple[int, int], Place]:
    """The whole map of an operand, from its mnemonic's text alone."""
    if mnemonic.startswith("dp"):
        count = {"dp4a": 4, "dp2a": 2}[mnemonic[:4]] if operand in "AB" else 1
        return {(0, i): (i, 0) if operand == "B" else (0, i) for i in range(count)}
    m, n, k = map(int, re.search(r"m(\d+)n(\d+)k(\d+)", mnemonic).groups())
    types = dict(zip("DABC", re.findall(r"\.([a-z]+\d+(?:m\d)?)(?=\.|$)", mnemonic)[-4:], strict=True))
    if (m, n, k) == (8, 8, 4) and types["A"] == "f16":
        layouts = dict(zip("AB", re.findall(r"\.(row|col)", mnemonic), strict=True))
        return by_hand(BY_LANE["C" if operand == "D" else operand, layouts.get(operand, types[operand])])
    if operand == "A":
        return by_rule(m, k, PER_REGISTER[types["A"]])
    if operand == "B":
        return {key: (k, n) for key, (n, k) in by_rule(n, k, PER_REGISTER[types["B"]]).items()}
    return by_rule(m, n, 2)


def actual(mma: Instruction, operand: str) -> dict[tuple[int, int], Place]:
    lanes, values = numpy.arange(mma.signature.lanes)[:, None], numpy.arange(mma.operands[operand].values)
    rows, cols = mma.operands[operand].locate(lanes, values)
    places = numpy.stack([rows, cols], axis=-1).tolist()
    return {(lane, i): (row, col) for lane, line in enumerate(places) for i, (row, col) in enumerate(line)}


def wrong_operands(mnemonic: str, mma: Instruction) -> list[str]:
    return [operand for operand in mma.operands if actual(mma, operand) != compute_map(mnemonic, operand)]


def is_bijection(mma: Instruction) -> bool:
    """Whether each element of each product has one lane and value, and nothing else has one."""
    for name, operand in mma.operands.items():
        owners = Counter((mma.product(lane), *place) for (lane, _), place in actual(mma, name).items())
        rows, cols = operand.extent
        tile = {(q, r, c) for q in range(mma.signature.products) for r in range(rows) for c in range(cols)}
        if owners != Counter(tile):
            return False
    return True


@pytest.mark.long
@each("mnemonic", mnemonics())
def test_the_tables_agree_with_the_second_coding(mnemonic: str) -> None:
    mma = instruction(mnemonic)
    assert wrong_operands(mnemonic, mma) == []
    assert is_bijection(mma)


def plant_all() -> list[tuple[Path, str, str]]:
    """Every table with one wrong but bijective change: neighbouring groups, lanes or values exchanged."""
    swaps = [
        ("%laneid >> 2", "((%laneid >> 2) ^ 1)"),
        ("%laneid % 4", "((%laneid % 4) ^ 1)"),
        ("(i & 0x1)", "((i & 0x1) ^ 1)"),
        ("(i & 0x3)", "((i & 0x3) ^ 2)"),
        ("(i & 0x1F)", "((i & 0x1F) ^ 16)"),
        ("if i < 2 else", "if i >= 2 else"),
        ('"i"', '"i ^ 1"'),
    ]
    return [(path, old, new) for path in SHIPPED for old, new in swaps if old in path.read_text()]


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        pytest.param(*planted, marks=() if number % 4 == 0 else pytest.mark.slow)
        for number, planted in enumerate(plant_all())
    ],
    ids=lambda v: getattr(v, "stem", None),
)
def test_a_wrong_bijection_is_seen(path: Path, old: str, new: str, tmp_path: Path) -> None:
    (tmp_path / path.name).write_text(path.read_text().replace(old, new))
    mnemonic = mnemonics(folder=tmp_path)[0]
    mma = instruction(mnemonic, folder=tmp_path)
    assert wrong_operands(mnemonic, mma) != []
    assert is_bijection(mma), "the planted change must be one that only the second coding can see"


def test_every_table_has_a_planted_wrong_bijection() -> None:
    assert {path for path, _, _ in plant_all()} == set(SHIPPED)

# SPDX-License-Identifier: Apache-2.0
"""Which formulas a recording or a second coding confirms; docs/checks.md lists them, and those that have neither.

A bug in a formula shows where a GPU's recording has the operand, or else where a second coding in tests/isa_tables is
compared with it. The list is made of the tables, of the recordings, and of the cases of these tests.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import gpu_checks
from isa_tables import Operand, instruction, mnemonics
from tests.isa_tables import test_atlas_coding, test_second_coding, test_tensor_memory, test_thread_copies

PAGE = Path(__file__).parents[2] / "docs" / "checks.md"
OF_REGISTERS = {path.name for path in (*test_second_coding.SHIPPED, *test_atlas_coding.MAPPED)}
OF_THREADS = frozenset(test_thread_copies.NAMES)
OF_SCALES, OF_COPIES = frozenset(test_tensor_memory.SCALED), frozenset(test_tensor_memory.COPIES)
WORDS = {
    "neither": "Neither a recording nor a second coding",
    "coded": "A second coding, but no recording",
    "partly": "A second coding of each instruction, a recording of some",
    "both": "Both",
    "open": "No formula, since the ISA leaves the map open",
}


def compare_codings(name: str, operand: Operand) -> Iterator[bool]:
    """Yield for each formula of an operand whether a second coding is compared with it."""
    if operand.layouts is not None:
        yield operand.layouts in ("wgmma", "tcgen05")  # test_memory, test_tcgen05_operands
    if operand.placed:
        scale = operand.name in ("SFA", "SFB")
        yield name in OF_SCALES if scale else name in OF_COPIES or operand.name == "D"  # test_memory has D's layouts
    elif "row" in operand.maps:
        yield Path(operand.file).name in OF_REGISTERS or name in OF_THREADS
    elif operand.maps:
        yield "cta" in operand.maps and "cta_group::2" in name  # test_tcgen05_operands


@cache
def families() -> dict[str, list[str]]:
    """Return the lines of the list: what confirms the formulas of an operand, and the instructions."""
    recordings = gpu_checks.recordings()
    recorded = {*recordings, *recordings.moves}
    confirmed: dict[tuple[str, str], list[tuple[bool, bool, bool]]] = defaultdict(list)
    for name in mnemonics("*"):
        for operand in instruction(name).operands.values():
            family = Path(operand.file).stem.partition("_m")[0].partition("_")[0]
            formulas = list(compare_codings(name, operand))
            confirmed[family, operand.name].append((all(formulas), name in recorded, bool(formulas)))
    lines: dict[str, dict[str, list[str]]] = {key: defaultdict(list) for key in WORDS}
    for (family, name), cases in confirmed.items():
        known = [(second, gpu) for second, gpu, formula in cases if formula]
        second, gpu = all(second for second, _ in known), [gpu for _, gpu in known]
        if not known:
            key = "open"
        elif not all(second or gpu for second, gpu in known):
            key = "neither"
        else:
            key = "both" if second and all(gpu) else "partly" if any(gpu) else "coded"
        lines[key][family].append(name)
    return {key: [f"`{family}` {', '.join(sorted(names))}" for family, names in sorted(of.items())]
            for key, of in lines.items()}  # fmt: skip


def list_documented() -> list[str]:
    return [f"- {words}: {'; '.join(families()[key]) or 'none'}." for key, words in WORDS.items()]


def test_the_page_lists_what_confirms_each_formula() -> None:
    text = PAGE.read_text(encoding="utf-8")
    missing = [line for line in list_documented() if line not in text]
    assert missing == []


def test_a_formula_that_no_test_knows_has_neither() -> None:
    operand = instruction("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32").operands["A"]
    assert list(compare_codings("mma", operand)) == [True]
    assert not any("smem" in line for line in families()["neither"])

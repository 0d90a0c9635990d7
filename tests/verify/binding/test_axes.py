# SPDX-License-Identifier: Apache-2.0
"""The axes of operands, and which formulas say that every lane has the whole tile."""

from __future__ import annotations

from layouts.atoms import registry
from verify.atom.checker import prepare_atom
from verify.binding.axes import AXES
from verify.binding.coordinates import Memory


def test_axes_name_each_operand_of_products_and_copies() -> None:
    assert {name for name, axes in AXES.items() if axes == ("bit",)} == {"Src", "Dst", "Ref"}
    assert {len(axes) for name, axes in AXES.items() if axes != ("bit",)} == {2}


def test_only_memory_of_one_cta_is_whole_in_every_lane() -> None:
    """A layout that counts is then the formula, and one thread is drawn for all."""
    memory = Memory((16, 8), "smem", 128, "9.7.15", "ISA text")
    assert memory.whole and not memory._replace(ctas=2).whole
    for name in ("SM80_16x8x16_F32F16F16F32_TN", "SM75_U32x4_LDSM_N"):
        formulas = [formula for part in prepare_atom(registry()[name]).parts for formula in part.formulas]
        assert formulas and not any(formula.whole for formula in formulas)

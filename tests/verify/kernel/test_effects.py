# SPDX-License-Identifier: Apache-2.0
"""What an opcode does to integers that sizes decide stands in its row, and one whose row is silent is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from isa_tables import TableError
from isa_tables.formula import BinaryOperation, Identifier, Tree
from isa_tables.semantics import SHIPPED, SIZES, Meaning, meaning, rows
from tests.verify.kernel import small
from verify.kernel.sizes import shadow
from verify.kernel.sizes.effects import EFFECTS
from verify.kernel.sizes.forms import NotLifted
from verify.kernel.sizes.theorem import prove

SEED = 3
FORMS = {"ring", "exact", "bits", "choice", "copy"}


def test_each_word_of_the_column_is_used_and_has_code() -> None:
    assert {row.sizes for row in rows()} == {"", *SIZES}
    assert {row.meaning for row in rows() if row.sizes in FORMS} == EFFECTS.keys()
    assert all(row.sizes in FORMS for row in rows() if row.meaning in EFFECTS.keys() - {"integer"})


def _is_ring(tree: Tree) -> bool:
    if isinstance(tree, BinaryOperation):
        return tree.op in "+-*" and _is_ring(tree.left) and _is_ring(tree.right)
    return isinstance(tree, Identifier) or getattr(tree, "value", None) == 0


def test_a_ring_operation_is_sums_and_products_that_nothing_clamps() -> None:
    ring = [row for row in rows() if row.sizes == "ring"]
    assert len(ring) > 6
    assert all(row.value is not None and _is_ring(row.value.tree) for row in ring)
    assert not any({"sat", "relu", "cc"} & set(row.spelling.replace("?", "").split(".")) for row in ring)


def test_a_row_whose_word_nobody_knows_is_refused(tmp_path: Path) -> None:
    text = (SHIPPED / "integer.toml").read_text(encoding="utf-8").replace('sizes = "ring"', 'sizes = "rings"', 1)
    (tmp_path / "integer.toml").write_text(text, encoding="utf-8")
    with pytest.raises(TableError, match=r"opcode\[0\].sizes: 'rings' is none of ring, exact"):
        rows(tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("opcode", ["add.s32", "ld.global.f32", "fma.rn.f32", "setp.lt.s32", "ret"])
def test_an_opcode_whose_row_says_nothing_ends_a_proof(opcode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def forget(text: str) -> Meaning | None:
        decoded = meaning(text)
        return (
            replace(decoded, row=replace(decoded.row, sizes="")) if decoded is not None and text == opcode else decoded
        )

    monkeypatch.setattr(shadow, "meaning", forget)
    with pytest.raises(NotLifted, match=rf"{opcode}.* has no meaning for all sizes yet"):
        prove(small.PTX, small.claim(), seed=SEED)


def test_numbers_whose_difference_would_wrap_are_refused() -> None:
    """K - -2^63 is not K + -2^63."""
    compared = "cvt.s64.s32 %rd30, %r3;\n setp.lt.s64 %p10, %rd30, -9223372036854775808;\n@%p10 trap;\n"
    with pytest.raises(NotLifted, match=r"a number above 2\^62"):
        prove(
            small.PTX.replace("	mov.u32 %r7, %tid.x;", compared + "	mov.u32 %r7, %tid.x;"),
            small.claim(),
            seed=SEED,
        )

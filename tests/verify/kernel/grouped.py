# SPDX-License-Identifier: Apache-2.0
"""Small kernels with one axis of the grid for the tiles of two indices, and wrong ones made of them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.verify.kernel import small

IDS = "\tmov.u32 %r10, %ctaid.x;\n\tmov.u32 %r11, %ctaid.y;\n"
TILES = """
	mov.u32 %r50, %ctaid.x;
	add.s32 %r51, %r1, 3;
	shr.s32 %r51, %r51, 2;
	add.s32 %r52, %r2, 7;
	shr.s32 %r52, %r52, 3;
"""
GROUPS = (
    TILES
    + """
	shl.b32 %r53, %r52, 1;
	div.s32 %r54, %r50, %r53;
	shl.b32 %r55, %r54, 1;
	sub.s32 %r56, %r51, %r55;
	min.s32 %r56, %r56, 2;
	rem.s32 %r57, %r50, %r53;
	rem.s32 %r58, %r57, %r56;
	add.s32 %r10, %r55, %r58;
	div.s32 %r11, %r57, %r56;
"""
)
ROWS = TILES + "\tdiv.u32 %r10, %r50, %r52;\n\trem.u32 %r11, %r50, %r52;\n"
COLUMNS = TILES + "\trem.s32 %r10, %r50, %r51;\n\tdiv.s32 %r11, %r50, %r51;\n"
TWINS: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("twins_of_grouped.toml").read_text(encoding="utf-8"))


def claim(**changed: Any) -> dict[str, Any]:
    """Return the claim's table, some keys changed."""
    return small.claim(**{"grid": ["cdiv(M,4)*cdiv(N,8)", 1, 1], **changed})


def kernel(ids: str = GROUPS) -> str:
    """Return the PTX of a kernel that computes its tile so."""
    assert small.PTX.count(IDS) == 1
    return small.PTX.replace(IDS, ids)


def twin(name: str) -> str:
    """Return the PTX of a wrong kernel."""
    text = kernel()
    for old, new in TWINS[name]["edits"]:
        assert text.count(old) == 1, (name, old)
        text = text.replace(old, new)
    return text

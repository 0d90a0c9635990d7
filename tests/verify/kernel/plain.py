# SPDX-License-Identifier: Apache-2.0
"""The kernel plain_f16 with its claim for all sizes, and wrong kernels made of it that default sizes accept."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

COMPILED = Path(__file__).parents[2] / "kernels" / "compiled"
PTX = (COMPILED / "plain_f16.ptx").read_text(encoding="utf-8")
GIVEN = ("K % 16 == 0", "N % 16 == 0", "lda % 16 == 0", "ldb % 16 == 0", "ldc % 16 == 0")
ROOM = "\n.reg .b32 %x<30>;\n.reg .pred %y<10>;\n.reg .b64 %z<10>;\n"
TWINS: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("twins_of_sizes.toml").read_text(encoding="utf-8"))


def claim(given: Sequence[str] = GIVEN, kernel: str = "plain_f16") -> dict[str, Any]:
    """Return a kernel's claim for all sizes; its strides are names."""
    table = tomllib.loads((COMPILED / f"{kernel}.toml").read_text(encoding="utf-8"))
    for array in table["arrays"].values():
        del array["strides"]
    return {**table, "sizes": "all", "tiles": {"K": 32}, "given": list(given)}


@cache
def twin(name: str) -> str:
    """Return the PTX of a wrong kernel."""
    at = PTX.index("{", PTX.index(".reqntid"))
    text = PTX[: at + 1] + ROOM + PTX[at + 1 :]
    for old, new in TWINS[name]["edits"]:
        assert text.count(old) >= 1, (name, old)
        text = text.replace(old, new, 1)
    return text

# SPDX-License-Identifier: Apache-2.0
"""A small kernel with its claim for all sizes, proved in a second, and wrong kernels made of it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PTX = Path(__file__).with_name("small_sizes.ptx").read_text(encoding="utf-8")
TWINS: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("twins_of_small.toml").read_text(encoding="utf-8"))
CLAIM = """
kernel = "small"
grid   = ["cdiv(M,4)", "cdiv(N,8)", 1]
block  = 32
smem   = 4096
sizes  = "all"
tiles  = { K = 2 }
claim  = "C[m,n] = sum_k A[m,k]*B[k,n]"
params = ["A", "B", "C", "M", "N", "K", "lda", "ldb", "ldc"]
[arrays]
A = { dims = "mk", type = "f32" }
B = { dims = "kn", type = "f32" }
C = { dims = "mn", type = "f32", out = true }
"""


def claim(**changed: Any) -> dict[str, Any]:
    """Return the claim's table, some keys changed."""
    return {**tomllib.loads(CLAIM), **changed}


def twin(name: str) -> str:
    """Return the PTX of a wrong kernel."""
    text = PTX
    for old, new in TWINS[name]["edits"]:
        assert text.count(old) == 1, (name, old)
        text = text.replace(old, new)
    return text

# SPDX-License-Identifier: Apache-2.0
"""TiledMMA and TiledCopy: atoms repeated over threads and values, and the elements of a tile in each thread."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from layouts.tiled.atom import MmaAtom, TiledCopyAtom
from layouts.tiled.tiled_mma import ThrMMA, TiledMMA

if TYPE_CHECKING:
    from layouts.tiled.derivation import Step, derive
    from layouts.tiled.tiled_copy import (
        ThrCopy,
        TiledCopy,
        make_tiled_copy,
        make_tiled_copy_A,
        make_tiled_copy_B,
        make_tiled_copy_C,
    )

__all__ = [
    "MmaAtom",
    "Step",
    "ThrCopy",
    "ThrMMA",
    "TiledCopy",
    "TiledCopyAtom",
    "TiledMMA",
    "derive",
    "make_tiled_copy",
    "make_tiled_copy_A",
    "make_tiled_copy_B",
    "make_tiled_copy_C",
]

_HOME = {
    **dict.fromkeys(("Step", "derive"), "layouts.tiled.derivation"),
    **dict.fromkeys(
        ("ThrCopy", "TiledCopy", "make_tiled_copy", "make_tiled_copy_A", "make_tiled_copy_B", "make_tiled_copy_C"),
        "layouts.tiled.tiled_copy",
    ),
}


def __getattr__(name: str) -> Any:
    """Import a name's module on its first use: a tiled MMA needs no copies."""
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

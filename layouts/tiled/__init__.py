# SPDX-License-Identifier: Apache-2.0
"""TiledMMA and TiledCopy: atoms repeated over threads and values, and the elements of a tile in each thread."""

from layouts.tiled.atom import CopyAtom, MmaAtom
from layouts.tiled.derivation import Step, derive
from layouts.tiled.tiled_copy import (
    ThrCopy,
    TiledCopy,
    make_tiled_copy,
    make_tiled_copy_A,
    make_tiled_copy_B,
    make_tiled_copy_C,
)
from layouts.tiled.tiled_mma import ThrMMA, TiledMMA

__all__ = [
    "CopyAtom",
    "MmaAtom",
    "Step",
    "ThrCopy",
    "ThrMMA",
    "TiledCopy",
    "TiledMMA",
    "derive",
    "make_tiled_copy",
    "make_tiled_copy_A",
    "make_tiled_copy_B",
    "make_tiled_copy_C",
]

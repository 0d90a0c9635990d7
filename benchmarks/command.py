# SPDX-License-Identifier: Apache-2.0
"""The commands, cold: a fresh process for each, with recorded GPUs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from benchmarks.paired import Figure, cold

MAP = "((4,8),(2,2)):((32,1),(16,8))"
TILING = ("--atom", "SM80_16x8x16_F32F16F16F32_TN", "--atoms-layout", "2,2,1", "--tile", "128,128,32")
TILE = ("((4,8,2,2),(2,2,8,4)):((256,1,16,1024),(128,8,2048,32))", "--onto", "128x128")
QUICK = 1.7  # 0.2 s where these were measured: clarity may cost that, such as one second evaluation of each map
PLACES = ("--lang", "c", "--lane", "row", "--column", "col", "--tile", "128x64")
INDEX = ("--lang", "c", "--ptx", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "--operand", "C")
INDEX += ("--row", "lane/4 + 8*(i/2)", "--col", "lane%4*2 + i%2")


def figures() -> Iterator[Figure]:
    yield started("atom SM80_16x8x16", ("atom", "SM80_16x8x16"), 2.2)
    yield started("layout LAYOUT", ("layout", MAP, "--onto", "16x8"), QUICK)
    yield started("layout, a 128x128 tile", ("layout", *TILE), QUICK)
    yield started("index, one operand", ("index", *INDEX), QUICK)
    yield started("identify, every map of a size", ("identify", MAP), QUICK)
    yield started("identify, tensor memory", ("identify", *PLACES), 2.0)
    yield started("tiling, a 128x128x32 tile", ("tiling", *TILING, "-q"), 2.5)
    yield started("show LAYOUT", ("show", "(16,8):(8,1)", "-o", os.devnull), QUICK)
    yield started("show LAYOUT --onto", ("show", MAP, "--onto", "16x8", "-o", os.devnull), QUICK)
    yield started("show, a 128x128 tile as SVG", ("show", *TILE, "--svg", "-o", os.devnull), 2.5)
    for option in ("--help", "--version"):
        yield cold(f"lanecheck {option}", ("-m", "lanecheck", option), 3.0, "pass")


def started(name: str, words: Sequence[str], target: float) -> Figure:
    """The figure of a command as a user starts it, in a fresh process."""
    return cold(f"lanecheck {name}, cold", ("-m", "lanecheck", *words), target)

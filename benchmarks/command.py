# SPDX-License-Identifier: Apache-2.0
"""The commands, cold: a fresh process for each, with recorded GPUs."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.paired import Figure, against_imports, paired, process

MAP = "((4,8),(2,2)):((32,1),(16,8))"
TILING = ("--atom", "SM80_16x8x16_F32F16F16F32_TN", "--atoms-layout", "2,2,1", "--tile", "128,128,32")


def figures() -> Iterator[Figure]:
    for name, words, target in (
        ("verify.atom SM80_16x8x16", ("-m", "verify.atom", "SM80_16x8x16"), 1.5),
        ("verify.layout LAYOUT", ("-m", "verify.layout", MAP, "--onto", "16x8"), 1.0),
        ("verify.tiling, 128x128x32", ("-m", "verify.tiling", *TILING, "-q"), 2.0),
    ):
        yield against_imports(f"{name}, cold", process(*words), target)
    for option in ("--help", "--version"):
        start = process("-c", "pass")
        yield paired(f"lanecheck {option}", process("-m", "verify", option), "python -c pass", start, 3.0)

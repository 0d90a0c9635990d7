# SPDX-License-Identifier: Apache-2.0
"""The special registers of a batch of CTAs: what %tid, %ctaid and their kin hold in each thread."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from verify.kernel.claims.launch import Launch
from verify.kernel.data.registers import Word
from verify.kernel.data.values import Values

RANKS = {"%cluster_ctarank": 0, "%cluster_nctarank": 1}  # a cluster has one CTA
AXES = ("tid", "ntid", "ctaid", "nctaid", "cluster_ctaid", "cluster_nctaid", "clusterid", "nclusterid")
CLOCKS = {"%clock": 4, "%clock_hi": 4, "%clock64": 8, "%globaltimer": 8, "%globaltimer_lo": 4, "%globaltimer_hi": 4}
"""Special registers that hold the time, any number, and their bytes: PTX ISA, chapter 10."""
SPECIALS = frozenset({f"%{name}.{axis}" for name in AXES for axis in "xyz"} | {"%laneid", *RANKS, *CLOCKS})


def special_registers(
    launch: Launch, thread: NDArray[np.int64], ctas: Sequence[tuple[int, int, int]], values: Values
) -> dict[str, Word]:
    """Return what each holds; `thread` has the number of each thread in its CTA, one CTA after another."""
    x, y, z = launch.block
    named: dict[str, NDArray[np.int64]] = {
        "%laneid": thread % 32,
        **{name: np.array([value]) for name, value in RANKS.items()},
        "%tid.x": thread % x,
        "%tid.y": thread // x % y,
        "%tid.z": thread // (x * y),
    }
    for axis, letter in enumerate("xyz"):
        named[f"%ntid.{letter}"] = np.array([(x, y, z)[axis]])
        named[f"%ctaid.{letter}"] = np.repeat([cta[axis] for cta in ctas], len(thread) // len(ctas))
        named[f"%nctaid.{letter}"] = np.array([launch.grid[axis]])
        named[f"%cluster_ctaid.{letter}"] = np.array([0])
        named[f"%cluster_nctaid.{letter}"] = np.array([1])
        named[f"%clusterid.{letter}"] = named[f"%ctaid.{letter}"]
        named[f"%nclusterid.{letter}"] = named[f"%nctaid.{letter}"]
    time = values.reason("is what a clock said", 0) << 3
    clocks = {name: Word(np.zeros(1, np.uint64), np.full((1, size), time, np.uint32)) for name, size in CLOCKS.items()}
    return clocks | {name: Word(numbers.astype(np.uint64)) for name, numbers in named.items()}

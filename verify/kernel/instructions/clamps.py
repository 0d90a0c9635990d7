# SPDX-License-Identifier: Apache-2.0
"""Clamps of data: `.sat` to [0, 1] or an integer's range, `.satfinite` to the finite numbers of a format, `.relu`.

A clamp is the identity if the bounds of a value show it; otherwise it chooses, as min and max do. `.satfinite` clamps
where a format ends: what lies beyond has no rounded value there either, so it is the identity with a note. But if the
claim has the number at which it clamps, as `C[i] = min(max(A[i], -448), 448)` has that of e4m3, it is this function.
"""

from __future__ import annotations

from collections.abc import Container
from fractions import Fraction

import numpy as np

from verify.kernel.claims.expression import numbers
from verify.kernel.data.floats import largest
from verify.kernel.data.values import CHOSEN, LIMITS, Ids, Mask
from verify.kernel.state.findings import NOT_NAN
from verify.kernel.state.machine import Machine


def clamp(machine: Machine, ids: Ids, limits: tuple[float | Fraction, float | Fraction], kind: str) -> Ids:
    """Return the ids of min(max(x, least), greatest)."""
    values = machine.values
    machine.findings.note(NOT_NAN)
    for name, limit in zip(("max", "min"), limits, strict=True):
        there = np.full(ids.shape, values.number(Fraction(limit), kind), np.uint32)
        ids = values.apply(name, [ids, there], kind, CHOSEN)
    return ids


def saturate(machine: Machine, ids: Ids, kind: str, target: str, mask: Mask | None) -> Ids:
    """Return the ids of values of a type that `.sat` clamps to what a result of the target's type may be."""
    limits = LIMITS.get(target, (0, 1))
    return ids if _are_within(machine, ids, *limits, mask) else clamp(machine, ids, limits, kind)


def keep_finite(machine: Machine, ids: Ids, kind: str, target: str, mask: Mask | None) -> Ids:
    """Return the ids of values of a type that `.satfinite` clamps to the finite numbers of the target."""
    most = largest(target)
    if most in {abs(each) for each in (*numbers(machine.launch.value), *machine.launch.scalars.values())}:
        return clamp(machine, ids, (-most, most), kind)
    if not _are_within(machine, ids, -float(most), float(most), mask):
        machine.findings.note(
            f"no value lies beyond {float(most):g} in magnitude, where .satfinite clamps what becomes {target}"
        )
    return ids


def keep_integer(machine: Machine, ids: Ids, kind: str, target: str, mask: Mask | None) -> Ids:
    """Return the ids of integers, as values of a type of floats, that a conversion clamps to the target's range.

    That is the identity if bounds show it, the clamp if the claim has both ends, and else without a meaning.
    """
    least, most = LIMITS[target]
    if {most, abs(least)} <= {abs(each) for each in numbers(machine.launch.value)}:
        return saturate(machine, ids, kind, target, mask)
    used = f"a float becomes a number of type {target}, which is clamped to what lies from {least} to {most}"
    return machine.values.within(ids, least, most, used, kind)


def clamp_converted(
    machine: Machine, ids: Ids, kind: str, target: str, words: Container[str], mask: Mask | None
) -> Ids:
    """Return the ids of values of a type as the modifiers of a conversion to another one clamp them."""
    if "sat" in words:
        ids = saturate(machine, ids, kind, target, mask)
    if "satfinite" in words:
        ids = keep_finite(machine, ids, kind, target, mask)
    return machine.values.apply("relu", [ids], kind, CHOSEN) if "relu" in words else ids


def _are_within(machine: Machine, ids: Ids, low: float, high: float, mask: Mask | None) -> bool:
    """Return whether the values of the threads that execute lie within limits."""
    least, most = machine.values.bounds(ids if mask is None or len(ids) == 1 else ids[mask])
    return low <= least and most <= high

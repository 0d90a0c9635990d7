# SPDX-License-Identifier: Apache-2.0
"""What the tests of the inductions share: which laws a test is about, and layouts in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeVar

import pytest
from hypothesis import strategies as st

from proofs.definitions import Flat, at

Test = TypeVar("Test", bound=Callable[..., Any])
RANKS = (1, 2, 3, 4)
BY_BRUTE_FORCE: dict[str, Callable[..., Any]] = {}
AT_RANDOM: dict[str, Callable[..., Any]] = {}

wide = st.lists(st.tuples(st.integers(1, 2**40), st.integers(-(2**40), 2**40)), min_size=1, max_size=6)
some_layouts = st.lists(st.tuples(st.integers(1, 7), st.integers(-50, 50)), min_size=1, max_size=6)
parts = st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=6)


def by_brute_force(*laws: str) -> Callable[[Test], Test]:
    """Marks a test of these laws on all small cases of rank 1 to 4; the test takes the rank."""

    def register(test: Test) -> Test:
        BY_BRUTE_FORCE.update(dict.fromkeys(laws, test))
        return pytest.mark.parametrize("rank", RANKS)(test)

    return register


def at_random(*laws: str) -> Callable[[Test], Test]:
    """Marks a test of these laws by Hypothesis up to rank 6."""

    def register(test: Test) -> Test:
        assert getattr(test, "is_hypothesis_test", False), test
        AT_RANDOM.update(dict.fromkeys(laws, test))
        return test

    return register


def digits(a: Flat, x: int) -> list[int]:
    """The bounded digits of an index: one for each mode but the last."""
    out = []
    for s, _ in a[:-1]:
        out.append(x % s)
        x //= s
    return out


def carries(a: Flat, *summands: int) -> bool:
    """Whether adding numbers carries out of a bounded digit."""
    columns = zip(*(digits(a, x) for x in summands), strict=True)
    return any(sum(column) >= s for column, (s, _) in zip(columns, a, strict=False))


def values(a: Flat) -> list[int]:
    """The layout on its domain."""
    return [at(a, i) for i in range(prod(s for s, _ in a))]


def nested(gaps_and_extents: Sequence[tuple[int, int]]) -> tuple[Flat, int]:
    """Modes s:d with a gap before each, d_{i+1} = gap * s_i * d_i, and the product of the last mode, s * d."""
    a: Flat = []
    stride = 1
    for gap, s in gaps_and_extents:
        a.append((s, stride * gap))
        stride *= gap * s
    return a, stride


def complemented(a: Flat, target: int) -> Flat | None:
    """COMPLEMENT's chain: by stride, a gap before each mode, the last covers the target; None unless nested."""
    reach, out = 1, []
    for d, s in sorted((d, s) for s, d in a):
        if d < reach or d % reach:
            return None
        out.append((d // reach, reach))
        reach = s * d
    return [*out, (-(-target // reach), reach)]


def taken_in_runs(a: Flat, b: Flat) -> list[Flat] | None:
    """A o B by RUN_STEP: each mode of B in runs, until a digit carries or all is done; None when a run carries."""
    used = [0] * (len(a) - 1)
    out: list[Flat] = []
    for extent, stride in b:
        mode: Flat = []
        rest, step = extent, stride
        while rest > 1:
            carried = digits(a, step)
            n = min([rest, *(-(-s // p) for p, (s, _) in zip(carried, a, strict=False) if p)])
            used = [u + (n - 1) * p for u, p in zip(used, carried, strict=True)]
            if rest % n or any(u >= s for u, (s, _) in zip(used, a, strict=False)):
                return None
            mode.append((n, at(a, step)))
            rest, step = rest // n, step * n
        out.append(mode or [(1, 0)])
    return out


def generic(extents: tuple[int, ...]) -> Flat:
    """Modes with these extents and strides so far apart that no two sums of them are equal."""
    return [(s, 1009**i) for i, s in enumerate(extents)]


def composed(a: Flat, n: int, r: int) -> Flat | None:
    """A o (n:r) by the fold of COMPOSE_SKIP, COMPOSE_FIT and COMPOSE_SPLIT; None when no step applies."""
    if len(a) == 1 or n == 1:
        return [(n, r * a[0][1])] if len(a) == 1 else [(1, 0)]
    (s, d), rest = a[0], a[1:]
    if r % s == 0:
        return composed(rest, n, r // s)
    if (n - 1) * r < s:
        return [(n, r * d)]
    if s % r or n % (s // r):
        return None
    after = composed(rest, n // (s // r), 1)
    return None if after is None else [(s // r, r * d), *after]

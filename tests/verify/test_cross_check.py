# SPDX-License-Identifier: Apache-2.0
"""The checks compared with brute force, and so with one another, on random small layouts."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_checks import Controls, Recording
from layouts.atoms import registry
from verify.atom.properties import IN_BOUNDS, OWNERSHIP
from verify.binding.atom import prepare
from verify.core.verdict import Check, Status
from verify.evidence.gpu import Labels, labels, relabelling
from verify.layout.command import onto_tile

Modes = list[tuple[int, int]]


MODES = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 12)), min_size=1, max_size=3)


def text(thread: Modes, value: Modes) -> str:
    def half(which: int) -> str:
        return ",".join("(" + ",".join(str(mode[which]) for mode in modes) + ")" for modes in (thread, value))

    return f"({half(0)}):({half(1)})"


def values(modes: Modes) -> list[int]:
    """Every value of a list of modes, the first mode fastest."""
    return [sum(digits) for digits in product(*[[c * d for c in range(s)] for s, d in reversed(modes)])]


@pytest.mark.slow
@given(MODES, MODES, st.tuples(st.integers(1, 6), st.integers(1, 6)))
def test_isa_and_proof_agree_with_counting(thread: Modes, value: Modes, extent: tuple[int, int]) -> None:
    holders = Counter(t + v for t in values(thread) for v in values(value))
    size = extent[0] * extent[1]
    truth = {IN_BOUNDS: max(holders) < size, OWNERSHIP: holders == Counter(range(size))}
    report = onto_tile(text(thread, value), extent)
    verdicts = {verdict.claim.prop: verdict for verdict in report.verdicts()}
    for prop, holds in truth.items():
        wanted = Status.PROVED if holds else Status.REFUTED
        assert {e.check: e.status for e in verdicts[prop].evidence} == {Check.ISA: wanted, Check.PROOF: wanted}
        assert not verdicts[prop].contradiction


ATOM = registry()["SM80_8x8x4_F64F64F64F64_TN"]


def table(claimed: Labels) -> dict[tuple[int, int], list[int]]:
    """Which D slots a one-hot pair of A and B contributes to, by the labels: D[m, n] += A[m, k] * B[n, k]."""
    slots = {name: [tuple(label[1:]) for lane in rows.tolist() for label in lane] for name, rows in claimed.items()}
    where: dict[tuple[int, int], list[int]] = {}
    for d, (m, n) in enumerate(slots["C"]):
        where.setdefault((m, n), []).append(d)
    return {
        (a, b): where.get((m, n), [])
        for (a, (m, k)), (b, (n, k_of_b)) in product(enumerate(slots["A"]), enumerate(slots["B"]))
        if k == k_of_b
    }


def recording(hardware: Labels, numbering: dict[str, list[int]]) -> Recording:
    """What a GPU with these labels would show, its classes numbered at will."""
    operands = {}
    for name, (first, second) in {"A": ("m", "k"), "B": ("n", "k"), "C": ("m", "n")}.items():
        rows = np.full((32, len(hardware[name][0]), 4), -1, dtype=np.int64)
        rows[..., 3] = 0
        for lane, row in enumerate(hardware[name].tolist()):
            for value, (_, x, y) in enumerate(row):
                rows[lane, value, "mnk".index(first)] = numbering[first][x]
                rows[lane, value, "mnk".index(second)] = numbering[second][y]
        operands["D" if name == "C" else name] = rows
    facts = dict.fromkeys(("hash", "gpu", "sm", "driver", "cuda", "nvrtc", "sass", "kernel_hash", "date"), "")
    return Recording(
        mnemonic="simulated",
        operands=operands,
        passthrough=np.arange(64).reshape(32, 2),
        coordinates=(),
        controls=Controls(1, 0, 0, 1),
        pairs=1024,
        exceptions=(),
        emulated=False,
        **facts,
    )


def relabel(claimed: Labels, maps: dict[str, list[int]]) -> Labels:
    axes = {"A": ("m", "k"), "B": ("n", "k"), "C": ("m", "n")}
    return {
        name: np.array([[(q, maps[axes[name][0]][x], maps[axes[name][1]][y]) for q, x, y in row] for row in rows])
        for name, rows in claimed.items()
    }


PERMUTATIONS = st.fixed_dictionaries(
    {"m": st.permutations(range(8)), "n": st.permutations(range(8)), "k": st.permutations(range(4))}
)


@given(PERMUTATIONS, PERMUTATIONS, st.lists(st.tuples(st.sampled_from("ABC"), *[st.integers(0, 31)] * 2), max_size=2))
def test_the_gpu_agrees_exactly_when_the_tables_do(
    numbering: dict[str, list[int]], joint: dict[str, list[int]], swaps: list[tuple[str, int, int]]
) -> None:
    """A joint relabelling must pass; after swapping elements of one operand it passes only if no product changed."""
    subject = prepare(ATOM)
    hardware = labels(subject)
    assert not isinstance(hardware, str)
    claimed = relabel(hardware, joint)
    for name, first, second in swaps:
        rows = claimed[name]
        rows[[first, second], 0] = rows[[second, first], 0]
    outcome = relabelling(subject, claimed, recording(hardware, numbering))
    assert isinstance(outcome, int) == (table(claimed) == table(hardware))

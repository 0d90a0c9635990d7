# SPDX-License-Identifier: Apache-2.0
"""Bank conflicts recorded on an H200: the patterns, their kernels, and the rule that the record follows."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import gpu_checks
from gpu_checks import RecordingError, Unavailable
from gpu_checks.banks import command as banks
from gpu_checks.banks.command import BankObservation, check, kernel, main, measure, patterns, recordings_of_banks, write
from gpu_checks.model import DeviceFault
from gpu_checks.recordings_io.lines import with_digest
from tests.gpu_checks.kernels.test_modules import NO_NVCC
from tests.gpu_checks.simulated import INFO

PATTERNS = patterns()
RECORDED = recordings_of_banks()
KINDS = list(dict.fromkeys((pattern.operation, pattern.bits) for pattern in PATTERNS))
PHASE = {8: 32, 16: 32, 32: 32, 64: 16, 128: 8}  # lanes that are served together


def rows(pattern):
    """The addresses that are used: ldmatrix and stmatrix take eight for each matrix."""
    single, double = ("x1" in pattern.operation, "x2" in pattern.operation)
    return pattern.addresses[: 8 if single else 16 if double else 32]


def wavefronts_of(addresses, bits, phase, shared=True):
    """Phase by phase, the most words that the lanes request from one of 32 banks of four bytes, shared or one each."""
    total = 0
    for start in range(0, len(addresses), phase):
        words = [
            address // 4 + part for address in addresses[start : start + phase] for part in range(max(1, bits // 32))
        ]
        counted = set(words) if shared else words
        total += max(sum(word % 32 == bank for word in counted) for bank in range(32))
    return total


def by_phases(pattern, copies=False):
    """The plain rule: 32 lanes together for up to 32 bits, halves for 64, quarters for 128 and for matrices.

    `copies` adds what holds of asynchronous copies: nothing is shared, and they take the time of three in any case.
    """
    copy = copies and pattern.operation == "cp.async"
    return max(3 * copy, wavefronts_of(rows(pattern), pattern.bits, PHASE[pattern.bits], not copy))


def is_merged(pattern):
    """Whether it is a wide load in which every lane shares its words with lane ^ 1, or every lane with lane ^ 2."""
    twins = (all(pattern.addresses[lane] == pattern.addresses[lane ^ bit] for lane in range(32)) for bit in (1, 2))
    return pattern.operation == "load" and pattern.bits > 32 and any(twins)


def by_merged_phases(pattern):
    """The rule that the H200 follows: such a load has phases of twice the lanes, and a copy shares nothing."""
    if is_merged(pattern):
        return wavefronts_of(rows(pattern), pattern.bits, PHASE[pattern.bits] * 2)
    return by_phases(pattern, copies=True)


def test_the_patterns_are_named_once_and_lie_in_memory():
    assert len({pattern.name for pattern in PATTERNS}) == len(PATTERNS) >= 20
    assert {pattern.bits for pattern in PATTERNS} == set(PHASE)
    moved = {f"{way}matrix.x{count}{trans}" for way in ("ld", "st") for count in (1, 2, 4) for trans in ("", ".trans")}
    assert {pattern.operation for pattern in PATTERNS} == {"load", "store", "cp.async", *moved}
    for pattern in PATTERNS:
        check(pattern)


@pytest.mark.parametrize(
    ("addresses", "expected"),
    [
        ((0,) * 31, "31 addresses; a warp has 32 lanes"),
        ((*(0,) * 31, 4), "lane 31 asks for byte 4; multiples of 8"),
        ((-8, *(0,) * 31), "lane 0 asks for byte -8"),
        ((banks.MEMORY, *(0,) * 31), f"lane 0 asks for byte {banks.MEMORY}"),
    ],
)
def test_a_pattern_that_would_fault_is_rejected(addresses, expected):
    wrong = banks.Pattern("wrong", "load", 64, addresses)
    with pytest.raises(ValueError, match=expected):
        measure([wrong])


@pytest.mark.slow
@pytest.mark.skipif(NO_NVCC is not None, reason=f"needs nvcc: {NO_NVCC}")
def test_every_kernel_assembles(tmp_path):
    head, *_ = kernel(*KINDS[0]).partition('extern "C"')
    parts = [kernel(*kind).removeprefix(head).replace(" banks(", f" banks_{n}(") for n, kind in enumerate(KINDS)]
    (tmp_path / "banks.cu").write_text(head + "".join(parts))
    command = ["nvcc", "-arch=sm_90a", "-std=c++17", "-cubin", "banks.cu", "-o", "cubin"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]


def test_the_record_has_every_pattern_as_it_is_today():
    assert [recorded.pattern for recorded in RECORDED] == list(patterns())
    for recorded in RECORDED:
        assert recorded.clear, (recorded.pattern.name, recorded.cycles)
        assert recorded.kernel_hash == banks.hash_of(recorded.pattern)
        assert recorded.device.gpu and recorded.device.driver and recorded.date
    (unit,) = (recorded for recorded in RECORDED if recorded.pattern.name == banks.UNIT)
    assert unit.wavefronts == 1 and unit.cycles == unit.unit


def test_the_record_follows_the_phases_of_eight_sixteen_and_thirty_two_lanes():
    """The plain rule gives every recorded number but, too large, those of wide loads whose neighbours share words."""
    differ = {
        recorded.pattern for recorded in RECORDED if by_phases(recorded.pattern, copies=True) != recorded.wavefronts
    }
    assert differ <= {pattern for pattern in PATTERNS if is_merged(pattern)} and len(differ) == 22
    assert all(by_phases(recorded.pattern) > recorded.wavefronts for recorded in RECORDED if recorded.pattern in differ)


def test_copies_of_one_word_are_served_one_by_one():
    """Lanes that write one word conflict; stores of the same addresses do not."""
    counts = {recorded.pattern.name: recorded.wavefronts for recorded in RECORDED}
    for bits in (32, 64, 128):
        assert counts[f"cp.async {bits}, all the same"] == 32
        assert counts[f"store {bits}, all the same"] == bits // 32
    expected = {
        recorded.pattern.name: (by_phases(recorded.pattern), recorded.wavefronts)
        for recorded in RECORDED
        if recorded.pattern.operation == "cp.async" and 3 <= by_phases(recorded.pattern) != recorded.wavefronts
    }
    assert expected == {"cp.async 128, all the same": (4, 32), "cp.async 128, pairs the same": (4, 8)}
    assert by_phases(RECORDED[0].pattern, copies=True) == by_phases(RECORDED[0].pattern)


def test_the_record_follows_the_rule_with_merged_phases_in_every_pattern():
    assert [by_merged_phases(recorded.pattern) for recorded in RECORDED] == [
        recorded.wavefronts for recorded in RECORDED
    ]


@pytest.mark.parametrize("wrong", [{64: 32}, {64: 8}, {128: 16}, {128: 32}, {128: 4}, {32: 16}], ids=str)
def test_the_record_contradicts_every_other_size_of_phase(wrong):
    phase = PHASE | wrong
    plain = [
        recorded
        for recorded in RECORDED
        if not is_merged(recorded.pattern) and recorded.pattern.operation != "cp.async"
    ]
    expected = [
        wavefronts_of(rows(recorded.pattern), recorded.pattern.bits, phase[recorded.pattern.bits]) for recorded in plain
    ]
    seen = [recorded.wavefronts for recorded in plain]
    assert expected != seen


def test_only_loads_merge_and_only_if_every_pair_of_lanes_agrees():
    counts = {recorded.pattern.name: recorded.wavefronts for recorded in RECORDED}
    assert (counts["load 64, pairs the same"], counts["store 64, pairs the same"]) == (1, 2)
    assert (counts["load 128, pairs the same"], counts["store 128, pairs the same"]) == (2, 4)
    assert (counts["load 64, pairs the same but the last"], counts["load 64, pairs the same in the first half"]) == (
        2,
        2,
    )
    assert (counts["load 64, lane and lane ^ 2 the same"], counts["load 64, lane and lane ^ 4 the same"]) == (1, 2)


def test_a_record_survives_its_file_and_a_malformed_line_is_named(tmp_path):
    write(tmp_path / "gpu.jsonl", RECORDED[:3])
    assert recordings_of_banks(tmp_path) == RECORDED[:3]
    with (tmp_path / "gpu.jsonl").open("a") as lines:
        lines.write(with_digest('{"schema": 1, "name": "x"}') + "\n")
    with pytest.raises(RecordingError, match=r"gpu\.jsonl:4: operation is missing"):
        recordings_of_banks(tmp_path)


def test_cycles_between_two_counts_are_not_clear():
    recorded = RECORDED[0]
    assert not replace(recorded, cycles=1.5 * recorded.unit).clear
    assert (
        replace(recorded, cycles=2.1 * recorded.unit).clear
        and replace(recorded, cycles=2.1 * recorded.unit).wavefronts == 2
    )


class Warming:
    """A module on a GPU that was idle: its first launches take longer, and none takes quite as long as another."""

    def __init__(self, slow: int) -> None:
        self.slow, self.launches = slow, 0

    def launch(self, name, grid, block, arrays, outputs):
        self.launches += 1
        late = 3 if self.launches <= self.slow else 1 + 1e-4 * (self.launches % 3)
        cycles = np.arange(1, grid[0] + 1) * 65536 * late
        return SimpleNamespace(results=lambda: [cycles.astype(np.uint64)])


@pytest.mark.parametrize("slow", [0, 1, 4])
def test_a_gpu_that_begins_slowly_is_measured_until_no_run_is_faster(slow):
    module, group = Warming(slow), PATTERNS[:4]
    cycles_of = banks.time_patterns(module, group)
    assert [round(cycles, 2) for cycles in cycles_of.values()] == [1, 2, 3, 4]
    assert slow + 5 < module.launches < slow + 10


def test_a_gpu_that_gets_faster_without_end_is_measured_sixty_times():
    module = Warming(0)
    module.launch = lambda name, grid, block, arrays, outputs: count(module)
    banks.time_patterns(module, PATTERNS[:1])
    assert module.launches == 60


def count(module):
    module.launches += 1
    return SimpleNamespace(results=lambda: [np.array([1 << 62 - module.launches], np.uint64)])


def test_the_unit_of_every_pattern_is_the_one_of_a_wavefront(monkeypatch):
    cycles = {pattern: float(number) for number, pattern in enumerate(PATTERNS, 1)}
    monkeypatch.setattr(banks, "device_info", lambda: INFO)
    # seam: no GPU
    monkeypatch.setattr(banks, "_cycles", lambda chosen, info, quiet: {pattern: cycles[pattern] for pattern in chosen})
    (unit,) = (pattern for pattern in PATTERNS if pattern.name == "load 32, stride 1")
    measured = measure(PATTERNS[-2:])
    assert [(observation.pattern, observation.cycles, observation.unit) for observation in measured] == [
        (pattern, cycles[pattern], cycles[unit]) for pattern in PATTERNS[-2:]
    ]


def test_a_gpu_that_fails_measures_nothing(monkeypatch):
    def fails(chosen, info, quiet):
        raise DeviceFault("an illegal memory access was encountered")

    monkeypatch.setattr(banks, "device_info", lambda: INFO)
    monkeypatch.setattr(banks, "_cycles", fails)  # seam: no GPU
    assert measure(patterns()[:1]) == Unavailable("an illegal memory access was encountered")


def test_without_a_gpu_nothing_is_measured(monkeypatch, capsys):
    monkeypatch.setattr(banks, "device_info", lambda: Unavailable("no GPU here"))
    assert measure(PATTERNS[:1]) == Unavailable("no GPU here")
    assert main([]) == 4
    assert capsys.readouterr().out == f"{len(PATTERNS)} patterns  UNCHECKED  no GPU here\n"
    assert main(["--require"]) == 4 and main(["--allow-unchecked"]) == 0
    capsys.readouterr()
    assert main(["--list"]) == 0
    assert capsys.readouterr().out.splitlines() == [pattern.name for pattern in PATTERNS]


def test_an_interruption_is_one_line_and_exit_130(monkeypatch, capsys):
    def stopped(chosen, quiet):
        raise KeyboardInterrupt

    monkeypatch.setattr(banks, "measure", stopped)
    assert main([]) == 130
    assert capsys.readouterr().err == "banks: interrupted\n"


@pytest.mark.gpu
def test_the_gpu_agrees_with_the_recordings():
    info = gpu_checks.device_info()
    if info.gpu not in {recorded.device.gpu for recorded in RECORDED}:
        pytest.skip(f"gpu: no recording of {info.gpu}")
    measured = measure(PATTERNS)
    assert not isinstance(measured, Unavailable), measured
    assert all(isinstance(observation, BankObservation) and observation.clear for observation in measured)
    assert [observation.wavefronts for observation in measured] == [observation.wavefronts for observation in RECORDED]


def draw_pattern(random):
    """A pattern drawn at random: any words, or few of them, or with twins among the lanes."""
    operation = str(random.choice(["load", "load", "store", "cp.async", "ldmatrix.x4", "stmatrix.x4.trans"]))
    bits = 128 if "matrix" in operation else int(random.choice([32, 64, 128]))
    lane, many = np.arange(32), int(random.choice([4, 16, 64, banks.MEMORY * 8 // bits]))
    word = random.integers(0, many, 32) * int(random.choice([1, 2, 8])) % (banks.MEMORY * 8 // bits)
    twins = int(random.choice([0, 1, 2, 3, 4, 16]))
    same = word[lane & ~twins]
    same[lane >= int(random.choice([32, 32, 31, 16]))] = word[31]
    return banks.Pattern(str(random), operation, bits, tuple(map(int, same * bits // 8)))


def test_fresh_patterns_are_of_many_kinds():
    random = np.random.default_rng(5)
    drawn = [draw_pattern(random) for _ in range(300)]
    for pattern in drawn:
        check(pattern)
    assert sum(map(is_merged, drawn)) > 20 and len({by_merged_phases(pattern) for pattern in drawn}) > 10
    assert sum(by_phases(pattern) != by_merged_phases(pattern) for pattern in drawn) > 10


@pytest.mark.gpu
def test_patterns_drawn_at_random_follow_the_rule_too():
    """The rule was found on the recorded patterns; these are drawn anew."""
    info = gpu_checks.device_info()
    if info.gpu not in {recorded.device.gpu for recorded in RECORDED}:
        pytest.skip(f"gpu: no recording of {info.gpu}")
    random = np.random.default_rng()
    drawn = [draw_pattern(random) for _ in range(600)]
    measured = measure(drawn)
    assert not isinstance(measured, Unavailable), measured
    wrong = [observation for observation in measured if observation.wavefronts != by_merged_phases(observation.pattern)]
    assert not wrong, (len(wrong), wrong[0])

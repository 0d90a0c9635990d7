# SPDX-License-Identifier: Apache-2.0
"""On a real GPU: relations, products, and instructions that break the process they run in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gpu_checks
from gpu_checks import DeviceInfo, Recording, Unavailable
from gpu_checks.worker import Multiply, Relate, Worker
from isa_tables.signature import mnemonics, runs_on, signature
from tests.gpu_checks.simulated import tile_maps

pytestmark = pytest.mark.gpu

TILED = [
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
    "mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32",
    "mma.sync.aligned.m8n8k32.row.col.satfinite.s32.s4.u4.s32",
    "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc",
    "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc",
]
OTHERS = [
    "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16",
    "mma.sync.aligned.m8n8k4.col.row.f16.f16.f16.f16",
    "dp4a.u32.u32",
    "dp2a.hi.s32.u32",
]
TRAP = "trap;"
STRAY = "{ .reg .u64 p; mov.u64 p, 8; st.global.u32 [p], %1; }"
LONG = (
    "{ .reg .u64 s, t; .reg .pred q; mov.u64 s, %%globaltimer; again: mov.u64 t, %%globaltimer; sub.u64 t, t, s; "
    "setp.lt.u64 q, t, 20000000000; @q bra again; }"
)


@pytest.fixture(scope="module")
def worker():
    with Worker() as worker:
        yield worker


def here(name):
    s, info = signature(name), gpu_checks.device_info()
    assert isinstance(info, DeviceInfo)
    if not runs_on(s, info.sm):
        pytest.skip(f"gpu: {name} needs {' or '.join(s.targets)}, device is {info.sm}")
    return s


@pytest.mark.parametrize("name", TILED + OTHERS)
def test_a_relation_is_sound_and_the_recorded_one(name, worker):
    recording = gpu_checks.relation(here(name), worker=worker)
    assert isinstance(recording, Recording)
    assert recording.sound, (recording.exceptions, recording.controls)
    assert {recording.hash} == {recorded.hash for recorded in gpu_checks.recordings()[name]}


@pytest.mark.parametrize("name", TILED)
def test_products_through_the_tiles_of_the_isa_are_exact_and_through_others_are_not(name, worker):
    s = here(name)
    maps = {operand: labels[..., :2] for operand, labels in tile_maps(s).items()}
    assert gpu_checks.multiply(s, maps, worker=worker) == 0
    for operand, wrong in (("A", np.roll(maps["A"], 1, axis=0)), ("B", maps["B"][::-1]), ("D", maps["D"][:, ::-1])):
        mismatches = gpu_checks.multiply(s, maps | {operand: wrong}, worker=worker)
        assert isinstance(mismatches, int) and mismatches > 0, operand


@pytest.mark.parametrize("name", TILED)
def test_absolute_coordinates_are_the_tiles_of_the_isa(name, worker):
    s = here(name)
    recording = gpu_checks.relation(s, trials=1, worker=worker)
    assert isinstance(recording, Recording)
    moved = [coordinates for coordinates in recording.coordinates if coordinates.name != "wgmma"]
    assert len(moved) == (0 if s.operands["A"].type == "f64" else 3 if runs_on_stmatrix(recording.sm) else 2)
    for coordinates in recording.coordinates:
        want = tile_maps(s)[coordinates.operand][..., :2]
        assert ((coordinates.labels == want) | (coordinates.labels == -1)).all()
        assert (coordinates.labels[..., 0] >= 0).all()


@pytest.mark.parametrize(
    "name",
    [
        "mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32",
        "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
        "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16",
        "wgmma.mma_async.sync.aligned.m64n24k256.s32.b1.b1.and.popc",
        "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16",
        "wgmma.mma_async.sp.sync.aligned.m64n64k64.s32.u8.s8.satfinite",
    ],
)
def test_a_digit_coded_relation_is_sound_and_the_recorded_one(name, worker):
    recording = gpu_checks.relation(here(name), worker=worker)
    assert isinstance(recording, Recording)
    assert recording.sound, (recording.exceptions, recording.controls)
    (recorded,) = gpu_checks.recordings()[name]
    assert (recording.hash, recording.kernel_hash) == (recorded.hash, recorded.kernel_hash)
    assert [image.labels.tolist() for image in recording.images] == [image.labels.tolist() for image in recorded.images]
    if recording.metadata is not None:
        rulers = [
            {f: r.tolist() for f, r in recording_of.metadata.rulers.items()} for recording_of in (recording, recorded)
        ]
        assert rulers[0] == rulers[1]


@pytest.mark.parametrize("selector", [2, 3])
@pytest.mark.parametrize("sp", ["sp", "sp::ordered_metadata"])
def test_selectors_that_only_the_assembler_takes_are_illegal(sp, selector):
    s = here(f"mma.{sp}.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32")
    beyond = replace(s, select={}, chosen={"F": selector}, asm=s.asm.rpartition(", ")[0] + f", {selector}")
    outcome = gpu_checks.relation(beyond)
    assert isinstance(outcome, Unavailable)
    assert "ILLEGAL_INSTRUCTION" in outcome.reason or "IllegalInstruction" in outcome.reason


@pytest.mark.parametrize(
    "name", ["ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16", "movmatrix.sync.aligned.m8n8.trans.b16"]
)
def test_a_move_is_the_recorded_one(name, worker):
    move = gpu_checks.move(here(name), worker=worker)
    assert isinstance(move, gpu_checks.Move) and move.sound
    (recorded,) = gpu_checks.recordings().moves[name]
    assert move.places.tolist() == recorded.places.tolist()


def test_a_move_is_no_relation_and_a_product_no_move(worker):
    move, product = "ldmatrix.sync.aligned.m8n8.x1.shared.b16", "dp4a.s32.s32"
    assert isinstance(gpu_checks.relation(here(move), worker=worker), Unavailable)
    assert isinstance(gpu_checks.move(here(product), worker=worker), Unavailable)


def runs_on_stmatrix(sm):
    return int(sm.strip("smaf_")) >= 90


def test_an_instruction_of_another_architecture_is_unavailable(worker):
    info = gpu_checks.device_info()
    assert isinstance(info, DeviceInfo)
    absent = [s for s in map(signature, mnemonics()) if not runs_on(s, info.sm)]
    if not absent:
        pytest.skip(f"gpu: {info.gpu} runs every instruction of the tables")
    reason = f"needs {' or '.join(absent[0].targets)}; {info.gpu} is {info.sm}"
    assert gpu_checks.relation(absent[0], worker=worker) == Unavailable(reason)


def test_bad_instructions_are_marked_and_the_ones_behind_them_answered():
    good = here("dp4a.s32.s32")
    trap, stray, long, nonsense = (
        replace(good, mnemonic=f"{text} {good.mnemonic}") for text in (TRAP, STRAY, LONG, "mma.nonsense;")
    )
    maps = {"A": np.array([[[0, k] for k in range(4)]]), "B": np.array([[[k, 0] for k in range(4)]])}
    maps["C"] = np.zeros((1, 1, 2), int)
    jobs = [
        Relate(good),
        Relate(trap),
        Multiply(good, maps),
        Relate(stray),
        Relate(nonsense),
        Relate(long),
        Relate(good),
    ]
    with Worker(timeout=8) as worker:
        results = [result for _, result in worker.run_jobs(jobs)]
    assert results[0].sound and results[2] == 0 and results[6].hash == results[0].hash
    bad = [results[n] for n in (1, 3, 4, 5)]
    assert all(isinstance(result, Unavailable) for result in bad), bad
    assert "LAUNCH_FAILED" in bad[0].reason or "LaunchFailure" in bad[0].reason
    assert "ILLEGAL_ADDRESS" in bad[1].reason or "IllegalAddress" in bad[1].reason
    assert bad[2].reason.startswith("NVRTC rejects it for ")
    assert bad[3].reason == "no answer within 8 s; the probe process was ended"

# SPDX-License-Identifier: Apache-2.0
"""Validation: ours are valid; one that was cut, edited or exchanged is rejected with what is wrong."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from gpu_checks import recordings
from gpu_checks.recordings_io.validation import is_stale, misfit, why_incomplete
from isa_tables.signature import signature
from tests.messages import OTHER_LABELS

LIBRARY = recordings()
F16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
BF16 = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
COPIED = "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"
WIDE = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"
THIN = "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16"
MOVE = "ldmatrix.sync.aligned.m8n8.x2.shared.b16"


@pytest.mark.slow
def test_every_shipped_recording_is_valid_for_its_instruction():
    """Shapes, labels, images, metadata; and that the kernels that made it are those that are here."""
    for library in (LIBRARY, LIBRARY.moves):
        for name in library:
            for recording in library[name]:
                assert misfit(recording, signature(name)) == "" and not is_stale(recording, signature(name)), name


def relabel(labels, at, value):
    changed = labels.astype(np.int64)
    changed[at] = value
    return changed


def operand(name, change):
    return lambda r: replace(r, operands={**r.operands, name: change(r.operands[name])})


def first_image(change):
    return lambda r: replace(r, images=(change(r.images[0]), *r.images[1:]))


def metadata(part, change):
    def changed(recording):
        tables = {key: change(labels) for key, labels in getattr(recording.metadata, part).items()}
        return replace(recording, metadata=recording.metadata._replace(**{part: tables}))

    return changed


def instead(name):
    """The content of another instruction's recording under this one's name."""
    return lambda r: replace(LIBRARY[name][0], mnemonic=r.mnemonic)


SPOILED = [
    (F16, operand("A", lambda x: x[:, :4]), r"A has \(32, 4\) lanes and values, the instruction \(32, 8\)"),
    (F16, operand("D", lambda x: x.reshape(16, 8, 4)), r"D has \(16, 8\) lanes and values, the instruction \(32, 4\)"),
    (F16, operand("B", lambda x: np.full_like(x, -1)), "128 elements of B have no label"),
    (F16, operand("A", lambda x: relabel(x, (7, 2, 2), -1)), "1 elements of A have no label"),
    (F16, operand("A", lambda x: relabel(x, (7, 2, 0), 16)), r"labels of A lie outside \(16, 16, 1\)"),
    (F16, operand("D", lambda x: relabel(x, (0, 0, 1), 2**20 - 1)), r"labels of D lie outside \(16, 8, 1\)"),
    (F16, lambda r: replace(r, passthrough=r.passthrough[:16]), r"passthrough has \(16, 4\) lanes and values"),
    (F16, lambda r: replace(r, passthrough=r.passthrough * 0), "passthrough is not each element of D once"),
    (F16, lambda r: replace(r, passthrough=r.passthrough - 1), "passthrough is not each element of D once"),
    (F16, lambda r: replace(r, controls=r.controls._replace(trials=0)), "the controls are of no trial"),
    (
        F16,
        lambda r: replace(r, coordinates=(r.coordinates[0]._replace(labels=r.coordinates[0].labels[1:]),)),
        "the absolute coordinates of A by ldmatrix",
    ),
    (
        F16,
        lambda r: replace(
            r, coordinates=(r.coordinates[0]._replace(labels=relabel(r.coordinates[0].labels, (7, 2, 1), 16)),)
        ),
        r"the absolute coordinates of A by ldmatrix are outside \(16, 16\)",
    ),
    (F16, lambda r: replace(r, probe="codes"), "probe is 'codes', the instruction's is 'pairs'"),
    (F16, lambda r: replace(r, metadata=LIBRARY[THIN][0].metadata), "metadata are there"),
    (
        F16,
        lambda r: replace(r, images=LIBRARY[WIDE][0].images),
        "the image B K-major 32B is none of the instruction",
    ),
    (F16, instead("dp4a.s32.s32"), r"A has \(1, 4\) lanes and values"),
    (F16, instead(WIDE), "probe is 'codes'"),
    (F16, instead(BF16), f"kernel_hash is that of the kernels of {BF16}"),
    (COPIED, operand("A", lambda x: np.full_like(x, -1)), "512 elements of A have no label"),
    (COPIED, operand("D", lambda x: np.full_like(x, -1)), "256 elements of D have no label"),
    (WIDE, first_image(lambda i: i._replace(labels=i.labels[:, 1:])), "does not hold each element once"),
    (
        WIDE,
        first_image(lambda i: i._replace(labels=relabel(i.labels, (0, 1), i.labels[0, 0]))),
        "not hold each element",
    ),
    (
        WIDE,
        first_image(lambda i: i._replace(labels=relabel(i.labels, (0, 1, 2), 999))),
        "does not hold each element once",
    ),
    (WIDE, first_image(lambda i: i._replace(lbo=-16)), "has offsets -16 and"),
    (WIDE, first_image(lambda i: i._replace(swizzle="256B")), "is none of the instruction's"),
    (WIDE, instead(THIN), r"B has \(1, 256\) lanes and values"),
    (THIN, lambda r: replace(r, metadata=None), "metadata are missing"),
    (THIN, lambda r: replace(r, metadata=r.metadata._replace(kept={})), "no pattern or no selector"),
    (THIN, lambda r: replace(r, metadata=r.metadata._replace(rulers={})), "no pattern or no selector"),
    (THIN, metadata("kept", lambda k: k + 32), "metadata: a k lies outside 32"),
    (THIN, metadata("rulers", lambda x: x + 100), "metadata: a ruler lies outside 128 lanes of 8 fields"),
    (THIN, metadata("rulers", lambda x: relabel(x, (3, 1, 1), -1)), "metadata: a ruler lies outside"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "change", "said"), SPOILED, ids=range(len(SPOILED)))
def test_a_recording_that_its_probe_cannot_have_written_is_reported(name, change, said):
    (recording,) = LIBRARY[name]
    spoiled = change(recording)
    assert spoiled.sound
    assert re.search(said, misfit(spoiled, signature(name)))
    assert misfit(replace(spoiled, exceptions=("it was not clean",)), signature(name)) == ""


MOVED = [
    (lambda p: p[:16], r"places have the shape \(16, 8, 2\), the instruction's \(32, 8, 2\)"),
    (lambda p: relabel(p, (3, 2), -1), "bytes of registers have no place, or share one"),
    (lambda p: relabel(p, (3, 2), p[3, 3]), "bytes of registers have no place, or share one"),
    (lambda p: relabel(p, (3, 2, 0), 32), "a place lies outside 32 lanes of 16 bytes"),
    (lambda p: relabel(p, (3, 2, 1), 16), "a place lies outside 32 lanes of 16 bytes"),
]


@pytest.mark.parametrize(("change", "said"), MOVED, ids=range(len(MOVED)))
def test_a_move_that_its_probe_cannot_have_written_is_reported(change, said):
    (move,) = LIBRARY.moves[MOVE]
    assert re.search(said, misfit(replace(move, places=change(move.places)), signature(MOVE)))


@pytest.mark.parametrize("name", [F16, WIDE, THIN])
def test_two_elements_exchanged_and_another_hash_are_not_what_was_observed(name):
    (recording,) = LIBRARY[name]
    exchanged = np.array(recording.operands["A"])
    exchanged[[3, 9]] = exchanged[[9, 3]]
    swapped = replace(recording, operands={**recording.operands, "A": exchanged})
    assert misfit(swapped, signature(name)) == "" and why_incomplete(recording) == ""
    for wrong in (swapped, replace(recording, hash=recording.hash[::-1])):
        assert why_incomplete(wrong) == OTHER_LABELS

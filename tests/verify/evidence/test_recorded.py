# SPDX-License-Identifier: Apache-2.0
"""A recording in words: what is known of it to be emulated or stale is said; a live one has no place."""

from __future__ import annotations

from dataclasses import replace

import gpu_checks
from tests.messages import OTHER_KERNELS
from verify.evidence.recorded import place, source

MNEMONIC = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"


def test_a_recording_says_where_it_is_from_and_what_it_is_worth() -> None:
    recording = next(iter(gpu_checks.recordings()[MNEMONIC]))
    plain = replace(recording, emulated=False, stale=False)
    assert source(plain) == f"recording of {recording.gpu}, {recording.sm}, driver {recording.driver}"
    assert place(plain) == f"{recording.file}:{recording.line}" and recording.line > 1
    live = replace(plain, file="", emulated=True, stale=True)
    assert (
        source(live)
        == f"live on {recording.gpu}, {recording.sm}, driver {recording.driver}, known emulated, {OTHER_KERNELS}"
    )
    assert place(live) == ""

# SPDX-License-Identifier: Apache-2.0
"""Summaries of recordings for `gpu_checks.probe`, made in the worker process: the labels stay there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpu_checks.record import Bench, record
from gpu_checks.recording import Move, Recording
from gpu_checks.recordings_io.writer import RecordedLines, to_lines
from isa_tables.signature import Signature


@dataclass(frozen=True, slots=True)
class RecordingSummary:
    """The summary of a recording, with its lines if they are kept."""

    mnemonic: str  # of the instruction
    sound: bool  # whether it is a matrix product, or a move, without exception
    emulated: bool | None  # not one native opcode; None where the SASS was not seen
    sass: str  # matrix opcodes that it became
    pairs: int  # of one element of A and one of B; of a move none
    extent: str  # what was observed, in words
    objections: tuple[str, ...]  # why it is not sound
    lines: RecordedLines | None  # its lines; None where none are kept


@dataclass(frozen=True, slots=True)
class Find:
    """A job of the worker: record an instruction and summarize what was found."""

    signature: Signature
    trials: int
    seed: int
    keep: bool  # whether the finding has the recording's lines

    def on(self, bench: Bench) -> RecordingSummary:
        """Return the finding."""
        recording = record(bench, self.signature, self.trials, self.seed)
        pairs = recording.pairs if isinstance(recording, Recording) else 0
        return RecordingSummary(
            recording.mnemonic,
            recording.sound,
            recording.emulated,
            recording.sass,
            pairs,
            f"{pairs} pairs" if isinstance(recording, Recording) else f"{recording.places.size // 2} bytes",
            tuple(_objections(recording)),
            to_lines(recording) if self.keep else None,
        )


def _objections(recording: Recording | Move) -> Iterator[str]:
    yield from recording.exceptions
    if isinstance(recording, Move):
        return
    controls = recording.controls
    if controls is None:
        yield "the labels are not complete: nothing could be multiplied through them"
    elif not controls.hold:
        yield (
            f"controls: {controls.product} wrong elements through the labels (want 0), {controls.relabelled} "
            f"when renamed (want 0), {controls.rotated} when rotated (want some)"
        )

# SPDX-License-Identifier: Apache-2.0
"""What a GPU does with the elements of a matrix instruction's operands, observed by probes and recorded.

Definition
----------
A *slot* is one value of one lane of an operand, numbered lane * values + value. A *probe* is a kernel that issues one
instruction on registers filled so that its results show which slots belong together. It is made from the instruction's
signature alone: mnemonic, registers, element types. This package has no formula and no layout, so that observations
can contradict both.

For D = A * B + C the probe takes every pair of a slot of A and a slot of B. Both hold one, all else holds zero. If the
two elements have the same k, exactly one element of D becomes one; else none does. The table of all pairs,
T[a][b] = slot of D or NONE, is what was observed. Two slots that contribute to a D slot together *interact*. Slots of
A that contribute to the same D slots share a row, slots of B that interact with the same A slots share a k, and so on:
the *classes* of the slots are the rows, the columns and the k of the product, up to their names. The table is
reconstructed from the classes alone, and must be the one observed.

A worked example
----------------
What an H200 did with m16n8k16, in which a lane holds 8 values of A, 4 of B and 4 of D:

>>> import gpu_checks
>>> (seen,) = gpu_checks.recordings()["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"]
>>> seen.gpu, seen.sass, seen.pairs                       # 256 slots of A by 128 of B
('NVIDIA H200', 'HMMA.16816.F32', 32768)

Slot 0 of A is lane 0, value 0. With slot 0 of B it contributes to slot 0 of D; with slot 16, which is lane 4, value 0,
to slot 1; with slot 1 to nothing (65535), for they have different k:

>>> from gpu_checks.inference.pair_relation import classes, rebuild
>>> table = rebuild(seen.operands)
>>> table[0, [0, 16, 1]].tolist()
[0, 1, 65535]

So B's slots 0 and 16 share a k and lie in different columns. All pairs together give the classes; these are the rows of
lane 0's values of A, which the ISA calls 0, 0, 8, 8, 0, 0, 8, 8:

>>> from isa_tables.signature import signature
>>> observed = classes(signature(seen.mnemonic), table)
>>> observed.operands["A"][0, :, 0].tolist(), observed.notes
([0, 0, 1, 1, 0, 0, 1, 1], ())

Memory gives the rows their numbers. ldmatrix, stmatrix and wgmma move between registers and addresses; where their
registers are those of the product, they give its classes *absolute coordinates*:

>>> [(by.name, by.labels[0, :, 0].tolist()) for by in seen.coordinates if by.operand == "A"]
[('ldmatrix', [0, 0, 8, 8, 0, 0, 8, 8]), ('wgmma', [0, 0, 8, 8, 0, 0, 8, 8])]

Every recording has controls: random products through the classes must be right, with their names permuted too, and
wrong when D's lanes are rotated by one. Where there is no result, :class:`Unavailable` has the reason.

How an instruction is recorded
------------------------------
`probe` or `relation`   select the instructions  `worker`      runs each job in a watched process of its own
`record`                one instruction's probes `inference`   queries, and classes from their answers
`device`                the GPU, through CuPy    `kernels`     CUDA text from a signature and the `.cu` files there
`recordings_io`         recordings as JSON Lines, read, written and validated

Instructions with metadata or matrices in shared memory have too many pairs. They get a digit-coded probe: B holds the
digits of the numbers of its slots, and D shows which slots it got (`kernels.digit_coded`). Copies are followed byte by
byte (`inference.copies`). `banks` times accesses to shared memory, `tilings` multiplies matrices by kernels made from
layouts, `laws` evaluates laws on grids, `order` leaves out barriers and fences, `compiled` runs any PTX text,
`discover` prints the map of an instruction, or of a user's function, `opcodes` runs every form of every opcode.

Main declarations
-----------------
`recordings(*paths)`          recordings: mnemonic -> :class:`Recording`, one of each GPU; `.moves` has the copies
`relation(signature)`         probe a product on the GPU at hand; `move(signature)` probes a copy
`multiply(signature, maps)`   how many elements of D are wrong when random products go through given maps
`device_info()`               which GPU there is, and which compiler

References: PTX ISA 9.7.14.5 (mma.sync, ldmatrix, stmatrix), 9.7.14.6 (mma.sp), 9.7.15 (wgmma), 9.7.16 (tcgen05);
gpu_checks/recordings/README.md has the results, and how to record a GPU.
"""

from __future__ import annotations

from lanecheck.console import interrupts

interrupts.end_at_once()  # before the imports below: Ctrl-C meanwhile isn't a traceback

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

if sys.argv[:1] == ["-m"]:  # so Python calls it while it imports the package of a command
    from lanecheck.console.installation import insist

    insist()  # before the imports below, which fail where a file of the user's hides ours

if TYPE_CHECKING:
    from gpu_checks.device.cuda import device_info
    from gpu_checks.inference.product import Maps
    from gpu_checks.model import Controls, DeviceInfo, ElementCoordinates, Image, Metadata, Unavailable
    from gpu_checks.recording import Move, Recording
    from gpu_checks.recordings_io.errors import RecordingError
    from gpu_checks.recordings_io.reader import Recordings, recordings
    from gpu_checks.worker import Job, Worker
    from isa_tables.signature import Signature

__all__ = [
    "Controls",
    "DeviceInfo",
    "ElementCoordinates",
    "Image",
    "Metadata",
    "Move",
    "Recording",
    "RecordingError",
    "Recordings",
    "Unavailable",
    "device_info",
    "move",
    "multiply",
    "recordings",
    "relation",
]

_HOME = {
    **dict.fromkeys(
        ("Controls", "ElementCoordinates", "DeviceInfo", "Image", "Metadata", "Unavailable"), "gpu_checks.model"
    ),
    **dict.fromkeys(("Move", "Recording"), "gpu_checks.recording"),
    **dict.fromkeys(("Recordings", "recordings"), "gpu_checks.recordings_io.reader"),
    "RecordingError": "gpu_checks.recordings_io.errors",
    "device_info": "gpu_checks.device.cuda",
}


def __getattr__(name: str) -> Any:
    """Import a name's module on its first use: a caller that reads no recording imports none of them."""
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def relation(
    signature: Signature, trials: int = 64, seed: int = 0, worker: Worker | None = None
) -> Recording | Unavailable:
    """Probe a matrix product: which elements interact, the passthrough of C, controls and absolute coordinates.

    A worker takes about two seconds to start; pass one to probe several instructions:

        with Worker() as worker:
            found = [relation(s, worker=worker) for s in signatures]
    """
    from gpu_checks.model import Unavailable
    from gpu_checks.recording import Move
    from gpu_checks.worker import Relate

    seen = cast("Recording | Move | Unavailable", _ask(Relate(signature, trials, seed), worker))
    return Unavailable(f"{signature.mnemonic} moves matrices: use `move`") if isinstance(seen, Move) else seen


def move(signature: Signature, worker: Worker | None = None) -> Move | Unavailable:
    """Observe ldmatrix, stmatrix or movmatrix byte by byte, with addresses drawn at random."""
    from gpu_checks.model import Unavailable
    from gpu_checks.recording import Recording
    from gpu_checks.worker import Relate

    seen = cast("Recording | Move | Unavailable", _ask(Relate(signature), worker))
    if isinstance(seen, Recording):
        return Unavailable(f"{signature.mnemonic} multiplies: use `relation`")
    return seen


def multiply(
    signature: Signature, maps: Maps, trials: int = 64, seed: int = 0, worker: Worker | None = None
) -> int | Unavailable:
    """How many D elements of random exact products through the maps differ from A @ B + C.

    `maps["A"][lane][value]` is the (row, col) that the element holds, as the ISA names it: A (m, k),
    B (k, n), C (m, n). A third number names the product, for an instruction that makes several; D uses C's
    map unless it has its own. ValueError for a map of the wrong shape or outside the tile.
    """
    from gpu_checks.worker import Multiply

    return cast("int | Unavailable", _ask(Multiply(signature, maps, trials, seed), worker))


def _ask(job: Job, worker: Worker | None) -> object:
    from gpu_checks.worker import Worker

    if worker is not None:
        return next(iter(worker.run_jobs([job])))[1]
    with Worker() as own:
        return next(iter(own.run_jobs([job])))[1]

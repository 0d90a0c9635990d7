# SPDX-License-Identifier: Apache-2.0
"""The witness of silicon: probes that run an instruction and record what each lane held.

`device_info()` says which GPU there is. `relation(signature)` records which elements of A, B and D meet and
`move(signature)` where a matrix move takes each byte;
`multiply(signature, maps)` multiplies random matrices through claimed maps; `recordings()` is what earlier
runs saw. Where there is no answer the result is `Unavailable` with its reason, never a pass.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

if sys.argv[:1] == ["-m"]:  # so Python calls it while it imports the package of a command
    from gpu_checks.installation import insist

    insist()  # before the imports below, which fail where a file of the user's hides ours

from gpu_checks.device.cuda import device_info
from gpu_checks.model import Anchor, Controls, DeviceInfo, Image, Metadata, Move, Recording, Unavailable
from gpu_checks.recordings_io.lines import RecordingError
from gpu_checks.recordings_io.reader import Recordings, recordings

if TYPE_CHECKING:
    from gpu_checks.inference.product import Maps
    from gpu_checks.worker import Job, Worker
    from isa_tables.signature import Signature

__all__ = [
    "Anchor",
    "Controls",
    "DeviceInfo",
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


def relation(
    signature: Signature, trials: int = 64, seed: int = 0, worker: Worker | None = None
) -> Recording | Unavailable:
    """Probe a matrix product: who meets whom, its C passthrough, controls and anchors.

    A worker takes about two seconds to start; pass one to ask for several instructions:

        with Worker() as worker:
            found = [relation(s, worker=worker) for s in signatures]
    """
    from gpu_checks.worker import Relate

    found = cast("Recording | Move | Unavailable", _ask(Relate(signature, trials, seed), worker))
    return Unavailable(f"{signature.mnemonic} moves matrices: ask for `move`") if isinstance(found, Move) else found


def move(signature: Signature, worker: Worker | None = None) -> Move | Unavailable:
    """Observe ldmatrix, stmatrix or movmatrix byte by byte, with addresses drawn at random."""
    from gpu_checks.worker import Relate

    found = cast("Recording | Move | Unavailable", _ask(Relate(signature), worker))
    if isinstance(found, Recording):
        return Unavailable(f"{signature.mnemonic} multiplies: ask for `relation`")
    return found


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
        return next(iter(worker.run([job])))[1]
    with Worker() as own:
        return next(iter(own.run([job])))[1]

# SPDX-License-Identifier: Apache-2.0
"""The reconstructed table, which a recording's labels imply, and its hash to compare with that of the observed one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpu_checks.arrays import np
from gpu_checks.inference import interactions, pair_relation
from gpu_checks.inference.sparse import outer
from gpu_checks.model import CONTRACTED
from gpu_checks.recording import Recording


def hash_of(recording: Recording) -> str:
    """SHA-256 of the reconstructed table; it is `recording.hash` where the labels are complete."""
    if recording.probe == "pairs":
        return pair_relation.digest(pair_relation.rebuild(recording.operands))
    a, b, d = (recording.operands[name].reshape(-1, 4) for name in "ABD")
    kept = [a[:, CONTRACTED]] if recording.metadata is None else list(recording.metadata.kept.values())
    tables = []
    for k in outer(np.stack(kept)):
        placed = np.array(a)
        placed[:, CONTRACTED] = k.ravel()
        tables.append(interactions.rebuild(placed, b, d))
    return interactions.digest(tables)


def incomplete(recordings: Iterable[Recording]) -> Iterator[Recording]:
    """Yield recordings whose labels do not rebuild the observed table; labels that several share are rebuilt once."""
    # The cache key is every label that is read: a wrong label is rebuilt anew.
    rebuilt: dict[tuple[str | bytes, ...], str] = {}
    for recording in recordings:
        kept = recording.metadata.kept.values() if recording.metadata else ()
        tables = (labels.tobytes() for labels in (*recording.operands.values(), *kept))
        key = (recording.probe, *tables)
        if key not in rebuilt:
            rebuilt[key] = hash_of(recording)
        if rebuilt[key] != recording.hash:
            yield recording

# SPDX-License-Identifier: Apache-2.0
"""Recorded metadata of sparse instructions: those of another lane are refuted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.verify.test_planted_recordings import SPARSE, change_label, evidence_on, recording
from verify.core.verdict import Status


def test_metadata_that_were_not_swept_bear_nothing_out() -> None:
    """Without a pattern or a selector of the ISA tables nothing is compared."""
    right = recording(SPARSE)
    assert right.metadata is not None and evidence_on(SPARSE, right).status is Status.AGREES
    kept, rulers = right.metadata.kept, right.metadata.rulers
    for part, tables in (("kept", kept), ("rulers", rulers)):
        for left in ({}, dict(list(tables.items())[1:])):
            evidence = evidence_on(SPARSE, replace(right, metadata=right.metadata._replace(**{part: left})))
            assert evidence.status is Status.UNCHECKED and "are not those of the ISA tables" in evidence.reason


def test_metadata_of_the_next_lane_are_refuted() -> None:
    """That a GPU ignores the selector an atom cannot see: its E is in the lanes of both."""
    right = recording(SPARSE)
    assert right.metadata is not None
    rotated = {f: change_label(r, np.s_[..., 0], (r[..., 0] + 4) % 128) for f, r in right.metadata.rulers.items()}
    evidence = evidence_on(SPARSE, replace(right, metadata=right.metadata._replace(rulers=rotated)))
    assert evidence.status is Status.REFUTED

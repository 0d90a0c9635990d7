# SPDX-License-Identifier: Apache-2.0
"""The claim's value is computed where a launch, or a part of one, is judged, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.kernels.campaign import CORPUS
from verify.kernel.claims.claim_file import read_claim
from verify.kernel.comparison import Comparison, find_boxes
from verify.kernel.data.values import Values
from verify.kernel.interpretation import Interpretation
from verify.kernel.ptx.parse import parse_kernel

SHAPES: list[tuple[int, ...]] = [(7,), (5, 6), (3, 4, 5)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_boxes_have_every_set_element_and_are_apart(shape: tuple[int, ...], share: float) -> None:
    mask = np.random.default_rng(1).random(shape) < share
    count = np.zeros(shape, int)
    for box in find_boxes(mask):
        assert mask[box].any()
        count[box] += 1
    assert (count <= 1).all() and count[mask].all()


@pytest.mark.parametrize("name", ["wgmma", "softmax"])
def test_a_part_of_a_launch_has_the_values_of_the_whole_and_no_others(name: str) -> None:
    """In softmax_n the index n is summed over: all of a row is computed, and rows that aren't judged are not."""
    text, claim = (CORPUS / f"{name}.ptx").read_text(), read_claim(CORPUS / f"{name}.toml")
    launch = claim.launches[0]
    runs = []
    for ctas in ((), (1,)):
        run = Interpretation(
            parse_kernel(text, claim.kernel),
            launch._replace(ctas=ctas),
            Values(1, exponents=name == "softmax"),
            10**7,
            {},
        )
        run.interpret()
        runs.append((run, Comparison(run)))
    (_, whole), (run, part) = runs
    assert run.part == (1, int(np.prod(launch.grid))) and 0 < part.judged.sum() < part.judged.size
    assert (part.residues[:, part.judged] == whole.residues[:, part.judged]).all()
    assert (part.wanted.ravel()[part.judged] == whole.wanted.ravel()[part.judged]).all()
    assert not part.residues[:, ~part.judged].any(), "nothing is computed that isn't judged"
    assert not part.wrong.any() and part.compared == part.judged.sum()

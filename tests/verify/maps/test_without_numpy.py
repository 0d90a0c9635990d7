# SPDX-License-Identifier: Apache-2.0
"""Without numpy, as in a browser, maps are decided by `at` alone: every mma.sync atom, right and wrong."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
sys.modules["numpy"] = None  # an import of it fails
import verify.maps.map, verify.maps.strided, verify.maps.expression, verify.maps.bases
from layouts.atoms import Atom, registry
from verify.binding.atom import prepare
from verify.core.digits import modes
from verify.evidence import isa
from verify.evidence.layout_repair import with_strides

FIND = (
    lambda subject, part: isa.in_bounds(part.points),
    lambda subject, part: isa.ownership(part.points, subject.multiplicity(part)),
    isa.equals,
)
known, refuted = {}, 0
for atom in registry().values():
    if not isinstance(atom, Atom) or atom.known_defect or not (atom.ptx or ("",))[0].startswith("mma.sync"):
        continue
    subject = prepare(atom)
    for part in subject.parts:
        key = part.points.key, part.keys, subject.multiplicity(part), atom.thr
        if key not in known:
            assert not part.points.searchable
            known[key] = [find(subject, part)[2] for find in FIND]
            layout = part.layout_of_text
            wrong = part.of_layout(with_strides(layout, [2 * d for _, d in modes(layout.shape, layout.stride)]))
            refuted += any(find(subject, wrong)[2] is not None for find in FIND)
print(len(known), sum(any(each) for each in known.values()), refuted)
"""


@pytest.mark.long
def test_every_mma_sync_atom_is_decided_point_by_point() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    operands, wrong, refuted = map(int, done.stdout.split())
    assert operands > 20 and refuted == operands
    assert wrong == 0

# SPDX-License-Identifier: Apache-2.0
"""Matrix moves on simulated machines: every byte is followed, whatever the addresses."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_checks.record import record
from gpu_checks.store import recordings, write
from gpu_checks.worker import Bench
from isa_tables.signature import mnemonics, runs_on, signature
from tests.gpu_checks.simulated import INFO, Simulated

ALL = ("ldmatrix", "stmatrix", "movmatrix")
NAMES = [m for f in ALL for m in mnemonics(f"{f}.sync") if runs_on(signature(m), INFO.sm)]


def made(name, kind=Simulated):
    machine = kind({}, moves=ALL)
    return record(machine, signature(name), Bench(machine).landmarks, trials=1, seed=0)


def expected(name, lane, byte):
    """Register q of lane 4r + t holds halves 2t and 2t + 1 of row r of matrix q, or of its column with .trans."""
    q, y, low = byte // 4, byte // 2 % 2, byte % 2
    if name.startswith("movmatrix"):
        return [4 * (2 * (lane % 4) + y) + lane // 8, 2 * (lane // 4 % 2) + low]
    r, e = (2 * (lane % 4) + y, lane // 4) if ".trans" in name else (lane // 4, 2 * (lane % 4) + y)
    return [8 * q + r, 2 * e + low]


@pytest.mark.parametrize("name", NAMES)
def test_every_byte_of_a_move_is_followed(name):
    found = made(name)
    assert found.sound and found.trials == 8
    lanes, bytes_ = found.places.shape[:2]
    assert found.places.tolist() == [[expected(name, lane, byte) for byte in range(bytes_)] for lane in range(lanes)]


@pytest.mark.parametrize("name", NAMES)
def test_the_recorded_gpu_moves_so_too(name):
    (found,) = recordings().moves[name]
    assert found.sound and found.gpu == "NVIDIA H200"
    assert found.places.tolist() == [
        [expected(name, lane, byte) for byte in range(found.places.shape[1])] for lane in range(32)
    ]


class Lazy(Simulated):
    """The first row is always the one that lane 1 names when that is an even one."""

    def move(self, signature, memory, rows, given):
        turned = rows.copy()
        turned[:, 0] = np.where(rows[:, 1] % 2 == 0, rows[:, 1], rows[:, 0])
        return super().move(signature, memory, turned, given)


def test_a_move_that_depends_on_the_addresses_is_told():
    found = made("ldmatrix.sync.aligned.m8n8.x4.shared.b16", Lazy)
    assert not found.sound and any("differently for other addresses" in note for note in found.exceptions)


def test_moves_are_read_back_beside_the_others(tmp_path):
    originals = [made(name) for name in NAMES[:4]]
    library = recordings(write(tmp_path, "ldmatrix.sync", originals))
    for original in originals:
        back = library.moves[original.mnemonic][-1]
        assert (back.places == original.places).all() and back.trials == original.trials and back.gpu == "Simulated"
        assert original.mnemonic not in library
    with pytest.raises(KeyError):
        library.moves["mma.sync"]

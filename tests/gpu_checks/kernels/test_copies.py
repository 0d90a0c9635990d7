# SPDX-License-Identifier: Apache-2.0
"""Matrix moves on simulated machines: every byte is followed, whatever the addresses."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_checks.inference import copies as inferred
from gpu_checks.kernels import tensor_memory
from gpu_checks.kernels.copies import ROWS, registers
from gpu_checks.record import Bench, record
from gpu_checks.recordings_io.reader import recordings
from gpu_checks.recordings_io.writer import to_lines, write
from isa_tables.signature import mnemonics, runs_on, signature
from tests.cases import each
from tests.gpu_checks.simulated import INFO, Simulated

ALL = ("ldmatrix", "stmatrix", "movmatrix")
NAMES = [m for f in ALL for m in mnemonics(f"{f}.sync") if runs_on(signature(m), INFO.sm)]


def make_copy(name, kind=Simulated):
    machine = kind({}, moves=ALL)
    return record(Bench(machine), signature(name), trials=1, seed=0)


def expect_byte(name, lane, byte):
    """Register q of lane 4r + t holds halves 2t and 2t + 1 of row r of matrix q, or of its column with .trans."""
    q, y, low = byte // 4, byte // 2 % 2, byte % 2
    if name.startswith("movmatrix"):
        return [4 * (2 * (lane % 4) + y) + lane // 8, 2 * (lane // 4 % 2) + low]
    r, e = (2 * (lane % 4) + y, lane // 4) if ".trans" in name else (lane // 4, 2 * (lane % 4) + y)
    return [8 * q + r, 2 * e + low]


@each("name", NAMES)
def test_every_byte_of_a_move_is_followed(name):
    move = make_copy(name)
    assert move.sound and move.trials == 8
    lanes, bytes_ = move.places.shape[:2]
    assert move.places.tolist() == [[expect_byte(name, lane, byte) for byte in range(bytes_)] for lane in range(lanes)]


@each("name", NAMES)
def test_the_recorded_gpu_moves_so_too(name):
    (move,) = recordings().moves[name]
    assert move.sound and move.gpu == "NVIDIA H200"
    assert move.places.tolist() == [
        [expect_byte(name, lane, byte) for byte in range(move.places.shape[1])] for lane in range(32)
    ]


class Lazy(Simulated):
    """The first row is always the one that lane 1 names when that is an even one."""

    def move(self, signature, memory, rows, given):
        turned = rows.copy()
        turned[:, 0] = np.where(rows[:, 1] % 2 == 0, rows[:, 1], rows[:, 0])
        return super().move(signature, memory, turned, given)


def test_a_move_that_depends_on_the_addresses_is_reported():
    move = make_copy("ldmatrix.sync.aligned.m8n8.x4.shared.b16", Lazy)
    assert not move.sound and any("differently for other addresses" in note for note in move.exceptions)


class Astray(Simulated):
    """The first row is always one that no lane names."""

    def move(self, signature, memory, rows, given):
        turned = rows.copy()
        turned[:, 0] = [min(set(range(ROWS)) - set(row.tolist())) for row in rows]
        return super().move(signature, memory, turned, given)


def test_a_byte_from_a_row_that_no_lane_names_has_no_place():
    move = make_copy("ldmatrix.sync.aligned.m8n8.x4.shared.b16", Astray)
    assert not move.sound and "not moved to or from one byte" in move.exceptions[0]
    places = move.places.reshape(-1, 2)
    assert places[places[:, 0] < 0].tolist() == [[-1, -1]] * 16


def test_a_byte_before_the_address_is_shared_like_any_other():
    places = np.array([[[0, -4], [0, -4]], [[1, 0], [-1, -1]]])
    assert inferred.notes_on(places, np.array([[True, True], [True, False]])) == (
        "1 register bytes are not moved to or from one byte",
        "1 register bytes move differently for other addresses",
        "1 register bytes share their byte with another",
    )


def test_moves_are_read_back_beside_the_others(tmp_path):
    originals = [make_copy(name) for name in NAMES[:4]]
    library = recordings(write(tmp_path, "ldmatrix.sync", map(to_lines, originals)))
    for original in originals:
        back = library.moves[original.mnemonic][-1]
        assert (back.places == original.places).all() and back.trials == original.trials and back.gpu == "Simulated"
        assert original.mnemonic not in library
    with pytest.raises(KeyError):
        library.moves["mma.sync"]


class Tensor(Simulated):
    """A GPU whose Tensor Memory is halves of columns, distributed over the halves of registers at random."""

    def places(self, signature):
        s, random = signature, np.random.default_rng(6)
        columns, lanes = s.operands["R"].extent[1] + 9, 16 if "16x" in s.mnemonic else 32
        places = random.permutation(lanes * columns * 2)[: 32 * registers(s).regs * 2]
        lane, rest = np.divmod(places, columns * 2)
        return lane.reshape(32, -1), rest.reshape(32, -1)

    def move(self, signature, memory, rows, given):
        memory, taken = memory.copy(), np.full(given.shape, 0xFFFFFFFF, np.uint32)
        lane, half = self.places(signature)
        tensor, mine = memory.view("<u2"), taken.view("<u2")
        for trial in range(len(rows)):
            at = lane, half + 2 * rows[trial, :1, None].astype(int)
            if "tcgen05.ld" in signature.mnemonic:
                mine[trial] = tensor[trial][at]
            else:
                tensor[trial][at] = np.ascontiguousarray(given[trial]).view("<u2").reshape(lane.shape)
        return memory, taken


def tensor_machine(kind=Tensor):
    return kind({}, info=INFO._replace(sm="sm_100a"))


@pytest.mark.parametrize("name", ["ld.sync.aligned.32x32b.x2.b32", "st.sync.aligned.16x64b.x4.unpack::16b.b32"])
@pytest.mark.parametrize("room", [0, 7])
def test_every_byte_of_a_move_to_tensor_memory_is_followed(name, room, monkeypatch):
    monkeypatch.setattr(tensor_memory, "room", lambda s: room)
    s, machine = signature(f"tcgen05.{name}"), tensor_machine()
    move = record(Bench(machine), s, trials=1, seed=0)
    assert move.sound
    lane, half = machine.places(s)
    want = [np.repeat(lane, 2, axis=1), np.repeat(2 * half, 2, axis=1) + np.arange(2 * lane.shape[1]) % 2]
    assert (move.places == np.stack(want, axis=-1)).all()


class Fixed(Tensor):
    """It takes the first columns whatever the address."""

    def move(self, signature, memory, rows, given):
        return super().move(signature, memory, np.zeros_like(rows), given)


class Incomplete(Tensor):
    """One half of a register is not stored."""

    def move(self, signature, memory, rows, given):
        lane, half = self.places(signature)
        before = memory.view("<u2").copy()
        after, taken = super().move(signature, memory, rows, given)
        for trial in range(len(rows)):
            at = lane[3, 1], half[3, 1] + 2 * int(rows[trial, 0])
            after.view("<u2")[trial][at] = before[trial][at]
        return after, taken


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (Fixed, "move differently for other addresses"),
        (Incomplete, "2 register bytes are not moved to or from one byte"),
    ],
)
def test_a_move_to_tensor_memory_that_does_not_fit_is_reported(kind, expected):
    s, machine = signature("tcgen05.st.sync.aligned.16x128b.x1.b32"), tensor_machine(kind)
    notes = record(Bench(machine), s, trials=1, seed=0).exceptions
    assert any(expected in note for note in notes)


def test_addresses_stay_inside_tensor_memory():
    rooms = {m: tensor_memory.room(signature(m)) for f in ("ld", "st") for m in mnemonics(f"tcgen05.{f}.sync")}
    assert rooms["tcgen05.ld.sync.aligned.16x64b.x128.pack::16b.b32"] == 0
    assert rooms["tcgen05.st.sync.aligned.16x32bx2.x128.b32"] == 512 - 128 - 128
    assert len(rooms) == 148 and all(0 <= room < 512 for room in rooms.values())

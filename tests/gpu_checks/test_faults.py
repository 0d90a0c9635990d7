# SPDX-License-Identifier: Apache-2.0
"""Machines that are wrong in one thing, of each kind of probe: every one is found by its exceptions or controls."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpu_checks.machine import Hits
from gpu_checks.record import Bench, record
from gpu_checks.recordings_io.validation import misfit, why_incomplete
from isa_tables.signature import signature as look_up
from tests.gpu_checks.kernels.test_digit_coded import SPARSE, THIN, WIDE, sparse_machine, wide_machine
from tests.gpu_checks.simulated import Simulated, random_maps

pytestmark = pytest.mark.slow

F64 = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"
F16 = "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16"
B1 = "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc"


def machine_of(name, kind):
    """The simulated machine of an instruction, with elements distributed at random."""
    if name.startswith("wgmma"):
        return wide_machine(name, kind)
    if name.startswith("mma.sp"):
        return sparse_machine(name, kind)
    s = look_up(name)
    return s, kind({name: random_maps(s, np.random.default_rng(7))})


def record_probe(name, kind):
    s, machine = machine_of(name, kind)
    return record(Bench(machine), s, trials=4, seed=1)


class OneBit(Simulated):
    """One word of one lane's D is wrong by its lowest bit, in one trial of all."""

    def run(self, signature, a, b, c, fixed=None):
        words = super().run(signature, a, b, c, fixed)
        words[-1, -1, -1] ^= 1
        return words


class Lanes(Simulated):
    """Products take B from two lanes exchanged, which the relation did not show; in memory, from two places."""

    def run(self, signature, a, b, c, fixed=None):
        b = b.copy()
        lanes = b if b.shape[1] > 1 else b.reshape(len(b), -1, 4)  # rows of 16 bytes
        lanes[:, [1, 2]] = lanes[:, [2, 1]]
        return super().run(signature, a, lanes.reshape(b.shape), c, fixed)


class Accumulators(Simulated):
    """Products take C from two lanes exchanged, but not where A and B are zero."""

    def run(self, signature, a, b, c, fixed=None):
        if a.any():
            c = c.copy()
            c[:, [1, 2]] = c[:, [2, 1]]
        return super().run(signature, a, b, c, fixed)


class Forgetful(Simulated):
    """Products leave out C."""

    def run(self, signature, a, b, c, fixed=None):
        return super().run(signature, a, b, c if not a.any() else np.zeros_like(c), fixed)


EVERY = [F64, B1, SPARSE[0], WIDE]


@pytest.mark.parametrize("kind", [OneBit, Lanes, Accumulators, Forgetful])
@pytest.mark.parametrize("name", EVERY)
def test_products_that_are_wrong_in_one_thing_fail_the_controls(name, kind):
    recording = record_probe(name, kind)
    assert not recording.sound
    assert recording.controls is None or recording.controls.product + recording.controls.relabelled > 0


def spoil_pair(at, value):
    """A table in which one pair, the `at`-th that interacts, has another value."""

    def spoil(table):
        a, b = np.argwhere(table != 0xFFFF)[at]
        table[a, b] = table[a, b] ^ 1 if value is None else value
        return table

    return spoil


@pytest.mark.parametrize("value", [None, 0xFFFF, 0xFFF0, 0xFFFD], ids=["other", "none", "unwritten", "code"])
@pytest.mark.parametrize("name", [F64, F16])
def test_one_pair_that_interacts_elsewhere_or_not_at_all_is_reported(name, value):
    s, machine = machine_of(name, Simulated)
    machine.spoil = spoil_pair(17, value)
    recording = record(Bench(machine), s, trials=2, seed=0)
    assert recording.exceptions and not recording.sound


def test_one_pair_that_interacts_and_should_not_is_reported():
    s, machine = machine_of(F64, Simulated)

    def spoil(table):
        a, b = np.argwhere(table == 0xFFFF)[5]
        table[a, b] = table[a].min()
        return table

    machine.spoil = spoil
    assert record(Bench(machine), s, trials=2, seed=0).exceptions


class Changes(Simulated):
    """One answer of all digit-coded probes, the `turn`-th, is changed."""

    turn = -1  # none

    def hits(self, signature, several):
        answered = super().hits(signature, several)
        wanted = self.__dict__.setdefault("wanted", 0)
        self.wanted += len(answered)
        if wanted <= self.turn < self.wanted:
            answered[self.turn - wanted] = self.changed(answered[self.turn - wanted])
        return answered


class Drops(Changes):
    def changed(self, hits):
        counts = hits.counts.copy()
        counts[find_inner_element(hits)] -= 1
        return Hits(counts, hits.places, hits.codes)


class Elsewhere(Changes):
    def changed(self, hits):
        places = hits.places.copy()
        places[find_inner_element(hits), 0] ^= 1
        return Hits(hits.counts, places, hits.codes)


class Another(Changes):
    def changed(self, hits):
        codes = hits.codes.copy()
        codes[find_inner_element(hits), 0] ^= 1
        return Hits(hits.counts, hits.places, codes)


def find_inner_element(hits):
    """An element of A, neither the first nor the last, that is there."""
    return np.flatnonzero(hits.counts)[9]


@pytest.fixture(scope="module")
def honest():
    return {name: record_probe(name, Simulated) for name in (SPARSE[0], WIDE, THIN)}


@pytest.mark.parametrize("kind", [Drops, Elsewhere, Another])
@pytest.mark.parametrize(("name", "turns"), [(SPARSE[0], (0, 3, 8)), (WIDE, (0, 3, 15)), (THIN, (5, 12))])
def test_a_wrong_element_of_any_answer_is_reported_or_recorded(name, turns, kind, monkeypatch, honest):
    """An element reported at an empty place of an image contradicts nothing: only the ISA tables can show it."""
    for turn in turns:
        monkeypatch.setattr(kind, "turn", turn)
        recording = record_probe(name, kind)
        assert not recording.sound or observation(recording) != observation(honest[name]), turn
        assert not recording.sound or kind is Another


def observation(recording):
    return [image.labels.tolist() for image in recording.images]


def test_recordings_of_a_correct_machine_are_valid(honest):
    """For any distribution of its elements."""
    moves = Simulated({}, moves=("ldmatrix", "stmatrix", "movmatrix"))
    for name in (*MOVES, "movmatrix.sync.aligned.m8n8.trans.b16"):
        assert misfit(record(Bench(moves), look_up(name), 1, 0), look_up(name)) == ""
    for name, recording in (
        *honest.items(),
        *((name, record_probe(name, Simulated)) for name in (F64, F16, "dp4a.s32.s32")),
    ):
        assert misfit(recording, look_up(name)) == "" and why_incomplete(recording) == ""


class Narrow(Simulated):
    """Has 8 columns, whatever the instruction says; the others are never written."""

    def one_hit(self, signature, coded):
        hit = super().one_hit(signature, coded)
        columns = self.maps[signature.mnemonic]["D"].reshape(-1, 3)[hit.places, 1]
        return replace(hit, counts=np.minimum(hit.counts, (columns < 8).sum(axis=1)).astype(np.uint32))


class Rotated(Simulated):
    """Products, but nothing else, are ruled by the metadata of the next lane."""

    def run(self, signature, a, b, c, fixed=None):
        return super().run(signature, a, b, c, np.roll(fixed, 1, axis=1))


class Heedless(Simulated):
    """Reads A in memory under the first selector, whichever is asked for."""

    def stored_at(self, signature, words):
        if signature.operands["A"].space == "smem":
            signature = look_up(signature.mnemonic, A_space="smem", F=0)
        return super().stored_at(signature, words)


class Straying(Simulated):
    """With A in memory, one product of the last configuration goes to another column's element of D."""

    def one_hit(self, signature, coded):
        hit = super().one_hit(signature, coded)
        if coded.a is not None:
            maps = self.maps[signature.mnemonic]["D"].reshape(-1, 3)
            (stray,) = np.flatnonzero((maps[:, 0] == maps[hit.places[-1, 0], 0]) & (maps[:, 1] == 7))
            hit.places[-1, 0] = stray
        return hit


@pytest.mark.parametrize(("kind", "name"), [(Narrow, THIN), (Rotated, SPARSE[0]), (Heedless, THIN), (Straying, WIDE)])
def test_another_n_and_other_metadata_and_selectors_than_asked_for_are_reported(kind, name):
    assert not record_probe(name, kind).sound


class OneByte(Simulated):
    """One bit of one word that a move writes is wrong, in the last trial."""

    def move(self, signature, memory, rows, given):
        image, taken = super().move(signature, memory, rows, given)
        if signature.mnemonic.startswith("stmatrix"):
            image[-1, rows[-1, 3], 1] ^= 4
        else:
            taken[-1, 7, 0] ^= 4
        return image, taken


class Beyond(OneByte):
    """In every trial a byte shows a number that no source byte has."""

    def move(self, signature, memory, rows, given):
        image, taken = Simulated.move(self, signature, memory, rows, given)
        if signature.mnemonic.startswith("stmatrix"):
            image[np.arange(len(rows)), rows[:, 3], 1] |= 0xFE
        else:
            taken[:, 7, 0] |= 0xFE
        return image, taken


class TwoLanes(Simulated):
    """In the first trial a move takes two lanes' registers, or addresses, for each other."""

    def move(self, signature, memory, rows, given):
        rows, given = rows.copy(), given.copy()
        rows[0, [2, 5]], given[0, [2, 5]] = rows[0, [5, 2]], given[0, [5, 2]]
        return super().move(signature, memory, rows, given)


class Deaf(Simulated):
    """One lane's address, or register, is ignored: its neighbour's is taken."""

    def move(self, signature, memory, rows, given):
        rows, given = rows.copy(), given.copy()
        rows[:, 5], given[:, 5] = rows[:, 4], given[:, 4]
        return super().move(signature, memory, rows, given)


MOVES = ["ldmatrix.sync.aligned.m8n8.x2.shared.b16", "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16"]


@pytest.mark.parametrize("kind", [OneByte, Beyond, TwoLanes, Deaf])
@pytest.mark.parametrize("name", [*MOVES, "movmatrix.sync.aligned.m8n8.trans.b16"])
def test_a_move_that_is_wrong_in_one_thing_is_reported(name, kind):
    machine = kind({}, moves=("ldmatrix", "stmatrix", "movmatrix"))
    recording = record(Bench(machine), look_up(name), trials=1, seed=0)
    assert recording.exceptions and not recording.sound

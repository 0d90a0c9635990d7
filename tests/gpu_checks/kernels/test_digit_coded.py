# SPDX-License-Identifier: Apache-2.0
"""Sparse instructions and wgmma on simulated machines: the distribution is recorded, and faults are reported."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpu_checks.inference.reconstructed import hash_of
from gpu_checks.kernels.forms import forms
from gpu_checks.kernels.packing import digits
from gpu_checks.kernels.smem_matrix import MAJORS, window, windows
from gpu_checks.model import COLUMN, CONTRACTED, ROW
from gpu_checks.record import Bench, record
from gpu_checks.recordings_io.reader import recordings
from gpu_checks.recordings_io.writer import to_lines, write
from isa_tables.signature import mnemonics, signature
from tests.gpu_checks.simulated import Simulated, random_maps
from tests.messages import OTHER_PRODUCT

pytestmark = pytest.mark.slow

SPARSE = [
    "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
    "mma.sp.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32",
]
WIDE = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"
THIN = "wgmma.mma_async.sp.sync.aligned.m64n16k16.f32.tf32.tf32"  # of more columns than rulers are read against


def sparse_machine(name, kind=Simulated):
    """Elements distributed at random; each group of stored elements is ruled by a field chosen at random."""
    s, random = signature(name), np.random.default_rng(3)
    maps = random_maps(s, random)
    maps["D"] = maps["C"]
    return s, kind({s.mnemonic: maps}, rulers=random_rulers(s, maps, random))


def random_rulers(s, maps, random):
    per = len(next(iter(s.sparsity.kept.values())))
    groups = s.operands["A"].extent[1] // per
    rulers = {}
    for selector in s.select["F"]:
        fields = random.permutation(s.lanes * 8)[: s.shape[0] * groups].reshape(s.shape[0], groups)
        rulers[selector] = np.stack(np.divmod(fields[maps["A"][..., 0], maps["A"][..., 1] // per], 8), axis=-1)
    return rulers


@pytest.mark.parametrize("name", SPARSE)
def test_a_sparse_instruction_is_recorded_with_its_distribution(name):
    s, machine = sparse_machine(name)
    recording = record(Bench(machine), s, trials=4, seed=1)
    assert recording.exceptions == () and recording.sound
    assert {f: labels.tolist() for f, labels in recording.metadata.rulers.items()} == {
        f: labels.tolist() for f, labels in machine.rulers.items()
    }
    maps = machine.maps[name]
    k_of = np.empty(s.shape[2], int)
    k_of[recording.operands["B"][..., CONTRACTED]] = maps["B"][..., 0]
    for pattern, kept in recording.metadata.kept.items():
        fields = np.full((s.lanes, 1), pattern * 0x11111111, np.uint32)
        assert (k_of[kept] == machine.stored_at(forms(s)[0].signature, fields)[..., 1]).all()
    assert hash_of(recording) == recording.hash


class Crossed(Simulated):
    """With the last selector, lane 5's metadata is taken for lane 6's."""

    def stored_at(self, signature, words):
        words = words.copy()
        if signature.chosen["F"] == signature.select["F"][-1]:
            words[6] = words[5]
        return super().stored_at(signature, words)


class Torn(Simulated):
    """One element of A is ruled by two fields at once."""

    def stored_at(self, signature, words):
        stored = super().stored_at(signature, words)
        if words[0, 0] & 2:
            stored[7, 1, 1] = stored[8, 1, 1]
        return stored


def test_metadata_of_another_lane_and_of_two_fields_is_reported():
    s, machine = sparse_machine(SPARSE[0], Crossed)
    recording = record(Bench(machine), s, trials=4, seed=1)
    right, seen = machine.rulers[3], recording.metadata.rulers[3]
    assert (seen[right[..., 0] == 6] != right[right[..., 0] == 6]).any()
    assert (seen[(right[..., 0] != 6)] == right[right[..., 0] != 6]).all()
    s, machine = sparse_machine(SPARSE[0], Torn)
    assert not record(Bench(machine), s, trials=4, seed=1).sound


def wide_machine(name=WIDE, kind=Simulated):
    """The plainest images are panels of 16-byte rows; the other modes have random places."""
    s, random = signature(name), np.random.default_rng(4)
    maps = random_maps(s, random)
    images = {}
    for operand in "AB":
        fragment = forms(s)[1].signature.operands[operand]  # of a sparse A the columns are those stored
        mn, k = fragment.extent if operand == "A" else fragment.extent[::-1]
        across = 128 // fragment.bits
        for image in windows(operand, fragment, MAJORS):
            places = np.full((image.size * 8 // fragment.bits, 2), -1)
            panels, rows, inside = np.indices((k // across, mn, across)).reshape(3, -1)
            every = np.stack([rows, panels * across + inside], axis=-1)
            plain = (image.swizzle, image.major) == ("none", "K")
            places[slice(None) if plain else random.permutation(len(places))[: mn * k]] = every
            images[s.mnemonic, operand, image.swizzle, image.major] = places if operand == "A" else places[:, ::-1]
    maps["B"] = np.concatenate([images[s.mnemonic, "B", "none", "K"], np.zeros((mn * k, 1), int)], axis=1)[None]
    maps["C"] = maps["D"]
    rulers = random_rulers(s, maps, random) if s.sparsity else {}
    return s, kind({s.mnemonic: maps}, images=images, rulers=rulers)


@pytest.fixture(scope="module")
def wide():
    s, machine = wide_machine()
    return machine, record(Bench(machine), s, trials=4, seed=1)


def test_wgmma_is_recorded_with_absolute_coordinates(wide):
    machine, recording = wide
    assert recording.exceptions == () and recording.sound
    assert [(a.name, a.operand) for a in recording.coordinates] == [("wgmma", x) for x in "ABD"]
    for coordinates in recording.coordinates:
        assert (coordinates.labels == machine.maps[WIDE][coordinates.operand][..., :2]).all()
    assert hash_of(recording) == recording.hash


def test_every_image_is_labelled_by_the_relation(wide):
    machine, recording = wide
    assert len(recording.images) == 15  # four modes of each major, less the one of the relation
    names = {(0, tuple(x)): tuple(y) for a in recording.coordinates for x, y in _pairs(recording, a)}
    for image in recording.images:
        axes = (ROW, CONTRACTED) if image.operand == "A" else (CONTRACTED, COLUMN)
        want = machine.images[WIDE, image.operand, image.swizzle, image.major]
        for label, pair in zip(image.labels[0][:, axes].tolist(), want.tolist(), strict=True):
            expected = (-1, -1) if label[0] < 0 else names[0, (image.operand, *label)]
            assert expected == tuple(pair)


def _pairs(recording, coordinates):
    axes = {"A": (ROW, CONTRACTED), "B": (CONTRACTED, COLUMN), "D": (ROW, COLUMN)}[coordinates.operand]
    classes = recording.operands[coordinates.operand][..., axes].reshape(-1, 2).tolist()
    return [
        ((coordinates.operand, *c), x) for c, x in zip(classes, coordinates.labels.reshape(-1, 2).tolist(), strict=True)
    ]


@pytest.fixture(scope="module")
def thin():
    s, machine = wide_machine(THIN)
    return machine, record(Bench(machine), s, trials=4, seed=1)


def test_sparse_wgmma_is_recorded_with_its_metadata_and_absolute_coordinates(thin):
    machine, recording = thin
    assert recording.exceptions == () and recording.sound and hash_of(recording) == recording.hash
    assert {f: labels.tolist() for f, labels in recording.metadata.rulers.items()} == {
        f: labels.tolist() for f, labels in machine.rulers.items()
    }
    assert set(recording.metadata.kept) == {4, 14} and set(recording.metadata.rulers) == {0, 1}
    assert [(a.name, a.operand) for a in recording.coordinates] == [("wgmma", x) for x in "ABD"]
    for coordinates in recording.coordinates:
        assert (coordinates.labels == machine.maps[THIN][coordinates.operand][..., :2]).all()
    sizes = [(i.operand, i.swizzle, i.major) for i in recording.images]
    assert sizes == [("B", x, "K") for x in ("64B", "128B")] + [("A", x, "K") for x in ("none", "32B", "64B", "128B")]


def test_images_of_sparse_wgmma_are_labelled_by_the_relation(thin):
    """Those of A by its k under the first pattern, those of B by every k, though a pattern shows half of them."""
    machine, recording = thin
    k_of = {c: k for c, k in zip(*(x[..., i].reshape(-1).tolist() for x, i in _k(recording)), strict=True)}
    row_of = {m: x for m, x in zip(*(x[..., 0].reshape(-1).tolist() for x in _rows(recording)), strict=True)}
    for image in recording.images:
        want = machine.images[THIN, image.operand, image.swizzle, image.major]
        for label, pair in zip(image.labels[0].tolist(), want.tolist(), strict=True):
            if label[ROW] >= 0:
                assert (row_of[label[ROW]], k_of[label[CONTRACTED]]) == (pair[0], 2 * pair[1])  # pattern 4 keeps 0 of 2
            elif label[COLUMN] >= 0:
                assert k_of[label[CONTRACTED]] == pair[0]
            else:
                assert pair == [-1, -1]


def _k(recording):
    coordinates = next(a for a in recording.coordinates if a.operand == "B")
    return ((recording.operands["B"], CONTRACTED), (coordinates.labels, 0))


def _rows(recording):
    coordinates = next(a for a in recording.coordinates if a.operand == "A")
    return (recording.operands["A"], coordinates.labels)


class Beyond(Simulated):
    """From the ninth column on, a pattern with no more than 9 in its first field counts as another."""

    def run(self, signature, a, b, c, fixed=None):
        here = super().run(signature, a, b, c, fixed)
        if fixed is None:
            return here
        there = super().run(signature, a, b, c, np.where(fixed & 15 == 4, fixed + 10, fixed))
        columns = self.maps[signature.mnemonic]["D"][..., 1]
        return np.where(columns >= 8, there, here)


def test_columns_that_metadata_move_otherwise_are_reported_by_the_products():
    """Rulers are read from eight columns; the controls check the others."""
    s, machine = wide_machine(THIN, Beyond)
    recording = record(Bench(machine), s, trials=4, seed=1)
    assert recording.exceptions == () and not recording.sound
    assert recording.controls.product > 0 and recording.controls.relabelled > 0


class Climbing(Simulated):
    """Under the last pattern of metadata, two elements of A change their rows."""

    def stored_at(self, signature, words):
        stored = super().stored_at(signature, words).copy()
        if (words == 0xEEEEEEEE).all():
            stored[3, 0, 0], stored[4, 0, 0] = stored[4, 0, 0], stored[3, 0, 0]
        return stored


def test_an_element_that_changes_its_row_with_the_metadata_is_reported():
    s, machine = sparse_machine(SPARSE[0], Climbing)
    notes = record(Bench(machine), s, trials=4, seed=1).exceptions
    assert any("products change their row or column with the metadata" in note for note in notes)


class Otherwise(Simulated):
    """In memory, elements of A are ruled by the metadata of the next lane."""

    def one_hit(self, signature, coded):
        if coded.a is not None:
            coded = replace(coded, fixed=np.roll(coded.fixed, 1, axis=1))
        return super().one_hit(signature, coded)


def test_an_a_in_memory_that_other_metadata_rule_is_reported():
    s, machine = wide_machine(THIN, Otherwise)
    notes = record(Bench(machine), s, trials=4, seed=1).exceptions
    assert len(notes) == 2 and all("elements of A in memory are not ruled as those in registers" in x for x in notes)


class Stuck(Simulated):
    """In one mode of memory, an element of A keeps its place whatever the metadata."""

    def remembered(self, signature, stored_at, places):
        places_of = super().remembered(signature, stored_at, places)
        if len(places) == 1024:
            used = np.flatnonzero(places[:, 0] >= 0)[5]
            places_of[used, 1] = places_of[used, 1] // 2 * 2
        return places_of


def test_an_image_of_a_that_metadata_do_not_move_is_reported():
    s, machine = wide_machine(THIN, Stuck)
    notes = record(Bench(machine), s, trials=4, seed=1).exceptions
    assert notes == ("A K-major 64B: 1 interactions do not fit",)


def test_a_digit_coded_recording_is_read_back(wide, tmp_path):
    _, recording = wide
    back = recordings(write(tmp_path, "wgmma", map(to_lines, [recording])))[WIDE][-1]
    assert back.gpu == recording.gpu and back.probe == "codes" and hash_of(back) == back.hash
    for image, original in zip(back.images, recording.images, strict=True):
        assert (image.operand, image.swizzle, image.major, image.lbo, image.sbo) == (
            original.operand,
            original.swizzle,
            original.major,
            original.lbo,
            original.sbo,
        )
        assert (image.labels == original.labels).all()
    s, machine = sparse_machine(SPARSE[0])
    made = record(Bench(machine), s, trials=4, seed=1)
    back = recordings(write(tmp_path, "mma.sp", map(to_lines, [made])))[SPARSE[0]][-1]
    assert all((back.metadata.kept[p] == k).all() for p, k in made.metadata.kept.items())
    assert all((back.metadata.rulers[f] == r).all() for f, r in made.metadata.rulers.items())


class Misplaced(Simulated):
    """In one mode two elements of B are at each other's place, and one is missing."""

    def labels(self, signature, operand, image):
        labels = super().labels(signature, operand, image).copy()
        if operand == "B" and image is not None and image.swizzle == "64B":
            labels[np.flatnonzero(labels[:, 0] >= 0)[3]] = -1
        return labels


class Twice(Simulated):
    """Each product is counted twice for one element of A."""

    def one_hit(self, signature, coded):
        hits = super().one_hit(signature, coded)
        hits.codes[5, 0] = -1
        return hits


def test_an_image_that_lacks_an_element_and_a_product_counted_twice_are_reported():
    s, machine = wide_machine(kind=Misplaced)
    recording = record(Bench(machine), s, trials=4, seed=1)
    assert [note for note in recording.exceptions] and all(
        "B " in note and "64B" in note for note in recording.exceptions
    )
    s, machine = wide_machine(kind=Twice)
    notes = record(Bench(machine), s, trials=4, seed=1).exceptions
    assert f"1 elements of D got {OTHER_PRODUCT}" in notes


def test_a_descriptor_has_the_offsets_and_the_swizzle_at_their_bits():
    fragment = forms(signature(WIDE))[1].signature.operands["A"]
    image = window("A", fragment, "64B", "MN")
    assert (image.lbo, image.sbo, image.size) == (1024, 512, 2048)
    assert image.descriptor == (1024 // 16) << 16 | (512 // 16) << 32 | 2 << 62
    assert window("A", replace(fragment, extent=(64, 64)), "32B", "K") is None  # rows of 128 bytes


@pytest.mark.parametrize(
    ("kind", "base"), [("f32.f16.f16", 2048), ("f32.bf16.bf16", 256), ("f16.e4m3.e5m2", 8), ("s32.s8.u8", 256)]
)
def test_digits_are_exact_in_b_and_d(kind, base):
    (name,) = (m for m in mnemonics("wgmma.mma_async.sync") if ".m64n8k" in m and m.endswith(kind))
    assert digits(signature(name)) == base

# SPDX-License-Identifier: Apache-2.0
"""The ISA tables compared with recordings, point by point: which of their statements a GPU contradicts.

A recorded class is a name without a number. So the labels of one axis in the ISA tables must be one bijection with
the classes, over all operands that hold the axis, images in shared memory included; where a recording has
absolute coordinates, the labels must be equal. Nothing is sampled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

import isa_tables
from gpu_checks import Image, Move, Recording
from isa_tables import Instruction, instruction, smem

HOME = Path(isa_tables.__file__).parent
Places = npt.NDArray[np.int64]  # [lane][value] -> two coordinates
AXES = {"A": "mk", "B": "kn", "D": "mn"}
CLASS = {"m": 0, "n": 1, "k": 2}
PRODUCT = 3
ROW = 16  # bytes of a row in shared memory
WIDE = 2**12  # more than any label or class


@dataclass
class Tally:
    """Points compared and points that differ, by what was compared."""

    points: dict[str, int] = field(default_factory=dict)
    wrong: dict[str, int] = field(default_factory=dict)

    def compare(self, part: str, same: npt.NDArray[np.bool_]) -> None:
        self.points[part] = self.points.get(part, 0) + same.size
        if bad := int((~same).sum()):
            self.wrong[part] = self.wrong.get(part, 0) + bad


def read(mnemonic: str, home: Path, **select: int) -> Instruction:
    """The instruction as a folder of tables has it, A from registers where its text chooses."""
    plain = instruction(mnemonic, home / "ptx")
    registers = {"A_space": "reg"} if "A_space" in plain.signature.select else {}
    return instruction(mnemonic, home / "ptx", **registers, **select)


def compare(recording: Recording, home: Path, tally: Tally) -> None:
    """Compare every label of the ISA tables with the recording of a matrix product."""
    isa = read(recording.mnemonic, home)
    if isa.operands["D"].unspecified:
        for name in AXES:
            lanes, values = recording.operands[name].shape[:2]
            expected = (isa.signature.lanes, isa.operands[name].values)
            tally.compare("registers", np.array((lanes, values) == expected))
        return
    labels = {name: locate_elements(isa, name, recording.operands[name], home) for name in AXES}
    axes = Axes()
    for name, places in labels.items():
        tally.compare("holders", np.array(places.shape[:2] == recording.operands[name].shape[:2]))
        axes.add(name, stored_at(isa, places) if name == "A" else places, recording.operands[name])
    for image in recording.images:
        places = in_memory(isa, image, home)
        axes.add(image.operand, stored_at(isa, places) if image.operand == "A" else places, image.labels)
    numbers = axes.compare(tally)
    passthrough(isa, recording, tally)
    for coordinates in recording.coordinates:
        seen = coordinates.labels >= 0
        tally.compare(
            f"coordinates of {coordinates.operand}", (labels[coordinates.operand][..., :2] == coordinates.labels)[seen]
        )
    if recording.metadata is not None:
        metadata(isa, recording, home, labels["A"], numbers["k"], tally)


def locate_elements(isa: Instruction, name: str, recorded: Places, home: Path) -> Places:
    """[lane][value] -> the coordinates of the element, and the product: from the formula or the address map."""
    operand = isa.operands[name]
    if operand.space == "smem":
        return in_memory(isa, plainest(operand.extent, name, recorded), home)
    lanes, values = np.arange(operand.lanes)[:, None], np.arange(operand.values)
    product = np.broadcast_to(isa.product(lanes), (operand.lanes, operand.values))
    return np.stack([*operand.locate(lanes, values), product], axis=-1)


def plainest(extent: tuple[int, int], name: str, recorded: Places) -> Image:
    """Panels of 16-byte rows, the image that a recording takes for the operand itself."""
    return Image(name, "none", "K", ROW * extent[0 if name == "A" else 1], 8 * ROW, recorded)


def in_memory(isa: Instruction, image: Image, home: Path) -> Places:
    """[0][element of the image in order of address] -> its coordinates and product 0, all -1 where there is none."""
    operand = isa.operands[image.operand]
    rows, cols = np.indices(operand.extent).reshape(2, -1)
    mn, k = (rows, cols) if image.operand == "A" else (cols, rows)
    layouts, bits = smem.read_layouts("wgmma", home / "memory"), operand.bits
    address = layouts.address(mn, k, bits, image.swizzle, image.major, lbo=image.lbo, sbo=image.sbo)
    slot = (8 * address + k * bits % 8) // bits
    places = np.full((image.labels.shape[1], 3), -1)
    assert np.bincount(slot).max() == 1, "two elements at one place"
    places[slot] = np.stack([rows, cols, np.zeros_like(rows)], axis=-1)
    return places[None]


def stored_at(isa: Instruction, labels: Places, pattern: int | None = None) -> Places:
    """A with the k that stored elements have under a pattern in every field of metadata, else under the first."""
    sparsity = isa.signature.sparsity
    if sparsity is None:
        return labels
    kept = np.array(sparsity.kept[next(iter(sparsity.kept)) if pattern is None else pattern])
    stored = labels[..., 1]
    k = sparsity.columns * (stored // len(kept)) + kept[stored % len(kept)]
    return np.stack([labels[..., 0], np.where(stored < 0, -1, k), labels[..., 2]], axis=-1)


class Axes:
    """(product, label) and (product, class) of every place that holds an axis, as one number of four digits."""

    def __init__(self) -> None:
        self.numbers: dict[str, list[Places]] = {axis: [] for axis in CLASS}
        self.empty: list[npt.NDArray[np.bool_]] = []

    def add(self, name: str, labels: Places, recorded: Places) -> None:
        for at, axis in enumerate(AXES[name]):
            columns = (labels[..., 2], labels[..., at], recorded[..., PRODUCT], recorded[..., CLASS[axis]])
            p, label, q, number = (column.reshape(-1).astype(np.int64) for column in columns)
            bare = (p < 0) | (label < 0)
            self.empty.append(((q < 0) | (number < 0)) == bare)
            self.numbers[axis].append((((number * WIDE + q) * WIDE + label) * WIDE + p)[~bare])

    def compare(self, tally: Tally) -> Mapping[str, Mapping[tuple[int, int], int]]:
        """The class of each label, where one bijection is all there is; else of those places that most agree on."""
        numbers = {}
        for axis, parts in self.numbers.items():
            names: dict[tuple[int, int], tuple[int, int]] = {}
            labels: dict[tuple[int, int], tuple[int, int]] = {}
            every = np.concatenate(parts)
            pairs, counts = np.unique(every, return_counts=True)
            bad = 0
            for at in np.argsort(-counts, kind="stable").tolist():
                p, label, q, number = (int(pairs[at]) // WIDE**place % WIDE for place in range(4))
                same = names.setdefault((p, label), (q, number)) == (q, number)
                same &= labels.setdefault((q, number), (p, label)) == (p, label)
                bad += 0 if same else int(counts[at])
            tally.compare(f"axis {axis}", np.arange(len(every)) >= bad)
            numbers[axis] = {label: number for label, (_, number) in names.items()}
        tally.compare("empty places", np.concatenate(self.empty))
        return numbers


def passthrough(isa: Instruction, recording: Recording, tally: Tally) -> None:
    """Element i of C arrives in the D slot that holds the same element; a wgmma's accumulators are both."""
    lanes = np.arange(isa.signature.lanes)[:, None]
    d = isa.operands["D"]
    c = isa.operands.get("C", d)
    product = isa.product(lanes)
    holders, arriving = (pack(product, part.locate(lanes, np.arange(part.values))) for part in (d, c))
    order = np.argsort(holders)
    want = order[np.searchsorted(holders, arriving, sorter=order).clip(max=len(holders) - 1)]
    tally.compare("passthrough", (recording.passthrough.reshape(-1) == want) & (holders[want] == arriving))


def pack(product: Places, pair: tuple[Places, Places]) -> Places:
    """A number for each product and pair of coordinates."""
    p, x, y = (part.reshape(-1).astype(np.int64) for part in np.broadcast_arrays(product, *pair))
    return (p * WIDE + x) * WIDE + y


def metadata(
    isa: Instruction,
    recording: Recording,
    home: Path,
    a: Places,
    k_class: Mapping[tuple[int, int], int],
    tally: Tally,
) -> None:
    """Compare which field of which lane rules each stored element, and the k that each pattern gives it."""
    given, sparsity = recording.metadata, isa.signature.sparsity
    assert given is not None and sparsity is not None
    tally.compare("patterns", np.array(set(given.kept) == set(sparsity.kept)))
    classes = np.array([k_class.get((0, k), -2) for k in range(isa.signature.shape[2])])
    for pattern, recorded in given.kept.items():
        tally.compare("kept", classes[stored_at(isa, a, pattern)[..., 1]] == recorded)
    per = len(next(iter(sparsity.kept.values())))
    selectors = isa.signature.select["F"]
    tally.compare("selectors", np.array(set(selectors) <= set(given.rulers)))
    for selector in selectors:
        want = rulers(read(recording.mnemonic, home, F=int(selector)), tally)[a[..., 0], a[..., 1] // per]
        tally.compare("rulers", (want == given.rulers[int(selector)]).all(axis=-1))


def rulers(isa: Instruction, tally: Tally) -> Places:
    """[row][group of stored elements] -> (lane, field): four bits in order, once, in a lane whose metadata is read."""
    e = isa.operands["E"]
    lanes = np.flatnonzero(e.holds(np.arange(e.lanes)))
    row, bit = (part.reshape(len(lanes), -1, 4) for part in e.locate(lanes[:, None], np.arange(e.values)))
    whole = (row == row[..., :1]) & (bit == bit[..., :1] + np.arange(4)) & (bit[..., :1] % 4 == 0)
    group = bit[..., 0] // 4
    once = len(np.unique(row[..., 0] * e.extent[1] + group)) == group.size
    tally.compare("fields", whole.all(axis=-1) & once)
    ruler = np.full((e.extent[0], e.extent[1] // 4, 2), -1)
    ruler[row[..., 0], group] = np.stack(np.broadcast_arrays(lanes[:, None], np.arange(e.values // 4)), axis=-1)
    return ruler


def compare_move(recorded: Move, home: Path, tally: Tally) -> None:
    """Every byte of the registers of ldmatrix, stmatrix and movmatrix, and which lanes' addresses are read."""
    isa = instruction(recorded.mnemonic, home / "ptx")
    lanes = np.arange(32)[:, None]
    if "P" not in isa.operands:
        tally.compare("bytes", (movmatrix(isa) == recorded.places).all(axis=-1))
        return
    r = isa.operands["R"]
    byte = np.arange(r.values * r.bits // 8)
    giver, element = r.locate(lanes, byte * 8 // r.bits)
    want = np.stack([giver, element * (r.bits // 8) + byte % (r.bits // 8)], axis=-1)
    tally.compare("bytes", (want == recorded.places).all(axis=-1))
    read = np.isin(np.arange(32), recorded.places[..., 0])
    tally.compare("addresses", isa.operands["P"].holds(np.arange(32)) == read)
    stored, at = isa.operands["P"].locate(lanes, np.arange(8))
    tally.compare("addresses", ((stored == lanes) & (at == np.arange(8)))[read])


def movmatrix(isa: Instruction) -> Places:
    """[lane][byte of d] -> (lane, byte) of a that holds the same element of the matrix."""
    a, d = isa.operands["A"], isa.operands["D"]
    home = {a.locate(lane, i): (lane, i) for lane in range(32) for i in range(a.values)}
    places = np.zeros((32, 4, 2), np.int64)
    for lane, byte in np.ndindex(32, 4):
        source, i = home[d.locate(lane, byte // 2)]
        places[lane, byte] = source, 2 * i + byte % 2
    return places

# SPDX-License-Identifier: Apache-2.0
"""One instruction, probed on one machine: the relation, the passthrough of C, the controls, the anchors."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import date

import numpy as np

from gpu_checks.anchors import Places, anchors, observe
from gpu_checks.classes import classes, digest
from gpu_checks.kernels import fits, module
from gpu_checks.machine import Machine
from gpu_checks.packing import Words, pack, unpack, words_per_lane
from gpu_checks.product import multiply_on
from gpu_checks.sass import is_emulated
from gpu_checks.values import COLUMN, CONTRACTED, PRODUCT, ROW, Controls, Labels, Recording, Refused
from isa_tables.signature import Signature, runs_on

Moves = Mapping[str, Places | None]

_AXES = {"A": (ROW, CONTRACTED, PRODUCT), "B": (CONTRACTED, COLUMN, PRODUCT), "D": (ROW, COLUMN, PRODUCT)}


def observe_moves(machine: Machine) -> Moves:
    """What ldmatrix and stmatrix do on this machine; shared by all instructions of a run."""
    return {"ldmatrix": observe(machine, "ldmatrix"), "stmatrix": observe(machine, "stmatrix")}


def require(machine: Machine, signature: Signature) -> None:
    """Raise Refused unless the probes fit the instruction and it exists for this GPU's architecture."""
    info = machine.info
    if not fits(signature):
        operands = ", ".join(signature.operands)
        raise Refused(f"there is no probe for {signature.family} yet (operands {operands}; {signature.lanes} lanes)")
    if not runs_on(signature, info.sm):
        needed = " or ".join(signature.targets)
        raise Refused(f"needs {needed}; {info.gpu} is {info.sm}")


def record(machine: Machine, signature: Signature, moves: Moves, trials: int, seed: int) -> Recording:
    """Probe one instruction. Raises Refused or DeviceFault as the machine does."""
    require(machine, signature)
    table = machine.table(signature)
    found = classes(signature, table)
    passed = passthrough(machine, signature)
    fixed, disagreements = anchors(signature, found.operands, moves)
    info = machine.info
    return Recording(
        mnemonic=signature.mnemonic,
        operands=found.operands,
        passthrough=passed,
        anchors=fixed,
        controls=controls(machine, signature, found.operands, passed, trials, seed),
        pairs=table.size,
        exceptions=(*found.exceptions, *_passthrough_notes(passed), *disagreements),
        hash=digest(table),
        gpu=info.gpu,
        sm=info.sm,
        driver=info.driver,
        cuda=info.cuda,
        nvrtc=info.nvrtc,
        sass=(sass := machine.sass(signature)),
        emulated=is_emulated(sass),
        kernel_hash=hashlib.sha256(module([signature]).encode()).hexdigest(),
        date=date.today().isoformat(),
    )


def passthrough(machine: Machine, signature: Signature) -> Labels:
    """With A = B = 0 and one element of C set to one: the D slot where the one arrives, -1 unless exactly one."""
    c = signature.operands["C"]
    slots = signature.lanes * c.values
    ones = np.eye(slots, dtype=np.int64).reshape(slots, signature.lanes, c.values)
    silent: dict[str, Words] = {
        name: np.zeros((slots, signature.lanes, words_per_lane(signature.operands[name])), np.uint32) for name in "AB"
    }
    result = unpack(signature.operands["D"], machine.run(signature, silent["A"], silent["B"], pack(c, ones)))
    arrived = result.reshape(slots, -1)
    clean = ((arrived != 0).sum(axis=1) == 1) & (arrived.max(axis=1) == 1.0)
    return np.where(clean, arrived.argmax(axis=1), -1).astype(np.int64).reshape(signature.lanes, c.values)


def _passthrough_notes(passed: Labels) -> list[str]:
    lost = int(np.count_nonzero(passed < 0))
    repeated = passed.size - lost - len(set(passed[passed >= 0].tolist()))
    notes = [f"{lost} elements of C do not arrive in exactly one D element"] if lost else []
    return notes + ([f"{repeated} elements of C arrive where another does"] if repeated else [])


def maps_of(operands: Mapping[str, Labels], passed: Labels) -> dict[str, Labels] | None:
    """The recovered labels as maps for a product; None where a label is missing."""
    maps = {name: operands[name][..., list(axes)] for name, axes in _AXES.items()}
    if (passed < 0).any() or any((labels < 0).any() for labels in maps.values()):
        return None
    maps["C"] = maps["D"].reshape(-1, 3)[passed]
    return maps


def controls(
    machine: Machine,
    signature: Signature,
    operands: Mapping[str, Labels],
    passed: Labels,
    trials: int,
    seed: int,
) -> Controls | None:
    """Multiply through the recovered labels: as they are, renamed consistently, and with D rotated."""
    maps = maps_of(operands, passed)
    if maps is None:
        return None
    try:
        wrong = [
            multiply_on(machine, signature, chosen, trials, seed)
            for chosen in (maps, _renamed(signature, maps, seed), _rotated(signature, maps))
        ]
    except ValueError:  # more classes than the tile has rows or columns: `exceptions` says so
        return None
    return Controls(trials, *wrong)


def _renamed(signature: Signature, maps: Mapping[str, Labels], seed: int) -> dict[str, Labels]:
    """The same maps with m, n, k and the products permuted at random, in all operands alike."""
    random = np.random.default_rng(seed + 1)
    m, n, k = (random.permutation(extent) for extent in signature.shape)
    products = random.permutation(signature.products)
    renaming = {"A": (m, k), "B": (k, n), "C": (m, n), "D": (m, n)}
    return {
        name: np.stack([row[x[..., 0]], column[x[..., 1]], products[x[..., 2]]], axis=-1)
        for name, (row, column) in renaming.items()
        for x in (maps[name],)
    }


def _rotated(signature: Signature, maps: Mapping[str, Labels]) -> dict[str, Labels]:
    """The same maps with one operand's labels handed to the next lane: no instruction can satisfy them."""
    name, axis = ("D", 0) if signature.lanes > 1 else ("A", 1)
    return {**maps, name: np.roll(maps[name], 1, axis=axis)}

# SPDX-License-Identifier: Apache-2.0
"""One instruction, probed on one machine: the relation, the passthrough of C, controls, absolute coordinates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, Literal

from gpu_checks.arrays import np
from gpu_checks.device.sass import is_emulated
from gpu_checks.inference import sparse, warpgroup
from gpu_checks.inference.absolute import (
    MemoryObservations,
    Places,
    absolute_coordinates,
    observe_move,
    observe_warpgroup,
    same_k_wgmma,
)
from gpu_checks.inference.copies import observe
from gpu_checks.inference.pair_relation import classes
from gpu_checks.inference.product import multiply, random_products, wrong
from gpu_checks.inference.queries import run_queries
from gpu_checks.kernels.assembly import is_warpgroup
from gpu_checks.kernels.forms import plain_form
from gpu_checks.kernels.mma import spare
from gpu_checks.kernels.modules import has_kernels, kernel_hash, probe_of
from gpu_checks.kernels.packing import operands_as_words, pack, unpack, words_per_lane
from gpu_checks.machine import ProbeMachine
from gpu_checks.model import (
    COLUMN,
    CONTRACTED,
    PRODUCT,
    ROW,
    Controls,
    Labels,
    Metadata,
    SlotClasses,
    Unsupported,
)
from gpu_checks.recording import Move, Recording
from isa_tables.signature import Signature, runs_on

TRIALS = 8  # choices of addresses for a matrix move
_ELEMENTS = 2**15  # of D in all trials together, about
_DIGITS = 1024  # exact in every accumulator
_AXES = {"A": (ROW, CONTRACTED, PRODUCT), "B": (CONTRACTED, COLUMN, PRODUCT), "D": (ROW, COLUMN, PRODUCT)}


class Bench:
    """The machine of one process, with what all its probes share."""

    def __init__(self, machine: ProbeMachine) -> None:
        self.machine = machine
        # By mnemonic, for this machine alone: a machine in which a fault is planted has a bench of its own.
        self._moves: Mapping[str, Places | None] | None = None
        self._warpgroups: dict[str, Mapping[str, Labels]] = {}

    def memory_observations(self, signature: Signature) -> MemoryObservations:
        """Return the sources of absolute coordinates: the matrix moves and the wgmma of the same k, each seen once."""
        if self._moves is None:
            names: tuple[Literal["ldmatrix", "stmatrix"], ...] = ("ldmatrix", "stmatrix")
            self._moves = {name: observe_move(self.machine, name) for name in names}
        wide = same_k_wgmma(signature)
        if wide is None or not runs_on(wide, self.machine.info.sm):
            return MemoryObservations(self._moves)
        if wide.mnemonic not in self._warpgroups:
            self._warpgroups[wide.mnemonic] = observe_warpgroup(self.machine, wide)
        return MemoryObservations(self._moves, self._warpgroups[wide.mnemonic])


def require(machine: ProbeMachine, signature: Signature) -> str:
    """Return the kind of probe; Unsupported unless the instruction exists for this GPU's architecture and has a probe.

    Kernels alone (`gpu_checks.kernels.tcgen05`) are no probe: nothing is recorded from them.
    """
    info = machine.info
    if not runs_on(signature, info.sm):
        needed = " or ".join(signature.targets)
        raise Unsupported(f"needs {needed}; {info.gpu} is {info.sm}")
    kind = probe_of(signature)
    if kind is None and has_kernels(signature):
        raise Unsupported(f"{signature.family}: its kernels assemble, but there is no probe that reads them yet")
    if kind is None:
        operands = ", ".join(signature.operands)
        words = f"(operands {operands}; {signature.lanes} lanes)"
        raise Unsupported(f"there is no probe for {signature.family} yet {words}")
    return kind


def record(bench: Bench, signature: Signature, trials: int, seed: int) -> Recording | Move:
    """Probe one instruction. Raises Unsupported or DeviceFault as machines do."""
    machine = bench.machine
    kind = require(machine, signature)
    if kind == "moves":
        places, notes = observe(machine, signature, TRIALS, seed)
        return Move(places=places, trials=TRIALS, exceptions=notes, **_facts(machine, signature))
    arrived = passthrough(machine, signature)  # under way while the relation is observed
    relation = _relation(machine, signature, kind, seed)
    passed, coordinates, notes = arrived(), relation.coordinates, relation.notes
    if coordinates is None:
        coordinates, disagreements = absolute_coordinates(
            signature, relation.operands, bench.memory_observations(signature)
        )
        notes += disagreements
    return Recording(
        operands=relation.operands,
        passthrough=passed,
        coordinates=coordinates,
        controls=controls(machine, signature, relation, passed, trials, seed),
        pairs=relation.pairs,
        hash=relation.hash,
        probe=kind,
        images=relation.images,
        metadata=relation.metadata,
        exceptions=(*notes, *_passthrough_notes(passed)),
        **_facts(machine, signature),
    )


def _relation(machine: ProbeMachine, signature: Signature, kind: str, seed: int) -> SlotClasses:
    """Return what the probe of the kind showed."""
    if kind == "pairs":
        return classes(signature, machine.table(signature))
    queries = warpgroup.queries if is_warpgroup(signature) else sparse.queries
    return run_queries(machine, signature, queries(signature, seed))


def _facts(machine: ProbeMachine, signature: Signature) -> dict[str, Any]:
    sass = machine.sass(signature)
    return {
        "mnemonic": signature.mnemonic,
        **machine.info._asdict(),
        "sass": sass,
        "emulated": is_emulated(sass),
        "kernel_hash": kernel_hash(signature),
        "date": date.today().isoformat(),
    }


def passthrough(machine: ProbeMachine, signature: Signature) -> Callable[[], Labels]:
    """Begin a run with A = B = 0; the result waits for the D slot where each element of C arrives, -1 unless one.

    The first run has ones in C; the others the digits of the slot's number, so that D names what it holds.
    """
    as_words = operands_as_words(plain_form(signature))
    lanes, c = as_words["C"]
    number = np.arange(lanes * c.values)
    planes = np.stack([np.ones_like(number), number % _DIGITS, number // _DIGITS]).reshape(3, lanes, c.values)
    words = {name: np.zeros((3, count, words_per_lane(part)), np.uint32) for name, (count, part) in as_words.items()}
    issued = machine.begin(signature, words["A"], words["B"], pack(c, planes), words.get("E"))

    def read_arrivals() -> Labels:
        marks, low, high = unpack(as_words["D"][1], issued()).reshape(3, -1)
        source = low + _DIGITS * high
        whole = np.flatnonzero((marks == 1.0) & (source >= 0) & (source < lanes * c.values))
        source = source[whole].astype(np.int64)
        slots = np.full(lanes * c.values, -1, np.int64)
        slots[source] = whole
        return np.where(np.bincount(source, minlength=lanes * c.values) == 1, slots, -1).reshape(lanes, c.values)

    return read_arrivals


def _passthrough_notes(passed: Labels) -> list[str]:
    missing = int(np.count_nonzero(passed < 0))
    repeated = passed.size - missing - len(set(passed[passed >= 0].tolist()))
    notes = [f"{missing} elements of C do not arrive in exactly one D element"] if missing else []
    return notes + ([f"{repeated} elements of C arrive where another does"] if repeated else [])


def maps_of(operands: Mapping[str, Labels], passed: Labels, copied: str = "") -> dict[str, Labels] | None:
    """Return the recovered labels as maps for a product; None where a label is missing.

    A slot of the `copied` operands that is never read holds the first element: any number will do.
    """
    maps = {name: operands[name][..., list(axes)] for name, axes in _AXES.items()}
    for name in copied:
        maps[name] = np.where((maps[name] < 0).all(axis=-1, keepdims=True), 0, maps[name])
    if (passed < 0).any() or any((labels < 0).any() for labels in maps.values()):
        return None
    maps["C"] = maps["D"].reshape(-1, 3)[passed]
    return maps


def controls(
    machine: ProbeMachine, signature: Signature, relation: SlotClasses, passed: Labels, trials: int, seed: int
) -> Controls | None:
    """Multiply through the recovered labels: as they are, renamed consistently, and with D rotated."""
    trials, metadata = min(trials, max(4, _ELEMENTS // passed.size)), relation.metadata
    maps = maps_of(relation.operands, passed, spare(signature))
    rules = () if metadata is None else (*metadata.kept.values(), *metadata.rulers.values())
    if maps is None or any((labels < 0).any() for labels in rules):
        return None
    turned = [({**maps, "A": np.roll(maps["A"], 1, axis=1)}, metadata)] if signature.lanes == 1 else []
    try:
        ways = [(maps, metadata), _permute_axes(signature, maps, metadata, seed), *turned]
        lots = [random_products(signature, chosen, trials, seed, how) for chosen, how in ways]
    except (ValueError, IndexError):  # more classes than the tile has rows or columns: `exceptions` says so
        return None
    seen = multiply(machine, signature, lots)
    counts = [wrong(shown, lot.expected) for shown, lot in zip(seen, lots, strict=True)]
    if signature.lanes > 1:  # D of the same products with the labels of the next lane: no machine satisfies them
        counts.append(wrong(seen[0], np.roll(lots[0].expected, 1, axis=1)))
    return Controls(trials, *counts)


def _permute_axes(
    signature: Signature, maps: Mapping[str, Labels], metadata: Metadata | None, seed: int
) -> tuple[dict[str, Labels], Metadata | None]:
    """Return the same maps with m, n, k and the products permuted at random, in all operands alike.

    The stored columns of a sparse A are places, not k: there the k of the metadata are permuted.
    """
    random = np.random.default_rng(seed + 1)
    m, n, k = (random.permutation(extent) for extent in signature.shape)
    products = random.permutation(signature.products)
    stored = k if metadata is None else np.arange(len(k))
    renaming = {"A": (m, stored), "B": (k, n), "C": (m, n), "D": (m, n)}
    renamed = {
        name: np.stack([row[x[..., 0]], column[x[..., 1]], products[x[..., 2]]], axis=-1)
        for name, (row, column) in renaming.items()
        for x in (maps[name],)
    }
    if metadata is None:
        return renamed, None
    return renamed, metadata._replace(kept={pattern: k[labels] for pattern, labels in metadata.kept.items()})

# SPDX-License-Identifier: Apache-2.0
"""Tensor maps: which box of an array the copy engine moves, from a parameter or made by the kernel itself.

A kernel makes one in shared memory, a field at a time, and copies it to global memory, from where a copy names it. A
field that it does not set has no meaning here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from isa_tables.semantics import Meaning
from verify.kernel.claims.launch import MAP_BYTES, TensorMap
from verify.kernel.data.values import Bits, Mask
from verify.kernel.ptx.source import Address, Immediate, PtxInstruction
from verify.kernel.state.bound import Run
from verify.kernel.state.findings import Severity, Unclear
from verify.kernel.state.machine import Bind, Machine, Unit
from verify.kernel.state.order import Ints
from verify.kernel.state.windows import PARAMETER_ROOM, PARAMETER_WINDOW, WINDOW

SECTION = "9.7.9.26"  # of the PTX ISA: tensormap.replace
SIZES = (
    1,
    2,
    4,
    4,
    8,
    8,
    2,
    4,
    4,
    8,
    2,
    4,
    4,
)  # bytes by the code of a type: u8, u16, u32, s32, .., bf16, tf32
SWIZZLES = ("none", "32B", "64B", "128B")  # by their code


@dataclass(frozen=True, slots=True)
class Box:
    """What a tensor map says; axes in the order of a copy's coordinates, the contiguous one first."""

    base: int  # the address of the first element
    extents: tuple[int, ...]  # of the array
    strides: tuple[int, ...]  # in bytes
    size: int  # bytes of an element
    box: tuple[int, ...]  # elements along each axis
    swizzle: str  # as the claim gives it: "128B"

    def elements(self, first: list[int]) -> tuple[Bits, Mask]:
        """Return the address of each element of a box that begins at some coordinates, and whether the array has it."""
        places = np.indices(tuple(reversed(self.box))).reshape(len(self.box), -1)[::-1]
        addresses, inside = np.full(places.shape[1], self.base, np.int64), np.ones(places.shape[1], bool)
        for axis, start in enumerate(first):
            index = places[axis] + start
            inside &= (index >= 0) & (index < self.extents[axis])
            addresses += index * self.strides[axis]
        return addresses.astype(np.uint64), inside


@dataclass(slots=True)
class Made:
    """A tensor map that a kernel makes: its fields by name and axis, and who copied it, when."""

    fields: dict[tuple[str, int], int] = field(default_factory=dict)
    writer: int = -1
    written: int = 0
    acquired: bool = False  # whether a fence has made it known to the copy engine


class MadeMaps(dict[tuple[str, int, int], Made], Unit):
    """The tensor maps that the kernel makes, by space, CTA (0 for global memory) and address."""

    @classmethod
    def make(cls, machine: Machine) -> Self:
        """Return the maps of a batch: none."""
        return cls()


def box_at(machine: Machine, address: int, thread: int) -> Box:
    """Return the tensor map at an address, which a thread uses."""
    window, rest = divmod(address, 1 << WINDOW)
    number, inside = divmod(rest, 1 << PARAMETER_ROOM)
    names: Mapping[int, str] = {parameter.number: name for name, parameter in machine.kernel.parameters.items()}
    given = machine.parameters.get(names.get(number, "")) if window == PARAMETER_WINDOW else None
    if given is not None and inside in given.maps:
        return _of_claim(machine, given.maps[inside])
    own = machine.unit(MadeMaps).get(("global", 0, address))
    if own is None:
        what = f"address {address:#x}"
        if window == PARAMETER_WINDOW:
            what = f"params[{number}]" + (f" at byte {inside}" if inside or (given is not None and given.maps) else "")
        raise Unclear(machine.findings.line, f"the claim has no tensor map for {what}")
    order = machine.shared.order
    if order.known[thread, order.local[own.writer]] < own.written:
        text = f"{machine.shared.who(thread)} uses a tensor map that thread {order.local[own.writer]} copies; nothing "
        machine.findings.add("race: tensor map", Severity.RACE, f"{text}orders the two", SECTION)
    if not own.acquired:
        text = "the tensor map that a copy uses was written with no fence.proxy.tensormap acquire since"
        machine.findings.add("no tensor map fence", Severity.LETTER, text, SECTION)
    return _of_fields(machine, own.fields)


def _of_claim(machine: Machine, map_: TensorMap) -> Box:
    region = next((candidate for candidate in machine.memory.arrays if candidate.array.name == map_.array), None)
    rank = len(map_.box)
    if region is None or region.array.stored is not None:
        raise Unclear(
            machine.findings.line, f"no meaning for a tensor map of {map_.array}: no dense array has this name"
        )
    if len(region.array.shape) != rank:
        text = f"the tensor map of {map_.array} and its box {map_.box} do not have {len(region.array.shape)} axes"
        raise Unclear(machine.findings.line, text)
    array, base = region.array, ((region.number + 1) << WINDOW) + region.array.offset * region.size
    axes = sorted(range(rank), key=lambda axis: array.strides[axis])
    if map_.dims:
        if sorted(map_.dims) != sorted(array.dims):
            given, there = ", ".join(map_.dims), ", ".join(array.dims)
            raise Unclear(machine.findings.line, f"the tensor map of {map_.array} has the axes {given}, not {there}")
        axes = [array.dims.index(name) for name in map_.dims]
    extents, strides = (tuple(part[axis] for axis in axes) for part in (array.shape, array.strides))
    return Box(base, extents, tuple(stride * region.size for stride in strides), region.size, map_.box, map_.swizzle)


def _of_fields(machine: Machine, fields: Mapping[tuple[str, int], int]) -> Box:
    line = machine.findings.line

    def get(name: str, axis: int = 0) -> int:
        if (name, axis) not in fields:
            raise Unclear(line, f"the kernel's tensor map has no {name}, axis {axis}: the kernel does not set it")
        return fields[name, axis]

    axes, kind, swizzle = range(get("rank") + 1), get("elemtype"), get("swizzle_mode")
    odd = [name for name in ("interleave_layout", "fill_mode") if fields.get((name, 0))]
    odd += ["element_stride" for axis in axes if get("element_stride", axis) != 1]
    if odd or kind >= len(SIZES) or swizzle >= len(SWIZZLES):
        raise Unclear(line, f"no meaning for the kernel's tensor map: {', '.join(odd) or 'its type or swizzle'}")
    strides = (SIZES[kind], *(get("global_stride", axis) for axis in axes[:-1]))
    if any(offset % 16 for offset in (get("global_address"), *strides[1:])):
        text = f"the tensor map's address {get('global_address'):#x} and strides {list(strides[1:])}: multiples of 16"
        machine.findings.add("misaligned access", Severity.MEMORY, text, SECTION)
    extents, box = (tuple(get(name, axis) for axis in axes) for name in ("global_dim", "box_dim"))
    return Box(get("global_address"), extents, strides, SIZES[kind], box, SWIZZLES[swizzle])


def _threads(machine: Machine, operand: object, mask: Mask | None) -> tuple[Ints, Bits]:
    """Return the threads of a mask, and the address that each gives."""
    if not isinstance(operand, Address):
        raise Unclear(machine.findings.line, "the operand isn't an address")
    threads = machine.list_threads(mask)
    return threads, np.broadcast_to(machine.address(operand)(mask), machine.count)[threads]


def replace(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """tensormap.replace: a field of a tensor map in shared memory."""
    name, last = meaning.words["field"], machine.reader(inst.operands[-1])
    axis = inst.operands[1].bits if len(inst.operands) > 2 and isinstance(inst.operands[1], Immediate) else 0
    home = inst.operands[0]

    def execute(mask: Mask | None) -> None:
        threads, addresses = _threads(machine, home, mask)
        values = np.broadcast_to(machine.numbers(last, mask, "a field of a tensor map"), machine.count)[threads]
        for thread, address, value in zip(threads.tolist(), addresses.tolist(), values.tolist(), strict=True):
            machine.shared.places(np.array([address]), np.array([thread]), MAP_BYTES)
            key = ("shared", int(machine.cta[thread]), int(address))
            made = machine.unit(MadeMaps).setdefault(key, Made())
            made.fields[name, axis], made.writer, made.written = value, thread, machine.shared.order.now

    return execute


def _check_size(inst: PtxInstruction, size: object) -> None:
    if not isinstance(size, Immediate) or size.bits != MAP_BYTES:
        raise Unclear(inst.line, f"a tensor map has {MAP_BYTES} bytes")


def publish(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """tensormap.cp_fenceproxy: a warp copies a tensor map from shared to global memory."""
    target_of, source_of, size = inst.operands
    _check_size(inst, size)

    def execute(mask: Mask | None) -> None:
        threads, targets = _threads(machine, target_of, mask)
        _, sources = _threads(machine, source_of, mask)
        order = machine.shared.order
        for row in np.flatnonzero(machine.thread[threads] % 32 == 0):
            thread, target = int(threads[row]), int(targets[row])
            made = machine.unit(MadeMaps).pop(("shared", int(machine.cta[thread]), int(sources[row])), None)
            if made is None:
                raise Unclear(inst.line, "a tensor map is copied that the kernel does not make")
            warp, maker = threads[threads // 32 == thread // 32], order.local[made.writer]
            if (order.known[warp, maker] < made.written).any():
                text = f"{machine.shared.who(thread)} and its warp copy a tensor map that thread {maker} makes"
                machine.findings.add("race: tensor map", Severity.RACE, f"{text}; nothing orders the two", SECTION)
            label = np.uint32(machine.values.reason(f"is a part of a tensor map: {sorted(made.fields.items())}") << 3)
            pieces = np.uint64(target) + np.arange(0, MAP_BYTES, 16, dtype=np.uint64)
            whose, labels = np.full(len(pieces), thread), np.full((len(pieces), 16), label)
            machine.memory.write(pieces, whose, labels, np.zeros(labels.shape, np.uint8))
            machine.unit(MadeMaps)["global", 0, target] = Made(made.fields, thread, order.now)

    return execute


def acquire(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """fence.proxy.tensormap: the copy engine will see what was written of a tensor map."""
    home, size = inst.operands
    _check_size(inst, size)

    def execute(mask: Mask | None) -> None:
        for address in set(_threads(machine, home, mask)[1].tolist()):
            made = machine.unit(MadeMaps).get(("global", 0, address))
            if made is not None:
                made.acquired = True

    return execute


BINDS: dict[str, Bind] = {"map_replace": replace, "map_publish": publish, "map_acquire": acquire}

# SPDX-License-Identifier: Apache-2.0
"""The code of each class of the opcode tables, and the binding of a kernel's instructions to it.

What has no row, no code or no meaning for its operands is listed, every instruction of it, before anything runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from typing import Any

from isa_tables.semantics import Meaning, NotedWords, Row, meaning, unread
from verify.kernel.data import floats
from verify.kernel.ptx.source import WIDTHS, Immediate, Kernel, Operand, PtxInstruction, Register, Vector
from verify.kernel.state.bound import BoundInstruction, Read, Run
from verify.kernel.state.findings import GUARD_LOST, Finding, Severity, Unclear
from verify.kernel.state.machine import Bind, Machine

# module of this folder -> the classes of opcodes that it binds; a kernel loads those that it has
MODULES: Mapping[str, str] = {
    "integers": "integer divide high product24 mask count_from count",
    "pairs": "integer_pair",
    "bit_fields": "extract insert funnel",
    "bit_operations": "bitwise shift permute lookup",
    "fields": "copysign test field extremum function quotient",
    "conversions": "convert pack",
    "carries": "carry",
    "comparisons": "select compare set sign_select",
    "accesses": "move address window parameter load store copy copy_group",
    "atomics": "atomic discard",
    "matrices": "product load_matrix store_matrix move_matrix",
    "wgmma": "wgmma wgmma_order",
    "dot": "dot half_dot",
    "sparse": "sparse_product",
    "wmma": "fragment_load fragment_store fragment_product",
    "tcgen05": "tensor_allocate tensor_deallocate tensor_relinquish tensor_fence tensor_from tensor_to tensor_wait "
    "tensor_commit tensor_product",
    "tensor_maps": "map_replace map_publish map_acquire",
    "together": "shuffle vote reduce match warp_barrier barrier fence nothing policy branch exit trap",
    "proxies": "barrier_fence proxy_fence",
    "asynchronous": "tensor_load elect",
    "mbarriers": "barrier_init barrier_invalidate barrier_arrive barrier_expect copy_arrive wait",
    "warpgroups": "register_count",
    "bulk": "tensor_store tensor_reduce tensor_prefetch bulk_copy bulk_reduce bulk_group",
    "clusters": "cluster_arrive cluster_wait own_address",
    "reached": "atomic_any",
}
HOMES = {name: module for module, names in MODULES.items() for name in names.split()}
CONTROL = {"branch": "branch", "exit": "exit", "trap": "", "barrier": "barrier"}
_MOVES = (
    "move",
    "address",
    "parameter",
    "load",
    "shuffle",
    "vote",
    "reduce",
    "match",
    "branch",
    "nothing",
    "policy",
    "fence",
)
_LOST = (
    "the driver's code changes the destination in lanes whose guard is false too; compute it without the guard into a "
    "register of its own, and move that under the guard"
)
_COMPUTES = {
    name for name, module in HOMES.items()
    if module in "integers pairs bit_fields bit_operations fields conversions carries comparisons".split()
}  # fmt: skip
PURE = frozenset({*_COMPUTES, *_MOVES})  # classes that write registers alone
ON_DATA = frozenset({*_COMPUTES, *MODULES["dot"].split(), "vote", "reduce", "match"})
MAY_DOUBT = ON_DATA - {"vote", "reduce", "match"} | {"move", "address", "load", "store", "atomic", "atomic_any"}
WAITS = frozenset({"wait", "cluster_wait"})  # classes that stay where they are while their threads wait
_CELLS = (
    "load",
    "store",
    "copy",
    "load_matrix",
    "store_matrix",
    "wgmma",
    "fragment_load",
    "fragment_store",
    "tensor_product",
)


@cache
def _load(module: str) -> Any:
    return import_module(f"{__package__}.{module}")


def find_bind(name: str) -> Bind:
    """Return the code of a class of opcodes; its module is loaded when a kernel first needs it."""
    bind: Bind = _load(HOMES[name]).BINDS[name]
    return bind


def bind_instructions(machine: Machine) -> list[Finding]:
    """Bind every instruction of the machine's kernel; the findings say which have no meaning."""
    machine.bound, missing = [], []
    opaque = machine.values.opaque
    if opaque:
        machine.run_unsure, machine.fork = (
            partial(_load("opaque").run_unsure, machine),
            _load("forks").Forks(machine).fork,
        )
    elif machine.skips:
        machine.fork = _load("skips").Skips(machine).skip
    accounted: set[object] = set()
    flags = _load("flags").guard_flag if any(inst.is_strong for inst in machine.kernel.instructions) else None
    if machine.kernel.clusters:
        line, text = machine.kernel.clusters
        missing.append(Finding("no meaning", Severity.UNKNOWN, line, f"clusters of several CTAs have none: {text}"))
    for inst in machine.kernel.instructions:
        machine.findings.line = inst.line
        decoded = meaning(inst.opcode)
        try:
            if decoded is None or decoded.row.meaning not in HOMES:
                raise Unclear(inst.line, f"no meaning for the opcode {inst.opcode}")
            _check_operands(inst, decoded)
            run, members = _account(machine, inst, decoded, accounted)
            if opaque and decoded.row.meaning in ON_DATA:
                run = _load("opaque").guard_data(machine, inst, decoded, run)
            if opaque and decoded.row.meaning in ("load", "store"):
                run = _load("reached").guard_access(machine, inst, decoded, run)
            if flags is not None:
                run = flags(machine, inst, decoded, run)
        except Unclear as error:
            missing.append(Finding("no meaning", Severity.UNKNOWN, inst.line, f"{error.problem}: {inst.text[:100]}"))
            continue
        if inst.guard is not None and decoded.loses_guard:
            machine.findings.add(GUARD_LOST, Severity.LETTER, _LOST, decoded.row.section)
        name, lanes = decoded.row.meaning, decoded.row.lanes
        doubts = lanes == 1 and name in MAY_DOUBT
        control = "wait" if name in WAITS else CONTROL.get(name, "")
        machine.bound.append(BoundInstruction(run, lanes, members, name in PURE, doubts, control))
    return missing


class _Operands(tuple[Operand, ...]):
    """Operands that note which of them are asked for."""

    seen: set[int]

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            self.seen.update(range(len(self))[at])
        else:
            self.seen.add(at if at >= 0 else at + len(self))
        return super().__getitem__(at)

    def __iter__(self) -> Iterator[Operand]:
        self.seen.update(range(len(self)))
        return super().__iter__()


class _Words(tuple[str, ...]):
    """The words of an opcode that note which of them are asked for; a message that prints all of them asks for none."""

    seen: set[str]

    def __getitem__(self, at: Any) -> Any:
        words = super().__getitem__(at)
        self.seen.update(words if isinstance(at, slice) else [words])
        return words

    def __contains__(self, word: object) -> bool:
        inside = super().__contains__(word)
        self.seen.update([str(word)] if inside else [])
        return inside


def _account(
    machine: Machine, inst: PtxInstruction, decoded: Meaning, accounted: set[object]
) -> tuple[Run, Read | None]:
    """Bind an instruction, and give the mask of its lanes; Unclear for what neither code nor `no_effect` accounts for.

    A handler asks for all that it needs before it returns: what it has not asked for then cannot change what it does.
    That is looked at once for an opcode with operands of these sorts: most instructions of a kernel are alike.
    """
    roles, opcode, operands = _roles(decoded.row), inst.words, inst.operands
    if not all(isinstance(each, Register) for each in operands):
        operands = tuple(
            _with_type(inst, each, decoded.types.get(role, "")) for each, role in zip(operands, roles, strict=False)
        )
    sort = opcode, *map(_sort, operands)
    if sort in accounted:
        return _bind(machine, inst, decoded, operands)
    words, types = NotedWords(decoded.words), NotedWords(decoded.types)
    noted, spelled = _Operands(operands), _Words(opcode)
    noted.seen, spelled.seen = set(), set()
    try:
        inst.words = spelled
        made = _bind(machine, inst, Meaning(decoded.row, words, types), noted)
    finally:
        inst.operands, inst.words = operands, opcode
    missing = unread(decoded, words, types)
    if missing and (missing := [word for word in missing if word not in spelled.seen]):
        raise Unclear(inst.line, f"no code reads .{', .'.join(missing)}")
    if len(noted.seen) < len(operands):
        silent = [role for at, role in enumerate(roles[: len(operands)]) if at not in noted.seen]
        if silent := [role for role in silent if role not in decoded.row.no_effect]:
            raise Unclear(inst.line, f"no code reads the operand {', '.join(silent)}")
    accounted.add(sort)
    return made


def _sort(operand: Operand) -> object:
    """Return of what sort an operand is: code may ask for other operands because of it."""
    if isinstance(operand, Vector):
        return tuple(map(_sort, operand.items))
    return (type(operand), operand.bits) if isinstance(operand, Immediate) else type(operand)


def _bind(
    machine: Machine, inst: PtxInstruction, decoded: Meaning, operands: tuple[Operand, ...]
) -> tuple[Run, Read | None]:
    """Return what an instruction with these operands does, and the mask of its lanes, if it has one."""
    roles, inst.operands = _roles(decoded.row), operands
    members = machine.reader(operands[roles.index("mask")]) if "mask" in roles else None
    name = decoded.row.meaning
    if machine.values.opaque and name == "atomic":
        name = "atomic_any"
    return find_bind(name)(machine, inst, decoded), members


def _with_type(inst: PtxInstruction, operand: Operand, kind: str) -> Operand:
    """Return an operand with each float literal as a number of the operand's type; Unclear if ptxas rejects it there.

    A double in an instruction of f32 is rounded, an f32 in one of f64 is extended, and bits are those of the literal.
    """
    if isinstance(operand, Vector):
        if all(isinstance(each, Register) for each in operand.items):
            return operand
        inner = "" if kind[:1] == "b" else kind  # of bits, a part
        return operand._replace(items=tuple(_with_type(inst, each, inner) for each in operand.items))
    if not isinstance(operand, Immediate) or not operand.kind or kind in (operand.kind, f"b{operand.kind[1:]}", ""):
        return operand
    if kind not in ("f32", "f64"):
        raise Unclear(inst.line, f"{operand.text} is a float, as an operand of type {kind}")
    bits, _ = floats.pack(floats.unpack(operand.bits, operand.kind), kind, payload=True)
    return operand._replace(bits=bits, kind=kind)


@cache
def _roles(row: Row) -> tuple[str, ...]:
    return tuple(role for role, _, _ in row.operands)


def _check_operands(inst: PtxInstruction, decoded: Meaning) -> None:
    operands = decoded.row.operands
    least = sum(not optional for _, _, optional in operands)
    if not least <= len(inst.operands) <= len(operands):
        raise Unclear(
            inst.line, f"{inst.opcode} has {least} to {len(operands)} operands, here are {len(inst.operands)}"
        )


def cell(kernel: Kernel) -> int:
    """Return the bytes of a cell of shared memory: as many as the kernel's narrowest access of it has."""
    narrowest = 16
    for inst in kernel.instructions:
        decoded = meaning(inst.opcode)
        if decoded is None or decoded.row.meaning not in _CELLS:
            continue
        kind = decoded.types.get("d") or decoded.types.get("b") or decoded.types.get("R")
        if (
            kind
            and decoded.row.meaning in ("load", "store", "fragment_load", "fragment_store")
            and not decoded.words.get("space", "").startswith("global")
        ):
            narrowest = min(narrowest, WIDTHS[kind] // 8)
        elif decoded.row.meaning in ("copy", "wgmma", "tensor_product"):
            narrowest = min(narrowest, 4)
    return max(narrowest, 1)

# SPDX-License-Identifier: Apache-2.0
"""Instructions that move data: between registers, from parameters, to and from memory.

Main declarations: `fetch` and `deposit` (bytes at an address of each thread, in any space), `load`, `store`, `copy`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa_tables.semantics import Meaning
from verify.core.errors import SpecError
from verify.kernel.data.distinct import list_distinct, sort_distinct
from verify.kernel.data.registers import ROOM, Word, join_octets, octets, widest, word
from verify.kernel.data.values import SIZE, Bits, Ids, Mask, Values
from verify.kernel.instructions.integers import keep_bits, register_width
from verify.kernel.ptx.source import WIDTHS, Address, Immediate, Operand, PtxInstruction, Register, Symbol, Vector
from verify.kernel.state.bound import Run
from verify.kernel.state.copies import Ended, Octets
from verify.kernel.state.findings import Severity, Unclear
from verify.kernel.state.machine import Bind, Machine
from verify.kernel.state.order import Ints
from verify.kernel.state.windows import (
    LOCAL_WINDOW,
    MODULE_WINDOW,
    PARAMETER_ROOM,
    PARAMETER_WINDOW,
    SHARED_WINDOW,
    WINDOW,
    check_window,
)

_OFFSET = np.uint64((1 << WINDOW) - 1)
_WINDOWS = {"shared": SHARED_WINDOW, "shared::cta": SHARED_WINDOW, "local": LOCAL_WINDOW}


def items(operand: Operand) -> tuple[Operand, ...]:
    """Return the registers of a vector, or the one operand."""
    return operand.items if isinstance(operand, Vector) else (operand,)


def registers_of_vector(inst: PtxInstruction, meaning: Meaning, operand: Operand) -> tuple[Operand, ...]:
    """Return the registers of an access: as many as `.v2`, `.v4` or `.v8` says."""
    registers, wanted = items(operand), int(meaning.words.get("vector", "v1")[1:])
    if len(registers) != wanted:
        raise Unclear(inst.line, f"{wanted} registers in braces are needed, here are {len(registers)}")
    return registers


def move(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """mov: a register, a number, an address; or to and from a vector of narrower registers."""
    size = max(WIDTHS[meaning.types["d"]] // 8, 1)
    destination, source = inst.operands
    if isinstance(destination, Vector):
        return _unpack(machine, destination, source, size)
    if isinstance(source, Vector):
        return _pack(machine, destination, source, size)
    put = machine.writer(destination)
    read = _fixed_place(machine, source) or machine.reader(source)
    width = WIDTHS[meaning.types["d"]]

    def execute(mask: Mask | None) -> None:
        moved = read()
        if moved.width > size:
            moved = word(moved.bits, moved.wide(size))
        put(moved if width >= 64 or not moved.plain else Word(keep_bits(moved.bits, width)), mask)

    return execute


def _fixed_place(machine: Machine, source: Operand) -> Callable[[], Word] | None:
    """Return the address of a variable in local memory or of the module, or of a parameter."""
    if not isinstance(source, Symbol):
        return None
    if source.name in machine.kernel.parameters:
        place = (PARAMETER_WINDOW << WINDOW) + (machine.kernel.parameters[source.name].number << PARAMETER_ROOM)
    elif source.name in machine.local.symbols:
        place = machine.local.symbols[source.name]
    elif source.name in machine.kernel.module:
        place = (MODULE_WINDOW << WINDOW) + (machine.kernel.module[source.name] << PARAMETER_ROOM)
    else:
        return None
    return lambda: machine.constant(place + source.offset)


def _unpack(machine: Machine, destination: Vector, source: Operand, size: int) -> Run:
    puts, read = [machine.writer(each) for each in destination.items], machine.reader(source)

    def execute(mask: Mask | None) -> None:
        for put, part in zip(puts, split_word(read(), len(puts), size), strict=True):
            put(part, mask)

    return execute


def split_word(packed: Word, count: int, size: int) -> list[Word]:
    """Return the equal parts of a register of `size` bytes, lowest first."""
    part = size // count
    if packed.ids is not None and packed.kind and packed.width == size and not part % SIZE[packed.kind]:
        each = part // SIZE[packed.kind]
        return [Word.of(packed.ids[:, at * each : (at + 1) * each], packed.kind) for at in range(count)]
    bits = [keep_bits(packed.bits >> np.uint64(8 * part * at), 8 * part) for at in range(count)]
    if packed.plain:
        return [Word(each) for each in bits]
    labels = packed.wide(size)
    return [word(each, labels[:, at * part : (at + 1) * part]) for at, each in enumerate(bits)]


def _pack(machine: Machine, destination: Operand, source: Vector, size: int) -> Run:
    put, reads = machine.writer(destination), [machine.reader(each) for each in source.items]
    return lambda mask: put(join_words(machine.values, [read() for read in reads], size), mask)


def join_words(values: Values, parts: Sequence[Word], size: int) -> Word:
    """Return the register of `size` bytes that consists of equal parts, lowest first."""
    part = size // len(parts)
    if parts[0].kind and {(each.kind, each.width) for each in parts} == {(parts[0].kind, part)}:
        ids = [each.ids for each in parts if each.ids is not None]
        return Word.of(np.concatenate(_same_rows(ids), 1), parts[0].kind)
    if size > ROOM:
        plain = np.concatenate(_same_rows([octets(each.bits, part) for each in parts]), 1)
        labels = np.concatenate(_same_rows([each.wide(part) for each in parts]), 1)
        return widest(values, plain, labels)
    bits = np.zeros(1, np.uint64)
    for place, each in enumerate(parts):
        bits = bits | keep_bits(each.bits, 8 * part) << np.uint64(8 * part * place)
    if all(each.plain for each in parts):
        return Word(bits)
    return word(bits, np.concatenate(_same_rows([each.wide(part) for each in parts]), 1))


def _same_rows(parts: list[NDArray[Any]]) -> list[NDArray[Any]]:
    rows = max(map(len, parts))
    return [np.broadcast_to(part, (rows, part.shape[1])) for part in parts]


def convert_address(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """cvta: global addresses are generic ones; shared and local memory have a window of generic addresses."""
    window = _WINDOWS.get(meaning.words["space"], 0) << WINDOW
    put, to = machine.writer(inst.operands[0]), "to" in meaning.words
    parameter = meaning.words["space"].startswith("param") and not to
    read = _fixed_place(machine, inst.operands[1]) or machine.reader(inst.operands[1])

    def execute(mask: Mask | None) -> None:
        address = read()
        if parameter and not address.data(mask):  # a mov.b32 gives an address in the space, without its window
            base, inside = np.uint64(PARAMETER_WINDOW << WINDOW), address.bits >> np.uint64(WINDOW) == 0
            put(Word(np.where(inside, address.bits + base, address.bits)), mask)
        elif not window or address.data(mask):
            put(address, mask)
        else:
            base = np.uint64(window)
            put(Word(address.bits - base if to else address.bits + base), mask)

    return execute


def window_of(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """isspacep: whether a generic address is in the window of a space."""
    put, read, space = machine.writer(inst.operands[0]), machine.reader(inst.operands[1]), meaning.words["space"]
    windows = dict.fromkeys(("shared", "shared::cta", "shared::cluster"), SHARED_WINDOW)  # a cluster has one CTA here
    windows |= {"local": LOCAL_WINDOW, "param": PARAMETER_WINDOW}

    def execute(mask: Mask | None) -> None:
        window = machine.numbers(read, mask, "an address") >> np.uint64(WINDOW)
        in_windows = np.isin(window, list(windows.values()))
        inside = ~in_windows & (space == "global") if space not in windows else window == windows[space]
        put(Word(inside.astype(np.uint64)), mask)

    return execute


def parameter(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """ld.param: bytes of a parameter; one that the claim does not give is an error when it is read."""
    source, registers = inst.operands[1], registers_of_vector(inst, meaning, inst.operands[0])
    puts, rooms = [machine.writer(each) for each in registers], [register_width(machine, each) for each in registers]
    size, signed = WIDTHS[meaning.types["d"]] // 8, meaning.types["d"][0] == "s"
    if not isinstance(source, Address):
        raise Unclear(inst.line, "the operand isn't an address")
    if isinstance(source.base, Symbol) and source.base.name in machine.local.symbols:  # of a call
        return load(machine, inst, meaning, "param")
    computed = machine.address(source) if isinstance(source.base, Register) else None
    fixed = source.base if isinstance(source.base, Symbol) else Symbol("")
    if computed is None and fixed.name not in machine.kernel.parameters:
        raise Unclear(inst.line, f"no parameter is named {fixed.name}")
    names = {variable.number: name for name, variable in machine.kernel.parameters.items()}

    def execute(mask: Mask | None) -> None:
        name, first = fixed.name, fixed.offset + source.offset
        if computed is not None:
            addresses = sort_distinct(
                computed(mask) if mask is None or len(computed(mask)) == 1 else computed(mask)[mask]
            )
            number, first = divmod(int(addresses[0]) - (PARAMETER_WINDOW << WINDOW), 1 << PARAMETER_ROOM)
            if len(addresses) > 1 or number not in names:
                raise Unclear(inst.line, "parameters are read through an address that differs by thread, or is none")
            name = names[number]
        given = machine.parameters.get(name)
        number = machine.kernel.parameters[name].number
        machine.offsets_read.add((number, first, size * len(puts)))
        octets = None if given is None else given.get_bytes(first, size * len(puts))
        if octets is None:
            last = first + size * len(puts) - 1
            what = f"line {inst.line} reads bytes {first} to {last}, which the claim does not give"
            reads = machine.kernel.parameter_reads()
            listed = ", ".join(str(at) if places == [0] else f"{at} at {places}" for at, places in reads.items())
            raise SpecError(f"params[{number}]", f"{what}; the PTX reads parameters {listed}")
        for place, put in enumerate(puts):
            bits = int.from_bytes(octets[place * size : (place + 1) * size], "little")
            if signed and bits >> (8 * size - 1):
                bits |= ((1 << rooms[place]) - 1) & ~((1 << 8 * size) - 1)
            put(Word(np.array([bits], np.uint64)), mask)

    return execute


Access = tuple[str, Bits, Ints]


def spread_of(machine: Machine, bits: Bits, threads: Ints) -> Bits:
    """Return the address of each of these threads."""
    return np.broadcast_to(bits, machine.count)[threads] if len(bits) == 1 else bits[threads]


def _spaces(machine: Machine, space: str, spread: Bits, threads: Ints) -> list[tuple[str, Bits, Ints, Ints]]:
    """(space, addresses, threads, their rows) of accesses; generic addresses are split by their window."""
    rows = np.arange(len(threads))
    if space:
        name = "shared" if space.startswith("shared") else "local" if space == "param" else space
        if name != "global":
            check_window(machine.findings, spread, SHARED_WINDOW if name == "shared" else LOCAL_WINDOW)
        return [(name, spread & _OFFSET if name != "global" else spread, threads, rows)]
    window, accesses = (spread >> np.uint64(WINDOW)).astype(np.int64), []
    for number in list_distinct(window):
        here = window == number
        name = {SHARED_WINDOW: "shared", LOCAL_WINDOW: "local"}.get(number, "global")
        accesses.append((name, spread[here] & _OFFSET if name != "global" else spread[here], threads[here], rows[here]))
    return accesses


def fetch(machine: Machine, space: str, spread: Bits, threads: Ints, count: int, way: str = "") -> tuple[Ids, Octets]:
    """Return the labels and bytes (threads, count) at an address of each thread; a thread may come more than once."""
    parts = _spaces(machine, space, spread, threads)
    if len(parts) == 1:
        return _fetch(machine, *parts[0][:3], count, way)
    labels = np.zeros((len(threads), count), np.uint32)
    plain = np.zeros((len(threads), count), np.uint8)
    for name, addresses, who, rows in parts:
        labels[rows], plain[rows] = _fetch(machine, name, addresses, who, count, way)
    return labels, plain


def _fetch(machine: Machine, name: str, addresses: Bits, who: Ints, count: int, way: str) -> tuple[Ids, Octets]:
    """Return the labels and bytes at addresses of one kind of memory."""
    if name == "global":
        return machine.memory.load(addresses, who, count, way)
    if name == "shared":
        low = (addresses & np.uint64(0xFFFFFFFF)).astype(np.int64)
        return machine.shared.load(machine.shared.places(low, who, count), who)
    places = machine.local.places(addresses, count)
    return machine.local.labels[who[:, None], places], machine.local.plain[who[:, None], places]


def _sign_extended(machine: Machine, bits: Bits, labels: Ids, kind: str, width: int) -> tuple[Bits, Ids]:
    """Return the bits and labels of numbers of a type in a register of so many bytes."""
    size = SIZE[kind]
    spread = keep_bits(
        ((bits << np.uint64(64 - 8 * size)).view(np.int64) >> (64 - 8 * size)).view(np.uint64), 8 * width
    )
    data: Mask = np.asarray(labels.any(1))
    if not data.any():
        return spread, labels
    values = machine.values
    ids = values.whole(Word(bits, labels).elements(values, kind, size)[:, 0], kind)
    made = Word.of(values.copy(ids, f"s{8 * width}", narrows=False)[:, None], f"s{8 * width}").wide(width)
    return np.where(data, np.uint64(0), spread), np.where(data[:, None], made, np.uint32(0))


def load(machine: Machine, inst: PtxInstruction, meaning: Meaning, space: str = "") -> Run:
    """ld: bytes from memory into registers; a narrow signed number is extended by its sign."""
    kind, space = meaning.types["d"], meaning.words.get("space", space)
    size = WIDTHS[kind] // 8
    registers = registers_of_vector(inst, meaning, inst.operands[0])
    puts, address = [machine.writer(each) for each in registers], machine.address(inst.operands[1])
    rooms = [register_width(machine, each) for each in registers]
    count = size * len(puts)
    way = "nc" if "nc" in meaning.words else ""

    def execute(mask: Mask | None) -> None:
        threads = machine.list_threads(mask)
        labels, plain = fetch(machine, space, spread_of(machine, address(mask), threads), threads, count, way)
        whole = len(threads) == machine.count
        for place, (put, room) in enumerate(zip(puts, rooms, strict=True)):
            label, octet = labels[:, place * size : (place + 1) * size], plain[:, place * size : (place + 1) * size]
            if size > ROOM:
                wider = widest(machine.values, octet.astype(np.uint64), label)
                bits, label = wider.bits, wider.wide(size)
            else:
                bits = join_octets(octet.astype(np.uint64)) if octet.any() else np.zeros(len(octet), np.uint64)
            if kind[0] == "s" and room > 8 * size:
                bits, label = _sign_extended(machine, bits, label, kind, room // 8)
            if whole:
                put(word(bits, label), mask)
                continue
            wide_bits, wide = np.zeros(machine.count, np.uint64), np.zeros((machine.count, label.shape[1]), np.uint32)
            wide_bits[threads], wide[threads] = bits, label
            put(word(wide_bits, wide), mask)

    return execute


def store(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """st: bytes of registers into memory."""
    kind, space = meaning.types["b"], meaning.words.get("space", "")
    size = WIDTHS[kind] // 8
    registers = registers_of_vector(inst, meaning, inst.operands[1])
    reads, address = [machine.reader(each) for each in registers], machine.address(inst.operands[0])

    def execute(mask: Mask | None) -> None:
        threads = machine.list_threads(mask)
        sources = [read() for read in reads]
        labels = np.concatenate([rows_of(each.wide(size), threads) for each in sources], 1)
        plain = np.concatenate([rows_of(octets(each.bits, size).astype(np.uint8), threads) for each in sources], 1)
        deposit(machine, space, spread_of(machine, address(mask), threads), threads, labels, plain)

    return execute


def rows_of(part: NDArray[Any], threads: Ints) -> NDArray[Any]:
    """Return the rows of some threads, of an array with one for each thread or one for all."""
    return np.broadcast_to(part, (len(threads), part.shape[1])) if len(part) == 1 else part[threads]


def deposit(machine: Machine, space: str, spread: Bits, threads: Ints, labels: Ids, plain: Octets) -> None:
    """Write labels and bytes (threads, count) at an address of each thread."""
    for name, addresses, who, rows in _spaces(machine, space, spread, threads):
        if name == "global":
            machine.memory.write(addresses, who, labels[rows], plain[rows])
        elif name == "shared":
            low = (addresses & np.uint64(0xFFFFFFFF)).astype(np.int64)
            machine.shared.write(machine.shared.places(low, who, labels.shape[1]), who, labels[rows], plain[rows])
        else:
            places = machine.local.places(addresses, labels.shape[1])
            machine.local.labels[who[:, None], places] = labels[rows]
            machine.local.plain[who[:, None], places] = plain[rows]


_COPIED = {"ca": (4, 8, 16), "cg": (16,)}  # bytes that cp.async copies, by the cache: PTX ISA 9.7.9.25.3.1


def copy(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """cp.async: bytes from global to shared memory, zeros after the first `valid` ones."""
    destination, source = machine.address(inst.operands[0]), machine.address(inst.operands[1])
    amount = inst.operands[2]
    if not isinstance(amount, Immediate):
        raise Unclear(inst.line, "the size of a cp.async isn't a number")
    count, cache = amount.bits, meaning.words["cache"]
    if count not in _COPIED[cache]:
        raise Unclear(
            inst.line, f"a cp.async.{cache} copies {' or '.join(map(str, _COPIED[cache]))} bytes, not {count}"
        )
    last = inst.operands[3] if len(inst.operands) > 3 else None
    if isinstance(last, Register) and machine.kernel.registers[last.index] == "pred":
        raise Unclear(inst.line, "no meaning for a cp.async whose source a predicate ignores")
    valid = (
        machine.reader(last) if last is not None and (len(inst.operands) > 4 or "hint" not in meaning.words) else None
    )

    def execute(mask: Mask | None) -> None:
        threads = machine.list_threads(mask)
        low = machine.shared_at(destination(mask), threads)
        places = machine.shared.places(low, threads, count)
        labels, plain = np.zeros((len(threads), count), np.uint32), np.zeros((len(threads), count), np.uint8)
        sizes = np.full(len(threads), count)
        if valid is not None:
            sizes = machine.at(machine.numbers(valid, mask, "the size of a copy"), threads)
            if (sizes > count).any():
                text = f"{int(sizes.max())} bytes of the source for {count} of the destination: undefined"
                machine.findings.add("size of a copy", Severity.MEMORY, text, "9.7.9.25.3.1")
                sizes = np.minimum(sizes, count)
        reads = np.zeros(machine.count, bool)
        reads[threads[sizes > 0]] = True  # without bytes of the source its address may be anything
        addresses = np.broadcast_to(source(reads), machine.count)[threads] if reads.any() else threads
        ends: list[Ended] = []  # told when the copies have ended
        for size in sort_distinct(sizes):
            here = sizes == size
            if size:
                copied = machine.memory.load(addresses[here], threads[here], int(size), align=count, ends=ends)
                labels[here, :size], plain[here, :size] = copied
        machine.shared.start_copy(places, threads, labels, plain, machine.group[threads], ends)

    return execute


def copy_group(machine: Machine, inst: PtxInstruction, meaning: Meaning) -> Run:
    """cp.async's groups: a thread closes one, or waits for all but the last n."""
    action = meaning.words["action"]
    if (action == "wait_group") != bool(inst.operands):
        raise Unclear(inst.line, "wait_group has a number, commit_group and wait_all have none")
    keep = inst.operands[0].bits if inst.operands and isinstance(inst.operands[0], Immediate) else 0

    def execute(mask: Mask | None) -> None:
        threads = np.ones(machine.count, bool) if mask is None else mask
        if action == "commit_group":
            machine.group[threads] += 1
        else:
            limit = machine.group - keep if action == "wait_group" else machine.group + 1
            machine.shared.finish_copies(threads, limit)

    return execute


BINDS: dict[str, Bind] = {
    "move": move,
    "address": convert_address,
    "window": window_of,
    "parameter": parameter,
    "load": load,
    "store": store,
    "copy": copy,
    "copy_group": copy_group,
}

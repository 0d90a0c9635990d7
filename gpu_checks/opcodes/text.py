# SPDX-License-Identifier: Apache-2.0
"""The PTX of a form's probe: a kernel that runs the instruction twice on each of 128 lanes, and stores what it gave.

The first time every lane executes it. The second time the destination has a pattern before, and the lanes for which
`@g` or `@!h` holds execute it. Memory that it reads or writes is 32 bytes of each lane.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

from gpu_checks.arrays import np
from gpu_checks.device.cuda import Array
from gpu_checks.opcodes.forms import FormOperand, OpcodeForm
from gpu_checks.opcodes.operands import columns, guards
from gpu_checks.opcodes.values import LANES, octets

HEAD = ".version 9.0\n.target sm_90a\n.address_size 64\n"
PATTERN = 0x5A  # of a byte that nothing wrote
_COLUMN = 8 * LANES  # bytes
_ROOM = 32  # bytes of memory of a lane
_BLOCK = _ROOM * LANES
_RUNS = (0, 1)
GUARDS = 2 * _COLUMN  # bytes of the two guards
_NAMES = {"shared": "own", "local": "low"}  # the registers with a lane's addresses
_CARRIES = frozenset(("addc", "subc", "madc"))  # they read the carry of the instruction before


@dataclass(frozen=True, slots=True)
class Result:
    """Where the probe stores something that came out."""

    start: int  # in the output, in bytes
    stride: int  # bytes from lane to lane
    size: int  # bytes of each lane that count


@dataclass(frozen=True, eq=False)
class Probe:
    """The kernel of a form, what it reads, and where its results are."""

    form: OpcodeForm

    @cached_property
    def operands(self) -> Array:
        """The bytes that it reads behind the guards: a column for each operand, and the memory of each lane."""
        form = self.form
        words = [word for place in self._sources for word in columns(form, place)]
        if self._carries:
            words.append(np.array([(lane * 7 % 3) << 31 for lane in range(LANES)], np.uint64))
        parts = [word.astype("<u8").view(np.uint8) for word in words]
        if form.group in ("load", "atomic"):
            parts.append(octets(self._memory_kind, _ROOM).reshape(-1))
        return np.concatenate([np.zeros(0, np.uint8), *parts])

    @property
    def inputs(self) -> Array:
        """All that its kernel reads."""
        return np.concatenate([guard_columns(self.form), self.operands])

    @cached_property
    def results(self) -> tuple[Result, ...]:
        """What it stores, in order: of the first run, then of the second."""
        listed, start = [], 0
        for _ in _RUNS:
            for size in self._sizes:
                for _ in range(max(1, size // 8)):
                    listed.append(Result(start, 8, min(size, 8)))
                    start += _COLUMN
            if self._writes:
                listed.append(Result(start, _ROOM, _ROOM))
                start += _BLOCK
        return tuple(listed)

    @property
    def output(self) -> Array:
        """The output before it runs."""
        last = self.results[-1]
        return np.full(last.start + last.stride * LANES, PATTERN, np.uint8)

    @property
    def digest(self) -> str:
        """A digest of all that the results depend on but the GPU."""
        return blake2b(self.text("probe").encode() + self.inputs.tobytes(), digest_size=8).hexdigest()

    def split_results(self, output: Array) -> list[bytes]:
        """Return the bytes of each result, lane by lane, from the output after the kernel ran."""
        return [
            output[result.start : result.start + result.stride * LANES]
            .reshape(LANES, result.stride)[:, : result.size]
            .tobytes()
            for result in self.results
        ]

    def text(self, name: str) -> str:
        """Return the kernel as an entry of that name."""
        return entry(name, [self.form], [self.body(GUARDS, 0)])

    def body(self, given: int, taken: int) -> str:
        """Return a block whose operands are at byte `given` of what the kernel reads, its results at `taken`."""
        return "\n".join(("{", *self._lines(given, taken), "}\n"))

    # ---- the parts of the text

    @cached_property
    def _sources(self) -> list[int]:
        """The operands that are registers to be filled."""
        form = self.form
        return [
            place
            for place, part in enumerate(form.parts)
            if place >= form.results and part.bits and part.number is None and part.role != "hint"
        ]

    @property
    def _carries(self) -> bool:
        return self.form.opcode.partition(".")[0] in _CARRIES

    @property
    def _writes(self) -> bool:
        """Whether it writes memory."""
        return self.form.group in ("store", "atomic")

    @property
    def _memory_kind(self) -> str:
        """The type of what its memory holds."""
        return next(part.kind for part in self.form.parts if part.role in "db" and part.bits)

    @cached_property
    def _sizes(self) -> list[int]:
        """Bytes of each register that it writes, a predicate behind `|` and a carry with them; a predicate has 1."""
        sizes = []
        for part in self.form.parts[: self.form.results]:
            sizes += [max(1, part.bits // 8)] * part.many + [1] * part.pair
        return sizes + [4] * ("cc" in self.form.opcode.split("."))

    def _lines(self, given: int, taken: int) -> Iterator[str]:
        for place in self._sources:
            part = self.form.parts[place]
            for number in range(part.many):
                yield from _fill(f"x{place}_{number}", part, given)
                given += _COLUMN * (2 if part.bits == 128 else 1)
        if self._carries:
            yield f".reg .b32 one, two; ld.global.b32 two, [in+{given}];"
            given += _COLUMN
        for run in _RUNS:
            taken = yield from self._write_run(run, given, taken)

    def _write_run(self, run: int, given: int, taken: int) -> Generator[str, None, int]:
        """One run, whose memory is at a byte of what is given; returns where the results of the next one begin."""
        form = self.form
        targets = [part for part in form.parts[: form.results] for _ in range(part.many)]
        for number, part in enumerate(targets):
            yield from _blank(f"y{run}_{number}", part, bool(run))
        if targets and targets[0].pair:
            yield from _blank(f"q{run}", targets[0]._replace(bits=1), bool(run))
        block = taken + _COLUMN * sum(max(1, size // 8) for size in self._sizes)
        if form.memory:
            yield from self._memory(run, given, block)
        for guard in ("@g ", "@!h ") if run else ("",):
            if self._carries:
                yield "add.cc.u32 one, two, two;"
            operands = ", ".join(self._operand(place, run, given, block) for place in range(len(form.parts)))
            yield f"{guard}{form.opcode} {operands};"
            if "cc" in form.opcode.split("."):
                yield f"{'.reg .b32 c0, c1; ' if not run else ''}addc.u32 c{run}, 0, 0;"
        for number, part in enumerate(targets):
            yield from _keep(f"y{run}_{number}", part.bits, taken)
            taken += _COLUMN * (2 if part.bits == 128 else 1)
        if targets and targets[0].pair:
            yield from _keep(f"q{run}", 1, taken)
            taken += _COLUMN
        if "cc" in form.opcode.split("."):
            yield from _keep(f"c{run}", 32, taken)
        if not self._writes:
            return taken + _COLUMN * ("cc" in form.opcode.split("."))
        if _space(form) != "global":
            yield from _copy(f"{_space(form)}", self._address(run, given, block), "global", f"to+{block}")
        return block + _BLOCK

    def _operand(self, place: int, run: int, given: int, block: int) -> str:
        """Return the text of an operand."""
        form, part = self.form, self.form.parts[place]
        if part.number is not None:
            return f"{part.number:#x}"
        if not part.bits:
            return f"[{self._address(run, given, block)}]"
        if part.role == "hint":
            return "hint"
        letter = f"y{run}" if place < form.results else f"x{place}"
        names = [f"{'!' * part.negated}{letter}_{number}" for number in range(part.many)]
        text = f"{{{', '.join(names)}}}" if part.many > 1 else names[0]
        return text + f"|q{run}" * part.pair

    def _address(self, run: int, given: int, block: int) -> str:
        """Return the address of the memory of a lane in one run; both runs of a load read the same."""
        space = _space(self.form)
        if space == "global":
            return f"to+{block}" if self._writes else f"from+{given}"
        size = _BLOCK if space == "shared" else _ROOM
        return f"{_NAMES[space]}+{run * size if self._writes else 0}"

    def _memory(self, run: int, given: int, block: int) -> Iterator[str]:
        """Give the memory of each lane its content: values, or the pattern that the output has already."""
        space, address = _space(self.form), self._address(run, given, block)
        if self.form.group == "store" and space != "global":
            yield f"{{ .reg .b64 r; mov.b64 r, {_pattern(64)};"
            yield from (f"st.{space}.v2.b64 [{_plus(address, offset)}], {{r, r}};" for offset in (0, 16))
            yield "}"
        elif (self.form.group == "load" and space != "global" and not run) or self.form.group == "atomic":
            yield from _copy("global", f"from+{given}", space, address)


def _space(form: OpcodeForm) -> str:
    """Return the state space of a form's memory: a generic address is one of global memory."""
    return form.words.get("space", "global").partition("::")[0]


def _copy(source: str, at: str, target: str, to: str) -> Iterator[str]:
    """Copy the memory of each lane from one space to another."""
    yield "{ .reg .b64 r<2>;"
    for offset in (0, 16):
        yield f"ld.{source}.v2.b64 {{r0, r1}}, [{_plus(at, offset)}];"
        yield f"st.{target}.v2.b64 [{_plus(to, offset)}], {{r0, r1}};"
    yield "}"


def _plus(address: str, offset: int) -> str:
    base, _, number = address.partition("+")
    return f"{base}+{int(number) + offset}"


def _fill(name: str, part: FormOperand, place: int) -> Iterator[str]:
    """Declare a register and fill it from a byte of what is given."""
    if part.kind == "pred":
        yield f".reg .pred {name}; ld.global.b32 word, [in+{place}];"
        yield f"and.b32 word, word, 1; setp.ne.u32 {name}, word, 0;"
    elif part.bits == 128:
        yield f".reg .b128 {name}; .reg .b64 {name}l, {name}h;"
        yield f"ld.global.b64 {name}l, [in+{place}]; ld.global.b64 {name}h, [in+{place + _COLUMN}];"
        yield f"mov.b128 {name}, {{{name}l, {name}h}};"
    else:
        yield f".reg .b{part.bits} {name}; ld.global.b{part.bits} {name}, [in+{place}];"


def _blank(name: str, part: FormOperand, filled: bool) -> Iterator[str]:
    """Declare a destination; `filled` with a pattern, of which the lanes that do not execute keep every bit."""
    if part.bits == 1:
        yield f".reg .pred {name};" + f" mov.pred {name}, odd;" * filled
    elif part.bits == 128:
        yield f".reg .b128 {name}; .reg .b64 {name}l, {name}h;"
        if filled:
            yield f"mov.b64 {name}l, {_pattern(64)}; mov.b128 {name}, {{{name}l, {name}l}};"
    else:
        yield f".reg .b{part.bits} {name};" + f" mov.b{part.bits} {name}, {_pattern(part.bits)};" * filled


def _pattern(bits: int) -> int:
    return int.from_bytes(bytes([PATTERN]) * (bits // 8), "little")


def _keep(name: str, bits: int, start: int) -> Iterator[str]:
    """Store a register of each lane in a column of the output."""
    if bits == 1:
        yield f"selp.b32 word, 1, 0, {name}; st.global.b32 [out+{start}], word;"
    elif bits == 128:
        yield f"mov.b128 {{{name}l, {name}h}}, {name};"
        yield f"st.global.b64 [out+{start}], {name}l; st.global.b64 [out+{start + _COLUMN}], {name}h;"
    else:
        yield f"st.global.b{bits} [out+{start}], {name};"


def guard_columns(form: OpcodeForm) -> Array:
    """Return the bytes that a kernel reads first: the predicates of `@g` and `@!h`, of all forms of the same lanes."""
    return np.concatenate([predicate.astype("<u8").view(np.uint8) for predicate in guards(form)])


def entry(name: str, forms: Sequence[OpcodeForm], bodies: Sequence[str]) -> str:
    """Return an entry that executes the blocks of some forms in order, all of them of as many lanes together.

    `in` and `out` are the places of a lane in a column, `from` and `to` in a block of memory.
    """
    spaces = {_space(form) for form in forms if form.memory}
    lines = [
        f".visible .entry {name}(.param .u64 given, .param .u64 taken)\n{{",
        ".reg .b64 in, out, from, to, eight, room; .reg .b32 lane, word; .reg .pred g, h, odd;",
        "ld.param.u64 in, [given]; ld.param.u64 out, [taken]; mov.u32 lane, %tid.x;",
        f"mul.wide.u32 eight, lane, 8; mul.wide.u32 room, lane, {_ROOM};",
        "add.u64 from, in, room; add.u64 to, out, room; add.u64 in, in, eight; add.u64 out, out, eight;",
        "ld.global.b32 word, [in]; setp.ne.u32 g, word, 0;",
        f"ld.global.b32 word, [in+{_COLUMN}]; setp.ne.u32 h, word, 0;",
        "and.b32 word, lane, 1; setp.ne.u32 odd, word, 0;",
    ]
    if "shared" in spaces:
        lines.append(f".shared .align {_ROOM} .b8 sh[{len(_RUNS) * _BLOCK}]; .reg .b32 own;")
        lines.append(f"mul.lo.u32 own, lane, {_ROOM}; mov.u32 word, sh; add.u32 own, own, word;")
    if "local" in spaces:
        lines.append(f".local .align {_ROOM} .b8 lo[{len(_RUNS) * _ROOM}]; .reg .b32 low; mov.u32 low, lo;")
    if any(part.role == "hint" for form in forms for part in form.parts):
        lines.append(".reg .b64 hint; createpolicy.fractional.L2::evict_last.b64 hint, 0f3F800000;")
    return "\n".join((*lines, *bodies, "ret;\n}\n"))


def module(probes: Sequence[Probe]) -> str:
    """Return the PTX of several probes, whose entries are `p` and a number."""
    return HEAD + "".join(probe.text(f"p{number}") for number, probe in enumerate(probes))

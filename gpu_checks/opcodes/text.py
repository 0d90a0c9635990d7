# SPDX-License-Identifier: Apache-2.0
"""The PTX of a form's probe: a kernel that runs the instruction twice on each of 128 lanes, and stores what it gave.

The first time every lane executes it. The second time the destination has a pattern before, and the lanes for which
`@g` or `@!h` holds execute it. Memory that it reads or writes is 32 bytes of each lane.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from gpu_checks.arrays import np
from gpu_checks.device.cuda import Array
from gpu_checks.opcodes.forms import Form, Part
from gpu_checks.opcodes.operands import columns, guards
from gpu_checks.opcodes.values import LANES, octets
from lanecheck_console.digests import blake2b

HEAD = ".version 9.0\n.target sm_90a\n.address_size 64\n"
PATTERN = 0x5A  # of a byte that nothing wrote
_COLUMN = 8 * LANES  # bytes
_ROOM = 32  # bytes of memory of a lane
_BLOCK = _ROOM * LANES
_RUNS = (0, 1)
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

    form: Form

    @cached_property
    def given(self) -> Array:
        """The bytes that it reads: the guards, the operands, and the memory of each lane."""
        form, found = self.form, [*guards(self.form)]
        for place in self._sources:
            found += columns(form, place)
        if self._carries:
            found += [np.array([(lane * 7 % 3) << 31 for lane in range(LANES)], np.uint64)]
        memory = octets(self._stored, _ROOM) if form.memory else np.zeros((LANES, 0), np.uint8)
        if form.group == "store":
            memory = np.full_like(memory, PATTERN)
        whole = np.concatenate([one.astype("<u8") for one in found]).view(np.uint8)
        return np.concatenate([whole, memory.reshape(-1)])

    @cached_property
    def results(self) -> tuple[Result, ...]:
        """What it stores, in order: of the first run, then of the second."""
        found, start = [], 0
        for _ in _RUNS:
            sizes = [size for size in self._sizes for _ in range(max(1, size // 8))]
            for size in sizes:
                found.append(Result(start, 8, min(size, 8)))
                start += _COLUMN
            if self._writes:
                found.append(Result(start, _ROOM, _ROOM))
                start += _BLOCK
        return tuple(found)

    @property
    def output(self) -> Array:
        """The output before it runs."""
        last = self.results[-1]
        return np.full(last.start + last.stride * LANES, PATTERN, np.uint8)

    @property
    def digest(self) -> str:
        """A digest of all that the results depend on but the GPU."""
        text = self.text("probe").encode()
        return blake2b(text + self.given.tobytes(), digest_size=8).hexdigest()

    def taken(self, output: Array) -> list[bytes]:
        """Return the bytes of each result, lane by lane, from the output after the kernel ran."""
        return [
            output[one.start : one.start + one.stride * LANES].reshape(LANES, one.stride)[:, : one.size].tobytes()
            for one in self.results
        ]

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
    def _stored(self) -> str:
        """The type of what its memory holds."""
        return next(part.kind for part in self.form.parts if part.role in "db" and part.bits)

    @cached_property
    def _sizes(self) -> list[int]:
        """Bytes of each register that it writes, a predicate behind `|` and a carry with them; a predicate has 1."""
        found = []
        for part in self.form.parts[: self.form.results]:
            found += [max(1, part.bits // 8)] * part.many + [1] * part.pair
        return found + [4] * ("cc" in self.form.opcode.split("."))

    def text(self, name: str) -> str:
        """Return the kernel as an entry of that name."""
        return entry(name, [self.body()])

    def body(self, given: int = 0, taken: int = 0) -> str:
        """Return a block that reads from byte `given` of the first parameter and writes from `taken` of the second."""
        return "\n".join(("{", *self._lines(given, taken), "}\n"))

    def _lines(self, given: int, taken: int) -> Iterator[str]:
        form = self.form
        yield ".reg .b64 in, out, base, at, mem, hint; .reg .b32 word, one, two, low; .reg .pred g, h;"
        yield f"add.u64 base, first, {given}; add.u64 out, second, {taken};"
        yield "mul.wide.u32 at, lane, 8; add.u64 in, base, at; add.u64 at, out, at;"
        yield "ld.global.b32 word, [in]; setp.ne.u32 g, word, 0;"
        yield f"ld.global.b32 word, [in+{_COLUMN}]; setp.ne.u32 h, word, 0;"
        count = 2
        for place in self._sources:
            part = form.parts[place]
            for number in range(part.many):
                yield from _filled(f"x{place}_{number}", part, count)
                count += 2 if part.bits == 128 else 1
        if self._carries:
            yield f"ld.global.b32 two, [in+{_COLUMN * count}];"
            count += 1
        if any(part.role == "hint" for part in form.parts):
            yield "createpolicy.fractional.L2::evict_last.b64 hint, 0f3F800000;"
        start = 0
        for run in _RUNS:
            start = yield from self._run(run, count, start)

    def _run(self, run: int, count: int, start: int) -> Generator[str, None, int]:
        """One run, whose results begin at a byte of the output; returns where the next ones begin."""
        form = self.form
        after = start + _COLUMN * sum(max(1, size // 8) for size in self._sizes)
        targets = [part for part in form.parts[: form.results] for _ in range(part.many)]
        for number, part in enumerate(targets):
            yield from _blank(f"y{run}_{number}", part)
        if targets and targets[0].pair:
            yield from _blank(f"q{run}", targets[0]._replace(bits=1))
        if form.memory:
            yield from self._memory(run, count, after)
        for guard in ("@g ", "@!h ") if run else ("",):
            if self._carries:
                yield "add.cc.u32 one, two, two;"
            yield f"{guard}{form.opcode} {', '.join(self._operand(place, run) for place in range(len(form.parts)))};"
            if "cc" in form.opcode.split("."):
                yield f"{'.reg .b32 c0, c1; ' if not run else ''}addc.u32 c{run}, 0, 0;"
        for number, part in enumerate(targets):
            yield from _kept(f"y{run}_{number}", part.bits, start)
            start += _COLUMN * (2 if part.bits == 128 else 1)
        if targets and targets[0].pair:
            yield from _kept(f"q{run}", 1, start)
            start += _COLUMN
        if "cc" in form.opcode.split("."):
            yield from _kept(f"c{run}", 32, start)
            start += _COLUMN
        if not self._writes:
            return start
        yield from self._shown(run, start)
        return start + _BLOCK

    def _operand(self, place: int, run: int) -> str:
        """The text of an operand."""
        form, part = self.form, self.form.parts[place]
        if part.number is not None:
            return f"{part.number:#x}"
        if not part.bits:
            return f"[{'low' if self._space in ('shared', 'local') else 'mem'}]"
        if part.role == "hint":
            return "hint"
        letter = f"y{run}" if place < form.results else f"x{place}"
        names = [f"{'!' * part.negated}{letter}_{number}" for number in range(part.many)]
        text = f"{{{', '.join(names)}}}" if part.many > 1 else names[0]
        return text + f"|q{run}" * part.pair

    @property
    def _space(self) -> str:
        """The state space of its memory: a generic address is one of global memory."""
        return self.form.words.get("space", "global").partition("::")[0]

    def _memory(self, run: int, count: int, after: int) -> Iterator[str]:
        """Put the memory of each lane where the instruction takes it, and its address into `mem` or `low`."""
        if self._space == "global":
            if not self._writes:
                yield f"mul.wide.u32 mem, lane, {_ROOM}; add.u64 mem, base, mem; add.u64 mem, mem, {_COLUMN * count};"
                return
            yield f"mul.wide.u32 mem, lane, {_ROOM}; add.u64 mem, out, mem; add.u64 mem, mem, {after};"
        elif self._space == "shared":
            yield f"mul.lo.u32 low, lane, {_ROOM}; mov.u32 word, sh; add.u32 low, low, word;"
            yield f"add.u32 low, low, {run * _BLOCK};"
        else:
            yield f"mov.u32 low, lo; add.u32 low, low, {run * _ROOM};"
        where, space = ("mem", "global") if self._space == "global" else ("low", self._space)
        yield f"{{ .reg .b64 from, r<4>; mul.wide.u32 from, lane, {_ROOM}; add.u64 from, base, from;"
        for number in range(4):
            yield f"ld.global.b64 r{number}, [from+{_COLUMN * count + 8 * number}];"
            yield f"st.{space}.b64 [{where}+{8 * number}], r{number};"
        yield "}"

    def _shown(self, run: int, start: int) -> Iterator[str]:
        """Copy the memory of each lane to the output, unless it is there."""
        if self._space == "global":
            return
        yield f"{{ .reg .b64 to, r<4>; mul.wide.u32 to, lane, {_ROOM}; add.u64 to, out, to;"
        for number in range(4):
            yield f"ld.{self._space}.b64 r{number}, [low+{8 * number}];"
            yield f"st.global.b64 [to+{start + 8 * number}], r{number};"
        yield "}"


def _filled(name: str, part: Part, count: int) -> Iterator[str]:
    """Declare a register and fill it from column `count` of what is given."""
    place = _COLUMN * count
    if part.kind == "pred":
        yield f".reg .pred {name}; ld.global.b32 word, [in+{place}];"
        yield f"and.b32 word, word, 1; setp.ne.u32 {name}, word, 0;"
    elif part.bits == 128:
        yield f".reg .b128 {name}; .reg .b64 {name}l, {name}h;"
        yield f"ld.global.b64 {name}l, [in+{place}]; ld.global.b64 {name}h, [in+{place + _COLUMN}];"
        yield f"mov.b128 {name}, {{{name}l, {name}h}};"
    else:
        yield f".reg .b{part.bits} {name}; ld.global.b{part.bits} {name}, [in+{place}];"


def _blank(name: str, part: Part) -> Iterator[str]:
    """Declare a destination and give it a pattern, of which the lanes that do not execute keep every bit."""
    if part.bits == 1:
        yield f".reg .pred {name}; and.b32 word, lane, 1; setp.ne.u32 {name}, word, 0;"
    elif part.bits == 128:
        yield f".reg .b128 {name}; .reg .b64 {name}l, {name}h; mov.b64 {name}l, {_pattern(64)};"
        yield f"mov.b128 {name}, {{{name}l, {name}l}};"
    else:
        yield f".reg .b{part.bits} {name}; mov.b{part.bits} {name}, {_pattern(part.bits)};"


def _pattern(bits: int) -> int:
    return int.from_bytes(bytes([PATTERN]) * (bits // 8), "little")


def _kept(name: str, bits: int, start: int) -> Iterator[str]:
    """Store a register of each lane in a column of the output."""
    if bits == 1:
        yield f"selp.b32 word, 1, 0, {name}; st.global.b32 [at+{start}], word;"
    elif bits == 128:
        yield f"mov.b128 {{{name}l, {name}h}}, {name};"
        yield f"st.global.b64 [at+{start}], {name}l; st.global.b64 [at+{start + _COLUMN}], {name}h;"
    else:
        yield f"st.global.b{bits} [at+{start}], {name};"


def entry(name: str, bodies: Sequence[str]) -> str:
    """Return an entry that executes the blocks of some probes in order, with the memory that they share."""
    lines = [
        f".visible .entry {name}(.param .u64 given, .param .u64 taken)\n{{",
        ".reg .b64 first, second; .reg .b32 lane;",
        "ld.param.u64 first, [given]; ld.param.u64 second, [taken]; mov.u32 lane, %tid.x;",
    ]
    if any(" sh;" in body for body in bodies):
        lines.append(f".shared .align {_ROOM} .b8 sh[{len(_RUNS) * _BLOCK}];")
    if any(" lo;" in body for body in bodies):
        lines.append(f".local .align {_ROOM} .b8 lo[{len(_RUNS) * _ROOM}];")
    return "\n".join((*lines, *bodies, "ret;\n}\n"))


def module(probes: Sequence[Probe], first: int = 0) -> str:
    """Return the PTX of several probes, whose entries are `p` and a number."""
    return HEAD + "".join(probe.text(f"p{first + number}") for number, probe in enumerate(probes))

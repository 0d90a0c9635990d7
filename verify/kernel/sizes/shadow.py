# SPDX-License-Identifier: Apache-2.0
"""The forms of a run's registers, instruction by instruction, beside the machine that executes one CTA.

Default-deny: every read of a register goes through `reads`, which refuses one with a form unless the effect of the
instruction has asked for it; every write goes through `writes`, which drops the form. Each form that an effect makes is
compared with the interpreter's bits at the sample.
Main declarations: `Shadow`, `Follow`, `OpenPath`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from isa_tables.semantics import Meaning, meaning
from verify.kernel.data.registers import Word
from verify.kernel.data.values import Bits, Mask
from verify.kernel.instructions.integers import extend_sign
from verify.kernel.ptx.source import WIDTHS, Address, Operand, PtxInstruction, Register, Symbol, Vector
from verify.kernel.sizes.branches import OtherSide, read_other_side
from verify.kernel.sizes.effects import EFFECTS, Made
from verify.kernel.sizes.forms import (
    ALWAYS,
    Alternative,
    Condition,
    Content,
    Fixed,
    NotLifted,
    Polynomial,
    alike,
    both,
    conditions_in,
    describe,
    negate,
    truth,
)
from verify.kernel.sizes.region import OPEN, SizeRegion
from verify.kernel.state.bound import Run
from verify.kernel.state.machine import Machine

CTA = {"%ctaid.x": "cx", "%ctaid.y": "cy", "%ctaid.z": "cz"}
# special registers that no size changes; all others but `CTA` are refused
STEADY = frozenset({"%laneid", *(f"%{name}.{axis}" for name in ("tid", "ntid") for axis in "xyz")})
Follow = Callable[["Shadow", PtxInstruction, Meaning, Mask | None], Made]
_UNKNOWN = object()  # what a register holds that only some threads may have written


@dataclass(frozen=True)
class Before:
    """What a register held before a path."""

    content: Content | None
    word: Word | None
    unknown: bool  # whether only some threads may have written it


@dataclass
class OpenPath:
    """The part of a kernel that only the threads of an open condition come to."""

    condition: Condition  # of the threads that come here
    join: int  # the instruction at which all threads are together again
    threads: Mask  # that came to its branch
    before: dict[int, Before] = field(default_factory=dict)  # registers that it writes: what they held
    written: set[int] = field(default_factory=set)  # those that it has written itself, in all threads of the sample
    other_side: OtherSide | None = None  # what the other threads do meanwhile; None for nothing


class Shadow:
    """The forms of the registers of one run; `region` has the sizes of which it speaks."""

    def __init__(
        self, machine: Machine, region: SizeRegion, parameters: Mapping[str, Polynomial],
        ctas: Mapping[str, Polynomial], follow: Mapping[str, Follow],
    ) -> None:  # fmt: skip
        self.machine, self.region, self.parameters, self.ctas, self.follow = machine, region, parameters, ctas, follow
        self.registers: dict[int, tuple[Content, int]] = {}  # register -> its content, in so many bits
        self.unknown: set[int] = set()
        self.loaded: set[int] = set()  # registers that a load under an open mask was the last to write
        self.allowed: set[int | str] = set()  # what the instruction that is executed may read
        self.guard: Condition = ALWAYS  # of that instruction, where it is open
        self.loading: list[int] = []  # registers that this instruction loads under an open mask
        self.paths: list[OpenPath] = []
        self.checks = 0  # forms that were compared with the interpreter's bits
        self.read_after: dict[int, tuple[set[int], set[int]]] = {}  # snapshot -> registers read since, and overwritten
        self.made: dict[tuple[bool, int, int], tuple[int, Content, int]] = {}  # forms, by `away.Key`
        self.after_head = False  # whether the growth of any number of rounds was added
        self.parted: set[int] = set()  # instructions that not all threads come to
        self._times: Counter[int] = Counter()  # instruction -> how often it was executed
        self._expected: set[int] = set()  # registers to which the effect gives a content
        self._operands = [tuple(_registers(instruction)) for instruction in machine.kernel.instructions]
        self._meanings = [meaning(instruction.opcode) for instruction in machine.kernel.instructions]

    @property
    def line(self) -> int:
        """The line that is executed."""
        return self.machine.findings.line

    def refuse(self, step: str, form: object = "", conditions: Sequence[Condition] = ()) -> NotLifted:
        """Return the refusal of the instruction that is executed."""
        text = self.machine.kernel.instructions[self.machine.number].text
        shown = describe(form) if isinstance(form, Content) else str(form)
        asked = [*conditions, *conditions_in(form)]
        return NotLifted(self.line, f"{text[:80]}: {step}", shown, asked, self.region)

    # ---- what the machine tells

    def reads(self, index: int) -> None:
        """Refuse the read of a register with a form that no effect has asked for."""
        self.needs(index)
        if index in self.unknown:
            raise self.refuse(f"reads {self.machine.kernel.names[index]}, which only a part of the threads may write")
        if index in self.registers and index not in self.allowed:
            name = self.machine.kernel.names[index]
            raise self.refuse(f"has no meaning for {name}, which depends on sizes", self.registers[index][0])

    def depends(self, index: int) -> bool:
        """Return whether sizes decide what a register holds."""
        return index in self.registers or index in self.unknown

    def leaves_zero(self, index: int) -> bool:
        """Return whether a register is 0 where the mask of the load that now writes it is false."""
        if (
            self.guard is ALWAYS
            and self.paths
            and (side := self.paths[-1].other_side) is not None
            and index in side.zeros
        ):
            return True
        held = self.machine.registers[index]
        self.needs(index)  # 0 at the sample is not 0 at all sizes
        return held is not None and held.plain and not held.bits.any() and not self.depends(index)

    def needs(self, index: int) -> None:
        """Note that what a register holds matters from here on; what a path has written, not outside of it."""
        if any(index in path.written for path in self.paths):
            return
        for read, overwritten in self.read_after.values():
            if index not in overwritten:
                read.add(index)

    def pass_head(self) -> None:
        """Note that what comes now comes after any number of rounds."""
        self.after_head = True
        self._times.clear()

    def reads_special(self, name: str) -> None:
        """Refuse the read of a special register that sizes change."""
        if name not in STEADY and name not in self.allowed:
            raise self.refuse(f"has no meaning for {name}, which depends on sizes")

    def writes(self, index: int, mask: Mask | None) -> None:
        """Drop the form of a register that is written; one that only some threads write must be known."""
        whole = self.covers(mask)
        if self.paths:
            self.paths[-1].before.setdefault(index, self._remember(index))
        if whole:
            self._overwrite(index)
        else:
            self.needs(index)
        self.loaded.discard(index)
        if index in self._expected:
            return
        if index in self.registers:
            if not whole:
                raise self.refuse("writes a form in a part of the threads", self.registers[index][0])
            del self.registers[index]
        if whole:
            self.unknown.discard(index)

    def _overwrite(self, index: int) -> None:
        """Note that what a register held doesn't matter from here on."""
        if self.paths:  # elsewhere the threads that don't come here have what it held
            self.paths[-1].written.add(index)
            return
        for _, overwritten in self.read_after.values():
            overwritten.add(index)

    def covers(self, mask: Mask | None) -> bool:
        """Return whether a mask has all threads of the CTA."""
        return mask is None or bool(mask[: self.machine.real].all())

    def guards(self, guard: Register) -> None:
        """Decide the guard of the instruction that comes next; one that is open must be a mask or a path."""
        machine = self.machine
        self.meet(machine.number)
        self.guard, self.allowed = ALWAYS, {guard.index}
        if guard.index not in self.registers or guard.index in self.unknown:
            return
        content = self.registers[guard.index][0]
        assert not isinstance(content, Polynomial | Alternative)
        condition = negate(content) if guard.negated else content
        decided = self.region.decide(condition)
        if (decided != OPEN).all():
            return
        instruction, semantics = machine.kernel.instructions[machine.number], self._meanings[machine.number]
        if semantics is not None and semantics.row.meaning == "branch":
            self._part(instruction, condition)
        elif semantics is not None and semantics.row.meaning in ("load", "store"):
            if not (truth(condition, self.region.sample) | (decided == 0)).all():
                raise self.refuse("has a guard that is open, and false at the sample", condition)
            self.guard = condition
        else:
            raise self.refuse("has a guard that sizes decide", condition)

    def _part(self, instruction: PtxInstruction, condition: Condition) -> None:
        """Begin a path: at the sample no thread takes the branch, or all do; elsewhere some may."""
        if instruction.target <= self.machine.number or len(instruction.targets) > 1:
            raise self.refuse("goes back if sizes say so", condition)
        taken, join, side = truth(condition, self.region.sample), instruction.target, None
        if taken.any():
            side = read_other_side(self.machine.kernel.instructions, self.machine.number) if taken.all() else None
            if side is None:
                raise self.refuse("is taken at the sample, and sizes decide that", condition)
            join = side.join
        if self.paths and join > self.paths[-1].join:
            raise self.refuse("leaves a part of the kernel that only some threads come to", condition)
        here = condition if side is not None else negate(condition)
        self.paths.append(OpenPath(here, join, self.machine.active.copy(), other_side=side))

    def _remember(self, index: int) -> Before:
        content = self.registers.get(index, (None, 0))[0]
        return Before(content, self.machine.registers[index], index in self.unknown)

    def meet(self, number: int) -> None:
        """End the paths that join at or before an instruction."""
        machine = self.machine
        while self.paths and self.paths[-1].join <= number:
            path = self.paths.pop()
            if (machine.pc[path.threads & ~machine.active] < path.join).any():
                raise self.refuse("comes before the threads of a path have met again")
            zeros, written = (
                (path.other_side.zeros, path.other_side.written) if path.other_side is not None else ((), ())
            )
            executed = frozenset(path.before)
            for index in written:
                path.before.setdefault(index, self._remember(index))
            for index, before in path.before.items():
                if self.paths:
                    self.paths[-1].before.setdefault(index, before)
                if index not in written and not before.unknown:
                    self._join(index, path.condition, before.content, before.word)
                elif index in zeros and index in executed and index in self.loaded:
                    self._overwrite(index)  # on both sides
                else:
                    self.registers.pop(index, None)
                    self.unknown.add(index)
        if self.paths and (machine.active & ~self.paths[-1].threads).any():
            raise self.refuse("is where other threads come into a part of the kernel that sizes decide")

    def _join(self, index: int, condition: Condition, content: Content | None, word: Word | None) -> None:
        """Give a register that a path wrote what it holds in all threads, or mark it as unknown."""
        now, width = self.registers.get(index, (None, WIDTHS[self.machine.kernel.registers[index]]))
        new = self.machine.registers[index]
        if now is None and content is None and new is not None and word is not None and not new.plain:
            if index in self.loaded and word.plain and not word.bits.any():
                return  # a load whose mask has that condition; the mask is compared with the bounds
        old_form = content if content is not None else self._plain(word, width)
        new_form = now if now is not None else self._plain(new, width)
        if old_form is not None and new_form is not None and alike(old_form, new_form, width):
            return
        if isinstance(old_form, Polynomial | Alternative) and isinstance(new_form, Polynomial | Alternative):
            self.registers[index] = Alternative(condition, new_form, old_form), width
            return
        self.registers.pop(index, None)
        self.unknown.add(index)

    def _plain(self, word: Word | None, width: int) -> Content | None:
        if word is None or not word.plain:
            return None
        return (
            Fixed(word.bits != 0) if width == 1 else Polynomial.number(extend_sign(word.bits.astype(np.uint64), width))
        )

    def mask(self) -> Condition:
        """Return the condition of the threads that execute this access."""
        condition = self.guard
        for path in self.paths:
            condition = both(path.condition, condition)
        return condition

    # ---- what an effect asks

    def content(self, operand: Operand, width: int) -> Content | None:
        """Return the content of an operand: of a plain one its numbers, of data None."""
        machine = self.machine
        if isinstance(operand, Symbol) and operand.name in self.ctas:
            self.allowed.add(operand.name)
            return self.ctas[operand.name]
        if isinstance(operand, Register) and operand.index in self.registers and operand.index not in self.unknown:
            content, held = self.registers[operand.index]
            if held < width:
                raise self.refuse(f"reads {width} bits of a register of {held}")
            self.allowed.add(operand.index)
            if operand.negated:
                assert not isinstance(content, Polynomial | Alternative)
                return negate(content)
            return content.modulo(width) if isinstance(content, Polynomial) else content
        return self._plain(machine.reader(operand)(), width)

    # ---- an instruction

    def wrap(self, number: int, run: Run) -> Run:
        """Return the function that executes an instruction and its effect on forms."""
        instruction, semantics = self.machine.kernel.instructions[number], self._meanings[number]
        kind = semantics.row.meaning if semantics is not None else ""
        if semantics is None or not semantics.row.sizes:
            text = f"{instruction.text[:80]} has no meaning for all sizes yet ({kind or instruction.opcode})"

            def refuse_run(mask: Mask | None) -> None:
                raise NotLifted(instruction.line, text)

            return refuse_run

        def execute(mask: Mask | None) -> None:
            self._times[number] += 1
            self.meet(number)
            if instruction.guard is None:
                self.guard, self.allowed = ALWAYS, set()
            if self.paths:
                self.parted.add(number)
                self._check_path(number, semantics)
            made = self._effect(instruction, semantics, mask)
            self._expected = {place.index for place, _, _ in made if isinstance(place, Register)}
            old = {index: self.registers.get(index) for index in self._expected}
            words = {index: self.machine.registers[index] for index in self._expected}
            run(mask)
            self.allowed = set()  # what comes next asks for itself
            for place, content, width in made:
                assert isinstance(place, Register)
                self._keep(place.index, content, width, mask, old[place.index], words[place.index])
            self._expected = set()
            self.loaded.update(self.loading)
            self.loading = []

        return execute

    def _check_path(self, number: int, semantics: Meaning) -> None:
        """Refuse what may not be done where not all threads may come, and a branch out of there."""
        instruction, kind = self.machine.kernel.instructions[number], semantics.row.meaning
        leaves = kind == "branch" and not number < instruction.target <= self.paths[-1].join
        if leaves or semantics.row.sizes == "together" or kind in ("copy", "parameter"):
            raise self.refuse("comes where sizes decide which threads come", self.paths[-1].condition)

    def _effect(self, instruction: PtxInstruction, semantics: Meaning, mask: Mask | None) -> Made:
        kind, sources = semantics.row.meaning, self._operands[self.machine.number][1:]
        if semantics.row.sizes == "access":
            return self.follow[kind](self, instruction, semantics, mask)
        touched = any(each in self.registers or each in self.unknown for each in sources)
        special = any(isinstance(each, Symbol) and each.name in self.ctas for each in instruction.operands)
        if semantics.row.sizes in ("alone", "together") or not (touched or special):
            return []
        if any(index in self.unknown for index in sources):
            return []  # refused as it is read
        return EFFECTS[kind](self, instruction, semantics)

    def _keep(
        self, index: int, content: Content, width: int, mask: Mask | None, old: tuple[Content, int] | None,
        word: Word | None,
    ) -> None:  # fmt: skip
        """Give a register its content, after the instruction has written it."""
        if not self.covers(mask):
            if index in self.unknown:
                raise self.refuse("writes a part of a register that only a part of the threads may have written")
            before = old[0] if old is not None else self._plain(word, width)
            assert mask is not None
            if not isinstance(before, Polynomial) or not isinstance(content, Polynomial):
                raise self.refuse("writes a form in a part of the threads", content)
            content = content.where(mask, before)
        self.unknown.discard(index)
        if isinstance(content, Fixed) or (isinstance(content, Polynomial) and not content.symbolic):
            self.registers.pop(index, None)
        else:
            self.registers[index] = content, width
        self._compare(index, content, width, mask)
        if self.covers(mask) and not self.paths:
            self.made[self.after_head, self.machine.number, self._times[self.machine.number]] = index, content, width

    def _compare(self, index: int, content: Content, width: int, mask: Mask | None) -> None:
        """Compare a form with the interpreter's bits at the sample; a difference is a bug of ours."""
        held = self.machine.registers[index]
        assert held is not None
        count = self.machine.count
        bits = np.broadcast_to(held.bits, count).astype(object)
        form = evaluate(content, self.region.sample)
        wrong = (np.broadcast_to(form, count) - bits) % (1 << min(width, 64)) != 0
        wrong |= np.array(bits >> width > 0) if width < 64 else False
        self.checks += 1
        if not held.plain or (wrong[mask] if mask is not None else wrong[: self.machine.real]).any():
            raise self.refuse(
                "has a form that differs from the interpreter's bits at the sample: a bug of Lanecheck", content
            )


def evaluate(content: Content, symbols: Mapping[str, int]) -> Bits:
    """Return the numbers of a content at given sizes, as Python integers."""
    if isinstance(content, Polynomial):
        return content.value(symbols)
    if isinstance(content, Alternative):
        chosen = truth(content.condition, symbols)
        return np.where(chosen, evaluate(content.then, symbols), evaluate(content.otherwise, symbols))
    return truth(content, symbols).astype(object)


def _registers(instruction: PtxInstruction) -> Iterator[int]:
    """Yield the registers of an instruction, its first operand first; -1 if that is none."""
    for place, operand in enumerate(instruction.operands):
        inner = operand.items if isinstance(operand, Vector) else (operand,)
        bases = [each.base if isinstance(each, Address) else each for each in inner]
        numbers = [each.index for each in bases if isinstance(each, Register)]
        if not place:
            yield numbers[0] if isinstance(operand, Register) else -1
            yield from numbers if not isinstance(operand, Register) else ()
        else:
            yield from numbers

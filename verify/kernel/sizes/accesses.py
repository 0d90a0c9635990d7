# SPDX-License-Identifier: Apache-2.0
"""Global accesses at all sizes: the address and the mask of each element, as forms and conditions.

What is read from or written to shared memory lies at addresses without symbols, so at all sizes of a region the same
bytes are meant, and the run of the sample decides their order. A load whose mask is false must leave a zero: a register
that held 0, or the bytes of a cp.async whose size is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd

import numpy as np
from numpy.typing import NDArray

from isa_tables.semantics import Meaning
from verify.kernel.data.values import SIZE, Mask
from verify.kernel.instructions.accesses import items
from verify.kernel.instructions.wmma import LINE, find_places
from verify.kernel.ptx.source import WIDTHS, Address, Immediate, PtxInstruction, Register, Symbol
from verify.kernel.sizes.effects import Made, exact, form_of
from verify.kernel.sizes.forms import (
    ALWAYS,
    AllOf,
    Alternative,
    Condition,
    Content,
    Fixed,
    Monomial,
    Polynomial,
    alike,
    both,
    negate,
    truth,
)
from verify.kernel.sizes.shadow import CTA, Follow, Shadow

ALIGN = 16  # bytes: what the start of every array is a multiple of, at all sizes


@dataclass(frozen=True, eq=False)
class GlobalAccess:
    """One access of global memory by some threads."""

    array: str  # of the claim
    offset: Polynomial  # in bytes from the array's first element
    mask: Condition  # of the threads that make it
    threads: NDArray[np.int64]  # that make it at the sample
    count: int  # bytes of each
    line: int  # of the instruction
    moved: bool  # whether it comes after the loop's head was given its growth
    zeros: bool = True  # whether a 0 is left where its mask is false; else only the threads of its mask may read it


class Accesses:
    """The global accesses of a run, as its shadow follows them."""

    def __init__(self, arrays: Mapping[str, int]) -> None:
        self.arrays = arrays  # name -> bytes of an element
        self.loads: list[GlobalAccess] = []
        self.stores: list[GlobalAccess] = []
        self.moved = False

    @property
    def follow(self) -> Mapping[str, Follow]:
        """The functions that follow each class of accesses."""
        return {
            "parameter": self.parameter, "load": self.load, "store": self.store, "copy": self.copy,
            "fragment_load": self.fragment, "fragment_store": self.fragment,
        }  # fmt: skip

    def parameter(self, shadow: Shadow, instruction: PtxInstruction, meaning: Meaning, mask: Mask | None) -> Made:
        """ld.param: the form of a whole parameter."""
        source, width = instruction.operands[1], WIDTHS[meaning.types["d"]]
        if not isinstance(source, Address) or not isinstance(source.base, Symbol):
            raise shadow.refuse("reads parameters through a computed address")
        form = shadow.parameters.get(source.base.name)
        if form is None:
            return []
        size = 8 * shadow.machine.kernel.parameters[source.base.name].size
        if source.base.offset + source.offset or width != size or not isinstance(instruction.operands[0], Register):
            raise shadow.refuse("reads a part of a parameter that depends on sizes")
        return [(instruction.operands[0], form, width)]

    def _address(self, shadow: Shadow, place: Address, chosen: bool = False) -> Polynomial | None:
        """Return the address, of a choice its first if `chosen`; None if it has no symbol."""
        content = shadow.content(place.base, 64) if isinstance(place.base, Register) else None
        if isinstance(content, Alternative) and chosen:
            content = content.then
        elif isinstance(content, Alternative):
            raise shadow.refuse("has an address that sizes choose", content)
        if not isinstance(content, Polynomial) or not content.symbolic:
            return None
        offset = (place.offset + (1 << 63)) % (1 << 64) - (1 << 63)  # written with a sign, or modulo 2^64
        return content + Polynomial.number(offset)

    def _check_place(self, shadow: Shadow, place: object, space: str) -> None:
        """Refuse an access without a state space that comes to an array by a number and not by its pointer."""
        if space == "" and isinstance(place, Address):
            at = shadow.machine.reader(place.base)()
            if not at.plain or ((at.bits + np.uint64(place.offset & (1 << 64) - 1)) >> np.uint64(40)).any():
                raise shadow.refuse("has an address that no array's pointer leads to, and names no state space")

    def load(self, shadow: Shadow, instruction: PtxInstruction, meaning: Meaning, mask: Mask | None) -> Made:
        """ld: of global memory, its address and mask; any other address must have no symbol."""
        space, kind = meaning.words.get("space", ""), meaning.types["d"]
        registers, place = items(instruction.operands[0]), instruction.operands[1]
        condition = shadow.mask()
        form = self._address(shadow, place) if isinstance(place, Address) and space in ("global", "") else None
        if form is None:
            on_a_path = space == "shared" and shadow.guard is ALWAYS  # fewer threads read, and what they read is theirs
            if space == "global" or (condition is not ALWAYS and not on_a_path):
                raise shadow.refuse("reads under a mask that sizes decide, or where no array's pointer leads to")
            self._check_place(shadow, place, space)
            return []
        zeros = True
        if condition is not ALWAYS:
            indices = [each.index for each in registers if isinstance(each, Register)]
            zeros = all([shadow.leaves_zero(each) for each in indices])
            if zeros:
                shadow.loading = indices
            elif not shadow.paths or shadow.guard is not ALWAYS:
                raise shadow.refuse("loads under an open mask into a register that does not hold 0", condition)
        self._note(shadow, self.loads, form, condition, mask, len(registers) * WIDTHS[kind] // 8, zeros)
        return []

    def store(self, shadow: Shadow, instruction: PtxInstruction, meaning: Meaning, mask: Mask | None) -> Made:
        """st: to global memory, its address and mask; to shared memory nowhere that only some threads come to."""
        space, kind = meaning.words.get("space", ""), meaning.types["b"]
        place = instruction.operands[0]
        form = self._address(shadow, place) if isinstance(place, Address) and space in ("global", "") else None
        if form is None:
            if space == "global" or shadow.mask() is not ALWAYS:
                raise shadow.refuse("writes under a mask that sizes decide, or where no array's pointer leads to")
            self._check_place(shadow, place, space)
            return []
        count = len(items(instruction.operands[1])) * WIDTHS[kind] // 8
        self._note(shadow, self.stores, form, shadow.mask(), mask, count)
        return []

    def fragment(self, shadow: Shadow, instruction: PtxInstruction, meaning: Meaning, mask: Mask | None) -> Made:
        """wmma.load and wmma.store: each element of a matrix in global memory, whose lines have one distance."""
        loads, space = meaning.row.meaning == "fragment_load", meaning.words.get("space", "")
        place, step = (
            instruction.operands[1 if loads else 0],
            instruction.operands[2] if len(instruction.operands) > 2 else None,
        )
        if shadow.mask() is not ALWAYS:
            raise shadow.refuse("comes where sizes decide which threads come", shadow.mask())
        form = self._address(shadow, place) if isinstance(place, Address) and space in ("global", "") else None
        if form is None:
            if space == "global":
                raise shadow.refuse("has an address that no array's pointer leads to")
            self._check_place(shadow, place, space)
            return []
        kind, chosen = find_places(shadow.machine, instruction, meaning)
        fragment, column = kind.fragment, "col" in instruction.words
        size, count = SIZE[fragment.type], shadow.machine.count
        lead = Polynomial.number(fragment.extent[0 if column else 1])
        if step is not None:
            lead = exact(shadow, form_of(shadow, step, 32), "u32")
        self._check_lines(shadow, form, lead * Polynomial.number(size), min(LINE, fragment.regs * 4), mask)
        major, minor = (np.tile(each.reshape(32, -1), (count // 32, 1)) for each in kind.lines(column))
        there = np.tile(np.isin(np.arange(len(kind.element)), chosen).reshape(32, -1), (count // 32, 1))
        for each in range(fragment.values):
            offset = (lead * Polynomial.number(major[:, each]) + Polynomial.number(minor[:, each])) * Polynomial.number(
                size
            )
            here = there[:, each] if mask is None else there[:, each] & mask
            self._note(shadow, self.loads if loads else self.stores, form + offset, ALWAYS, here, size)
        return []

    def _check_lines(self, shadow: Shadow, form: Polynomial, lead: Polynomial, line: int, mask: Mask | None) -> None:
        """Refuse a matrix that at some sizes is not one for a whole warp, or whose lines are not aligned."""
        warps = np.ones(shadow.machine.count // 32, bool) if mask is None else mask.reshape(-1, 32).any(1)
        for part, what in ((form, "an address"), (lead, "a stride")):
            for key, each in part.terms.items():
                spread = np.broadcast_to(each, shadow.machine.count).reshape(-1, 32)[warps]
                if (spread != spread[:, :1]).any():
                    raise shadow.refuse(f"has {what} that is another in each lane", part)
                if key not in {(name,) for name in self.arrays} and (spread % line).any():
                    raise shadow.refuse(f"has {what} that isn't a multiple of {line} bytes at all sizes", part)

    def copy(self, shadow: Shadow, instruction: PtxInstruction, meaning: Meaning, mask: Mask | None) -> Made:
        """cp.async: the mask is that its size is not 0; the destination has no symbol."""
        source, amount = instruction.operands[1], instruction.operands[2]
        last = instruction.operands[3] if len(instruction.operands) > 3 else None
        if not isinstance(source, Address) or not isinstance(amount, Immediate):
            raise shadow.refuse("isn't a copy of a fixed number of bytes")
        condition: Condition = ALWAYS
        if last is not None and (len(instruction.operands) > 4 or "hint" not in meaning.words):
            size = shadow.content(last, 32)
            if not isinstance(size, Polynomial | Alternative):
                raise shadow.refuse("has a size that data decide")
            condition = self._size(shadow, size, amount.bits)
        decided = shadow.region.decide(condition)
        form = self._address(shadow, source, chosen=True)
        if (decided == 0).all():
            return []
        if form is None:
            raise shadow.refuse("reads an address that no array's pointer leads to")
        content = shadow.content(source.base, 64)
        if isinstance(content, Alternative) and not _implies(condition, content.condition):
            raise shadow.refuse("has an address that another condition chooses than its size", content)
        self._note(shadow, self.loads, form, condition, mask, amount.bits)
        return []

    def _size(self, shadow: Shadow, size: Content, count: int) -> Condition:
        """Return the condition that a copy's size is `count` and not 0; NotLifted if it may be another."""
        if isinstance(size, Alternative):
            parts = [self._size(shadow, part, count) for part in (size.then, size.otherwise)]
            first, second = both(size.condition, parts[0]), both(negate(size.condition), parts[1])
            never = [isinstance(part, Fixed) and not part.mask.any() for part in parts]
            if never[1]:
                return first
            if never[0]:
                return second
            raise shadow.refuse("has a size that is not 0 either way", size)
        if not isinstance(size, Polynomial) or size.symbolic or not np.isin(size.constant, (0, count)).all():
            raise shadow.refuse(f"has a size that is neither 0 nor {count}", size)
        return Fixed(size.constant == count)

    def _note(
        self, shadow: Shadow, to: list[GlobalAccess], form: Polynomial, condition: Condition, mask: Mask | None,
        count: int, zeros: bool = True,
    ) -> None:  # fmt: skip
        """Keep an access; its mask must be true at the sample in every thread in which it is open."""
        machine, region = shadow.machine, shadow.region
        decided = np.broadcast_to(region.decide(condition), machine.count)
        here = np.ones(machine.count, bool) if mask is None else mask.copy()
        here[machine.real :] = False
        here &= decided != 0
        if not np.broadcast_to(truth(condition, region.sample), machine.count)[here].all():
            raise shadow.refuse("has a mask that is open, and false at the sample", condition)
        bases = [name for name in self.arrays if (name,) in form.terms]
        if len(bases) != 1:
            raise shadow.refuse("has an address that is not that of one array", form)
        offset = form - Polynomial.symbol(bases[0])
        if any(bases[0] in key or (set(key) & self.arrays.keys()) for key in offset.terms):
            raise shadow.refuse("has an address that is not that of one array", form)
        align = count if count & (count - 1) == 0 else self.arrays[bases[0]]
        steps = {key: _step_of(np.broadcast_to(each, machine.count)[here], align) for key, each in offset.terms.items()}
        if align > ALIGN or any(step < align for step in steps.values()):
            raise shadow.refuse(
                f"accesses {align} bytes at once, not aligned at all sizes{_propose(steps, align)}", offset
            )
        to.append(
            GlobalAccess(bases[0], offset, condition, np.flatnonzero(here), count, shadow.line, self.moved, zeros)
        )


def _step_of(numbers: NDArray[np.int64], align: int) -> int:
    """Return the largest divisor of `align` that divides all numbers."""
    return gcd(align, *(int(number) for number in np.unique(numbers)))


def _propose(steps: Mapping[Monomial, int], align: int) -> str:
    """Return in words the divisors of sizes and strides that a claim could give, so that an access is aligned."""
    needed = {
        f"{name} % {align // step} == 0"
        for key, step in steps.items()
        for name in key
        if step < align and name.isidentifier() and name not in {*CTA.values(), "j", "J"}
    }
    return f" (`given` may say {', '.join(sorted(needed))})" if needed else ""


def _implies(condition: Condition, goal: Condition) -> bool:
    """Return whether a condition has another one as a part."""
    if alike(condition, goal):
        return True
    if isinstance(goal, AllOf):
        return all(_implies(condition, part) for part in goal.parts)
    return isinstance(condition, AllOf) and any(_implies(part, goal) for part in condition.parts)

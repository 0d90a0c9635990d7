# SPDX-License-Identifier: Apache-2.0
"""Logarithms and exponentials of CUDA's libdevice, known by their constants in `libdevice.toml`.

Such a function computes on the bits of a float and branches on data, so no instruction of it has a meaning alone. If
every instruction is there, in order, with its constants, and no jump leaves one out, it is the function that it is: it
takes the place of some instructions, and the branch around infinity is taken. Any other code with such a constant is
named by it.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from verify.kernel.ptx.parse import literal
from verify.kernel.ptx.source import Immediate, Kernel, Operand, PtxInstruction, Register, Vector

_APART = 1024  # instructions at most that lie between two of a function: several may be interleaved
_COPIES = 16  # of a register by another, and so on
_BITS = (1 << 32) - 1  # of a word of the constants that libdevice's functions have
_COMMUTE = frozenset({"mul", "fma"})  # a compiler writes the factors in either order


class LibraryStep(NamedTuple):
    """One instruction of a function, and the one that takes its place."""

    words: tuple[str, ...]
    operands: tuple[str, ...]
    guard: str
    instead: tuple[str, ...] = ()


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("libdevice.toml").read_text(encoding="utf-8"))


@cache
def _functions() -> Sequence[tuple[str, tuple[LibraryStep, ...]]]:
    rows = ((name, function) for name, function in _table().items() if name != "constants")
    return [(function.get("name", name), tuple(map(_step, _lines(function)))) for name, function in rows]


def _lines(row: Mapping[str, Any]) -> list[str]:
    """Return the lines of a function's code: its own, or all but the last of another's, and how this one ends."""
    if "like" not in row:
        return str(row["code"]).strip().splitlines()
    return [*_lines(_table()[row["like"]])[:-1], *row["ends"].strip().splitlines()]


def _step(line: str) -> LibraryStep:
    text, _, instead = line.partition("=>")
    guard, words = "", text.split()
    if words[0].startswith("@"):
        guard = words.pop(0)[1:]
    return LibraryStep(tuple(words[0].split(".")), tuple(words[1:]), guard, tuple(instead.split()))


def replace_functions(kernel: Kernel) -> list[tuple[int, str]]:
    """Put functions of libdevice in place of their instructions; returns (line, name) of each."""
    there, code, search = [], enumerate(kernel.instructions), None
    firsts = {steps[0].words for _, steps in _functions()}
    heads = {words[0] for words in firsts}
    for start, inst in [each for each in code if each[1].words[0] in heads and _plain(each[1].words) in firsts]:
        search = search or _Search(kernel)  # of a kernel that may have one of them
        for name, steps in _functions():
            if _plain(inst.words) == steps[0].words and (match := search.match(steps, start)):
                search.substitute(steps, *match)
                there.append((inst.line, name))
                break
    return there


def name_others(kernel: Kernel, known: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return (line, name) of the first constant of each function of libdevice that isn't one of those known."""
    search, there = _Search(kernel), dict[str, list[int]]()
    names = {constant.bits: name for text, name in _table()["constants"].items() if (constant := literal(text))}
    for inst in kernel.instructions:
        for operand in map(search.settle, () if inst.words[0] == "mov" else inst.operands):
            bits = operand.bits if isinstance(operand, Immediate) else -1
            if name := names.get(bits) or names.get(bits & _BITS, ""):
                there.setdefault(name, []).append(inst.line)
    for line, name in known:  # whose instructions are still there
        mine = [later for later in there.get(name, []) if later >= line]
        there[name].remove(mine[0]) if mine else None
    return [(lines[0], name) for name, lines in there.items() if lines]


def _plain(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for word in words if word != "ftz")


def _registers(inst: PtxInstruction) -> Iterator[int]:
    """Yield the registers that an instruction names, also as its guard."""
    rest: list[Operand] = [*inst.operands, *((inst.guard,) if inst.guard else ())]
    while rest:
        operand = rest.pop()
        if isinstance(operand, Register):
            yield operand.index
        elif isinstance(operand, Vector):
            rest += operand.items


class _Search:
    """The search of a kernel for the instructions of a function."""

    def __init__(self, kernel: Kernel) -> None:
        self.code = kernel.instructions
        self.writes = Counter(self._destination(inst) for inst in self.code)
        self.moved = {self._destination(inst): inst.operands[1] for inst in self.code if self._is_move(inst)}
        self.jumps = [(place, to) for place, inst in enumerate(self.code) for to in inst.targets]

    @staticmethod
    def _destination(inst: PtxInstruction) -> int:
        """Return the register that an instruction writes, as its first operand; -1 for none."""
        first = inst.operands[0] if inst.operands else None
        return first.index if isinstance(first, Register) else -1

    def _is_move(self, inst: PtxInstruction) -> bool:
        """Return whether an instruction copies a constant, or a register, both of which are written once."""
        if inst.words[0] != "mov" or inst.guard is not None or self.writes[self._destination(inst)] != 1:
            return False
        source = inst.operands[1]
        return isinstance(source, Immediate) or (isinstance(source, Register) and self.writes[source.index] == 1)

    def settle(self, operand: Operand) -> Operand:
        """Return the constant or the register that a register is a copy of."""
        for _ in range(_COPIES):
            if not isinstance(operand, Register) or operand.negated or operand.index not in self.moved:
                break
            operand = self.moved[operand.index]
        return operand

    def match(self, steps: Sequence[LibraryStep], start: int) -> tuple[list[int], dict[str, Register]] | None:
        """Return the places of a function's instructions from one on, and its registers; None if it isn't there."""
        places: list[int] = []
        names: dict[str, Register] = {}
        at = start
        for step in steps:
            last = at + (_APART if places else 1)
            here = next((place for place in range(at, min(last, len(self.code))) if self._fits(step, place, names)), -1)
            if here < 0:
                return None
            places.append(here)
            at = here + 1
        return (places, names) if self._is_closed(steps, places, names) else None

    def _fits(self, step: LibraryStep, place: int, names: dict[str, Register]) -> bool:
        """Return whether an instruction is a step of a function, and note its registers."""
        inst = self.code[place]
        if _plain(inst.words) != step.words or bool(inst.guard) != bool(step.guard):
            return False
        if step.words == ("bra",):
            return inst.guard is not None and not inst.guard.negated and inst.guard.index == names[step.guard].index
        if len(inst.operands) != len(step.operands):
            return False
        orders = [inst.operands]
        if step.words[0] in _COMMUTE:
            result, left, right, *rest = inst.operands
            orders.append((result, right, left, *rest))
        for order in orders:
            made = self._name(step.operands, order, names)
            if made is not None:
                names.update(made)
                return True
        return False

    def _name(
        self, steps: Sequence[str], operands: Sequence[Operand], names: Mapping[str, Register]
    ) -> dict[str, Register] | None:  # fmt: skip
        """Return the registers that operands give a step's names; None if its constants or known names are others."""
        made: dict[str, Register] = {}
        for number, (name, operand) in enumerate(zip(steps, operands, strict=True)):
            given = operand if not number else self.settle(operand)
            if name[0].isdigit() or name[0] == "-":
                constant = literal(name)
                if not isinstance(given, Immediate) or constant is None or (given.bits ^ constant.bits) & _BITS:
                    return None
            elif not isinstance(given, Register) or given.negated or names.get(name, given).index != given.index:
                return None
            else:
                made[name] = given
        return made

    def _is_closed(self, steps: Sequence[LibraryStep], places: list[int], names: Mapping[str, Register]) -> bool:
        """Return whether nothing else jumps into a function, changes its registers or needs what is left out."""
        branch = next((place for step, place in zip(steps, places, strict=True) if step.guard), -1)
        if branch >= 0:
            skipped, after = places[places.index(branch) + 1 : places.index(branch) + 3]
            if not skipped < self.code[branch].target <= after:
                return False
        if not all(self._keeps(source, to, places) for source, to in self.jumps if source != branch):
            return False
        if any(self.code[place].words[0] in ("ret", "exit") for place in range(places[0], places[-1])):
            return False
        times = Counter(step.operands[0] for step in steps if step.operands)
        last = steps[-1].operands[0]
        times.pop(last) if times[last] == 1 else None  # no other step has it: what else writes it changes nothing
        if any(self.writes[names[name].index] != count for name, count in times.items()):
            return False
        if any(self._destination(self.code[place]) == names["x"].index for place in range(places[0], places[-1])):
            return False
        replaced = [
            self._destination(self.code[place]) for step, place in zip(steps, places, strict=True) if step.instead
        ]
        hidden = set(replaced) - {names["y"].index}
        return not any(hidden & {*_registers(inst)} for place, inst in enumerate(self.code) if place not in places)

    @staticmethod
    def _keeps(source: int, to: int, places: list[int]) -> bool:
        """Return whether a jump from one place to another runs all steps between these or none."""
        inside, ends = (places[0] < at <= places[-1] for at in (source, to))
        if not inside and not ends:
            return True
        return inside and ends and source < to and not any(source < place < to for place in places)

    def substitute(self, steps: Sequence[LibraryStep], places: list[int], names: Mapping[str, Register]) -> None:
        """Put the function in place of some instructions, and take the branch."""
        for step, place in zip(steps, places, strict=True):
            inst = self.code[place]
            if step.guard:
                self.code[place] = replace(inst, guard=None)
            elif step.instead:
                words, *operands = step.instead
                given = tuple(names[name] if name in names else literal(name) for name in operands)
                known = tuple(each for each in given if each is not None)
                self.code[place] = replace(inst, words=tuple(words.split(".")), operands=known)

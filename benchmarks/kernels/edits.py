# SPDX-License-Identifier: Apache-2.0
"""Wrong kernels made from right ones: edits of one instruction of a PTX text, planted by class or drawn at random.

>>> text = "{\\n add.s32 %r1, %r2, 4;\\n bar.sync 0;\\n}"
>>> [str(edit) for edit in planted(text) if edit.sort == "barriers"]
['line 3: barriers: bar.sync 0;  ->  (nothing)']
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_NUMBER = re.compile(r"(?<![\w%.\[+])(-?\d+)(?![\w.])")
_OFFSET = re.compile(r"\[([%\w$]+)(?:\+(-?\d+))?\]")
_REGISTER = re.compile(r"%(rd|rs|r|fd|f|p|h|b)(\d+)\b")
_LISTS = re.compile(r"\{[^{}]*\}")
_COMMUTES = re.compile(r"\b(add|mul|and|or|xor|min|max)\.|\bsetp\.(eq|ne)\.")
_INSTRUCTION = re.compile(r"^\s*(@!?%\w+\s+)?[a-z][\w.:]*\b[^:]*;\s*(//.*)?$")


@dataclass(frozen=True, slots=True)
class Edit:
    """One line of a text exchanged for another, which is empty where the instruction is left out."""

    line: int  # from 1
    sort: str  # the class that is planted, or "random"
    old: str
    new: str

    def on(self, text: str) -> str:
        """The edited text."""
        lines = text.splitlines(keepends=True)
        lines[self.line - 1] = self.new + "\n"
        return "".join(lines)

    def __str__(self) -> str:
        """The edit in words."""
        return f"line {self.line}: {self.sort}: {self.old.strip()}  ->  {self.new.strip() or '(nothing)'}"


def body(text: str) -> Iterator[tuple[int, str]]:
    """Number and text of every line that is one instruction."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        inside = inside or line.strip() == "{"
        if inside and _INSTRUCTION.match(line):
            yield number, line


def _exchange(line: str, at: int, first: int, second: int) -> str | None:
    """A line with two registers of one of its lists exchanged."""
    lists = _LISTS.findall(line)
    if at >= len(lists):
        return None
    items = [name.strip() for name in lists[at][1:-1].split(",")]
    if max(first, second) >= len(items) or items[first] == items[second]:
        return None
    items[first], items[second] = items[second], items[first]
    return line.replace(lists[at], "{" + ", ".join(items) + "}", 1)


def _changed(line: str, pattern: str, change: Callable[[re.Match[str]], str]) -> str | None:
    new = re.sub(pattern, change, line, count=1)
    return new if new != line else None


def _fragments(line: str) -> Iterator[str | None]:
    if re.search(r"\bmma\.(sync|sp)", line):
        yield _exchange(line, 1, 0, 1)  # A
        yield _exchange(line, 2, 0, 1)  # B
    if "ldmatrix" in line:
        yield _exchange(line, 0, 0, 1)
        yield _exchange(line, 0, 1, 2)


def _transposes(line: str) -> Iterator[str | None]:
    if re.search(r"(ld|st)matrix", line):
        new = line.replace(".trans", "", 1) if ".trans" in line else re.sub(r"(\.x[124])", r"\1.trans", line, count=1)
        yield new
    if re.search(r"\bwmma\.(load|store)", line):
        yield _changed(line, r"\.(row|col)\.", lambda match: ".col." if match[1] == "row" else ".row.")
    if "wgmma.mma_async" in line:
        yield _changed(line, r"(\d+), (\d+);", lambda match: f"{match[1]}, {1 - int(match[2])};")


def _swizzles(line: str) -> Iterator[str | None]:
    if re.search(r"\b(xor|and|lop3|bfi)\.b(32|64)", line):
        yield _changed(line, r", (\d+);", lambda match: f", {int(match[1]) ^ 16};")


def _waits(line: str) -> Iterator[str | None]:
    if "wait_group" in line:
        yield _changed(line, r"(\d+);", lambda match: f"{int(match[1]) + 1};")
        yield ""
    if "tcgen05.wait" in line:
        yield ""
    if "try_wait" in line:
        yield _changed(line, r"(%r\d+);", lambda match: "1;")


def _epilogue(line: str) -> Iterator[str | None]:
    if re.search(r"\bst\.global|\bred\.|\batom\.|\bwmma\.store", line):
        yield _exchange(line, 0, 0, 1)
        yield _changed(line, r"\[(%\w+)(\+(\d+))?\]", lambda match: f"[{match[1]}+{int(match[3] or 0) + 16}]")


def _strides(line: str) -> Iterator[str | None]:
    if re.search(r"\b(mul|mad|shl)\.(wide|lo|b32|b64)", line):
        yield _changed(line, r", (\d+)(?=[,;])", lambda match: f", {int(match[1]) + 1}")


_CLASSES: dict[str, Callable[[str], Iterator[str | None]]] = {
    "fragments": _fragments,
    "transposes": _transposes,
    "swizzles": _swizzles,
    "barriers": lambda line: iter(["" if re.search(r"\bbar(rier)?(\.cta)?\.(sync|arrive)", line) else None]),
    "waits": _waits,
    "epilogue": _epilogue,
    "strides": _strides,
}


SORTS = (*_CLASSES, "trips")


def planted(text: str) -> Iterator[Edit]:
    """Every edit of every class."""
    for number, line in body(text):
        for sort, edits in _CLASSES.items():
            for new in edits(line):
                if new is not None and new != line:
                    yield Edit(number, sort, line, new)
    yield from _trips(text)


def _trips(text: str) -> Iterator[Edit]:
    """Loops that run once more or less: the comparison that decides a branch backwards."""
    lines = text.splitlines()
    labels = {match[1]: number for number, line in enumerate(lines) if (match := re.match(r"\s*([\w$]+):", line))}
    for number, line in enumerate(lines):
        match = re.match(r"\s*@!?(%\w+)\s+bra(?:\.uni)?\s+([\w$]+);", line)
        if not match or labels.get(match[2], number) >= number:
            continue
        for before in range(number - 1, max(labels[match[2]], 0), -1):
            if re.search(rf"\bsetp\.\w+\.\w+\s+{match[1]},", lines[before]):
                old = lines[before]
                new = _changed(old, r", (-?\d+);", lambda limit: f", {int(limit[1]) + 1};")
                new = new or _changed(old, r"setp\.(lt|le|gt|ge|ne)", lambda relation: f"setp.{_BESIDE[relation[1]]}")
                if new:
                    yield Edit(before + 1, "trips", old, new)
                break


_BESIDE = {"lt": "le", "le": "lt", "gt": "ge", "ge": "gt", "ne": "eq", "eq": "ne"}


def drawn(text: str, count: int, seed: int) -> list[Edit]:
    """Random edits: an instruction left out, a number or register changed, operands exchanged, a guard negated."""
    draw = random.Random(seed)
    lines = [(number, line) for number, line in body(text) if not re.search(r"\b(ret|bra|pragma|trap)\b", line)]
    kept = {kind: sorted({name[0] for _, line in lines for name in _REGISTER.finditer(line) if name[1] == kind})
            for kind in ("rd", "rs", "r", "fd", "f", "p", "h", "b")}  # fmt: skip
    edits: dict[tuple[int, str], Edit] = {}
    while len(edits) < count:
        number, line = draw.choice(lines)
        new = draw.choice(_RANDOM)(line, draw, kept)
        if new is not None and new.strip() != line.strip():
            edits[number, new] = Edit(number, "random", line, new)
    return list(edits.values())


def _left_out(line: str, draw: random.Random, kept: dict[str, list[str]]) -> str | None:
    return ""


def _number(line: str, draw: random.Random, kept: dict[str, list[str]]) -> str | None:
    places = [*_NUMBER.finditer(line)]
    if not places:
        return None
    place = draw.choice(places)
    value = int(place[1])
    new = draw.choice([value + 1, value - 1, value * 2, value ^ (1 << draw.randrange(8)), 0])
    return line[: place.start()] + str(new) + line[place.end() :]


def _offset(line: str, draw: random.Random, kept: dict[str, list[str]]) -> str | None:
    step = draw.choice([2, 4, 16, 64, -16])
    new = _OFFSET.sub(lambda match: f"[{match[1]}+{int(match[2] or 0) + step}]", line, count=1)
    return new if "param" not in line else None


def _register(line: str, draw: random.Random, kept: dict[str, list[str]]) -> str | None:
    places = [*_REGISTER.finditer(line)][1:]
    if not places:
        return None
    place = draw.choice(places)
    return line[: place.start()] + draw.choice(kept[place[1]]) + line[place.end() :]


def _swapped(line: str, draw: random.Random, kept: dict[str, list[str]]) -> str | None:
    places = [*_REGISTER.finditer(line)][1:]
    if len(places) < 2 or _COMMUTES.search(line):
        return None
    left, right = sorted(draw.sample(places, 2), key=lambda place: place.start())
    if left[1] != right[1]:
        return None
    return f"{line[: left.start()]}{right[0]}{line[left.end() : right.start()]}{left[0]}{line[right.end() :]}"


def _negated(line: str, draw: random.Random, kept: dict[str, list[str]]) -> str | None:
    if not line.lstrip().startswith("@"):
        return None
    return line.replace("@!", "@", 1) if "@!" in line else line.replace("@", "@!", 1)


_RANDOM = (_left_out, _number, _number, _offset, _register, _register, _swapped, _negated)

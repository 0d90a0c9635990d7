# SPDX-License-Identifier: Apache-2.0
"""Single wrong edits of registered atoms as their users' files, and printed repairs put back into such files."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layouts.atoms import AnyAtom, Atom
from layouts.int_tuple import leaves, unflatten
from layouts.text import parse_shape_stride
from verify.atom.checker import AtomChecker
from verify.binding.completion import atoms
from verify.report import Case

Entry = dict[str, Any]
SPACES = ("reg", "smem", "gmem", "tmem")
TYPES = ("f16", "bf16", "f32", "s8", "tf32")
THREADS = ("32:1", "16:1", "(8,4):(4,1)", "128:1", "1:0")


@dataclass(frozen=True)
class Edit:
    """A wrong file: the entry, what was changed, and the right entry."""

    name: str
    what: str
    entry: Entry


def entry_of(atom: AnyAtom) -> Entry:
    """Return the table of a file that states everything that an atom does."""
    entry: Entry = {"ptx": list(atom.ptx or ()), "thr": atom.thr, **atom.operands}
    for key in ("space", "copies", "relabel", "element", "types", "bits"):
        if value := getattr(atom, key, None):
            entry[key] = dict(value)
    if isinstance(atom, Atom):
        entry["shape"] = list(atom.shape)
    elif atom.adapter is not None:
        entry["adapter"] = {"name": atom.adapter.name, "bytes": list(atom.adapter.bytes)}
    return entry


def edits(atom: AnyAtom, take: random.Random) -> Iterator[Edit]:
    """Yield every kind of single edit of an atom, a few of each."""
    right = entry_of(atom)

    def edited(what: str, key: str, value: object) -> Edit:
        return Edit(atom.name, what, {**right, key: value})

    for name, text in atom.operands.items():
        for what, new in layouts(text, take):
            yield edited(f"{name} {what}: {text} to {new}", name, new)
        for new in atom.operands:
            if atom.operands[new] != text:
                yield edited(f"{name} as {new}", name, atom.operands[new])
    for name in atom.operands if isinstance(atom, Atom) else ("Src", "Dst"):
        mine = atom.space.get(name, "reg")
        new = take.choice([space for space in SPACES if space != mine])
        yield edited(f"space of {name}: {mine} to {new}", "space", {**atom.space, name: new})
    for name in atom.operands:
        count = atom.copies.get(name, 1)
        yield edited(
            f"copies of {name}", "copies", {**atom.copies, name: take.choice([n for n in (1, 2, 4, 32) if n != count])}
        )
    yield edited("thr", "thr", take.choice([threads for threads in THREADS if threads != atom.thr]))
    if isinstance(atom, Atom):
        axis = take.randrange(3)
        yield edited(f"shape {axis}", "shape", [n * (1 + (i == axis)) for i, n in enumerate(atom.shape)])
        name = take.choice([*atom.types])
        yield edited(
            f"type of {name}", "types", {**atom.types, name: take.choice([t for t in TYPES if t != atom.types[name]])}
        )


def layouts(text: str, take: random.Random) -> Iterator[tuple[str, str]]:
    """Yield wrong edits of a layout's text: a stride, two strides, an extent, two extents."""
    try:
        shape, stride = parse_shape_stride(text)
    except ValueError:
        return
    extents, strides = list(leaves(shape)), list(leaves(stride))
    moving = [i for i, extent in enumerate(extents) if extent > 1]
    if not moving:
        return

    def written(extents: list[int], strides: list[int]) -> str:
        parts = (str(unflatten(tuple(numbers), shape)).replace(" ", "") for numbers in (extents, strides))
        return ":".join(parts).replace(",)", ")")

    at = take.choice(moving)
    for value in take.sample((0, strides[at] * 2, strides[at] + 1, max(1, strides[at] // 2), 1), 3):
        if value != strides[at]:
            yield "stride", written(extents, [*strides[:at], value, *strides[at + 1 :]])
    if len(moving) > 1:
        i, j = take.sample(moving, 2)
        for what, numbers in (("two strides", strides), ("two extents", extents)):
            swapped = list(numbers)
            swapped[i], swapped[j] = swapped[j], swapped[i]
            if swapped != numbers:
                yield (
                    what,
                    written(swapped if numbers is extents else extents, swapped if numbers is strides else strides),
                )
    yield "extent", written([*extents[:at], extents[at] * 2, *extents[at + 1 :]], strides)


def toml(name: str, entry: Mapping[str, Any]) -> str:
    """Return the text of a file with one atom."""
    return f'["{name}"]\n' + "".join(f"{key} = {value_of(value)}\n" for key, value in entry.items())


def value_of(value: object) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {value_of(part)}" for key, part in value.items()) + " }"
    return f'"{value}"' if isinstance(value, str) else str(value).replace("'", '"')


def verify_entry(name: str, entry: Mapping[str, Any], folder: Path, checker: AtomChecker | None = None) -> Case | str:
    """Return the case of an entry, read from a file of its own; for an entry that is refused, why."""
    path = folder / "own.toml"
    path.write_text(toml(name, entry), encoding="utf-8")
    try:
        read = atoms(path)
    except ValueError as error:
        return str(error)
    if not read.items:
        return str(read.errors[0])
    return (checker or AtomChecker()).case(read.items[0])


LAYOUT = re.compile(
    r"(?:in (\w+), )?(?:one (?:stride|extent|profile)|two (?:strides|extents) swapped|the ISA's layout|as \w+)"
    r": (\S+:\S+)(?:\s{2,}.*)?"
)
KEY = re.compile(r"(?:give|declare) (\w+ = .*)")


def apply_repairs(entry: Entry, repairs: list[tuple[str, str]]) -> Entry:
    """Return an entry with printed repairs, (part of the claim, text), put in. Raises ValueError for other text."""
    whole = dict(entry)
    for part, text in repairs:
        if match := LAYOUT.fullmatch(text):
            whole[match[1] or part] = match[2]
        elif match := KEY.fullmatch(text):
            ((key, value),) = tomllib.loads(match[1]).items()
            whole[key] = {**whole.get(key, {}), **value} if isinstance(value, dict) else value
        else:
            raise ValueError(f"a repair that nobody can apply: {text}")
    return whole


def list_repairs(case: Case) -> list[tuple[str, str]]:
    """Return the repairs of a case, each with the part of its claim."""
    claimed = ((verdict.claim.part, verdict.counterexample) for verdict in case.verdicts)
    return [(part, wrong.repair) for part, wrong in claimed if wrong is not None and wrong.repair]


def alternatives(repairs: list[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """Return the sets of repairs that belong together: claims may show two, with `; or ` between them."""
    each = [(part, text.split("; or ")) for part, text in repairs]
    most = max((len(texts) for _, texts in each), default=0)
    return [[(part, texts[min(at, len(texts) - 1)]) for part, texts in each] for at in range(most)]

# SPDX-License-Identifier: Apache-2.0
"""Errors for a mnemonic that the tables do not have: whether the ISA lacks it or the tables do, and the nearest."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches

from isa_tables.assembler import find_beyond, name_of
from isa_tables.errors import IsaError, NotInIsa, UnknownInstruction
from isa_tables.mnemonic import Said, is_short_for, list_parts
from isa_tables.tables import Variant, Word

_LONG = 5  # numbers with one step that are listed by their ends


def not_found(
    mnemonic: str,
    key: Said,
    families: Sequence[str],
    incomplete: Collection[str],
    mnemonics: Callable[[str], Sequence[str]],
    shipped: bool = True,
) -> IsaError:
    """Return NotInIsa for what the tables have whole, else UnknownInstruction; both name the nearest mnemonics.

    `incomplete` are the families of which the tables have a part; `mnemonics` gives the mnemonics of a family. The
    shipped tables have whole instructions: what has another family, such as a product without .sync, is not in the ISA.
    """
    wanted = f"{mnemonic[:200]!r}"
    known = key.family in families
    family = key.family if known else next(iter(get_close_matches(key.family, families, 1, 0.0)), "*")
    near = ", ".join(_nearest(mnemonic[:200], key, mnemonics(family))) or "none is near"
    if shipped and (word := find_beyond(mnemonic)):
        return UnknownInstruction(f"{wanted}: .{word} is not in the tables; nearest: {near}")
    if known and family not in incomplete:
        return NotInIsa(f"{wanted}: the ISA has no such {key.family} instruction; nearest: {near}")
    if shipped and not known and _whole(name_of(mnemonic), families, incomplete):
        return NotInIsa(f"{wanted}: the ISA has no such {name_of(mnemonic)} instruction; nearest: {near}")
    where = "is in the tables in part" if known else "is not in the tables"
    return UnknownInstruction(f"{wanted}: {key.family} {where}; nearest: {near}")


def _whole(name: str, families: Sequence[str], incomplete: Collection[str]) -> bool:
    """Whether the tables have every instruction of a name.

    >>> [_whole(name, ["mma.sync", "tcgen05.ld.red.sync", "ld"], ["ld"]) for name in ("mma", "tcgen05.shift", "ld")]
    [True, False, False]
    """
    words = {*name.split(".")[:2]}  # the third, as of wmma.load.a, is in no family's name
    of_name = [family for family in families if words <= {*family.split(".")}]
    return name != "" and of_name != [] and not set(of_name) & set(incomplete)


def not_selected(
    variants: Sequence[Variant], select: Mapping[str, Word], offered: Callable[[Variant, str], Sequence[Word]]
) -> NotInIsa:
    """NotInIsa for a selection that an instruction does not have, with the nearest that it has.

    `offered` gives the words that a variant has by a name.
    """
    wanted = ", ".join(f"{name} = {word!r}" for name, word in select.items())
    wrong = {v: [name for name, word in select.items() if word not in offered(v, name)] for v in variants}
    fewest = min(map(len, wrong.values()))
    near: dict[str, set[Word]] = {}
    for variant, names in wrong.items():
        for name in names if len(names) == fewest else ():
            near.setdefault(name, set()).update(_around(select[name], offered(variant, name)))
    ranked = {name: sorted(words, key=lambda word: (len(str(word)), str(word))) for name, words in near.items()}
    closest = ", ".join(f"{name} of {_list_words(words)}" for name, words in ranked.items() if words)
    ways = [", ".join(f"{name} of {_list_words(words)}" for name, words in v.select.items()) for v in variants]
    has = "; or ".join(filter(None, ways)) or "nothing"
    nearest = f"; nearest: {closest}" if closest else ""
    return NotInIsa(f"{variants[0].mnemonic}: the ISA has no {wanted}{nearest}; its text chooses {has}")


def _around(word: Word, words: Sequence[Word]) -> list[Word]:
    """Return the next number below and above a number; all words where they are not numbers."""
    numbers = [number for number in words if isinstance(number, int)]
    if not isinstance(word, int) or len(numbers) < len(words):
        return list(words)
    below, above = [n for n in numbers if n < word], [n for n in numbers if n > word]
    return [*([max(below)] if below else []), *([min(above)] if above else [])]


def _list_words(words: Iterable[Word]) -> str:
    """Words joined by commas; five or more numbers with one step are written as their ends and the step.

    >>> _list_words((8, 16, 24, 32, 48, 64, 80, 96)), _list_words(("smem", "tmem"))
    ('8, 16, 24, 32 to 96 by 16', 'smem, tmem')
    """
    rest, parts = list(words), []
    while rest:
        run = _find_run(rest)
        long = len(run) >= _LONG
        parts.append(f"{run[0]} to {run[-1]} by {run[1] - run[0]}" if long else str(rest[0]))
        rest = rest[len(run) if long else 1 :]
    return ", ".join(parts)


def _find_run(words: Sequence[Word]) -> list[int]:
    """Return the longest beginning of a list that is numbers with one step."""
    run: list[int] = []
    for word in words:
        if not isinstance(word, int) or (len(run) > 1 and word - run[-1] != run[1] - run[0]):
            break
        run.append(word)
    return run


def _nearest(wanted: str, key: Said, known: Sequence[str]) -> list[str]:
    """Return three mnemonics: two of a short name, f32 first, two of another shape, then by likeness of text."""
    meant = [name for name in known if "." in wanted and is_short_for(wanted, name)]
    short = sorted(meant, key=lambda name: "f32" not in name.split("."))
    numbers = _numbers(key.shape)
    but_shape = [name for name in known if _but_shape(list_parts(name)) == _but_shape(key) and numbers]
    distance = {
        name: sum(abs(a - b) for a, b in zip(numbers, _numbers(list_parts(name).shape), strict=False))
        for name in but_shape
    }
    close = sorted(distance, key=lambda name: (distance[name], name))[:2]
    return list(dict.fromkeys([*short[:2], *close, *get_close_matches(repr(wanted), known, 3, 0.3)]))[:3]


def _numbers(shape: str | None) -> list[int]:
    return [int(number[:9]) for number in re.findall(r"\d+", shape or "")]


def _but_shape(key: Said) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(token for token in key.ordered if token != key.shape), key.flags

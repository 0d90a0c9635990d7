# SPDX-License-Identifier: Apache-2.0
"""What to say of a mnemonic that the tables do not hold: whose fault it is, and what is nearest."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches

from isa_tables.errors import IsaError, NotInIsa, UnknownInstruction
from isa_tables.mnemonic import Said, said
from isa_tables.tables import Variant, Word

_LONG = 5  # numbers with one step, to be told by their ends


def not_found(
    mnemonic: str,
    key: Said,
    families: Sequence[str],
    incomplete: Collection[str],
    mnemonics: Callable[[str], Sequence[str]],
) -> IsaError:
    """NotInIsa for a family that the tables hold whole, else UnknownInstruction; both name what is nearest.

    `incomplete` are the families of which the ISA has more than the tables; `mnemonics` gives those of a family.
    """
    asked = f"{mnemonic[:200]!r}"
    known = key.family in families
    family = key.family if known else next(iter(get_close_matches(key.family, families, 1, 0.0)), "*")
    near = ", ".join(_nearest(asked, key, mnemonics(family))) or "none is near"
    if known and family not in incomplete:
        return NotInIsa(f"{asked}: the ISA has no such {key.family} instruction; nearest: {near}")
    stands = "is in the tables in part" if known else "is not in the tables"
    return UnknownInstruction(f"{asked}: {key.family} {stands}; nearest: {near}")


def not_selected(
    variants: Sequence[Variant], select: Mapping[str, Word], offered: Callable[[Variant, str], Sequence[Word]]
) -> NotInIsa:
    """NotInIsa for a selection outside the lists of an instruction, which are complete, with the nearest inside.

    `offered` gives the words that a variant has by a name.
    """
    asked = ", ".join(f"{name} = {word!r}" for name, word in select.items())
    wrong = {v: [name for name, word in select.items() if word not in offered(v, name)] for v in variants}
    fewest = min(map(len, wrong.values()))
    near: dict[str, set[Word]] = {}
    for variant, names in wrong.items():
        for name in names if len(names) == fewest else ():
            near.setdefault(name, set()).update(_around(select[name], offered(variant, name)))
    told = ", ".join(f"{name} of {_listed(sorted(words, key=_by_size))}" for name, words in near.items() if words)
    ways = [", ".join(f"{name} of {_listed(words)}" for name, words in v.select.items()) for v in variants]
    has = "; or ".join(filter(None, ways)) or "nothing"
    closest = f"; nearest: {told}" if told else ""
    return NotInIsa(f"{variants[0].mnemonic}: the ISA has no {asked}{closest}; its text chooses {has}")


def _around(word: Word, words: Sequence[Word]) -> list[Word]:
    """Of numbers the next below and the next above a number, else all."""
    numbers = [other for other in words if isinstance(other, int)]
    if not isinstance(word, int) or len(numbers) < len(words):
        return list(words)
    below, above = [n for n in numbers if n < word], [n for n in numbers if n > word]
    return [*([max(below)] if below else []), *([min(above)] if above else [])]


def _by_size(word: Word) -> tuple[int, str]:
    return len(str(word)), str(word)


def _listed(words: Iterable[Word]) -> str:
    """Words in a list; five numbers and more with one step are told by their ends and the step.

    >>> _listed((8, 16, 24, 32, 48, 64, 80, 96)), _listed(("smem", "tmem"))
    ('8, 16, 24, 32 to 96 by 16', 'smem, tmem')
    """
    rest, parts = list(words), []
    while rest:
        run = _run(rest)
        long = len(run) >= _LONG
        parts.append(f"{run[0]} to {run[-1]} by {run[1] - run[0]}" if long else str(rest[0]))
        rest = rest[len(run) if long else 1 :]
    return ", ".join(parts)


def _run(words: Sequence[Word]) -> list[int]:
    """The numbers that a list begins with, as far as they have one step."""
    run: list[int] = []
    for word in words:
        if not isinstance(word, int) or (len(run) > 1 and word - run[-1] != run[1] - run[0]):
            break
        run.append(word)
    return run


def _nearest(asked: str, key: Said, known: Sequence[str]) -> list[str]:
    """Three: at most two that differ in the shape's numbers alone, by how much, then by spelling."""
    numbers = _numbers(key.shape)
    but_shape = [other for other in known if _but_shape(said(other)) == _but_shape(key) and numbers]
    apart = {
        other: sum(abs(a - b) for a, b in zip(numbers, _numbers(said(other).shape), strict=False))
        for other in but_shape
    }
    close = sorted(apart, key=lambda other: (apart[other], other))[:2]
    return list(dict.fromkeys([*close, *get_close_matches(asked, known, 3, 0.3)]))[:3]


def _numbers(shape: str | None) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", shape or "")]


def _but_shape(key: Said) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(token for token in key.ordered if token != key.shape), key.flags

# SPDX-License-Identifier: Apache-2.0
"""One wrong edit, as people make them: a number of a text changed, or two of its numbers swapped."""

from __future__ import annotations

import random
import re


def edited(text: str, rng: random.Random) -> str:
    """Return a text with one of its numbers doubled, halved, moved by one or zeroed, or with two swapped.

    >>> edited("(4,8):(1,4)", random.Random(0)) != "(4,8):(1,4)"
    True
    """
    numbers = list(re.finditer(r"\d+", text))
    while True:
        number = rng.choice(numbers)
        value = int(number[0])
        if rng.random() < 0.3:
            swapped = rng.choice(numbers)
            first, second = sorted((number, swapped), key=re.Match.start)
            changed = text[: first.start()] + second[0] + text[first.end() : second.start()]
            changed += first[0] + text[second.end() :] if first is not second else first[0] + text[first.end() :]
            changed = changed if first is not second else text
        else:
            new = rng.choice((value * 2, value // 2, value + 1, max(value - 1, 0), 0, 1))
            changed = text[: number.start()] + str(new) + text[number.end() :]
        if changed != text:
            return changed

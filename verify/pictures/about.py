# SPDX-License-Identifier: Apache-2.0
"""What a pointer shows at the cells of a panel, with the words that they share written once.

An operand has hundreds of cells, and the ISA's formula in the title of each was most of a page. So a cell of a page has
the numbers alone, and the script of the page puts them between the words when a pointer comes.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Sequence

NUMBER = re.compile(r"\d+")


def share(texts: Sequence[str]) -> tuple[str, list[str]]:
    """Return the words of the texts of a panel's cells as JSON, and of each text its numbers; empty for no text.

    A text is the words `words[kind]` with a number after each but the last; its numbers are the kind, then these.

    >>> share(["T1 of 32 at 4", "", "T2 of 32 at 8"])
    ('[["T"," of 32 at ",""]]', ['0 1 4', '', '0 2 8'])
    """
    kinds: dict[tuple[str, ...], list[tuple[int, list[str]]]] = defaultdict(list)
    for at, text in enumerate(texts):
        if text:
            kinds[tuple(NUMBER.split(text))].append((at, NUMBER.findall(text)))
    every, numbers_of = [], [""] * len(texts)
    for kind, (words, cells) in enumerate(kinds.items()):
        fixed = [len(set(numbers)) == 1 for numbers in zip(*(numbers for _, numbers in cells), strict=True)]
        shared = [words[0]]
        for number, following, same in zip(cells[0][1], words[1:], fixed, strict=True):
            if same:
                shared[-1] += number + following
            else:
                shared.append(following)
        every.append(shared)
        for at, numbers in cells:
            own = (number for number, same in zip(numbers, fixed, strict=True) if not same)
            numbers_of[at] = " ".join([str(kind), *own])
    return json.dumps(every, ensure_ascii=False, separators=(",", ":")) if every else "", numbers_of

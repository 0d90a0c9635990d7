# SPDX-License-Identifier: Apache-2.0
"""What a pointer shows at the cells of a panel, with the words that they share written once.

An operand has hundreds of cells, and the ISA's formula in the title of each was most of a page. So a cell of a page has
the numbers alone, and the script of the page puts them between the words when a pointer comes.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from xml.etree.ElementTree import Element

NUMBER = re.compile(r"\d+")


def share(panel: Element) -> None:
    """Replace the titles of a panel's cells: `data-words` has their words, `data-about` of a cell its numbers.

    A text is the words `data-words[kind]` with a number after each but the last; `data-about` is the kind, then these.

    >>> from xml.etree.ElementTree import fromstring
    >>> panel = fromstring("<g><g><title>T1 of 32 at 4</title></g><g><title>T2 of 32 at 8</title></g></g>")
    >>> share(panel)
    >>> panel.get("data-words"), [cell.get("data-about") for cell in panel]
    ('[["T"," of 32 at ",""]]', ['0 1 4', '0 2 8'])
    """
    kinds: dict[tuple[str, ...], list[tuple[Element, list[str]]]] = defaultdict(list)
    for cell in panel.iterfind("g"):
        title = cell.find("title")
        if title is not None and title.text:
            cell.remove(title)
            kinds[tuple(NUMBER.split(title.text))].append((cell, NUMBER.findall(title.text)))
    every = []
    for kind, (words, cells) in enumerate(kinds.items()):
        fixed = [len(set(numbers)) == 1 for numbers in zip(*(numbers for _, numbers in cells), strict=True)]
        shared = [words[0]]
        for number, following, same in zip(cells[0][1], words[1:], fixed, strict=True):
            if same:
                shared[-1] += number + following
            else:
                shared.append(following)
        every.append(shared)
        for cell, numbers in cells:
            own = (number for number, same in zip(numbers, fixed, strict=True) if not same)
            cell.set("data-about", " ".join([str(kind), *own]))
    if every:
        panel.set("data-words", json.dumps(every, ensure_ascii=False, separators=(",", ":")))

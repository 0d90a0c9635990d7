# SPDX-License-Identifier: Apache-2.0
"""Panels of one access of a warp to shared memory: the words of each phase by their banks, with the lanes of each.

Two words in one column are two words of one bank, which it cannot serve at once: both are marked.
"""

from __future__ import annotations

from collections.abc import Iterator

from layouts.bank_conflicts import BANKS, LANES, PHASE, WORD, Access, AccessKind, Wavefronts
from layouts.swizzle import Swizzle
from verify.pictures import owners
from verify.pictures.picture import WHOLE, Cell, Fault, Panel, Window, grid

LINE = BANKS * WORD  # bytes of one row
SEVERAL = "another word of the same bank"
Lanes = dict[int, list[int]]  # word -> lanes


def phases(
    name: str,
    access: Access,
    swizzle: Swizzle,
    place: tuple[int, int] = (0, 0),
    step: int = 1,
    window: Window = WHOLE,
) -> Iterator[Panel]:
    """Yield a panel for each phase of an access through a swizzle, below each other, `step` rows of panels further on.

    >>> rows = Access(tuple(128 * lane for lane in range(8)), 128)
    >>> for swizzle in (Swizzle(0, 4, 3), Swizzle(3, 4, 3)):
    ...     (panel,) = phases("rows", rows, swizzle)
    ...     print(panel.heading, sum(bool(cell.fault) for cell in panel.every()))
    rows: phase 0, lanes 0-7, 8 wavefronts 32
    rows: phase 0, lanes 0-7, 1 wavefront 0
    """
    moved = [None if address is None else swizzle(address) for address in access.addresses]
    wavefronts = access.through(swizzle)
    number = 0
    for lanes in _lanes(access, wavefronts):
        active = [lane for lane in lanes if lane < len(moved) and moved[lane] is not None]
        if active:
            words: Lanes = {}
            for lane in active:
                first = (moved[lane] or 0) // WORD
                for word in range(first, first + max(1, access.bits // (8 * WORD))):
                    words.setdefault(word, []).append(lane)
            times = wavefronts.phases[number]
            heading = f"{name}: phase {number}, lanes {active[0]}-{active[-1]}, {times} wavefront{'s' * (times > 1)}"
            down = place[0] + step * number, place[1]
            yield _panel(f"{name} {number}", heading, words, access.operation, down, window)
            number += 1


def _lanes(access: Access, wavefronts: Wavefronts) -> list[range]:
    """Return the lanes of each phase: twice as many where lanes that have one address are served together."""
    width = PHASE[access.bits]
    if len(access.addresses) == LANES and len(wavefronts.phases) * width * 2 == LANES:
        width *= 2
    return [range(start, start + width) for start in range(0, LANES, width)]


def _panel(
    name: str, heading: str, words: Lanes, operation: AccessKind, place: tuple[int, int], window: Window
) -> Panel:
    """Return the words of a phase: a row for each line of memory that it touches, a column for each bank."""
    lines = sorted({word // BANKS for word in words})
    crowded = {bank for bank in range(BANKS) if sum(word % BANKS == bank for word in words) > 1}

    def cell(row: int, bank: int) -> Cell:
        word = lines[row] * BANKS + bank
        lanes = words.get(word, [])
        twice = operation is AccessKind.COPY and len(lanes) > 1  # copies share no words
        listed = tuple(owners.list_owners([(lane,) for lane in lanes], ("T",)))
        about = f"word {word}, byte {word * WORD}, bank {bank}: {', '.join(listed) or 'not accessed'}"
        fault = Fault.SEVERAL if lanes and (bank in crowded or twice) else Fault.NONE
        return Cell(listed, lanes[0] % 8 if lanes else -1, fault, about=(about,))

    return grid(
        name, heading, ("byte", "bank"), (len(lines), BANKS), cell, window=window, place=place,
        names=(lambda row: str(lines[row] * LINE), None),
    )  # fmt: skip

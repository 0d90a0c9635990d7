# SPDX-License-Identifier: Apache-2.0
"""Sentences of docs/mutants.md with numbers, computed from its tables."""

from __future__ import annotations

import re
from math import isclose, sqrt

from tests.site.sources import text


def compute_mutants() -> list[tuple[object, ...]]:
    """Return the sentences of the page with numbers: those of its tables, and what follows from them."""
    page = text("docs/mutants.md")
    listed = [[int(cell) for cell in row.split(" | ")] for row in re.findall(r"^\| all \| (.*) \|$", page, re.M)]
    attack, first, second, third, fourth = listed
    all_of, at_once, since, same, slow, _ = first
    fresh, noticed, later, _ = second
    again, caught, killed, alike, slower, gone = third
    unnoticed = again - caught
    survived, unexecuted = 12, 10  # by the campaign's log
    assert survived + unexecuted == unnoticed == killed + alike + slower + gone
    last, seen, torch, tested, equal, planted, removed = fourth
    missed = last - seen
    assert missed == torch + tested + equal + planted + removed
    assert isclose(at_once / all_of, 2 / 3, abs_tol=0.02) and since > 68
    right, _, wrong, refuted, _, *faults = attack
    assert refuted <= wrong and not any(faults)
    return [
        ("{} right and {} wrong inputs", right, wrong),
        ("### Seed 0: {} mutants", all_of),
        ("; {} mutants take half an hour", all_of),
        ("It did not notice {}.", all_of - at_once),
        ("{} compute the same", same),
        ("{} are noticed by a slow test", slow),
        ("### Seed 1: {} fresh mutants", fresh),
        ("about {} % ({} of {}; {} % to {} % with", round(100 * noticed / fresh), noticed, fresh,
         *interval(noticed, fresh)),
        ("The {} were tried again", later),
        ("### Seed 2411: {} fresh mutants", again),
        ("noticed {} of {} ({} % to {} % with", caught, again, *interval(caught, again)),
        ("*Survived* ({}).", survived),
        ("*Unexecuted* ({}).", unexecuted),
        ("The {} were tried again with `--again` and the `--tests` that had changed: {} are killed, {} are listed, "
         "{} is gone", unnoticed, killed, alike + slower, gone),
        ("### Seed 2411 a day later: {} other mutants", last),
        ("The gate noticed {} of {} ({} % to {} % with 95 % confidence), one", seen, last, *interval(seen, last)),
        ("; {} survived and {} were unexecuted. Each", 23, missed - 23),  # by the campaign's log
        ("Each of the {} was then tried", missed),
        ("*Listed*: {} compute the same. Of the {} that", equal, planted),
        ("may notice some of the {} as well", tested),
    ]  # fmt: skip


def interval(part: int, whole: int) -> tuple[int, int]:
    """Return Wilson's interval with 95 % confidence, in whole percent."""
    share, z = part / whole, 1.96
    middle, spread = share + z * z / (2 * whole), z * sqrt(share * (1 - share) / whole + (z / (2 * whole)) ** 2)
    low, high = (round(100 * (middle + sign * spread) / (1 + z * z / whole)) for sign in (-1, 1))
    return low, high

# SPDX-License-Identifier: Apache-2.0
"""docs/safety-score.md, made of two records: `python -m benchmarks.kernels.safety_page FAULTS.json VERIFIERS.json`.

The records are those of `benchmarks.kernels.safety` and `benchmarks.kernels.verifiers`; both are kept in `safety.json`.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.kernels.reasons import SAME_CODE, assembled
from benchmarks.kernels.safety import FOLDERS, name_fault, plant_faults
from benchmarks.kernels.verifiers import EACH, LEAST, SUM, gates

ROOT = Path(__file__).parents[2]
PAGE, DATA = ROOT / "docs" / "safety-score.md", Path(__file__).with_name("safety.json")
HEAD = """# Safety, measured

What `lanecheck kernel FILE --safety` finds in kernels that were made unsafe, and how it stands next to SentryWard.
[Compiled kernels](kernel.md#safe-whatever-it-computes) says what is checked. This page is written by `python -m
benchmarks.kernels.safety_page`.

## Faults

Each barrier, wait, commit and fence of a kernel is left out, and moved below the next access of memory; the guard of
each store, load and atomic operation is left out. All of them, one at a time (`python -m benchmarks.kernels.safety
--record FILE`, which goes on where it ended).

| kernel | faults | refuted | unknown | warned | SAFE |
|---|---|---|---|---|---|
"""
REASONS = (  # (a part of a fault's name, why it is harmless)
    ("unmasked", "its address is in bounds without the guard: other values, and no other address"),
    ("commit_group", "the next `commit_group` closes the same copies, and the wait is for that group (9.7.9.25.3.2)"),
    ("bar.sync", "no thread reads or writes shared memory after it that another one wrote or read before it, so there "
     "is nothing that it orders (8.7.1)"),
)  # fmt: skip
OTHER = """
## Next to SentryWard

The same PTX and the same launch, each a process that is started anew: the median of five runs of wall time, one run
if it ends by the limit of {limit} seconds; memory is the largest resident set. SentryWard is 0.1.1 from PyPI; its
input is made of the claim's file. It also checks what was not asked for here, equivalence to a reference in PyTorch,
and clusters, which Lanecheck does not know. The machine had two cores and other work on them, so both are slower
than they could be.

| kernel | Lanecheck | seconds | MB | SentryWard | seconds | MB |
|---|---|---|---|---|---|---|
"""
SETTLED = """
Where it says `potential_race`, Lanecheck warns of the same accesses: threads that hold the same value write it to
the same shared bytes, as Triton's reductions and its products of small tiles do. Any order of those writes leaves
the same bytes, so that is a warning here, and an error under `--strict`. It finds no race that Lanecheck passes over
in silence.

Where it says `tool_failure`, the launch has tensor maps. Its wheel does not document how they are written, so that may
be the fault of the input that is made here. Kernels of the tests that are not in the table were not measured yet.
"""


def write_page(
    faults: Mapping[str, str], verifiers: Mapping[str, Any], limit: int, same_code: Sequence[str] = ()
) -> str:
    """Return the page."""
    lines = [
        *_list_faults(faults),
        "",
        f"What is SAFE, and why: {len(same_code)} have the same SASS (ptxas 13.0); of the others the reason is that of "
        "the kind of fault, by the ISA's text. No GPU was asked.",
        "",
        *_list_harmless(faults, same_code),
    ]
    return (
        HEAD
        + "\n".join(lines)
        + "\n"
        + OTHER.format(limit=limit)
        + "\n".join(_list_verifiers(verifiers))
        + "\n"
        + SETTLED
    )


def _list_faults(faults: Mapping[str, str]) -> Iterator[str]:
    by: dict[str, Counter[str]] = {}
    for name, fate in faults.items():
        by.setdefault(name.partition(":")[0], Counter())[fate] += 1
    for kernel, counts in (*by.items(), ("all", sum(by.values(), Counter[str]()))):
        cells = (str(counts[fate] or "-") for fate in ("refuted", "unknown", "warned", "SAFE"))
        yield f"| {kernel} | {counts.total()} | {' | '.join(cells)} |"


def _list_harmless(faults: Mapping[str, str], same_code: Sequence[str]) -> Iterator[str]:
    yield "| fault | why it changes nothing |"
    yield "|---|---|"
    for name, fate in faults.items():
        if fate == "SAFE":
            why = next((why for part, why in REASONS if part in name), "**not explained yet**")
            why = "the same SASS" if name in same_code else why
            yield f"| `{' '.join(name.split())}` | {why} |"


def list_same_code(faults: Mapping[str, str]) -> list[str]:
    """Return the faults that are SAFE and of which ptxas makes the code of the right kernel; it must be installed."""
    found = []
    for path in (path for folder in FOLDERS for path in sorted(folder.glob("*.ptx"))):
        text = path.read_text()
        for fault in plant_faults(text):
            name = name_fault(path, fault)
            if faults.get(name) == "SAFE" and assembled(text, fault.text) == SAME_CODE:
                found.append(name)
    return found


def _list_verifiers(found: Mapping[str, Any]) -> Iterator[str]:
    for name, one in found.items():
        cells = (
            f"{one[who]['verdict']} | {one[who]['seconds']:.2f} | {one[who]['megabytes']}" for who in ("ours", "theirs")
        )
        yield f"| {name} | {' | '.join(cells)} |"
    total, slow = gates(found)
    yield ""
    yield f"The sum of our times is {total:.2f} of theirs; at most {SUM} is wanted."
    yield f"Slower than {LEAST} s and than {EACH} of theirs: {', '.join(slow) or 'none'}."


def main(argv: Sequence[str] | None = None) -> int:
    """Write the records and the page."""
    faults, verifiers = (json.loads(Path(one).read_text()) for one in (sys.argv[1:] if argv is None else argv))
    data = {"faults": faults, "verifiers": verifiers, "limit": 60, "same_code": list_same_code(faults)}
    DATA.write_text(json.dumps(data, indent=1) + "\n")
    PAGE.write_text(write_page(**json.loads(DATA.read_text())))
    return 0


if __name__ == "__main__":
    sys.exit(main())

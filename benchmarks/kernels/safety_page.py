# SPDX-License-Identifier: Apache-2.0
"""docs/safety-score.md, made of records: `python -m benchmarks.kernels.safety_page [RECORD.json…]`.

`fates.json` is the record of `benchmarks.kernels.safety`, `kernels.json` and those named as a choice of `--of` are of
`benchmarks.kernels.verifiers`; all are kept in `safety.json`, where `settled` says why what SentryWard alone finds is
no fault.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.kernels.campaign import Sample, edits_of
from benchmarks.kernels.reasons import SAME_CODE, assembled
from benchmarks.kernels.safety import FOLDERS, name_fault, plant_faults
from benchmarks.kernels.verifiers import EACH, FIRST, LEAST, SUM, WHOLE, gates, list_rows, went_through
from tests.kernels import compile as corpus

LEAST_MB = 54  # resident set of the process that starts both
LIMIT = 160  # seconds of a changed kernel
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
    ("tcgen05_32:79: moved: bar.sync", "it is moved below a `tcgen05.fence` before which no thread uses Tensor Memory, "
     "and stays above all that it orders"),
    ("tcgen05.fence", "no other thread uses Tensor Memory before it, or none does after it: it orders nothing "
     "(9.7.16.6)"),
    ("fence.mbarrier_init", "a `fence.proxy.async` before the first copy or commit shows it to the engine too "
     "(9.7.13.15.9)"),
    ("moved: fence.proxy.async", "it stays between the writes and the reads by the engine, behind the barrier that "
     "orders them: a fence anywhere on that path is one (9.7.15.4)"),
    ("left out: fence.proxy.async", "the `fence.mbarrier_init` before it shows it to the engine (9.7.13.15.9)"),
    ("expect_tx", "below the copy that it expects: the phase is open until this arrival (9.7.13.15.5)"),
    ("unmasked", "its address is in bounds without the guard: other values, and no other address"),
    ("commit_group", "the next `commit_group` closes the same copies, and the wait is for that group (9.7.9.25.3.2)"),
    ("bar.sync", "no thread reads or writes shared memory after it that another one wrote or read before it, so there "
     "is nothing that it orders (8.7.1)"),
)  # fmt: skip
OTHER = """
## Next to SentryWard

The same PTX and the same launch, each a process that is started anew: the median of five runs, one run if it ends by
the limit of {limit} seconds. `seconds` is the time of the clock, `processor` what both the process and those that it
started took of it, user and system; memory is the largest resident set, at least the {least} MB of the process that
starts both. SentryWard is 0.1.1 from PyPI; its input is made of the claim's file. It also checks what was not asked
for here, equivalence to a reference in PyTorch, and clusters, which Lanecheck does not know; it does not check bounds,
alignment, or reads of memory that nobody wrote. The processes ran several at a time, each on a
core of its own, so that the clock and the processor agree.

The rule of the sums: like with like. A kernel is in the sum if both went through the whole launch. It is not if
SentryWard left the launch at its first finding (`potential_race`, with `search_complete` false), gave up
(`unsupported`, `tool_failure`) or ended by its limit (`timeout`); Lanecheck goes through the whole launch in all of
these too. What the sum would be with those that it left at a finding is said as well.

"""
SETTLED = """
Where it says `potential_race`, Lanecheck warns of the same accesses: threads that hold the same value write it to
the same shared bytes, as Triton's reductions and its products of small tiles do. Any order of those writes leaves
the same bytes, so that is a warning here, and an error under `--strict`. It finds no race that Lanecheck passes over
in silence.

Where it says `tool_failure`, the launch has tensor maps. Its wheel does not document how they are written, so that may
be the fault of the input that is made here.
"""
FOUND = """
## Who finds what

Changed kernels through both, once each: the faults above, of kernels that both call right; one planted edit of each
class of [wrong kernels](kernel-score.md); the edits that are listed there as accepted and read by hand; the bugs of
[attention](attention.md), which compute something else and are safe. An edit that makes a wrong kernel need not make
an unsafe one. A finding of Lanecheck is a refutation; what it says is UNKNOWN is counted apart. SentryWard takes
minutes for some, and had at least {limit} seconds for each, where it ended by its limit. What is not run yet:
{missing}.

| changes | how many | both find | Lanecheck alone | SentryWard alone | neither | UNKNOWN | SentryWard gave up |
|---|---:|---:|---:|---:|---:|---:|---:|
"""
SETS = {"faults": "faults", "classes": "planted classes", "accepted": "accepted edits", "bugs": "bugs of attention"}


def write_page(
    faults: Mapping[str, str], verifiers: Mapping[str, Any], limit: int, same_code: Sequence[str] = (),
    changed: Mapping[str, Mapping[str, Any]] = {}, settled: Mapping[str, str] = {},
) -> str:  # fmt: skip
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
        + OTHER.format(limit=limit, least=LEAST_MB)
        + "\n".join(_list_verifiers(verifiers))
        + "\n"
        + SETTLED
        + (_introduce(changed) + "\n".join(_list_changed(changed, settled)) + "\n" if changed else "")
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
    names = []
    for path in (path for folder in FOLDERS for path in sorted(folder.glob("*.ptx"))):
        text = path.read_text()
        for fault in plant_faults(text):
            name = name_fault(path, fault)
            if faults.get(name) == "SAFE" and assembled(text, fault.text) == SAME_CODE:
                names.append(name)
    return names


def _list_verifiers(records: Mapping[str, Any]) -> Iterator[str]:
    yield from list_rows(records)
    whole = [name for name, record in records.items() if went_through(record, WHOLE)]
    yield f"\nBoth went through {len(whole)} of {len(records)}: {', '.join(whole)}."
    for clock, words in (("seconds", "Time of the clock"), ("processor", "Time of the processor")):
        total, slow = gates(records, clock)
        more, every = gates(records, clock, (*WHOLE, *FIRST))
        left = [name for name in every if name not in slow]
        yield (
            f"\n{words}: the sum of ours is {total:.2f} of theirs, at most {SUM} is wanted; with those that SentryWard "
            f"left at its first finding {more:.2f}. Slower than {LEAST} s and than {EACH} of theirs: "
            f"{', '.join(slow) or 'none'}; of those that it left: {', '.join(left) or 'none'}."
        )


def _introduce(changed: Mapping[str, Mapping[str, Any]]) -> str:
    """Return what the changed kernels are, and how many of them did not run."""
    whole = {
        "classes": [
            f"{path.stem} {edit}"
            for folder in FOLDERS
            for path in sorted(folder.glob("*.ptx"))
            for edit in edits_of(path.read_text(), Sample(1, 0, 0, 1))
        ],
        "bugs": list(tomllib.loads((corpus.HOME / "planted.toml").read_text())),
    }
    missing = []
    for key, names in whole.items():
        ran = changed.get(key, {})
        left = sum(name not in ran and name not in {title.partition(" ")[2] for title in ran} for name in names)
        missing += [f"{left} of the {len(names)} {SETS[key]}"] if left else []
    return FOUND.format(limit=LIMIT, missing=" and ".join(missing) or "nothing")


def _list_changed(changed: Mapping[str, Mapping[str, Any]], settled: Mapping[str, str]) -> Iterator[str]:
    alone: list[str] = []
    for key, words in SETS.items():
        counts: Counter[str] = Counter()
        for name, record in changed.get(key, {}).items():
            ours, theirs = record["ours"]["verdict"], record["theirs"]["verdict"].partition(":")[0]
            here, there = ours == "REFUTED", theirs in FIRST
            counts["gave up"] += theirs not in (*WHOLE, *FIRST)
            counts["unknown"] += ours == "UNKNOWN"
            counts[
                {(True, True): "both", (True, False): "ours", (False, True): "theirs"}.get((here, there), "none")
            ] += 1
            alone += [name] if there and ours == "SAFE" else []
        cells = (str(counts[column] or "-") for column in ("both", "ours", "theirs", "none", "unknown", "gave up"))
        kernels = dict.fromkeys(re.split(r"[ :]", name)[0] for name in changed.get(key, {}))
        of = f" of {', '.join(kernels)}" if kernels else ": not run yet"
        yield f"| {words}{of} | {len(changed.get(key, {})) or '-'} | {' | '.join(cells)} |"
    yield (
        "\nWhat SentryWard finds and Lanecheck calls SAFE, and why it is none:\n"
        if alone
        else ("\nSentryWard finds nothing in them that Lanecheck calls SAFE.")
    )
    for name in alone:
        why = next((why for part, why in settled.items() if part in name), "**not settled yet**")
        yield f"- `{' '.join(name.split())}`: {why}"


def main(argv: Sequence[str] | None = None) -> int:
    """Write the records and the page; what no record is given of stays."""
    data = json.loads(DATA.read_text())
    paths = [Path(name) for name in (sys.argv[1:] if argv is None else argv)]
    for path in paths:
        record = json.loads(path.read_text())
        if path.stem == "kernels":
            data["verifiers"] = record
        elif path.stem == "fates":
            data |= {"faults": record, "same_code": list_same_code(record)}
        else:
            data.setdefault("changed", {})[path.stem] = record
    DATA.write_text(json.dumps(data, indent=1) + "\n")
    PAGE.write_text(write_page(**data))
    return 0


if __name__ == "__main__":
    sys.exit(main())

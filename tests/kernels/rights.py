# SPDX-License-Identifier: Apache-2.0
"""The table of right kernels with exponentials on the page of attention: `python -m tests.kernels.rights [NAME...]`.

It compiles the kernels of the corpus whose names begin so (all without one), checks them, and writes the verdicts into
`rights.json`, as soon as each is known, and the table. Those that the record has are checked again only if named.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

from benchmarks.kernels.score import write_page
from tests.kernels import compile as corpus
from tests.kernels import on_gpu
from verify.kernel.check import check
from verify.kernel.claims.claim import claim_of

RECORD = Path(__file__).with_suffix(".json")  # name in the corpus -> verdict
PAGE = Path(__file__).parents[2] / "docs" / "attention.md"
MARKS = "<!-- gate -->", "<!-- /gate -->"  # of the page: what lies between is the table
TITLE = (
    "| kernels | type | head dimensions | targets | compiles | verified | unknown | agree on a GPU | unchecked |\n"
    "|---|---|---|---|---:|---:|---:|---:|---:|"
)
FAMILIES = {  # source -> what the table calls its kernels
    **dict.fromkeys(("softmax.py", "softmax_loss.py"), "softmax and losses"),
    "attention.py": "attention",
    **dict.fromkeys(("softmax_cuda.cu", "norm.cu"), "softmax and norms in CUDA C++"),
    "attention_cuda.cu": "attention in CUDA C++",
}
KIN = "kin of attention"  # of any other source
ORDER = ["softmax and losses", "attention", KIN, "attention in CUDA C++", "softmax and norms in CUDA C++"]
BATCH = 8  # kernels that are compiled at once


def list_rows() -> list[corpus.Row]:
    """Return the kernels of the corpus with exponentials."""
    return [row for row in corpus.rows() if row.name.startswith(corpus.EXPONENTIALS)]


def read_record() -> dict[str, str]:
    """Return the verdicts of the record."""
    verdicts: dict[str, str] = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    return verdicts


def describe(row: corpus.Row) -> tuple[str, str, int]:
    """Return the family of a kernel, the type of its first array, and its head dimension (0 without one)."""
    template = (corpus.SOURCES / row.source).with_suffix(".toml.in").read_text(encoding="utf-8")
    text = Template(template).safe_substitute(row.names)
    kind, head = re.search(r'type = "(\w+)"', text), re.search(r"\bD = (\d+)", text)
    assert kind is not None
    return FAMILIES.get(row.source, KIN), kind[1], int(head[1]) if head else 0


def table(verdicts: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of the table: how many compiles of each family and type have which verdict."""
    there = on_gpu.read_record()[1]
    groups: dict[tuple[str, str], list[tuple[corpus.Row, int]]] = {}
    for row in list_rows():
        family, kind, head = describe(row)
        groups.setdefault((family, kind), []).append((row, head))
    yield from TITLE.splitlines()
    for (family, kind), rows in sorted(groups.items(), key=lambda group: ORDER.index(group[0][0])):
        heads = ", ".join(map(str, sorted({head for _, head in rows if head}))) or "-"
        targets = ", ".join(sorted({row.target for row, _ in rows}, key=lambda name: int(name[3:].rstrip("a"))))
        yield _count(f"{family} | {kind} | {heads} | {targets}", [row.name for row, _ in rows], verdicts, there)
    yield _count("all | | | ", [row.name for row in list_rows()], verdicts, there)


def _count(head: str, names: Sequence[str], verdicts: Mapping[str, str], there: Mapping[str, Any]) -> str:
    checks = Counter(verdicts[name] for name in names) + Counter(there[name]["status"] for name in names)
    columns = ("VERIFIED", "UNKNOWN", on_gpu.AGREES, on_gpu.UNCHECKED)
    counts = " | ".join(map(str, (len(names), *(checks[column] for column in columns))))
    return f"| {head} | {counts} |".replace("|  |", "| |")


def main(names: Sequence[str]) -> None:
    """Check what the record lacks or is named, and write the table."""
    known = read_record()
    rows = list_rows()
    wanted = [row for row in rows if row.name.startswith(tuple(names)) or (not names and row.name not in known)]
    if reason := corpus.explain_missing(wanted):
        sys.exit(reason)
    for start in range(0, len(wanted), BATCH):
        part = wanted[start : start + BATCH]
        for row, (ptx, claim) in zip(part, corpus.compile_rows(part), strict=True):
            (outcome,) = check(ptx, claim_of(tomllib.loads(claim)), seed=5)
            known[row.name] = str(outcome.status)
            ordered = {kernel.name: known[kernel.name] for kernel in rows if kernel.name in known}
            RECORD.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")
            print(f"{row.name:<24} {outcome.status}", flush=True)
    write_page(PAGE, table(known), MARKS)


if __name__ == "__main__":
    main(sys.argv[1:])

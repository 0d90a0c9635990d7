# SPDX-License-Identifier: Apache-2.0
"""Faults of order and of masks in kernels that are SAFE: `python -m benchmarks.kernels.safety [KERNEL.ptx…]`.

Each barrier, wait, commit and fence is left out (a wait for an mbarrier is over at once), and moved below the next
access of memory; each guard of an access is left out. A fault that is neither refuted nor unknown nor warned of is
printed: it is harmless, or a false SAFE.
`--record` keeps the fate of each fault, and a run that was cut off goes on where it ended.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from verify.kernel.claims.claim_file import read_claim
from verify.kernel.safety import SAFE, check_safety
from verify.kernel.state.findings import WARNINGS

ROOT = Path(__file__).parents[2]
FOLDERS = (ROOT / "tests" / "kernels" / "safe", ROOT / "tests" / "kernels" / "compiled")
_ORDERS = re.compile(
    r"\s*(@!?%\w+\s+)?(bar\.|barrier\.|fence|membar|cp\.async\.(bulk\.)?(wait|commit)|mbarrier\.|wgmma\.(fence|commit|wait)"
    r"|tcgen05\.(wait|commit|fence|dealloc))"
)
_ACCESS = re.compile(r"\s*(@!?%\w+\s+)?(ld|st|atom|red|cp\.async|ldmatrix|stmatrix|wgmma\.mma|tcgen05)\b[^;]*;")
_WAIT = re.compile(r"mbarrier\.(?:try|test)_wait\S*\s+(%?\w+),[^;]*;")
_MASK = re.compile(r"^(\s*)@!?%\w+\s+(?=(ld|st|atom|red)\.)")


@dataclass(frozen=True, slots=True)
class PlantedFault:
    """One change of a text: what, at which line, and the text after it."""

    sort: str  # left out, moved or unmasked
    line: int  # from 1
    old: str
    text: str


def plant_faults(text: str) -> Iterator[PlantedFault]:
    """Yield every fault of a kernel.

    >>> [(fault.sort, fault.line) for fault in plant_faults("bar.sync 0;\\nld.shared.u32 %r1, [%r2];\\nret;")]
    [('left out', 1), ('moved', 1)]
    """
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if _ORDERS.match(line):
            bare = _WAIT.sub(r"setp.eq.u32 \1, 0, 0;", line) if _WAIT.search(line) else ""  # it is over at once
            yield PlantedFault("left out", at + 1, line.strip(), "\n".join([*lines[:at], bare, *lines[at + 1 :]]))
            below = next((to for to in range(at + 1, len(lines)) if _ACCESS.match(lines[to])), None)
            if below is not None and not any(between.rstrip().endswith(":") for between in lines[at:below]):
                moved = [*lines[:at], "", *lines[at + 1 : below + 1], line, *lines[below + 1 :]]
                yield PlantedFault("moved", at + 1, line.strip(), "\n".join(moved))
        if _MASK.match(line):
            bare = _MASK.sub(r"\1", line)
            yield PlantedFault("unmasked", at + 1, line.strip(), "\n".join([*lines[:at], bare, *lines[at + 1 :]]))


def judge(text: str, claim: Path) -> tuple[str, frozenset[str]]:
    """Return what a check of safety says of a kernel, refuted, unknown or SAFE, and the kinds of its warnings."""
    outcomes = check_safety(text, read_claim(claim, claimed=False), seed=1)
    warnings = frozenset(finding.kind for each in outcomes for finding in each.findings if finding.severity in WARNINGS)
    statuses = {outcome.status for outcome in outcomes}
    worst = next((status.lower() for status in ("REFUTED", "UNKNOWN") if status in statuses), SAFE)
    return worst, warnings


def judge_faults(path: Path, known: Mapping[str, str] | None = None) -> Iterator[tuple[PlantedFault, str]]:
    """Yield each fault of a kernel with its fate; `warned` if it has a warning that the right kernel has not.

    `known` has fates of faults by `name_fault`, which are not judged again.
    """
    text, claim, known = path.read_text(), path.with_suffix(".toml"), known or {}
    expected: frozenset[str] | None = None
    for fault in plant_faults(text):
        if (fate := known.get(name_fault(path, fault), "")) == "":
            expected = judge(text, claim)[1] if expected is None else expected
            fate, warnings = judge(fault.text, claim)
            fate = "warned" if fate == SAFE and warnings - expected else fate
        yield fault, fate


def name_fault(path: Path, fault: PlantedFault) -> str:
    """Return the name of a fault in a record."""
    return f"{path.stem}:{fault.line}: {fault.sort}: {fault.old}"


def main(argv: Sequence[str] | None = None) -> int:
    """Print what became of the faults of some kernels, and each that is SAFE."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernels.safety", description=__doc__)
    parser.add_argument("kernel", nargs="*", type=Path)
    parser.add_argument("--record", type=Path, metavar="FILE", help="keep what was judged, and go on from there")
    options = parser.parse_args(argv)
    record = options.record
    known: dict[str, str] = json.loads(record.read_text()) if record and record.is_file() else {}
    for path in options.kernel or [path for folder in FOLDERS for path in sorted(folder.glob("*.ptx"))]:
        counts: Counter[str] = Counter()
        for fault, fate in judge_faults(path, known):
            counts[fate] += 1
            known[name_fault(path, fault)] = fate
            if fate == SAFE:
                print(name_fault(path, fault))
            if record:
                record.write_text(json.dumps(known, indent=1))
        print(f"{path.stem}: {', '.join(f'{count} {fate}' for fate, count in sorted(counts.items()))}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

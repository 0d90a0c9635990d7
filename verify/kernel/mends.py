# SPDX-License-Identifier: Apache-2.0
"""What a race may lack, and which stride a step should go by: changes of a kernel's PTX that are tried.

`mends.toml` has the instructions that are tried before the line where a race was found, `strides` has the steps. What
is shown has been tried: the kernel with the change is checked again, whole, and is verified.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from verify.core.verdict import Edit, Place, Proposal, Verdict
from verify.core.verified_repair import settle
from verify.kernel.claims.launch import Launch
from verify.kernel.ptx.parse import parse_kernel
from verify.kernel.state.findings import Finding
from verify.kernel.strides import find_register, list_swaps, swap_register

LABELS = re.compile(r"\s*(?:[\w$%.]+:(?!:)\s*)*")  # before an instruction of a line


@dataclass(frozen=True)
class Mending:
    """The PTX of a kernel that is wrong, and how a change of it is tried."""

    ptx: str  # of the kernel, whole
    confirms: Callable[[str], bool]  # whether a kernel is verified, given its PTX
    file: str = ""  # which has this PTX; empty if it was compiled, or came as a text
    entry: str = ""  # the name of the kernel in it
    launch: Launch | None = None  # whose arrays have strides
    good: str = "verified"  # what a kernel is that has no fault: SAFE where nothing is claimed of its values


def mend(verdicts: Sequence[Verdict], mending: Mending | None) -> list[Verdict]:
    """Return verdicts with the repairs under which the kernel is verified; what these explain is a consequence."""
    return list(verdicts) if mending is None else settle(verdicts, mending.ptx, mending.confirms)


def propose(findings: Sequence[Finding], mending: Mending | None = None) -> tuple[Proposal, ...]:
    """Return what may be missing before the instruction of the first finding; in the user's file too, if it is PTX.

    Where others of its kind come from the same place of the source, as in a loop that was unrolled, before them too.
    """
    first = findings[0]
    row = _rows().get(first.kind)
    if row is None or not first.line:
        return _propose_steps(findings, mending)
    alike = [
        finding.line
        for finding in findings
        if finding.kind == first.kind and (finding.source, finding.column) == first[5:7]
    ]
    lines = sorted(alike) if first.source else [first.line]
    ptx = f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}"
    where = f"{first.source} (PTX {ptx})" if first.source else ptx
    cuda = f" ({row['cuda']})" if "cuda" in row else ""
    words = f"{row['missing']}: with {row['insert'].rstrip(';')}{cuda} before {where} the kernel is "
    words += mending.good if mending is not None else "verified"
    edits: tuple[Edit, ...] = ()
    if mending is not None and mending.file:
        places = [Place(mending.file, line, find_begin(line, mending.ptx) + 1) for line in lines]
        edits = tuple(Edit(place, place, f"{row['insert']} ") for place in places)
    return (Proposal(words, partial(insert_before, lines, row["insert"]), edits),)


def _propose_steps(findings: Sequence[Finding], mending: Mending | None) -> tuple[Proposal, ...]:
    """Return the steps of an array that a finding names, by another of its strides."""
    if mending is None or mending.launch is None:
        return ()
    kernel, made = parse_kernel(mending.ptx, mending.entry), []
    for swap in list_swaps(kernel, mending.launch, " ".join(finding.text for finding in findings)):
        inst = next(each for each in kernel.instructions if each.line == swap.lines[0])
        ptx = f"line{'s' * (len(swap.lines) > 1)} {', '.join(map(str, swap.lines))}"
        where = (
            f"{Path(kernel.files.get(inst.source[0], '')).name}:{inst.source[1]} (PTX {ptx})" if inst.source else ptx
        )
        edits: tuple[Edit, ...] = ()
        if mending.file:
            text = mending.ptx.split("\n")
            spans = [(line, *find_register(text[line - 1], swap.old)) for line in swap.lines]
            edits = tuple(
                Edit(Place(mending.file, line, at + 1), Place(mending.file, line, end + 1), swap.new)
                for line, at, end in spans
            )
        words = f"{swap.words}: with that at {where} the kernel is {mending.good}"
        made.append(Proposal(words, partial(swap_register, swap=swap), edits))
    return tuple(made)


def insert_before(numbers: Sequence[int], text: str, ptx: str) -> str:
    r"""Return PTX with instructions before those that begin in some lines, whose numbers stay.

    >>> insert_before([2], "bar.sync 0;", "add;\n$L1: @%p1 st.shared;")
    'add;\n$L1: bar.sync 0; @%p1 st.shared;'
    """
    lines = ptx.split("\n")
    for line in numbers:
        at = find_begin(line, ptx)
        lines[line - 1] = f"{lines[line - 1][:at]}{text} {lines[line - 1][at:]}"
    return "\n".join(lines)


def find_begin(line: int, ptx: str) -> int:
    """Return how many characters of a line, from 1, stand before its instruction: blanks and labels."""
    begin = LABELS.match(ptx.split("\n")[line - 1])
    return begin.end() if begin is not None else 0


@cache
def _rows() -> Mapping[str, Mapping[str, str]]:
    rows: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return rows

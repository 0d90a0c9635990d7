# SPDX-License-Identifier: Apache-2.0
"""The mutation campaign: edits of right kernels, what the check says of each, and why those that it accepts are right.

An edit that is accepted is equivalent where ptxas makes the same machine code of both texts, without effect where no
thread executes the edited line at these sizes, nothing reads its result, any other result is accepted too, or it writes
the same numbers. All others are listed: each is a wrong kernel that was accepted, or one without a reason so far.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from unittest.mock import patch

import numpy as np

from benchmarks.kernels.edits import Edit, body, drawn, planted
from verify.core.errors import UsageError
from verify.kernel.check import Outcome, check
from verify.kernel.claim import claim_of
from verify.kernel.machine import Machine
from verify.kernel.registers import Word
from verify.kernel.values import Mask

CORPUS = Path(__file__).parents[2] / "tests" / "kernels" / "compiled"
MOST = 12  # planted edits of each class that a kernel gets, spread over its lines
ACCEPTED = "VERIFIED"


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one edit of one kernel."""

    kernel: str
    edit: Edit
    status: str  # VERIFIED, REFUTED, UNKNOWN, or rejected: the text is no PTX any more
    finding: str  # the first, in words
    reason: str = ""  # of an accepted one, empty where none is known

    @property
    def open(self) -> bool:
        """Whether the edit was accepted and nothing shows that it may be."""
        return self.status == ACCEPTED and not self.reason


def edits_of(text: str, random: int, seed: int) -> list[Edit]:
    """The planted edits of a kernel, at most MOST of each class, and random ones."""
    by_class: dict[str, list[Edit]] = {}
    for edit in planted(text):
        by_class.setdefault(edit.sort, []).append(edit)
    spread = [one for found in by_class.values() for one in found[:: -(-len(found) // MOST)]]
    return [*spread, *drawn(text, random, seed)]


def fate(kernel: str, text: str, claim: str, edit: Edit) -> Fate:
    """Check one edited kernel."""
    try:
        outcomes = _checked(edit.on(text), claim)
    except UsageError as error:
        return Fate(kernel, edit, "rejected", str(error))
    worst = next((one for one in outcomes if one.status != ACCEPTED), outcomes[0])
    finding = f"line {worst.findings[0].line}: {worst.findings[0].text}" if worst.findings else ""
    reason = ""
    if worst.status == ACCEPTED:
        reason = "a warning" if worst.findings else reason_of(text, claim, edit)
    return Fate(kernel, edit, worst.status, finding, reason)


def reason_of(text: str, claim: str, edit: Edit) -> str:
    """Why an accepted edit may be accepted, empty where nothing shows it."""
    idle = [(lines, live(text, frozenset(lines))) for lines in never_run(text, claim)]
    if all(edit.line in lines for lines, _ in idle):
        return "never ran"
    if all(edit.line not in used for _, used in idle) and destinations(edit.new) <= destinations(edit.old):
        return "never read"
    if same_code(text, edit.on(text)):
        return "same machine code"
    if edit.new and written(text, claim, edit.line) == written(edit.on(text), claim, edit.line):
        return "same numbers"
    return "result without effect" if _any_result(text, claim, edit) else ""


def written(text: str, claim: str, line: int) -> str:
    """A digest of all that the interpretation writes to registers at one line, in order."""
    found = sha256()
    put = Machine.put

    def noted(machine: Machine, index: int, word: Word, mask: Mask | None) -> None:
        if machine.findings.line == line:
            rows = np.arange(machine.count) if mask is None else np.flatnonzero(mask)
            found.update(np.broadcast_to(word.bits, machine.count)[rows].tobytes())
            if word.labels is not None:
                labels = np.broadcast_to(word.labels, (machine.count, word.labels.shape[1]))
                found.update(labels[rows].tobytes())
        put(machine, index, word, mask)

    with patch.object(Machine, "put", noted):
        _checked(text, claim, seed=1)
    return found.hexdigest()


_ANYTHING = {"%r": "mov.b32 {}, 0x40E12345;", "%f": "mov.f32 {}, 0f40E12345;", "%rs": "mov.b16 {}, 0x4321;",
             "%rd": "mov.b64 {}, 0x40E1234567890ABC;", "%fd": "mov.f64 {}, 0d40E1234567890ABC;"}  # fmt: skip


def _any_result(text: str, claim: str, edit: Edit) -> bool:
    """Whether the kernel is accepted with a number that means nothing in place of the line's result."""
    registers = destinations(edit.old)
    if len(registers) != 1 or not destinations(edit.new) <= registers:
        return False
    (register,) = registers
    form = _ANYTHING.get(register.rstrip("0123456789"))
    if form is None:
        return False
    anything = Edit(edit.line, edit.sort, edit.old, form.format(register))
    return all(one.status == ACCEPTED for one in _checked(anything.on(text), claim))


def _checked(text: str, claim: str, seed: int | None = None) -> list[Outcome]:
    return check(text, claim_of(tomllib.loads(claim)), seed=seed)


def destinations(line: str) -> frozenset[str]:
    """The registers that an instruction writes; all that it names where it does more than that."""
    words = re.sub(r"^\s*@!?%\w+\s+", "", line).strip()
    registers = re.findall(r"%[a-z]+\d+", words)
    if re.match(r"(st|red|atom|bar|barrier|bra|cp|mbarrier|wgmma|mma|stmatrix|fence|ret|@)\b", words) or "{" in words:
        return frozenset(registers)
    return frozenset(registers[:1])


@lru_cache(maxsize=4)
def live(text: str, idle: frozenset[int]) -> frozenset[int]:
    """The lines that ran and whose results are stored, compared for a branch, or read by such a line."""
    lines = [(number, line) for number, line in body(text) if number not in idle]
    wanted: set[str] = set()
    found: set[int] = set()
    while True:
        before = len(found)
        for number, line in reversed(lines):
            named = frozenset(re.findall(r"%[a-z]+\d+", line))
            written = destinations(line)
            effect = len(written) != 1 or re.match(r"\s*@", line) is not None
            if effect or written & wanted:
                found.add(number)
                wanted |= named
        if len(found) == before:
            return frozenset(found)


@lru_cache(maxsize=4)
def never_run(text: str, claim: str) -> tuple[tuple[int, ...], ...]:
    """By launch, the lines of the right kernel that no thread executes."""
    return tuple(one.never_ran for one in _checked(text, claim))


def same_code(one: str, other: str) -> bool:
    """Whether ptxas makes the same machine code of two texts; false where it is not at hand or rejects one."""
    if shutil.which("ptxas") is None:
        return False
    made = [machine_code(text) for text in (one, other)]
    return made[0] is not None and made[0] == made[1]


def machine_code(text: str) -> bytes | None:
    """What ptxas makes of a text; None where it rejects it."""
    target = re.search(r"^\s*\.target\s+(\w+)", text, re.MULTILINE)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "kernel.ptx").write_text(text)
        command = ["ptxas", f"-arch={target[1] if target else 'sm_80'}", "kernel.ptx", "-o", "kernel.cubin"]
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
        return None if done.returncode else (Path(folder) / "kernel.cubin").read_bytes()


def campaign(kernels: Sequence[Path], random: int, seed: int, processes: int) -> Iterator[Fate]:
    """The fate of every edit of some kernels of a folder, each `NAME.ptx` beside its `NAME.toml`."""
    with ProcessPoolExecutor(processes) as pool:
        waiting = [
            pool.submit(fate, path.stem, text, path.with_suffix(".toml").read_text(), edit)
            for path in kernels
            for text in [path.read_text()]
            for edit in edits_of(text, random, seed)
        ]
        for one in waiting:
            yield one.result()


def summary(fates: Iterable[Fate]) -> list[str]:
    """A line for each class: how many were refuted, not understood, accepted with a reason, and left."""
    by_class: dict[str, Counter[str]] = {}
    for one in fates:
        status = "open" if one.open else one.reason or one.status
        by_class.setdefault(one.edit.sort, Counter())[status] += 1
    lines = []
    for sort, counts in sorted(by_class.items()):
        every = sum(counts.values())
        said = ", ".join(f"{count} {status}" for status, count in counts.most_common())
        lines.append(f"{sort:<12} {every:>5} edits: {said}")
    return lines


def record(fates: Sequence[Fate], path: Path) -> None:
    """Write every fate as a line of JSON."""
    path.write_text("".join(json.dumps(asdict(one)) + "\n" for one in fates), encoding="utf-8")

# SPDX-License-Identifier: Apache-2.0
"""Why an edited kernel that the check accepts may be accepted, each found by a machine.

No thread executes the edited line at these sizes, nothing reads its result, ptxas makes the same machine code of both
texts or rejects the edited one, the row of its opcode says that the change has no effect, it writes the same numbers,
or all that read its result do, any other result of the line is accepted too, a variable lies where it lay, or a barrier
of all threads has another number.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.kernels.edits import Edit, body
from benchmarks.kernels.meanings import excuse
from verify.kernel.check import BUDGET, LaunchOutcome, check
from verify.kernel.claims.claim import claim_of
from verify.kernel.data.registers import Word
from verify.kernel.data.values import Mask
from verify.kernel.interpretation import Interpretation
from verify.kernel.ptx.parse import parse_kernel
from verify.kernel.state.findings import WARNINGS, Finding, Severity
from verify.kernel.state.global_memory import Global
from verify.kernel.state.machine import Machine
from verify.kernel.state.memory import Shared
from verify.kernel.state.placement import Placement

ACCEPTED = "VERIFIED"
SAME_CODE = "same machine code"
NOT_ASSEMBLED = "not assembled"
NO_EFFECT = "no effect"
SAME_PLACE = "same place"
SAME_READ = "same numbers where it is read"
OTHER_BARRIER = "another free barrier"
_READERS = 4  # lines at most that read a result


def reason_of(text: str, claim: str, edit: Edit) -> str:
    """Return why an accepted edit may be accepted; "" if nothing shows it."""
    reason = _idle(text, claim, edit) or assembled(text, edit.on(text)) or (NO_EFFECT if excuse(edit) else "")
    if reason:
        return reason
    numbers = written(text, claim, edit.line) if edit.new else ""
    if numbers and numbers == written(edit.on(text), claim, edit.line):
        return "same numbers"
    if _same_for_readers(text, claim, edit):
        return SAME_READ
    if renames_barrier(text, edit):
        return OTHER_BARRIER
    if edit.sort == "alignments":
        return SAME_PLACE if _places(text, claim) == _places(edit.on(text), claim) else ""
    return "result without effect" if _any_result(text, claim, edit) else ""


def _idle(text: str, claim: str, edit: Edit) -> str:
    """Return whether no thread executes the line, or nothing reads its result; "" otherwise."""
    idle = [(outcome.never_ran, live(text, frozenset(outcome.never_ran))) for outcome in right(text, claim)]
    if all(edit.line in lines for lines, _ in idle):
        return "never ran"
    known = any(number == edit.line for number, _ in body(text))  # `live` has no other lines
    if known and all(edit.line not in used for _, used in idle) and destinations(edit.new) <= destinations(edit.old):
        return "never read"
    return ""


def written(text: str, claim: str, line: int) -> str:
    """Return a digest of what the interpretation writes at one line, in order; empty if it writes nothing.

    What the next instruction of the line overwrites is left out, and -0 is 0.
    """
    digest, wrote = sha256(), False
    held: tuple[int, int, list[bytes]] | None = None  # the step and the register of the last write
    put, to_global, to_shared = Machine.write, Global.write, Shared.write

    def keep(parts: Sequence[np.ndarray]) -> None:
        nonlocal wrote
        wrote = True
        digest.update(b"".join(part.tobytes() for part in parts))

    def note_register(machine: Machine, index: int, word: Word, mask: Mask | None) -> None:
        nonlocal held
        if machine.findings.line == line:
            rows = np.arange(machine.count) if mask is None else np.flatnonzero(mask)
            known = machine.kernel.registers
            zero = _NEGATIVE_ZEROS.get(known[index]) if index < len(known) else None  # the carry is behind all others
            bits = word.bits if zero is None else np.where(word.bits == zero, np.uint64(0), word.bits)
            parts = [np.broadcast_to(bits, machine.count)[rows]]
            if word.labels is not None:
                parts.append(np.broadcast_to(word.labels, (machine.count, word.labels.shape[1]))[rows])
            if held is not None and held[:2] != (machine.steps - 1, index):
                digest.update(b"".join(held[2]))
            held = machine.steps, index, [part.tobytes() for part in parts]
        put(machine, index, word, mask)

    def note_global(memory: Global, *parts: Any, **ways: Any) -> Any:
        if memory.findings.line == line:
            keep(parts[:4])
        return to_global(memory, *parts, **ways)

    def note_shared(memory: Shared, *parts: Any) -> None:
        if memory.findings.line == line:
            keep(parts)
        to_shared(memory, *parts)

    with (
        patch.object(Machine, "write", note_register),
        patch.object(Global, "write", note_global),
        patch.object(Shared, "write", note_shared),
    ):
        check(text, claim_of(tomllib.loads(claim)), seed=1)
    if held is not None:
        digest.update(b"".join(held[2]))
    return digest.hexdigest() if wrote or held is not None else ""


def _same_for_readers(text: str, claim: str, edit: Edit) -> bool:
    """Whether every line that reads the edited line's result writes the same numbers."""
    registers = destinations(edit.old)
    if len(registers) != 1 or destinations(edit.new) != registers:
        return False
    (register,) = registers
    named = re.compile(rf"{re.escape(register)}\b")
    readers = [
        number
        for number, line in enumerate(text.splitlines(), 1)
        if number != edit.line and named.search(line) and not line.lstrip().startswith(("//", "."))
    ]
    single = {number for number, _ in body(text)}
    if not readers or len(readers) > _READERS or not single.issuperset(readers):
        return False
    before, after = ([written(version, claim, number) for number in readers] for version in (text, edit.on(text)))
    return all(before) and before == after


_BARRIER = re.compile(r"^\s*(bar(?:rier)?\.(?:cta\.)?sync(?:\.aligned)?)\s+(\d+);")


def renames_barrier(text: str, edit: Edit) -> bool:
    """Whether an edit gives a barrier of all threads a number that no other line has.

    A kernel that is accepted has no thread that waits for ever, so all of them come there.

    >>> renames_barrier("bar.sync 0;\\nbar.sync 0;", Edit(1, "random", "bar.sync 0;", "bar.sync 4;"))
    True
    """
    old, new = (_BARRIER.match(line) for line in (edit.old, edit.new))
    if old is None or new is None or old[1] != new[1]:
        return False
    rest = [line for number, line in enumerate(text.splitlines(), 1) if number != edit.line]
    barriers = [
        match for line in rest if re.match(r"\s*(@!?%\w+\s+)?bar(rier)?\.", line) for match in [_BARRIER.match(line)]
    ]
    return all(match is not None and match[2] != new[2] for match in barriers)


_NEGATIVE_ZEROS = {"f32": np.uint64(1 << 31), "f64": np.uint64(1 << 63)}
_ANYTHING = {"%r": "mov.b32 {}, 0x40E12345;", "%f": "mov.f32 {}, 0f40E12345;", "%rs": "mov.b16 {}, 0x4321;",
             "%rd": "mov.b64 {}, 0x40E1234567890ABC;", "%fd": "mov.f64 {}, 0d40E1234567890ABC;"}  # fmt: skip


def _places(text: str, claim: str) -> list[dict[str, int]]:
    """Return where the variables of shared memory lie in each launch."""
    given = claim_of(tomllib.loads(claim))
    kernel = parse_kernel(text, given.kernel)
    return [Placement(kernel, launch.smem, launch.smem_align).symbols for launch in given.launches]


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
    try:
        return all(outcome.status == ACCEPTED for outcome in checked(anything, text, claim))
    except Refuted:
        return False


@lru_cache(maxsize=4)
def right(text: str, claim: str) -> list[LaunchOutcome]:
    """The outcomes of the right kernel."""
    return check(text, claim_of(tomllib.loads(claim)))


class Refuted(Exception):
    """The end of a check by a finding that refutes, whatever the rest of the kernel does."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.text)
        self.finding = finding


class Hasty(Interpretation):
    """An interpretation that ends at the first finding that refutes: the status is known, and nothing else is counted.

    Races alone can be withdrawn, so that after one the kernel is executed to its end.
    """

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        add = self.findings.add

        def end(kind: str, severity: Severity, text: str, section: str = "") -> None:
            add(kind, severity, text, section)
            if severity not in _GO_ON:
                raise Refuted(self.findings.reported[kind, self.findings.line])

        self.findings.add = end  # type: ignore[method-assign]


_GO_ON = WARNINGS | {Severity.UNKNOWN, Severity.RACE}


def checked(edit: Edit, text: str, claim: str) -> list[LaunchOutcome]:
    """Return the outcomes of an edited kernel, which may execute four times as much as the right one; or raise Refuted.

    What is wrong is not explained: the explanation takes as long as the check, and the status rests on the elements.
    """
    budget = min(BUDGET, 4 * max(outcome.steps for outcome in right(text, claim)) + 1000)
    home = "verify.kernel"
    with patch(f"{home}.check.Interpretation", Hasty), patch(f"{home}.explain.explain", lambda *parts: ([], None)):
        return check(edit.on(text), claim_of(tomllib.loads(claim)), budget=budget)


_EFFECT = re.compile(r"(st|red|atom|bar|barrier|bra|cp|mbarrier|wgmma|mma|stmatrix|tcgen05|fence|ret|@)\b")


def destinations(line: str) -> frozenset[str]:
    """The registers that an instruction writes; all that it names where it does more than that."""
    words = re.sub(r"^\s*@!?%\w+\s+", "", line).strip()
    registers = re.findall(r"%[a-z]+\d+", words)
    if _EFFECT.match(words) or "{" in words:
        return frozenset(registers)
    return frozenset(registers[:1])


@lru_cache(maxsize=4)
def live(text: str, idle: frozenset[int]) -> frozenset[int]:
    """The lines that ran and whose results are stored, compared for a branch, or read by such a line."""
    single = {number for number, _ in body(text)}  # all others have several instructions, or a part of one
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1)
             if number not in idle and ";" in line and not line.lstrip().startswith(("//", "."))]  # fmt: skip
    wanted: set[str] = set()
    used: set[int] = set()
    while True:
        before = len(used)
        for number, line in reversed(lines):
            named = frozenset(re.findall(r"%[a-z]+\d+", line))
            written = destinations(line)
            effect = number not in single or len(written) != 1 or _EFFECT.match(line.lstrip()) is not None
            if effect or written & wanted:
                used.add(number)
                wanted |= named
        if len(used) == before:
            return frozenset(used)


def assembled(text: str, edited: str) -> str:
    """Whether ptxas makes the same machine code of two texts or rejects the second; empty where it is not at hand."""
    if shutil.which("ptxas") is None:
        return ""
    code, changed = machine_code(text), machine_code(edited)
    if code is None:
        return ""
    return NOT_ASSEMBLED if changed is None else SAME_CODE if code == changed else ""


@lru_cache(maxsize=4)
def machine_code(text: str) -> bytes | None:
    """What ptxas makes of a text; None where it rejects it."""
    target = re.search(r"^\s*\.target\s+(\w+)", text, re.MULTILINE)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "kernel.ptx").write_text(text)
        command = ["ptxas", f"-arch={target[1] if target else 'sm_80'}", "kernel.ptx", "-o", "kernel.cubin"]
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
        return None if done.returncode else (Path(folder) / "kernel.cubin").read_bytes()

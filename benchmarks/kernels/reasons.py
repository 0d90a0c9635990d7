# SPDX-License-Identifier: Apache-2.0
"""Why an edited kernel that the check accepts may be accepted, each found by a machine.

No thread executes the edited line at these sizes, nothing reads its result, ptxas makes the same machine code of both
texts or rejects the edited one, it writes the same numbers, or any other result of the line is accepted too.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import tomllib
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from unittest.mock import patch

import numpy as np

from benchmarks.kernels.edits import Edit, body
from verify.kernel.check import BUDGET, Outcome, check
from verify.kernel.claims.claim import claim_of
from verify.kernel.data.registers import Word
from verify.kernel.data.values import Mask
from verify.kernel.state.machine import Machine

ACCEPTED = "VERIFIED"
SAME_CODE = "same machine code"
NOT_ASSEMBLED = "not assembled"


def reason_of(text: str, claim: str, edit: Edit) -> str:
    """Why an accepted edit may be accepted, empty where nothing shows it."""
    idle = [(one.never_ran, live(text, frozenset(one.never_ran))) for one in right(text, claim)]
    if all(edit.line in lines for lines, _ in idle):
        return "never ran"
    if all(edit.line not in used for _, used in idle) and destinations(edit.new) <= destinations(edit.old):
        return "never read"
    if code := assembled(text, edit.on(text)):
        return code
    numbers = written(text, claim, edit.line) if edit.new else ""
    if numbers and numbers == written(edit.on(text), claim, edit.line):
        return "same numbers"
    return "result without effect" if _any_result(text, claim, edit) else ""


def written(text: str, claim: str, line: int) -> str:
    """A digest of all that the interpretation writes to registers at one line, in order; empty where it writes none."""
    found, wrote = sha256(), False
    put = Machine.put

    def noted(machine: Machine, index: int, word: Word, mask: Mask | None) -> None:
        nonlocal wrote
        if machine.findings.line == line:
            wrote = True
            rows = np.arange(machine.count) if mask is None else np.flatnonzero(mask)
            found.update(np.broadcast_to(word.bits, machine.count)[rows].tobytes())
            if word.labels is not None:
                labels = np.broadcast_to(word.labels, (machine.count, word.labels.shape[1]))
                found.update(labels[rows].tobytes())
        put(machine, index, word, mask)

    with patch.object(Machine, "put", noted):
        check(text, claim_of(tomllib.loads(claim)), seed=1)
    return found.hexdigest() if wrote else ""


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
    return all(one.status == ACCEPTED for one in checked(anything, text, claim))


@lru_cache(maxsize=4)
def right(text: str, claim: str) -> list[Outcome]:
    """The outcomes of the right kernel."""
    return check(text, claim_of(tomllib.loads(claim)))


def checked(edit: Edit, text: str, claim: str) -> list[Outcome]:
    """The outcomes of an edited kernel, which may execute four times as much as the right one."""
    budget = min(BUDGET, 4 * max(one.steps for one in right(text, claim)) + 1000)
    return check(edit.on(text), claim_of(tomllib.loads(claim)), budget=budget)


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


def assembled(text: str, edited: str) -> str:
    """Whether ptxas makes the same machine code of two texts or rejects the second; empty where it is not at hand."""
    if shutil.which("ptxas") is None:
        return ""
    code, other = machine_code(text), machine_code(edited)
    if code is None:
        return ""
    return NOT_ASSEMBLED if other is None else SAME_CODE if code == other else ""


@lru_cache(maxsize=4)
def machine_code(text: str) -> bytes | None:
    """What ptxas makes of a text; None where it rejects it."""
    target = re.search(r"^\s*\.target\s+(\w+)", text, re.MULTILINE)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "kernel.ptx").write_text(text)
        command = ["ptxas", f"-arch={target[1] if target else 'sm_80'}", "kernel.ptx", "-o", "kernel.cubin"]
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
        return None if done.returncode else (Path(folder) / "kernel.cubin").read_bytes()

# SPDX-License-Identifier: Apache-2.0
"""What became of each edit of each kernel, kept as lines of JSON: appended one by one, read again, and as a table.

A later line on an edit replaces an earlier one; a last line that was cut off is dropped, and its edit runs again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

from benchmarks.kernels.edits import Edit
from benchmarks.kernels.readings import find_reading
from benchmarks.kernels.reasons import (
    ACCEPTED,
    NO_EFFECT,
    NOT_ASSEMBLED,
    OTHER_BARRIER,
    SAME_CODE,
    SAME_PLACE,
    SAME_READ,
)

Key: TypeAlias = tuple[str, str, Edit]
SAME_OUTPUT = "same output"
DIFFERS = "differs"
READ = "read by hand"


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one edit of one kernel."""

    kernel: str
    digest: str  # of the kernel and its claim
    edit: Edit
    status: str  # VERIFIED, REFUTED, UNKNOWN; rejected: no PTX any more; crashed: the check has a defect
    finding: str = ""  # the first, in words
    reason: str = ""  # of an accepted one, empty where none is known
    gpu: str = ""  # what a GPU made of an accepted one: "same output …", "differs …", or why it did not run

    @property
    def key(self) -> Key:
        """What a later line on the same edit has too."""
        return self.kernel, self.digest, self.edit

    @property
    def accepted(self) -> bool:
        """Whether the check accepts the edited kernel."""
        return self.status == ACCEPTED

    @property
    def counted(self) -> bool:
        """Whether ptxas takes the edited text, as far as it was asked: what it rejects is no kernel."""
        return NOT_ASSEMBLED not in (self.reason, self.gpu)

    @property
    def silent(self) -> bool:
        """Whether it was accepted and no machine shows that it may be."""
        return self.accepted and not self.reason and not self.gpu.startswith(SAME_OUTPUT)

    @property
    def open(self) -> bool:
        """Whether it was accepted and nothing shows that it may be, or a GPU shows that it may not."""
        unread = self.silent and not find_reading(self.kernel, self.edit)
        return self.accepted and (unread or self.gpu.startswith(DIFFERS))

    @property
    def column(self) -> str:
        """The column of the table that counts it."""
        if self.open:
            return "open"
        if not self.accepted:
            return self.status
        return READ if self.silent else self.reason or SAME_OUTPUT


COLUMNS: Mapping[str, str] = {
    "REFUTED": "refuted",
    "UNKNOWN": "unknown",
    "rejected": "no PTX",
    "crashed": "crashed",
    SAME_CODE: "same SASS",
    "never ran": "never ran",
    "never read": "never read",
    NO_EFFECT: "no effect",
    "same numbers": "same numbers",
    SAME_READ: "same where read",
    OTHER_BARRIER: "another barrier",
    "result without effect": "any result",
    SAME_PLACE: "same place",
    "a warning": "warning only",
    SAME_OUTPUT: "same output",
    READ: "read",
    "open": "rest",
}


def digest(text: str, claim: str) -> str:
    """A name for a kernel's text with its claim."""
    return sha256(f"{text}\0{claim}".encode()).hexdigest()[:12]


def append(path: Path, fate: Fate) -> None:
    """Write a fate behind the others, at once."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(fate)) + "\n")


def kept(path: Path) -> dict[Key, Fate]:
    """The fates of a file, which loses a last line that was cut off; none where there is no file."""
    if not path.exists():
        return {}
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if whole != data:
        path.write_bytes(whole)
    fates = {}
    for line in whole.decode().splitlines():
        row = json.loads(line)
        fate = Fate(**{**row, "edit": Edit(**row["edit"])})
        fates[fate.key] = fate
    return fates


def summary(fates: Iterable[Fate], by: str = "class") -> list[str]:
    """A line for each class, or for each kernel: how many were refuted, not understood, accepted, and left."""
    counts: dict[str, Counter[str]] = {}
    for fate in (each for each in fates if each.counted):
        counts.setdefault(fate.edit.sort if by == "class" else fate.kernel, Counter())[fate.column] += 1
    lines = []
    for name, columns in sorted(counts.items()):
        said = ", ".join(f"{count} {COLUMNS[column]}" for column, count in columns.most_common())
        lines.append(f"{name:<16} {columns.total():>5} edits: {said}")
    return lines

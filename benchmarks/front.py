# SPDX-License-Identifier: Apache-2.0
"""The figures of README and home: `python -m benchmarks.front` measures both examples, and writes them there.

`front.json` has the CPU seconds of a whole command, the least of three, with the day. Seconds are another machine's
tomorrow, so a test compares what doesn't depend on the machine: the files that the command reads, what it prints (every
verdict and count), and how many functions it calls. A digest of the sources would change with each commit, although
most change no figure; while the calls are today's within `SLACK`, the record still tells how long the command takes.
"""

from __future__ import annotations

import json
import os
import platform
import pstats
import re
import resource
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import date
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "benchmarks" / "front.json"
PAGES = (ROOT / "README.md", ROOT / "docs" / "index.md")
COMMANDS = {
    "kernel": ["kernel", "examples/kernel/wrong.ptx", "--claim", "examples/kernel/matmul.toml", "--seed", "1"],
    "atom": ["atom", "SM80_16x8x16_F32F16F16F32_TN"],
}
SLACK = 0.25  # of the calls: above it the record is of other code
SENTENCE = re.compile(
    r"(the\s+wrong\s+line\s+below\s+in\s+)[\d.]+(\s+s,\s+an\s+atom\s+in\s+)[\d.]+"
    r"(\s+s\s+of\s+a\s+CPU\s+\(measured\s+)\d+ \w+ \d+(?=\))"
)


def run(name: str) -> float:
    """Return the CPU seconds of a command."""
    before = _spent()
    _run(name, [])
    return _spent() - before


def profile(name: str) -> tuple[int, str]:
    """Return the number of functions that a command calls, which is the same on every machine, and what it prints."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "calls")
        printed = _run(name, ["-m", "cProfile", "-o", str(file)])
        return pstats.Stats(str(file)).total_calls, printed  # type: ignore[attr-defined]


def _run(name: str, by: list[str]) -> str:
    environment = {**os.environ, "COLUMNS": "100", "PYTHONHASHSEED": "0"}
    command = [sys.executable, *by, "-m", "verify", *COMMANDS[name]]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False).stdout


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def digests(name: str, printed: str) -> dict[str, str]:
    """Return the digest of each file that a command names, and of what it printed."""
    files = {word: (ROOT / word).read_bytes() for word in COMMANDS[name] if (ROOT / word).is_file()}
    return {of: sha256(content).hexdigest()[:16] for of, content in {**files, "stdout": printed.encode()}.items()}


def stale(recorded: Mapping[str, Any], name: str, calls: int, printed: str) -> list[str]:
    """Say what the record of a command is older than; nothing if its figure still speaks of today's code."""
    today = digests(name, printed)
    older = [of for of in today if recorded["of"].get(of) != today[of]]
    if abs(calls / recorded["calls"] - 1) > SLACK:
        older.append(f"{recorded['calls']:,} calls then, {calls:,} today")
    return older


def load() -> Mapping[str, Any]:
    """Return the record."""
    record: Mapping[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    return record


def day() -> str:
    """Return the day of the record, as a page has it.

    >>> day().split()[-1] >= "2026"
    True
    """
    of = date.fromisoformat(load()["date"])
    return f"{of.day} {of:%B %Y}"


def fill(text: str) -> str:
    """Return a page with the figures of the record."""
    kernel, atom = (f"{load()[name]['seconds']:.1f}" for name in COMMANDS)
    return SENTENCE.sub(lambda match: f"{match[1]}{kernel}{match[2]}{atom}{match[3]}{day()}", text)


def measure() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each command with its figure, and what it was measured of."""
    for name in COMMANDS:
        seconds = min(run(name) for _ in range(3))
        calls, printed = profile(name)
        yield name, {"seconds": round(seconds, 1), "calls": calls, "of": digests(name, printed)}


if __name__ == "__main__":
    where = {"date": date.today().isoformat(), "machine": platform.machine(), "python": platform.python_version()}
    RECORD.write_text(json.dumps({**where, **dict(measure())}, indent=1) + "\n", encoding="utf-8")
    for page in PAGES:
        page.write_text(fill(page.read_text(encoding="utf-8")), encoding="utf-8")

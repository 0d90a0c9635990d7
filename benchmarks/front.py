# SPDX-License-Identifier: Apache-2.0
"""The figures of README and home: `python -m benchmarks.front` measures both examples, and writes them there.

`front.json` has the CPU seconds of a whole command, the least of three, with digests of the files that it reads and of
what it prints: a test fails if one of them is another today.
"""

from __future__ import annotations

import json
import os
import platform
import re
import resource
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "benchmarks" / "front.json"
PAGES = (ROOT / "README.md", ROOT / "docs" / "index.md")
COMMANDS = {
    "kernel": ["kernel", "examples/kernel/wrong.ptx", "--claim", "examples/kernel/matmul.toml", "--seed", "1"],
    "atom": ["atom", "SM80_16x8x16_F32F16F16F32_TN"],
}
SENTENCE = re.compile(r"(the\s+wrong\s+line\s+below\s+in\s+)[\d.]+(\s+s,\s+an\s+atom\s+in\s+)[\d.]+(?=\s+s\b)")


def run(name: str) -> tuple[float, str]:
    """Return the CPU seconds of a command, and what it printed."""
    before = _spent()
    done = subprocess.run(
        [sys.executable, "-m", "verify", *COMMANDS[name]],
        cwd=ROOT, env={**os.environ, "COLUMNS": "100"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return _spent() - before, done.stdout


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def digests(name: str, printed: str) -> dict[str, str]:
    """Return the digest of each file that a command names, and of what it printed."""
    files = {word: (ROOT / word).read_bytes() for word in COMMANDS[name] if (ROOT / word).is_file()}
    return {of: sha256(content).hexdigest()[:16] for of, content in {**files, "stdout": printed.encode()}.items()}


def load() -> Mapping[str, Any]:
    """Return the record."""
    found: Mapping[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def fill(text: str) -> str:
    """Return a page with the figures of the record."""
    seconds = [f"{load()[name]['seconds']:g}" for name in COMMANDS]
    return SENTENCE.sub(lambda found: f"{found[1]}{seconds[0]}{found[2]}{seconds[1]}", text)


def measure() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each command with its figure, and what it was measured of."""
    for name in COMMANDS:
        times, printed = zip(*(run(name) for _ in range(3)), strict=True)
        yield name, {"seconds": round(min(times), 1), "of": digests(name, printed[0])}


if __name__ == "__main__":
    where = {"date": date.today().isoformat(), "machine": platform.machine(), "python": platform.python_version()}
    RECORD.write_text(json.dumps({**where, **dict(measure())}, indent=1) + "\n", encoding="utf-8")
    for page in PAGES:
        page.write_text(fill(page.read_text(encoding="utf-8")), encoding="utf-8")

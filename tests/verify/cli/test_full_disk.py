# SPDX-License-Identifier: Apache-2.0
"""A full disk tears no file: what a command was to replace stays, and the command ends with exit 2 in one line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
RUN = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
sys.dont_write_bytecode = True  # half of a .pyc would end every later import
from {} import main
sys.exit(main(sys.argv[1:]))
"""
NAME = "SM80_16x8x16_F32F16F16F32_TN"
MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
WRITERS = {
    "a report": ("verify.__main__", ["atom", NAME, "-o", "FILE"]),
    "a lock": ("verify.__main__", ["lock", str(ROOT / "examples/maps.toml"), "--allow-exec", "--lock", "FILE"]),
    "a picture": ("verify.__main__", ["show", NAME, "--svg", "-o", "FILE"]),
    "the atlas": ("verify.__main__", ["atlas", NAME, "--checks", "isa", "--write", "."]),
    "an export": ("verify.__main__", ["export", "-o", "FILE"]),
    "a map": ("gpu_checks.discover.command", [MMA, "-o", "FILE"]),
    "a record of laws": ("gpu_checks.laws", ["SWIZZLE_TILE", "--cpu", "--cases", "9", "-o", "FILE"]),
}


@pytest.mark.long
@pytest.mark.parametrize("what", WRITERS)
def test_a_file_that_was_there_is_whole_after_a_full_disk(what: str, tmp_path: Path) -> None:
    module, words = WRITERS[what]
    name = "atlas.md" if what == "the atlas" else "file"
    file = tmp_path / name
    file.write_text("reviewed\n")
    words = [word.replace("FILE", str(file)) for word in words]
    done = subprocess.run(
        [sys.executable, "-c", RUN.format(module), *words],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stdout + done.stderr
    assert "File too large" in done.stderr and len(done.stderr.splitlines()) == 1 and "Traceback" not in done.stderr
    assert file.read_text() == "reviewed\n" and [path.name for path in tmp_path.iterdir()] == [name]

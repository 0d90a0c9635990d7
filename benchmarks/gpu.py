# SPDX-License-Identifier: Apache-2.0
"""On a GPU: probing everything that it runs, and evaluating whole domains against filling an array.

A probe has a target in seconds on the named GPU alone. Each round is of a folder without compiled kernels, and of the
same folder with them. The kernels of whole domains are run several times in a row, so that what is compared is the
work of the GPU.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import gpu_checks
from benchmarks.absolute import SAMPLES, Absolute, Unmeasured
from benchmarks.batched import LAYOUT
from benchmarks.paired import Figure, paired
from benchmarks.programs import Observed, ProgramFailed, observed, program
from layouts import Layout, size
from layouts.batched import batch

NAMED = "NVIDIA H200"
TARGETS = (20.0, 10.0)  # seconds on it: nothing compiled before, and compiled kernels kept
KEPT = ("LANECHECK_CACHE", "CUPY_CACHE_DIR", "CUDA_CACHE_PATH")  # where compiled kernels are kept; the last is NVRTC's
LARGER = Layout(((10, 20), (250, (40, 50))), ((500, 5000), (1, (100_000, 4_000_000))))  # 1e8 points
IN_A_ROW = 20
ROOT = Path(__file__).parents[1]


def figures(record: Path | None = None) -> Iterator[Figure | Absolute]:
    """The figures; those of the probe are appended to a file of records too, where one is named."""
    device = gpu_checks.device_info()
    if isinstance(device, gpu_checks.Unavailable):
        raise Unmeasured(device.reason)
    if record and device.gpu != NAMED:
        raise ValueError(f"seconds are recorded of an {NAMED} alone; the GPU of this machine is {device.gpu}")
    if record:
        record.touch()  # before minutes of work, not after them
    runs = [*probes()]
    if record:
        append(record, recorded(device, runs))
    targets = TARGETS if device.gpu == NAMED else (None, None)
    whats = ("nothing compiled before", "compiled kernels kept")
    for what, turns, target in zip(whats, zip(*runs, strict=True), targets, strict=True):
        name = f"{device.gpu}: probe --all, {what}"
        yield Absolute(name, tuple(turn.wall for turn in turns), "s", target, "median")
    if not record:
        yield from domains()


def probes() -> Iterator[tuple[Observed, Observed]]:
    """Probes of everything in a folder without compiled kernels, and again."""
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(SAMPLES):
            yield probe(f"{folder}/{turn}"), probe(f"{folder}/{turn}")


def probe(kept: str) -> Observed:
    """The whole command, its compiled kernels kept in a folder; RuntimeError where it has recorded nothing."""
    words = ("-m", "gpu_checks.probe", "--all", "-q", "--allow-unchecked", "-o", f"{kept}/recordings")
    observation = observed(*words, **dict.fromkeys(KEPT, kept))
    if not instructions(observation):
        raise RuntimeError("the probe has recorded no instruction")
    return observation


def instructions(observation: Observed) -> int:
    """How many instructions a probe has recorded, by its summary."""
    counted = re.search(r"^(\d+) recorded", observation.output, re.MULTILINE)
    return int(counted[1]) if counted else 0


def recorded(info: gpu_checks.DeviceInfo, runs: list[tuple[Observed, Observed]]) -> dict[str, Any]:
    """What is known of probes: when and where they ran, which code; the seconds of each by the clock."""
    columns = {
        f"{what}_wall": [round(turn.wall, 1) for turn in turns]
        for what, turns in zip(("compiling", "kept"), zip(*runs, strict=True), strict=True)
    }
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "commit": commit(),
        "gpu": info.gpu,
        "driver": info.driver,
        "cuda": info.cuda,
        "nvrtc": info.nvrtc,
        "cores": os.cpu_count(),
        "instructions": instructions(runs[0][0]),
        **columns,
    }


def commit() -> str:
    """The commit of this checkout, with -dirty where a file was changed; of a copy without history GITHUB_SHA."""
    words = ("git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*")
    try:
        return program(*words)().stdout.strip()
    except (OSError, ProgramFailed):
        return os.environ.get("GITHUB_SHA", "")


def append(file: Path, run: dict[str, Any]) -> None:
    """Append a record to a TOML file: what JSON writes of texts, numbers and lists of numbers is TOML."""
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in run.items()]
    with file.open("a", encoding="utf-8") as opened:
        opened.write("\n".join(["", "[[run]]", *lines, ""]))


def domains() -> Iterator[Figure]:
    """All points of a layout on the GPU, against a kernel that fills an array."""
    xp = importlib.import_module("cupy")
    for name, layout in (("1e7", LAYOUT), ("1e8", LARGER)):
        fill = in_a_row(xp, partial(xp.full, (size(layout),), 7, dtype=xp.int64))
        run = in_a_row(xp, batch(layout, xp).values)
        yield paired(f"{name} points of rank 5, on a GPU", run, "a fill kernel", fill, 1.5)


def in_a_row(xp: Any, body: Callable[[], object]) -> Callable[[], None]:
    """A function that runs another several times and waits for the last."""

    def runs() -> None:
        for _ in range(IN_A_ROW):
            body()
        xp.cuda.get_current_stream().synchronize()

    return runs

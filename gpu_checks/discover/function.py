# SPDX-License-Identifier: Apache-2.0
"""The map of a user's `__device__` function: it is called for every lane and value, on the GPU, as a black box.

The function takes (int lane, int i). It returns row and column as .x and .y (int2), as .row and .col, or as a tuple;
or it takes two more arguments for them, references or pointers to int or unsigned. Thread l of one block is lane l, so
a function may read threadIdx.x too. The file is compiled with NVRTC and runs in a watched process.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpu_checks.arrays import np
from gpu_checks.device.cuda import compile_cubin, load
from gpu_checks.discover.found_map import FoundMap
from gpu_checks.kernels.templates import beside
from gpu_checks.model import Labels, Unavailable, Unsupported
from gpu_checks.record import Bench
from gpu_checks.worker import Worker

FORMS = (
    "expected a function (int lane, int i) that returns int2, .row and .col or a tuple, "
    "or (int lane, int i, int& row, int& col)"
)
NAME = re.compile(r"(?:::)?[A-Za-z_]\w*(?:::[A-Za-z_]\w*|<[\w:, ]*>)*")
# 1024 lanes are the most threads of a block; the others bound the arrays: a file, points, and a coordinate (an int).
MOST_BYTES, MOST_LANES, MOST_POINTS, LARGEST = 4 << 20, 1024, 1 << 20, 1 << 31
UNSET = 0x5EA15E75  # what an argument by reference has before the call
_CUDA = beside(__file__)


@dataclass(frozen=True, slots=True)
class FileFunction:
    """A function of a file, and for how many lanes and values it is called."""

    path: Path  # of the file
    name: str  # of the function, with its namespaces
    lanes: int  # threads of the block
    values: int  # of a lane
    include: tuple[str, ...] = ()  # folders of headers
    define: tuple[str, ...] = ()  # macros, NAME or NAME=TEXT

    def text(self) -> str:
        """Return the CUDA text: the user's, then the kernel that calls the function.

        Raises ValueError for what cannot be read.
        """
        if not NAME.fullmatch(self.name):
            raise ValueError(f"{self.name!r:.60} isn't a name of a function; expected FILE.cu::function")
        if not 0 < self.lanes <= MOST_LANES or not 0 < self.values * self.lanes <= MOST_POINTS:
            most = f"{MOST_LANES} lanes, {MOST_POINTS} points"
            raise ValueError(f"{self.lanes} lanes of {self.values} values: expected at least 1 each, at most {most}")
        try:
            with self.path.open("rb") as stream:
                raw = stream.read(MOST_BYTES + 1)
            given = raw.decode("utf-8-sig")
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ValueError(f"{self.path} cannot be read: {reason}") from error
        if len(raw) > MOST_BYTES or "\0" in given:
            raise ValueError(f"{self.path} is no CUDA text of at most {MOST_BYTES >> 20} MiB")
        harness = _CUDA["harness"].substitute(
            name=self.name, values=self.values, unset=UNSET, forms=f"{self.name}: {FORMS}"
        )
        shown = str(self.path).replace("\\", "\\\\").replace('"', '\\"')
        return f'#line 1 "{shown}"\n{given}\n{harness}'

    def options(self) -> tuple[str, ...]:
        """Return the options of the compiler: folders of headers, the file's own first, and macros.

        Functions without an execution space are taken for device functions: CuTe's headers have some.
        """
        folders = [self.path.resolve().parent, *self.include, *_cuda_headers()]
        return ("-default-device", *(f"-I{folder}" for folder in folders), *(f"-D{macro}" for macro in self.define))


def _cuda_headers() -> list[Path]:
    """Return the folders of CUDA's own headers: of the wheels that CuPy's `ctk` brings, then of a toolkit."""
    wheels = importlib.util.find_spec("nvidia")
    roots = [
        folder for place in (wheels and wheels.submodule_search_locations) or () for folder in Path(place).iterdir()
    ]
    named = (os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME"), "/usr/local/cuda")
    roots = [*sorted(roots), *(Path(home) for home in named if home)]
    every = [folder for root in roots for folder in (root / "include", root / "include" / "cccl")]
    return [folder for folder in dict.fromkeys(every) if folder.is_dir()]


@dataclass(frozen=True, slots=True)
class CallJob:
    """The calls, as a job of a worker."""

    text: str
    options: tuple[str, ...]
    lanes: int
    values: int
    signature: None = None  # there is no instruction to prepare

    def on(self, bench: Bench) -> Labels:
        """[lane][value] -> (row, column). ValueError, with the compiler's first error, for what does not compile."""
        try:
            cubin = compile_cubin(self.text, bench.machine.info.sm, options=self.options)
        except Unsupported as error:
            raise ValueError(str(error)) from error
        blank = np.full((self.lanes, self.values, 2), -1, np.int64)
        return load(cubin).launch("lanecheck_discover_all", (1,), self.lanes, [blank], [0]).results()[0]


def discover_map(
    function: FileFunction, timeout: float, axes: Sequence[str] = ("row", "col")
) -> FoundMap | Unavailable:
    """Return the map of a function, called twice; ValueError for what isn't a map."""
    call = CallJob(function.text(), function.options(), function.lanes, function.values)
    with Worker(timeout=timeout) as worker:
        results = [result for _, result in worker.run_jobs([call, call])]
    for result in results:
        if isinstance(result, Unavailable):
            return result
    first, second = results
    return check_runs(function.name, first, second, axes)


def check_runs(name: str, first: Labels, second: Labels, axes: Sequence[str] = ("row", "col")) -> FoundMap:
    """Return the map of two runs; ValueError where they differ, or a coordinate is not set, negative, or too large."""
    if (first != second).any():
        raise ValueError(f"{name} isn't a function of lane and i: {_at(first != second)} differs from call to call")
    for wrong, what in ((first == UNSET, "is not set"), (first < 0, "is negative"), (first >= LARGEST, "is too large")):
        if wrong.any():
            raise ValueError(f"{name}: {_at(wrong)} {what}")
    return FoundMap(name, ("lane", "value"), (axes[0], axes[1]), first, dict.fromkeys(axes, ("the function", "")))


def _at(wrong: Any) -> str:
    lane, value, place = (int(number) for number in np.argwhere(wrong)[0])
    return f"the {('row', 'column')[place]} of lane {lane}, i {value}"

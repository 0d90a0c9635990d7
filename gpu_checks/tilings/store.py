# SPDX-License-Identifier: Apache-2.0
"""Tilings and what a GPU computed with them, as JSON Lines.

A tiling is its named tuples as objects, its layouts as text. A recording is one run: the whole tiling, the number of
wrong elements, those of each control, the hash of the kernel, the GPU, the software, the date and the line's digest.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from math import prod
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from gpu_checks.model import DeviceInfo
from gpu_checks.recordings_io.errors import RecordingError
from gpu_checks.recordings_io.lines import check_gpu, files, rows, with_digest
from gpu_checks.tilings.strided import Strided
from gpu_checks.tilings.tiling import TilingError, TilingKernel
from lanecheck.console.outputs import write_file

SCHEMA = 1
_MALFORMED = (AttributeError, KeyError, TypeError, ValueError)  # what `_read` raises for anything else
SHIPPED = Path(__file__).parent / "tilings.jsonl"
RECORDINGS = Path(__file__).parent.parent / "recordings" / "tilings"


class TilingRun(NamedTuple):
    """What one GPU computed with a tiling, and with the same tiling made wrong, where some elements have to differ."""

    tiling: TilingKernel  # what was run
    seed: int  # of the random matrices
    elements: int  # of the result
    mismatches: int  # of these, those that differ from numpy's
    controls: dict[str, int]  # operand -> elements that differ with one wrong stride in it
    kernel_hash: str  # SHA-256 of the CUDA text
    sass: str  # matrix opcodes of the kernel; empty where no disassembler was found
    device: DeviceInfo  # the GPU and its software
    date: str  # of the run

    @property
    def equal(self) -> bool:
        """Whether every element equals numpy's."""
        return self.elements > 0 and self.mismatches == 0

    @property
    def finds_controls(self) -> bool:
        """Whether there are controls and each of them found its wrong stride."""
        return bool(self.controls) and all(self.controls.values())


def lines(chosen: Iterable[TilingKernel | TilingRun]) -> str:
    """One line each, that of a run with its digest."""
    texts = ((tiling, json.dumps({"schema": SCHEMA, **_data(tiling)})) for tiling in chosen)
    return "".join((with_digest(text) if isinstance(tiling, TilingRun) else text) + "\n" for tiling, text in texts)


def write(path: Path, chosen: Iterable[TilingKernel | TilingRun]) -> None:
    """Write their lines; the folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, lines(chosen))


def tilings(path: Path = SHIPPED) -> tuple[TilingKernel, ...]:
    """Return the tilings of a file, those shipped if none is named.

    Raises TilingError for a line that is none, with its number.
    """
    return tuple(_tilings(path))


def recordings_of_tilings(place: Path = RECORDINGS) -> tuple[TilingRun, ...]:
    """Every recorded run, in the order of the files' names and lines. RecordingError for a line that is none."""
    return tuple(run for path in files(place) for run in _runs(path))


def _tilings(path: Path) -> Iterator[TilingKernel]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            data = json.loads(line)
            if data.pop("schema", None) != SCHEMA:
                raise TilingError(f"schema is not {SCHEMA}")
            yield _read_value(TilingKernel, data)
        except _MALFORMED as error:
            raise TilingError(f"{path}:{number}: {' '.join(str(error).split())}") from error


def _runs(path: Path) -> Iterator[TilingRun]:
    for number, data in rows(path, SCHEMA):
        try:
            run: TilingRun = _read_value(TilingRun, data)
            check_gpu(run.device.gpu, run.device.sm)
            if run.elements != (size := prod(run.tiling.extents["C"])):
                raise ValueError(f"elements are {run.elements}, the result has {size}")
        except _MALFORMED as error:
            raise RecordingError(f"{path}:{number}: {' '.join(str(error).split())}") from error
        yield run


def _data(value: Any) -> Any:
    """Return a value as JSON takes it: a layout is text, what is absent is left out."""
    if isinstance(value, Strided):
        return str(value)
    if hasattr(value, "_asdict"):
        return {name: _data(part) for name, part in value._asdict().items() if part is not None}
    return list(value) if isinstance(value, tuple) else value


def _read_value(kind: Any, data: Any) -> Any:
    """Return the value of the kind that `_data` gave; TypeError or ValueError for anything else."""
    return _reader(kind)(data)


@cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    """Return the function that reads values of a kind, made once: to look at types takes longer than to read a line."""
    if kind is Strided:
        return Strided.parse
    if hasattr(kind, "_fields"):
        hints = get_type_hints(kind)
        return lambda data: kind(**{name: _read_value(hints[name], part) for name, part in data.items()})
    choices = [choice for choice in get_args(kind) if choice is not NoneType]
    plain = get_origin(kind) or kind
    if plain is UnionType:
        return _reader(choices[0])

    def read_value(data: Any) -> Any:
        if plain is tuple:
            if len(data) != len(choices):
                raise TypeError(f"{data} has {len(data)} parts, not {len(choices)}")
            return tuple(map(_read_value, choices, data))
        if not isinstance(data, plain):
            raise TypeError(f"{data!r} is no {kind.__name__}")
        return data

    return read_value

# SPDX-License-Identifier: Apache-2.0
"""Recordings read from files: JSON Lines, one file per GPU and instruction family, as `writer` writes it.

    {"schema": 4, "family": ..., "gpu": ..., "sm": ..., "driver": ..., "cuda": ..., "nvrtc": ..., "premises": {...}}
    {"table": "<id>", "shape": [lanes, values], "columns": [[...], -1, ...]}
    {"images": "<id>", "of": [[operand, swizzle, major, lbo, sbo, "<id of a table>"], ...]}
    {"mnemonic": ..., "A": "<id>", "B": "<id>", "D": "<id>", "passthrough": "<id>", "images": "<id>", ...}
    {"move": ..., "places": "<id>", ...}

A table is one array of labels, shared by all mnemonics that have it; its id is the start of the SHA-256 of its
JSON, and so is that of a list of images. `run_length` says how a column is written. Lines after the
first may be in any order and are read only when their mnemonic is looked up. Each line ends with its digest
(`lines`): that it has one is checked when the file is opened, that it is right when the line is read.

Main declarations: `recordings(*paths)` opens files; `Recordings` has what they recorded of each mnemonic.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from gpu_checks.arrays import np
from gpu_checks.model import Controls, ElementCoordinates, Image, Labels, Metadata
from gpu_checks.recordings_io.errors import RecordingError
from gpu_checks.recordings_io.lines import check_end, check_gpu, files, identity, parse_line, text_of
from gpu_checks.recordings_io.run_length import entries

if TYPE_CHECKING:
    from gpu_checks.recording import Move, Recording

SCHEMA = 4  # of a line; recordings of an older one are not read
OPERANDS = ("A", "B", "D")
CONTROLS = ("trials", "product", "relabelled", "rotated")
HOST = ("gpu", "sm", "driver", "cuda", "nvrtc")
T = TypeVar("T")
SHIPPED = Path(__file__).parents[1] / "recordings"

_HEADER: Mapping[str, type] = dict.fromkeys(("family", "gpu", "sm", "driver", "cuda", "nvrtc"), str)
_LINE: Mapping[str, type] = {
    **dict.fromkeys(("mnemonic", "A", "B", "D", "passthrough", "probe", "hash", "sass", "kernel_hash", "date"), str),
    "anchors": list,
    "images": str,
    "metadata": dict,
    "controls": dict,
    "pairs": int,
    "exceptions": list,
    "emulated": bool,
}
_MOVE: Mapping[str, type] = {
    **dict.fromkeys(("move", "places", "sass", "kernel_hash", "date"), str),
    "trials": int,
    "exceptions": list,
    "emulated": bool,
}
_OPTIONAL = frozenset({"controls", "emulated", "images", "metadata"})
_START = re.compile(r'\{"(mnemonic|move|table|images)": ?"([^"\\]+)"')
_ROOM = 2**18  # labels of a table


def recordings(*extra: Path | str) -> Recordings:
    """Return the shipped recordings and those in other files or folders, by mnemonic; read when looked up.

    Raises RecordingError at once for a path that does not exist and a folder without recordings; at the first access
    for a file that is no recording, or in which a line is cut; for any other bad line when it is read.
    """
    given = {place: files(place) for place in map(Path, extra)}
    for place in (place for place, listed in given.items() if not listed):
        raise RecordingError(f"{place}: no recordings (*.jsonl) are in this folder")
    return Recordings((*_read_shipped(SHIPPED), *map(_File, chain(*given.values()))))


# The cache key is the folder: planted recordings are in another file or folder.
@cache
def _read_shipped(place: Path) -> tuple[_File, ...]:
    """Our own files, which do not change: read once a process."""
    return tuple(map(_File, files(place)))


def forget_tables() -> None:
    """Drop the labels read of our own files: the next instructions have others."""
    for file in _read_shipped(SHIPPED):
        file.cache.clear()


def is_external(recording: Recording | Move) -> bool:
    """Whether it was read from a file that is not one of ours: the tests validate those."""
    return bool(recording.file) and os.path.dirname(recording.file) != str(SHIPPED)


class ByMnemonic(Mapping[str, tuple[T, ...]]):
    """Mnemonic -> what was recorded of it, one value per file that has it; read when it is looked up."""

    def __init__(self, files: tuple[_File, ...], kind: str, read: Callable[[_File, str], T]) -> None:
        """`kind` is how the lines begin: mnemonic or move."""
        self.files, self.kind, self.read = files, kind, read

    def __getitem__(self, mnemonic: str) -> tuple[T, ...]:
        matching = tuple(self.read(file, mnemonic) for file in self.files if file.has(self.kind, mnemonic))
        if not matching:
            raise KeyError(mnemonic)
        return matching

    def __contains__(self, mnemonic: object) -> bool:
        return isinstance(mnemonic, str) and any(file.has(self.kind, mnemonic) for file in self.files)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({name for file in self.files for name in file.index[self.kind]}))

    def __len__(self) -> int:
        return len(list(iter(self)))


class Recordings(ByMnemonic["Recording"]):
    """Mnemonic of a matrix product -> its recordings."""

    def __init__(self, files: tuple[_File, ...]) -> None:
        super().__init__(files, "mnemonic", _File.recording)

    def read_all(self) -> None:
        """Check every line's digest, also of tables to which no line refers. RecordingError for a wrong one."""
        for file in self.files:
            for number in range(1, len(file.lines) + 1):
                file.parse(number)

    @property
    def moves(self) -> Mapping[str, tuple[Move, ...]]:
        """Mnemonic of a matrix move -> its recordings."""
        return ByMnemonic(self.files, "move", _File.move)


class _File:
    """One file, its lines found by key, parsed and checked one at a time."""

    def __init__(self, source: Path) -> None:
        self.source = source
        # A table's id -> its labels. The id is a digest of the content; `check_name` compares it before they are kept.
        self.cache: dict[str, Labels] = {}

    # As the file was when it was opened; `recordings` opens any but the shipped ones anew.
    @cached_property
    def lines(self) -> list[str]:
        return text_of(self.source)

    @cached_property
    def family(self) -> str:
        """The word that begins every mnemonic of a file of ours, by its first line; empty where that has none."""
        if self.source.parent != SHIPPED:
            return ""
        try:
            with self.source.open(encoding="utf-8") as file:
                return str(parse_line(file.readline().rstrip("\n"))["family"]).partition(".")[0]
        except (OSError, ValueError, KeyError):
            return ""  # it is opened, and reported

    def has(self, kind: str, mnemonic: str) -> bool:
        """Whether the file has a line of that kind on a mnemonic."""
        return self.family in ("", mnemonic.partition(".")[0]) and mnemonic in self.index[kind]

    @cached_property
    def header(self) -> dict[str, Any]:
        head = self.parse(1) if self.lines else {}
        if head.get("schema") != SCHEMA:
            raise self.bad(1, f"schema is {head.get('schema')!r}, not {SCHEMA}")
        self.check(1, head, {"schema": int, **_HEADER, "premises": dict})
        try:
            check_gpu(head["gpu"], head["sm"])
        except ValueError as error:
            raise self.bad(1, str(error)) from error
        return head

    @cached_property
    def index(self) -> dict[str, dict[str, int]]:
        """For tables, lists of images, mnemonics and moves: name -> line number."""
        numbers: dict[str, dict[str, int]] = {"mnemonic": {}, "move": {}, "table": {}, "images": {}}
        if self.header:
            for number, text in enumerate(self.lines[1:], 2):
                start = _START.match(text)
                if start is None:
                    raise self.bad(number, "starts with neither a mnemonic, a move, a table nor images")
                try:
                    check_end(text)
                except ValueError as error:
                    raise self.bad(number, str(error)) from error
                if start[2] in numbers[start[1]]:
                    raise self.bad(number, f"{start[1]} {start[2]} occurs twice")
                numbers[start[1]][start[2]] = number
        return numbers

    def bad(self, number: int, what: str) -> RecordingError:
        return RecordingError(f"{self.source}:{number}: {what}")

    def parse(self, number: int) -> dict[str, Any]:
        try:
            return parse_line(self.lines[number - 1])
        except ValueError as error:
            raise self.bad(number, str(error)) from error

    def check(self, number: int, line: Mapping[str, Any], want: Mapping[str, type]) -> None:
        for key, kind in want.items():
            if key not in line:
                raise self.bad(number, f"{key} is missing")
            empty = line[key] is None and key in _OPTIONAL
            if not empty and type(line[key]) is not kind:
                raise self.bad(number, f"{key} is {line[key]!r}, not {kind.__name__}")
        for key in line.keys() - want.keys():
            raise self.bad(number, f"unknown key {key}")

    def table(self, number: int, name: object) -> Labels:
        """Return the labels that a line refers to."""
        if not isinstance(name, str) or name not in self.index["table"]:
            raise self.bad(number, f"table {name!r} is not in the file")
        if name not in self.cache:
            self.cache[name] = self._read_table(name)
        return self.cache[name]

    def _table_line(self, number: int) -> tuple[list[int], list[Any]]:
        """Return the shape of a table and its columns as they are written."""
        line = self.parse(number)
        self.check(number, line, {"table": str, "shape": list, "columns": list})
        shape, columns = line["shape"], line["columns"]
        if not (len(shape) == 2 and all(type(x) is int and 0 < x for x in shape) and prod(shape) <= _ROOM and columns):
            raise self.bad(number, f"shape is {shape!r} in {len(columns)} columns, not lanes and values")
        return shape, columns

    def _read_table(self, name: str) -> Labels:
        number = self.index["table"][name]
        shape, columns = self._table_line(number)
        size = shape[0] * shape[1]
        full = []
        for place, column in enumerate(columns):
            try:
                full.append(entries(column, size))
            except ValueError as error:
                raise self.bad(number, f"column {place} {error}") from error
        self.check_name(number, name, {"shape": shape, "columns": columns})
        # half of the memory, and the sum of two labels is no more than such a number
        kind: type[np.signedinteger[Any]] = np.int16 if max(column.max() for column in full) < 1 << 14 else np.int32
        labels = np.stack(full, axis=-1, dtype=kind, casting="same_kind").reshape(*shape, len(columns))
        labels.setflags(write=False)
        return labels

    def check_name(self, number: int, name: str, body: Mapping[str, Any]) -> None:
        """Raise RecordingError unless a line's id is that of its content."""
        if name != identity(body):
            raise self.bad(number, f"{name} has the content of {identity(body)}")

    def move(self, mnemonic: str) -> Move:
        """Read one move's line and its table."""
        from gpu_checks.recording import Move

        number = self.index["move"][mnemonic]
        line = self.parse(number)
        self.check(number, line, _MOVE)
        places = self.labels(number, line["places"], 2)
        return Move(
            mnemonic=mnemonic,
            places=places,
            exceptions=tuple(map(str, line["exceptions"])),
            **{key: self.header[key] for key in HOST},
            **{key: line[key] for key in ("trials", "sass", "emulated", "kernel_hash", "date")},
            file=str(self.source),
            line=number,
        )

    def recording(self, mnemonic: str) -> Recording:
        """Read one mnemonic's line and its tables."""
        from gpu_checks.recording import Recording

        number = self.index["mnemonic"][mnemonic]
        line = self.parse(number)
        self.check(number, line, _LINE)
        operands = {name: self.labels(number, line[name], 4) for name in OPERANDS}
        slots = {name: labels.size // 4 for name, labels in operands.items()}
        if line["pairs"] != slots["A"] * slots["B"]:
            raise self.bad(number, f"pairs is {line['pairs']}, the labels make {slots['A'] * slots['B']}")
        passthrough = self.labels(number, line["passthrough"], 1)[..., 0]
        if (passthrough >= slots["D"]).any():
            raise self.bad(number, f"passthrough names a D slot beyond {slots['D'] - 1}")
        head = self.header
        return Recording(
            mnemonic=mnemonic,
            operands=operands,
            passthrough=passthrough,
            coordinates=tuple(self._coordinates(number, line["anchors"])),
            controls=self._controls(number, line["controls"]),
            exceptions=tuple(map(str, line["exceptions"])),
            images=tuple(self._images(number, line["images"])),
            metadata=self._metadata(number, line["metadata"], operands["A"].shape[:2]),
            **{key: head[key] for key in HOST},
            **{key: line[key] for key in ("pairs", "probe", "hash", "sass", "emulated", "kernel_hash", "date")},
            file=str(self.source),
            line=number,
        )

    def labels(self, number: int, name: object, width: int) -> Labels:
        labels = self.table(number, name)
        if labels.shape[-1] != width:
            raise self.bad(number, f"table {name} has {labels.shape[-1]} columns, not {width}")
        return labels

    def _coordinates(self, number: int, given: Sequence[Any]) -> Iterator[ElementCoordinates]:
        premises = self.header["premises"]
        for anchor in given:
            known = isinstance(anchor, list) and list(map(type, anchor)) == [str] * 4
            if not (known and anchor[1] in OPERANDS and anchor[3] in premises):
                raise self.bad(number, f"anchors: {anchor!r} is not a name, an operand, a table and a premise")
            yield ElementCoordinates(
                str(anchor[0]), anchor[1], str(premises[anchor[3]]), self.labels(number, anchor[2], 2)
            )

    def _images(self, number: int, name: str | None) -> Iterator[Image]:
        if name is None:
            return
        if name not in self.index["images"]:
            raise self.bad(number, f"images {name!r} are not in the file")
        number = self.index["images"][name]
        line = self.parse(number)
        self.check(number, line, {"images": str, "of": list})
        self.check_name(number, name, {"of": line["of"]})
        for image in line["of"]:
            if not (isinstance(image, list) and list(map(type, image)) == [str, str, str, int, int, str]):
                raise self.bad(number, f"images: {image!r} is not an operand, a swizzle, a major, two offsets, a table")
            operand, swizzle, major, lbo, sbo, name = image
            yield Image(operand, swizzle, major, lbo, sbo, self.labels(number, name, 4))

    def _metadata(self, number: int, given: Mapping[str, Any] | None, shape: tuple[int, ...]) -> Metadata | None:
        if given is None:
            return None
        self.check(number, given, {"kept": dict, "rulers": dict, "words": int})
        parts = []
        for part, width in (("kept", 1), ("rulers", 2)):
            if not all(key.isdecimal() for key in given[part]):
                raise self.bad(number, f"metadata: {part} has keys that are no numbers")
            tables = {int(key): self.labels(number, name, width) for key, name in given[part].items()}
            if any(labels.shape[:2] != shape for labels in tables.values()):
                raise self.bad(number, f"metadata: {part} has a table of another shape than A")
            parts.append(tables)
        return Metadata({key: labels[..., 0] for key, labels in parts[0].items()}, parts[1], given["words"])

    def _controls(self, number: int, given: Mapping[str, Any] | None) -> Controls | None:
        if given is None:
            return None
        self.check(number, given, dict.fromkeys(CONTROLS, int))
        return Controls(**given)

# SPDX-License-Identifier: Apache-2.0
"""The recording writer: recordings as lines of a file, whose format is in `gpu_checks/recordings_io/reader.py`.

A worker process writes the lines of its recordings: they are far smaller than the labels, most of which repeat.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gpu_checks.arrays import np
from gpu_checks.model import Labels, Metadata
from gpu_checks.recording import Move, Recording
from gpu_checks.recordings_io.lines import identity, with_digest
from gpu_checks.recordings_io.reader import CONTROLS, HOST, OPERANDS, SCHEMA
from gpu_checks.recordings_io.run_length import write_runs
from lanecheck.console.outputs import write_file


class RecordedLines(NamedTuple):
    """The line of one recording, and the lines that it refers to."""

    mnemonic: str
    host: Mapping[str, str]  # the GPU and its software
    line: str
    tables: Mapping[str, str]  # id -> line: tables and lists of images
    premises: Mapping[str, str]  # id -> text


def to_lines(recording: Recording | Move) -> RecordedLines:
    """Return the lines of a recording."""
    tables: dict[str, str] = {}
    premises: dict[str, str] = {}
    line = json.dumps(_line(recording, tables, premises))
    host = {key: getattr(recording, key) for key in HOST}
    return RecordedLines(recording.mnemonic, host, line, tables, premises)


def write(folder: Path, family: str, recordings: Iterable[RecordedLines]) -> Path:
    """Write the recordings of one GPU and family as one file, in the order of their mnemonics."""
    ordered = sorted(recordings, key=lambda recording: recording.mnemonic)
    host = ordered[0].host
    tables, premises = (
        {k: v for recording in ordered for k, v in getattr(recording, part).items()} for part in ("tables", "premises")
    )
    head = json.dumps({"schema": SCHEMA, "family": family, **host, "premises": dict(sorted(premises.items()))})
    name = re.sub(r"[^a-z0-9]+", "_", f"{host['gpu']} {family}".lower())
    path = folder / f"{name}.jsonl"
    lines = [head, *sorted(tables.values()), *(recording.line for recording in ordered)]
    write_file(path, "".join(with_digest(line) + "\n" for line in lines))
    return path


def _line(recording: Recording | Move, tables: dict[str, str], premises: dict[str, str]) -> dict[str, Any]:
    common = {"exceptions": list(recording.exceptions)}
    common |= {key: getattr(recording, key) for key in ("sass", "emulated", "kernel_hash", "date")}
    if isinstance(recording, Move):
        places = _keep(recording.places, tables)
        return {"move": recording.mnemonic, "places": places, "trials": recording.trials, **common}
    anchors = []
    for coordinates in recording.coordinates:
        premise = identity({"premise": coordinates.premise})
        premises[premise] = coordinates.premise
        anchors.append([coordinates.name, coordinates.operand, _keep(coordinates.labels, tables), premise])
    images = [[i.operand, i.swizzle, i.major, i.lbo, i.sbo, _keep(i.labels, tables)] for i in recording.images]
    return {
        "mnemonic": recording.mnemonic,
        **{name: _keep(recording.operands[name], tables) for name in OPERANDS},
        "passthrough": _keep(recording.passthrough[..., None], tables),
        "anchors": anchors,
        "images": _write_field("images", {"of": images}, tables) if images else None,
        "metadata": recording.metadata and _metadata(recording.metadata, tables),
        "controls": recording.controls and {key: getattr(recording.controls, key) for key in CONTROLS},
        **{key: getattr(recording, key) for key in ("pairs", "probe", "hash")},
        **common,
    }


def _metadata(metadata: Metadata, tables: dict[str, str]) -> dict[str, Any]:
    return {
        "kept": {str(key): _keep(labels[..., None], tables) for key, labels in metadata.kept.items()},
        "rulers": {str(key): _keep(labels, tables) for key, labels in metadata.rulers.items()},
        "words": metadata.words,
    }


def _keep(labels: Labels, tables: dict[str, str]) -> str:
    """Add an array to the tables, unless it is there; returns its id."""
    columns = [write_runs(column) for column in np.array(labels.reshape(-1, labels.shape[-1]).T, "<i4", order="C")]
    return _write_field("table", {"shape": list(labels.shape[:2]), "columns": columns}, tables)


def _write_field(kind: str, body: Mapping[str, Any], tables: dict[str, str]) -> str:
    name = identity(body)
    if name not in tables:
        tables[name] = json.dumps({kind: name, **body}, separators=(",", ":")).replace('":', '": ', 1)
    return name

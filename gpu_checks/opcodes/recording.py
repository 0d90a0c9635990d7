# SPDX-License-Identifier: Apache-2.0
"""Records what a GPU computes with each form of each opcode: `lanecheck probe --opcodes`.

A file is one GPU's, as JSON Lines. The first line has the GPU, its software and the day. A line with `bits` has results
of 128 lanes, compressed, under an id. A line with `form` has a form, the digest of its probe and the ids of its
results, in the order of `text.Probe.results`, or why it has none. Equal results are stored once.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from gpu_checks.device.cuda import device_info, load
from gpu_checks.model import DeviceFault, DeviceInfo, Unavailable
from gpu_checks.opcodes.text import Probe, module
from gpu_checks.opcodes.values import LANES
from gpu_checks.recordings_io.errors import RecordingError
from gpu_checks.recordings_io.lines import check_gpu, files, identity, rows, with_digest
from lanecheck.console.outputs import write_file
from lanecheck.console.progress import Progress

SCHEMA = 1
RECORDINGS = Path(__file__).parents[1] / "recordings" / "opcodes"
SM = "sm_90a"  # what the probes are written for
_TOGETHER = 64  # forms of a module
_HOST = ("gpu", "sm", "driver", "cuda", "nvrtc")


@dataclass(frozen=True, slots=True, eq=False)
class Computed:
    """What a GPU computed with one form."""

    form: str  # its name
    probe: str  # the digest of the probe
    results: tuple[bytes, ...]  # as `Probe.taken` has them; empty if there are none
    fault: str = ""  # why there are none


@dataclass(frozen=True, slots=True, eq=False)
class OpcodeRecording:
    """The opcodes of one GPU."""

    device: DeviceInfo  # the GPU and its software
    date: str  # of the run
    forms: Mapping[str, Computed]  # by name


def observe(probes: Sequence[Probe], quiet: bool = True) -> OpcodeRecording | Unavailable:
    """Run the probes on this machine's GPU; Unavailable, with the reason, if there is none for them."""
    info = device_info()
    if isinstance(info, Unavailable):
        return info
    if info.sm != SM:
        return Unavailable(f"the probes of opcodes are for {SM}; {info.gpu} is {info.sm}")
    forms: dict[str, Computed] = {}
    try:
        with Progress(len(probes), "forms", quiet) as shown:
            for start in range(0, len(probes), _TOGETHER):
                for computed in _observe(probes[start : start + _TOGETHER]):
                    forms[computed.form] = computed
                    shown.step(computed.form)
    except DeviceFault as fault:
        return Unavailable(f"after {len(forms)} of {len(probes)} forms: {fault}")
    return OpcodeRecording(info, date.today().isoformat(), forms)


def _observe(probes: Sequence[Probe]) -> Iterator[Computed]:
    """Yield what the GPU computes with each probe; a module that the driver rejects is split to find the form."""
    try:
        loaded = load(module(probes).encode() + b"\0")
    except DeviceFault as fault:
        if len(probes) == 1:
            yield Computed(probes[0].form.name, probes[0].digest, (), f"the driver rejects it: {fault}")
            return
        half = len(probes) // 2
        yield from _observe(probes[:half])
        yield from _observe(probes[half:])
        return
    for number, probe in enumerate(probes):
        first, again = (
            loaded.launch(f"p{number}", (1,), LANES, [probe.inputs, probe.output], [1]).results()[0] for _ in range(2)
        )
        if (first != again).any():
            yield Computed(probe.form.name, probe.digest, (), "two runs gave different bits")
        else:
            yield Computed(probe.form.name, probe.digest, tuple(probe.split_results(first)))


def write(folder: Path, recording: OpcodeRecording) -> Path:
    """Write the file of a GPU; the folder is made."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / recording.device.file
    write_file(path, "".join(with_digest(json.dumps(line)) + "\n" for line in _lines(recording)))
    return path


def _lines(recording: OpcodeRecording) -> Iterator[dict[str, Any]]:
    yield {"schema": SCHEMA, "opcodes": len(recording.forms), **recording.device._asdict(), "date": recording.date}
    seen: set[str] = set()
    for computed in recording.forms.values():
        texts = [base64.b64encode(zlib.compress(result, 9)).decode() for result in computed.results]
        ids = [identity({"bits": text}) for text in texts]
        for name, text in zip(ids, texts, strict=True):
            if name not in seen:
                seen.add(name)
                yield {"schema": SCHEMA, "bits": name, "of": text}
        told = {"fault": computed.fault} if computed.fault else {"results": ids}
        yield {"schema": SCHEMA, "form": computed.form, "probe": computed.probe, **told}


def recordings_of_opcodes(place: Path = RECORDINGS) -> tuple[OpcodeRecording, ...]:
    """Return every recording of opcodes; RecordingError for a malformed line, with its file and number."""
    return tuple(_read_file(path) for path in files(place))


def _read_file(path: Path) -> OpcodeRecording:
    device: DeviceInfo | None = None
    day, bits = "", dict[str, bytes]()
    forms: dict[str, Computed] = {}
    for number, data in rows(path, SCHEMA):
        try:
            if device is None:
                device, day = DeviceInfo(*(str(data[key]) for key in _HOST)), str(data["date"])
                check_gpu(device.gpu, device.sm)
            elif "bits" in data:
                if identity({"bits": data["of"]}) != data["bits"]:
                    raise ValueError(f"{data['bits']} is not the id of these bits")
                bits[data["bits"]] = zlib.decompress(base64.b64decode(data["of"], validate=True))
            else:
                results = tuple(bits[name] for name in data.get("results", ()))
                made = Computed(str(data["form"]), str(data["probe"]), results, str(data.get("fault", "")))
                if not made.results and not made.fault:
                    raise ValueError(f"{made.form} has neither results nor a fault")
                forms[made.form] = made
        except KeyError as missing:
            raise RecordingError(f"{path}:{number}: {missing.args[0]} is missing") from missing
        except (TypeError, ValueError, zlib.error) as error:
            raise RecordingError(f"{path}:{number}: {error}") from error
    if device is None:
        raise RecordingError(f"{path}:1: the file is empty")
    return OpcodeRecording(device, day, forms)

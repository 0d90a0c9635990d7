# SPDX-License-Identifier: Apache-2.0
"""`lanecheck order`: kernels that leave out a barrier or a fence, one warp late; how many results are wrong.

The PTX ISA asks for these barriers and fences. A probe with no wrong result is an observation on one GPU, no proof
that the GPU orders the accesses. A control leaves out a barrier between plain stores and loads, and must go wrong.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from gpu_checks import command
from gpu_checks.arrays import np
from gpu_checks.command import guard_exit
from gpu_checks.device.cuda import Array, Loaded, compile_cubin, device_info, load
from gpu_checks.kernels.modules import COMMON
from gpu_checks.kernels.templates import beside
from gpu_checks.model import DeviceFault, DeviceInfo, Unavailable, Unsupported
from gpu_checks.recordings_io.lines import check_gpu, files, read_each, with_digest
from lanecheck.console.command import parser as parser_of
from lanecheck.console.exits import Exit
from lanecheck.console.outputs import reserve_folder, write_file
from lanecheck.console.progress import Progress

SCHEMA = 1
RECORDINGS = Path(__file__).parents[1] / "recordings" / "order"
DELAYS = (0, 200, 2000, 20000)  # cycles by which warp 3 is late
_BLOCKS, _ROUNDS = 64, 1000
_RESULTS = 128 * 4  # of a block in a round
_SM = 90  # has wgmma and bulk copies
_CUDA = beside(__file__)
_FENCE, _BARRIER, _ONE, _OTHER = (_CUDA[part].template for part in ("fence", "barrier", "one", "other"))


@dataclass(frozen=True, slots=True)
class OrderProbe:
    """A kernel without something that the ISA asks for."""

    name: str
    section: str  # of the PTX ISA that asks for it; empty where nothing is left out
    expected: str  # of a control: "right" or "wrong"; of the others ""
    part: str  # of the CUDA text
    filled: Mapping[str, str]  # its parts

    @property
    def kernel(self) -> str:
        """The CUDA text."""
        return COMMON + _CUDA[self.part].substitute(self.filled, rounds=_ROUNDS)


def _product(name: str, section: str, expected: str = "", **filled: str) -> OrderProbe:
    usual = {"before": "0", "store": _ONE, "fence": _FENCE, "barrier": _BARRIER, "overwrite": ""}
    parts = {**usual, "product": _CUDA["issued"].template, **filled}
    return OrderProbe(name, section, expected, "wgmma", parts)


def _bulk(name: str, section: str, expected: str = "", **filled: str) -> OrderProbe:
    return OrderProbe(name, section, expected, "bulk", {"fence": _FENCE, "barrier": _BARRIER, **filled})


_LOADED = _CUDA["loaded"].template
PROBES = (
    _product("wgmma, nothing left out", "", "right"),
    _product("wgmma, no barrier", "9.7.13.1", barrier=""),
    _product("wgmma, no proxy fence", "9.7.15.4", fence=""),
    _product("wgmma, no barrier, no proxy fence", "9.7.15.4", barrier="", fence=""),
    _product("wgmma, overwritten after wait_group, no barrier", "9.7.15.7.3",
             before="0x3C00", store="", fence="", barrier="", overwrite=_OTHER),
    _product("loads, no barrier", "9.7.13.1", "wrong", product=_LOADED, barrier=""),
    _product("loads, nothing left out", "", "right", product=_LOADED),
    _bulk("bulk copy, nothing left out", "", "right"),
    _bulk("bulk copy, no proxy fence", "9.7.9.25.2", fence=""),
    _bulk("bulk copy, no barrier", "9.7.13.1", "wrong", barrier=""),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class OrderObservation:
    """How many results of a probe were wrong on one GPU."""

    name: str  # of the probe
    section: str  # of the PTX ISA that asks for what it leaves out
    delay: int  # cycles by which warp 3 was late
    results: int  # that were compared
    wrong: tuple[int, ...]  # of these, warp by warp
    kernel_hash: str  # SHA-256 of the CUDA text
    device: DeviceInfo  # the GPU and its software
    date: str  # of the run

    @property
    def agrees(self) -> bool:
        """Whether every result was right."""
        return not any(self.wrong)


def hash_of(probe: OrderProbe) -> str:
    """SHA-256 of the CUDA text of a probe."""
    return hashlib.sha256(probe.kernel.encode()).hexdigest()


def observe(chosen: Sequence[OrderProbe] = PROBES, quiet: bool = True) -> list[OrderObservation] | Unavailable:
    """Run the probes on the GPU at hand; Unavailable, with the reason, where there is none for them."""
    info = device_info()
    if isinstance(info, Unavailable):
        return info
    if int(info.sm[3:].rstrip("af")) != _SM:
        return Unavailable(f"the probes issue wgmma, which sm_90a has; {info.gpu} is {info.sm}")
    observed: list[OrderObservation] = []
    try:
        with Progress(len(chosen), "probes", quiet) as shown:
            for probe in chosen:
                shown.begin(probe.name)
                module = load(compile_cubin(probe.kernel, info.sm))
                for delay in DELAYS:
                    wrong = tuple(int(count) for count in _run_probe(module, probe, delay).sum(axis=0))
                    results, today = _BLOCKS * _ROUNDS * _RESULTS, date.today().isoformat()
                    observed.append(
                        OrderObservation(probe.name, probe.section, delay, results, wrong, hash_of(probe), info, today)
                    )
                shown.done += 1
    except (Unsupported, DeviceFault) as fault:
        return Unavailable(str(fault))
    return observed


def _run_probe(module: Loaded, probe: OrderProbe, delay: int) -> Array:
    """[block][warp] -> wrong results."""
    arrays: list[Array] = [np.array([delay], np.uint32), np.zeros((_BLOCKS, 4), np.uint32)]
    if probe.part == "bulk":
        arrays.append(np.zeros((_BLOCKS, _RESULTS), np.uint32))
    return module.launch("order", (_BLOCKS,), 128, arrays, [1]).results()[0]


def recordings_of_order(place: Path = RECORDINGS) -> tuple[OrderObservation, ...]:
    """Every recorded observation. RecordingError for a malformed line, with its file and number."""
    return tuple(observation for path in files(place) for observation in read_each(path, SCHEMA, _observation))


def _observation(data: Mapping[str, Any]) -> OrderObservation:
    info = DeviceInfo(**{key: data[key] for key in ("gpu", "sm", "driver", "cuda", "nvrtc")})
    check_gpu(info.gpu, info.sm)
    wrong = tuple(data["wrong"])
    if (
        len(wrong) != 4
        or not all(isinstance(count, int) and count >= 0 for count in wrong)
        or sum(wrong) > data["results"]
    ):
        raise ValueError(f"wrong is {data['wrong']!r}, not four counts of {data['results']} results")
    plain = {key: data[key] for key in ("name", "section", "delay", "results", "kernel_hash", "date")}
    return OrderObservation(wrong=wrong, device=info, **plain)


def write(path: Path, observed: Sequence[OrderObservation]) -> None:
    """One line each; the folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, "".join(with_digest(json.dumps(_data(observation))) + "\n" for observation in observed))


def _data(observation: OrderObservation) -> dict[str, Any]:
    fields = asdict(observation)
    return {"schema": SCHEMA, **fields.pop("device")._asdict(), **fields}


def main(argv: Sequence[str] | None = None) -> int:
    """Run and print; returns the exit code, which is CONTRADICTION if a control isn't as expected."""
    parser = parser_of("lanecheck order", __doc__, "--record recordings")
    parser.add_argument("--list", action="store_true", help="print the probes and stop")
    words = "write DIR/<gpu>.jsonl, a line for each run"
    parser.add_argument("--record", type=reserve_folder, metavar="DIR", help=words)
    command.add_unchecked(parser)
    return guard_exit("order", lambda: _command(command.parse_options(parser, argv, {"list": ()})))


def _command(options: argparse.Namespace) -> int:
    if options.list:
        command.show(*(f"{probe.name}{f'  (PTX ISA {probe.section})' * bool(probe.section)}" for probe in PROBES))
        return 0
    observed = observe(quiet=False)
    if isinstance(observed, Unavailable):
        command.show(f"{len(PROBES)} probes  UNCHECKED  {observed.reason}")
        return command.exit_undecided(options)
    width = max(len(observation.name) for observation in observed)
    for observation in observed:
        counts = f"{sum(observation.wrong)} of {observation.results} wrong"
        command.show(f"{observation.name:<{width}}  {observation.delay:>6} cycles late  {counts}")
    if options.record:
        write(options.record / observed[0].device.file, observed)
    return Exit.OK if controls_hold(observed) else Exit.CONTRADICTION


def controls_hold(observed: Sequence[OrderObservation]) -> bool:
    """Whether each control came out as it must: wrong at the longest delay, or right at all of them."""
    return all(
        any(
            not observation.agrees
            for observation in observed
            if observation.name == probe.name and observation.delay == DELAYS[-1]
        )
        if probe.expected == "wrong"
        else all(observation.agrees for observation in observed if observation.name == probe.name)
        for probe in PROBES
        if probe.expected
    )

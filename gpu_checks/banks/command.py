# SPDX-License-Identifier: Apache-2.0
"""`lanecheck banks`: how long shared memory takes for 32 addresses, which shows its bank conflicts.

Many warps repeat one access with the same addresses, so that nothing but shared memory limits them. The cycles of an
access are what was observed. Divided by those of a 32-bit load of 32 neighbouring words, which is one wavefront, they
are the wavefronts that the access takes: the number of times that the banks are read or written.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from gpu_checks import command
from gpu_checks.arrays import np
from gpu_checks.banks.patterns import MEMORY, Pattern, matrices, patterns
from gpu_checks.command import guard_exit
from gpu_checks.device.cuda import Loaded, compile_cubin, device_info, load
from gpu_checks.kernels.modules import COMMON
from gpu_checks.kernels.templates import beside
from gpu_checks.model import DeviceFault, DeviceInfo, Unavailable, Unsupported
from gpu_checks.recordings_io.lines import check_gpu, files, read_each, with_digest
from lanecheck.console.command import parser as parser_of
from lanecheck.console.outputs import reserve_folder, write_file
from lanecheck.console.progress import Progress

SCHEMA = 1
RECORDINGS = Path(__file__).parents[1] / "recordings" / "banks"
UNIT = "load 32, stride 1"  # the pattern that is one wavefront
LEAST = {"cp.async": 3}  # the time in wavefronts that an operation takes even where the banks need fewer
_WARPS, _ROUNDS, _UNROLLED = 16, 256, 16
_STEADY, _MOST, _LESS = 5, 60, 0.999  # a launch is repeated until so many in a row are no faster
_BLOCKS = 64  # of one launch: fewer than a GPU has multiprocessors, so that none has two


@dataclass(frozen=True, slots=True)
class BankObservation:
    """The cycles that a pattern took on one GPU."""

    pattern: Pattern  # the operation and its 32 addresses
    cycles: float  # per access of a warp, the least of several runs
    unit: float  # those of one wavefront, in the same run
    kernel_hash: str  # SHA-256 of the CUDA text
    device: DeviceInfo  # the GPU and its software
    date: str  # of the run

    @property
    def wavefronts(self) -> int:
        """Wavefronts to the nearest integer; an upper bound where the operation takes its LEAST."""
        return round(self.cycles / self.unit)

    @property
    def clear(self) -> bool:
        """Whether the cycles are near a whole number of wavefronts: within a fifth of one, or a hundredth of all."""
        return abs(self.cycles / self.unit - self.wavefronts) < max(0.2, 0.01 * self.wavefronts)


_CUDA = beside(__file__)
# Bits of an access -> its type, and how many registers it has: a .v4 of 32 bits is the widest (PTX ISA 9.7.9.8).
_LETTERS = {8: ("u8", 1), 16: ("u16", 1), 32: ("u32", 1), 64: ("v2.u32", 2), 128: ("v4.u32", 4)}


def kernel(operation: str, bits: int) -> str:
    """Return the CUDA text that times one kind of access; a block for each pattern."""
    return COMMON + _CUDA["kernel"].substitute(
        name="banks",
        threads=32 * _WARPS,
        words=MEMORY // 4,
        rounds=_ROUNDS,
        unrolled=_UNROLLED,
        access=_access(operation, bits),
    )


def _access(operation: str, bits: int) -> str:
    if count := matrices(operation):
        kind, shape, *trans = operation.split(".")
        mnemonic = ".".join([kind, "sync.aligned.m8n8", shape, *trans, "shared.b16"])
        return _read_patterns(mnemonic, count) if kind == "ldmatrix" else _write(mnemonic, count)
    if operation == "cp.async":
        return _CUDA["copy"].substitute(bytes=bits // 8)
    kind, count = _LETTERS[bits]
    return _read_patterns(f"ld.shared.{kind}", count) if operation == "load" else _write(f"st.shared.{kind}", count)


def _write(mnemonic: str, count: int) -> str:
    given = ", ".join(["%1"] * count)
    given = f"{{{given}}}" if count > 1 or "stmatrix" in mnemonic else given
    return _CUDA["write"].substitute(mnemonic=mnemonic, listed=given)


def _read_patterns(mnemonic: str, count: int) -> str:
    names = [f"r{n}" for n in range(count)]
    listed = ", ".join(f"%{n}" for n in range(count))
    listed = f"{{{listed}}}" if count > 1 or "ldmatrix" in mnemonic else listed
    outputs = ", ".join(f'"=r"({name})' for name in names)
    facts = {"names": ", ".join(names), "outputs": outputs, "sum": " ^ ".join(names)}
    return _CUDA["read"].substitute(facts, mnemonic=mnemonic, listed=listed, count=count)


def check(pattern: Pattern) -> None:
    """Raise ValueError for a pattern that a GPU would fault on."""
    if len(pattern.addresses) != 32:
        raise ValueError(f"{pattern.name}: {len(pattern.addresses)} addresses; a warp has 32 lanes")
    wide = pattern.bits // 8
    for lane, address in enumerate(pattern.addresses):
        if address % wide or not 0 <= address <= MEMORY - wide:
            raise ValueError(f"{pattern.name}: lane {lane} asks for byte {address}; multiples of {wide} below {MEMORY}")


def measure(chosen: Sequence[Pattern], quiet: bool = True) -> list[BankObservation] | Unavailable:
    """Time the patterns on the GPU at hand; Unavailable, with the reason, where there is none."""
    for pattern in chosen:
        check(pattern)
    info = device_info()
    if isinstance(info, Unavailable):
        return info
    unit = next(pattern for pattern in patterns() if pattern.name == UNIT)
    try:
        cycles = _cycles([unit, *chosen], info, quiet)
    except (Unsupported, DeviceFault) as fault:
        return Unavailable(str(fault))
    today = date.today().isoformat()
    return [
        BankObservation(pattern, cycles[pattern], cycles[unit], hash_of(pattern), info, today) for pattern in chosen
    ]


def hash_of(pattern: Pattern) -> str:
    """SHA-256 of the CUDA text that times a pattern."""
    return hashlib.sha256(kernel(pattern.operation, pattern.bits).encode()).hexdigest()


def _cycles(chosen: Sequence[Pattern], info: DeviceInfo, quiet: bool) -> Mapping[Pattern, float]:
    """Cycles of one access of a warp, pattern by pattern."""
    measured: dict[Pattern, float] = {}
    with Progress(len(dict.fromkeys(chosen)), "patterns", quiet) as shown:
        for operation, bits in dict.fromkeys((pattern.operation, pattern.bits) for pattern in chosen):
            group = [
                pattern for pattern in dict.fromkeys(chosen) if (pattern.operation, pattern.bits) == (operation, bits)
            ]
            shown.begin(f"{operation}, {bits} bits")
            module = load(compile_cubin(kernel(operation, bits), info.sm))
            for start in range(0, len(group), _BLOCKS):
                measured |= time_patterns(module, group[start : start + _BLOCKS])
                shown.done = len(measured)
    return measured


def time_patterns(module: Loaded, group: Sequence[Pattern]) -> dict[Pattern, float]:
    """One launch for patterns of one kind, a block each: repeated, since a GPU that was idle begins slowly."""
    addresses = np.array([pattern.addresses for pattern in group], np.uint32)
    least, steady = np.full(len(group), np.inf), 0
    for _ in range(_MOST):
        blank, sink = np.zeros(len(group), np.uint64), np.zeros((len(group), 32 * _WARPS), np.uint32)
        run = module.launch("banks", (len(group),), 32 * _WARPS, [addresses, blank, sink], [1]).results()[0]
        steady = 0 if (run < _LESS * least).any() else steady + 1
        least = np.minimum(least, run)
        if steady == _STEADY:
            break
    least /= _WARPS * _ROUNDS * _UNROLLED
    return {pattern: round(float(cycles), 4) for pattern, cycles in zip(group, least, strict=True)}


def recordings_of_banks(place: Path = RECORDINGS) -> tuple[BankObservation, ...]:
    """Every recorded observation. RecordingError for a malformed line, with its file and number."""
    return tuple(observation for path in files(place) for observation in read_each(path, SCHEMA, _observation))


def _observation(data: Mapping[str, Any]) -> BankObservation:
    pattern = Pattern(data["name"], data["operation"], data["bits"], tuple(data["addresses"]))
    info = DeviceInfo(**{key: data[key] for key in ("gpu", "sm", "driver", "cuda", "nvrtc")})
    check_gpu(info.gpu, info.sm)
    observation = BankObservation(pattern, data["cycles"], data["unit"], data["kernel_hash"], info, data["date"])
    if data["wavefronts"] != observation.wavefronts:
        raise ValueError(f"wavefronts are {data['wavefronts']!r}, the cycles make {observation.wavefronts}")
    return observation


def write(path: Path, observed: Sequence[BankObservation]) -> None:
    """One line each; the folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, "".join(with_digest(json.dumps(_data(observation))) + "\n" for observation in observed))


def _data(observation: BankObservation) -> dict[str, Any]:
    pattern = observation.pattern
    return {
        "schema": SCHEMA,
        "name": pattern.name,
        "operation": pattern.operation,
        "bits": pattern.bits,
        "addresses": pattern.addresses,
        "cycles": observation.cycles,
        "unit": observation.unit,
        "wavefronts": observation.wavefronts,
        "kernel_hash": observation.kernel_hash,
        **observation.device._asdict(),
        "date": observation.date,
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit code."""
    parser = parser_of("lanecheck banks", __doc__, "--record recordings")
    parser.add_argument("--list", action="store_true", help="print the patterns and stop")
    words = "write DIR/<gpu>.jsonl, a line for each pattern"
    parser.add_argument("--record", type=reserve_folder, metavar="DIR", help=words)
    command.add_unchecked(parser)
    return guard_exit("banks", lambda: _run_patterns(command.parse_options(parser, argv, {"list": ()})))


def _run_patterns(options: argparse.Namespace) -> int:
    if options.list:
        command.show(*(pattern.name for pattern in patterns()))
        return 0
    observed = measure(patterns(), quiet=False)
    if isinstance(observed, Unavailable):
        command.show(f"{len(patterns())} patterns  UNCHECKED  {observed.reason}")
        return command.exit_undecided(options)
    width = max(len(observation.pattern.name) for observation in observed)
    for observation in observed:
        took = (
            f"{observation.cycles:8.3f} cycles  {observation.wavefronts:3} wavefronts{'' if observation.clear else '?'}"
        )
        command.show(f"{observation.pattern.name:<{width}}  {took}")
    if options.record:
        write(options.record / observed[0].device.file, observed)
    return 0

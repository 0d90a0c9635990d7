# SPDX-License-Identifier: Apache-2.0
"""`python -m gpu_checks.banks`: how long shared memory takes for 32 addresses, which shows its bank conflicts.

Many warps repeat one access with the same addresses, so that nothing but shared memory limits them. The cycles of an
access are what was observed. Divided by those of a 32-bit load of 32 neighbouring words, which is one wavefront, they
are the wavefronts that the access takes: the times that the banks have to be asked.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from gpu_checks.device import Loaded, compile_cubin, device, load
from gpu_checks.sources import COMMON
from gpu_checks.values import DeviceInfo, Refused, Unavailable

SCHEMA = 1
RECORDINGS = Path(__file__).parent / "recordings" / "banks"
MEMORY = 32 * 1024  # bytes that addresses may reach
UNIT = "load 32, stride 1"  # the pattern that is one wavefront
_WARPS, _ROUNDS, _UNROLLED, _REPEATS = 16, 256, 16, 5
_BLOCKS = 64  # of one launch: fewer than a GPU has multiprocessors, so that none has two

Addresses = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pattern:
    """What each lane of a warp asks for: a load or store of some bits, or the rows of a matrix load."""

    name: str
    operation: str  # load, store, ldmatrix.x1, ldmatrix.x2, ldmatrix.x4
    bits: int  # of one lane's access; 128, a row, for ldmatrix
    addresses: Addresses  # byte of shared memory for each of 32 lanes


@dataclass(frozen=True, slots=True)
class Observation:
    """The cycles that a pattern took on one GPU."""

    pattern: Pattern
    cycles: float  # per access of a warp, the least of several runs
    unit: float  # those of one wavefront, in the same run
    kernel_hash: str  # SHA-256 of the CUDA text
    device: DeviceInfo
    date: str

    @property
    def wavefronts(self) -> int:
        """How often the banks were asked, to the nearest whole number."""
        return round(self.cycles / self.unit)

    @property
    def clear(self) -> bool:
        """Whether the cycles are near a whole number of wavefronts: within a fifth of one, or a hundredth of all."""
        return abs(self.cycles / self.unit - self.wavefronts) < max(0.2, 0.01 * self.wavefronts)


def patterns() -> tuple[Pattern, ...]:
    """The patterns that are recorded; their names are unique."""
    lane = np.arange(32)
    return tuple(
        Pattern(f"{operation} {bits}, {name}", operation, bits, tuple(map(int, addresses)))
        for operation, bits, name, addresses in (
            *_strides(lane),
            *_shared_words(lane),
            *_merged(lane),
            *_phases(lane),
            *_drawn(),
            *_tiles(lane),
            *_matrices(lane),
        )
    )


_Rows = Iterator[tuple[str, int, str, Any]]


def _strides(lane: Any) -> _Rows:
    """Neighbouring lanes a whole number of accesses apart; odd strides meet no bank twice."""
    for operation in ("load", "store"):
        for bits, steps in ((32, (1, 2, 4, 8, 16, 32, 33)), (64, (1, 2, 4, 16, 17)), (128, (1, 2, 4, 8, 9))):
            for step in steps:
                yield operation, bits, f"stride {step}", lane * step * bits // 8
    yield "load", 16, "stride 1", lane * 2
    yield "load", 8, "stride 1", lane
    yield "load", 16, "stride 32", lane * 64


def _shared_words(lane: Any) -> _Rows:
    """Lanes that ask for the same word, which is no conflict."""
    for bits in (32, 64, 128):
        wide = bits // 8
        yield "load", bits, "all the same", 0 * lane
        yield "load", bits, "pairs the same", lane // 2 * wide
        yield "load", bits, "lane and lane + 16 the same", lane % 16 * wide
        yield "load", bits, "pairs the same, in one bank", lane // 2 * 128
        yield "store", bits, "all the same", 0 * lane
    yield "load", 32, "two words of one bank", lane % 2 * 128
    yield "load", 32, "reversed", (31 - lane) * 4


def _merged(lane: Any) -> _Rows:
    """Wide loads in which lanes share words: which sharing lets two phases become one, and at what price."""
    for bits in (64, 128):
        wide, random = bits // 8, np.random.default_rng(1000 + bits)
        below = {1: lane // 2, 2: lane & 1 | lane >> 2 << 1, 4: lane & 3 | lane >> 3 << 2, 8: lane & 7 | lane >> 4 << 3}
        for bit in (2, 4, 8):
            yield "load", bits, f"lane and lane ^ {bit} the same", below[bit] * wide
        for count in (4, 8, 16):
            yield "load", bits, f"{count} lanes the same", lane // count * wide
        for bit in (1, 2):
            for number in range(3):
                word = random.integers(0, MEMORY // wide, 16)
                yield "load", bits, f"lane and lane ^ {bit} the same, random {number}", word[below[bit]] * wide
        yield "load", bits, "pairs the same but the last", np.where(lane == 31, 64, lane // 2) * wide
        yield "load", bits, "pairs the same in the first half", np.where(lane < 16, lane // 2, lane) * wide
        yield "load", bits, "pairs the same in the first quarter", np.where(lane < 8, lane // 2, lane) * wide
        yield "load", bits, "first half lane ^ 1, second lane ^ 2", np.where(lane < 16, below[1], below[2]) * wide
    yield "store", 64, "pairs the same", lane // 2 * 8
    yield "store", 128, "pairs the same", lane // 2 * 16


def _phases(lane: Any) -> _Rows:
    """Which lanes of a wide access are served together: those that conflict here stand one half or quarter apart."""
    for bits, together in ((64, 16), (128, 8)):
        wide = bits // 8
        apart = lane % together * wide
        yield "load", bits, f"lane and lane + {together} in one bank", apart + lane // together * 1024
        yield "load", bits, "even and odd lanes in one bank", lane // 2 * wide + lane % 2 * 2048
        yield "load", bits, "second half in the banks of the first", lane % 16 * wide + lane // 16 * 4096
        yield "load", bits, "the first phase in one bank", np.where(lane < together, lane * 128, lane * wide + 8192)
    yield "load", 64, "quarters in one bank", lane % 8 * 8 + lane // 8 * 128
    yield "load", 128, "every fourth lane in one bank", lane % 4 * 16 + lane // 4 * 128


def _drawn() -> _Rows:
    """Addresses at random: a permutation of neighbours, and any words."""
    for bits in (32, 64, 128):
        random = np.random.default_rng(bits)
        yield "load", bits, "permuted", random.permutation(32) * bits // 8
        for number in range(4):
            yield "load", bits, f"random {number}", random.integers(0, MEMORY * 8 // bits, 32) * bits // 8
        yield "store", bits, "random", random.permutation(MEMORY * 8 // bits)[:32] * bits // 8


def _swizzled(address: Any, bits: int) -> Any:
    """Swizzle<bits,4,3> of a byte address."""
    return address ^ (address >> 7 & (1 << bits) - 1) << 4


def _tiles(lane: Any) -> _Rows:
    """A tile of 16-bit elements with rows of 128 bytes, in pieces of 16 bytes: along its rows and its columns."""
    row, column = lane // 8 * 128 + lane % 8 * 16, lane * 128
    for operation in ("load", "store"):
        for bits in (0, 1, 2, 3):
            how = f"swizzled by Sw<{bits},4,3>" if bits else "not swizzled"
            yield operation, 128, f"rows of a tile, {how}", _swizzled(row, bits)
            yield operation, 128, f"column of a tile, {how}", _swizzled(column, bits)
    yield "load", 128, "column of a tile, rows of 144 bytes", lane * 144


def _matrices(lane: Any) -> _Rows:
    """The rows of 8x8 matrices of 16-bit elements."""
    for count in (1, 2, 4):
        for pitch in (16, 32, 64, 128, 144, 256):
            yield f"ldmatrix.x{count}", 128, f"rows {pitch} bytes apart", lane * pitch
        yield f"ldmatrix.x{count}", 128, "rows 128 bytes apart, swizzled", _swizzled(lane * 128, 3)
        yield f"ldmatrix.x{count}", 128, "rows 64 bytes apart, swizzled", _swizzled(lane * 64, 2)
    yield "ldmatrix.x4", 128, "one row", 0 * lane
    yield "ldmatrix.x4", 128, "the same row in each matrix", lane % 8 * 16
    yield "ldmatrix.x4", 128, "random", np.random.default_rng(4).integers(0, MEMORY // 16, 32) * 16


_KERNEL = Template("""\
extern "C" __global__ void __launch_bounds__($threads) $name(const u32* addresses, u64* cycles, u32* sink) {
  __shared__ __align__(1024) u32 memory[$words];
  for (int w = threadIdx.x; w < $words; w += $threads) memory[w] = w;
  u32 at = (u32)__cvta_generic_to_shared(memory) + addresses[blockIdx.x * 32 + threadIdx.x % 32], sum = 0;
  const u32 zero = cycles[blockIdx.x];  // which the compiler does not know: it must not take two accesses for one
  u64 start = 0;
  for (int round = -1; round < $rounds; ++round) {
    if (round == 0) {  // the one before has filled the instruction cache
      __syncthreads();
      start = clock64();
    }
    #pragma unroll
    for (int i = 0; i < $unrolled; ++i) {
      $access
      at += zero;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - start;
  sink[blockIdx.x * $threads + threadIdx.x] = sum;
}
""")
_LETTERS = {8: ("u8", 1), 16: ("u16", 1), 32: ("u32", 1), 64: ("v2.u32", 2), 128: ("v4.u32", 4)}


def kernel(operation: str, bits: int) -> str:
    """The CUDA text that times one kind of access; a block for each pattern."""
    return COMMON + _KERNEL.substitute(
        name="banks",
        threads=32 * _WARPS,
        words=MEMORY // 4,
        rounds=_ROUNDS,
        unrolled=_UNROLLED,
        access=_access(operation, bits),
    )


def _access(operation: str, bits: int) -> str:
    if operation.startswith("ldmatrix"):
        count = int(operation.removeprefix("ldmatrix.x"))
        return _read(f"ldmatrix.sync.aligned.m8n8.x{count}.shared.b16", count)
    kind, count = _LETTERS[bits]
    if operation == "load":
        return _read(f"ld.shared.{kind}", count)
    given = ", ".join(["%1"] * count)
    given = f"{{{given}}}" if count > 1 else given
    return f'asm volatile("st.shared.{kind} [%0], {given};" :: "r"(at), "r"(zero) : "memory");'


def _read(mnemonic: str, count: int) -> str:
    """A load whose registers are all of use, so that it stays as wide as it is."""
    names = [f"r{n}" for n in range(count)]
    listed = ", ".join(f"%{n}" for n in range(count))
    listed = f"{{{listed}}}" if count > 1 or "ldmatrix" in mnemonic else listed
    outputs = ", ".join(f'"=r"({name})' for name in names)
    text = f'asm volatile("{mnemonic} {listed}, [%{count}];" : {outputs} : "r"(at) : "memory");'
    return f"u32 {', '.join(names)};\n      {text}\n      sum ^= {' ^ '.join(names)};"


def check(pattern: Pattern) -> None:
    """ValueError for a pattern that a GPU would fault on."""
    if len(pattern.addresses) != 32:
        raise ValueError(f"{pattern.name}: {len(pattern.addresses)} addresses; a warp has 32 lanes")
    wide = pattern.bits // 8
    for lane, address in enumerate(pattern.addresses):
        if address % wide or not 0 <= address <= MEMORY - wide:
            raise ValueError(f"{pattern.name}: lane {lane} asks for byte {address}; multiples of {wide} below {MEMORY}")


def measure(chosen: Sequence[Pattern]) -> list[Observation] | Unavailable:
    """Time the patterns on the GPU at hand; Unavailable, with the reason, where there is none."""
    for pattern in chosen:
        check(pattern)
    info = device()
    if isinstance(info, Unavailable):
        return info
    unit = next(pattern for pattern in patterns() if pattern.name == UNIT)
    try:
        cycles = _cycles([unit, *chosen], info)
    except Refused as refused:
        return Unavailable(str(refused))
    today = date.today().isoformat()
    return [Observation(one, cycles[one], cycles[unit], hash_of(one), info, today) for one in chosen]


def hash_of(pattern: Pattern) -> str:
    """SHA-256 of the CUDA text that times a pattern."""
    return hashlib.sha256(kernel(pattern.operation, pattern.bits).encode()).hexdigest()


def _cycles(chosen: Sequence[Pattern], info: DeviceInfo) -> Mapping[Pattern, float]:
    """Cycles of one access of a warp, pattern by pattern."""
    found: dict[Pattern, float] = {}
    for operation, bits in dict.fromkeys((one.operation, one.bits) for one in chosen):
        group = [one for one in dict.fromkeys(chosen) if (one.operation, one.bits) == (operation, bits)]
        module = load(compile_cubin(kernel(operation, bits), info.sm))
        for start in range(0, len(group), _BLOCKS):
            found |= _timed(module, group[start : start + _BLOCKS])
    return found


def _timed(module: Loaded, group: Sequence[Pattern]) -> dict[Pattern, float]:
    """One launch, repeated, for patterns of one kind: a block each."""
    addresses = np.array([one.addresses for one in group], np.uint32)
    runs = []
    for _ in range(_REPEATS):
        blank, sink = np.zeros(len(group), np.uint64), np.zeros((len(group), 32 * _WARPS), np.uint32)
        runs.append(module.launch("banks", (len(group),), 32 * _WARPS, [addresses, blank, sink], [1])[0])
    least = np.min(runs, axis=0) / (_WARPS * _ROUNDS * _UNROLLED)
    return {one: round(float(cycles), 4) for one, cycles in zip(group, least, strict=True)}


def recordings_of_banks(folder: Path = RECORDINGS) -> tuple[Observation, ...]:
    """Every recorded observation. ValueError for a malformed line, with its file and number."""
    return tuple(one for path in sorted(folder.glob("*.jsonl")) for one in _read_file(path))


def _read_file(path: Path) -> Iterator[Observation]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            data = json.loads(line)
            pattern = Pattern(data["name"], data["operation"], data["bits"], tuple(data["addresses"]))
            info = DeviceInfo(**{key: data[key] for key in ("gpu", "sm", "driver", "cuda", "nvrtc")})
            yield Observation(pattern, data["cycles"], data["unit"], data["kernel_hash"], info, data["date"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path}:{number}: {error!r}") from error


def write(path: Path, observed: Sequence[Observation]) -> None:
    """One line each; the folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(_data(one)) + "\n" for one in observed), encoding="utf-8")


def _data(one: Observation) -> dict[str, Any]:
    pattern, info = one.pattern, one.device
    return {
        "schema": SCHEMA,
        "name": pattern.name,
        "operation": pattern.operation,
        "bits": pattern.bits,
        "addresses": pattern.addresses,
        "cycles": one.cycles,
        "unit": one.unit,
        "wavefronts": one.wavefronts,
        "kernel_hash": one.kernel_hash,
        **{key: getattr(info, key) for key in ("gpu", "sm", "driver", "cuda", "nvrtc")},
        "date": one.date,
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; 0 done, 2 for an unwritable folder, 4 under --require where there is no GPU."""
    parser = argparse.ArgumentParser(prog="python -m gpu_checks.banks", description=__doc__)
    parser.add_argument("--list", action="store_true", help="print the patterns and stop")
    parser.add_argument("--record", type=Path, metavar="DIR", help="write DIR/<gpu>.jsonl, a line for each pattern")
    parser.add_argument("--require", action="store_true", help="exit 4 where there is no GPU")
    options = parser.parse_args(argv)
    if options.list:
        print("\n".join(pattern.name for pattern in patterns()))
        return 0
    found = measure(patterns())
    if isinstance(found, Unavailable):
        print(f"UNCHECKED  {len(patterns())} patterns: {found.reason}")
        return 4 if options.require else 0
    for one in found:
        print(f"{one.cycles:8.3f} cycles  {one.wavefronts:3} wavefronts{'' if one.clear else '?'}  {one.pattern.name}")
    if options.record:
        gpu = found[0].device.gpu.lower().replace(" ", "_")
        try:
            write(options.record / f"{gpu}.jsonl", found)
        except OSError as error:
            print(f"banks: {error}", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

# SPDX-License-Identifier: Apache-2.0
"""`lanecheck discover MNEMONIC | FILE.cu::function`: the map that a GPU shows, in text or JSON.

No table of ours is read but the signature of an instruction: its registers and types. A map is printed as a layout, as
F2 bases, and point by point.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gpu_checks
from gpu_checks import command
from gpu_checks.discover.found_map import FoundMap
from gpu_checks.discover.observed import APPEARANCE, STORED, of_move, of_recording
from gpu_checks.model import Unavailable
from gpu_checks.recording import Move, Recording
from isa_tables.signature import Signature, signature
from lanecheck.console.columns import wrap_clauses
from lanecheck.console.command import add_execution, forbidden, width
from lanecheck.console.command import parser as parser_of
from lanecheck.console.exits import Exit
from lanecheck.console.outputs import output, write_file

SCHEMA = 2
SUFFIXES = (".cu::", ".cuh::", ".h::", ".hpp::", ".inl::")
EPILOG = """\
A function takes (int lane, int i) and returns int2, a struct with row and col, or a tuple; or it takes two more
arguments for row and column, references or pointers. It is compiled with NVRTC, called for every lane and value, twice,
in a process of its own that is ended after --timeout seconds. That isolates accidents, it isn't a sandbox: in CI (the
variable CI is set) it needs --allow-exec.
"""


@dataclass(frozen=True)
class DiscoveredMaps:
    """What was found: the maps, on which GPU, from where."""

    subject: str  # as it was given
    gpu: str  # name and software
    source: str  # the recording's file and line; or that it was just probed
    maps: Sequence[FoundMap]  # of each operand
    notes: Sequence[str] = ()  # what isn't a map
    wanted: Signature | None = None  # of an instruction
    alike: Sequence[str] = ()  # of a short name: the instructions that have these maps

    @property
    def mnemonic(self) -> str:
        """Of an instruction; empty for a function."""
        return self.wanted.mnemonic if self.wanted else ""

    @property
    def selects_space(self) -> bool:
        """Whether A may be in registers or not: the maps are those of registers."""
        return self.wanted is not None and "A_space" in self.wanted.select


def main(argv: Sequence[str] | None = None) -> int:
    """Find the maps that the arguments name; returns the exit code."""
    return command.guard_exit("discover", lambda: _run_discovery(_parser().parse_args(argv)))


def _run_discovery(options: argparse.Namespace) -> int:
    of_function = any(mark in options.subject for mark in SUFFIXES)
    given = [word for word in ("values", "include", "define") if getattr(options, word)]
    if not of_function and given:
        raise ValueError(
            f"--{given[0]} is for a function, FILE.cu::function; {options.subject} is taken for a mnemonic"
        )
    discovered = _discover_function(options) if of_function else _of_instruction(options)
    if isinstance(discovered, Unavailable):
        command.show(f"{options.subject}  UNCHECKED  {discovered.reason}")
        return Exit.UNDECIDED
    if options.operand:
        chosen = [operand_map for operand_map in discovered.maps if operand_map.operand == options.operand]
        if not chosen:
            has = ", ".join(operand_map.operand for operand_map in discovered.maps)
            raise ValueError(f"{discovered.subject} has no map of {options.operand}: it has {has}")
        discovered = replace(discovered, maps=chosen)
    if options.format == "json":
        text = _as_json(discovered)
    else:
        text = wrap_clauses("\n".join(_as_text(discovered, options)), width(sys.stdout.isatty() and not options.output))
    if options.output:
        write_file(options.output, text)
    else:
        print(text, end="")
    return Exit.UNDECIDED if discovered.notes else Exit.OK


def _parser() -> argparse.ArgumentParser:
    what = "Find the map of an instruction, or of a function of yours, by observation alone."
    example = "ldmatrix.sync.aligned.m8n8.x4.shared.b16"
    parser = parser_of("lanecheck discover", what, example, EPILOG)
    parser.add_argument("subject", metavar="SUBJECT", help="a PTX mnemonic or its short name, or FILE.cu::function")
    parser.add_argument("--operand", metavar="NAME", help="only the map of this operand: A, B, D; R of a move")
    parser.add_argument("--live", action="store_true", help="probe this machine's GPU instead of reading recordings")
    parser.add_argument("--recordings", type=Path, metavar="DIR", help="further recordings, which are taken first")
    parser.add_argument("--values", type=_positive, metavar="N", help="of a function: how many values a lane has")
    parser.add_argument("--lanes", type=_positive, default=32, metavar="N", help="of a function: how many lanes (32)")
    parser.add_argument(
        "--include", action="append", default=[], metavar="DIR", help="of a function: folder of headers"
    )
    parser.add_argument("--define", action="append", default=[], metavar="NAME[=TEXT]", help="of a function: a macro")
    parser.add_argument("--timeout", type=_positive, default=60, metavar="S", help="seconds for a probe (60)")
    add_execution(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to report")
    parser.add_argument("-v", "--verbose", action="store_true", help="print every point in the text too")
    words = "write the report there instead of stdout"
    parser.add_argument("-o", "--output", type=output, metavar="FILE", help=words)
    return parser


def _positive(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 1 << 31:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer of 1 or more")
    return int(text)


def _discover_function(options: argparse.Namespace) -> DiscoveredMaps | Unavailable:
    from gpu_checks.discover.function import FileFunction, discover_map

    if line := forbidden(options.allow_exec):
        raise ValueError(line)
    if options.live or options.recordings:
        raise ValueError(f"--{'live' if options.live else 'recordings'} is for a mnemonic: a function is always called")
    if options.values is None:
        raise ValueError("how many values has a lane? Give --values, such as --values 4")
    mark = next(mark for mark in SUFFIXES if mark in options.subject)
    file, name = options.subject.split(mark, 1)
    path = Path(file + mark.removesuffix("::"))
    function = FileFunction(path, name, options.lanes, options.values, tuple(options.include), tuple(options.define))
    operand_map = discover_map(function, options.timeout)
    if isinstance(operand_map, Unavailable):
        return operand_map
    info = gpu_checks.device_info()
    where = (
        "" if isinstance(info, Unavailable) else f"{info.gpu}, driver {info.driver or 'unknown'}, NVRTC {info.nvrtc}"
    )
    return DiscoveredMaps(options.subject, where, "called just now", [operand_map])


def _of_instruction(options: argparse.Namespace) -> DiscoveredMaps | Unavailable:
    """Return the maps of an instruction, or those on which all instructions of a short name agree.

    Raises ValueError, with a mnemonic for each map, if they differ.
    """
    meant = command.find_mnemonics(options.subject)  # ValueError, with the nearest, for an unknown one
    wanted = [signature(name) for name in meant]
    seen = (
        _probe_instructions(wanted, options.timeout) if options.live else _find_recordings(wanted, options.recordings)
    )
    groups: dict[object, list[DiscoveredMaps]] = {}
    for instruction, recording in zip(wanted, seen, strict=True):
        if not isinstance(recording, Unavailable):
            discovered = _find_maps(instruction, recording)
            maps = [m for m in discovered.maps if options.operand in (None, m.operand)]
            same = tuple((m.operand, *m.inputs, *m.axes, *m.lengths, *m.extent, m.table.tobytes()) for m in maps)
            groups.setdefault(same, []).append(discovered)
    if not groups:
        return next(absent for absent in seen if isinstance(absent, Unavailable))
    if len(groups) > 1:
        names = [f"{first.subject}{f' ({len(more)} more alike)' if more else ''}" for first, *more in groups.values()]
        raise ValueError(f"{options.subject} was seen with {len(groups)} maps, give one: {', '.join(names)}")
    ((first, *rest),) = groups.values()
    alike = [also.subject for also in rest]
    return (
        first
        if options.subject in [instruction.mnemonic for instruction in wanted]
        else replace(first, subject=options.subject, alike=[first.subject, *alike])
    )


def _find_maps(wanted: Signature, seen: Recording | Move) -> DiscoveredMaps:
    """Return the maps of a recording."""
    where = f"{seen.gpu}, driver {seen.driver or 'unknown'}, CUDA {seen.cuda}, {seen.date}"
    source = f"recorded, {Path(seen.file).name}:{seen.line}" if seen.file else "probed just now"
    notes = list(seen.exceptions)
    if isinstance(seen, Move):
        name, fragment = next((name, fragment) for name, fragment in wanted.operands.items() if name in "RD")
        return DiscoveredMaps(seen.mnemonic, where, source, [of_move(seen, name, fragment.bits)], notes, wanted)
    if seen.controls is None or not seen.controls.hold:
        notes.append("its controls do not hold: random products through these maps come out wrong")
    return DiscoveredMaps(seen.mnemonic, where, source, of_recording(seen), notes, wanted)


def _probe_instructions(wanted: Sequence[Signature], timeout: float) -> list[Recording | Move | Unavailable]:
    from gpu_checks.worker import Relate, Worker

    with Worker(timeout=timeout) as worker:
        answers: dict[int, Recording | Move | Unavailable] = dict(
            worker.run_jobs([Relate(instruction) for instruction in wanted])
        )
    return [answers[index] for index in range(len(wanted))]


def _find_recordings(wanted: Sequence[Signature], folder: Path | None) -> list[Recording | Move | Unavailable]:
    """Return the recording of each instruction, one of the folder first."""
    library = gpu_checks.recordings(*([folder] if folder else []))
    absent = Unavailable("there is no recording of it; --live probes this machine's GPU")
    recorded: list[Recording | Move | Unavailable] = []
    for instruction in wanted:
        seen: tuple[Recording | Move, ...] = (
            *library.get(instruction.mnemonic, ()),
            *library.moves.get(instruction.mnemonic, ()),
        )
        recorded.append(seen[-1] if seen else absent)
    return recorded


def _as_text(seen: DiscoveredMaps, options: argparse.Namespace) -> Iterator[str]:
    yield f"{seen.subject}  {seen.gpu}  {seen.source}"
    if seen.alike:
        first, *rest = seen.alike
        yield f"  {seen.subject} is {first}{'; the same maps have been seen in ' if rest else ''}{', '.join(rest)}"
    yield from (f"  not a map: {note}" for note in seen.notes)
    for operand_map in seen.maps:
        texts = {"layout": operand_map.layout(), "bases": operand_map.bases()}
        yield from ("", _heading(operand_map))
        for name, (text, why) in texts.items():
            yield f"  {name:<7} {text or f'none: {why}'}"
        if options.verbose or not any(text for text, _ in texts.values()):
            yield from _points(operand_map)
        yield from _commands(seen, operand_map)
    premises = dict(source for operand_map in seen.maps for source in operand_map.numbered.values() if source[1])
    yield from ("", *(f"{name}: {premise}" for name, premise in premises.items())) if premises else ()


def _heading(operand_map: FoundMap) -> str:
    """Return an operand with its tile, its inputs, and what numbers its axes."""
    rows, columns = operand_map.extent
    line = f"{operand_map.operand}  ({', '.join(operand_map.axes)}) {rows}x{columns}, "
    *lanes, values = operand_map.lengths
    line += f"{lanes[0]} lanes of {values} values" if lanes else f"{values} elements in order of address"
    for source in dict.fromkeys(operand_map.numbered.values()):
        axes = [axis for axis, by in operand_map.numbered.items() if by == source]
        line += f"; {' and '.join(axes)} by {source[0]}"
    return line


def _points(operand_map: FoundMap) -> Iterator[str]:
    """Yield a line for each lane: the element of each value."""
    table = operand_map.table.reshape(-1, operand_map.table.shape[-2], 2)
    for lane, row in enumerate(table.tolist()):
        listed = " ".join(f"({x},{y})" if min(x, y) >= 0 else "-" for x, y in row)
        yield f"  {f'{operand_map.inputs[0]} {lane}' if len(operand_map.inputs) > 1 else 'elements'}: {listed}"


def _commands(discovered: DiscoveredMaps, operand_map: FoundMap) -> Iterator[str]:
    """Yield the commands that compare the map with the ISA tables: which other check has it, and whether it is it."""
    layout, bases = operand_map.layout()[0], operand_map.bases()[0]
    if "element" in operand_map.inputs or STORED in operand_map.axes:
        return
    if layout and "element" not in operand_map.axes:
        tile = "x".join(map(str, operand_map.extent[:: -1 if operand_map.along else 1]))
        yield f"  then    {shlex.join(['lanecheck', 'identify', layout, '--tile', tile])}"
    if (
        bases
        and discovered.mnemonic
        and APPEARANCE not in operand_map.numbered.values()
        and "source lane" not in operand_map.axes
    ):
        words = ["--ptx", discovered.mnemonic, "--operand", operand_map.operand, "--bases", bases]
        words += ["--select", "A_space=reg"] if discovered.selects_space and operand_map.operand == "A" else []
        yield f"  then    {shlex.join(['lanecheck', 'index', *words])}"


def _as_json(discovered: DiscoveredMaps) -> str:
    document = {
        "schema": SCHEMA,
        "subject": discovered.subject,
        "gpu": discovered.gpu,
        "source": discovered.source,
        "notes": list(discovered.notes),
        **({"alike": list(discovered.alike)} if discovered.alike else {}),
        "maps": [_map(operand_map) for operand_map in discovered.maps],
    }
    return json.dumps(document) + "\n"


def _map(operand_map: FoundMap) -> dict[str, Any]:
    layout, no_layout = operand_map.layout()
    bases, no_bases = operand_map.bases()
    return {
        "operand": operand_map.operand,
        "inputs": dict(zip(operand_map.inputs, operand_map.lengths, strict=True)),
        "axes": dict(zip(operand_map.axes, operand_map.extent, strict=True)),
        "numbered": {axis: source for axis, (source, _) in operand_map.numbered.items()},
        "layout": layout or None,
        "bases": bases or None,
        "why": {name: why for name, why in (("layout", no_layout), ("bases", no_bases)) if why},
        "table": operand_map.table.tolist(),
    }

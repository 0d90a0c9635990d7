# SPDX-License-Identifier: Apache-2.0
"""What the interpreter computes with each form of each opcode on plain bits, beside what a GPU recorded.

Many probes are interpreted as one kernel: the text that ran on the GPU, block behind block. A form whose instruction
has no meaning is taken out, and the rest is interpreted again. `python -m tests.kernels.recorded_opcodes --write`
writes the lists of the forms that have no meaning and that were not recorded.
"""

from __future__ import annotations

import sys
import tomllib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any

import numpy as np

from gpu_checks.opcodes.recording import OpcodeRecording, recordings_of_opcodes
from gpu_checks.opcodes.rejected import accepted_forms, expand, fold
from gpu_checks.opcodes.text import GUARDS, HEAD, PATTERN, Probe, entry, guard_columns
from gpu_checks.opcodes.values import LANES, PACKED
from verify.kernel.claims.expression import read_claim
from verify.kernel.claims.launch import Array, Launch
from verify.kernel.data.values import SIZE, Values
from verify.kernel.interpretation import Interpretation, Missing
from verify.kernel.ptx.parse import parse_kernel
from verify.kernel.ptx.source import PtxError
from verify.kernel.state.findings import GUARD_LOST, Unclear

LIST = Path(__file__).with_suffix(".toml")
_TOGETHER = 128  # probes of a kernel
_TARGET, _VALUE = read_claim("taken[i] = given[i]")


@dataclass(frozen=True, slots=True, eq=False)
class Interpreted:
    """What the interpreter computes with one form."""

    results: tuple[np.ndarray, ...] = ()  # bytes, as `Probe.taken` has them
    known: tuple[np.ndarray, ...] = ()  # which of them have a meaning
    reason: str = ""  # why there are no results
    alarm: str = ""  # an error that the interpreter found in the kernel


def interpret(probes: Sequence[Probe]) -> dict[str, Interpreted]:
    """Return what the interpreter computes with each probe, by the form's name."""
    by_form: dict[str, Interpreted] = {}
    for _, some in groupby(sorted(probes, key=_together), _together):
        chosen = list(some)
        for start in range(0, len(chosen), _TOGETHER):
            by_form |= _interpret_kernel(chosen[start : start + _TOGETHER])
    return by_form


def _together(probe: Probe) -> tuple[bool, str]:
    """Return what probes of one kernel share: the guards, and for atomics the type of the array that they add to."""
    form = probe.form
    kind = next(part.kind for part in form.parts if part.role == "b") if form.group == "atomic" else "u8"
    return form.lanes == 32, PACKED.get(kind, kind)


def _interpret_kernel(probes: Sequence[Probe]) -> dict[str, Interpreted]:
    """Interpret some probes as one kernel; again, without those that end it."""
    by_form: dict[str, Interpreted] = {}
    left = list(probes)
    while left:
        reasons = _run(left, by_form)
        by_form |= {left[place].form.name: Interpreted(reason=text) for place, text in reasons.items()}
        left = [probe for place, probe in enumerate(left) if place not in reasons] if reasons else []
    return by_form


def _run(probes: Sequence[Probe], by_form: dict[str, Interpreted]) -> Mapping[int, str]:
    """Interpret the probes and add what they give; if some have no meaning, return why, by their places, instead."""
    reads = accumulate((len(probe.operands) for probe in probes), initial=GUARDS)
    writes = list(accumulate((len(probe.output) for probe in probes), initial=0))
    bodies = [probe.body(*places) for probe, *places in zip(probes, reads, writes, strict=False)]
    text = HEAD + entry("opcodes", [probe.form for probe in probes], bodies)
    first = text[: text.index(bodies[0])].count("\n") + 1
    starts = list(accumulate((body.count("\n") + 1 for body in bodies), initial=first))[:-1]
    given = np.concatenate([guard_columns(probes[0].form), *(probe.operands for probe in probes)])
    try:
        run = _interpretation(text, given, writes[-1], _together(probes[0])[1])
        run.interpret()
    except Missing as missing:
        return {bisect_right(starts, finding.line) - 1: finding.text for finding in missing.findings}
    except (Unclear, PtxError) as error:
        return {bisect_right(starts, error.line) - 1: error.problem}
    # Each form has a guard here.
    findings = [finding for finding in run.findings.reported.values() if finding.kind != GUARD_LOST]
    alarms = {bisect_right(starts, finding.line) - 1: finding.text for finding in findings}
    stored = run.regions[1].stored
    assert stored is not None
    for place, (probe, start) in enumerate(zip(probes, writes, strict=False)):
        span = slice(start, start + len(probe.output))
        bits = [np.frombuffer(octets, np.uint8) for octets in probe.split_results(stored.plain[span])]
        known = [
            np.frombuffer(octets, np.uint8) == 0
            for octets in probe.split_results((stored.labels[span] > 0).astype(np.uint8))
        ]
        by_form[probe.form.name] = Interpreted(tuple(bits), tuple(known), alarm=alarms.get(place, ""))
    return {}


def _interpretation(text: str, given: np.ndarray, size: int, kind: str) -> Interpretation:
    """Return the interpretation of a kernel that reads these bytes and writes so many, all of them plain bits."""
    arrays = (
        Array("given", ("i",), (len(given),), (1,), "u8", 0, False, False, False, content=given.astype(np.int64)),
        Array("taken", ("i",), (size // SIZE[kind],), (1,), kind, 0, True, False, False),
    )
    launch = Launch({}, (1, 1, 1), (LANES, 1, 1), 0, arrays, ("given", "taken"), {}, _TARGET, _VALUE, (), ())
    run = Interpretation(parse_kernel(text, "opcodes"), launch, Values(seed=1), budget=10**7, samples={})
    stored = run.regions[1].stored
    assert stored is not None
    stored.labels[:], stored.plain[:] = 0, PATTERN
    return run


@dataclass(frozen=True, slots=True)
class Compared:
    """How the interpreter and a GPU agree about one form."""

    status: str  # equal, differs, no meaning, alarm
    why: str  # in words


def compare_bits(seen: Interpreted, recorded: Sequence[bytes]) -> Compared:
    """Compare the bits of one form: those that have no meaning are not compared, all others must be equal."""
    if seen.reason:
        return Compared("no meaning", seen.reason)
    if seen.alarm:
        return Compared("alarm", seen.alarm)
    wrong = np.zeros(LANES, bool)
    for bits, known, octets in zip(seen.results, seen.known, recorded, strict=True):
        theirs = np.frombuffer(octets, np.uint8)
        wrong |= ((bits != theirs) & known).reshape(LANES, -1).any(1)
    if wrong.any():
        lane = int(wrong.argmax())
        mine, theirs = (_show_lane(results, lane) for results in (seen.results, recorded))
        return Compared("differs", f"{int(wrong.sum())} of {LANES} lanes; lane {lane} has {mine}, a GPU {theirs}")
    if not all(mask.all() for mask in seen.known):
        return Compared("no meaning", "a result has none")
    return Compared("equal", "")


def payload_alone(seen: Interpreted, recorded: Sequence[bytes], kind: str) -> bool:
    """Whether each value of a type that differs is a NaN on both sides."""
    for bits, known, octets in zip(seen.results, seen.known, recorded, strict=True):
        mine, theirs = (np.frombuffer(raw, {"f32": "<f4", "f64": "<f8"}[kind]) for raw in (bits.tobytes(), octets))
        apart = mine.view(f"u{mine.itemsize}") != theirs.view(f"u{mine.itemsize}")
        apart &= known.reshape(len(mine), -1).any(1)
        if (apart & ~(np.isnan(mine) & np.isnan(theirs))).any():
            return False
    return True


def equal_without_guards(seen: Interpreted, recorded: Sequence[bytes]) -> bool:
    """Whether the results of the instruction without a guard, the first half, are equal."""
    half = len(seen.results) // 2
    return compare_bits(Interpreted(seen.results[:half], seen.known[:half]), recorded[:half]).status == "equal"


def _show_lane(results: Sequence[Any], lane: int) -> str:
    words = (bytes(octets)[lane * len(bytes(octets)) // LANES :][: len(bytes(octets)) // LANES] for octets in results)
    return " ".join(word[::-1].hex() for word in words)


@dataclass(frozen=True, slots=True)
class Difference:
    """Forms whose bits are not the GPU's, and why."""

    forms: frozenset[str]
    section: str  # of the PTX ISA
    reason: str
    nan: str  # if the payload of NaNs is all that differs, the type of the result; else empty
    guarded: bool  # whether nothing differs but what is under a guard: those results are the second half


@dataclass(frozen=True, slots=True)
class Listed:
    """What the list beside this file says of the forms that are not equal."""

    differences: tuple[Difference, ...]
    no_meaning: frozenset[str]
    not_recorded: frozenset[str]


def read_list() -> Listed:
    """Return the list."""
    data = tomllib.loads(LIST.read_text("utf-8"))
    differences = tuple(
        Difference(
            _names(row["forms"]), str(row["section"]), str(row["reason"]), str(row.get("nan", "")),
            row.get("guarded", False),
        )
        for row in data.get("difference", ())
    )  # fmt: skip
    return Listed(differences, *(_names(data["written"][key]) for key in ("no_meaning", "not_recorded")))


def _names(lines: Sequence[str]) -> frozenset[str]:
    return frozenset(name for line in lines for name in expand(line))


@dataclass(frozen=True, eq=False)
class Outcome:
    """The interpreter beside one recording."""

    recording: OpcodeRecording
    seen: Mapping[str, Interpreted]  # by form
    compared: Mapping[str, Compared]  # by form
    absent: frozenset[str]  # forms of today that the recording has not, or by another probe

    def having(self, status: str) -> set[str]:
        """Return the forms of a status."""
        return {name for name, compared in self.compared.items() if compared.status == status}


def outcome() -> Outcome:
    """Interpret every form that was recorded and compare it."""
    (recording,) = recordings_of_opcodes()
    probes = [Probe(form) for form in accepted_forms()]
    there = [probe for probe in probes if _is_recorded(probe, recording)]
    seen = interpret(there)
    made = {name: compare_bits(interpreted, recording.forms[name].results) for name, interpreted in seen.items()}
    return Outcome(recording, seen, made, frozenset(probe.form.name for probe in probes) - made.keys())


def _is_recorded(probe: Probe, recording: OpcodeRecording) -> bool:
    """Whether the recording has this form, by this probe."""
    recorded = recording.forms.get(probe.form.name)
    return recorded is not None and bool(recorded.results) and recorded.probe == probe.digest


def write_list(comparison: Outcome) -> None:
    """Write the forms without a meaning and those that were not recorded; the differences stay as they are."""
    text = LIST.read_text("utf-8").partition("[written]\n")[0] + "[written]\n"
    for key, names in (("no_meaning", comparison.having("no meaning")), ("not_recorded", comparison.absent)):
        in_order = [form.name for form in accepted_forms() if form.name in names]
        text += f"{key} = [\n" + "".join(f'  "{line}",\n' for line in fold(in_order)) + "]\n"
    LIST.write_text(text, "utf-8")


def main() -> int:
    """Print the differences that the list doesn't explain, and how many forms are equal; --write writes the list."""
    comparison, listed = outcome(), {name for difference in read_list().differences for name in difference.forms}
    for name, compared in comparison.compared.items():
        if compared.status == "alarm" or (compared.status == "differs" and name not in listed):
            print(f"{name}: {compared.status}: {compared.why}")
    if "--write" in sys.argv:
        write_list(comparison)
    counts = ", ".join(
        f"{len(comparison.having(status))} {status}" for status in ("equal", "no meaning", "differs", "alarm")
    )
    print(f"{counts}, {len(comparison.absent)} not recorded")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

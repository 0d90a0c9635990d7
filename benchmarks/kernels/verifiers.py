# SPDX-License-Identifier: Apache-2.0
"""Lanecheck and SentryWard on the same PTX and launch: `python -m benchmarks.kernels.verifiers --other sentryward`.

Both are processes, started anew for each run: `lanecheck kernel X.ptx --claim X.toml --safety`, and `sentryward X.ptx
--input X.json`, whose file is made of the same claim. `--other` is the second one's command, from an environment of
its own (`pip install sentryward`). Times are medians of five runs, of the clock and of the processor (user and system,
of the process and of those that it started); memory is the largest resident set. Both have their bytecode, as pip
leaves it. A run that ends by its time limit is not repeated.

`--of` says which texts: the kernels themselves, their faults (`benchmarks.kernels.safety`), one planted edit of each
class, the accepted edits that docs/kernel-score.md lists, or the bugs of tests/kernels/planted.toml; all but the
kernels run once. `--record` keeps what has run, for the next time. `--limit` is the seconds that the other may take of
each, which a machine with other processes on it needs more of.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks.kernels.campaign import Sample, edits_of
from benchmarks.kernels.edits import Edit
from benchmarks.kernels.safety import FOLDERS, plant_faults
from benchmarks.kernels.score import read_score
from tests.kernels import compile as corpus
from verify.kernel.claims.claim import claim_of
from verify.kernel.claims.launch import Launch

RUNS = 5
SUM, EACH, LEAST = 0.15, 0.2, 0.5  # of the other's time: of all kernels, of one, and seconds that one may always take
TIMEOUT = 60  # seconds of the other verifier
CLOCKS = ("seconds", "processor")  # that are measured: the wall's, and the processor's
WHOLE = ("race_free", "verified")  # its results of a whole launch
FIRST = ("potential_race", "not_wellsynced", "invalid_lifecycle")  # and of one that it left at its first finding
_PARAMETER = re.compile(r"\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)[^\n]*?\s(\w+_param_\d+)")
_SCHEMA = "spverify.kernel-input/v1"


def write_inline(value: Any) -> str:
    """Return a value as TOML in one line.

    >>> write_inline({"A": {"dims": "mk", "out": True}, "n": [1, 2.5]})
    '{ "A" = { "dims" = "mk", "out" = true }, "n" = [1, 2.5] }'
    """
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {write_inline(part)}" for key, part in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(write_inline, value)) + "]"
    return json.dumps(value)


def describe_launch(ptx: str, launch: Launch) -> dict[str, Any]:
    """Return a launch as the other verifier's input: dimensions, numbers by their parameters, and tensor maps."""
    arguments, maps, base = [], [], {region.name: 0 for region in launch.arrays}
    for number, (kind, name) in enumerate(
        dict((declared[1], declared) for declared in _PARAMETER.findall(ptx)).values()
    ):
        given = launch.params[number] if number < len(launch.params) else None
        if given is None or (isinstance(given, str) and given in base):
            continue  # a pointer needs no value
        if isinstance(given, Mapping) and "map" in given:
            array = launch.array(given["map"])
            strides = [2 * stride for stride in array.strides[:-1]]
            maps.append({
                "parameter": name, "rank": len(array.shape), "element_type": array.kind, "interleave": "none",
                "element_strides": [1] * len(array.shape), "swizzle": given.get("swizzle", "none"), "oob_fill": "zero",
                "global_shape": list(array.shape[::-1]), "global_strides_bytes": strides[::-1],
                "box_shape": list(given["box"]),
            })  # fmt: skip
            continue
        size = int(kind[1:]) // 8
        contents = launch.parameter(number, size, base)
        if contents is not None:
            value: Any = int.from_bytes(contents.octets, "little")
            if kind[0] == "f":
                value = float(given) if isinstance(given, int | float) else float(launch.scalars[given])
            arguments.append({"parameter": name, "type": kind, "value": value})
    dims = {"grid_dim": launch.grid, "block_dim": launch.block, "cluster_dim": (1, 1, 1)}
    made = {"schema": _SCHEMA, "launch": {**dims, "dynamic_shared_bytes": launch.smem}, "arguments": arguments}
    return {**made, "tma_descriptors": maps} if maps else made


class Measured(NamedTuple):
    """What one run of a process took."""

    seconds: float  # of the clock
    processor: float  # seconds of it, in the process and those that it started
    megabytes: float
    output: str


def measure(command: Sequence[str]) -> Measured:
    """Run a process and return what it took."""
    given = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    given["PYTHONPYCACHEPREFIX"] = str(Path(tempfile.gettempdir()) / "lanecheck-bytecode")
    with tempfile.TemporaryFile() as out:
        started = time.monotonic()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, env=given)
        _, _, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - started
        process.returncode = 0
        out.seek(0)
        return Measured(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, out.read().decode())


def judge_ours(output: str) -> str:
    """Return the verdict of a report in JSON: a headline if its status has none for it."""
    try:
        subject = json.loads(output)["subjects"][0]
        return str(subject.get("headline", subject["status"]))
    except (ValueError, LookupError):
        return "failed"


def judge_theirs(output: str) -> str:
    """Return the other's result, with the first reason if it isn't a finding or a pass."""
    try:
        answer = json.loads(output)
    except ValueError:
        return "failed"
    codes = [diagnostic["code"] for diagnostic in answer.get("diagnostics", [])][:1]
    passed = answer["result"] in ("race_free", "verified")
    return str(answer["result"]) + ("" if passed or not codes else f": {codes[0]}")


def compare(text: str, table: Mapping[str, Any], program: str, runs: int, limit: int = TIMEOUT) -> dict[str, Any]:
    """Return what both say of a kernel and its first launch, how long they take and how much memory they hold."""
    sizes = table.get("sizes", {})
    table = {**table, "sizes": sizes[0] if isinstance(sizes, list) else sizes}
    launch = claim_of(table, claimed=False).launches[0]
    with tempfile.TemporaryDirectory() as folder:
        ptx, claim, given = (Path(folder) / name for name in ("k.ptx", "k.toml", "k.json"))
        ptx.write_text(text)
        claim.write_text("".join(f"{key} = {write_inline(value)}\n" for key, value in table.items()))
        given.write_text(json.dumps(describe_launch(text, launch)))
        ours = [sys.executable, "-m", "lanecheck", "kernel", str(ptx), "--claim", str(claim), "--safety"]
        ours += ["--seed", "1", "--format", "json"]
        theirs = [program, str(ptx), "--input", str(given), "--timeout", str(limit)]
        record: dict[str, Any] = {}
        for who, command, judge in (("ours", ours, judge_ours), ("theirs", theirs, judge_theirs)):
            measured = [measure(command)]
            while len(measured) < runs and measured[0].seconds < limit:
                measured.append(measure(command))
            seconds, processor, memory = map(median, zip(*(run[:3] for run in measured), strict=True))
            record[who] = {"seconds": round(seconds, 3), "processor": round(processor, 3), "megabytes": round(memory),
                          "verdict": judge(measured[0].output)}  # fmt: skip
        return record


def list_texts(paths: Sequence[Path], of: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield a name, a text and a table of a claim: of each kernel, or of what is made of it."""
    if of == "bugs":
        yield from _list_bugs()
        return
    for path in paths:
        text, table = path.read_text(), tomllib.loads(path.with_suffix(".toml").read_text())
        if of == "kernels":
            yield path.stem, text, table
        elif of == "faults":
            for fault in plant_faults(text):
                yield f"{path.stem}:{fault.line} {fault.sort}: {fault.old}", fault.text, table
        else:
            edits = edits_of(text, Sample(1, 0, 0, 1)) if of == "classes" else _list_accepted(path.stem)
            for edit in edits:
                yield f"{path.stem} {edit}", edit.on(text), table


def _list_accepted(kernel: str) -> Iterator[Edit]:
    """Yield the accepted edits of a kernel that were read by hand: the page of the score lists each."""
    for text in (line for listed in read_score().read.values() for line in listed):
        match = re.match(r"`(\w+)\.ptx:(\d+)` (\w+): `(.*)` > `(.*)`", text)
        if match and match[1] == kernel:
            yield Edit(int(match[2]), match[3], match[4], match[5].replace("(nothing)", ""))


def _list_bugs() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the bugs that people make in attention, compiled anew."""
    rows = {row.name: row for row in corpus.rows()}
    for name, bug in tomllib.loads((corpus.HOME / "planted.toml").read_text()).items():
        row = rows[bug["kernel"]]
        if corpus.explain_missing([row]):
            continue
        with tempfile.TemporaryDirectory() as folder:
            text = (corpus.SOURCES / row.source).read_text().replace(bug["old"], bug["new"])
            (Path(folder) / "ptx.cuh").write_text((corpus.SOURCES / "ptx.cuh").read_text())
            (Path(folder) / row.source).write_text(text)
            ((ptx, claim),) = corpus.compile_rows([row], Path(folder))
        yield f"{bug['kernel']} {name}", ptx, tomllib.loads(claim)


def list_rows(records: Mapping[str, Any]) -> Iterator[str]:
    """Yield a table in Markdown of what both said and took."""
    yield "| kernel | Lanecheck | seconds | processor | MB | SentryWard | seconds | processor | MB |"
    yield "|---|---|---:|---:|---:|---|---:|---:|---:|"
    for name, record in records.items():
        cells = (
            f"{both['verdict']} | {both['seconds']:.2f} | {both['processor']:.2f} | {both['megabytes']}"
            for both in (record["ours"], record["theirs"])
        )
        yield f"| `{name}` | {' | '.join(cells)} |"


def went_through(record: Mapping[str, Any], results: Sequence[str]) -> bool:
    """Return whether we came to a verdict, and the other verifier to one of these results."""
    return record["theirs"]["verdict"].partition(":")[0] in results and record["ours"]["verdict"] in ("SAFE", "REFUTED")


def gates(records: Mapping[str, Any], clock: str, results: Sequence[str] = WHOLE) -> tuple[float, list[str]]:
    """Return the sum of our times over that of theirs, where they came to such a result, and which take us too long."""
    ours, theirs = (
        {name: float(record[who][clock]) for name, record in records.items() if went_through(record, results)}
        for who in ("ours", "theirs")
    )
    slow = [name for name in ours if ours[name] > max(LEAST, EACH * theirs[name])]
    return sum(ours.values()) / max(sum(theirs.values()), 1e-9), slow


def main(argv: Sequence[str] | None = None) -> int:
    """Compare both; returns 1 if a gate of time is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernels.verifiers", description=__doc__)
    parser.add_argument("kernel", nargs="*", type=Path)
    parser.add_argument("--other", required=True, metavar="COMMAND")
    parser.add_argument("--of", choices=("kernels", "faults", "classes", "accepted", "bugs"), default="kernels")
    parser.add_argument("--record", type=Path, metavar="FILE", help="keep what has run, and go on from there")
    parser.add_argument("--limit", type=int, default=TIMEOUT, metavar="SECONDS", help="of the other verifier")
    options = parser.parse_args(argv)
    paths = options.kernel or [path for folder in FOLDERS for path in sorted(folder.glob("*.ptx"))]
    records = json.loads(options.record.read_text()) if options.record and options.record.is_file() else {}
    for name, text, table in list_texts(paths, options.of):
        if name not in records:
            runs = RUNS if options.of == "kernels" else 1
            records[name] = compare(text, table, options.other, runs, options.limit)
            print(name, records[name], file=sys.stderr, flush=True)
            if options.record:
                options.record.write_text(json.dumps(records, indent=1))
    print("\n".join(list_rows(records)))
    missed = False
    for clock in CLOCKS if options.of == "kernels" else ():
        total, slow = gates(records, clock)
        print(f"\n{clock}: sum {total:.2f} of theirs (gate {SUM})")
        print(f"slower than max({LEAST} s, {EACH} x theirs): {', '.join(slow) or 'none'}")
        missed = missed or total > SUM or bool(slow)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())

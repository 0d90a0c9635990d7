# SPDX-License-Identifier: Apache-2.0
"""Attacks on proofs for all sizes: `python -m benchmarks.kernels.lifted drifts|edits|oracle [KERNEL …]`.

`drifts` lets one operand drift over the trips, `edits` changes an instruction at random: a mutant that is proved is run
at random sizes, and refuted there it is a miss. `oracle` runs the proved kernel at random sizes. Every mutant is a line
of the output file; what is in it is not done again.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import lcm
from pathlib import Path
from typing import Any

from benchmarks.kernels.drifts import SHIFTS, apply_drift, draw_drifts
from benchmarks.kernels.edits import drawn
from benchmarks.kernels.score import write_page
from benchmarks.kernels.sizes import COMPILED, claim_as_proved
from verify.core.errors import SpecError, UsageError
from verify.kernel.check import check
from verify.kernel.data.values import Values
from verify.kernel.instructions import handlers
from verify.kernel.interpretation import Interpretation
from verify.kernel.ptx.parse import parse_kernel
from verify.kernel.sizes.away import choose_ragged
from verify.kernel.sizes.forms import NotLifted
from verify.kernel.sizes.runs import BUDGET
from verify.kernel.sizes.statement import AllSizes
from verify.kernel.sizes.theorem import Theorem, prove

# whose mutants are tried: Triton's pipeline, a plain loop of nvcc's, and one of three stages written by hand
PROVED_KERNELS = ("plain_f16", "simt_tn", "pipeline_3")
# that are run at random sizes: those of the table in docs/kernel.md that are proved, two of them in whole tiles
EVERY_PROVED = (
    *PROVED_KERNELS, "triton_ragged", "triton_f16", "mma_f16", "mma_relu", "pipeline_stmatrix", "pipeline_trans",
    "triton_90", "mma_s8", "wgmma", "wmma_f16",
)  # fmt: skip
SIZES = {"drifts": 20, "edits": 10}  # random sizes at which a mutant that is proved is run
MISSED = "missed"  # proved, and refuted at some sizes
# Of a mutant that is proved: VERIFIED at random sizes if it drifts from the first trip on, or only if from trip 16 on.
# The second is weaker evidence: it is counted apart, and never as one that was not proved.
EQUIVALENT = ("proved, and changes nothing", "proved, equivalent by twenty sizes")
PAGE = ("<!-- attacks -->", "<!-- /attacks -->")
OUTPUT = Path("build/kernels/lifted.jsonl")


def draw_sizes(statement: AllSizes, draw: random.Random, least_trips: int = 1) -> dict[str, int]:
    """Return random sizes and strides that the theorem speaks of, small enough to be run."""
    sizes = {}
    for name in statement.names:
        by = statement.divisors.get(name, 1)
        axis = next((candidate for candidate in statement.axes if candidate.size == name), None)
        if axis is not None:
            step = by if axis.rounds_up else lcm(by, axis.tile)
            sizes[name] = step * draw.randint(1, max(1, 5 * axis.tile // 2 // step))
        else:
            low = statement.step * (least_trips - 1) // by + 1
            sizes[name] = by * draw.randint(low, statement.step * (least_trips + 8) // by)
    for name, row in statement.rows_of_strides().items():
        by = statement.divisors.get(name, 1)
        sizes[name] = by * (-(-sizes[row] // by) + draw.randint(0, 3))
    return sizes


def refuted_at(ptx: str, statement: AllSizes, many: int, seed: int, least_trips: int = 1) -> str:
    """Return the first of random sizes at which the interpreter doesn't verify a kernel, and why; "" if none."""
    draw = random.Random(seed)
    for _ in range(many):
        sizes = draw_sizes(statement, draw, least_trips)
        for outcome in check(ptx, statement.launch(sizes), seed=draw.getrandbits(32)):
            if outcome.status != "VERIFIED":
                text = outcome.findings[0].text if outcome.findings else ""
                return f"{outcome.status} at {sizes}: {text}"
    return ""


@dataclass(frozen=True)
class Trial:
    """A text that must be verified at random sizes."""

    text: str  # PTX
    least_trips: int  # of each size


class ProvedKernel:
    """A kernel with its claim for all sizes, and where its loop begins."""

    def __init__(self, ptx: str, table: Mapping[str, Any], seed: int) -> None:
        self.ptx, self.table, self.seed = ptx, table, seed
        self.theorem: Theorem = prove(ptx, table, seed=seed)
        self.statement, self.name = self.theorem.statement, str(table["kernel"])

    @classmethod
    def kept(cls, name: str, seed: int) -> ProvedKernel:
        """Return a kernel of the corpus."""
        table = tomllib.loads((COMPILED / f"{name}.toml").read_text(encoding="utf-8"))
        ptx = (COMPILED / f"{name}.ptx").read_text(encoding="utf-8")
        return cls(ptx, claim_as_proved(ptx, table), seed)

    def mutants(self, what: str, count: int) -> Iterator[tuple[str, str, list[Trial]]]:
        """Yield for each mutant its name, its text, and the trials of which one must end well if it is proved.

        A drift may do nothing from the first trip on, or not before there were sixteen: a register that counts from -1
        is another only in its first trips.
        """
        head = self.theorem.head
        lines = self.executed_lines() if what == "drifts" else set()
        if what == "edits":
            for edit in drawn(self.ptx, count, self.seed):
                yield str(edit), edit.on(self.ptx), [Trial(edit.on(self.ptx), 1)]
            return
        for drift in draw_drifts(self.ptx, self.name, head, lines, count, self.seed):
            late, *early = (apply_drift(self.ptx, self.name, head, replace(drift, shift=shift))
                             for shift in (drift.shift, 0, SHIFTS[0]))  # fmt: skip
            yield str(drift), late, [Trial(early[0], 4), Trial(early[1], (1 << SHIFTS[0]) + 4)]

    def executed_lines(self) -> set[int]:
        """Return the lines that some CTA executes: what a drift does elsewhere nobody sees."""
        seen, kernel = set(), parse_kernel(self.ptx, self.name)
        for trips in range(1, self.theorem.alone + self.theorem.period + 1):
            for numbers in (self.statement.numbers(trips), choose_ragged(self.statement, trips, 0)):
                run = Interpretation(kernel, self.statement.launch(numbers).launches[0], Values(self.seed), BUDGET, {})
                x, y, z = run.launch.grid
                for place, cta in ((0, (0, 0, 0)), (x * y * z - 1, (x - 1, y - 1, z - 1))):
                    run.machine.start([cta], place)
                    assert not handlers.bind_instructions(run.machine)
                    run.machine.go()
                    lines = zip(kernel.instructions, run.machine.ran, strict=True)
                    seen |= {inst.line for inst, executed in lines if executed}
        return seen

    def judge(self, what: str, text: str, trials: Sequence[Trial]) -> tuple[str, str]:
        """Return what becomes of a mutant, and why."""
        try:
            prove(text, self.table, seed=self.seed)
        except (NotLifted, SpecError, UsageError) as error:
            return "not proved", str(error)[:300]
        why = ""
        for number, trial in enumerate(trials):
            why = refuted_at(trial.text, self.statement, SIZES[what], self.seed, trial.least_trips)
            if not why:
                return (EQUIVALENT[number], "")
        return MISSED, why


def run_campaign(what: str, name: str, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield what becomes of each mutant that the file doesn't have, as far as the time goes."""
    until = time.monotonic() + options.seconds
    done = {(line["what"], line["kernel"], line["seed"], line["mutant"]) for line in kept_lines(options.output)}
    kernel, (part, parts) = ProvedKernel.kept(name, options.seed), options.part
    for number, (mutant, text, trials) in enumerate(kernel.mutants(what, options.many), 1):
        if (what, name, options.seed, mutant) in done or number % parts != part % parts:
            continue
        if time.monotonic() > until:
            return
        status, why = kernel.judge(what, text, trials)
        yield {"what": what, "kernel": name, "seed": options.seed, "mutant": mutant, "status": status, "why": why}


def run_oracle(name: str, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield what the interpreter says of a proved kernel at random sizes that the file doesn't have."""
    until = time.monotonic() + options.seconds
    lines = [line for line in kept_lines(options.output) if line["what"] == "oracle"]
    done = {(line["kernel"], line["seed"], line["mutant"]) for line in lines}
    kernel, draw, (part, parts) = ProvedKernel.kept(name, options.seed), random.Random(options.seed), options.part
    for number in range(1, options.many + 1):
        sizes = draw_sizes(kernel.statement, draw)
        mutant = ", ".join(f"{each} = {held}" for each, held in sizes.items())
        if (name, options.seed, mutant) in done or number % parts != part % parts:
            continue
        if time.monotonic() > until:
            return
        outcomes = check(kernel.ptx, kernel.statement.launch(sizes), seed=options.seed)
        wrong = [outcome for outcome in outcomes if outcome.status != "VERIFIED"]
        why = f"{wrong[0].status}: {wrong[0].findings[:1]}" if wrong else ""
        status = MISSED if wrong else "verified"
        yield {"what": "oracle", "kernel": name, "seed": options.seed, "mutant": mutant, "status": status, "why": why}


def read_part(text: str) -> tuple[int, int]:
    """Return which of how many parts is done.

    >>> read_part("2/8")
    (2, 8)
    """
    part, parts = map(int, text.split("/"))
    if not 1 <= part <= parts:
        raise ValueError(text)
    return part, parts


def kept_lines(path: Path) -> list[dict[str, Any]]:
    """Return the lines of the output file; a last line that was cut off is dropped."""
    kept = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            kept.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return kept


def make_table(kept: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the lines of a table: for each attack and kernel how many there were, and what became of them."""
    counts = Counter((line["what"], line["kernel"], line["status"]) for line in kept)
    lines = ["| attack | kernel | tried | what became of them |", "|---|---|---|---|"]
    for what, name in sorted({(what, name) for what, name, _ in counts}):
        each = {
            status: count
            for (attack, kernel, status), count in sorted(counts.items())
            if (attack, kernel) == (what, name)
        }
        words = "; ".join(f"{count} {status}" for status, count in each.items())
        lines.append(f"| {what} | `{name}` | {sum(each.values())} | {words} |")
    missed = sum(count for (_, _, status), count in counts.items() if status == MISSED)
    return [*lines, f"\nOf {sum(counts.values())} tried {missed} were missed."]


def main(argv: list[str] | None = None) -> int:
    """Run a campaign; 1 if a mutant was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernels.lifted", description=__doc__)
    parser.add_argument("what", choices=("drifts", "edits", "oracle", "table"), help="table: what the file has so far")
    parser.add_argument("kernel", nargs="*", help=f"of the corpus ({', '.join(PROVED_KERNELS)})")
    parser.add_argument("--many", type=int, default=300, metavar="N", help="mutants or sizes of each kernel (300)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the draw: choose it last (1)")
    parser.add_argument("--part", type=read_part, default=(1, 1), metavar="I/N", help="do each N-th, for N processes")
    parser.add_argument("--seconds", type=float, default=float("inf"), metavar="S", help="start nothing after this")
    parser.add_argument("-o", "--output", type=Path, default=OUTPUT, metavar="FILE", help="one line for each")
    parser.add_argument("--page", type=Path, metavar="FILE", help="the page whose table is written")
    options = parser.parse_args(argv)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    if options.what == "table":
        lines = make_table(kept_lines(options.output))
        if options.page:
            write_page(options.page, lines, PAGE)
        print("\n".join(lines))
        return 0
    for name in options.kernel or (EVERY_PROVED if options.what == "oracle" else PROVED_KERNELS):
        steps = run_oracle(name, options) if options.what == "oracle" else run_campaign(options.what, name, options)
        with options.output.open("a", encoding="utf-8") as file:
            for line in steps:
                print(json.dumps(line), file=file, flush=True)
    every = [row for row in kept_lines(options.output) if row["what"] == options.what]
    for (name, status), count in sorted(Counter((row["kernel"], row["status"]) for row in every).items()):
        print(f"{name:<16} {status:<34} {count}")
    for line in every:
        if line["status"] == MISSED:
            print(f"missed: {line['kernel']}, {line['mutant']}: {line['why']}")
    return int(any(row["status"] == MISSED for row in every))


if __name__ == "__main__":
    sys.exit(main())

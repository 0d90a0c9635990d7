# SPDX-License-Identifier: Apache-2.0
"""Does a kernel compute what is claimed? `check(ptx, claim)` interprets it for every launch of the claim.

The points and primes are drawn after the PTX is read, from the operating system or from `seed`. An element of the
output is compared with the claim's value by its residues; a kernel is refuted only where every step to a wrong element
has a meaning, and by a number that differs where a comparison chose.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from verify.core.verdict import WrongProduct
from verify.kernel.chance import ASSUMED, INDEPENDENT, MOST_PAIRS, ClaimGrowth, estimate_pairs
from verify.kernel.claims.claim import KernelClaim
from verify.kernel.claims.defaults import SQUARE, list_blind_spots, list_unreached
from verify.kernel.claims.expression import LARGEST, functions
from verify.kernel.claims.launch import Launch
from verify.kernel.comparison import Comparison, compare, numbers_of
from verify.kernel.data.values import Values
from verify.kernel.interpretation import Interpretation, Missing, Samples
from verify.kernel.ptx.guards import constant_guards
from verify.kernel.ptx.libdevice import name_others, replace_functions
from verify.kernel.ptx.parse import parse_kernel
from verify.kernel.ptx.source import Kernel, PtxInstruction
from verify.kernel.replicas import MET, find_owners, is_rounded, settle_rounded, warn_unused
from verify.kernel.state.findings import WARNINGS, Finding, Severity, Unclear
from verify.kernel.state.meetings import Numbers
from verify.kernel.unwritten import WAYS, blame_contents, fill_registers

_ONCE = "the kernel differs from the claim on one sample and not on another: doubles are rounded, or the case is rare"
_VAGUE = "elements of {} are functions that were not shown to be equal to the claim's or different"
_ABOVE = "no power of 2 overflows; its exponent is above 0 on the sample, as it is not if the maximum was subtracted"
_LOG2_E = "log2(e) and ln(2) as f32 has them, 0f3FB8AA3B and 0f3F317218, stand for these numbers themselves"
_OPEN = "the result rests on which lane holds which element of a wmma fragment, which the ISA leaves open"
_OPPOSITE = "elect.sync chooses another lane than in a first run, which found nothing wrong"
_LINE = re.compile(r"(?<!PTX )\bline (\d+)\b")  # of the PTX, in a text
_NO_MEANING = "no meaning"  # a kind of findings
_AGAIN = 16_000  # instructions of a run with bits in unwritten registers, besides what the first run suggests
BUDGET = 300_000  # instructions of a batch's threads together; the kernels of the corpus execute 15,000 at most


class LaunchOutcome(NamedTuple):
    """What the interpretation of one launch found."""

    status: str  # VERIFIED, REFUTED or UNKNOWN
    findings: tuple[Finding, ...]  # everything that is wrong or unclear
    kernel: str  # its name in the PTX
    sizes: Mapping[str, int]  # of the launch
    seed: int  # of the points and primes
    bound: float  # on the chance that a wrong element went unnoticed
    premise: str  # what the bound takes for granted; empty for nothing
    proved: bool  # whether the bound is proved, if its premise is true
    steps: int  # instructions executed, by any number of threads each
    never_ran: tuple[int, ...]  # lines of instructions that no thread executed
    domain: str  # what the verdict speaks of
    output: Mapping[str, Samples] = {}  # what the kernel computes of the samples
    expected: Mapping[str, Samples] = {}  # and what the claim says
    ended: bool = False  # whether the run came to its end, so that its output could be compared
    elements: int = 0  # of the output
    compared: int = 0  # of these, whose value and whose expected value are known: the others are not decided
    offsets: tuple[tuple[int, int, int], ...] = ()  # (parameter, first byte, bytes) that were read
    loops: tuple[tuple[int, int], ...] = ()  # (line of its first instruction, the most trips of a thread)
    hidden: tuple[str, ...] = ()  # which errors this launch cannot show
    target: str = ""  # of the PTX; empty if it names none
    notes: tuple[tuple[str, tuple[int, ...]], ...] = ()  # what is taken for granted of all data, and the lines that do
    cause: WrongProduct | None = None  # the first matrix product of other elements, if one explains a wrong element
    written: frozenset[str] = frozenset()  # the arrays that may be written and were
    part: tuple[int, int] | None = None  # CTAs that were interpreted, and those of the launch, if these are more
    store: Finding | None = None  # the first store to global memory that ran: where wrong values are written


def check(  # noqa: PLR0913 - what a run is told, and what it tells
    ptx: str,
    claim: KernelClaim,
    *,
    seed: int | None = None,
    budget: int = BUDGET,
    strict: bool = False,
    samples: Mapping[str, Samples] | None = None,
    briefly: bool = False,
    ticked: Callable[[int], None] = lambda steps: None,
    paced: Callable[[int, int], bool] = lambda done, total: False,
) -> list[LaunchOutcome]:
    """One outcome for each launch of the claim; PtxError for PTX that cannot be read, SpecError for the claim.

    `paced` is told how many CTAs have ended, of how many; a part of a launch may end where it returns true. `briefly`
    asks whether it is verified and no more: why it isn't takes further runs.
    """
    kernel = parse_kernel(ptx, claim.kernel)
    known = replace_functions(kernel)
    seed = int.from_bytes(os.urandom(8)) if seed is None else seed
    outcomes, guards = [], dict[int, int]()  # instruction with a guard -> the values that it had in all launches
    for launch in claim.launches:
        exponents = needs_exponents(kernel, launch)
        primes = _estimate_pairs(launch) if exponents else 3
        while True:
            values = Values(seed, primes, exponents=exponents)
            run = Interpretation(kernel, launch, values, budget, samples or {})
            run.machine.ticked, run.paced = ticked, paced
            for line, name in known:
                run.findings.notes.setdefault(f"{name} of libdevice is what its name says", set()).add(line)
            outcome = _outcome(run, seed, strict, budget, samples or {}, briefly=briefly)
            if outcome.status == "UNKNOWN" and run.machine.unwritten and not briefly:  # which could only refute
                outcome = _with_contents(run, outcome, budget, samples or {}) or outcome
            if is_rounded(outcome.findings):
                outcome = _settle_rounded(run, outcome, strict, budget)
            if outcome.status == "REFUTED" and (owners := find_owners(run, outcome.findings)):
                outcome = _settle_unused(run, owners, outcome, strict, budget, samples or {})
            if not exponents or outcome.status != "VERIFIED" or outcome.bound <= ASSUMED or primes == MOST_PAIRS:
                break
            primes += 1
        if outcome.status == "VERIFIED" and launch.elected == "any" and elections(kernel, launch):
            outcome = _elect_opposite(run, outcome, strict, budget, samples or {})
        if outcome.status == "UNKNOWN":
            outcome = outcome._replace(findings=(*_name_functions(kernel, known), *outcome.findings))
        outcomes.append(outcome._replace(hidden=tuple(list_blind_spots(launch, alone=len(claim.launches) == 1))))
        for number, values_there in run.machine.guards.items():
            guards[number] = guards.get(number, 0) | values_there
    constant = tuple(constant_guards(kernel.instructions, guards))
    square = all(launched.grid[0] == launched.grid[1] > 1 for launched in claim.launches)
    more = (*((SQUARE,) if square else ()), *list_unreached(claim.launches), *constant)
    return [done._replace(hidden=(*done.hidden, *more)) if done.ended else done for done in outcomes]


def _estimate_pairs(launch: Launch) -> int:
    growth = ClaimGrowth(launch.extents, numbers_of(launch))
    return estimate_pairs(launch.value, growth, int(np.prod(launch.array(launch.target.name).shape)))


def _name_functions(kernel: Kernel, known: list[tuple[int, str]]) -> list[Finding]:
    """Return a finding for each function of libdevice that has no meaning here."""
    text = "{} of CUDA's libdevice has no meaning here (expf, logf and log2f have), or isn't whole"
    unknown = name_others(kernel, known)
    return [
        locate_finding(Finding(_NO_MEANING, Severity.UNKNOWN, line, text.format(name)), kernel)
        for line, name in unknown
    ]


def elections(kernel: Kernel, launch: Launch) -> tuple[int, ...]:
    """Return the lines of elect.sync in a kernel; 0 for those of launches before it."""
    there = [inst.line for inst in kernel.instructions if inst.words[0] == "elect"]
    before = any(elections(*earlier) for earlier in launch.before)
    return (*there, *((0,) if before else ()))


def name_elections(outcome: LaunchOutcome, lines: tuple[int, ...]) -> LaunchOutcome:
    """Return the outcome of a second run, with other lanes elected, with a note that says so."""
    return outcome._replace(notes=(*outcome.notes, (_OPPOSITE, lines)))


def _elect_opposite(
    run: Interpretation, right: LaunchOutcome, strict: bool, budget: int, samples: Mapping[str, Samples]
) -> LaunchOutcome:
    """Return the outcome where elect.sync chooses the opposite lanes if that is wrong, else the first one."""
    again = _run_again(run, run.kernel, run.launch.elect_opposite(), right.seed, budget, samples)
    opposite = _outcome(again, right.seed, strict, budget, samples)
    return right if opposite.status == "VERIFIED" else name_elections(opposite, elections(run.kernel, run.launch))


def _settle_rounded(run: Interpretation, outcome: LaunchOutcome, strict: bool, budget: int) -> LaunchOutcome:
    """Return the outcome after a second run has told which writes of rounded values are equal."""
    settled = settle_rounded(run, outcome.seed, budget, outcome.findings)
    located = tuple(
        finding if finding in outcome.findings else locate_finding(finding, run.kernel) for finding in settled
    )
    return outcome._replace(findings=located, status=_status(located, strict))


def _settle_unused(
    run: Interpretation, owners: Mapping[int, Numbers], outcome: LaunchOutcome, strict: bool, budget: int,
    samples: Mapping[str, Samples],
) -> LaunchOutcome:  # fmt: skip
    """Return the outcome with warnings for reads that race, if all is right too where they give no value."""
    again = _run_again(run, run.kernel, run.launch, outcome.seed, budget, samples)
    again.memory.meetings.owners = owners
    without = _outcome(again, outcome.seed, False, budget, samples, briefly=True)
    rest = tuple(finding for finding in without.findings if finding.kind not in MET)
    if _status(rest, False) != "VERIFIED" or again.memory.meetings.several:
        return outcome
    warned = warn_unused(outcome.findings)
    return outcome._replace(findings=warned, status=_status(warned, strict))


def _run_again(
    run: Interpretation, kernel: Kernel, launch: Launch, seed: int, budget: int, samples: Mapping[str, Samples]
) -> Interpretation:
    """Return the interpretation of another kernel or launch, as a run was told."""
    values = Values(seed, len(run.values.pairs) or 3, exponents=bool(run.values.pairs))
    again = Interpretation(kernel, launch, values, budget, samples)
    again.machine.ticked, again.paced = run.machine.ticked, run.paced
    return again


def _with_contents(
    run: Interpretation, unclear: LaunchOutcome, budget: int, samples: Mapping[str, Samples]
) -> LaunchOutcome | None:
    """Return the outcome with bits in the registers that nobody wrote, if one refutes: they may hold any.

    A warning with some bits refutes nothing: the verdict stays open.
    """
    budget = min(budget, 4 * unclear.steps + _AGAIN)  # no loop without an end
    for way in WAYS:
        kernel = fill_registers(run.kernel, unclear.seed, way)
        again = _run_again(run, kernel, run.launch, unclear.seed, budget, samples)
        outcome = _outcome(again, unclear.seed, False, budget, samples)
        if outcome.status == "REFUTED":
            return outcome._replace(findings=blame_contents(outcome.findings, kernel, run.machine.unwritten))
    return None


def needs_exponents(kernel: Kernel, launch: Launch) -> bool:
    """Return whether the PTX or the claim has a power of 2, a logarithm or a quotient, whose laws take other primes.

    A kernel may divide by a root where the claim says rsqrt. A running maximum begins with -inf, which is known there.
    """
    every = [kernel, *(earlier for earlier, _ in launch.before)]
    heads = {inst.words[0] for part in every for inst in part.instructions}
    return bool(heads & {"ex2", "lg2"} or functions(launch.value) & {"ex2", "lg2", "rcp", "rsqrt", LARGEST})


def _outcome(
    run: Interpretation, seed: int, strict: bool, budget: int, samples: Mapping[str, Samples], *, briefly: bool = False
) -> LaunchOutcome:
    """Run, compare, explain unless briefly, and say what was found."""
    extra: list[Finding] = []
    comparison: Comparison | None = None
    cause: WrongProduct | None = None
    try:
        run.interpret()
        comparison = compare(run)
    except Missing as missing:
        extra += missing.findings
    except Unclear as error:
        extra.append(Finding(_NO_MEANING, Severity.UNKNOWN, error.line, error.problem))
    else:
        if run.values.choices.stand_for:
            run.findings.notes[_LOG2_E] = {0}
        if run.values.above:
            run.findings.notes[_ABOVE] = run.values.above
        extra += comparison.findings
        if comparison.wrong.any() and not briefly:
            extra, cause = _explain(run, comparison, seed, budget, samples)
        elif comparison.vague.any() and not comparison.wrong.any() and run.paged:
            extra.append(Finding("functions", Severity.UNKNOWN, 0, _VAGUE.format(comparison.name)))
        elif comparison.vague.any() and not comparison.wrong.any():
            from verify.kernel.formulas import compare_functions  # most kernels need neither this nor `explain`

            extra.append(compare_functions(run, comparison, seed, budget))
    findings = tuple(locate_finding(finding, run.kernel) for finding in (*run.findings.reported.values(), *extra))
    lines = [inst.line for inst, done in zip(run.kernel.instructions, run.machine.ran, strict=True) if not done]
    name = comparison.name if comparison else ""
    return LaunchOutcome(
        status=_status(findings, strict), findings=findings, kernel=run.kernel.name, sizes=run.launch.sizes, seed=seed,
        bound=comparison.bound if comparison else 0.0, premise=INDEPENDENT if run.values.pairs else "",
        proved=comparison.alike if comparison else True,
        steps=run.machine.steps, never_ran=tuple(lines),
        domain=_domain(run.launch, run.machine.placement.align), output={name: comparison.sample} if comparison else {},
        expected={name: comparison.wanted} if comparison else {}, ended=comparison is not None,
        elements=comparison.elements if comparison else 0, compared=comparison.compared if comparison else 0,
        offsets=tuple(sorted(run.machine.offsets_read)),
        loops=tuple((run.kernel.instructions[at].line, trips) for at, trips in sorted(run.machine.trips.items())),
        cause=cause, target=run.kernel.target, written=_list_written(run),
        part=run.part, store=_find_store(run),
        notes=tuple((text, tuple(sorted(lines))) for text, lines in run.findings.notes.items()),
    )  # fmt: skip


def _explain(
    run: Interpretation, comparison: Comparison, seed: int, budget: int, samples: Mapping[str, Samples]
) -> tuple[list[Finding], WrongProduct | None]:
    """Return what is said of wrong elements, and the matrix product that is their first cause, if one is."""
    if run.paged and (run.machine.kinds or run.values.pairs):  # which took another run with all of the tables
        return [Finding("functions", Severity.UNKNOWN, 0, _VAGUE.format(comparison.name))], None
    if run.paged:
        return comparison.findings, None
    if run.machine.kinds and _differs_rearranged(run, comparison, seed, budget, samples):
        return [Finding("unspecified fragment", Severity.UNKNOWN, 0, _OPEN, "9.7.14.4.1")], None
    if run.values.pairs and not _wrong_again(run, comparison, seed, budget):
        return [Finding("functions", Severity.UNKNOWN, 0, _ONCE)], None
    from verify.kernel.explain import explain

    why, cause = explain(run, comparison, seed, budget)
    return [*why, *comparison.findings], cause


def _list_written(run: Interpretation) -> frozenset[str]:
    """Return the names of the arrays of which the kernel wrote an element."""
    stored = {region.array.name: region.stored for region in run.regions}
    return frozenset(name for name, memory in stored.items() if memory is not None and (memory.writer >= 0).any())


def _differs_rearranged(
    run: Interpretation, comparison: Comparison, seed: int, budget: int, samples: Mapping[str, Samples]
) -> bool:
    """Whether the wrong elements are others in another arrangement of wmma's fragments, which the ISA leaves open."""
    values = Values(seed, exponents=bool(run.values.pairs))
    again = Interpretation(run.kernel, run.launch, values, budget, samples)
    again.machine.arrangement = run.machine.arrangement + 1
    again.interpret()
    ids = Comparison(again).ids[comparison.wrong]
    return bool((again.values.residues[:, ids] != run.values.residues[:, comparison.ids[comparison.wrong]]).any())


def _wrong_again(run: Interpretation, comparison: Comparison, seed: int, budget: int) -> bool:
    """Return whether elements are wrong at other points and on another sample too."""
    if not comparison.written[comparison.wrong].all():
        return True
    again = Interpretation(run.kernel, run.launch, Values(seed + 1, exponents=True), budget, {})
    again.interpret()
    return bool(Comparison(again).wrong.any())


def _find_store(run: Interpretation) -> Finding | None:
    """Return the first store to global memory that ran, with its place in the source."""
    ran = (instruction for instruction, done in zip(run.kernel.instructions, run.machine.ran, strict=True) if done)
    line = next(
        (
            instruction.line
            for instruction in ran
            if instruction.words[0] in ("st", "red", "atom") and "global" in instruction.words
        ),
        0,
    )
    return locate_finding(Finding("store", Severity.VALUE, line, ""), run.kernel) if line else None


def locate_finding(finding: Finding, kernel: Kernel) -> Finding:
    """Return a finding with the line of the source file that its instruction comes from, if the PTX has it.

    Other lines that its text names get theirs.
    """
    at = {inst.line: inst for inst in reversed(kernel.instructions) if inst.source and inst.source[0] in kernel.files}

    def name_source(number: str) -> str:
        origin = at.get(int(number))
        return f"{_spell_source(origin, kernel)} (PTX line {number})" if origin is not None else f"line {number}"

    finding = finding._replace(text=_LINE.sub(lambda line: name_source(line[1]), finding.text))
    cause = at.get(finding.line)
    if cause is None or cause.source is None:
        return finding
    return finding._replace(
        source=_spell_source(cause, kernel), column=cause.column, path=kernel.files[cause.source[0]]
    )


def _spell_source(inst: PtxInstruction, kernel: Kernel) -> str:
    """Return `file:line` of an instruction that has one."""
    assert inst.source is not None
    return f"{kernel.files[inst.source[0]].rpartition('/')[2]}:{inst.source[1]}"


def _domain(launch: Launch, align: int) -> str:
    """Say what one verdict speaks of; `align` is that of dynamic shared memory, 0 where there is none."""
    sizes = ", ".join(f"{name} = {value}" for name, value in launch.sizes.items())
    grid = "x".join(map(str, launch.grid))
    block = "x".join(map(str, (extent for extent in launch.block if extent > 1))) or "1"
    chosen = f"; chosen here: {', '.join(launch.filled)}" if launch.filled else ""
    sparse = "".join(
        f"; one pattern of stored columns of {array.name}" for array in launch.arrays if array.stored is not None
    )
    where = f"; dynamic shared memory at a multiple of {align} (smem_align)" if align else ""
    where += f"; CTAs {', '.join(map(str, launch.ctas))} alone" if launch.ctas else ""
    where += "; elect.sync chooses the lowest lane (elected)" if launch.elected == "lowest" else ""
    sparse += "".join(
        f"; {array.name} from {array.limits[0]} to {array.limits[1]}"
        for array in launch.arrays
        if array.limits is not None
    )
    floor = (
        f"; numbers up to {launch.floor:g} stand for -inf, and no other exponent is as large" if launch.floor else ""
    )
    what = f"{sizes}; grid {grid} of {block} threads{chosen}{where}"
    return f"{what}; all data, in exact arithmetic{sparse}{floor}; not rounding, not SASS"


def _status(findings: tuple[Finding, ...], strict: bool) -> str:
    """REFUTED by a finding that refutes, else UNKNOWN, else VERIFIED; a warning refutes only if strict."""
    severities = {finding.severity for finding in findings}
    if severities - {Severity.UNKNOWN, *WARNINGS} or (strict and severities & WARNINGS):
        return "REFUTED"
    return "UNKNOWN" if Severity.UNKNOWN in severities else "VERIFIED"

# SPDX-License-Identifier: Apache-2.0
"""The verdict for all sizes as a case of a report: PROVED FOR ALL SIZES, NOT LIFTED and why, or REFUTED at sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verify.core.verdict import Check, Counterexample, Evidence, Place, Property, Statement, Status
from verify.evidence.run import Run
from verify.kernel.claims.expression import elements
from verify.kernel.data.values import LIMITS
from verify.kernel.sizes.forms import NotLifted
from verify.kernel.sizes.grid import OutputAxis
from verify.kernel.sizes.refute import find_refutation, write_claim
from verify.kernel.sizes.statement import AXES, MOST_YZ, AllSizes
from verify.kernel.sizes.theorem import Theorem, prove
from verify.report import Case

SIZES = Property(
    "all_sizes",
    scope="operation",
    words="all sizes",
    says={"kernel": "with `--for-all`: every element is what the claim says, at all sizes"},
    states=lambda claimed, _: Statement("", claimed.text),
    isa=lambda _, claimed, __: claimed.of(Check.ISA),
    proof=lambda _, claimed, __: claimed.of(Check.PROOF),
    how=("every thread interpreted, at sizes that refute it", "induction over the trips", ""),
)
HEADLINES = {"yes": "PROVED FOR ALL SIZES", "no": "NOT LIFTED", "refuted": "REFUTED"}
DOMAIN = "finite data, in exact arithmetic; the PTX, not SASS; grids as the claim has them"
WRAPS = "integers, each sum modulo 2^{}; the PTX, not SASS; grids as the claim has them"


@dataclass(frozen=True)
class ClaimForAllSizes:
    """A claim for all sizes with what was found of it."""

    name: str
    text: str
    evidence: Evidence

    def of(self, check: Check) -> list[Evidence]:
        """Return what one check found."""
        return [self.evidence] if self.evidence.check is check else []


class SizesChecker(Run):
    """One run over the property of all sizes."""

    def units(self, subject: ClaimForAllSizes, scope: str) -> Sequence[None]:
        """Return the only unit: the claim."""
        return (None,)


@dataclass(frozen=True)
class LiftedKernel:
    """The kernel of which a claim for all sizes is to be proved."""

    ptx: str  # its text
    table: Mapping[str, Any]  # of the claim
    name: str  # of the kernel
    file: str  # which has it
    replay: str  # the command that verifies it again
    seed: int  # of the points and primes


def lift(
    subject: LiftedKernel, check: Callable[[Mapping[str, Any]], Any], say: Callable[[Any], str],
    ticked: Callable[[int], None] = lambda steps: None,
) -> Case:  # fmt: skip
    """Prove a claim for all sizes, or find sizes at which it is wrong.

    `check` interprets the kernel for the launch of a claim's table, `say` puts the first finding of that in words.
    """
    try:
        theorem = prove(subject.ptx, subject.table, subject.name, seed=subject.seed, ticked=ticked)
    except NotLifted as failed:
        refutation = find_refutation(failed.statement, failed, check) if failed.statement is not None else None
        if refutation is not None:
            return _refuted_case(subject, failed, *refutation, say)
        return _not_lifted(subject, failed)
    return _proved_case(subject, theorem)


def _case(
    subject: LiftedKernel, evidence: Evidence, sizes: str, notes: tuple[str, ...], fields: dict[str, Any]
) -> Case:
    claimed = ClaimForAllSizes(f"{subject.name} for all {sizes}", f"{subject.table['claim']} for all {sizes}", evidence)
    verdict = SizesChecker(frozenset({Check.ISA, Check.PROOF})).verdict(SIZES, claimed, None)
    word = fields["lifted"]
    return Case(
        claimed.name, (verdict,), place=Place(subject.file, 1) if subject.file else None, notes=notes,
        all_sizes={"lifted": word, "headline": HEADLINES[word], **fields},
    )  # fmt: skip


def _all(statement: AllSizes, empty: bool = False) -> str:
    """Return the sizes of which a theorem speaks; the summed one may be 0 where `empty` sums are proved too."""
    summed = statement.summed[1]
    if not empty:
        return f"{', '.join(statement.names)} >= 1"
    return f"{', '.join(name for name in statement.names if name != summed)} >= 1, {summed} >= 0"


def _proved_case(subject: LiftedKernel, theorem: Theorem) -> Case:
    statement = theorem.statement
    of_launch, fields = _preconditions_of_launch(theorem), _fields(theorem)
    evidence = Evidence(
        Check.PROOF, Status.PROVED, f"{theorem.runs} interpretations of one CTA, induction over the trips",
        engine="z3, each answer checked in exact arithmetic",
    )  # fmt: skip
    trips, moved = fields["trips"], f"{statement.summed[0]} moved by {theorem.period * statement.step}"
    later = "one more trip" if theorem.period == 1 else f"{theorem.period} more trips"
    notes = [
        f"given    {'; '.join(of_launch)}",
        *(f"         {text}" for text in fields["preconditions"] if text not in of_launch),
        f"grid     {fields['grid']}",
        f"trips    {trips}: the state at line {theorem.head} after {later} is what it was, with {moved}",
        f"masks    {fields['masks']}: proved equal to the bounds, not sampled",
        f"proved   by {theorem.runs} interpretations of one CTA and {theorem.asked} linear questions to z3; it uses "
        f"only the {theorem.proved} answers whose certificate was checked in exact arithmetic",
        f"checked  {theorem.checked} forms against the interpreter's bits; a wrong element unnoticed: below "
        f"{theorem.bound:.0e} in a run",
        f"domain   {fields['domain']}",
        f"seed     {subject.seed}",
    ]  # fmt: skip
    return _case(subject, evidence, _all(statement, not theorem.empty), tuple(notes), fields)


def _preconditions_of_launch(theorem: Theorem) -> list[str]:
    """Return what the theorem takes of sizes, strides, numbers and addresses that a launch passes."""
    statement = theorem.statement
    of_launch = [*(f"{name} % {by} == 0" for name, by in statement.divisors.items())]
    of_launch += [text for text in statement.given if "%" not in text]
    rows = statement.rows_of_strides()
    of_launch += [f"{name} >= {row}" for name, row in rows.items()]
    of_launch += [f"{name} = {held}" for name, held in statement.table.get("scalars", {}).items()]
    arrays = ", ".join(statement.table["arrays"])
    return [*of_launch, f"{arrays} disjoint, each at a multiple of 16 bytes"]


def _fields(theorem: Theorem) -> dict[str, Any]:
    """Return the theorem in JSON's types."""
    statement, period = theorem.statement, theorem.period
    products = [text for text, _ in statement.preconditions()]
    first, second = statement.axes
    tiles = ", ".join(f"{axis.index} from {axis.tile}*{_tile(statement, axis)}" for axis in statement.axes)
    extents = (" * " if statement.shares_axis else " x ").join(
        f"{f'cdiv({axis.size}, {axis.tile})' if axis.rounds_up else f'{axis.size} // {axis.tile}'}"
        for axis in sorted(statement.axes, key=lambda axis: axis.number)
    )
    limits = [f"CTAs in {'xyz'[axis.number]} <= {MOST_YZ}" for axis in statement.axes if axis.number]
    limits += ["CTAs in x < 2**31"] if statement.shares_axis and not limits else []
    summed = statement.summed[1]
    empty = [f"{summed} >= 1, as {summed} = 0 is not proved: {theorem.empty}"] if theorem.empty else []
    last = theorem.alone + period
    classes = [f"{number}+{period}*j" if period > 1 else f"{number}+j" for number in range(theorem.alone + 1, last + 1)]
    read = {element.name for element in elements(statement.value)}
    masks = [_mask(theorem, name, each) for name, each in statement.extents.items() if name in read]
    ends = " and ".join(f"{axis.index} < {axis.size}" for axis in (first, second))
    kind = statement.table["arrays"][statement.target.name]["type"]
    return {
        "lifted": "yes",
        "theorem": f"{statement.table['claim']} for all {_all(statement, not theorem.empty)}",
        "preconditions": [*_preconditions_of_launch(theorem), *products, *limits, *empty],
        "grid": f"{extents} CTAs of {theorem.block[0] * theorem.block[1] * theorem.block[2]} threads; CTA "
                f"{'x' if statement.shares_axis else '(x, y)'} has {tiles}: each element once",
        "trips": f"{1 if theorem.empty else 0} to {theorem.alone} one by one; {' and '.join(classes)} by induction",
        "period": period,
        "domain": WRAPS.format(kind[1:]) if kind in LIMITS else DOMAIN,
        "masks": "; ".join([*masks, f"{statement.target.name} written where {ends}"]),
        "obligations": {
            "runs": theorem.runs, "asked": theorem.asked, "certified": theorem.proved, "forms": theorem.checked,
            "loads": theorem.loads, "stores": theorem.stores,
        },
    }  # fmt: skip


def _mask(theorem: Theorem, array: str, sizes: tuple[str, ...]) -> str:
    """Return where an array is read, in words."""
    modular = [size for size in sizes if (array, size.lower()) in theorem.modular]
    bounds = " and ".join(f"{size.lower()} < {size}" for size in sizes if size not in modular)
    wraps = ", ".join(f"{size.lower()} modulo {size}" for size in modular)
    return f"{array} read" + (f" where {bounds}" if bounds else "") + (f" at {wraps}" if wraps else "")


def _tile(statement: AllSizes, axis: OutputAxis) -> str:
    """Return the number of a CTA's tile in words."""
    cta = "xyz"[axis.number]
    text = str(statement.tiles[axis.index]).replace(AXES[axis.number], cta)
    return text if text == cta else f"({text})"


def _not_lifted(subject: LiftedKernel, failed: NotLifted) -> Case:
    where = f"line {failed.line}: " if failed.line else ""
    reason = f"{where}{failed.step}" + (f": {failed.form}" if failed.form else "")
    evidence = Evidence(Check.PROOF, Status.UNKNOWN, "induction over the trips", reason=reason)
    sizes = _all(failed.statement) if failed.statement is not None else "sizes"
    fields = {"lifted": "no", "line": failed.line, "step": failed.step, "form": failed.form}
    notes = ("NOT LIFTED to all sizes; the verdicts at the listed sizes stand as they are",)
    return _case(subject, evidence, sizes, notes, fields)


def _refuted_case(
    subject: LiftedKernel, failed: NotLifted, sizes: Mapping[str, int], outcome: Any, say: Callable[[Any], str]
) -> Case:  # fmt: skip
    listed = ", ".join(f"{name} = {number}" for name, number in sizes.items())
    wrong = Counterexample(
        dict(sizes), f"at {listed}: {say(outcome)}", replay=f"{subject.replay} --seed {outcome.seed}"
    )
    evidence = Evidence(
        Check.ISA, Status.REFUTED, "every thread interpreted at sizes that z3 named", counterexample=wrong
    )
    fields = {"lifted": "refuted", "line": failed.line, "step": failed.step, "form": failed.form, "sizes": dict(sizes)}
    fields["claim"] = write_claim(failed.statement.fill_in(sizes))
    notes = (
        f"found    line {failed.line}: {failed.step}: {failed.form}"[:300],
        f"again    with sizes = {{ {listed} }} in the claim: --write-claim FILE writes a claim for it",
    )
    return _case(subject, evidence, _all(failed.statement), notes, fields)

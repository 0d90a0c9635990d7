# SPDX-License-Identifier: Apache-2.0
"""Decide what a recorded test says of each launch: its claim, or its safety, by the interpretation of its PTX.

`KernelSession` interprets launches, equal ones once; `Judge` decides the items of a test, each of them a `Decision`.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from verify.capture.chains import build_chain, list_earlier, put_before
from verify.capture.claims import (
    TestClaim,
    build_claim,
    claim_nothing,
    claim_safety,
    claim_text,
    order_sides,
)
from verify.capture.contents import Contents, TensorReading, find_launch
from verify.capture.elements import explain_part
from verify.capture.neighbours import list_neighbours
from verify.capture.pieces import join_events
from verify.capture.places import Unchecked
from verify.capture.safety import INSTRUCTIONS, FoundSafety, SafetySearch, TooLong
from verify.core.errors import SpecError
from verify.core.verdict import Status
from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import KernelClaim, claim_of
from verify.kernel.ptx.parse import parse_kernel
from verify.kernel.ptx.part import choose_ctas, find_exchange, list_stored
from verify.kernel.ptx.source import PtxError
from verify.kernel.safety import SAFE
from verify.kernel.state.findings import Severity
from verify.kernel.verdict import case, spell_finding
from verify.report import Case

SAFETY = ("memory", "order", "progress")
SECONDS = 60.0  # that one launch may take
FAR = 3  # times the seconds: a launch that would take longer is not begun in full
BESIDE = 10.0  # seconds for the sizes beside those of a kernel's launches, a sixth of what a launch may take at most


ALLOW_TF32 = "torch.backends.cuda.matmul.allow_tf32 = True says that a product of the reference is of tf32 too"
WRONG = (Severity.MEMORY, Severity.RACE, Severity.STUCK, Severity.VALUE)


@dataclass(frozen=True)
class Decision:
    """What was decided of one launch of one test."""

    name: str  # "launch 1: values"
    status: str  # VERIFIED, REFUTED, PARTIAL, UNKNOWN or UNCHECKED
    text: str  # the claim, or why there is none
    at: str = ""  # the line of the test
    case: Case | None = None  # the verdicts
    safe: bool = False  # whether memory, order and progress are verified
    claimed: bool = False  # whether the test's author wrote the claim
    note: str = ""  # what would be wrong at sizes that nothing launches

    def report(self) -> str:
        """Return what is printed: the decision, and the verdicts behind it."""
        head = f"{self.text} ({self.at})" if self.at else self.text
        note = f"\nnote: {self.note}" if self.note else ""
        return head + note + (f"\n{self.case.text().rstrip()}" if self.case is not None else "")


@dataclass
class KernelSession:
    """The launches that were decided in this process: equal ones are decided once."""

    seed: int
    seconds: float = SECONDS
    known: dict[str, LaunchOutcome | str] = field(default_factory=dict)
    stored: dict[str, frozenset[int]] = field(default_factory=dict)  # PTX -> parameters through which it may write
    beside: set[tuple[str, str]] = field(default_factory=set)  # (file, name) of kernels whose neighbours were run

    def interpret(
        self,
        folder: Path,
        variant: Mapping[str, Any],
        table: Mapping[str, Any],
        before: Sequence[tuple[str, Mapping[str, Any]]] = (),
    ) -> LaunchOutcome:
        """Return the outcome of one variant under a claim, after others, (file, table) each; raises Unchecked."""
        key = self.key(variant, {**table, "before": [*before]} if before else table)
        if key not in self.known:
            earlier = [((folder / file).read_text("utf-8"), one) for file, one in before]
            self.known[key] = self._interpret((folder / variant["ptx"]).read_text("utf-8"), table, earlier)
        found = self.known[key]
        if isinstance(found, str):
            raise Unchecked(found)
        return found

    def list_stored(self, folder: Path, variant: Mapping[str, Any]) -> frozenset[str]:
        """Return the arguments that a launch may write, as its text says; all of them if that says nothing."""
        every = frozenset(one["arg"] for one in variant["tensors"])
        if variant["problem"]:
            return every
        if variant["ptx"] not in self.stored:
            try:
                kernel = parse_kernel((folder / variant["ptx"]).read_text("utf-8"), variant["entry"])
            except PtxError:
                return every
            names = list_stored(kernel)
            self.stored[variant["ptx"]] = frozenset(
                one.number for name, one in kernel.parameters.items() if name in names
            )
        places = self.stored[variant["ptx"]]
        given = [one for at, one in enumerate(variant["params"]) if at in places and isinstance(one, dict)]
        return every & {one.get("tensor", one.get("map")) for one in given}

    @staticmethod
    def key(variant: Mapping[str, Any], table: Mapping[str, Any]) -> str:
        """Return a digest of a launch and its claim."""
        return hashlib.sha256(json.dumps([variant["ptx"], table], sort_keys=True).encode()).hexdigest()

    def _interpret(
        self, ptx: str, table: Mapping[str, Any], before: Sequence[tuple[str, Mapping[str, Any]]]
    ) -> LaunchOutcome | str:
        start = time.monotonic()

        def tick(steps: int) -> None:
            if time.monotonic() - start > self.seconds:
                raise TooLong

        def foresee(done: int, total: int) -> bool:
            """End a run early that would take far too long."""
            if (time.monotonic() - start) * total / done > FAR * self.seconds:
                raise TooLong
            return False

        try:
            claim = put_before(claim_of(table), before)
            try:
                return check(ptx, claim, seed=self.seed, budget=INSTRUCTIONS, ticked=tick, paced=foresee)[0]
            except TooLong:
                late = f"not interpreted within {self.seconds:g} s, with the launches before it"
                return late if before else self._interpret_part(ptx, claim)
        except (SpecError, PtxError) as error:
            return f"the launch cannot be described: {error}"

    def note_neighbours(self, folder: Path, variant: Mapping[str, Any], table: Mapping[str, Any]) -> str:
        """Return what would be wrong at sizes beside those of a launch; empty if nothing is, or it isn't known.

        A kernel's neighbours are run once.
        """
        kernel = (variant["file"], variant["name"])
        if kernel in self.beside:
            return ""
        limit, found = time.monotonic() + min(BESIDE, self.seconds / 6), ""

        def tick(steps: int) -> None:
            if time.monotonic() > limit:
                raise TooLong

        try:
            ptx = (folder / variant["ptx"]).read_text("utf-8")
            for one in list_neighbours(table, variant.get("constants", {})):
                self.beside.add(kernel)
                claim = claim_of(claim_nothing(one.table) if one.literal else one.table)
                outcome = check(ptx, claim, seed=self.seed, budget=INSTRUCTIONS, ticked=tick)[0]
                why = next((finding for finding in outcome.findings if finding.severity in WRONG), None)
                if outcome.status != "REFUTED":
                    why = None
                if why is not None:
                    found = (
                        f"at {one.describe()}, which nothing launches, this kernel would be wrong: {spell_finding(why)}"
                    )
                if (why is not None) == one.alone:
                    break  # one size alone is wrong, or all of them together are right
        except (TooLong, SpecError, PtxError):
            return found  # what isn't known is no note, as the first line says; no verdict rests on it
        return found

    def _interpret_part(self, ptx: str, claim: KernelClaim) -> LaunchOutcome | str:
        """Return the outcome of some CTAs of a launch, as many as end within its time; at least one must."""
        late = f"not interpreted within {self.seconds:g} s"
        kernel = parse_kernel(ptx, claim.kernel)
        if exchange := find_exchange(kernel):
            return f"{late}, and its CTAs are not independent ({exchange})"
        start, (launch,) = time.monotonic(), claim.launches
        part = claim._replace(launches=(launch._replace(ctas=choose_ctas(launch.grid, self.seed)),))

        def tick(steps: int) -> None:
            if time.monotonic() - start > 2 * self.seconds:
                raise TooLong

        def pace(done: int, total: int) -> bool:
            return time.monotonic() - start > self.seconds

        try:
            return check(ptx, part, seed=self.seed, budget=INSTRUCTIONS, ticked=tick, paced=pace)[0]
        except TooLong:
            return f"{late}, nor one of its CTAs"


class Judge:
    """The judge of one recorded test."""

    def __init__(self, session: KernelSession, record: Mapping[str, Any], folder: Path) -> None:
        self.session, self.record, self.folder = session, record, folder
        self.contents = Contents(record["contents"], self.list_written)
        self.launches = [one for one in record["events"] if one["kind"] == "launch"]
        self.asserted = frozenset(record["asserted"])
        self.facts: dict[int, frozenset[str]] = {}

    def list_written(self, launch: int) -> frozenset[str]:
        """Return the arguments that a launch wrote; all of them if that isn't known."""
        if launch not in self.facts:
            found: set[str] = set()
            for variant in self.launches[launch]["variants"]:
                try:
                    claim = claim_safety(self.contents, variant)
                    outcome = self.session.interpret(self.folder, variant, claim.table)
                    every = not outcome.ended or outcome.part is not None
                    alias = claim.alias
                except Unchecked:
                    every, alias = True, {}
                names = self.session.list_stored(self.folder, variant)
                found |= names if every else {one for one in names if alias[one] in outcome.written}
            self.facts[launch] = frozenset(found)
        return self.facts[launch]

    # ---- what the items are

    def plan(self) -> Iterator[tuple[str, int, int, Mapping[str, Any] | None]]:
        """Yield (name, launch, variant, comparison) of each item; without a comparison it is about safety alone."""
        compared: dict[int, list[Mapping[str, Any]]] = {}
        for event in self.record["events"]:
            if event["kind"] == "compare":
                for launch in sorted(self._candidates(event)):
                    compared.setdefault(launch, []).append(event)
        compared = {launch: self._select(events) for launch, events in compared.items()}
        for number, launch in enumerate(self.launches):
            several = len(launch["variants"]) > 1
            for at in range(len(launch["variants"])):
                name = f"launch {number + 1}" + (f", config {at + 1}" if several else "")
                found = join_events(self.contents, launch["variants"][at], compared.get(number, []))
                own = list(self._list_claims(launch["variants"][at], launch["at"]))
                for place, event in enumerate(own):
                    yield f"{name}: claim" + (f" {place + 1}" if place else ""), number, at, event
                for place, event in enumerate(found):
                    yield f"{name}: values" + (f" {place + 1}" if place else ""), number, at, event
                if not found and not own:
                    yield f"{name}: safety only", number, at, None

    def _select(self, events: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Return the comparisons of a launch, without `-`, `==` and `!=` on which the test doesn't rest.

        Such a difference may be there to be printed; if the launch has no other comparison, the first one is kept.
        """
        firm = [one for one in events if not one.get("each") or one["number"] in self.asserted]
        return firm or events[:1]

    def _list_claims(self, variant: Mapping[str, Any], at: str) -> Iterator[Mapping[str, Any]]:
        """Yield the claims of the test's author that are about a launch, as events."""
        for text in self.record.get("claims", ()):
            try:
                about = claim_text(self.contents, variant, text) is not None
            except Unchecked:
                about = True  # which the item says
            if about:
                yield {"kind": "claim", "text": text, "at": at}

    def _candidates(self, event: Mapping[str, Any]) -> set[int]:
        """Return the launches that may have written a side last, of the latest alone."""
        found = {find_launch(self.contents, TensorReading.of(one)) for one in event["sides"]} - {None}
        return {max(one for one in found if one is not None)} if found else set()

    def decide(self, name: str, launch: int, variant: int, event: Mapping[str, Any] | None) -> Decision:
        """Return the decision of one item."""
        one = self.launches[launch]["variants"][variant]
        reason, at = "the test compares nothing that this launch wrote", one["at"]
        if event is not None:
            at = event["at"]
            try:
                decide = self._decide_claim if event["kind"] == "claim" else partial(self._decide_values, launch)
                return self._add_safety(decide(name, one, event), one)
            except Unchecked as problem:
                reason = str(problem)
        try:
            claim = claim_safety(self.contents, one)
            outcome = self.session.interpret(self.folder, one, claim.table)
        except Unchecked as problem:
            words = f"{reason}; safety: {problem}" if str(problem) not in reason else reason
            return Decision(name, "UNCHECKED", words, at)
        found = self._judge(name, claim, outcome, reason, at)
        if found.status == "UNKNOWN" and (safety := self._find_safety(one, claim)):
            words = f"{reason}; checked {safety.words}" if safety.given else reason
            found = self._judge(name, claim, safety.outcome, words, at)
        return self._note(found, one, claim)

    def _find_safety(self, variant: Mapping[str, Any], claim: TestClaim) -> FoundSafety | None:
        search = SafetySearch(self.folder, self.contents, self.session.seed, self.session.seconds)
        return search.find(variant, claim, self.session.list_stored(self.folder, variant))

    def _add_safety(self, found: Decision, variant: Mapping[str, Any]) -> Decision:
        """Return a decision on values; if it is open, with whether the launch is safe to run."""
        claim = claim_safety(self.contents, variant) if found.status == "UNKNOWN" else None
        safety = self._find_safety(variant, claim) if claim is not None else None
        if claim is None or safety is None:
            return found
        if safety.outcome.status != SAFE:
            return self._judge(found.name, claim, safety.outcome, f"{found.text}; checked {safety.words}", found.at)
        return replace(found, text=f"{found.text}; {SAFE} to run, {safety.words}")

    def explain_absent(self, event: Mapping[str, Any] | None = None) -> str:
        """Return which number the test reads, before an event, that isn't there; empty if it reads none."""
        for before in self.record["events"]:
            if before is event:
                break
            why = self.contents.rests_on(before["content"]) if before["kind"] == "use" else ""
            if why:
                return f"{before['how']} ({before['at']}) reads a number that isn't there: {why}"
        return ""

    def _refuse(self, event: Mapping[str, Any]) -> None:
        """Raise Unchecked unless the test rests on the comparison, and reaches it with numbers that it has."""
        if why := self.explain_absent(event):
            raise Unchecked(why)
        if event["number"] not in self.asserted:
            raise Unchecked("the test passes too if this comparison differs")
        if event.get("loose"):
            raise Unchecked("the comparison's tolerance accepts 0 for any number, or a difference of 60")
        if event.get("each") and (why := explain_part(self.contents, self.record["events"], event["number"])):
            raise Unchecked(f"the comparison isn't known to be of all elements: {why}")

    def _decide_values(self, launch: int, name: str, variant: Mapping[str, Any], event: Mapping[str, Any]) -> Decision:
        """Return the decision on the values that a launch wrote; raises Unchecked if the comparison is no claim."""
        pieces, sides = event.get("pieces", [event]), []
        for one in pieces:
            self._refuse(one)
            wrote, *pair = order_sides(self.contents, one)
            if wrote != launch:
                raise Unchecked(f"launch {wrote + 1} wrote what is compared")
            sides.append((pair[0], pair[1]))
        events = self.record["events"]
        uses = [one for one in events[: events.index(pieces[-1])] if one["kind"] == "use"]
        claim = self._build((launch, variant), sides, uses)
        outcome = self.session.interpret(self.folder, variant, claim.table, claim.before)
        written = outcome.written if outcome.part is None else self.session.list_stored(self.folder, variant)
        wrong = sorted(one for one in claim.unwritten if claim.alias.get(one, one) in written)
        if wrong:
            raise Unchecked(f"the reference reads {wrong[0]} after the kernel wrote it")
        self._refuse_timed(variant, claim, outcome)
        return self._note(self._judge(name, claim, outcome, claim.text, event["at"]), variant, claim)

    def _refuse_timed(self, variant: Mapping[str, Any], claim: TestClaim, outcome: LaunchOutcome) -> None:
        """Raise Unchecked if a launch rests on what a tensor held before the autotuner ran the kernel to time it."""
        arrays = {name: claim.alias.get(name, name) for name in variant.get("timed", ())}
        changed = {name: one for name, one in arrays.items() if one in outcome.written}
        right, tables = claim.text.partition(" = ")[2], dict(claim.table["arrays"])
        used = [name for name, one in changed.items() if re.search(rf"\b{one}\[", right)]
        zero = {one for one in changed.values() if tables[one].get("zero")}
        if not used and zero and outcome.status == "VERIFIED":
            bare = tables | {one: {**tables[one], "zero": False} for one in zero}
            found = self.session.interpret(self.folder, variant, {**claim.table, "arrays": bare}, claim.before)
            used = [name for name, one in changed.items() if one in zero and found.status != "VERIFIED"]
        if used:
            why = f"and {used[0]} is in none of its reset_to_zero and restore_value: it holds something else then"
            raise Unchecked(f"the autotuner runs the kernel to time it, {why}")

    def _build(
        self,
        last: tuple[int, Mapping[str, Any]],
        sides: Sequence[tuple[TensorReading, TensorReading]],
        uses: Sequence[Mapping[str, Any]],
    ) -> TestClaim:
        """Return the claim of a launch: of a chain, if it reads what others wrote and the reference doesn't."""
        launch, variant = last
        earlier = list_earlier(self.contents, self.launches, launch)
        if not earlier:
            return build_claim(self.contents, variant, launch, sides, uses)
        try:
            return build_chain(self.contents, self.launches, earlier, last, sides, uses)
        except Unchecked as problem:
            why = str(problem)
        try:
            return build_claim(self.contents, variant, launch, sides, uses)
        except Unchecked as problem:
            alone = str(problem)
        raise Unchecked(alone if alone == why else f"{alone}; with the launches before it: {why}")

    def _decide_claim(self, name: str, variant: Mapping[str, Any], event: Mapping[str, Any]) -> Decision:
        """Return the decision on what the test's author claims; raises Unchecked."""
        claim = claim_text(self.contents, variant, event["text"])
        if claim is None:
            raise Unchecked("the launch lacks an array of the claim")
        outcome = self.session.interpret(self.folder, variant, claim.table)
        self._refuse_timed(variant, claim, outcome)
        found = self._note(self._judge(name, claim, outcome, claim.text, event["at"]), variant, claim)
        return replace(found, claimed=True)

    def _note(self, found: Decision, variant: Mapping[str, Any], claim: TestClaim) -> Decision:
        """Return a decision with what would be wrong at sizes that nothing launches, if its own are right."""
        if not (found.status == "VERIFIED" or found.safe) or claim.parts or claim.before:
            return found
        return replace(found, note=self.session.note_neighbours(self.folder, variant, claim.table))

    def _judge(self, name: str, claim: TestClaim, outcome: LaunchOutcome, text: str, at: str) -> Decision:
        """Return the decision that an outcome amounts to."""
        made = case(outcome, claim.text, False, f"--lanecheck-seed {self.session.seed}")
        wanted = SAFETY + (("values",) if claim.target else ())
        verdicts = tuple(one for one in made.verdicts if claim.target or one.claim.prop.key != "values")
        made = replace(made, verdicts=verdicts)
        status = {one.claim.prop.key: one.status for one in verdicts}
        if status["memory"] is Status.REFUTED and claim.parts:
            why = f"an access beyond {' or '.join(claim.parts)}, which are parts of larger tensors"
            return Decision(name, "UNCHECKED", f"{text}; {why}", at, made)
        refuted = {one for one in wanted if status[one] is Status.REFUTED}
        if refuted == {"values"} and claim.special:
            return Decision(name, "UNCHECKED", f"{text} is wrong for some data, but {claim.special}", at, made)
        if refuted:
            return Decision(name, "REFUTED", text, at, made)
        return self._weigh(Decision(name, "UNKNOWN", text, at, made), claim, outcome, {status[one] for one in wanted})

    @staticmethod
    def _weigh(found: Decision, claim: TestClaim, outcome: LaunchOutcome, wanted: Collection[Status]) -> Decision:
        """Return the decision on a launch of which nothing is refuted."""
        severities = {one.severity for one in outcome.findings}
        part = outcome.part
        if not outcome.ended or Severity.UNKNOWN in severities:
            reason = next((one for one in outcome.findings if one.severity is Severity.UNKNOWN), None)
            return found if reason is None else replace(found, text=f"UNKNOWN: {spell_finding(reason)}; {found.text}")
        if part is None and not all(one.confirmed for one in wanted):
            return found
        if claim.target and Severity.PRECISION in severities:  # exact arithmetic can't tell how far that goes
            why = "the kernel rounds a value that the reference doesn't round, and the test's tolerance was not applied"
            if any("tf32" in one.text for one in outcome.findings if one.severity is Severity.PRECISION):
                why += f"; {ALLOW_TF32}"
            return replace(found, status="UNCHECKED", text=f"{found.text}; {why}", safe=part is None)
        if part is not None:
            return replace(found, status="PARTIAL", text=f"PARTIAL: {part[0]:,} of {part[1]:,} CTAs; {found.text}")
        return replace(found, status="VERIFIED" if claim.target else "UNCHECKED", safe=True)

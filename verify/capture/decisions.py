# SPDX-License-Identifier: Apache-2.0
"""Decide what a recorded test says of each launch: its claim, or its safety, by the interpretation of its PTX.

`Judge` decides the items of a test, each of them a `Decision`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from verify.capture.chains import build_chain, list_earlier
from verify.capture.claims import (
    TestClaim,
    build_claim,
    claim_safety,
    claim_text,
    order_sides,
)
from verify.capture.contents import Contents, TensorReading, find_launch
from verify.capture.elements import explain_part
from verify.capture.pieces import join_events
from verify.capture.places import Unchecked
from verify.capture.safety import (
    FoundSafety,
    SafetySearch,
    has_all_numbers,
    read_numbers,
)
from verify.capture.session import KernelSession
from verify.core.verdict import Status
from verify.kernel.check import LaunchOutcome
from verify.kernel.claims.expression import elements, read_claim
from verify.kernel.safety import SAFE
from verify.kernel.state.findings import Severity
from verify.kernel.verdict import case, spell_finding
from verify.report import Case

SAFETY = ("memory", "order", "progress")
ALLOW_TF32 = "torch.backends.cuda.matmul.allow_tf32 = True says that a product of the reference is of tf32 too"


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


class Judge:
    """The judge of one recorded test."""

    def __init__(self, session: KernelSession, record: Mapping[str, Any], folder: Path) -> None:
        self.session, self.record, self.folder = session, record, folder
        self.contents = Contents(record["contents"], self.list_written)
        self.launches = [event for event in record["events"] if event["kind"] == "launch"]
        self.asserted = frozenset(record["asserted"])
        self.facts: dict[int, frozenset[str]] = {}

    def list_written(self, launch: int) -> frozenset[str]:
        """Return the arguments that a launch wrote; all of them if that isn't known."""
        if launch not in self.facts:
            written: set[str] = set()
            for variant in self.launches[launch]["variants"]:
                try:
                    claim = claim_safety(self.contents, variant)
                    outcome, _ = self._interpret(variant, claim)
                    every = not outcome.ended or outcome.part is not None
                    alias = claim.alias
                except Unchecked:
                    every, alias = True, {}
                names = self.session.list_stored(self.folder, variant)
                written |= names if every else {name for name in names if alias[name] in outcome.written}
            self.facts[launch] = frozenset(written)
        return self.facts[launch]

    def _interpret(self, variant: Mapping[str, Any], claim: TestClaim) -> tuple[LaunchOutcome, str]:
        """Return the outcome of a variant, whatever its data are; if that is open, with the test's integers, named.

        An array of pointers has no meaning without them. Numbers of which the claim itself speaks are any numbers.
        """
        outcome = None
        if not variant.get("pointers"):
            outcome = self.session.interpret(self.folder, variant, claim.table, claim.before)
            if outcome.status != "UNKNOWN" or claim.before:
                return outcome, ""
        stored = self._list_stored(variant)
        spoken = {element.name for element in elements(read_claim(claim.table["claim"])[1])}
        numbers = {
            name: held
            for name, held in read_numbers(self.folder, self.contents, variant, claim, stored).items()
            if name not in spoken
        }
        if not numbers and outcome is not None:
            return outcome, ""
        with_numbers = self.session.interpret(self.folder, variant, claim.table, claim.before, numbers)
        if outcome is not None and not (
            with_numbers.status == "VERIFIED"
            or (with_numbers.status == "REFUTED" and has_all_numbers(claim, stored, numbers))
        ):
            return outcome, ""  # other integers may be ones that no caller gives
        return with_numbers, ", ".join(numbers)

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
                comparisons = join_events(self.contents, launch["variants"][at], compared.get(number, []))
                own = list(self._list_claims(launch["variants"][at], launch["at"]))
                for place, event in enumerate(own):
                    yield f"{name}: claim" + (f" {place + 1}" if place else ""), number, at, event
                for place, event in enumerate(comparisons):
                    yield f"{name}: values" + (f" {place + 1}" if place else ""), number, at, event
                if not comparisons and not own:
                    yield f"{name}: safety only", number, at, None

    def _select(self, events: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Return the comparisons of a launch, without `-`, `==` and `!=` on which the test doesn't rest.

        Such a difference may be there to be printed; if the launch has no other comparison, the first one is kept.
        """
        firm = [event for event in events if not event.get("each") or event["number"] in self.asserted]
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
        launches = {find_launch(self.contents, TensorReading.of(side)) for side in event["sides"]} - {None}
        return {max(launch for launch in launches if launch is not None)} if launches else set()

    def decide(self, name: str, launch: int, variant: int, event: Mapping[str, Any] | None) -> Decision:
        """Return the decision of one item."""
        config = self.launches[launch]["variants"][variant]
        reason, at = "the test compares nothing that this launch wrote", config["at"]
        if event is not None:
            at = event["at"]
            try:
                decide = self._decide_claim if event["kind"] == "claim" else partial(self._decide_values, launch)
                return self._add_safety(decide(name, config, event), config)
            except Unchecked as problem:
                reason = str(problem)
        try:
            claim = claim_safety(self.contents, config)
            outcome = self.session.interpret(self.folder, config, claim.table)
        except Unchecked as problem:
            words = f"{reason}; safety: {problem}" if str(problem) not in reason else reason
            return Decision(name, "UNCHECKED", words, at)
        decision = self._judge(name, claim, outcome, reason, at)
        if decision.status == "UNKNOWN" and (safety := self._find_safety(config, claim)):
            words = f"{reason}; checked {safety.words}" if safety.given else reason
            decision = self._judge(name, claim, safety.outcome, words, at)
        return self._note(decision, config, claim)

    def _find_safety(self, variant: Mapping[str, Any], claim: TestClaim) -> FoundSafety | None:
        search = SafetySearch(self.folder, self.contents, self.session.seed, self.session.seconds)
        return search.find(variant, claim, self._list_stored(variant))

    def _list_stored(self, variant: Mapping[str, Any]) -> frozenset[str]:
        """Return the arguments whose numbers a launch may change; behind pointers the run itself shows that."""
        return frozenset() if variant.get("pointers") else self.session.list_stored(self.folder, variant)

    def _add_safety(self, decision: Decision, variant: Mapping[str, Any]) -> Decision:
        """Return a decision on values; if it is open, with whether the launch is safe to run."""
        claim = claim_safety(self.contents, variant) if decision.status == "UNKNOWN" else None
        safety = self._find_safety(variant, claim) if claim is not None else None
        if claim is None or safety is None:
            return decision
        if safety.outcome.status != SAFE:
            return self._judge(
                decision.name, claim, safety.outcome, f"{decision.text}; checked {safety.words}", decision.at
            )
        return replace(decision, text=f"{decision.text}; {SAFE} to run, {safety.words}")

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
        """Return the decision on the values that a launch wrote; raises Unchecked if the comparison isn't a claim."""
        pieces, sides = event.get("pieces", [event]), []
        for piece in pieces:
            self._refuse(piece)
            wrote, *pair = order_sides(self.contents, piece)
            if wrote != launch:
                raise Unchecked(f"launch {wrote + 1} wrote what is compared")
            sides.append((pair[0], pair[1]))
        events = self.record["events"]
        uses = [earlier for earlier in events[: events.index(pieces[-1])] if earlier["kind"] == "use"]
        claim = self._build((launch, variant), sides, uses)
        outcome, given = self._interpret(variant, claim)
        written = outcome.written if outcome.part is None else self.session.list_stored(self.folder, variant)
        wrong = sorted(array for array in claim.unwritten if claim.alias.get(array, array) in written)
        if wrong:
            raise Unchecked(f"the reference reads {wrong[0]} after the kernel wrote it")
        self._refuse_timed(variant, claim, outcome)
        words = claim.text + (f"; checked {FoundSafety(outcome, given).words}" if given else "")
        claim = replace(claim, special=tuple(reason for reason in claim.special if reason[0] not in given.split(", ")))
        decision = self._judge(name, claim, outcome, words, event["at"])
        return decision if given else self._note(decision, variant, claim)

    def _refuse_timed(self, variant: Mapping[str, Any], claim: TestClaim, outcome: LaunchOutcome) -> None:
        """Raise Unchecked if a launch rests on what a tensor held before the autotuner ran the kernel to time it."""
        arrays = {name: claim.alias.get(name, name) for name in variant.get("timed", ())}
        changed = {name: array for name, array in arrays.items() if array in outcome.written}
        right, tables = claim.text.partition(" = ")[2], dict(claim.table["arrays"])
        used = [name for name, array in changed.items() if re.search(rf"\b{array}\[", right)]
        zero = {array for array in changed.values() if tables[array].get("zero")}
        if not used and zero and outcome.status == "VERIFIED":
            bare = tables | {array: {**tables[array], "zero": False} for array in zero}
            without_zeros = self.session.interpret(self.folder, variant, {**claim.table, "arrays": bare}, claim.before)
            used = [name for name, array in changed.items() if array in zero and without_zeros.status != "VERIFIED"]
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
        decision = self._note(self._judge(name, claim, outcome, claim.text, event["at"]), variant, claim)
        return replace(decision, claimed=True)

    def _note(self, decision: Decision, variant: Mapping[str, Any], claim: TestClaim) -> Decision:
        """Return a decision with what would be wrong at sizes that nothing launches, if its own are right."""
        if not (decision.status == "VERIFIED" or decision.safe) or claim.parts or claim.before:
            return decision
        return replace(decision, note=self.session.note_neighbours(self.folder, variant, claim.table))

    def _judge(self, name: str, claim: TestClaim, outcome: LaunchOutcome, text: str, at: str) -> Decision:
        """Return the decision that an outcome amounts to."""
        made = case(outcome, claim.text, False, f"--lanecheck-seed {self.session.seed}")
        wanted = SAFETY + (("values",) if claim.target else ())
        verdicts = tuple(verdict for verdict in made.verdicts if claim.target or verdict.claim.prop.key != "values")
        made = replace(made, verdicts=verdicts)
        status = {verdict.claim.prop.key: verdict.status for verdict in verdicts}
        if status["memory"] is Status.REFUTED and claim.parts:
            why = f"an access beyond {' or '.join(claim.parts)}, which are parts of larger tensors"
            return Decision(name, "UNCHECKED", f"{text}; {why}", at, made)
        refuted = {key for key in wanted if status[key] is Status.REFUTED}
        if refuted == {"values"} and claim.special:
            return Decision(name, "UNCHECKED", f"{text} is wrong for some data, but {claim.special[0][1]}", at, made)
        if refuted:
            return Decision(name, "REFUTED", text, at, made)
        return self._weigh(Decision(name, "UNKNOWN", text, at, made), claim, outcome, {status[key] for key in wanted})

    @staticmethod
    def _weigh(decision: Decision, claim: TestClaim, outcome: LaunchOutcome, wanted: Collection[Status]) -> Decision:
        """Return the decision on a launch of which nothing is refuted."""
        severities = {finding.severity for finding in outcome.findings}
        part = outcome.part
        if not outcome.ended or Severity.UNKNOWN in severities:
            reason = next((finding for finding in outcome.findings if finding.severity is Severity.UNKNOWN), None)
            return (
                decision
                if reason is None
                else replace(decision, text=f"UNKNOWN: {spell_finding(reason)}; {decision.text}")
            )
        if part is None and not all(status.confirmed for status in wanted):
            return decision
        if claim.target and Severity.PRECISION in severities:  # exact arithmetic can't tell how far that goes
            why = "the kernel rounds a value that the reference doesn't round, and the test's tolerance was not applied"
            if any("tf32" in finding.text for finding in outcome.findings if finding.severity is Severity.PRECISION):
                why += f"; {ALLOW_TF32}"
            return replace(decision, status="UNCHECKED", text=f"{decision.text}; {why}", safe=part is None)
        if part is not None:
            return replace(
                decision, status="PARTIAL", text=f"PARTIAL: {part[0]:,} of {part[1]:,} CTAs; {decision.text}"
            )
        return replace(decision, status="VERIFIED" if claim.target else "UNCHECKED", safe=True)

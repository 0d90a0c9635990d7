# SPDX-License-Identifier: Apache-2.0
"""The interpretation of recorded launches within their time: in full, or in part, and equal ones once."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

from verify.capture.chains import put_before
from verify.capture.claims import claim_nothing
from verify.capture.neighbours import list_neighbours
from verify.capture.places import Unchecked
from verify.capture.safety import INSTRUCTIONS, Numbers, TooLong, give_numbers
from verify.core.errors import SpecError
from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import KernelClaim, claim_of
from verify.kernel.interpretation import is_large, is_too_large
from verify.kernel.ptx.parse import parse_kernel
from verify.kernel.ptx.part import choose_ctas, find_exchange, list_stored
from verify.kernel.ptx.source import PtxError
from verify.kernel.state.findings import Severity
from verify.kernel.verdict import spell_finding

SECONDS = 60.0  # that one launch may take
FAR = 3  # times the seconds: a launch that would take longer is not begun in full
BESIDE = 10.0  # seconds for the sizes beside those of a kernel's launches, a sixth of what a launch may take at most
TO_INPUT = "write to an input"  # the kind of a finding
WRONG = (Severity.MEMORY, Severity.RACE, Severity.STUCK, Severity.VALUE)


class Soon(Exception):
    """Raised to end the run of a part: all CTAs of the launch may end within its time."""


class Clock:
    """A clock that runs from the first instruction on: the tables of large tensors take their own time."""

    start: float | None = None

    def read_time(self) -> float:
        """Return the seconds since it was read first."""
        now = time.monotonic()
        self.start = now if self.start is None else self.start
        return now - self.start


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
        numbers: Numbers | None = None,
    ) -> LaunchOutcome:
        """Return the outcome of one variant under a claim, after others, (file, table) each; raises Unchecked.

        `numbers` are what some of its arrays hold.
        """
        held = {
            name: list(content) if isinstance(content, tuple) else content.tolist()
            for name, content in (numbers or {}).items()
        }
        key = self.key(variant, {**table, "before": [*before], "numbers": held} if before or held else table)
        if key not in self.known:
            earlier = [((folder / file).read_text("utf-8"), earlier_table) for file, earlier_table in before]
            ptx = (folder / variant["ptx"]).read_text("utf-8")
            inputs = table if before else {**table, "arrays": self._keep_inputs(folder, variant, table)}
            interpreted = self._interpret(ptx, inputs, earlier, numbers or {})
            if not isinstance(interpreted, str) and any(finding.kind == TO_INPUT for finding in interpreted.findings):
                interpreted = self._interpret(ptx, table, earlier, numbers or {})  # the text doesn't show all stores
            self.known[key] = interpreted
        outcome = self.known[key]
        if isinstance(outcome, str):
            raise Unchecked(outcome)
        return outcome

    def _keep_inputs(self, folder: Path, variant: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arrays of a claim: those through which the kernel's text stores nothing are inputs."""
        arrays = dict(table["arrays"])
        if variant.get("pointers") or variant["problem"]:
            return arrays
        stored, given = self.list_stored(folder, variant), zip(variant["params"], table["params"], strict=False)
        names = [
            (x.get("tensor", x.get("map")), y["map"] if isinstance(y, dict) else y)
            for x, y in given
            if isinstance(x, dict)
        ]
        written = {array for argument, array in names if argument in stored}
        about = table.get("claim", "").partition("[")[0].strip()
        for _, array in names:
            if array in arrays and array not in written and array != about and arrays[array].get("out"):
                arrays[array] = {key: value for key, value in arrays[array].items() if key != "out"}
        return arrays

    def list_stored(self, folder: Path, variant: Mapping[str, Any]) -> frozenset[str]:
        """Return the arguments that a launch may write, as its text says; all of them if that says nothing."""
        every = frozenset(tensor["arg"] for tensor in variant["tensors"])
        if variant["problem"]:
            return every
        if variant["ptx"] not in self.stored:
            try:
                kernel = parse_kernel((folder / variant["ptx"]).read_text("utf-8"), variant["entry"])
            except PtxError:
                return every
            names = list_stored(kernel)
            self.stored[variant["ptx"]] = frozenset(
                parameter.number for name, parameter in kernel.parameters.items() if name in names
            )
        places = self.stored[variant["ptx"]]
        given = [param for at, param in enumerate(variant["params"]) if at in places and isinstance(param, dict)]
        pointed = {name for names in variant.get("pointers", {}).values() for name in names}
        return every & {*pointed, *(param.get("tensor", param.get("map")) for param in given)}

    @staticmethod
    def key(variant: Mapping[str, Any], table: Mapping[str, Any]) -> str:
        """Return a digest of a launch and its claim."""
        return hashlib.sha256(json.dumps([variant["ptx"], table], sort_keys=True).encode()).hexdigest()

    def _interpret(
        self, ptx: str, table: Mapping[str, Any], before: Sequence[tuple[str, Mapping[str, Any]]], numbers: Numbers
    ) -> LaunchOutcome | str:
        try:
            claim = give_numbers(put_before(claim_of(table), before), numbers)
            return self._interpret_all(ptx, claim, bool(before))
        except (SpecError, PtxError) as error:
            return f"the launch cannot be described: {error}"

    def _interpret_all(self, ptx: str, claim: KernelClaim, chained: bool) -> LaunchOutcome | str:
        """Return the outcome of all CTAs of a launch, or of some if all of them take too long."""
        large = is_large(claim.launches[0]) and prod(claim.launches[0].grid) > 1
        if not chained and (large or is_too_large(claim.launches[0])):
            part = self._interpret_part(ptx, claim, if_longer=True)
            if part is not None:
                return part
        clock = Clock()

        def tick(steps: int) -> None:
            if clock.read_time() >= self.seconds:
                raise TooLong

        def foresee(done: int, total: int) -> bool:
            """End a run early that would take far too long."""
            if clock.read_time() * total / done >= FAR * self.seconds:
                raise TooLong
            return False

        try:
            return check(ptx, claim, seed=self.seed, budget=INSTRUCTIONS, ticked=tick, paced=foresee)[0]
        except TooLong:
            late = f"not interpreted within {self.seconds:g} s, with the launches before it"
            return late if chained else self._interpret_part(ptx, claim) or late

    def note_neighbours(self, folder: Path, variant: Mapping[str, Any], table: Mapping[str, Any]) -> str:
        """Return what would be wrong at sizes beside those of a launch; empty if nothing is, or it isn't known.

        A kernel's neighbours are run once.
        """
        kernel = (variant["file"], variant["name"])
        if kernel in self.beside:
            return ""
        limit, note = time.monotonic() + min(BESIDE, self.seconds / 6), ""

        def tick(steps: int) -> None:
            if time.monotonic() > limit:
                raise TooLong

        try:
            ptx = (folder / variant["ptx"]).read_text("utf-8")
            for neighbour in list_neighbours(table, variant.get("constants", {})):
                self.beside.add(kernel)
                claim = claim_of(claim_nothing(neighbour.table) if neighbour.literal else neighbour.table)
                outcome = check(ptx, claim, seed=self.seed, budget=INSTRUCTIONS, ticked=tick)[0]
                why = next((finding for finding in outcome.findings if finding.severity in WRONG), None)
                if outcome.status != "REFUTED":
                    why = None
                if why is not None:
                    where = f"at {neighbour.describe()}, which nothing launches"
                    note = f"{where}, this kernel would be wrong: {spell_finding(why)}"
                if (why is not None) == neighbour.alone:
                    break  # one size alone is wrong, or all of them together are right
        except (TooLong, SpecError, PtxError):
            return note  # what isn't known is no note, as the first line says; no verdict rests on it
        return note

    def _interpret_part(self, ptx: str, claim: KernelClaim, *, if_longer: bool = False) -> LaunchOutcome | str | None:
        """Return the outcome of some CTAs of a launch, as many as end within its time; at least one must.

        None if all of them may end within it, and that is asked for: the second one shows how long one takes.
        """
        late = f"not interpreted within {self.seconds:g} s"
        kernel, clock, (launch,) = parse_kernel(ptx, claim.kernel), Clock(), claim.launches
        exchange = find_exchange(kernel)
        if exchange:
            why = f"{late}, and its CTAs are not independent ({exchange})"
            return None if if_longer and not is_too_large(launch) else why
        part = claim._replace(launches=(launch._replace(ctas=choose_ctas(launch.grid, self.seed)),))

        def tick(steps: int) -> None:
            if clock.read_time() > 2 * self.seconds:
                raise TooLong

        ended: list[float] = []  # when each CTA did; the first one also makes tables

        def pace(done: int, total: int) -> bool:
            ended.append(clock.read_time())
            if if_longer and done == 2 and not is_too_large(launch):
                if (ended[1] - ended[0]) * prod(launch.grid) < FAR * self.seconds:
                    raise Soon
            return ended[-1] >= self.seconds

        try:
            return check(ptx, part, seed=self.seed, budget=INSTRUCTIONS, ticked=tick, paced=pace)[0]
        except TooLong:
            return f"{late}, nor one of its CTAs"
        except Soon:
            return None

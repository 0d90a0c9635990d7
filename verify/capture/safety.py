# SPDX-License-Identifier: Apache-2.0
"""Find whether a recorded launch is safe to run: whatever its data are, or with the integers that the test gives it.

The program's own numbers are there while it is recorded, if no kernel would have made them. An index or a table of
offsets decides addresses and trips; with the test's numbers these are known, and a verdict is about them alone.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from verify.capture.claims import TestClaim
from verify.capture.contents import Contents
from verify.core.errors import SpecError
from verify.kernel.check import LaunchOutcome
from verify.kernel.claims.claim import KernelClaim, claim_of
from verify.kernel.claims.launch import Array, Launch
from verify.kernel.data.values import LIMITS
from verify.kernel.interpretation import list_bases
from verify.kernel.ptx.source import PtxError
from verify.kernel.safety import SAFE, check_safety

INSTRUCTIONS = 30_000_000  # the time is the limit
Numbers: TypeAlias = Mapping[str, NDArray[np.int64] | tuple[str, ...]]  # of pointers the arrays at which they point


class TooLong(Exception):
    """The launch was not interpreted within its time."""


class FoundSafety(NamedTuple):
    """What was found of a launch without a claim on values."""

    outcome: LaunchOutcome  # SAFE, or REFUTED with the test's integers
    given: str = ""  # the arrays of which the test's numbers were used

    @property
    def words(self) -> str:
        """Return for which data the outcome holds."""
        return f"with this test's numbers in {self.given}, whatever its other data are" if self.given else (
            "whatever its data are"
        )  # fmt: skip


class SafetySearch(NamedTuple):
    """A recorded launch, and how long its interpretation may take."""

    folder: Path  # of the recording
    contents: Contents
    seed: int
    seconds: float

    def find(self, variant: Mapping[str, Any], claim: TestClaim, stored: frozenset[str]) -> FoundSafety | None:
        """Return what is known of a launch's safety; None if nothing is. `stored` are arguments that it may write.

        It is refuted with the test's integers alone: other data might be ones that no caller gives.
        """
        outcome = self._check(variant, claim, {})
        if outcome is not None and outcome.status == SAFE:
            return FoundSafety(outcome)
        numbers = read_numbers(self.folder, self.contents, variant, claim, stored)
        outcome = self._check(variant, claim, numbers) if numbers else None
        if outcome is None or outcome.status not in (SAFE, "REFUTED"):
            return None
        if outcome.status != SAFE and not has_all_numbers(claim, stored, numbers):
            return None
        return FoundSafety(outcome, ", ".join(numbers))

    def _check(self, variant: Mapping[str, Any], claim: TestClaim, numbers: Numbers) -> LaunchOutcome | None:
        """Return the outcome of a launch with these numbers and any others; None if it isn't known in time."""
        limit = time.monotonic() + self.seconds

        def tick(steps: int) -> None:
            if time.monotonic() > limit:
                raise TooLong

        try:
            ptx = (self.folder / variant["ptx"]).read_text("utf-8")
            launch = give_numbers(claim_of(claim.table, claimed=False), numbers)
            return check_safety(ptx, launch, seed=self.seed, budget=INSTRUCTIONS, ticked=tick)[0]
        except (TooLong, SpecError, PtxError):
            return None


def read_numbers(
    folder: Path, contents: Contents, variant: Mapping[str, Any], claim: TestClaim, stored: Collection[str]
) -> Numbers:
    """Return the test's own numbers in arrays that the launch only reads, if no launch before made them."""
    numbers: dict[str, NDArray[np.int64] | tuple[str, ...]] = {}
    written = {claim.alias.get(arg, arg) for arg in stored}
    pointers = variant.get("pointers", {})
    for tensor in variant["tensors"]:
        name = claim.alias.get(tensor["arg"], tensor["arg"])
        if "numbers" in tensor and name not in written and not contents.rests_on(tensor["content"]):
            layout = zip(tensor["shape"], tensor["strides"], strict=True)
            own = tuple(slice(None) if extent > 1 and step else 0 for extent, step in layout)
            numbers[name] = np.load(folder / tensor["numbers"])[own].astype(np.int64)
            if tensor["arg"] in pointers:
                numbers[name] = tuple(claim.alias[each] for each in pointers[tensor["arg"]])
    return numbers


def has_all_numbers(claim: TestClaim, stored: Collection[str], numbers: Collection[str]) -> bool:
    """Return whether each array of integers that a launch only reads has the test's own."""
    inputs = {name for name, array in claim.table["arrays"].items() if array["type"] in LIMITS}
    written = {claim.alias.get(arg, arg) for arg in stored}
    return not inputs - written - {"scratch", "nothing"} - set(numbers)


def give_numbers(claim: KernelClaim, numbers: Numbers) -> KernelClaim:
    """Return a claim whose arrays hold these numbers, and are read alone."""

    def give(launch: Launch) -> Launch:
        bases, arrays = list_bases(launch), list[Array]()
        for array in launch.arrays:
            held = numbers.get(array.name)
            if isinstance(held, tuple):
                held = np.array([bases[name] for name in held], np.int64)
            arrays.append(array if held is None else array._replace(content=held.reshape(array.shape), out=False))
        return launch._replace(arrays=tuple(arrays))

    return claim._replace(launches=tuple(map(give, claim.launches)))

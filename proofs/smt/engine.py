# SPDX-License-Identifier: Apache-2.0
"""z3, as a reader of SMT-LIB text: the only place that imports it.

The text that is solved is the text that is kept, so any other solver can be given the very same problem.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

import z3

from proofs.errors import EngineError

COUNTED = 1 << 18  # points
_NUMERAL = re.compile(r"\(([^\s()]+) (?:#x([0-9a-f]+)|#b([01]+)|(\d+)|\(- (\d+)\))\)")
_SPENT = re.compile(r"\(:rlimit (\d+)\)")


class Answer(NamedTuple):
    """What the solver said, and why when it said unknown."""

    status: Literal["unsat", "sat", "unknown"]
    reason: str = ""


class Solver:
    """A solver to be used for many problems, one after the other: setting one up costs more than an easy problem.

    Counterexamples are counted, and their minimum found a second time, over domains of up to ``counted`` points.
    Not to be shared between threads.
    """

    def __init__(self, counted: int = COUNTED) -> None:
        self.counted = counted
        self._context = z3.Context()

    def run(self, text: str) -> str:
        """The solver's output for a piece of SMT-LIB text.

        Raises EngineError when it rejects the text, _OutOfBudget when its limit ends a command that is no check.
        """
        try:
            return str(z3.Z3_eval_smtlib2_string(self._context.ref(), text))
        except z3.Z3Exception as error:
            said = error.args[0]
            message = said.decode() if isinstance(said, bytes) else str(said)
            if "canceled" in message or "resource limit" in message:
                raise _OutOfBudget from error
            raise EngineError(f"z3 rejected the problem: {message}\n{text}") from error


class Session:
    """One problem, in a fresh solver or in one that forgets what it had; later checks are incremental.

    ``budget`` bounds all checks together, in z3's deterministic resource units; ``spent`` counts them. When it is
    gone, every further check is unknown. Raises EngineError when z3 rejects the text, KeyboardInterrupt when Ctrl-C
    ended a check: no answer at all, not an unknown one.
    """

    def __init__(self, text: str, budget: int, solver: Solver | None = None) -> None:
        self._solver = solver or Solver()
        self._budget = budget
        self._start = _spent(self._solver.run("(reset)(get-info :rlimit)"))
        self._text = text
        self.spent = 0

    def check(self) -> Answer:
        """Solve what has been asserted so far."""
        return self._check("")

    def check_assuming(self, assertion: str) -> Answer:
        """Solve with one more assertion, dropped again by ``forget``."""
        return self._check(f"(push)(assert {assertion})")

    def forget(self) -> None:
        """Drop the assertion of the last check_assuming."""
        if self.spent < self._budget:  # else the assertion may never have been made
            self._run("(pop)")

    def assume(self, assertion: str) -> None:
        """Assert for good."""
        self._run(f"(assert {assertion})")

    def values(self, names: tuple[str, ...]) -> dict[str, int]:
        """The last model's values; bit-vectors are read unsigned.

        >>> s = Session("(declare-const a (_ BitVec 4))(declare-const b Int)(assert (and (= b (- 7)) (= a #xb)))", 9999)
        >>> s.check().status, s.values(("a", "b"))
        ('sat', {'a': 11, 'b': -7})
        """
        text = self._run(f"(get-value ({' '.join(names)}))")
        found = {name: _number(digits) for name, *digits in _NUMERAL.findall(text)}
        if found.keys() != set(names):
            raise EngineError(f"z3 gave no values for {', '.join(names)}: {text}")
        return {name: found[name] for name in names}

    def _check(self, before: str) -> Answer:
        left = self._budget - self.spent
        if left <= 0:
            return self._exhausted()
        limited = f"(set-option :rlimit {left})\n{self._text}{before}"
        self._text = ""
        try:
            text = self._solver.run(f"{limited}(check-sat)(get-info :reason-unknown)(get-info :rlimit)")
        except _OutOfBudget:
            return self._exhausted()
        self.spent = _spent(text) - self._start
        status = text.split(maxsplit=1)[0]
        if status == "sat":
            return Answer("sat")
        if status == "unsat":
            return Answer("unsat")
        reason = text.partition('"')[2].partition('"')[0] or text.strip()
        cancelled = "cancel" in reason or "resource" in reason
        if "keyboard" in reason or (cancelled and self.spent < self._budget):
            raise KeyboardInterrupt  # z3 keeps Ctrl-C to itself while it solves
        return self._exhausted() if cancelled else Answer("unknown", f"z3: {reason}")

    def _exhausted(self) -> Answer:
        self.spent = max(self.spent, self._budget)
        return Answer("unknown", f"rlimit {self._budget} exhausted")

    def _run(self, text: str) -> str:
        """Anything but a check: small work that no limit has to cut short."""
        return self._solver.run(f"(set-option :rlimit 0){text}")


class _OutOfBudget(Exception):
    """The limit ended a command that is no check."""


def _spent(text: str) -> int:
    """The resource units of the last report in ``text``."""
    return int(_SPENT.findall(text)[-1])


def engine() -> str:
    """Name and version of the solver, as evidence states it."""
    return f"z3 {z3.get_version_string()}"


def _number(digits: list[str]) -> int:
    hexadecimal, binary, decimal, negative = digits
    if hexadecimal:
        return int(hexadecimal, 16)
    if binary:
        return int(binary, 2)
    return int(decimal) if decimal else -int(negative)

# SPDX-License-Identifier: Apache-2.0
"""z3 as a reader of SMT-LIB text: budgets, answers, values.

The text that is solved is the text that an Outcome contains, so any other solver can solve the same problem.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from proofs.errors import EngineError
from proofs.smt.libz3 import Context, Z3Error, version

COUNTED = 1 << 18  # points
_VALUE = r"\(([^\s()]+) (?:#x([0-9a-f]+)|#b([01]+)|(\d+)|\(- (\d+)\))\)"  # compiled when it is first used
_SPENT = re.compile(r"\(:rlimit (\d+)\)")


class Answer(NamedTuple):
    """The answer of the solver, with the reason when it is unknown."""

    status: Literal["unsat", "sat", "unknown"]
    reason: str = ""


class Solver:
    """A z3 context for many problems, one after the other: creating one costs more than solving an easy problem.

    Over domains of up to ``counted`` points, counterexamples are counted and the smallest is found by enumeration too.
    ``proved`` has the problems that were found unsatisfiable, by text and budget, with the resource units they took:
    equal questions are proved once. A Solver must not be shared between threads.
    """

    def __init__(self, counted: int = COUNTED) -> None:
        self.counted = counted
        self.proved: dict[tuple[str, int], int] = {}
        self._context = Context()
        self._used = False

    def reset(self) -> str:
        """Forget every problem; the output has the resource units that were spent on them."""
        again = "(reset)" if self._used else ""  # of a new context it takes longer than of a used one
        return self.run_text(f"{again}(get-info :rlimit)")

    def run_text(self, text: str) -> str:
        """Return the output of z3 for a piece of SMT-LIB text.

        Raises EngineError when z3 rejects the text, _OutOfBudget when the limit ends a command other than a check.
        """
        self._used = True
        try:
            return self._context.evaluate(text)
        except Z3Error as error:
            message = str(error)
            if "canceled" in message or "resource limit" in message:
                raise _OutOfBudget from error
            raise EngineError(f"z3 rejected the problem: {message}\n{text}") from error


class Session:
    """One problem and its incremental checks, in a new solver or in a given one, which is reset first.

    ``budget`` bounds all checks together, in z3's deterministic resource units; ``spent`` counts them. Once it is
    spent, every further check is unknown. Raises EngineError when z3 rejects the text, and KeyboardInterrupt when
    Ctrl-C ended a check: an interrupted check has no answer, not the answer unknown.
    """

    def __init__(self, text: str, budget: int, solver: Solver | None = None) -> None:
        self._solver = solver or Solver()
        self._budget = budget
        self._start = _read_spent(self._solver.reset())
        self._text = text  # what is sent before the next command
        self.spent = 0

    def check(self) -> Answer:
        """Return the answer for all assertions so far."""
        return self._check("")

    def check_assuming(self, assertion: str) -> Answer:
        """Return the answer with one more assertion, which ``forget`` drops again."""
        return self.check_with(f"(assert {assertion})")

    def check_with(self, text: str) -> Answer:
        """Return the answer with more definitions and assertions, which ``forget`` drops again."""
        return self._check(f"(push){text}")

    def forget(self) -> None:
        """Drop what the last check_assuming or check_with added, before the next command."""
        if self.spent < self._budget:  # else the assertion may never have been made
            self._text = "(pop)"

    def assume(self, assertion: str) -> None:
        """Add an assertion that stays."""
        self._run_command(f"(assert {assertion})")

    def values(self, names: tuple[str, ...]) -> dict[str, int]:
        """Return the values of some constants in the last model; bit-vectors are read as unsigned.

        >>> s = Session("(declare-const a (_ BitVec 4))(declare-const b Int)(assert (and (= b (- 7)) (= a #xb)))", 9999)
        >>> s.check().status, s.values(("a", "b"))
        ('sat', {'a': 11, 'b': -7})
        """
        text = self._run_command(f"(get-value ({' '.join(names)}))")
        values = {name: _number(digits) for name, *digits in re.findall(_VALUE, text)}
        if values.keys() != set(names):
            raise EngineError(f"z3 gave no values for {', '.join(names)}: {text}")
        return {name: values[name] for name in names}

    def _check(self, before: str) -> Answer:
        left = self._budget - self.spent
        if left <= 0:
            return self._give_up()
        limited = f"(set-option :rlimit {left})\n{self._text}{before}"
        self._text = ""
        try:
            text = self._solver.run_text(f"{limited}(check-sat)(get-info :reason-unknown)(get-info :rlimit)")
        except _OutOfBudget:
            return self._give_up()
        self.spent = _read_spent(text) - self._start
        status = text.split(maxsplit=1)[0]
        if status == "sat":
            return Answer("sat")
        if status == "unsat":
            return Answer("unsat")
        reason = text.partition('"')[2].partition('"')[0] or text.strip()
        cancelled = "cancel" in reason or "resource" in reason
        if "keyboard" in reason or (cancelled and self.spent < self._budget):
            raise KeyboardInterrupt  # while z3 solves, it catches Ctrl-C and reports it as a reason
        return self._give_up() if cancelled else Answer("unknown", f"z3: {reason}")

    def _give_up(self) -> Answer:
        self.spent = max(self.spent, self._budget)
        return Answer("unknown", f"rlimit {self._budget} exhausted")

    def _run_command(self, text: str) -> str:
        """Return the output of a command other than a check: it is short, so it has no limit."""
        before, self._text = self._text, ""
        return self._solver.run_text(f"(set-option :rlimit 0){before}{text}")


class _OutOfBudget(Exception):
    """The resource limit ended a command other than a check."""


def _read_spent(text: str) -> int:
    """Return the resource units of the last report in ``text``."""
    return int(_SPENT.findall(text)[-1])


def engine() -> str:
    """Return the name and version of the solver, as evidence reports it."""
    return f"z3 {version()}"


def _number(digits: list[str]) -> int:
    hexadecimal, binary, decimal, negative = digits
    if hexadecimal:
        return int(hexadecimal, 16)
    if binary:
        return int(binary, 2)
    return int(decimal) if decimal else -int(negative)

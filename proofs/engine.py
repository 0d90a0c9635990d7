# SPDX-License-Identifier: Apache-2.0
"""z3, as a reader of SMT-LIB text: the only place that imports it.

The text that is solved is the text that is kept, so any other solver can be given the very same problem.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

import z3

from proofs.errors import EngineError

_NUMERAL = re.compile(r"\(([^\s()]+) (?:#x([0-9a-f]+)|#b([01]+)|(\d+)|\(- (\d+)\))\)")
_SPENT = re.compile(r"\(:rlimit (\d+)\)")


class Answer(NamedTuple):
    """What the solver said, and why when it said unknown."""

    status: Literal["unsat", "sat", "unknown"]
    reason: str = ""


class Session:
    """One problem in one fresh solver; later checks are incremental.

    ``budget`` bounds the whole session, in z3's deterministic resource units. Raises EngineError when z3 rejects
    the text.
    """

    def __init__(self, text: str, budget: int) -> None:
        self._context = z3.Context()
        self._budget = budget
        self._text = f"(set-option :rlimit {budget})\n{text}"
        self.spent = 0

    def check(self) -> Answer:
        """Solve what has been asserted so far."""
        return self._check("")

    def check_assuming(self, assertion: str) -> Answer:
        """Solve with one more assertion, dropped again by ``forget``."""
        return self._check(f"(push)(assert {assertion})")

    def forget(self) -> None:
        """Drop the assertion of the last check_assuming."""
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
        try:
            text = self._run(f"{before}(check-sat)(get-info :reason-unknown)(get-info :rlimit)")
        except _ResourcesError:
            return Answer("unknown", self._exhausted())
        status = text.split(maxsplit=1)[0]
        if spent := _SPENT.search(text):
            self.spent = int(spent[1])
        if status == "sat":
            return Answer("sat")
        if status == "unsat":
            return Answer("unsat")
        reason = text.partition('"')[2].partition('"')[0] or text.strip()
        cancelled = "cancel" in reason or "resource" in reason
        return Answer("unknown", self._exhausted() if cancelled else f"z3: {reason}")

    def _exhausted(self) -> str:
        return f"rlimit {self._budget} exhausted"

    def _run(self, text: str) -> str:
        text, self._text = self._text + text, ""
        try:
            return str(z3.Z3_eval_smtlib2_string(self._context.ref(), text))
        except z3.Z3Exception as error:
            said = error.args[0]
            message = said.decode() if isinstance(said, bytes) else str(said)
            if "canceled" in message or "resource limit" in message:
                raise _ResourcesError from error
            raise EngineError(f"z3 rejected the problem: {message}\n{text}") from error


class _ResourcesError(Exception):
    """The budget ended inside a command."""


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

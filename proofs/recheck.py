# SPDX-License-Identifier: Apache-2.0
"""A second opinion on a problem's text: cvc5, where it is installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Literal, NamedTuple

from proofs.errors import EngineError

BUDGET = 5_000_000
"""Default limit in cvc5's deterministic resource units."""


class Second(NamedTuple):
    """What the second solver said, with its name and version; the reason where it is unknown."""

    status: Literal["unsat", "sat", "unknown"]
    engine: str
    reason: str = ""


def recheck(smt: str, budget: int = BUDGET) -> Second | None:
    """cvc5's answer to the text ``smt``, such as Outcome.smt; None where cvc5 is not installed.

    Of several problems in one text, "sat" if any is, "unsat" only if all are.
    Raises EngineError when cvc5 rejects the text.
    """
    if find_spec("cvc5") is None:
        return None
    import cvc5

    name = f"cvc5 {cvc5.__version__}"
    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("rlimit", str(budget))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, smt, "problem")
    said = ""
    try:
        while not (command := parser.nextCommand()).isNull():
            said += command.invoke(solver, parser.getSymbolManager())
    except RuntimeError as error:
        raise EngineError(f"cvc5 rejected the problem: {error}\n{smt}") from error
    answers = set(said.split())
    if "sat" in answers:
        return Second("sat", name)
    if answers == {"unsat"}:
        return Second("unsat", name)
    if answers <= {"unsat", "unknown"}:
        return Second("unknown", name, f"cvc5 gave up within {budget} resource units")
    raise EngineError(f"cvc5 rejected the problem: {said}\n{smt}")

# SPDX-License-Identifier: Apache-2.0
"""cvc5, an optional second solver, for the SMT-LIB text of a problem."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Literal, NamedTuple

from proofs.errors import EngineError

Status = Literal["unsat", "sat", "unknown"]
BUDGET = 5_000_000
"""Default limit in cvc5's deterministic resource units."""


class Second(NamedTuple):
    """The answer of the second solver, its name and version, and the reason when the answer is unknown."""

    status: Status
    engine: str
    reason: str = ""


class CheckedAnswers(NamedTuple):
    """The answer to each ``check-sat`` of a text, the resource units spent, and the assumptions in an unsat core."""

    answers: tuple[Status, ...]
    spent: int
    core: tuple[str, ...] = ()


def is_installed() -> bool:
    """Whether cvc5 is installed."""
    return find_spec("cvc5") is not None


def name() -> str:
    """Return the name and version of cvc5."""
    import cvc5

    return f"cvc5 {cvc5.__version__}"


def read_answers(smt: str, budget: int, seed: int = 0, core: bool = False) -> CheckedAnswers:
    """Return the answers of cvc5 to an SMT-LIB text.

    With ``core``, also the assumptions that the last check needed if unsat.

    Raises ImportError when cvc5 is not installed, EngineError when it rejects the text.
    """
    import cvc5

    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("rlimit", str(budget))
    solver.setOption("seed", str(seed))
    solver.setOption("produce-unsat-cores", "true" if core else "false")
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, smt, "problem")
    symbols = parser.getSymbolManager()
    output = ""
    try:
        while not (command := parser.nextCommand()).isNull():
            output += command.invoke(solver, symbols)
    except RuntimeError as error:
        raise EngineError(f"cvc5 rejected the problem: {error}\n{smt}") from error
    known: dict[str, Status] = {"unsat": "unsat", "sat": "sat", "unknown": "unknown"}
    words = [line.split(maxsplit=1)[0] for line in output.splitlines() if line]  # unknown (RESOURCEOUT)
    if not words or not set(words) <= set(known):
        raise EngineError(f"cvc5 rejected the problem: {output}\n{smt}")
    answers = tuple(known[word] for word in words)
    used: tuple[str, ...] = ()
    if core and answers[-1] == "unsat":
        named = {term: str(label) for term, label in symbols.getNamedTerms().items()}
        used = tuple(sorted(named[term] for term in solver.getUnsatCore() if term in named))
    spent = int(solver.getStatistics().get(True)["resource::resourceUnitsUsed"]["value"])
    return CheckedAnswers(answers, spent, used)


def recheck(smt: str, budget: int = BUDGET) -> Second | None:
    """Return the answer of cvc5 to the text ``smt``, such as Outcome.smt; None when cvc5 is not installed.

    For a text of several problems it is "sat" if any of them is, and "unsat" only if all of them are.
    Raises EngineError when cvc5 rejects the text.
    """
    if not is_installed():
        return None
    answers = set(read_answers(smt, budget).answers)
    if "sat" in answers:
        return Second("sat", name())
    if answers == {"unsat"}:
        return Second("unsat", name())
    return Second("unknown", name(), f"cvc5 gave up within {budget} resource units")

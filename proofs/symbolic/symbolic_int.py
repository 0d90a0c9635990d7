# SPDX-License-Identifier: Apache-2.0
"""Symbolic execution of ordinary Python code on integers: every path of a function, with the conditions of the path.

A :class:`SymInt` is an int for the executed code and has a formula. When the code needs the truth of a comparison, the
path forks; a solver removes forks that no numbers take. A fork that the solver cannot decide is kept: no path is
missing. An operation without a formula (bits, float) raises `Unfollowed`. Python uses the own value of an int, here 1,
as an index or as the bound of a loop: so `execution` compares every path with plain runs.

`InputSpace`                        the inputs: their names, what is assumed of them, samples that satisfy it
`SymInt`                            an integer with a formula
`Path`                              one path: its decisions, conditions and samples, and its result or exception
`explore`                           all paths of a function
`script`, `abstracted`, `compiled`  formulas as an SMT-LIB problem, without division, and as a Python function
"""

from __future__ import annotations

import math
import operator
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NoReturn

from proofs.errors import EngineError, ProofError
from proofs.laws.formula import Node, conjunction, evaluate, smt, text
from proofs.smt.engine import Session

FEASIBLE_BUDGET = 120_000
Values = Mapping[str, int]


class Unfollowed(ProofError):
    """The code did something with a symbolic integer that has no formula."""


class _DeadEnd(Exception):
    """No numbers lead here."""


class _OutOfTime(Exception):
    """The time that was given is over."""


@dataclass(frozen=True, slots=True)
class InputSpace:
    """The inputs: their names, what is assumed of them, and samples that satisfy it, which save calls of the solver."""

    names: tuple[str, ...]
    assumed: tuple[Node, ...]
    samples: tuple[Values, ...]

    @classmethod
    def make(cls, names: Sequence[str], assumed: Sequence[Node], count: int = 4000, top: int = 12) -> InputSpace:
        """Return a space with random small samples, the same in every run."""
        return cls.draw_space(names, assumed, lambda source: {x: _draw(source, top) for x in names}, count)

    @classmethod
    def draw_space(
        cls, names: Sequence[str], assumed: Sequence[Node], draw: Callable[[random.Random], Values], count: int = 1000
    ) -> InputSpace:
        """Return a space with those samples drawn by a function that satisfy the assumptions, the same in every run."""
        source = random.Random(7)
        drawn = ({x: at[x] for x in names} for at in (draw(source) for _ in range(count)))
        conditions = [compile_formula(node) for node in assumed]
        distinct = {tuple(at.values()): at for at in drawn if all(holds(at) for holds in conditions)}
        return cls(tuple(names), tuple(assumed), tuple(distinct.values()))


def _draw(source: random.Random, top: int) -> int:
    return source.choice((1, 2, 3, 4, 6, 8, 12)) if source.random() < 0.6 else source.randint(0, top)


@dataclass(slots=True)
class Path:
    """One path through the code."""

    space: InputSpace  # the inputs
    script: list[bool]  # the decisions that are prescribed, from an earlier path that forked
    conditions: list[Node] = field(default_factory=list)  # the conditions of the path, in order
    taken: list[bool] = field(default_factory=list)  # the decisions taken, in order
    # the positions in ``taken`` at which the other decision is possible too
    forks: list[int] = field(default_factory=list)
    samples: list[Values] = field(default_factory=list)  # the samples that take this path
    result: Any = None  # what the code returned
    error: Exception | None = None  # the exception that the code raised
    until: float = math.inf  # the moment, of time.monotonic(), at which the execution stops

    def decide(self, condition: Node) -> bool:
        """Return the truth of a condition on this path; a fork is noted when both values are possible."""
        if isinstance(condition, int):
            return bool(condition)
        if condition in self.conditions:
            return True
        if negate(condition) in self.conditions:
            return False
        split: tuple[list[Values], list[Values]] = ([], [])
        holds = compile_formula(condition)
        for at in self.samples:
            split[not holds(at)].append(at)
        yes, no = split
        if len(self.taken) < len(self.script):
            choice = self.script[len(self.taken)]
        else:
            choice = self._open(condition, yes, no)
        self.samples = yes if choice else no
        self.conditions.append(condition if choice else negate(condition))
        self.taken.append(choice)
        return choice

    def _open(self, condition: Node, yes: list[Values], no: list[Values]) -> bool:
        if time.monotonic() > self.until:
            raise _OutOfTime
        true = bool(yes) or self.feasible(condition)
        false = bool(no) or self.feasible(negate(condition))
        if not (true or false):
            raise _DeadEnd
        if true and false:
            self.forks.append(len(self.taken))
        return true

    def feasible(self, condition: Node) -> bool:
        """Whether some numbers on this path satisfy the condition; True when the solver cannot decide it."""
        formulas = (*self.space.assumed, *self.conditions, condition)
        abstract, extra = abstract_quotients(formulas)
        # Either may show that no numbers go there; the first says less, but is decided sooner.
        problems = (script((*self.space.names, *extra), abstract), script(self.space.names, formulas))
        try:
            return all(Session(problem, FEASIBLE_BUDGET).check().status != "unsat" for problem in problems)
        except EngineError:
            return True


def script(names: Sequence[str], formulas: Sequence[Node], seed: int = 0) -> str:
    """Formulas over integer variables as an SMT-LIB problem that z3 answers equally in every run.

    After a (push) z3 does not use its tactics, some of which give up by the clock. The seed is always set: z3 keeps the
    last one for all later problems of the process.
    """
    seeds = [f"(set-option :smt.random_seed {seed})", f"(set-option :sat.random_seed {seed})"]
    declared = [f"(declare-const {x} Int)" for x in names]
    return "\n".join([*seeds, "(set-logic ALL)", *declared, *(f"(assert {smt(f)})" for f in formulas), "(push)", ""])


def abstract_quotients(formulas: Sequence[Node]) -> tuple[list[Node], tuple[str, ...]]:
    """Return the formulas with a variable for each quotient and remainder, defined by DIVDEF, and the variables.

    Every model of the formulas is a model of the result: if the result is unsatisfiable, so are the formulas. The
    result has multiplications only, which solvers decide far sooner.
    """
    named: dict[Node, str] = {}
    facts: list[Node] = []

    def down(node: Node) -> Node:
        if not isinstance(node, tuple):
            return node
        whole = (node[0], *map(down, node[1:]))
        if node[0] not in ("//", "%"):
            return whole
        if whole not in named:
            x, p = whole[1], whole[2]
            q, r = f"q.{len(named)}", f"r.{len(named)}"
            named[("//", x, p)], named[("%", x, p)] = q, r
            exact = conjunction((("==", x, ("+", r, ("*", p, q))), (">=", r, 0), ("<", r, p)))
            facts.append(("implies", (">=", p, 1), exact))
        return named[whole]

    changed = [down(f) for f in formulas]
    return [*changed, *facts], tuple(named.values())


@lru_cache(maxsize=4096)
def compile_formula(node: Node) -> Callable[[Values], int]:
    """Return the formula as a Python function of a sample, for fast evaluation.

    >>> compile_formula(("<", ("*", "s", "d"), 7))({"s": 2, "d": 3})
    True
    """
    if isinstance(node, int):
        return lambda at: node
    if isinstance(node, str):
        return operator.itemgetter(node)
    parts = [compile_formula(part) for part in node[1:]]
    if node[0] == "and":
        return lambda at: all(part(at) for part in parts)
    if node[0] == "or":
        return lambda at: any(part(at) for part in parts)
    (left, right), operation = parts, _PYTHON[str(node[0])]
    return lambda at: operation(left(at), right(at))


_PYTHON: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def negate(node: Node) -> Node:
    """Return the negation of a comparison.

    >>> negate(("<", "x", 3))
    ('>=', 'x', 3)
    """
    if not isinstance(node, tuple):
        return int(not node)
    return (_OPPOSITE[str(node[0])], *node[1:])


def explore(
    space: InputSpace,
    run: Callable[[], Any],
    refused: tuple[type[Exception], ...],
    most: int = 2000,
    until: float = math.inf,
) -> tuple[list[Path], int]:
    """All paths of ``run``, and how many known ones were not followed: beyond ``most``, or after ``until``.

    ``until`` is a moment of time.monotonic(). ``refused`` are the exceptions by which the code rejects inputs; any
    other exception is a bug of the code, and is recorded with the path too.
    """
    todo: list[list[bool]] = [[]]
    done: list[Path] = []
    while todo and len(done) < most:
        path = Path(space, todo.pop(), samples=list(space.samples), until=until)
        try:
            with resume_path(path):
                path.result = run()
        except _OutOfTime:
            return done, len(todo) + 1
        except _DeadEnd:
            path.error = None
            todo += _others(path)
            continue
        except Unfollowed:
            raise
        except Exception as error:
            path.error = error
        todo += _others(path)
        done.append(path)
    return done, len(todo)


def _others(path: Path) -> list[list[bool]]:
    return [[*path.taken[:place], not path.taken[place]] for place in path.forks]


_PATH: ContextVar[Path | None] = ContextVar("path", default=None)


@contextmanager
def resume_path(path: Path) -> Iterator[None]:
    """Let this path decide the comparisons of symbolic integers in a block; a path can be resumed."""
    before = _PATH.set(path)
    try:
        yield
    finally:
        _PATH.reset(before)


def formula(value: object) -> Node:
    """Return the formula of a symbolic integer; a plain integer is its own formula.

    Raises Unfollowed for anything else.
    """
    if isinstance(value, SymInt):
        return value.node
    if isinstance(value, int):
        return int(value)
    raise Unfollowed(f"{value!r} is not an integer")


def _fold(head: str, a: Node, b: Node) -> Node:
    """Return the formula of an operation, with simple cases computed, which keeps problems small."""
    if isinstance(a, int) and isinstance(b, int):
        return int(evaluate((head, a, b), {}, {}))
    if a == b and head in _SAME:
        return _SAME[head]
    if (head, a) == ("-", 0) and isinstance(b, tuple) and b[:2] == ("-", 0):
        return b[2]
    if (head, b) in {("+", 0), ("-", 0), ("*", 1), ("//", 1)}:
        return a
    if (head, a) in {("+", 0), ("*", 1)}:
        return b
    return 0 if (head, b) == ("%", 1) or (head == "*" and 0 in (a, b)) else (head, a, b)


_SAME = {"-": 0, "==": 1, "<=": 1, ">=": 1, "!=": 0, "<": 0, ">": 0}


def _arithmetic(head: str, swapped: bool = False) -> Callable[[SymInt, object], Any]:
    def operate(self: SymInt, other: object) -> Any:
        if not isinstance(other, int):
            return NotImplemented
        a, b = formula(self), formula(other)
        return SymInt(_fold(head, b, a) if swapped else _fold(head, a, b))

    return operate


def _division(head: str, swapped: bool = False) -> Callable[[SymInt, object], Any]:
    def operate(self: SymInt, other: object) -> Any:
        if not isinstance(other, int):
            return NotImplemented
        a, b = (formula(other), formula(self)) if swapped else (formula(self), formula(other))
        if _decide(_fold("==", b, 0)):
            raise ZeroDivisionError("division by zero")
        if not _decide(_fold(">", b, 0)):  # Python rounds down, SMT-LIB does not, for negative divisors
            a, b = _fold("-", 0, a), _fold("-", 0, b)
            quotient = _fold("//", a, b)
            return SymInt(quotient if head == "//" else _fold("-", 0, _fold("%", a, b)))
        # n*m // m is n: layouts divide what they have multiplied, and solvers are bad at symbolic divisors.
        whole = _without(a, b)
        if whole is not None:
            return SymInt(whole if head == "//" else 0)
        return SymInt(_fold(head, a, b))

    return operate


def _without(product: Node, factor: Node) -> Node | None:
    """Return a product divided by one of its factors, which is not 0; None when it is not a factor.

    >>> _without(("*", ("*", "n", "m"), "k"), "m")
    ('*', 'n', 'k')
    """
    if product == factor:
        return 1
    if isinstance(product, tuple) and product[0] == "*":
        for part, cofactor in ((product[1], product[2]), (product[2], product[1])):
            rest = _without(part, factor)
            if rest is not None:
                return _fold("*", rest, cofactor)
    return None


def _comparison(head: str) -> Callable[[SymInt, object], Any]:
    def compare(self: SymInt, other: object) -> Any:
        if not isinstance(other, int):
            return NotImplemented
        return _decide(_fold(head, formula(self), formula(other)))

    return compare


def _decide(condition: Node) -> bool:
    if isinstance(condition, int):
        return bool(condition)
    path = _PATH.get()
    if path is None:
        raise Unfollowed(f"a question outside of an execution: {condition}")
    return path.decide(condition)


def _refuse_operator(name: str) -> Callable[..., NoReturn]:
    def refuse(self: object, *_: object) -> NoReturn:
        raise Unfollowed(f"{name} of a symbolic integer")

    return refuse


class SymInt(int):
    """An integer with a formula; operators make new formulas, and comparisons are decided by the current path."""

    node: Node

    def __new__(cls, node: Node) -> SymInt:
        """Return an integer with the formula ``node``; its own value, 1, has no meaning."""
        made = super().__new__(cls, 1)
        made.node = node
        return made

    def __hash__(self) -> int:
        """Return the hash of 1 for all: so a dictionary compares its keys, and a comparison forks."""
        return hash(1)

    def __bool__(self) -> bool:
        return _decide(_fold("!=", self.node, 0))

    def __repr__(self) -> str:
        return text(self.node)

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __neg__(self) -> SymInt:
        return SymInt(_fold("-", 0, self.node))

    def __pos__(self) -> SymInt:
        return self

    def __abs__(self) -> SymInt:
        return self if self >= 0 else -self

    def __divmod__(self, other: int) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: int) -> tuple[Any, Any]:
        return other // self, other % self


for _name, _head in {"add": "+", "sub": "-", "mul": "*"}.items():
    setattr(SymInt, f"__{_name}__", _arithmetic(_head))
    setattr(SymInt, f"__r{_name}__", _arithmetic(_head, swapped=True))
for _name, _head in {"floordiv": "//", "mod": "%"}.items():
    setattr(SymInt, f"__{_name}__", _division(_head))
    setattr(SymInt, f"__r{_name}__", _division(_head, swapped=True))
for _name, _head in {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items():
    setattr(SymInt, f"__{_name}__", _comparison(_head))
for _name in ("int", "float", "truediv", "rtruediv", "pow", "rpow", "and", "rand", "or", "ror", "xor", "rxor",
              "lshift", "rlshift", "rshift", "rrshift", "invert", "round", "trunc", "ceil", "floor"):  # fmt: skip
    setattr(SymInt, f"__{_name}__", _refuse_operator(_name))
for _name in ("bit_length", "bit_count", "to_bytes"):
    setattr(SymInt, _name, _refuse_operator(_name))

# SPDX-License-Identifier: Apache-2.0
"""The statements of the laws as tests on arrays: where a law applies, and whether it holds there.

A law is an entry of the catalogue beside its proof. Its text alone is taken from there, as data: it is read and
evaluated here, by array arithmetic that shares nothing with the solvers, the proofs or the layouts.

`laws`       the laws of the catalogue, by name
`ArrayLaw`   one of them, and its mutants, which are false on purpose
"""

from __future__ import annotations

import ast
import operator
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache, cached_property, reduce
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

Array: TypeAlias = Any  # of numpy or CuPy
Function: TypeAlias = Callable[..., Array]

CATALOGUE = Path(__file__).parents[1] / "proofs" / "laws" / "catalogue"
SEED = "functions"  # the axis of a grid that says which functions are meant by the letters of a law
FEW = 5  # values of such a function, so that hypotheses on them are met: -1, 0, 1, 2, 3
SMALL = 16  # values of a variable of bit-vectors that are small; those after them are scattered over all 2**bits


class Tested(NamedTuple):
    """A law at the points of a grid."""

    applies: Array  # where it applies
    holds: Array  # where its goal is true
    values: Mapping[str, Array]  # of its variables, and which functions are meant


@dataclass(frozen=True)
class ArrayLaw:
    """A law on arrays of integers: its variables, functions, macros, hypotheses and goal, as the catalogue has them."""

    name: str  # its key in the catalogue
    lowest: Mapping[str, int | None]  # by variable: the least value, or None for any integer
    bits: int | None  # the width, where the variables are bit-vectors
    functions: Mapping[str, int]  # functions that may be any, with their numbers of arguments
    let: Sequence[str]  # definitions
    hyps: Sequence[str]  # formulas, all of which must be true for the law to apply
    goal: Sequence[str]  # formulas, all of which are then true
    why: str = ""  # what makes a mutant of a law false

    @cached_property
    def equations(self) -> Mapping[str, ast.expr]:
        """The variables that a hypothesis gives, such as x by `x == p + P*c`: computed, each after those before it."""
        equations: dict[str, ast.expr] = {}
        used: set[str] = set()  # by those found: none may depend on one that comes after it
        for line in self.hyps:
            for name, tree in _split_equation(_parse(line)):
                names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
                free = name in self.lowest and name not in equations and name not in names | used
                if free and not self._names_definition(names):
                    equations[name] = tree
                    used |= names
                    break
        return equations

    def _names_definition(self, names: Set[str]) -> bool:
        """Whether some names are those of definitions, whose texts may have any variable."""
        return any(line.partition("(")[0].strip() in names for line in self.let)

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes of a grid: the variables that are not given, and which functions are meant, if the law has any."""
        return (*(x for x in self.lowest if x not in self.equations), *([SEED] if self.functions else []))

    @cached_property
    def digest(self) -> str:
        """The digest of what is evaluated: a record of another text is no record of this law."""
        parts = [*self.lowest.items(), self.bits, *self.functions.items(), *self.let, ":", *self.hyps, "=>", *self.goal]
        return blake2b("\0".join(map(str, parts)).encode(), digest_size=8).hexdigest()

    def bounds(self, edge: int) -> Mapping[str, tuple[int, int]]:
        """Return the least and the greatest place on each axis of a grid; any integer is looked at around 0."""
        lowest = {x: self.lowest.get(x, 0) for x in self.axes}
        starts = {x: -(edge // 2) if low is None else low for x, low in lowest.items()}
        return {x: (low, low + edge - 1) for x, low in starts.items()}

    def test(self, xp: Any, point: Mapping[str, Array]) -> Tested:
        """Return where the law applies and where it holds, at the places of a grid on each axis."""
        seed = point.get(SEED, 0)
        names = {x: self._values(xp, place) for x, place in point.items()}
        known: dict[str, Function] = {
            name: _any_function(xp, number, seed) for number, name in enumerate(self.functions)
        }
        evaluator = _Evaluator(xp, self.bits, known)
        for line in self.let:
            evaluator.define(line, names)
        inside = (place := next(iter(point.values()))) == place  # everywhere
        for x, tree in self.equations.items():
            names[x] = evaluator.value(tree, names)
            inside &= True if self.lowest[x] is None else names[x] >= self.lowest[x]
        applies, holds = (
            reduce(operator.and_, (evaluator.value(_parse(line), names) for line in lines), inside)
            for lines in (self.hyps, self.goal)
        )
        return Tested(applies, holds, names)

    def _values(self, xp: Any, place: Array) -> Array:
        """Return the values at places of an axis.

        Integers are their places. Bit-vectors are small ones, then ones with any bits: addresses far apart, and shifts
        that are too far.
        """
        if self.bits is None:
            return place
        scattered = place * 2654435769 % (1 << self.bits)
        return xp.where(place < SMALL, place, scattered).astype(f"uint{self.bits}")


@cache
def laws(folder: Path = CATALOGUE) -> Mapping[str, ArrayLaw]:
    """Return the laws of the catalogue that have a proof, by name."""
    return {name: _read_law(name, entry) for name, entry in _entries(folder).items() if "why_open" not in entry}


def mutants(name: str, folder: Path = CATALOGUE) -> Iterator[ArrayLaw]:
    """Yield the mutants that the catalogue declares of a law: each has a counterexample."""
    law = laws(folder)[name]
    for entry in _entries(folder)[name]["mutants"]:
        yield replace(law, hyps=entry.get("hyps", law.hyps), goal=entry.get("goal", law.goal), why=entry["why"])


@cache
def _entries(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    """Return the entries of the catalogue as they are written."""
    return {
        name: entry
        for file in sorted(folder.glob("*.toml"))
        for name, entry in tomllib.loads(file.read_text(encoding="utf-8")).items()
    }


def _read_law(name: str, entry: Mapping[str, Any]) -> ArrayLaw:
    unsigned = "bits" in entry
    kinds = (("positive", 1), ("natural", 0), ("integer", 0 if unsigned else None))
    return ArrayLaw(
        name=name,
        lowest={x: low for kind, low in kinds for x in entry.get(kind, "").split()},
        bits=entry.get("bits"),
        functions={f: int(count) for f, count in (word.split("/") for word in entry.get("functions", "").split())},
        let=entry.get("let", []),
        hyps=entry.get("hyps", []),
        goal=entry["goal"],
    )


def _split_equation(tree: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield a name and what it is equal to, for each side of an equation that is a name."""
    match tree:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            for side, opposite in ((left, right), (right, left)):
                if isinstance(side, ast.Name):
                    yield side.id, opposite


@cache
def _parse(text: str) -> ast.expr:
    return ast.parse(text.strip(), mode="eval").body


def _any_function(xp: Any, number: int, seed: Array) -> Function:
    """Return a function of few values without a pattern: another one for each number and each seed."""

    def value(*arguments: Array) -> Array:
        mixed = seed * 7919 + number * 104729
        for place, argument in enumerate(arguments):
            mixed = (mixed ^ (mixed >> 7)) * 31 + argument * (2 * place + 1) * 48271
        mixed = (mixed ^ (mixed >> 15)) * 73244475
        return (mixed ^ (mixed >> 16)) % FEW - 1

    return value


_BINARY: Mapping[type[ast.operator], Function] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.LShift: operator.lshift, ast.RShift: operator.rshift,
}  # fmt: skip
_COMPARED: Mapping[type[ast.cmpop], Function] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip


@dataclass(frozen=True)
class _Evaluator:
    """The values of formulas on arrays: integers of 64 bits, or unsigned ones of some bits."""

    xp: Any
    bits: int | None
    functions: dict[str, Function]

    def define(self, line: str, names: Mapping[str, Array]) -> None:
        """Add a definition, such as `A(x) = x*d`."""
        head, _, body = line.partition(" = ")
        name, _, rest = head.partition("(")
        parameters, tree = [x.strip() for x in rest.rstrip(") ").split(",")], _parse(body)
        self.functions[name.strip()] = lambda *arguments: self.value(
            tree, {**names, **dict(zip(parameters, arguments, strict=True))}
        )

    def value(self, tree: ast.expr, names: Mapping[str, Array]) -> Array:
        """Return the value of a formula. Raises ValueError for what is not in the language of the catalogue."""

        def down(part: ast.expr) -> Array:
            return self.value(part, names)

        value: Array
        match tree:
            case ast.Constant(value=int(number)):
                value = number
            case ast.Name(id=name):
                value = names[name]
            case ast.BinOp(left=left, op=ast.LShift() | ast.RShift() as op, right=right) if self.bits:
                value = self._shift(_BINARY[type(op)], down(left), down(right))
            case ast.BinOp(left=left, op=op, right=right):
                value = _BINARY[type(op)](down(left), down(right))
            case ast.UnaryOp(op=ast.USub(), operand=part):
                value = -down(part)
            case ast.UnaryOp(op=ast.Invert() | ast.Not(), operand=part):
                value = ~down(part)  # of truth values it is `not`
            case ast.BoolOp(op=op, values=parts):
                value = reduce(operator.and_ if isinstance(op, ast.And) else operator.or_, map(down, parts))
            case ast.IfExp(test=test, body=body, orelse=otherwise):
                value = self.xp.where(down(test), down(body), down(otherwise))
            case ast.Compare(left=left, ops=ops, comparators=compared):
                sides = [down(left), *map(down, compared)]
                pairs = zip(ops, sides, sides[1:], strict=False)
                value = reduce(operator.and_, [_COMPARED[type(op)](a, b) for op, a, b in pairs])
            case ast.Call(func=ast.Name(id="implies"), args=[premise, conclusion]):
                value = ~down(premise) | down(conclusion)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                value = self.functions[name](*map(down, arguments))
            case _:
                raise ValueError(f"{ast.unparse(tree)!r} is not in the language of the laws")
        return value

    def _shift(self, shift: Function, value: Array, by: Array) -> Array:
        """Return a shifted bit-vector; 0 where all bits are shifted out, which arrays leave undefined."""
        if isinstance(value, int) and isinstance(by, int):
            return shift(value, by)
        assert self.bits is not None
        word = self.xp.asarray(value, dtype=f"uint{self.bits}") if isinstance(value, int) else value
        inside = by < self.bits
        if isinstance(by, int):
            return shift(word, by) if inside else word * 0
        return self.xp.where(inside, shift(word, self.xp.where(inside, by, 0)), 0).astype(word.dtype)

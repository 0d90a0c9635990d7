# SPDX-License-Identifier: Apache-2.0
"""Laws as data, read from TOML: hypotheses, goal, the earlier laws that the proof uses, and mutants that must be false.

The proof of a law may use only its own hypotheses, instances of earlier laws, and cuts, each of which is an obligation
of its own. So the graph of the laws has no cycle, and no proof uses an unproved fact.

`Law`        one law, with its `Hint` and `LawMutant` values
`catalogue`  all laws of a folder of TOML files, with every mistake reported as a LawError
`ancestors`  the laws that a proof uses, directly or through other laws
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from proofs.errors import ProblemError
from proofs.laws.formula import Node, conjunction, expand, parse, substitute, text, walk

Macros = Mapping[str, tuple[tuple[str, ...], Node]]
FOLDER = Path(__file__).with_name("catalogue")
ORDER = (
    "base",
    "evaluation",
    "composition",
    "distribution",
    "complement",
    "inverse",
    "tiling",
    "swizzle",
    "shape",
    "open",
)
KEYS = {
    "statement", "formula", "source", "positive", "natural", "integer", "bits", "functions", "let", "hyps", "goal",
    "hints", "cuts", "mutants", "induction", "why_open", "arguments",
}  # fmt: skip


class LawError(ProblemError):
    """A malformed law. The message has its file, its name and what is wrong."""


@dataclass(frozen=True, slots=True)
class LawMutant:
    """A law made false on purpose, by other hypotheses or another goal; ``why`` says how."""

    why: str
    hyps: tuple[Node, ...]
    goal: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Hint:
    """An instance of an earlier law: its name, the text of the instance and its formula."""

    law: str
    instance: str
    formula: Node


@dataclass(frozen=True, slots=True)
class Law:
    """One law. Every formula is expanded: no macro occurs in it."""

    name: str  # its key in the catalogue
    group: str  # the file of the catalogue that defines it
    statement: str  # the law in words
    formula: str  # the law in mathematical notation; may be empty
    source: str  # where it is published
    positive: tuple[str, ...]  # variables that are extents: integers >= 1
    natural: tuple[str, ...]  # variables >= 0
    integer: tuple[str, ...]  # variables that are any integer
    bits: int | None  # the width, when the variables are bit-vectors; None for integers
    functions: Mapping[str, int]  # uninterpreted functions and their numbers of arguments
    hyps: tuple[Node, ...]  # hypotheses
    goal: tuple[Node, ...]  # what follows, in parts
    hints: tuple[Hint, ...]  # instances of earlier laws that the proof uses
    cuts: tuple[Node, ...]  # intermediate steps of the proof, in order
    mutants: tuple[LawMutant, ...]  # declared mutants: each must have a counterexample
    induction: str  # how the law extends to every rank, in words; may be empty
    why_open: str  # why the law is not proved; empty when it is
    let: tuple[str, ...]  # definitions of macros, as written
    arguments: tuple[str, ...]  # the order of the variables in an instance, when it is not positive, natural, integer
    written: Mapping[str, tuple[str, ...]]  # the texts of hyps, goal and cuts, before expansion

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables in the order of the arguments of an instance: ``arguments``, or else extents first."""
        return self.arguments or self.positive + self.natural + self.integer

    @property
    def domain(self) -> tuple[tuple[str, Node], ...]:
        """The ranges of the variables as formulas: extents are >= 1, naturals >= 0."""
        positive = tuple((x, (">=", x, 1)) for x in self.positive)
        return positive + tuple((x, (">=", x, 0)) for x in self.natural)

    @property
    def divisors(self) -> frozenset[str]:
        """The variables that the law divides by; it has a meaning only when these are positive."""
        nodes = (n for f in (*self.hyps, *self.goal) for n in walk(f))
        return frozenset(
            v for n in nodes if isinstance(n, tuple) and n[0] in ("//", "%") for v in walk(n[2]) if isinstance(v, str)
        )

    def implication(self) -> Node:
        """Return the law as one formula, hypotheses implying the goal, with its variables free."""
        assumed = (*(f for _, f in self.domain), *self.hyps)
        goal = conjunction(self.goal)
        return ("implies", conjunction(assumed), goal) if assumed else goal


def catalogue(folder: Path = FOLDER) -> Mapping[str, Law]:
    """All laws by name, each after the laws that its proof uses.

    Raises LawError for an unknown or missing key, a formula that does not parse or uses an undeclared name, a divisor
    that is not a product of extents, and a hint that is not an instance of an earlier law.
    """
    laws: dict[str, Law] = {}
    for file in _files(folder):
        for name, entry in tomllib.loads(file.read_text(encoding="utf-8")).items():
            if name in laws:
                raise LawError(f"{file.name}: {name} is defined twice")
            try:
                laws[name] = _law(name, file.stem, entry, laws)
            except (ProblemError, TypeError, ValueError) as error:
                raise LawError(f"{file.name}: {name}: {error}") from error
    return laws


def _files(folder: Path) -> Iterator[Path]:
    files = {path.stem: path for path in folder.glob("*.toml")}
    yield from (files.pop(stem) for stem in ORDER if stem in files)
    yield from (files[stem] for stem in sorted(files))


def _law(name: str, group: str, entry: Mapping[str, Any], earlier: Mapping[str, Law]) -> Law:
    _check_keys(entry)
    macros = _macros(entry.get("let", []))

    def formulas(key: str, where: Mapping[str, Any] = entry) -> tuple[Node, ...]:
        return tuple(expand(parse(line), macros) for line in where.get(key, []))

    functions = {word.split("/")[0]: int(word.split("/")[1]) for word in entry.get("functions", "").split()}
    hyps, goal = formulas("hyps"), formulas("goal")
    mutants = tuple(
        LawMutant(m["why"], formulas("hyps", m) if "hyps" in m else hyps, formulas("goal", m) if "goal" in m else goal)
        for m in entry.get("mutants", [])
    )
    hints = tuple(_hint(line, macros, earlier, functions) for line in entry.get("hints", []))
    law = Law(
        name=name,
        group=group,
        statement=entry["statement"],
        formula=entry.get("formula", ""),
        source=entry["source"],
        **{key: tuple(entry.get(key, "").split()) for key in ("positive", "natural", "integer", "arguments")},
        bits=entry.get("bits"),
        functions=functions,
        hyps=hyps,
        goal=goal,
        hints=hints,
        cuts=formulas("cuts"),
        mutants=mutants,
        induction=entry.get("induction", ""),
        why_open=entry.get("why_open", ""),
        let=tuple(entry.get("let", [])),
        written={key: tuple(entry.get(key, [])) for key in ("hyps", "goal", "cuts")},
    )
    _check(law)
    return law


def _check_keys(entry: Mapping[str, Any]) -> None:
    if unknown := sorted(set(entry) - KEYS):
        raise LawError(f"unknown key {unknown[0]!r}")
    if missing := sorted({"statement", "source"} - set(entry)):
        raise LawError(f"no {missing[0]!r}")


def _macros(lines: list[str]) -> Macros:
    macros: dict[str, tuple[tuple[str, ...], Node]] = {}
    for line in lines:
        head, _, body = line.partition(" = ")
        name, _, rest = head.partition("(")
        parameters = tuple(p.strip() for p in rest.rstrip(") ").split(","))
        macros[name.strip()] = (parameters, expand(parse(body), macros))
    return macros


def _hint(line: str, macros: Macros, earlier: Mapping[str, Law], functions: Mapping[str, int]) -> Hint:
    node = parse(line)
    if not isinstance(node, tuple) or node[0] != "call":
        raise LawError(f"the hint {line!r} is not an instance of a law")
    lemma = earlier.get(str(node[1]))
    if lemma is None or lemma.why_open:
        raise LawError(f"the hint {line!r} names no earlier law: a hint must be an instance of an earlier, proved law")
    arguments = [expand(x, macros) for x in node[2:]]
    if len(arguments) != len(lemma.variables):
        raise LawError(f"the hint {line!r}: {lemma.name} takes the arguments {', '.join(lemma.variables)}")
    if not set(lemma.functions) <= set(functions):
        raise LawError(f"the hint {line!r}: {lemma.name} has a function that this law does not declare")
    return Hint(lemma.name, line, substitute(lemma.implication(), dict(zip(lemma.variables, arguments, strict=True))))


def _check(law: Law) -> None:
    if law.why_open:
        return
    if not law.goal or not law.mutants:
        raise LawError("a law needs a goal and a mutant that breaks it")
    known = set(law.variables)
    everything = [*law.hyps, *law.goal, *law.cuts, *(h.formula for h in law.hints)]
    everything += [f for m in law.mutants for f in (*m.hyps, *m.goal)]
    for node in (n for f in everything for n in walk(f)):
        if isinstance(node, str) and node not in known:
            raise LawError(f"the variable {node!r} is not declared")
        if isinstance(node, tuple) and node[0] == "call" and law.functions.get(str(node[1])) != len(node) - 2:
            raise LawError(f"the function {node[1]!r} of {len(node) - 2} arguments is not declared")
    for formula in (*law.hyps, *law.goal):
        _check_divisors(formula, law)


def _check_divisors(formula: Node, law: Law) -> None:
    """Raise LawError for a divisor that may be <= 0: by these, division in SMT-LIB and in Python differ."""
    for node in walk(formula):
        if isinstance(node, tuple) and node[0] in ("//", "%") and law.bits is None:
            factors = [n for n in walk(node[2]) if not isinstance(n, tuple)]
            products = all(n[0] == "*" for n in walk(node[2]) if isinstance(n, tuple))
            positive = all((isinstance(n, int) and n > 0) or n in law.positive for n in factors)
            if not (products and positive):
                raise LawError(f"the divisor {text(node[2])} is not a product of extents")


def ancestors(law: Law, laws: Mapping[str, Law]) -> frozenset[str]:
    """Return the names of all laws that the proof of ``law`` uses, directly or through other laws.

    >>> laws = catalogue()
    >>> sorted(ancestors(laws["NDIV"], laws))
    ['DIGITS3', 'DIVDEF', 'DM', 'LTD', 'MONO', 'SPLIT']
    """
    direct = frozenset(h.law for h in law.hints)
    return reduce(frozenset.union, (ancestors(laws[name], laws) for name in direct), direct)

# SPDX-License-Identifier: Apache-2.0
"""Families of layouts given by numbers and letters, as inputs of an operation that is executed symbolically.

`OperationFamily`  an operation, with a number or a letter for each of its inputs
`family`           the family of a request such as ("composition", "(6,2)", "N:2")
`one_run`          the family of one run of composition, for any mode of B
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count

from proofs.errors import ProblemError
from proofs.laws.formula import Node, evaluate, substitute, text
from proofs.smt.engine import Session
from proofs.symbolic.contracts import divide, product
from proofs.symbolic.execution import GOAL_BUDGET, Operation
from proofs.symbolic.operations import _composition, operations
from proofs.symbolic.pathwise import Goal
from proofs.symbolic.runs import composition_run
from proofs.symbolic.symbolic_int import InputSpace, Path, _fold, script

RANKS = 3
WORD = re.compile(r"-?\d+|[A-Za-z_]\w*", re.ASCII)
Lists = list[list[str]]


class InferenceError(ProblemError):
    """No condition can be inferred for the family; the message quotes the request."""


@dataclass(frozen=True, slots=True)
class OperationFamily:
    """An operation with a number or a letter for each of its inputs, by name; ``note`` says how A was simplified."""

    operation: Operation
    given: Mapping[str, str]
    note: str = ""

    @property
    def shown_inputs(self) -> Mapping[str, Node]:
        """The formula of each input: a number, or the letter of the user."""
        return {name: int(x) if _number(x) else x for name, x in self.given.items()}

    @property
    def granted_assumptions(self) -> tuple[Node, ...]:
        """The assumptions of the operation, without lower bounds of inputs that are given as numbers."""
        assumed = self.operation.space.assumed
        return tuple(
            node
            for node in assumed
            if not (isinstance(node, tuple) and node[0] == ">=" and _number(self.given.get(str(node[1]), "")))
        )

    def head(self) -> Iterator[str]:
        """Yield the lines that say how the family was simplified and what is assumed of its letters."""
        if self.note:
            yield f"  {self.note}"
        yield from self.domain()

    def domain(self) -> Iterator[str]:
        """Yield the line that says what is assumed of the letters, when anything is."""
        shown = [text(compute(substitute(node, self.shown_inputs))) for node in self.granted_assumptions]
        if shown := [node for node in dict.fromkeys(shown) if node != "1"]:
            yield f"  where {', '.join(shown)}"

    def space(self) -> InputSpace:
        """Return the inputs of the family; a repeated letter is one number.

        Raises InferenceError when there are none.
        """
        fixed = {name: int(x) for name, x in self.given.items() if _number(x)}
        first = {x: name for name, x in reversed(list(self.given.items()))}
        equal = {name: first[x] for name, x in self.given.items() if name not in fixed and first[x] != name}
        narrow: list[Node] = [
            *(("==", name, value) for name, value in fixed.items()),
            *(("==", *pair) for pair in equal.items()),
        ]
        known = (*self.granted_assumptions, *narrow)
        names = self.operation.space.names
        samples = [{**at, **fixed} for at in self.operation.space.samples]
        samples = [{**at, **{name: at[same] for name, same in equal.items()}} for at in samples]
        # Most samples don't have the given numbers. Without any left, only the solver can say whether there are inputs.
        kept = tuple(at for at in samples if all(evaluate(node, at, {}) for node in known))
        if not kept and Session(script(names, known), GOAL_BUDGET).check().status == "unsat":
            assumed = ", ".join(text(substitute(node, self.shown_inputs)) for node in self.granted_assumptions)
            raise InferenceError(f"{self.operation.label}: no layouts are so, where {assumed} is taken for granted")
        return replace(self.operation.space, assumed=known, samples=kept)


def family(operation: str, shape: str, by: str | None) -> OperationFamily:
    """Return the family of a request. Raises InferenceError when no condition can be inferred for it."""
    lists = _lists(shape, "--shape")
    right = _lists(by, "--by") if by is not None else []
    known = list(dict.fromkeys(o.name for o in _operations().values()))
    if operation not in known:
        raise InferenceError(f"nothing can be inferred about {operation}; known: {', '.join(known)}")
    if len(lists[0]) > RANKS or (right and len(right[0]) > RANKS):
        raise InferenceError(f"--shape {shape}" + (f" --by {by}" if by else "") + f": at most {RANKS} modes")
    if operation == "composition":
        right, (lists, note) = _layout(right, by, operation), _merge_modes(lists)
        # `layouts.composition` merges the modes of A first, so the operation takes them merged, and the report says so.
        composed = _composition(len(lists[0]), len(right[0]))
        return _check_family(composed, _name_inputs("MD", lists) | _name_inputs("Nr", right), note)
    if operation in ("logical_divide", "logical_product"):
        return _tiling(operation, lists, _layout(right, by, operation) if right else [])
    named = _name_inputs("sd", lists)
    if right:
        if operation != "complement":
            raise InferenceError(f"--by {by}: {operation} goes by its shape alone")
        if len(right) > 1 or len(right[0]) > 1:
            raise InferenceError(f"--by {by} isn't a cotarget, such as 24 or T")
        named["T"] = right[0][0]
    return _check_family(_operation(f"{operation}, rank {len(lists[0])}"), named)


def one_run(shape: str) -> OperationFamily:
    """One run of any mode N:r of B in the layouts A of a family; N, r and u are renamed when A uses these letters.

    >>> one_run("(N,8):(1,d)").given["N"]
    'N_'
    """
    lists, note = _merge_modes(_lists(shape, "--shape"))
    operation, given = composition_run(len(lists[0])), _name_inputs("MD", lists)
    taken = set(given.values())
    for name in operation.space.names:
        if name not in given:
            given[name] = next(x for x in (name + "_" * k for k in count()) if x not in taken)
    return _check_family(operation, given, note)


def _tiling(operation: str, lists: Lists, right: Lists) -> OperationFamily:
    """logical_divide or logical_product by one mode N:r, in letters when none is given."""
    if right and len(right[0]) > 1:
        raise InferenceError(f"{operation} goes by one mode N:r, not by {len(right[0])}")
    note = ""
    if operation == "logical_divide":
        lists, note = _merge_modes(lists)
    if operation == "logical_divide" and right and "0" in right[1]:  # T* is then n:1, and A o T* always exists
        return _check_family(divide(len(lists[0]), 1), _name_inputs("MD", lists) | _name_inputs("Nr", right), note)
    if operation == "logical_product" and right and ("1" in right[0] or "0" in right[1]):
        return _check_family(product(len(lists[0]), 1), _name_inputs("sd", lists) | _name_inputs("Nr", right))
    named = _name_inputs("MD" if operation == "logical_divide" else "sd", lists)
    named |= {n: x for n, (x,) in zip("Nr", right, strict=False)}
    return _check_family(_operation(f"{operation}, rank {len(lists[0])} by N:r"), named, note)


def _operation(label: str) -> Operation:
    return _operations()[label]


@lru_cache(maxsize=1)
def _operations() -> Mapping[str, Operation]:
    """Return the operations by label, made once: their samples are the same in every run and take time to draw."""
    return {o.label: o for o in operations(RANKS)}


def _merge_modes(lists: Lists) -> tuple[Lists, str]:
    """Return the modes of A as composition simplifies them: without extents of 1, numbers merged."""
    if len(lists) == 1:
        kept = [s for s in lists[0][:-1] if s != "1"] + lists[0][-1:]
        shown = f"({','.join(kept)})" if len(kept) > 1 else kept[0]
        return [kept], f"A's extents of 1 left out: {shown}" * (len(kept) < len(lists[0]))
    out: list[tuple[str, str]] = []
    for place, (s, d) in enumerate(zip(*lists, strict=True)):
        if s == "1" and place + 1 < len(lists[0]):
            continue
        if not (out and _follows(out[-1], d)):
            out.append((s, d))
        elif _number(s):  # letters can't be multiplied in the notation of a layout
            out[-1] = (str(int(out[-1][0]) * int(s)), out[-1][1])
        else:
            raise InferenceError(f"--shape: {':'.join(out[-1])} and {s}:{d} are one mode: write them as one")
    shape, stride = ([mode[i] for mode in out] for i in (0, 1))
    shown = f"({','.join(shape)}):({','.join(stride)})" if len(out) > 1 else f"{shape[0]}:{stride[0]}"
    return [shape, stride], f"A, its modes merged: {shown}" * (len(out) < len(lists[0]))


def _follows(mode: tuple[str, str], stride: str) -> bool:
    """Whether a stride is the product of a mode's extent and stride; False when any of them is a letter."""
    return all(map(_number, (*mode, stride))) and int(stride) == int(mode[0]) * int(mode[1])


def _name_inputs(letters: str, lists: Lists) -> dict[str, str]:
    """Return the number or letter for each input: the names of the inputs are a letter and the position of the mode."""
    return {f"{n}{i}": x for n, numbers in zip(letters, lists, strict=False) for i, x in enumerate(numbers)}


def _check_family(operation: Operation, given: Mapping[str, str], note: str = "") -> OperationFamily:
    """Return the family. Raises InferenceError for an extent below 1, or a letter that is the name of another input."""
    inputs = set(operation.space.names) - set(given)
    if taken := sorted(inputs & set(given.values())):
        raise InferenceError(
            f"the letter {taken[0]} is taken: {operation.label} has the inputs {' '.join(sorted(inputs))}"
        )
    low = [x for name, x in given.items() if name[0] in "MsNT" and _number(x) and int(x) < 1]
    if low:
        raise InferenceError(f"{operation.name}: extents and cotargets are at least 1, got {low[0]}")
    return OperationFamily(_rejecting_below(operation, given), given, note)


def _rejecting_below(operation: Operation, given: Mapping[str, str]) -> Operation:
    """Return the operation, for which the rejection of a given negative stride is right too."""
    wide = {name[1:]: name for name in given if name[0] in "Ns"}
    below: list[Node] = [
        ("and", (">=", wide[name[1:]], 2), ("<", name, 0))
        for name, x in given.items()
        if name[0] in "rd" and _number(x) and int(x) < 0
    ]
    refuses = operation.refuses
    if not below or refuses is None:
        return operation

    def wider(path: Path) -> Iterator[Goal]:
        return (replace(goal, goal=("or", *below, goal.goal)) for goal in refuses(path))

    return replace(operation, refuses=wider)


def _layout(lists: Lists, by: str | None, operation: str) -> Lists:
    """Return the right-hand layout of a request; an int n means n:1."""
    if not lists:
        raise InferenceError(f"{operation} goes by a layout: --by N:r")
    if len(lists) == 1 and len(lists[0]) == 1:
        return [lists[0], ["1"]]
    if len(lists) != 2:
        raise InferenceError(f"--by {by} is not a layout, such as N:r")
    return lists


def _lists(layout: str, option: str) -> Lists:
    """Return the numbers and letters of a shape, or of shape and stride of a layout, flattened."""
    parts = [re.sub(r"\s*([(),])\s*", r"\1", part.strip()) for part in layout.split(":")]
    if len(parts) > 2 or not all(map(_is_nested, parts)):
        raise InferenceError(f"{option} {layout} is neither a shape nor a layout, such as (4,M) or (4,M):(1,d)")
    words = [WORD.findall(part) for part in parts]
    if len(words) == 2 and len(words[0]) != len(words[1]):
        raise InferenceError(f"{option} {layout}: {len(words[0])} extents and {len(words[1])} strides")
    if len({WORD.sub("x", part).replace(",)", ")") for part in parts}) > 1:
        raise InferenceError(f"{option} {layout}: shape and stride are nested differently")
    return words


def _is_nested(part: str) -> bool:
    """Whether a text is a word, or words and tuples of them between brackets.

    >>> [_is_nested(x) for x in ("M", "((2,M),-3,)", "()", "(2,M", "2,M", "(2,,M)")]
    [True, True, False, False, False, False]
    """
    left, before = WORD.sub("x", part), ""
    while left != before:
        before, left = left, re.sub(r"\(x(,x)*,?\)", "x", left)
    return left == "x"


def _number(word: str) -> bool:
    return word.lstrip("-").isdigit()


def compute(node: Node) -> Node:
    """Return the formula with its parts without letters computed, and -(-x // y) written ceildiv(x, y).

    >>> compute(("-", 0, ("//", ("-", 0, "x"), 4)))
    ('call', 'ceildiv', 'x', 4)
    """
    if not isinstance(node, tuple):
        return node
    whole = (node[0], *map(compute, node[1:]))
    if all(isinstance(part, int) for part in whole[1:]):
        return int(evaluate(whole, {}, {}))
    match whole:
        case ("-", 0, ("//", ("-", 0, over), by)):
            return ("call", "ceildiv", over, by)
        case ("-", 0, ("//", int(over), by)):
            return ("call", "ceildiv", -over, by)
    return _fold(str(whole[0]), *whole[1:]) if len(whole) == 3 else whole

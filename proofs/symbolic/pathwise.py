# SPDX-License-Identifier: Apache-2.0
"""The goals of one path: the definition of the operation, with the instances of laws that prove it.

A goal is about the formulas that the path returned, under the conditions of the path. Its hints are instances of laws
of the catalogue and nothing else.

`Goal`            one statement about a path
`instance`        a law applied to terms
`coalesced`, `composed`, `complemented`, `right_inverted`, `left_inverted`   the goals of the operations
`complementable`, `invertible_left`, `carrying`   the preconditions, for paths that reject their input
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proofs.definitions import Flat
from proofs.laws.decide import list_shipped
from proofs.laws.formula import Node, conjunction, evaluate, expand, substitute, text, walk
from proofs.symbolic.symbolic_int import Path, formula, negate

Modes = list[tuple[Node, Node]]


@dataclass(frozen=True, slots=True)
class Goal:
    """One statement about a path."""

    why: str  # what is claimed, in words
    names: tuple[str, ...]  # its variables besides the inputs
    assumed: tuple[Node, ...]  # what is assumed of these
    goal: Node  # the formula to be proved
    hints: tuple[Node, ...] = ()  # instances of laws that may be used
    steps: tuple[Goal, ...] = ()  # goals that together imply this one; when one fails, it may still be true


def modes(flat: Flat) -> Modes:
    """Return the modes of a layout as formulas."""
    return [(formula(s), formula(d)) for s, d in flat]


def instance(name: str, *arguments: Node, **functions: Modes) -> Node:
    """Return a law applied to terms, with each of its functions replaced by one of the given layouts."""
    law = list_shipped()[name]
    formula = substitute(law.implication(), dict(zip(law.variables, arguments, strict=True)))
    return expand(formula, {f: (("index",), at(functions[f], "index")) for f in law.functions})


def same(found: Sequence[tuple[Node, Node]], wanted: Sequence[tuple[Node, Node]]) -> Node:
    """Return the condition that modes equal the wanted ones, in number and in value."""
    if len(found) != len(wanted):
        return ("!=", 0, 0)
    pairs = [
        ("==", x, y) for mode, target in zip(found, wanted, strict=True) for x, y in zip(mode, target, strict=True)
    ]
    return conjunction((("==", 0, 0), *pairs))


def limit(bounded: Sequence[Node], step: Node, count: Node) -> tuple[Node, list[Node]]:
    """Return the first number of steps at which a digit carries, or else ``count``; and the step's bounded digits."""
    digits: list[Node] = [("%", quotient(step, bounded[:i]), m) for i, m in enumerate(bounded)]
    first = count
    for m, digit in zip(bounded, digits, strict=True):
        carry: Node = ("-", 0, ("//", ("-", 0, m), digit))  # m / digit, rounded up: so many steps reach m
        first = ("if", ("and", ("!=", digit, 0), ("<", carry, first)), carry, first)
    return first, digits


def total(terms: Sequence[Node]) -> Node:
    """Return the sum of some terms."""
    out: Node = 0
    for term in terms:
        out = term if out == 0 else ("+", out, term)
    return out


def times(factors: Sequence[Node]) -> Node:
    """Return the product of some factors."""
    out: Node = 1
    for factor in factors:
        out = factor if out == 1 else out if factor == 1 else ("*", out, factor)
    return out


def at(layout: Modes, index: Node) -> Node:
    """Return the value of a layout at an index, the last mode unbounded."""
    terms: list[Node] = []
    for place, (s, d) in enumerate(layout):
        last = place == len(layout) - 1
        terms.append(("*", index if last else ("%", index, s), d))
        index = ("//", index, s)
    return total(terms)


def quotient(index: Node, extents: Sequence[Node]) -> Node:
    """Return the index divided by the extents, one after the other."""
    for extent in extents:
        index = ("//", index, extent)
    return index


def prove_coalesce(a: Modes, result: Modes) -> Iterator[Goal]:
    """Yield the goals of coalesce: the result has the same size and the same value at every index."""
    whole = times([s for s, _ in a])
    yield Goal("size", (), (), ("==", times([s for s, _ in result]), whole))
    inside: tuple[Node, ...] = ((">=", "i", 0), ("<", "i", whole))
    yield Goal("value", ("i",), inside, ("==", at(result, "i"), at(a, "i")), merging(a))


def merging(a: Modes) -> tuple[Node, ...]:
    """Return the instances of laws that relate the digits of merged modes to those of the modes, at the index i."""
    hints: list[Node] = []
    for i in range(len(a)):
        below = times([s for s, _ in a[:i]])
        index: Node = "i" if i == 0 else ("//", "i", below)
        for j in range(i + 1, len(a)):
            left = times([s for s, _ in a[i:j]])
            hints += [instance("NDIV", left, a[j][0], index), instance("MRAD", left, a[j][0], index)]
        if i + 1 < len(a):
            hints += [
                instance("DIVDEF", a[i][0], index),
                instance("LTD", a[i][0], times([s for s, _ in a[i + 1 :]]), index),
            ]
            hints.append(instance("NONNEG", a[i][0], index))
    return tuple(hints)


def merge_modes(path: Path, a: Modes) -> Modes:
    """Return the modes without those of extent 1 on this path, and with neighbours merged that merge on it."""
    out: Modes = []
    for s, d in a:
        if follows(path, ("==", s, 1)):
            continue
        if out and follows(path, ("==", d, times(list(out[-1])))):
            out[-1] = (times([out[-1][0], s]), out[-1][1])
        else:
            out.append((s, d))
    return out


def follows(path: Path, fact: Node) -> bool:
    """Whether a comparison follows from the conditions of the path; False when the solver cannot decide it."""
    # Numbers on the path decide most questions without the solver: a fact that one of them breaks doesn't follow.
    if not all(evaluate(fact, at, {}) for at in path.samples[:20]):
        return False
    return not path.feasible(negate(fact))


def prove_composition(a: Modes, b: Modes, result: Sequence[Modes]) -> Iterator[Goal]:
    """Yield the goals of composition: mode j of R has the size of mode j of B, and R(k) = A(B(k)) in digits of R.

    ``a`` is coalesced: it has extents of 2 or more, and no neighbours that merge.
    """
    parts: list[tuple[str, Node, Node]] = []  # digit, its extent, what it adds to B's value
    values: list[Node] = []
    for j, ((n, r), split) in enumerate(zip(b, result, strict=True)):
        yield Goal(f"size of mode {j}", (), (), ("==", times([s for s, _ in split]), n))
        for place, (s, e) in enumerate(split):
            if s == 1:  # its digit is always 0
                continue
            digit = f"k.{j}.{place}"
            parts.append((digit, s, times([r, *(x for x, _ in split[:place])])))
            values.append(("*", digit, e))
    inside = [c for digit, s, _ in parts for c in ((">=", digit, 0), ("<", digit, s))]
    x = total([("*", digit, step) for digit, _, step in parts])
    names = tuple(digit for digit, _, _ in parts)
    steps = tuple(_no_carry(a, parts, (names, tuple(inside)), total(values)))
    hints = tuple(hint for step in steps for hint in step.hints)
    yield Goal("value", names, tuple(inside), ("==", total(values), at(a, x)), hints, steps)


def _no_carry(
    a: Modes, parts: Sequence[tuple[str, Node, Node]], scope: tuple[tuple[str, ...], tuple[Node, ...]], result: Node
) -> Iterator[Goal]:
    """Yield the steps, mode by mode of A: no digit carries, so quotients and remainders add and scale: A is linear."""
    steps = [step for _, _, step in parts]
    terms: list[Node] = []
    for m, d in a[:-1]:
        hints: list[Node] = []
        partial: Node = 0
        for (digit, extent, _), step in zip(parts, steps, strict=True):
            hints += [
                instance("DIVDEF", m, step),
                instance("MONO", digit, ("-", extent, 1), ("%", step, m)),
                instance("DIGITS_SCALE", m, digit, step),
            ]
            term: Node = ("*", digit, step)
            if partial != 0:
                hints.append(instance("DIGITS_ADD", m, partial, term))
            partial = total([partial, term])
        # Divided by m, the index is the same sum with other steps: those of the next mode of A.
        remainder = _weigh(parts, [("%", step, m) for step in steps])
        steps = [("//", step, m) for step in steps]
        exact = ("and", ("==", ("%", partial, m), remainder), ("==", ("//", partial, m), _weigh(parts, steps)))
        yield Goal(f"digits modulo {text(m)}", *scope, exact, tuple(hints))
        terms.append(("*", remainder, d))
    linear = total([*terms, ("*", _weigh(parts, steps), a[-1][1])])
    yield Goal("linear", *scope, ("==", result, linear))


def _weigh(parts: Sequence[tuple[str, Node, Node]], weights: Sequence[Node]) -> Node:
    return total([("*", digit, weight) for (digit, _, _), weight in zip(parts, weights, strict=True)])


def prove_complement(a: Modes, target: Node, result: Modes, order: Sequence[int]) -> Iterator[Goal]:
    """Yield the goals of complement: the modes of (A, R), sorted by stride, do not overlap and are compact up to the
    target.

    Ascending modes with n_i e_i <= e_{i+1} are injective (U), and compact ones cover a range (COMPLEMENT_COVERS).
    ``order`` sorts the modes of A and R, without modes of A of extent 1 or stride 0.
    """
    both = [*a, *result]
    chain = [both[i] for i in order]
    apart: list[Node] = [("<=", 1, chain[0][1])] if chain else []
    compact: list[Node] = [("==", chain[0][1], 1)] if chain else []
    reached: list[Node] = [("<=", target, 1)]
    # The target may be reached before the last mode: then the modes behind it need not be compact.
    for i, (n, e) in enumerate(chain):
        reached.append(conjunction((*compact, (">=", ("*", n, e), target))))
        if i + 1 < len(chain):
            apart.append(("<=", ("*", n, e), chain[i + 1][1]))
            compact.append(("==", ("*", n, e), chain[i + 1][1]))
    divisions = [instance("DIVDEF", s[2], s[1]) for s in _divisions([*chain, (target, 0)])]
    if apart:
        yield Goal("disjoint and ordered", (), (), conjunction(tuple(apart)), tuple(divisions))
    yield Goal("covering", (), (), ("or", *reached), tuple(divisions))


def gaps(path: Path, chain: Modes) -> Modes:
    """Return A* for sorted modes that do not overlap: the gap below each mode, and a last mode of any extent."""
    out: Modes = []
    reach: Node = 1
    for s, d in chain:
        gap: Node = d if reach == 1 else ("//", d, reach)
        if not follows(path, ("==", gap, 1)):
            out.append((gap, reach))
        reach = times([s, d])
    return [*out, (2, reach)]


def _divisions(layout: Modes) -> Iterator[tuple[Node, Node, Node]]:
    divisions = (
        n for mode in layout for side in mode for n in walk(side) if isinstance(n, tuple) and n[0] in ("//", "%")
    )
    yield from dict.fromkeys((("//", n[1], n[2])) for n in divisions if isinstance(n, tuple))


def right_inverted(a: Modes, result: Modes) -> Iterator[Goal]:
    """Yield the goals of right_inverse: mode j of R is a group of L's modes, as one of stride P_j = n_0 ... n_{j-1}."""
    for j, (n, e) in enumerate(result):
        if (n, e) == (1, 0):  # the inverse of a layout that has no mode of stride 1
            continue
        step = times([x for x, _ in result[:j]])
        # The code knows which modes it merged, and the returned layout doesn't say: any group may be the one.
        groups: list[Node] = []
        for first in range(len(a)):
            for last in range(first, len(a)):
                inside = a[first : last + 1]
                chain: list[Node] = [
                    ("==", times([s for s, _ in a[:first]]), e),
                    ("==", times([s for s, _ in inside]), n),
                ]
                chain += [
                    ("or", ("==", s, 1), ("==", d, times([step, *(x for x, _ in inside[:i])])))
                    for i, (s, d) in enumerate(inside)
                ]
                groups.append(conjunction(tuple(chain)))
        yield Goal(f"mode {j}", (), (), ("or", *groups, ("==", n, 1)))


def left_inverted(path: Path, a: Modes, result: Modes) -> Iterator[Goal]:
    """Yield the goal of left_inverse: R(L(k)) = k in digits of L, whose modes are merged first.

    Its two steps: R equals the modes d_0:0, d_1/d_0:w_0, ..., s:w before merging, and these give the digits of k.
    """
    a = merge_modes(path, a)
    order = sorted_modes(path, a)
    names = [f"k.{i}" for i in range(len(a))]
    inside = [c for x, (s, _) in zip(names, a, strict=True) for c in ((">=", x, 0), ("<", x, s))]
    weights = [times([s for s, _ in a[:i]]) for i in range(len(a))]
    index = total([("*", x, w) for x, w in zip(names, weights, strict=True)])
    value = total([("*", x, d) for x, (_, d) in zip(names, a, strict=True)])
    split: Modes = []  # R before merging
    hints: list[Node] = []
    previous: Node = 1  # the stride before, from small to large
    whole = value  # what is left of L(k) when R has divided it by the ratios so far
    for place, i in enumerate(order):
        stride = a[i][1]
        # Between two strides R reads the digit of the finer mode, which is below their ratio, and puts it where that
        # mode is in k. DM takes the digit and the rest out of the sum; each division of a stride is exact (DIVDEF).
        ratio: Node = stride if previous == 1 else ("//", stride, previous)
        split.append((ratio, weights[order[place - 1]] if place else 0))
        hints += [instance("DIVDEF", previous, a[j][1]) for j in order[place:]] if previous != 1 else []
        above = total([names[j] if j == i else ("*", names[j], ("//", a[j][1], stride)) for j in order[place:]])
        below: Node = 0 if place == 0 else names[order[place - 1]]
        hints += [instance("DIVDEF", stride, a[j][1]) for j in order[place:]]
        hints += [instance("DM", ratio, whole, below, above), instance("DIVEQ", ratio, whole, whole)]
        whole = ("//", whole, ratio)
        hints.append(("implies", ("==", whole, above), instance("DIVEQ", a[i][0], whole, above)))
        previous = stride
    split += [(a[i][0], weights[i]) for i in order[-1:]]  # above the largest stride is the digit of its mode
    back = Goal("digits", tuple(names), tuple(inside), ("==", at(split, value), index), tuple(hints))
    same = Goal("merging", ("i",), ((">=", "i", 0),), ("==", at(result, "i"), at(split, "i")), merging(split))
    yield Goal("value", tuple(names), tuple(inside), ("==", at(result, value), index), tuple(hints), (same, back))


def sorted_modes(path: Path, layout: Modes) -> list[int]:
    """Return the positions of modes with extent > 1 and stride != 0, by the stride in the first sample, if any."""
    at = path.samples[0] if path.samples else None
    seen = [
        (evaluate(d, at, {}) if at else i + 1, evaluate(s, at, {}) if at else 2, i) for i, (s, d) in enumerate(layout)
    ]
    return [i for d, s, i in sorted(seen, key=lambda m: (m[0], m[2])) if s != 1 and d != 0]


def invertible_left(a: Modes) -> Node:
    """Return the precondition of left_inverse: of two modes, one stride divides the other, where the finer ends."""
    parts: list[Node] = [("or", ("==", s, 1), (">=", d, 1)) for s, d in a]
    for i, (s, d) in enumerate(a):
        for t, e in a[i + 1 :]:
            first_finer = conjunction((("==", ("%", e, d), 0), ("<=", ("*", s, d), e)))
            second_finer = conjunction((("==", ("%", d, e), 0), ("<=", ("*", t, e), d)))
            parts.append(("or", ("==", s, 1), ("==", t, 1), first_finer, second_finer))
    return conjunction(tuple(parts))


def complementable(chain: Modes, target: Node) -> Node:
    """Return the precondition of complement for sorted modes: no overlap; A* can fill every gap below the target."""
    parts: list[Node] = []
    reach: Node = 1
    for s, d in chain:
        whole: Node = ("or", ("==", ("%", d, reach), 0), (">=", ("*", ("//", d, reach), reach), target))
        parts += [("<=", reach, d)] + ([whole] if reach != 1 else [])
        reach = ("*", s, d)
    return conjunction(tuple(parts))


def carrying(bounded: Sequence[Node], b: Modes) -> Goal:
    """Return the goal that some run of a mode of B carries in A: the precondition of composition, no carry, is false.

    Run t of mode j takes n of the n * q + m steps that are left of the mode, until a digit carries or the mode ends. No
    carry means: m = 0, and the digits of all runs, n - 1 times each, sum to less than the extents. A run of one step
    changes nothing, so there may be fewer runs than A has modes.
    """
    names: list[str] = []
    known: list[Node] = []
    required: list[Node] = []
    used: list[Node] = [0] * len(bounded)
    for j, mode in enumerate(b):
        rest, step = mode
        for t in range(len(bounded) + 1):
            n, q, m = (f"{x}.{j}.{t}" for x in "nqm")
            first, digits = limit(bounded, step, rest)
            names += [n, q, m]
            known += [("==", n, first), ("==", rest, ("+", ("*", n, q), m)), (">=", m, 0), ("<", m, n)]
            used = [total([u, ("*", ("-", n, 1), digit)]) for u, digit in zip(used, digits, strict=True)]
            required += [("==", m, 0), *(("<", u, extent) for u, extent in zip(used, bounded, strict=True))]
            rest, step = q, ("*", step, n)
    return Goal(
        "outside the precondition: a digit carries", tuple(names), tuple(known), ("not", conjunction(tuple(required)))
    )

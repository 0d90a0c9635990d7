# SPDX-License-Identifier: Apache-2.0
"""Two parts of composition, each proved by itself: how the modes of A are merged, and one run of a mode of B.

`layouts.compose` writes an index of A in digits: mode i of A has digit i, whose radix is its extent, and the last digit
is unbounded. It takes each mode N:r of B in *runs* (`Carry.take_run`): n steps of r, as many as no digit carries in. A
state is the list `used`: how large each digit may be by the steps of earlier runs. `loops` proves the rest of
composition, with each call of a run replaced by the contract that is proved here: let the run add n:value and leave
`used'`. Then for each x whose digits are at most `used`, and each k < n,

    A(x + k r) = A(x) + k value, and the digits of x + k r are at most used'                        (RUN_STEP)

In the formulas M_i and D_i are the extents and strides of A, u_i the used digits, and N:r is what is left of the mode.

`composition_merging`  that merging keeps the function, and leaves no two modes that could be one
`composition_run`      the contract, and that a run is rejected only if no layout is right for all strides
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from layouts.compose import Carry, merged_modes
from proofs import definitions
from proofs.definitions import flat
from proofs.laws.formula import Node, conjunction
from proofs.symbolic import pathwise
from proofs.symbolic.execution import Operation, Target, pair
from proofs.symbolic.operations import at_least, canonical, layout_of, names_of, symbols_of, write_layout
from proofs.symbolic.pathwise import Goal, Modes, instance, limit, modes, times
from proofs.symbolic.symbolic_int import InputSpace, Path


def composition_merging(rank: int) -> Operation:
    """Return the operation that merges the modes of A, which keeps its function, also beyond the domain of A."""
    names = names_of("sd", rank)

    def call(t: Target, at: Mapping[str, Any]) -> Any:
        radices, weights = merged_modes(t.make(*layout_of("sd", rank, at)))
        return t.make((*radices[:-1], 2), tuple(weights))  # the last mode is unbounded: any extent stands for it

    def goals(path: Path, result: Any) -> Iterator[Goal]:
        a, merged = modes(flat(layout_of("sd", rank, symbols_of(path)))), modes(flat(pair(result)))
        wide: list[Node] = [(">=", s, 2) for s, _ in merged]
        apart: list[Node] = [("!=", e, times([s, d])) for (s, d), (_, e) in pairwise(merged)]
        yield Goal("coalesced", (), (), conjunction((*wide, *apart)))
        same: Node = ("==", pathwise.at(merged, "i"), pathwise.at(a, "i"))
        yield Goal("value", ("i",), ((">=", "i", 0),), same, pathwise.merging(a))

    def fault(at: Mapping[str, int], result: Any) -> str:
        a, merged = flat(layout_of("sd", rank, at)), flat(pair(result))
        most = 2 * definitions.size(a)
        wrong = next(
            (i for i in definitions.list_indices(most) if definitions.at(a, i) != definitions.at(merged, i)), None
        )
        return "" if wrong is None else f"merged, A({wrong}) is {definitions.at(merged, wrong)}"

    return Operation(
        "composition", f"composition, rank {rank}: the modes of A merged",
        InputSpace.make(names, at_least(names_of("s", rank), 1)), call, goals, fault,
        lambda at: f"composition of {write_layout(*layout_of('sd', rank, at))}", inside=True,
    )  # fmt: skip


def composition_run(rank: int) -> Operation:
    """Return the operation of one run n:A(r) of a mode N:r of B, from any used digits.

    n is the first count at which a digit of A carries, or N. The run is rejected exactly when n doesn't divide N, or
    its digits carry together with the used ones. Then no result is right for some strides: 1 in one mode, else 0.
    """
    names = [*names_of("MD", rank), *names_of("u", rank - 1), "N", "r"]
    assumed = [*canonical("MD", rank), *at_least(names_of("u", rank - 1), 0), *at_least(["N"], 2), *at_least(["r"], 1)]
    assumed += [("<", f"u{i}", f"M{i}") for i in range(rank - 1)]
    bounded = names_of("M", rank - 1)

    def call(t: Target, at: Mapping[str, Any]) -> Any:
        a = t.make(*layout_of("MD", rank, at))
        # B is only named in messages, so A stands for it.
        carry = Carry(a, a, [at[m] for m in bounded], [at[f"D{i}"] for i in range(rank)])
        carry.used = [at[f"u{i}"] for i in range(rank - 1)]
        n, value = carry.take_run(at["N"], at["r"])
        return t.make((n, *carry.used), (value, *carry.used))

    def goals(path: Path, result: Any) -> Iterator[Goal]:
        a, returned = modes(flat(layout_of("MD", rank, symbols_of(path)))), modes(flat(pair(result)))
        n, value = returned[0]
        first, digits = limit(bounded, "r", "N")
        yield Goal("length", (), (), conjunction((("==", n, first), ("==", ("%", "N", n), 0), (">=", n, 1))))
        yield _first_carry(bounded, n, digits)
        yield Goal("value", (), (), ("==", value, pathwise.at(a, "r")))
        for i, (digit, m, (u, _)) in enumerate(zip(digits, bounded, returned[1:], strict=True)):
            now: Node = ("+", f"u{i}", ("*", ("-", n, 1), digit))
            yield Goal(f"digit {i}", (), (), conjunction((("==", u, now), ("<", u, m))))
        yield from _prove_step(a, bounded, n, [u for u, _ in returned[1:]])

    def refuses(path: Path) -> Iterator[Goal]:
        first, digits = limit(bounded, "r", "N")
        fits = [("<", ("+", f"u{i}", ("*", ("-", first, 1), digits[i])), m) for i, m in enumerate(bounded)]
        yield Goal("outside", (), (), ("not", conjunction((("==", ("%", "N", first), 0), *fits))))
        yield _first_carry(bounded, first, digits)
        yield from _broken(bounded)

    return Operation(
        "composition", f"composition, rank {rank}: one run", InputSpace.make(names, assumed, 4000), call, goals,
        lambda at, result: _run_fault(flat(layout_of("MD", rank, at)), at["r"], result.shape[0], result.stride[0]),
        lambda at: f"one run of {at['N']}:{at['r']} in {write_layout(*layout_of('MD', rank, at))}, "
        f"digits {[at[f'u{i}'] for i in range(rank - 1)]} used", refuses, inside=True,
    )  # fmt: skip


def _first_carry(bounded: Sequence[Node], n: Node, digits: Sequence[Node]) -> Goal:
    """Return the goal that n is N or the first count with a carry: n e >= M for some digit e, (n - 1) e < M for all.

    The code has n as -(-M // e), a quotient rounded up. DIVDEF says what that is, and MONO what it is for a smaller n.
    """
    carries: list[Node] = [(">=", ("*", "c", digit), m) for m, digit in zip(bounded, digits, strict=True)]
    before: list[Node] = [("<", ("*", ("-", "c", 1), digit), m) for m, digit in zip(bounded, digits, strict=True)]
    hints = [instance("DIVDEF", digit, ("-", 0, m)) for m, digit in zip(bounded, digits, strict=True)]
    for m, digit in zip(bounded, digits, strict=True):
        hints.append(instance("MONO", "c", ("-", 0, ("//", ("-", 0, m), digit)), digit))
    ends: Node = ("or", ("==", "c", "N"), *carries)
    return Goal("the first carry", ("c",), (("==", "c", n),), conjunction((ends, *before)), tuple(hints))


def _prove_step(a: Modes, bounded: Sequence[str], n: Node, used: Sequence[Node]) -> Iterator[Goal]:
    """Yield the goal of the contract: by RUN_STEP for each bounded mode of A, from any x with digits up to `used`.

    RUN_STEP of mode i speaks of what is left of x and r above mode i; DIVEQ says that this is linear in k too.
    """
    inside: list[Node] = [(">=", "k", 0), ("<", "k", n)]
    inside += [("<=", digit, f"u{i}") for i, digit in enumerate(bounded_digits("x", bounded))]
    moved: Node = ("+", "x", ("*", "k", "r"))
    hints: list[Node] = []
    for i, m in enumerate(bounded):
        x, s = (pathwise.quotient(y, bounded[:i]) for y in ("x", "r"))
        tail = a[i + 1 :]
        hints.append(instance("RUN_STEP", m, a[i][1], x, s, "k", n, f"u{i}", f=tail))
        after: Node = ("+", x, ("*", "k", s))
        hints.append(instance("DIVEQ", m, pathwise.quotient(moved, bounded[:i]), after))
    linear: Node = ("==", pathwise.at(a, moved), ("+", pathwise.at(a, "x"), ("*", "k", pathwise.at(a, "r"))))
    below = [("<=", digit, u) for digit, u in zip(bounded_digits(moved, bounded), used, strict=True)]
    yield Goal("contract", ("x", "k"), tuple(inside), conjunction((linear, *below)), tuple(hints))


def bounded_digits(index: Node, bounded: Sequence[Node]) -> list[Node]:
    """Return the bounded digits of an index."""
    return [("%", pathwise.quotient(index, bounded[:i]), m) for i, m in enumerate(bounded)]


def _broken(bounded: Sequence[str]) -> Iterator[Goal]:
    """Yield the goals that no result is right if mode i carries, for the strides 1 in mode i and 0 elsewhere.

    With these strides A(z) is digit i of z, which stays below M_i; but sums of values that carry reach M_i.
    """
    for i, m in enumerate(bounded):
        digit: Node = ("%", pathwise.quotient("z", bounded[:i]), m)
        hint = instance("CARRY_BREAKS", times(bounded[:i]), m, "z", "c")
        broken: Node = ("implies", (">=", "c", m), ("!=", digit, "c"))
        yield Goal(f"a carry in mode {i} breaks", ("z", "c"), ((">=", "z", 0),), broken, (hint,))


def _run_fault(a: definitions.Flat, step: int, count: int, value: int) -> str:
    wrong = next((k for k in definitions.list_indices(count) if definitions.at(a, k * step) != k * value), None)
    return "" if wrong is None else f"{wrong} steps of {step} lead to {definitions.at(a, wrong * step)}"

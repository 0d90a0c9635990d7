# SPDX-License-Identifier: Apache-2.0
"""The loops of composition, with each run replaced by its contract: every rank up to 3 of A and of B.

`layouts.compose` takes each mode N_j:r_j of B in *runs* (see `runs`). For A = (4,8):(1,10), the mode 8:2 has two runs:

    2 steps of 2, to the index 4, where the first digit of A carries      2:2      A(2 k)  = 2 k
    4 steps of 4, which is all that is left of the mode                   4:10     A(4 k') = 10 k'

and R has the modes (2,4):(2,10). `runs` proves what a single run does. Here `Carry.take_run` is replaced by a function
that computes nothing: it returns symbolic integers, the length n, the value v and the used digits u of a run. The code
around it runs as it is, and three things are proved on each of its paths:

1. It asks for the right runs: with what is left of the mode, from the state that the run before has left, and with
   arguments for which the contract holds (`_prove_calls`).
2. R(c) = A(B(c)), if the runs keep their contract (`_prove_result`). This is an induction over runs: before each of
   them, A(x) is the value so far, and no digit of x exceeds the used one. The law RUNS is its step.
3. A mode of B has at most as many runs as A has modes, so the loops end (`_ends`).

In the formulas M_i and D_i are the extents and strides of A, and N_j, r_j and p_j the extent, the step and the kind of
mode j of B. Run t of mode j has the length n_j.t and the value v_j.t, and leaves the used digits u_j.t.i. Digit k_j.t
of a coordinate of R counts its steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import combinations
from operator import mul
from random import Random
from typing import Any, NamedTuple, TypeAlias

from layouts.compose import Carry
from proofs.definitions import flat
from proofs.laws.formula import Node, conjunction
from proofs.symbolic import pathwise
from proofs.symbolic.execution import Operation, Target, pair, replace_attribute
from proofs.symbolic.operations import at_least, canonical, layout_of, names_of, symbols_of, write_layout
from proofs.symbolic.pathwise import Goal, Modes, instance, modes, times, total
from proofs.symbolic.runs import bounded_digits
from proofs.symbolic.symbolic_int import InputSpace, Path, formula, resume_path


class ModeRun(NamedTuple):
    """A run of a mode of B: what `take_run` returns and leaves. Symbolic integers while code runs, then formulas."""

    mode: int  # j
    place: int  # t: it is the t-th run of the mode
    length: Any  # n
    value: Any  # v, the stride of the mode of R that it becomes
    used: list[Any]  # the used digits after it


Runs: TypeAlias = "list[list[ModeRun]]"
"""The runs of each mode of B."""


class InductionState(NamedTuple):
    """Where the induction stands before a run."""

    reached: Node  # x, the index of A where the next run begins
    value: Node  # the sum of what the runs have added: A(x), says the invariant
    used: Sequence[Node]  # the largest that each digit of x may be, but for the last digit, which is unbounded


def composition_loops(rank: int, right: int) -> Operation:
    """Return the operation composition with the runs of every mode of B replaced by their contract.

    The input p_j is the kind of mode j: 1 to ``rank`` is its number of runs, of lengths n_j and values v_j, after which
    the digits u_j are used; 0 is a mode of extent 1 or stride 0; ``rank`` + 1 is a negative stride. A mode has no more
    runs than A has modes.
    """
    space = _loops_space(rank, right)

    def call(t: Target, at: Mapping[str, Any]) -> Any:
        todo = [run for j in range(right) for run in _runs(at, j, rank)]
        # A mode of B has as many coordinates as its runs have together.
        extents = [reduce(mul, [run.length for run in todo if run.mode == j] or [at[f"N{j}"]]) for j in range(right)]
        steps = [at[f"r{j}"] for j in range(right)]
        b = t.make(tuple(extents), tuple(steps)) if right > 1 else t.make(extents[0], steps[0])
        return _replay(t, todo, lambda: t.functions.composition(t.make(*layout_of("MD", rank, at)), b))

    def goals(path: Path, returned: Any) -> Iterator[Goal]:
        at = symbols_of(path)
        requests, states, result = (modes(flat(pair(part))) for part in returned)
        with resume_path(path):
            runs = [[_as_formulas(run) for run in _runs(at, j, rank)] for j in range(right)]
        yield from _prove_calls(rank, runs, requests, states)
        yield from _prove_result(modes(flat(layout_of("MD", rank, at))), runs, result)
        if right == 1 and rank > 1:
            yield _ends(rank)

    def refuses(path: Path) -> Iterator[Goal]:
        below: list[Node] = [("<", ("*", ("-", f"N{j}", 1), f"r{j}"), 0) for j in range(right)]
        yield Goal("B(c) is negative", (), (), ("or", *below) if right > 1 else below[0])

    def fault(at: Mapping[str, int], returned: Any) -> str:
        given: list[tuple[int, int]] = []
        for j in range(right):
            plain = (at[f"N{j}"], at[f"r{j}"] * at["D0"] if rank == 1 else 0)
            given += [(run.length, run.value) for run in _runs(at, j, rank)] or [plain]
        result = [(n, 0 if n == 1 else v) for n, v in flat(pair(returned[2]))]
        return "" if result == [(n, 0 if n == 1 else v) for n, v in given] else f"{given} were not returned"

    return Operation(
        "composition", f"composition, rank {rank} o rank {right}, by the contract of a run",
        space, call, goals, fault,
        lambda at: f"composition of {write_layout(*layout_of('MD', rank, at))} in the runs "
        f"{[(run.length, run.value) for j in range(right) for run in _runs(at, j, rank)]}", refuses, inside=True,
    )  # fmt: skip


def _loops_space(rank: int, right: int) -> InputSpace:
    """Return the inputs: A in canonical form, the modes N_j:r_j of B with their kinds, and the runs of each."""
    # A of rank 1 is one unbounded mode: nothing carries, and no run is asked for.
    places = [f"{j}.{t}" for j in range(right) for t in range(rank if rank > 1 else 0)]
    used = [f"u{x}.{i}" for x in places for i in range(rank - 1)]
    names = [*names_of("MD", rank), *names_of("Nrp", right), *(f"n{x}" for x in places), *(f"v{x}" for x in places)]
    assumed = [
        *canonical("MD", rank),
        *at_least([f"n{x}" for x in places], 2),
        *(_kinds(j, rank) for j in range(right)),
    ]
    return InputSpace.draw_space([*names, *used], assumed, lambda source: _sample(source, rank, right))


def _kinds(j: int, rank: int) -> Node:
    """Return the assumption that the kind p_j fits the mode N_j:r_j."""
    wide: Node = (">=", f"N{j}", 2)
    plain: Node = ("and", ("==", f"p{j}", 0), (">=", f"N{j}", 1), ("or", ("==", f"N{j}", 1), ("==", f"r{j}", 0)))
    runs: Node = ("and", (">=", f"p{j}", 1), ("<=", f"p{j}", rank), wide, (">=", f"r{j}", 1))
    negative: Node = ("and", ("==", f"p{j}", rank + 1), wide, ("<", f"r{j}", 0))
    return ("or", plain, runs, negative)


def _sample(source: Random, rank: int, right: int) -> dict[str, int]:
    """Draw small numbers for one call; the kinds of modes are equally likely."""
    at = {f"M{i}": source.randint(2, 6) for i in range(rank)} | {f"D{i}": source.randint(-3, 12) for i in range(rank)}
    for j in range(right):
        kind = source.randint(0, rank + (source.random() < 0.2))
        extent, step = source.randint(2, 6), source.randint(1, 6)
        plain = source.choice([(1, step), (1, -step), (extent, 0), (1, 0)])
        at[f"p{j}"] = kind
        at[f"N{j}"], at[f"r{j}"] = plain if kind == 0 else (extent, -step if kind > rank else step)
        for t in range(rank if rank > 1 else 0):
            at |= {f"n{j}.{t}": source.randint(2, 4), f"v{j}.{t}": source.randint(-9, 20)}
            at |= {f"u{j}.{t}.{i}": source.randint(0, 6) for i in range(rank - 1)}
    return at


def _replay(t: Target, todo: Sequence[ModeRun], compose_it: Callable[[], Any]) -> tuple[Any, Any, Any]:
    """Compose with the runs of ``todo`` in place of computed ones; return (requests, states, result) as layouts.

    A request is (rest, step), the arguments of a call of `take_run`; the states are the digits used before each.
    """
    requested: list[tuple[Any, Any]] = []
    states: list[Any] = []

    def take_recorded(carry: Any, rest: Any, step: Any) -> Any:
        run = todo[len(requested)]
        requested.append((rest, step))
        states.extend(carry.used)
        carry.used = list(run.used)
        return run.length, run.value

    with replace_attribute(Carry, "take_run", take_recorded):
        result = compose_it()
    # Layouts, since a path returns layouts: whoever reads them takes the modes apart again.
    requests = t.make(tuple(rest for rest, _ in requested), tuple(step for _, step in requested))
    return requests, t.make(tuple(states), tuple(states)), result


def _runs(at: Mapping[str, Any], j: int, rank: int) -> list[ModeRun]:
    """Return the runs of mode j of B: as many as its kind says."""
    if rank == 1:
        return []
    # Comparing the symbolic kind forks the path: each number of runs is a path of its own.
    count = next((t for t in range(1, rank + 1) if at[f"p{j}"] == t), 0)
    return [
        ModeRun(j, t, at[f"n{j}.{t}"], at[f"v{j}.{t}"], [at[f"u{j}.{t}.{i}"] for i in range(rank - 1)])
        for t in range(count)
    ]


def _as_formulas(run: ModeRun) -> ModeRun:
    """Return a run with formulas in place of symbolic integers."""
    return ModeRun(run.mode, run.place, formula(run.length), formula(run.value), [formula(u) for u in run.used])


def _step(runs: Sequence[ModeRun], t: int) -> Node:
    """Return the step of run t of a mode: r_j times the lengths of the runs before it."""
    return times([f"r{runs[t].mode}", *(run.length for run in runs[:t])])


def _prove_calls(rank: int, runs: Runs, requests: Modes, states: Modes) -> Iterator[Goal]:
    """Yield the goals that each run is called with the rest of its mode, in the state after the run before it."""
    expected = [
        (times([run.length for run in of_mode[t:]]), _step(of_mode, t)) for of_mode in runs for t in range(len(of_mode))
    ]
    before: list[list[Node]] = [[0] * (rank - 1), *(run.used for of_mode in runs for run in of_mode)]
    used = [(u, u) for digits in before[: len(expected)] for u in digits]  # the last run's are nobody's state
    yield Goal("the request", (), (), pathwise.same(requests, expected))
    yield Goal("the state", (), (), pathwise.same(states, used))
    if expected:
        inside = [c for rest, step in expected for c in ((">=", rest, 2), (">=", step, 1))]
        yield Goal("within the contract", (), (), conjunction(tuple(inside)))


def _prove_result(a: Modes, runs: Runs, result: Modes) -> Iterator[Goal]:
    """Yield the goals for R(c) = A(B(c)), run by run, by RUNS and the contract of a run.

    The coordinate c of R has a digit for each run. A mode without runs has one digit too, and adds nothing, unless A
    is one mode, which is linear.
    """
    state = InductionState(0, 0, [0] * (len(a) - 1))
    index: list[Node] = []  # B(c), a term for each mode of B
    value: list[Node] = []  # R(c), a term for each digit
    yield Goal("before the first run", (), (), _invariant(a, state))
    rest = iter(result)
    for j, of_mode in enumerate(runs):
        digits = _digits_of_mode(j, of_mode)
        leaves = [mode for _, mode in zip(digits, rest, strict=False)]
        linear: Node = times([f"r{j}", a[0][1]]) if len(a) == 1 else 0
        expected = [(run.length, run.value) for run in of_mode] or [(f"N{j}", linear)]
        yield Goal(f"mode {j}", (), (), _alike(leaves, expected))
        index.append(("*", f"r{j}", _coordinate(digits, [n for n, _ in leaves])))
        value += [times([digit, e]) for digit, (_, e) in zip(digits, expected, strict=True)]
        for digit, (n, _), run in zip(digits, leaves, of_mode, strict=False):
            step = _step(of_mode, run.place)
            after = InductionState(
                total([state.reached, times([digit, step])]), total([state.value, times([digit, run.value])]), run.used
            )
            known = _invariant(a, state), _contract(a, state, digit, step, run)
            hint = instance("RUNS", state.reached, digit, step, state.value, run.value, A=a)
            inside = ((">=", digit, 0), ("<", digit, n), *known)
            yield Goal(f"run {j}.{run.place}", (*_name_digits(runs),), inside, _invariant(a, after), (hint,))
            state = after
    yield from _prove_exit(a, _name_digits(runs), result, (total(index), total(value)), state)


def _coordinate(digits: Sequence[str], extents: Sequence[Node]) -> Node:
    """Return the coordinate of a mode of B that its digits write: k_0 + n_0 (k_1 + n_1 (...))."""
    coordinate: Node = 0
    for digit, n in reversed(list(zip(digits, extents, strict=True))):
        coordinate = digit if coordinate == 0 else ("+", digit, ("*", n, coordinate))
    return coordinate


def _name_digits(runs: Runs) -> list[str]:
    """Return the names of the digits of a coordinate of R: one for each run, and one for a mode without runs."""
    return [digit for j, of_mode in enumerate(runs) for digit in _digits_of_mode(j, of_mode)]


def _digits_of_mode(j: int, of_mode: Sequence[ModeRun]) -> list[str]:
    return [f"k{j}.{t}" for t in range(len(of_mode) or 1)]


def _prove_exit(
    a: Modes, digits: Sequence[str], result: Modes, ends: tuple[Node, Node], last: InductionState
) -> Iterator[Goal]:
    """Yield the goals that B(c) is the index after the last run, and R(c) the value; ``ends`` are B(c) and R(c)."""
    index, value = ends
    inside = [c for digit, (n, _) in zip(digits, result, strict=True) for c in ((">=", digit, 0), ("<", digit, n))]
    if len(a) == 1:
        yield Goal("R(c) = A(B(c))", tuple(digits), tuple(inside), ("==", value, pathwise.at(a, index)))
        return
    yield Goal("B(c)", tuple(digits), tuple(inside), ("==", index, last.reached))
    yield Goal("R(c)", tuple(digits), tuple(inside), ("==", value, last.value))


def _invariant(a: Modes, state: InductionState) -> Node:
    """Return the invariant: A(x) is the value so far, and each digit of x is at most the used one."""
    return conjunction((("==", pathwise.at(a, state.reached), state.value), *_bounds(a, state.reached, state.used)))


def _contract(a: Modes, start: InductionState, k: Node, step: Node, run: ModeRun) -> Node:
    """Return the contract, proved by `composition_run`, of k steps of a run from a state."""
    x = start.reached
    moved = total([x, times([k, step])])
    linear: Node = ("==", pathwise.at(a, moved), ("+", pathwise.at(a, x), ("*", k, pathwise.at(a, step))))
    kept = conjunction((linear, *_bounds(a, moved, run.used)))
    return (
        "and",
        ("==", run.value, pathwise.at(a, step)),
        ("implies", conjunction(tuple(_bounds(a, x, start.used))), kept),
    )


def _bounds(a: Modes, x: Node, used: Sequence[Node]) -> list[Node]:
    """Return for each bounded digit of x that it is at most the used one."""
    extents = [m for m, _ in a[:-1]]
    return [("<=", digit, u) for digit, u in zip(bounded_digits(x, extents), used, strict=True)]


def _alike(leaves: Modes, expected: Sequence[tuple[Node, Node]]) -> Node:
    """Return the condition that modes equal the expected ones; the stride of an extent of 1 does not matter."""
    if len(leaves) != len(expected):
        return ("!=", 0, 0)
    pairs = [
        conjunction((("==", n, m), ("or", ("==", n, 1), ("==", e, v))))
        for (n, e), (m, v) in zip(leaves, expected, strict=True)
    ]
    return conjunction(tuple(pairs))


def _ends(rank: int) -> Goal:
    """Return the goal that of as many runs of one mode as A has modes, one doesn't end at a carry.

    The digits below the last are ``rank`` - 1. A run that ends early carries in one of them, by `_first_carry` of
    `runs`; of ``rank`` runs, two would carry in the same one. LIMIT_ONCE says that no two do. Assume all end early;
    the goal is false, so that a proof of it is a contradiction.
    """
    lengths = [f"n0.{t}" for t in range(rank)]
    digits = [[f"e{t}.{i}" for i in range(rank - 1)] for t in range(rank)]  # digit i of the step of run t
    extents = names_of("M", rank - 1)
    known: list[Node] = [(">=", e, 0) for row in digits for e in row]
    known += [("<", e, m) for row in digits for e, m in zip(row, extents, strict=True)]
    early = [
        [(">=", ("*", n, e), m) for e, m in zip(row, extents, strict=True)]
        for n, row in zip(lengths, digits, strict=True)
    ]
    known += [("or", *row) if len(row) > 1 else row[0] for row in early]
    for i, m in enumerate(extents):  # what all runs use of digit i together stays below its radix
        known.append(("<", total([("*", ("-", n, 1), row[i]) for n, row in zip(lengths, digits, strict=True)]), m))
    hints = [
        instance("LIMIT_ONCE", m, lengths[p], lengths[q], digits[p][i], digits[q][i])
        for i, m in enumerate(extents)
        for p, q in combinations(range(rank), 2)
    ]
    hints += [instance("MONO", 1, n, e) for n, row in zip(lengths, digits, strict=True) for e in row]
    return Goal(
        "no more runs than modes", tuple(e for row in digits for e in row), tuple(known), ("!=", 0, 0), tuple(hints)
    )

# SPDX-License-Identifier: Apache-2.0
"""The properties of a tiling, with the functions that check them by enumeration; the solver's are in `proof`.

Enumeration evaluates the library's TiledMMA, with `Layout.__call__` on arrays, and compares it with the definition: the
threads and coordinates of all atoms counted out in loops. The solver encodes the spec itself.

`case`                   the verdicts on one tiling of a file
`PROPERTIES`             the table, one row a property, in the order of a report
`PARTITION`, `MULTIPLES`   how many owners each element has, in the tile and in any number of tiles
`REGISTERS`, `CALLS`     what the tiling costs
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from math import prod

import numpy as np

from layouts import Layout, LayoutError, cosize, size
from layouts.atoms import AnyAtom, Atom
from layouts.tensor import Tensor
from verify.atom import properties as atoms
from verify.atom.properties import at_points, by_solver, times, verified
from verify.binding.atom import BoundAtom, BoundOperand
from verify.core.digits import digits, walk, written_out
from verify.core.verdict import (
    Check,
    CheckFunction,
    Claim,
    Counterexample,
    Evidence,
    Property,
    Scope,
    Stated,
    Status,
    Verdict,
    join,
)
from verify.evidence import isa, proof
from verify.evidence.run import first
from verify.report import Case
from verify.tiling import cost, gemm, instruction, reference, smem_atom
from verify.tiling.bind import Dealt, IllFormed, Operand, OutOfTile, Tiling, find, prepare
from verify.tiling.gpu import recorded
from verify.tiling.proof import Prover, equals, multiples, threads
from verify.tiling.spec import TilingSpec
from verify.tiling.spec import text as arguments

Table = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


def case(stated: TilingSpec, pool: Mapping[str, AnyAtom], prover: Prover) -> Case:
    """A tiling with its verdicts; raises SpecError where what is stated cannot be a tiling."""
    atom = find(stated, pool)
    try:
        tiling = prepare(stated, atom)
    except IllFormed as error:
        verdict = ill_formed(stated.name, error.part, error.text, str(error))
        return Case(stated.name, (verdict,), _defect(atom))
    except OutOfTile as error:
        verdicts = tuple(_outside(stated, error.subject, part, prover) for part in error.parts)
        return Case(stated.name, verdicts, _defect(atom), tuple((part.name, part.text) for part in error.parts))
    texts = {d.name: stated.claimed.get(d.name, "") or str(d.layout_tv()) for d in tiling.dealt}
    texts |= {f"smem {operand}": str(layout) for operand, layout in stated.smem.items()}
    verdicts = tuple(judge(tiling, prover))
    open_ = any(verdict.claim.prop == INSTRUCTION for verdict in verdicts)
    return Case(stated.name, verdicts, _defect(atom), tuple(texts.items()), expect=_expected(atom) if open_ else "")


def _defect(atom: Atom) -> str:
    """The known defect of an atom's layouts; one of its instruction does not touch a tiling."""
    defect = atom.known_defect or ""
    return defect if {part.strip() for part in defect.partition(":")[0].split(",")} & set(atom.operands) else ""


def _expected(atom: Atom) -> str:
    """Why it is known that an atom cannot be compared with its instruction; empty where it is not."""
    defect = atom.known_defect or ""
    return atom.expect or (defect if defect.partition(":")[0] == "ptx" else "")


def judge(tiling: Tiling, prover: Prover) -> list[Verdict]:
    """The verdict on every claim of a tiling."""
    return [_with_replay(verdict, tiling.stated) for verdict in prover.verdicts(PROPERTIES, tiling)]


def ill_formed(name: str, part: str, layout: str, fault: str) -> Verdict:
    """The one claim of a tiling whose atom is none."""
    claim = Claim(name, part, WELL_FORMED, f"{layout} is a layout with congruent profiles")
    return join(claim, [isa.form("parsed", fault)])


def _outside(stated: TilingSpec, subject: BoundAtom, part: BoundOperand, prover: Prover) -> Verdict:
    """The one claim about an operand of an atom that leaves its tile: it cannot be tiled."""
    claim = Claim(stated.name, part.name, IN_BOUNDS, f"the atom's layout stays inside {part.tile}")
    counted = isa.compared(isa.in_bounds, subject, part)
    solved = proof.in_bounds(subject, part, prover.budget, prover.solver)
    return _with_replay(join(claim, [counted, solved]), stated)


def _numbered(run: object, tiling: Tiling, _: None) -> list[Evidence]:
    """That no two places of the atoms are one thread, and that the threads are those stated."""
    vmnk = tiling.mma.thr_layout_vmnk
    numbers = vmnk(np.arange(size(vmnk)))
    order = np.argsort(numbers, kind="stable")
    twice = np.flatnonzero(np.diff(numbers[order]) == 0)
    wrong = None
    if len(twice):
        first, second = (int(order[twice[0] + i]) for i in (0, 1))
        wrong = Counterexample(
            {"first": first, "second": second},
            f"{_whose(vmnk, first)} and {_whose(vmnk, second)} are both thread {int(numbers[first])}",
            damage=(f"{len(numbers) - len(np.unique(numbers))} of {len(numbers)} threads are another's",),
        )
    wrong = wrong or _misnumbered(tiling, numbers)
    status = Status.PROVED if wrong is None else Status.REFUTED
    return [Evidence(Check.ISA, status, "enumeration", len(numbers), "numpy", counterexample=wrong)]


def _misnumbered(tiling: Tiling, numbers: Table) -> Counterexample | None:
    """Where the library's numbers are not those that the atoms' layout states."""
    stated = reference.threads(tiling).ravel(order="F")
    if len(stated) != len(numbers):
        return Counterexample({"threads": len(numbers)}, f"{len(numbers)} threads are numbered, {len(stated)} stated")
    other = np.flatnonzero(stated != numbers)
    if not len(other):
        return None
    first = int(other[0])
    who = _whose(tiling.mma.thr_layout_vmnk, first)
    said = f"{who} is thread {int(numbers[first])}, {int(stated[first])} stated"
    return Counterexample({"index": first}, said, damage=(f"{len(other)} of {len(stated)} threads are others",))


def _numbering(tiling: Tiling, _: None) -> Stated:
    atoms, each = prod(tiling.atoms), tiling.threads // prod(tiling.atoms)
    words = f"{tiling.threads} thread{'s' * (tiling.threads > 1)}"
    words += f": {each} for each of {'x'.join(map(str, tiling.atoms))} atoms" if atoms > 1 else " for one atom"
    last = cosize(tiling.mma.thr_layout_vmnk)
    return Stated("", words if last == tiling.threads else f"{words}, numbered up to {last - 1}")


def _whose(vmnk: Layout, index: int) -> str:
    thread, *atom = digits(map(size, vmnk), index)
    return f"T{thread} of atom ({','.join(map(str, atom))})"


def _of_layout(words: Callable[[Operand], str]) -> Callable[[Tiling, Operand], Stated]:
    """A claim about the (thread, value) layout of one tiled MMA."""

    def stated(_: Tiling, operand: Operand) -> Stated:
        called = "the layout" if operand.claimed else f"layout{operand.name}_TV"
        return Stated(operand.name, f"{called} {words(operand)}")

    return stated


def _each_times(tiling: Tiling, operand: Operand) -> Stated:
    dealt = operand.dealt
    x, y = dealt.extent(tiling.tile)
    words = f"partition_{dealt.name} of {x}x{y} ({','.join(dealt.part.axes)}): each element {times(dealt.held)}"
    return Stated(operand.name, words)


def _every_multiple(tiling: Tiling, operand: Operand) -> Stated:
    dealt = operand.dealt
    x, y = dealt.extent(tiling.covered)
    words = f"each element of every multiple of {x}x{y} ({','.join(dealt.part.axes)}) is held {times(dealt.held)}"
    return Stated(operand.name, words + _why(dealt))


def _why(dealt: Dealt) -> str:
    """Why an element is held more than once."""
    missing = "MNK"[({0, 1, 2} - set(dealt.along)).pop()]
    reasons = [f"by each of {dealt.others} atoms along {missing}"] if dealt.others > 1 else []
    reasons += [f"{times(dealt.copies)} by an atom"] if dealt.copies > 1 else []
    return f": {', '.join(reasons)}" if reasons else ""


def _of_tile(check: CheckFunction) -> CheckFunction:
    """A check of an atom's operand, made of the operand of one tiled MMA."""
    return lambda run, tiling, operand: check(run, *operand.whole)


def _follows_from_owns(run: Prover, tiling: Tiling, operand: Operand) -> list[Evidence]:
    """That a layout stays in its tile, since it is proved to own each element."""
    owns = join(Claim(tiling.name, operand.name, OWNERSHIP, ""), run.evidence(OWNERSHIP, tiling, operand))
    proved = Evidence(Check.PROOF, Status.PROVED, f"follows from {OWNERSHIP.words!r}")
    return [proved] if owns.status is Status.PROVED else []


def _equals(run: object, tiling: Tiling, operand: Operand) -> list[Evidence]:
    """That a layout is the atom's, tiled, at every thread and value."""
    dealt, layout = operand.dealt, operand.layout
    wanted = reference.elements(tiling, dealt)
    table = isa.evaluate(layout)
    if table.shape != wanted.shape:
        threads, values = table.shape
        said = f"it has {threads} threads x {values} values, the tiling {wanted.shape[0]} x {wanted.shape[1]}"
        wrong = Counterexample({"threads": threads}, said, repair=_repair(dealt, 0, wanted.size))
        return [Evidence(Check.ISA, Status.REFUTED, "enumeration", table.size, "numpy", counterexample=wrong)]
    bad = np.argwhere((table != wanted) & (wanted >= 0))
    if not len(bad):
        return [Evidence(Check.ISA, Status.PROVED, "enumeration", table.size, "numpy")]
    thread, value = (int(c) for c in bad[0])
    got, right = int(table[thread, value]), int(wanted[thread, value])
    part = replace(dealt.part, extent=dealt.extent(tiling.covered))
    wrong = Counterexample(
        {"thread": thread, "value": value},
        f"T{thread} V{value}: layout {part.show(got)}, tiled atom {part.show(right)}",
        f"{written_out(layout, thread, value)} = {got}, not {right}",
        extent="unique" if len(bad) == 1 else "smallest",
        damage=(f"{len(bad)} of {table.size} points disagree",),
        repair=_repair(dealt, table.size - len(bad), table.size),
        unique=len(bad) == 1,
        reproduced=walk(layout, thread, value) == got != right,
    )
    return [Evidence(Check.ISA, Status.REFUTED, "enumeration", table.size, "numpy", counterexample=wrong)]


def _repair(dealt: Dealt, agree: int, points: int) -> str:
    return f"the tiled MMA's own: {dealt.layout_tv()}      {points} of {points} agree (now {agree})"


def _partition(run: object, tiling: Tiling, operand: Operand) -> list[Evidence]:
    """That the threads' partitions of the given tile hold each element as often as the atoms do."""
    dealt = operand.dealt
    x, y = dealt.extent(tiling.tile)
    table = gemm.partitions(tiling, dealt, Tensor(None, Layout((x, y))))
    outside = np.argwhere((table < 0) | (table >= x * y))
    counts = np.bincount(table[(table >= 0) & (table < x * y)], minlength=x * y)
    bad = np.flatnonzero(counts != dealt.held)
    wrong = None
    if len(outside):
        thread, value = gemm.threads(tiling)[outside[0][0]], int(outside[0][1])
        wrong = Counterexample(
            {"thread": thread, "value": value},
            f"T{thread} V{value} holds element {table[tuple(outside[0])]}, the tile has 0..{x * y - 1}",
            damage=(f"{len(outside)} of {table.size} points fall outside",),
        )
    elif len(bad):
        part, first = replace(dealt.part, extent=(x, y)), int(bad[0])
        holders = sum(row.count(first) for row in table.tolist())
        wrong = Counterexample(
            {"element": first},
            f"{part.show(first)} is held {times(int(counts[first]))}, not {times(dealt.held)}",
            damage=(f"{len(bad)} of {x * y} elements are not held {times(dealt.held)}",),
            reproduced=holders == int(counts[first]),
        )
    wrong = wrong or _elsewhere(tiling, dealt, table)
    status = Status.PROVED if wrong is None else Status.REFUTED
    return [Evidence(Check.ISA, status, "enumeration", table.size, "numpy", counterexample=wrong)]


def _elsewhere(tiling: Tiling, dealt: Dealt, table: Table) -> Counterexample | None:
    """A thread whose partition holds what another's should, though each element is held as often as stated."""
    wanted = reference.parts(tiling, dealt, tiling.tile)
    try:
        found = gemm.by_atom(tiling, dealt, table)
    except LayoutError as error:
        return Counterexample({}, f"a partition is not its operand's: {error}")
    differ = found != wanted
    if not differ.any():
        return None
    bad = np.argwhere(differ.T)  # the first thread's first value first
    at = tuple(int(c) for c in bad[0][::-1])
    part, thread = replace(dealt.part, extent=dealt.extent(tiling.tile)), reference.threads(tiling)[at[:4]]
    said = f"T{thread} holds {part.show(int(found[at]))} where the tiled atom has {part.show(int(wanted[at]))}"
    inputs = {"thread": int(thread), "value": at[4], "rest": at[5], "other rest": at[6]}
    return Counterexample(inputs, said, damage=(f"{len(bad)} of {table.size} points disagree",))


def _multiplies(tiling: Tiling, _: None) -> Stated:
    shape = "x".join(map(str, tiling.tile))
    sums = f", {tiling.atoms[2]} partial sums added" if tiling.atoms[2] > 1 else ""
    return Stated("", f"the {shape} product through partitions and fragments alone equals numpy's{sums}")


def _product_key(check: Check, tiling: Tiling, _: None) -> Hashable:
    """Recorded runs are looked up for each tiling."""
    maps = tuple(formula.key for dealt in tiling.dealt for formula in dealt.part.formulas)
    return (tiling.question(*tiling.dealt), maps) if check is Check.ISA else None


def _computed(run: object, tiling: Tiling, _: None) -> list[Evidence]:
    """A product of random integers through the library's partitions, compared with numpy's."""
    other = [why for part in tiling.subject.parts if (why := instruction.misfit(tiling.subject, part))]
    if other:  # an instruction of other registers than the atom's fragments cannot be issued on them
        return [Evidence(Check.ISA, Status.UNCHECKED, "", reason=other[0])]
    given = gemm.operands(tiling)
    right = gemm.expected(given)
    try:
        found = gemm.run(tiling, given)
    except LayoutError as error:
        left = Counterexample({}, f"a partition is not its operand's: {error}")
        return [Evidence(Check.ISA, Status.REFUTED, "random integers", right.size, "numpy", counterexample=left)]
    bad = np.argwhere(found != right)
    wrong = None
    if len(bad):
        m, n = (int(c) for c in bad[0])
        got = "nothing, or copies that differ" if np.isnan(found[m, n]) else f"{found[m, n]:.0f}"
        wrong = Counterexample(
            {"m": m, "n": n},
            f"(m={m}, n={n}) is {got}, numpy has {right[m, n]:.0f} (seed 0)",
            damage=(f"{len(bad)} of {right.size} elements are wrong",),
        )
    status = Status.AGREES if wrong is None else Status.REFUTED
    return [Evidence(Check.ISA, status, "random integers", right.size, "numpy", counterexample=wrong)]


def _law(tiling: Tiling, _: None) -> Stated:
    shape = "x".join(map(str, tiling.subject.mma.shape))
    return Stated("", f"tiles of {shape} atoms, for every count of atoms and repeats")


def _with_replay(verdict: Verdict, stated: TilingSpec) -> Verdict:
    wrong = verdict.counterexample
    if wrong is None or wrong.replay:
        return verdict
    words = arguments(stated)
    line = f"python -m verify.tiling {shlex.join(words)}"
    return replace(verdict, counterexample=replace(wrong, replay=line))


def _held(operand: Operand) -> str:
    subject, whole = operand.whole
    return times(subject.multiplicity(whole))


def _question(check: Check, tiling: Tiling, operand: Operand) -> Hashable:
    return tiling.question(operand.dealt)


def _well_formed(_: Tiling, operand: Operand) -> bool:
    return operand.read[0] is not None


THREADS = Property(
    "thread_numbers",
    Scope.THREADS,
    words="threads",
    states=_numbering,
    isa=_numbered,
    proof=threads,
    reads=lambda check, tiling, _: str(tiling.mma.thr_layout_vmnk) if check is Check.PROOF else None,
)
WELL_FORMED = replace(
    atoms.WELL_FORMED,
    states=lambda _, operand: Stated(operand.name, f"{operand.claimed} is a layout with congruent profiles"),
    applies=lambda tiling, operand: not _well_formed(tiling, operand),
    isa=lambda run, tiling, operand: [isa.form("parsed", operand.read[1])],
)
OWNERSHIP = Property(
    "owns",
    Scope.OPERAND,
    states=_of_layout(lambda operand: f"holds each element of {operand.whole[1].tile} {_held(operand)}"),
    applies=_well_formed,
    isa=_of_tile(at_points(isa.ownership)),
    proof=_of_tile(by_solver(proof.ownership)),
    reads=_question,
)
IN_BOUNDS = Property(
    "in_bounds",
    Scope.OPERAND,
    states=_of_layout(lambda operand: f"stays inside {operand.whole[1].tile}"),
    applies=_well_formed,
    isa=_of_tile(at_points(isa.in_bounds)),
    proof=first(_follows_from_owns, _of_tile(by_solver(proof.in_bounds))),
    reads=_question,
)
EQUALS = Property(
    "equals",
    Scope.OPERAND,
    states=_of_layout(lambda operand: "is the atom's, tiled"),
    applies=_well_formed,
    isa=_equals,
    proof=equals,
    reads=_question,
    required=atoms.EQUALS.required,
)
PARTITION = Property("partition", Scope.OPERAND, states=_each_times, isa=_partition, reads=_question)
MULTIPLES = Property("multiples", Scope.OPERAND, states=_every_multiple, proof=multiples, reads=_question)
REGISTERS = Property("registers", Scope.TILING, states=cost.registers, isa=cost.count_registers)
CALLS = Property("calls", Scope.TILING, states=cost.calls, isa=cost.count_calls)
PRODUCT = Property(
    "product",
    Scope.TILING,
    states=_multiplies,
    isa=_computed,
    gpu=lambda run, tiling, _: [recorded(tiling, run.runs)],
    reads=_product_key,
)
TILING = replace(atoms.TILING, scope=Scope.TILING, states=_law, needs=(verified(MULTIPLES),))
SWIZZLE_ATOM = Property(
    "swizzle_atom",
    Scope.MEMORY,
    states=smem_atom.divides,
    isa=smem_atom.enumerated,
    proof=smem_atom.proved,
    reads=smem_atom.copies_key,
)
INSTRUCTION = Property(
    "instruction",
    Scope.TILING,
    states=lambda *_: Stated("", "every instruction of the atom multiplies so"),
    applies=lambda tiling, _: bool(instruction.compared(None, tiling, None)),
    isa=instruction.compared,
)
PROPERTIES = (
    THREADS,
    WELL_FORMED, IN_BOUNDS, OWNERSHIP, EQUALS, PARTITION, MULTIPLES,
    REGISTERS, CALLS, PRODUCT, TILING,
    SWIZZLE_ATOM,
    INSTRUCTION,
)  # fmt: skip

# SPDX-License-Identifier: Apache-2.0
"""The claims of a tiling, and what enumeration and the solver say of each.

Enumeration evaluates the library's TiledMMA, with `Layout.__call__` on arrays, and compares it with the definition: the
threads and coordinates of all atoms counted out in loops. The solver encodes what was stated itself.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import prod

import numpy as np

from layouts import Layout, LayoutError, cosize, size
from layouts.atoms import AnyAtom, Atom
from layouts.tensor import Tensor
from verify.binding.atom import Part, Subject, thread_value
from verify.core.digits import digits, spelled, walk
from verify.core.verdict import Claim, Counterexample, Evidence, Kind, Status, Verdict, Witness, join
from verify.evidence import isa, proof
from verify.report import Case
from verify.tiling import cost, gemm, instruction, reference, smem_atom
from verify.tiling.bind import Dealt, IllFormed, OutOfTile, Tiling, TilingKind, find, prepare
from verify.tiling.gpu import recorded
from verify.tiling.proof import Prover
from verify.tiling.spec import Stated
from verify.tiling.spec import text as arguments

Table = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


def case(stated: Stated, pool: Mapping[str, AnyAtom], prover: Prover) -> Case:
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
    open_ = any(verdict.claim.kind is TilingKind.INSTRUCTION for verdict in verdicts)
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
    verdicts = [_threads(tiling, prover)]
    for dealt in tiling.dealt:
        verdicts += _operand(tiling, dealt, prover)
    verdicts += cost.judge(tiling)
    verdicts += [_product(tiling, prover), _law(tiling, prover, verdicts)]
    verdicts += smem_atom.judge(tiling, prover)
    verdicts += instruction.judge(tiling)
    return [_with_replay(verdict, tiling.stated) for verdict in verdicts]


def ill_formed(name: str, part: str, layout: str, fault: str) -> Verdict:
    """The one claim of a tiling whose atom is none."""
    claim = Claim(name, part, Kind.WELL_FORMED, f"{layout} is a layout with congruent profiles")
    wrong = Counterexample({}, fault)
    return join(claim, [Evidence(Witness.BOOK, Status.REFUTED, "parsed", 1, counterexample=wrong)])


def _outside(stated: Stated, subject: Subject, part: Part, prover: Prover) -> Verdict:
    """The one claim about an operand of an atom that leaves its tile: it cannot be tiled."""
    claim = Claim(stated.name, part.name, Kind.IN_BOUNDS, f"the atom's layout stays inside {part.tile}")
    counted = isa.testify(Kind.IN_BOUNDS, subject, part)
    solved = proof.testify(Kind.IN_BOUNDS, subject, part, prover.budget, prover.solver)
    return _with_replay(join(claim, [counted, solved]), stated)


def times(count: int) -> str:
    """How often, in words."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _threads(tiling: Tiling, prover: Prover) -> Verdict:
    vmnk = tiling.mma.thr_layout_vmnk
    numbers = vmnk(np.arange(size(vmnk)))
    order = np.argsort(numbers, kind="stable")
    twice = np.flatnonzero(np.diff(numbers[order]) == 0)
    wrong, claim = None, Claim(tiling.name, "", TilingKind.THREADS, _numbering(tiling))
    if len(twice):
        first, second = (int(order[twice[0] + i]) for i in (0, 1))
        wrong = Counterexample(
            {"first": first, "second": second},
            f"{_whose(vmnk, first)} and {_whose(vmnk, second)} are both thread {int(numbers[first])}",
            damage=(f"{len(numbers) - len(np.unique(numbers))} of {len(numbers)} threads are another's",),
        )
    wrong = wrong or _misnumbered(tiling, numbers)
    status = Status.PROVED if wrong is None else Status.REFUTED
    counted = Evidence(Witness.BOOK, status, "enumeration", len(numbers), "numpy", counterexample=wrong)
    question = (TilingKind.THREADS, str(vmnk))
    return join(claim, [counted, *prover.once(question, tiling.name, lambda: [prover.threads(tiling)])])


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


def _numbering(tiling: Tiling) -> str:
    atoms, each = prod(tiling.atoms), tiling.threads // prod(tiling.atoms)
    words = f"{tiling.threads} thread{'s' * (tiling.threads > 1)}"
    words += f": {each} for each of {'x'.join(map(str, tiling.atoms))} atoms" if atoms > 1 else " for one atom"
    last = cosize(tiling.mma.thr_layout_vmnk)
    return words if last == tiling.threads else f"{words}, numbered up to {last - 1}"


def _whose(vmnk: Layout, index: int) -> str:
    thread, *atom = digits(map(size, vmnk), index)
    return f"T{thread} of atom ({','.join(map(str, atom))})"


def _operand(tiling: Tiling, dealt: Dealt, prover: Prover) -> Iterator[Verdict]:
    """The claims about one operand: its (thread, value) layout, its partitions, every multiple of the tile."""
    name, part, question = tiling.name, dealt.part, tiling.question(dealt)

    def heard(kind: Kind | TilingKind, words: str, *witnesses: Callable[[], Evidence]) -> Verdict:
        evidence = prover.once((kind, question), f"{name} {part.name}", lambda: [witness() for witness in witnesses])
        return join(Claim(name, part.name, kind, words), evidence)

    text = tiling.stated.claimed.get(part.name, "")
    layout, fault = thread_value(text) if text else (dealt.layout_tv(), "")
    if layout is None:
        yield ill_formed(name, part.name, text, fault)
    else:
        yield from _layout(tiling, dealt, layout, prover, heard)
    x, y = dealt.extent(tiling.tile)
    words = f"partition_{part.name} of {x}x{y} ({','.join(part.axes)}): each element {times(dealt.held)}"
    yield heard(TilingKind.PARTITION, words, lambda: _partition(tiling, dealt))
    x, y = dealt.extent(tiling.covered)
    words = f"each element of every multiple of {x}x{y} ({','.join(part.axes)}) is held {times(dealt.held)}"
    yield heard(TilingKind.MULTIPLES, words + _why(dealt), lambda: prover.multiples(tiling, dealt))


def _layout(
    tiling: Tiling, dealt: Dealt, layout: Layout, prover: Prover, heard: Callable[..., Verdict]
) -> Iterator[Verdict]:
    """The claims about a (thread, value) layout of one tiled MMA: those of an atom, and that it is the tiling's."""
    subject, whole = _tile(tiling, dealt, layout)
    called = "the layout" if dealt.name in tiling.stated.claimed else f"layout{dealt.name}_TV"
    owns = heard(
        Kind.OWNS,
        f"{called} holds each element of {whole.tile} {times(subject.multiplicity(whole))}",
        lambda: isa.testify(Kind.OWNS, subject, whole),
        lambda: proof.testify(Kind.OWNS, subject, whole, prover.budget, prover.solver),
    )
    yield heard(
        Kind.IN_BOUNDS,
        f"{called} stays inside {whole.tile}",
        lambda: isa.testify(Kind.IN_BOUNDS, subject, whole),
        lambda: _within(owns.status is Status.PROVED, subject, whole, prover),
    )
    yield owns
    yield heard(
        Kind.EQUALS,
        f"{called} is the atom's, tiled",
        lambda: _equals(tiling, dealt, layout),
        lambda: prover.equals(tiling, dealt, layout),
    )


def _why(dealt: Dealt) -> str:
    """Why an element is held more than once."""
    missing = "MNK"[({0, 1, 2} - set(dealt.along)).pop()]
    reasons = [f"by each of {dealt.others} atoms along {missing}"] if dealt.others > 1 else []
    reasons += [f"{times(dealt.copies)} by an atom"] if dealt.copies > 1 else []
    return f": {', '.join(reasons)}" if reasons else ""


def _tile(tiling: Tiling, dealt: Dealt, layout: Layout) -> tuple[Subject, Part]:
    """The operand of one tiled MMA as a subject of its own: the claims about its layout are those of an atom."""
    threads = size(dealt.layout_tv()[0])
    atom = replace(tiling.subject.mma, copies={dealt.name: dealt.held * (threads // tiling.threads)})
    part = Part(dealt.name, str(layout), layout, "", dealt.extent(tiling.covered), ())
    held = size(layout[0])
    return Subject(atom, Layout(held, 1), Layout(1, 0), "", held, (part,), ()), part


def _within(owned: bool, subject: Subject, part: Part, prover: Prover) -> Evidence:
    if owned:
        return Evidence(Witness.PROOF, Status.PROVED, "follows from 'owns'")
    return proof.testify(Kind.IN_BOUNDS, subject, part, prover.budget, prover.solver)


def _equals(tiling: Tiling, dealt: Dealt, layout: Layout) -> Evidence:
    wanted = reference.elements(tiling, dealt)
    table = isa.evaluate(layout)
    if table.shape != wanted.shape:
        threads, values = table.shape
        said = f"it has {threads} threads x {values} values, the tiling {wanted.shape[0]} x {wanted.shape[1]}"
        wrong = Counterexample({"threads": threads}, said, repair=_repair(dealt, 0, wanted.size))
        return Evidence(Witness.BOOK, Status.REFUTED, "enumeration", table.size, "numpy", counterexample=wrong)
    bad = np.argwhere((table != wanted) & (wanted >= 0))
    if not len(bad):
        return Evidence(Witness.BOOK, Status.PROVED, "enumeration", table.size, "numpy")
    thread, value = (int(c) for c in bad[0])
    got, right = int(table[thread, value]), int(wanted[thread, value])
    part = replace(dealt.part, extent=dealt.extent(tiling.covered))
    wrong = Counterexample(
        {"thread": thread, "value": value},
        f"T{thread} V{value}: layout {part.show(got)}, tiled atom {part.show(right)}",
        f"{spelled(layout, thread, value)} = {got}, not {right}",
        extent="unique" if len(bad) == 1 else "smallest",
        damage=(f"{len(bad)} of {table.size} points disagree",),
        repair=_repair(dealt, table.size - len(bad), table.size),
        unique=len(bad) == 1,
        reproduced=walk(layout, thread, value) == got != right,
    )
    return Evidence(Witness.BOOK, Status.REFUTED, "enumeration", table.size, "numpy", counterexample=wrong)


def _repair(dealt: Dealt, agree: int, points: int) -> str:
    return f"the tiled MMA's own: {dealt.layout_tv()}      {points} of {points} agree (now {agree})"


def _partition(tiling: Tiling, dealt: Dealt) -> Evidence:
    """That the threads' partitions of the given tile hold each element as often as the atoms do."""
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
    return Evidence(Witness.BOOK, status, "enumeration", table.size, "numpy", counterexample=wrong)


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


def _product(tiling: Tiling, prover: Prover) -> Verdict:
    shape = "x".join(map(str, tiling.tile))
    sums = f", {tiling.atoms[2]} partial sums added" if tiling.atoms[2] > 1 else ""
    words = f"the {shape} product through partitions and fragments alone equals numpy's{sums}"
    maps = tuple(formula.key for dealt in tiling.dealt for formula in dealt.part.formulas)
    question = (Kind.PRODUCT, tiling.question(*tiling.dealt), maps)
    heard = prover.once(question, tiling.name, lambda: [_computed(tiling)])
    return join(Claim(tiling.name, "", Kind.PRODUCT, words), [*heard, recorded(tiling, prover.runs)])


def _computed(tiling: Tiling) -> Evidence:
    other = [why for part in tiling.subject.parts if (why := instruction.misfit(tiling.subject, part))]
    if other:  # an instruction of other registers than the atom's fragments cannot be issued on them
        return Evidence(Witness.BOOK, Status.UNCHECKED, "", reason=other[0])
    given = gemm.operands(tiling)
    right = gemm.expected(given)
    try:
        found = gemm.run(tiling, given)
    except LayoutError as error:
        left = Counterexample({}, f"a partition is not its operand's: {error}")
        return Evidence(Witness.BOOK, Status.REFUTED, "random integers", right.size, "numpy", counterexample=left)
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
    return Evidence(Witness.BOOK, status, "random integers", right.size, "numpy", counterexample=wrong)


def _law(tiling: Tiling, prover: Prover, before: list[Verdict]) -> Verdict:
    shape = "x".join(map(str, tiling.subject.mma.shape))
    claim = Claim(tiling.name, "", Kind.TILING, f"tiles of {shape} atoms, for every count of atoms and repeats")
    for verdict in before:
        if verdict.claim.kind is TilingKind.MULTIPLES and not verdict.status.stands:
            why = f"its premise does not stand: {verdict.claim.part} multiples is {verdict.status}"
            return join(claim, [Evidence(Witness.PROOF, Status.UNCHECKED, "", reason=why)])
    return join(claim, prover.once(Kind.TILING, tiling.name, lambda: [prover.law()]))


def _with_replay(verdict: Verdict, stated: Stated) -> Verdict:
    wrong = verdict.counterexample
    if wrong is None or wrong.replay:
        return verdict
    words = arguments(stated)
    line = f"python -m verify.tiling {shlex.join(words)}"
    return replace(verdict, counterexample=replace(wrong, replay=line))

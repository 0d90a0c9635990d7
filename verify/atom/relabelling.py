# SPDX-License-Identifier: Apache-2.0
"""RELABELLED: atoms that differ from their instruction by one permutation of m, n or k, in both operands that have it.

Such an atom computes every product right, and a test by products finds no difference. It is no
VERIFIED atom: what knows the axis otherwise (an address, a scale, metadata, the next instruction) meets other elements.

`reported`   verdicts, with RELABELLED in place of the refutations that one relabelling explains
`broken`     why a relabelling cannot be: the scales, metadata or memory that it contradicts
`undone`     an atom without its relabelling
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from verify.binding.bound import BoundMaps
from verify.binding.coordinates import Registers
from verify.binding.operand import BoundOperand
from verify.binding.relabelling import METADATA, SCALES, blocks, order
from verify.core.digits import lane_of
from verify.core.verdict import Check, Counterexample, Evidence, Statement, Status, Verdict, finding
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Axis
from verify.maps.relabelling import is_identity, permutation, spell_permutation

if TYPE_CHECKING:
    from verify.evidence.run import Run

Numbers = Mapping[str, Sequence[int]]  # axis -> where the instruction has i, the atom has numbers[i]
HOLDERS = {"m": ("A", "C"), "n": ("B", "C"), "k": ("A", "B")}
EXPLAINED = ("equals_isa", "equals_absolute")  # the properties that a relabelling refutes
ALIKE = ("product", "relation")  # those that a relabelling leaves as they are
RIGHT = {
    "m": "right: the product, if the rows of C are read as those of A",
    "n": "right: the product, if the columns of C are read as those of B",
    "k": "right: the product, a sum over k",
}
BLOCKS = {"SFA": 1, "SFB": 0}  # the axis of the blocks, as the ISA counts
WRONG = {
    "m": "a store of C, C as A of the next product, A loaded by ldmatrix or by address, scales and metadata of A",
    "n": "a store of C, C as A of the next product, B loaded by ldmatrix or by address, scales of B",
    "k": "A or B loaded by ldmatrix or by address, the C of another product as A, metadata, scales of blocks that are "
    "not mapped onto blocks",
}


def state_claim(subject: BoundMaps, _: None) -> Statement:
    """Return the claim about a declared relabelling."""
    words = " and ".join(f"{axis} relabelled by {layout}" for axis, layout in subject.relabel.items())
    return Statement("relabel", f"{words}, which no scale, metadata or address contradicts")


def absolute(run: Run, subject: BoundMaps, _: None) -> list[Evidence]:
    """Return the evidence of a GPU on the absolute coordinates of an atom, its declared relabelling undone."""
    from verify.evidence import gpu

    plain = undone(subject, read_declared(subject)) if subject.relabel else subject
    return gpu.absolute(plain, run.recordings, run.memo)


def read_declared(subject: BoundMaps) -> Numbers:
    """Return the permutations that the atom declares."""
    extents = dict(zip("mnk", subject.shape, strict=True))
    return {axis: order(text, extents[axis]) for axis, text in subject.relabel.items()}


def find_permutations(subject: BoundMaps, wrong: Collection[str] = ()) -> Numbers | None:
    """Return the permutations by which A, B and C are the instruction's, without identities; None if there are none.

    The operands that are `wrong` are looked at first: most often one of them shows that there are none.
    """
    of_label: dict[str, dict[int, int]] = {axis: {} for axis in HOLDERS}
    extents: dict[str, int] = {}
    for name in sorted("ABC", key=lambda name: name not in wrong):
        part = next((part for part in subject.parts if part.name == name), None)
        if (
            part is None
            or not part.well_formed
            or len(part.formulas) != 1
            or part.domain != subject.expect_extents(part)
        ):
            return None
        extents |= zip(part.axes, part.extent, strict=True)
        for mine, theirs in _points(subject, part):
            for axis, label, number in zip(part.axes, mine, theirs, strict=True):
                if of_label[axis].setdefault(label, number) != number:
                    return None
    numbers = {axis: permutation(list(of), list(of.values()), extents[axis]) for axis, of in of_label.items()}
    moved = {axis: permuted for axis, permuted in numbers.items() if permuted is not None and not is_identity(permuted)}
    return moved if moved and None not in numbers.values() else None


def _points(subject: BoundMaps, part: BoundOperand) -> Iterator[tuple[tuple[int, ...], tuple[int, int]]]:
    """Yield the atom's (x, y) and the instruction's, of every (thread, value) of every replica, in plain integers."""
    thr, rep = subject.numbering
    for thread, row in enumerate(_labels(part)):
        for replica in range(subject.rep_size):
            lane = lane_of(thr, thread) + lane_of(rep, replica)
            for value, labels in enumerate(row):
                x, y = part.formulas[0].locate(lane, value)
                yield labels, (int(x), int(y))


def _labels(part: BoundOperand) -> Sequence[Sequence[tuple[int, ...]]]:
    """Return the atom's (x, y) of every (thread, value), those outside of the tile too, which are no element's."""
    return part.points.rows()


def report_relabelled(
    subject: BoundMaps, verdicts: list[Verdict], in_memory: Callable[[BoundMaps], Sequence[Evidence]]
) -> list[Verdict]:
    """Return the verdicts, RELABELLED where one relabelling of A, B and C is all that is wrong, for each of the
    instructions.

    The coordinates of memory must be right without it: `in_memory` has the evidence on them. An atom that declares a
    relabelling must have that one.
    """
    refuted = [verdict for verdict in verdicts if verdict.status is Status.REFUTED]
    operands = {verdict.claim.part for verdict in refuted}
    if not refuted or not operands <= {"A", "B", "C", "D", ""} or subject.thr is None or subject.relabel:
        return verdicts
    if any(verdict.claim.prop.key not in EXPLAINED or verdict.contradiction for verdict in refuted):
        return verdicts
    numbers = find_permutations(subject, {part.replace("D", "C") for part in operands})
    if (
        numbers is None
        or any(find_permutations(view) != numbers for view in subject.further)
        or any(broken(subject, numbers))
    ):
        return verdicts
    if any(verdict.claim.prop.key == "equals_absolute" for verdict in refuted):
        if any(evidence.status is Status.REFUTED for evidence in in_memory(undone(subject, numbers))):
            return verdicts
    agree = [
        verdict.claim.prop.words for verdict in verdicts if verdict.claim.prop.key in ALIKE and verdict.status.confirmed
    ]
    also = (f"confirmed, as of every relabelling: {' and '.join(agree)}",) if agree else ()
    return [_as_relabelled(verdict, numbers, also) if verdict in refuted else verdict for verdict in verdicts]


def _as_relabelled(verdict: Verdict, numbers: Numbers, also: tuple[str, ...]) -> Verdict:
    """Return a refutation with the relabelling that explains it, and where it is right."""
    wrong = verdict.counterexample
    if wrong is None:
        return verdict
    part = verdict.claim.part.replace("D", "C")
    axes = [axis for axis in numbers if part in (*HOLDERS[axis], "")]
    lines = [line for axis in axes for line in _explain(axis, numbers[axis])]
    return verdict._replace(
        status=Status.RELABELLED, counterexample=wrong._replace(damage=(*wrong.damage, *lines, *also))
    )


def _explain(axis: str, numbers: Sequence[int]) -> Iterator[str]:
    first, second = HOLDERS[axis]
    yield f"{axis}' = {spell_permutation(numbers)} of {axis} in {first} and in {second}: the same permutation"
    yield RIGHT[axis]
    yield f"wrong unless relabelled alike: {WRONG[axis]}"


def check_declared(subject: BoundMaps) -> list[Evidence]:
    """Return the evidence on a declared relabelling: each is a permutation, and nothing contradicts it."""
    wrong = next(_find_malformed(subject), None) or next(broken(subject, read_declared(subject)), None)
    points = sum(len(permuted) for permuted in read_declared(subject).values())
    return [finding(Check.ISA, wrong, "every number", points, "plain integers")]


def _find_malformed(subject: BoundMaps) -> Iterator[Counterexample]:
    """Yield the declarations that are no permutations."""
    extents = dict(zip("mnk", subject.shape, strict=True))
    for axis, text in subject.relabel.items():
        if not order(text, extents[axis]):
            yield Counterexample({}, f"{axis}' = {text} isn't a permutation of 0..{extents[axis] - 1}")


def broken(subject: BoundMaps, numbers: Numbers) -> Iterator[Counterexample]:
    """Yield the operands that a relabelling contradicts: memory, metadata, scales whose blocks it parts."""
    operands = subject.by.operands if subject.by is not None else {}
    for axis, permuted in numbers.items():
        if is_identity(permuted):
            continue
        for part in subject.parts:
            if axis in part.axes and part.formulas and not isinstance(part.formulas[0], Registers):
                yield Counterexample({}, f"{part.name} is read from memory: its {axis} is that of an address")
        if axis != "k":
            continue
        moved = next(k for k, number in enumerate(permuted) if k != number)
        if METADATA in operands:
            yield Counterexample(
                {"k": moved},
                f"k {moved} is numbered {permuted[moved]}: metadata names a column of A by its place in a group",
            )
        for name in SCALES:
            if name in operands:
                yield from _split(name, permuted, len(permuted) // operands[name].extent[BLOCKS[name]])


def _split(name: str, numbers: Sequence[int], block: int) -> Iterator[Counterexample]:
    """Yield the first block of a scale that a permutation of k splits."""
    if blocks(tuple(numbers), block):
        return
    first = next(
        (start, k) for start in range(0, len(numbers), block) for k in range(start, start + block)
        if numbers[k] // block != numbers[start] // block
    )  # fmt: skip
    start, k = first
    yield Counterexample(
        {"k": start, "other k": k},
        f"k {start} and k {k} have one scale in {name}, a block of {block}; relabelled they are {numbers[start]} and "
        f"{numbers[k]}, of two blocks",
    )


def undone(subject: BoundMaps, numbers: Numbers) -> BoundMaps:
    """Return the atom with the instruction's own numbers in place of its labels, each operand given point by point."""
    inverse = {axis: {label: number for number, label in enumerate(permuted)} for axis, permuted in numbers.items()}
    parts = tuple(_undone(part, inverse) for part in subject.parts)
    return replace(subject, parts=parts, further=tuple(undone(view, numbers) for view in subject.further))


def _undone(part: BoundOperand, inverse: Mapping[str, Mapping[int, int]]) -> BoundOperand:
    if not part.well_formed or len(part.axes) != 2 or not inverse.keys() & {*part.axes}:
        return part

    rows = _labels(part)
    maps = [inverse.get(axis, {}) for axis in part.axes]

    def image(thread: int, value: int) -> tuple[int, ...]:
        return tuple(numbering.get(label, label) for numbering, label in zip(maps, rows[thread][value], strict=True))

    threads, values = part.domain
    inputs = Axis("thread", threads), Axis("value", values)
    return part._replace(map=FragmentMap.tabulate(image, inputs, tuple(map(Axis, part.axes, part.extent))))

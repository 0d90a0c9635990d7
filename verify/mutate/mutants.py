# SPDX-License-Identifier: Apache-2.0
"""Wrong atoms made from right ones, to show that the checks can refute.

A one-operand mutant changes one stride, swaps two, or drops a mode. A joint mutant relabels one axis in both operands
that have it: every product stays right, so only `isa` can refute it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from layouts import Layout, LayoutError, batched, composition
from layouts.atoms import AnyAtom, Atom, CopyAtom
from verify.atom.checker import prepare_atom
from verify.atom.copies import COPY_OPERANDS
from verify.binding.axes import AXES
from verify.core.digits import modes, walks
from verify.evidence.layout_repair import with_strides
from verify.evidence.recorded import HOLDERS


@dataclass(frozen=True, slots=True)
class Mutant:
    """A wrong atom: `what` was changed in `parts` of the atom named `origin`."""

    origin: str
    parts: tuple[str, ...]
    what: str
    atom: AnyAtom
    same: bool = False  # whether it is the same function as its origin, at every point


def distinct(atoms: Iterable[AnyAtom]) -> list[tuple[AnyAtom, str]]:
    """(atom, operand) for every distinct operand layout with its formula: the first atom that has it.

    A mutant must start from a right atom: known defects, atoms with an ill-formed layout and operands without a formula
    in the ISA tables are left out.
    """
    operands: dict[tuple[object, ...], tuple[AnyAtom, str]] = {}
    for atom in atoms:
        bound = prepare_atom(atom)
        if atom.known_defect or bound.by is None or any(p.layout is None for p in bound.parts):
            continue
        for part in bound.parts:
            if part.formulas:
                # What a copy reads and what it writes are two claims.
                operand = part.name if isinstance(atom, CopyAtom) else ""
                operands.setdefault((part.text, part.extent, atom.thr, part.keys, operand), (atom, part.name))
    return list(operands.values())


def mutants(atom: AnyAtom, operand: str) -> Iterator[Mutant]:
    """Every one-operand mutant of one operand of an atom.

    A copy's source and destination are compared with each other, so that a mutant of one operand has both wrong.
    """
    layout = Layout.parse(atom.operands[operand])
    parts = COPY_OPERANDS if isinstance(atom, CopyAtom) else (operand,)
    made = list(changes(layout))
    for (what, changed), same in zip(made, same_functions(layout, [changed for _, changed in made]), strict=True):
        yield Mutant(atom.name, parts, what, with_operands(atom, {operand: changed}), same)


def changes(layout: Layout) -> Iterator[tuple[str, Layout]]:
    """Each stride doubled, halved and incremented, each pair of strides swapped, each mode dropped.

    >>> [what for what, _ in changes(Layout.parse("(4,2):(2,1)"))][:3]
    ['stride 2 (mode 0) doubled', 'stride 2 (mode 0) halved', 'stride 2 (mode 0) incremented']
    """
    strides = [d for _, d in modes(layout.shape, layout.stride)]
    for i, d in enumerate(strides):
        for verb, value in (("doubled", 2 * d), ("halved", d // 2), ("incremented", d + 1)):
            yield f"stride {d} (mode {i}) {verb}", with_strides(layout, [*strides[:i], value, *strides[i + 1 :]])
    for i, j in combinations(range(len(strides)), 2):
        swapped = list(strides)
        swapped[i], swapped[j] = swapped[j], swapped[i]
        yield f"strides {strides[i]} and {strides[j]} swapped (modes {i}, {j})", with_strides(layout, swapped)
    for i in range(len(strides)):
        yield f"mode {i} dropped", _without(layout, i)


def _without(layout: Layout, position: int) -> Layout:
    """Return the layout with one leaf mode made trivial, which drops it and keeps the rank."""
    counter = iter(range(len(list(modes(layout.shape, layout.stride)))))

    def strip(shape: object, stride: object) -> tuple[object, object]:
        if isinstance(shape, tuple) and isinstance(stride, tuple):
            pairs = [strip(s, d) for s, d in zip(shape, stride, strict=True)]
            return tuple(s for s, _ in pairs), tuple(d for _, d in pairs)
        return (1, 0) if next(counter) == position else (shape, stride)

    return Layout(*strip(layout.shape, layout.stride))  # type: ignore[arg-type]


def with_operands(atom: AnyAtom, changed: dict[str, Layout]) -> AnyAtom:
    """Return the atom with other layouts for some operands."""
    operands = dict(atom.operands) | {name: str(layout) for name, layout in changed.items()}
    return replace(atom, operands=operands)


def joint_mutants(atom: Atom) -> Iterator[Mutant]:
    """One permutation of m in A and C, of n in B and C, of k in A and B, written as layouts.

    The permutation of an axis of extent E = 2h is p(x) = (x mod h)*2 + x div h, the layout (h,2):(2,1).
    """
    extents = dict(zip("mnk", atom.shape, strict=True))
    for axis, operands in HOLDERS.items():
        if extents[axis] < 4 or extents[axis] % 2:
            continue
        changed = {name: permute_axis(atom, name, axis, extents) for name in operands}
        right = {name: layout for name, layout in changed.items() if layout is not None}
        if len(right) == len(operands):
            yield Mutant(atom.name, operands, f"one permutation of {axis}", with_operands(atom, right))


def permute_axis(atom: Atom, operand: str, axis: str, extents: dict[str, int]) -> Layout | None:
    """Return an operand's layout with one axis permuted, or None where no layout expresses it."""
    x, y = AXES[operand]
    half = extents[axis] // 2
    first = ((half, 2), (2, 1)) if axis == x else (extents[x], 1)
    second = ((half, 2), (2 * extents[x], extents[x])) if axis == y else (extents[y], extents[x])
    permutation = Layout((first[0], second[0]), (first[1], second[1]))
    try:
        return composition(permutation, Layout.parse(atom.operands[operand]))
    except LayoutError:
        return None


def same_functions(layout: Layout, changed: Sequence[Layout]) -> list[bool]:
    """Which layouts are the same function of (thread, value) as another: all are evaluated at once, at every point.

    Nothing else would notice one that is taken for the same by mistake, so these are evaluated in plain integers too.

    >>> same_functions(Layout.parse("(2,2):(1,2)"), [Layout.parse("(2,2):(2,1)"), Layout.parse("(2,2):(1,2)")])
    [False, True]
    """
    faults = batched.first_difference(batched.batch(changed), layout)
    return [
        fault < 0 and walks(mutant) == walks(layout) for fault, mutant in zip(faults.tolist(), changed, strict=True)
    ]

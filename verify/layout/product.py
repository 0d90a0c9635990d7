# SPDX-License-Identifier: Apache-2.0
"""A layout as one operand of the instruction that --ptx names: a product that has --operand."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from functools import partial

import isa_tables
from layouts import Layout, LayoutError, ProfileError
from verify.atom import repairs
from verify.atom.cause import add_causes
from verify.atom.checker import AtomChecker, draw_atom, list_citations
from verify.atom.properties import EQUALS, IN_BOUNDS, OWNERSHIP, SIZE, WELL_FORMED
from verify.binding.atom import look_up
from verify.binding.axes import AXES
from verify.binding.bound import BoundMaps, bind_maps, extent_of, read_map
from verify.binding.completion import FRAGMENTS, in_order, moves
from verify.core.errors import UsageError
from verify.core.verdict import Check, Verdict, add_replay
from verify.layout.reading import PointsError, as_pairs, describe_fault, map_onto, parse_small, plain
from verify.maps import short_names
from verify.report import Case, Report


def of_operand(
    text: str, ptx: str, operand: str, extent: tuple[int, int] | None = None, checks: Collection[Check] | None = None
) -> Report:
    """Return the verdicts on a layout as one operand of an instruction, `extent` its tile where that is given."""
    instruction = find_product(ptx, operand)
    subject = bind_layout(text, operand, instruction)
    part = subject.parts[0]
    if extent is not None and extent != part.extent:
        given, tile = ("x".join(map(str, sizes)) for sizes in (extent, part.extent))
        raise UsageError(f"--onto {given}: {operand} of this instruction is {tile}: leave --onto out")
    checker = AtomChecker(frozenset(checks or {Check.ISA, Check.PROOF}))
    words = [text, "--ptx", ptx, "--operand", operand]
    verdicts = repairs.add_repairs(
        subject,
        _list_verdicts(subject, checker),
        lambda keys: bind_layout(keys[operand], operand, instruction) if keys.keys() == {operand} else None,
        lambda edited: all(verdict.status.confirmed for verdict in _list_verdicts(edited, checker)),
    )
    replay = shlex.join(["lanecheck", "layout", *words])
    verdicts = [add_replay(verdict, lambda: replay) for verdict in add_causes(subject, verdicts)]
    drawn_by = shlex.join(["lanecheck", "show", *words])
    picture = partial(draw_atom, subject, verdicts)
    layouts = ((operand, part.text),)
    return Report(
        (
            Case(
                text,
                tuple(verdicts),
                layouts,
                formulas=lambda: list_citations(subject),
                picture=picture,
                drawn_by=drawn_by,
                notes=tuple(filter(None, [short_names.describe(ptx, [operand])])),
            ),
        )
    )


def _list_verdicts(subject: BoundMaps, checker: AtomChecker) -> list[Verdict]:
    """Return the verdicts on the only operand of some maps."""
    (part,) = subject.parts
    verdicts: list[Verdict] = []
    for row in (WELL_FORMED, SIZE, IN_BOUNDS, OWNERSHIP, EQUALS):
        verdicts.append(checker.verdict(row, subject, part, verdicts))
    return verdicts


def bind_layout(text: str, operand: str, instruction: isa_tables.Instruction) -> BoundMaps:
    """Return a layout as the only operand that is given of an instruction. Raises UsageError."""
    extent = extent_of(operand, instruction.signature.shape)
    shown, points = text, None
    try:
        parsed = parse_small(text)
        if isinstance(parsed, Layout) and plain(parsed):
            shown = str(parsed)
        else:
            points = map_onto(as_pairs(parsed), **dict(zip(AXES[operand], extent, strict=True)))
    except ProfileError:
        pass  # the first claim is that it is one
    except LayoutError as error:
        raise UsageError(describe_fault(text, error)) from error
    except ValueError as error:
        raise PointsError(str(error)) from error
    given = (points, "") if points is not None else read_map(operand, shown, extent)
    return bind_maps(text, instruction, in_order(instruction), {operand: (shown, *given)})


def find_product(ptx: str, operand: str) -> isa_tables.Instruction:
    """Return the instruction of the mnemonic that `ptx` is, or is short for.

    Raises UsageError for one that multiplies no matrices or lacks the operand, SpecError for a name that is short for
    instructions whose operands differ.
    """
    known = [name for name in AXES if name and AXES[name] != ("bit",)]
    if operand not in known:
        raise UsageError(f"--operand: {operand!r}: expected {', '.join(known)}; an atom's C is C and D")
    mnemonic = ptx
    if short_names.expand(ptx):
        names = FRAGMENTS.get(operand, (operand,))
        mnemonic = short_names.find_instruction("ptx", ptx, names, isa_tables.instruction).signature.mnemonic
    named = look_up(mnemonic)
    if named.instruction is None:
        raise UsageError(f"--ptx: {named.rejected or named.unknown}")
    if moves(named.instruction.signature) or len(named.instruction.signature.shape) != 3:
        raise UsageError(f"--ptx: {ptx} multiplies no matrices: a layout is compared with an operand of a product")
    if not {operand, *("CD" if operand == "C" else "")} & named.instruction.operands.keys():
        listed = ", ".join(name for name in known if name in named.instruction.operands)
        raise UsageError(f"--operand: {ptx} has no operand {operand}: it has {listed}")
    return named.instruction

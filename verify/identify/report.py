# SPDX-License-Identifier: Apache-2.0
"""What a map was identified as, as text and as JSON: operands with the number of their instructions by family."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from isa_tables.mnemonic import list_parts
from verify.core.errors import Exit
from verify.core.judgement import Judgement
from verify.identify import catalogue
from verify.identify.groups import Member
from verify.identify.matches import Match, Relation, matches, sizes
from verify.identify.query import Query
from verify.maps.relabelling import spell_permutation

if TYPE_CHECKING:
    from verify.maps.synthesis import Form

SCHEMA = 2


@dataclass(frozen=True, repr=False)
class Identified(Judgement):
    """A map with its matches, its other forms if they are wanted, and why no map has its size."""

    query: Query
    matches: Sequence[Match]
    forms: Sequence[Form] = ()
    written_for: str = ""  # the operand whose tile the forms have
    size_fault: str = ""

    def exit(self) -> Exit:
        """OK if the map equals, transposes or relabels one of the ISA tables, else REFUTED."""
        related = any(match.relation is not Relation.NEAREST for match in self.matches)
        return Exit.OK if related else Exit.REFUTED

    def text(self) -> str:
        """Return what the command prints."""
        return as_text(self)

    def brief(self) -> str:
        """Return which operands it is."""
        return _summary(self)


def identify_map(query: Query, wanted: Sequence[str] = ()) -> Identified:
    """Return what a map is among those of the ISA tables, written in some other forms."""
    known = catalogue.read_catalogue()
    matched = matches(query, known.of_tile(*query.placed) if query.placed else known.of_size(query.lanes, query.values))
    size_fault = "" if query.placed else sizes(query, known.sizes())
    if not wanted:
        return Identified(query, matched, size_fault=size_fault)
    from verify.identify import forms

    written, name = forms.of_query(query, matched, wanted)
    return Identified(query, matched, written, name, size_fault)


def as_text(identified: Identified, quiet: bool = False, verbose: bool = False) -> str:
    """Return the report as text: a heading for each relation, under it a line for each operand."""
    query = identified.query
    if quiet:
        return f"{query.text}: {_summary(identified)}\n"
    lines = [f"{query.text}      {query.lanes} {query.lane}s of {query.values} {query.value}s", ""]
    heading = ""
    for match in identified.matches:
        for operands, member in _alike(match.group.members):
            title = _title(match, member)
            lines += [title] if title != heading else []
            heading = title
            lines.append(f"  {operands} {_operand(match, member)}  {_families(member.mnemonics)}")
            lines += [f"    {name}" for name in member.mnemonics] if verbose else []
        lines += [f"    {text}" for text in _nearness(match, query)]
    lines += [f"in other forms{identified.written_for}"] if identified.forms else []
    for form in identified.forms:
        lines.append(f"  {form.name:<7} {form.text or f'none: {form.why}'}")
    return "\n".join([*lines, "", _summary(identified), ""])


def _title(match: Match, member: Member) -> str:
    """Return a relation in words, with the permutation of a relabelling."""
    if match.relation is Relation.RELABELS:
        axis = member.axes[match.axis]
        return f"relabels {axis} of, by {axis}' = {spell_permutation(match.numbers)}"
    return match.relation.value


def _alike(members: Sequence[Member]) -> Iterator[tuple[str, Member]]:
    """Yield the members with the operands' names, those of the same instructions as one: C and D."""
    names: dict[Member, list[str]] = {}
    for member in members:
        names.setdefault(member._replace(operand=""), []).append(member.operand)
    yield from ((", ".join(sorted(several)), member) for member, several in names.items())


def _operand(match: Match, member: Member) -> str:
    """Return an operand's tile, what its instructions choose, and at how many lanes it was compared."""
    chosen = "".join(f" with {name} = {word}" for name, word in member.select)
    lanes = match.points // match.group.values
    some = f" at the {lanes} lanes that contribute" if lanes < match.group.lanes else ""
    return f"({','.join(member.axes)}) {'x'.join(map(str, match.group.extent))}{chosen}{some}"


def _families(mnemonics: Sequence[str]) -> str:
    """Families with their shapes, and how many mnemonics each has.

    >>> _families([f"mma.sync.aligned.m16n8k8.row.col.{d}.f16.f16.{d}" for d in ("f32", "f16")])
    'mma.sync m16n8k8 (2)'
    """
    counts = Counter((key.family, key.shape or "") for key in map(list_parts, mnemonics))
    by_family: dict[str, list[str]] = {}
    for family, shape in counts:
        by_family.setdefault(family, []).append(shape)
    totals = {family: sum(n for (name, _), n in counts.items() if name == family) for family in by_family}
    listed = (" ".join(filter(None, [family, *shapes])) for family, shapes in by_family.items())
    return ", ".join(f"{text} ({count})" for text, count in zip(listed, totals.values(), strict=True))


def _nearness(match: Match, query: Query) -> Iterator[str]:
    if match.relation is not Relation.NEAREST:
        return
    how = " read as its transpose" if match.transposed else ""
    lane, value, *images = match.first
    x, y = match.group.members[0].axes
    got, right = (f"({x}={images[at]}, {y}={images[at + 1]})" for at in (0, 2))
    where = f"{query.lane} {lane}, {query.value} {value}"
    yield f"{match.agree} of {match.points} points agree{how}; {where}: map {got}, ISA {right}"


def _summary(identified: Identified) -> str:
    counts: Counter[Relation] = Counter()
    for match in identified.matches:
        counts[match.relation] += sum(len(member.mnemonics) for member in match.group.members)
    words = [f"{relation.value} {count}" for relation, count in counts.items() if relation is not Relation.NEAREST]
    if words:
        return f"{', '.join(words)} operand{'s' * (sum(counts.values()) != 1)} of the ISA tables"
    if not identified.matches:
        return identified.size_fault or "no operand of the ISA tables has this tile"
    best = identified.matches[0]
    return f"equals, transposes and relabels none: nearest {best.agree} of {best.points} points"


def as_json(identified: Identified) -> str:
    """Return the report as JSON: every match with every mnemonic."""
    query = identified.query
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "map": query.text,
        "lanes": query.lanes,
        "values": query.values,
        "matches": list(map(_match, identified.matches)),
        "forms": [form._asdict() for form in identified.forms],
        "summary": _summary(identified),
        "exit": int(identified.exit()),
    }
    return json.dumps(document, indent=1) + "\n"


def _match(match: Match) -> dict[str, Any]:
    """One match as JSON; only a relabelling has a permutation, of the axis with this number."""
    relabelled: dict[str, Any] = {}
    if match.relation is Relation.RELABELS:
        relabelled = {"axis": match.axis, "permutation": match.numbers, "layout": spell_permutation(match.numbers)}
    return {
        "relation": match.relation.name.lower(),
        "tile": match.group.extent,
        "agree": match.agree,
        "points": match.points,
        "transposed": match.transposed,
        **relabelled,
        "operands": [
            {
                "operand": member.operand,
                "axes": member.axes,
                "select": dict(member.select),
                "mnemonics": member.mnemonics,
            }
            for member in match.group.members
        ],
    }

# SPDX-License-Identifier: Apache-2.0
"""One operand of one concrete instruction: the keys of its table with its cases applied, validated.

Main declarations: `OperandEntry`, one operand with its numbers computed; `entries(variant)`, all of an instruction;
`combinations(variant, operands)`, the types that its operands may have together; `number`, the value of a number that
a table writes as a formula of the parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from isa_tables import schema
from isa_tables.errors import TableError
from isa_tables.tables import Table, Variant, Word, expand

Number = int | str  # as in the file: a text is a formula of the parameters
_NUMBERS = ("bits", "values", "regs", "copies", "shift")  # and the two of `extent`


@dataclass(frozen=True, slots=True)
class Fragment:
    """One operand's part in one lane: type, registers and packing.

    Element i of a lane is in register i // per_register, in the bits
    (i % per_register) * bits + shift and up; element 0 is the lowest. `bits` is the room of an element
    in its register, which `.kind::f8f6f4` makes wider than the element.
    """

    type: str  # the element's PTX type; only its width, b16, where a descriptor chooses it (`Signature.types`)
    bits: int  # bits of register per element
    values: int  # elements per lane
    regs: int  # registers per lane
    reg_type: str  # b32, f32, f64 or s32; b64 for a descriptor
    extent: tuple[int, int]  # rows and columns of the tile: A (m, k), B (k, n), C and D (m, n)
    copies: int = 1  # how many (lane, i) have each element, contributing or not; of an operand with places, how many
    shift: int = 0  # unused bits below the first element (e2m1 in a byte: 2; the high half of dp2a's b: 16)
    space: str = "reg"  # reg, smem, gmem or tmem; in memory, the registers have an address
    axes: tuple[str, str] = ("row", "col")  # what the two coordinates are: m, n, k, bit, lane, column, ...

    @property
    def per_register(self) -> int:
        """Elements in one register."""
        return self.values // self.regs


class OperandEntry(NamedTuple):
    """One operand of one concrete instruction, its numbers computed, its formulas left as text."""

    key: str  # the name of its table in the file: "A"; "C" for a D without a table
    fragment: Fragment  # its type, registers and extents
    counts: Mapping[str, Number]  # the numbers as the file gives them
    let: Mapping[str, str]  # named parts of the formulas
    maps: Mapping[str, str]  # formulas by key: row, col and holds, or the coordinates of `place`
    placed: bool  # whether the maps go from the tile to the space, not from lane and value to the tile
    layouts: str | None  # the file of address maps of an operand in shared memory
    majors: tuple[str, ...]  # the majors that it may have there
    unspecified: bool  # the ISA leaves the map open
    unmapped: str  # why the table has no map; empty where it has one
    asm: str  # the operand in the assembly text: {A} for its registers
    provenance: str  # "ISA text", "corrected", "derived: from what" or "observed: what showed it"
    printed: Mapping[str, str]  # of a corrected formula: what the ISA prints
    erratum: str | None  # of a corrected formula: what is wrong in the ISA

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:
        return id(self)  # variants share entries: what is made of one is kept for it


def entries(variant: Variant) -> dict[str, OperandEntry]:
    """Every operand of the variant, in the order of the assembly text."""
    return {name: entry(variant, name) for name in variant.operands}


def entry(variant: Variant, operand: str) -> OperandEntry:
    """Return the operand's keys for this variant, validated; a D without a table has C's.

    Variants that agree in everything that the table depends on share one entry.
    """
    used = _list_used_words(variant.table, operand)
    key = (variant.types[operand], *map(variant.words.get, used.names))
    shared = used.entries.get(key)
    if shared is None:
        shared = used.entries[key] = _entry(variant, operand)
    return shared


class _Used(NamedTuple):
    """The words that an operand's table depends on besides the type, and the entries by type and words."""

    names: tuple[str, ...]
    entries: dict[tuple[Word | None, ...], OperandEntry]


@lru_cache(maxsize=1024)
def _list_used_words(table: Table, operand: str) -> _Used:
    """Return the words that appear in the conditions of the operand's cases and in the formulas of its numbers."""
    described = table.operands[table.describing(operand)]
    names: set[str] = set()
    for keys in (described, *described.get("case", ())):
        names.update(keys.get("when", ()))
        numbers = chain((keys.get(key) for key in _NUMBERS), keys.get("extent", ()))
        names.update(*(schema.NAME.findall(value) for value in numbers if isinstance(value, str)))
    return _Used(tuple(sorted(names)), {})


def _entry(variant: Variant, operand: str) -> OperandEntry:
    file, name = variant.table.file, variant.table.describing(operand)
    keys = _with_case(variant, operand, name)
    schema.require(keys, file, name, ("bits", "extent", "provenance"))
    maps, placed = _maps(keys, file, name)
    raw, counts = _counts(keys, variant, name, placed or "layouts" in keys or "unmapped" in keys)
    given: str = keys.get("type", "{}")
    kind = variant.types[operand] if "{" in given else given
    own = kind if keys.get("space", "reg") == "reg" and kind in ("f32", "f64", "s32") else "b32"
    axes = keys.get("axes", schema.AXES.get(operand))
    if axes is None:
        raise TableError(file, f"{name}.axes", "this key is missing: what the two coordinates are")
    fragment = Fragment(
        type=kind,
        space=keys.get("space", "reg"),
        reg_type=keys.get("reg_type", own),
        extent=(counts.pop("rows"), counts.pop("cols")),
        axes=(axes[0], axes[1]),
        **counts,
    )
    operand_entry = OperandEntry(
        key=name,
        fragment=fragment,
        counts=raw,
        let={**({} if placed else variant.table.let), **keys.get("let", {})},
        maps=maps,
        placed=placed,
        layouts=keys.get("layouts"),
        majors=tuple(keys.get("majors", ())),
        unspecified=keys.get("unspecified", False),
        unmapped=keys.get("unmapped", ""),
        asm=keys.get("asm", f"{{{operand}}}"),
        provenance=keys["provenance"],
        printed=keys.get("printed", {}),
        erratum=keys.get("erratum"),
    )
    _check_entry(operand_entry, variant)
    return operand_entry


def _counts(
    keys: Mapping[str, Any], variant: Variant, name: str, whole: bool
) -> tuple[dict[str, Number], dict[str, int]]:
    """Return the operand's numbers as the file gives them, and computed; `whole`: every lane sees the whole tile."""
    file, registers = variant.table.file, keys.get("space", "reg") == "reg"
    raw: dict[str, Number] = {"bits": keys["bits"], "rows": keys["extent"][0], "cols": keys["extent"][1]}
    if not whole:
        schema.require(keys, file, name, ("values", *(["regs"] if registers else [])))
        raw["values"] = keys["values"]
    raw |= {"regs": keys.get("regs", 1), "copies": keys.get("copies", 1), "shift": keys.get("shift", 0)}
    counts = {key: number(value, variant, f"{name}.{key}", key != "shift") for key, value in raw.items()}
    if whole:
        counts["values"] = counts["rows"] * counts["cols"]
        if "copies" not in keys:
            counts["copies"] = variant.table.lanes
    elif keys.get("unspecified", False):
        counts["copies"] = variant.table.lanes * counts["values"] // (counts["rows"] * counts["cols"])
    return raw, counts


def _with_case(variant: Variant, operand: str, name: str) -> dict[str, Any]:
    """Return the keys of the operand's table and of the cases that apply; no two cases may give the same key."""
    file, table = variant.table.file, variant.table.operands[name]
    said_of = {**variant.words, "type": variant.types[operand]}
    keys = {key: value for key, value in table.items() if key != "case"}
    given: dict[str, int] = {}  # key -> the case that gives it
    for index, case in enumerate(table.get("case", ())):
        if _applies(case["when"], said_of, file, f"{name}.case[{index}].when"):
            twice = next((key for key in case if key in given), None)
            if twice is not None:
                reason = f"both case[{given[twice]}] and case[{index}] give {twice!r} to {variant.mnemonic}"
                raise TableError(file, f"{name}.case", reason)
            given |= {key: index for key in case if key != "when"}
            keys |= {key: value for key, value in case.items() if key != "when"}
    return keys


def combinations(variant: Variant, operands: Mapping[str, OperandEntry]) -> tuple[dict[str, str], ...]:
    """Every combination of types that the operands of a variant may have together, as its table lists them."""
    given = {name: operand_entry.fragment.type for name, operand_entry in operands.items()}
    file, choices = variant.table.file, variant.table.descriptor
    if not choices:
        return (given,)
    paths = [f"descriptor[{number}]" for number in range(len(choices))]
    here = [
        (choice, f"{path}.types")
        for path, choice in zip(paths, choices, strict=True)
        if _applies(choice.get("when", {}), variant.words, file, f"{path}.when")
    ]
    if len(here) != 1:
        raise TableError(file, "descriptor", f"{len(here)} apply to {variant.mnemonic}, it must be one")
    choice, path = here[0]
    combined = []
    for row, types in expand(choice["types"], choice.get("operands", schema.DESCRIBED), file, path):
        for name, word in types.items():
            if name not in operands or schema.WIDTH[word] > operands[name].fragment.bits:
                has = f"has {operands[name].fragment.bits} bits" if name in operands else "isn't an operand"
                raise TableError(file, path, f"{row}: {name} of {variant.mnemonic} {has}")
        combined.append({**given, **types})
    return tuple(combined)


def _applies(when: Mapping[str, Any], said_of: Mapping[str, Word], file: str, path: str) -> bool:
    for key, wanted in when.items():
        if key not in said_of:
            raise TableError(file, f"{path}.{key}", f"unknown (known here: {', '.join(said_of)})")
        if said_of[key] not in (wanted if isinstance(wanted, list) else [wanted]):
            return False
    return True


def _maps(keys: Mapping[str, Any], file: str, name: str) -> tuple[dict[str, str], bool]:
    """Return the operand's formulas, and whether they are a `place`. An operand has one kind of map or none."""
    has = [kind for kind in ("row", "place", "layouts", "unspecified", "unmapped") if keys.get(kind)]
    if len(has) > 1:
        raise TableError(
            file, f"{name}.{has[1]}", f"cannot be combined with {has[0]!r}: an operand has one kind of map"
        )
    if not has or has == ["row"]:
        schema.require(keys, file, name, ("row", "col"))
        return {key: keys[key] for key in ("row", "col", "holds") if key in keys}, False
    for key in ("col", "holds"):
        if key in keys:
            raise TableError(file, f"{name}.{key}", f"has no meaning with {has[0]!r}: remove one of them")
    if "cta" in keys and has != ["layouts"]:
        raise TableError(file, f"{name}.cta", f"has no meaning with {has[0]!r}: remove one of them")
    beside = {"cta": keys["cta"]} if "cta" in keys else {}
    return {**keys.get("place", {}), **beside}, has == ["place"]


def number(value: Number, variant: Variant, key: str, positive: bool = True) -> int:
    """Return the value of a table's number: itself, or of a text the formula evaluated with the variant's parameters.

    Raises TableError for a text that isn't a formula, and for a value below 1 (below 0 unless `positive`).
    """
    if isinstance(value, int):
        return value
    from isa_tables.formula import evaluate
    from isa_tables.formula_parser import parse_in

    computed: int = evaluate(parse_in(variant.table.file, key, value, {}, variant.numbers).tree, {})
    if computed < positive:
        raise TableError(variant.table.file, key, f"{value!r} is {computed} for {variant.mnemonic}")
    return computed


def _check_entry(entry: OperandEntry, variant: Variant) -> None:
    """Raise TableError unless the numbers of the operand agree with each other."""
    file, lanes, (rows, cols) = variant.table.file, variant.table.lanes, entry.fragment.extent
    part = entry.fragment
    _check_provenance(entry, file)
    if part.values % part.regs:
        reason = f"{part.values} values do not divide into {part.regs} registers"
        raise TableError(file, f"{entry.key}.regs", reason)
    width, packed = schema.WIDTH[part.type], part.values // part.regs
    room = max(32, width)
    overflow = part.space == "reg" and max((packed - 1) * part.bits + part.shift + width, part.bits) > room
    if width > part.bits or overflow:
        reason = f"{packed} x {part.type} in {part.bits} bits each overflow a {room}-bit register"
        raise TableError(file, f"{entry.key}.bits", reason)
    counted = not (entry.placed or entry.unmapped)  # the table states the copies of a place, they are not counted
    if counted and lanes * part.values != rows * cols * part.copies:
        reason = f"{lanes} lanes x {part.values} values is not {part.copies} x {rows}x{cols} elements"
        raise TableError(file, f"{entry.key}.values", reason)


def _check_provenance(entry: OperandEntry, file: str) -> None:
    kind, _, source = entry.provenance.partition(":")
    if kind not in schema.PROVENANCES:
        reason = f"must be one of {', '.join(schema.PROVENANCES)}, not {entry.provenance!r}"
        raise TableError(file, f"{entry.key}.provenance", reason)
    if kind in schema.SOURCED and not source.strip():
        raise TableError(file, f"{entry.key}.provenance", f'name the source: "{kind}: ..."')
    if kind == "corrected" and entry.erratum is None:
        raise TableError(file, f"{entry.key}.erratum", "this key is missing: what is wrong in the ISA")
    if kind == "corrected" and not entry.printed:
        raise TableError(file, f"{entry.key}.printed", "this key is missing: what the ISA prints")

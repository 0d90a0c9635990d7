# SPDX-License-Identifier: Apache-2.0
"""Reading the table files: one TOML file per instruction shape and element group, formulas left as text.

A file is named after what it holds, `<instruction>[_<shape>][_<element group>].toml`: a look-up reads only
the files that can answer it. A file with several shapes leaves the shape out of its name.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

from isa_tables import schema
from isa_tables.errors import TableError
from isa_tables.mnemonic import Said, is_shape, said

SHIPPED = Path(__file__).parent / "ptx"
MAX_BYTES = 1 << 20
Word = str | int


@dataclass(frozen=True, slots=True)
class Entry:
    """One operand of one concrete instruction: the keys of its table, its case applied."""

    key: str  # where it stands in the file: "A"
    type: str
    values: int
    bits: int
    regs: int
    extent: tuple[int, int]
    copies: int
    shift: int
    let: Mapping[str, str]
    row: str
    col: str
    provenance: str
    printed: Mapping[str, str]
    erratum: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """One file, checked against the schema."""

    file: str
    isa: str
    section: str
    lanes: int
    product: str
    let: Mapping[str, str]
    errata: tuple[str, ...]
    forms: tuple[Mapping[str, Any], ...]
    operands: Mapping[str, Mapping[str, Any]]  # A, B and C (which also is D), as in the file


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """One concrete instruction of a table: a form with its types and parameters chosen."""

    table: Table
    mnemonic: str
    types: Mapping[str, str]
    param: Mapping[str, Word]
    targets: tuple[str, ...]
    ptx: str


def read(path: Path) -> Table:
    """The table in a file. Raises TableError when it is not TOML or breaks the schema."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise TableError(str(path), "", f"larger than {MAX_BYTES} bytes")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TableError(str(path), "", f"cannot be read: {error}") from None
    return _read(str(path), text)


@lru_cache(maxsize=256)
def _read(file: str, text: str) -> Table:
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise TableError(file, "", f"not TOML: {error}") from None
    listed = "form" in data
    if not listed:  # a file with one form may write it at the top
        data["form"] = [{key: data.pop(key) for key in schema.FORM if key in data}]
    schema.check(data, schema.FILE, file, "", ("schema", "isa", "section", "lanes", "A", "B", "C"))
    if data["schema"] != 1:
        raise TableError(file, "schema", f"only schema 1 is known, not {data['schema']}")
    for number, form in enumerate(data["form"]):
        path = f"form[{number}]" if listed else ""
        schema.check(form, schema.FORM, file, path, ("mnemonic", "types", "targets"))
    for name in "ABC":
        _check_operand(data[name], file, name)
    return Table(
        file=file,
        isa=data["isa"],
        section=data["section"],
        lanes=data["lanes"],
        product=data.get("product", "0"),
        let=data.get("let", {}),
        errata=tuple(data.get("errata", ())),
        forms=tuple(data["form"]),
        operands={name: data[name] for name in "ABC"},
    )


def _check_operand(operand: Mapping[str, Any], file: str, name: str) -> None:
    schema.check(operand, {**schema.ENTRY, "case": schema.TABLES}, file, name)
    for number, case in enumerate(operand.get("case", ())):
        kinds = {**schema.ENTRY, "when": schema.CONDITIONS}
        schema.check(case, kinds, file, f"{name}.case[{number}]", ("when",))


def entry(variant: Variant, operand: str) -> Entry:
    """The operand's keys for this variant, checked; D is described where C is, with its own type."""
    file, name = variant.table.file, "C" if operand == "D" else operand
    said_of = {**variant.param, "type": variant.types[operand]}
    keys = {key: value for key, value in variant.table.operands[name].items() if key != "case"}
    chosen: int | None = None
    for number, case in enumerate(variant.table.operands[name].get("case", ())):
        if _applies(case["when"], said_of, file, f"{name}.case[{number}].when"):
            if chosen is not None:
                reason = f"both case[{chosen}] and case[{number}] apply to {variant.mnemonic}"
                raise TableError(file, f"{name}.case", reason)
            chosen = number
            keys |= {key: value for key, value in case.items() if key != "when"}
    required = ("values", "bits", "regs", "extent", "row", "col", "provenance")
    schema.check(keys, schema.ENTRY, file, name, required)
    rows, cols = keys.pop("extent")
    defaults = {"copies": 1, "shift": 0, "printed": {}, "erratum": None}
    let = {**variant.table.let, **keys.pop("let", {})}
    found = Entry(name, variant.types[operand], extent=(rows, cols), let=let, **{**defaults, **keys})
    _check_entry(found, variant)
    return found


def _applies(when: Mapping[str, Any], said_of: Mapping[str, Word], file: str, path: str) -> bool:
    for key, wanted in when.items():
        if key not in said_of:
            raise TableError(file, f"{path}.{key}", f"unknown (known here: {', '.join(said_of)})")
        if said_of[key] not in (wanted if isinstance(wanted, list) else [wanted]):
            return False
    return True


def _check_entry(entry: Entry, variant: Variant) -> None:
    """The numbers of one operand must agree with each other."""
    file, lanes, rows, cols = variant.table.file, variant.table.lanes, *entry.extent
    _check_provenance(entry, file)
    if entry.values % entry.regs:
        reason = f"{entry.values} values do not divide into {entry.regs} registers"
        raise TableError(file, f"{entry.key}.regs", reason)
    width, held = schema.WIDTH[entry.type], entry.values // entry.regs
    room = max(32, width)
    if width > entry.bits or (held - 1) * entry.bits + entry.shift + width > room:
        reason = f"{held} x {entry.type} in {entry.bits} bits each overflow a {room}-bit register"
        raise TableError(file, f"{entry.key}.bits", reason)
    if lanes * entry.values != rows * cols * entry.copies:
        reason = f"{lanes} lanes x {entry.values} values is not {entry.copies} x {rows}x{cols} elements"
        raise TableError(file, f"{entry.key}.values", reason)


def _check_provenance(entry: Entry, file: str) -> None:
    kind, _, source = entry.provenance.partition(":")
    if kind not in schema.PROVENANCES:
        reason = f"must be one of {', '.join(schema.PROVENANCES)}, not {entry.provenance!r}"
        raise TableError(file, f"{entry.key}.provenance", reason)
    if kind == "derived" and not source.strip():
        raise TableError(file, f"{entry.key}.provenance", 'say from what: "derived: ..."')
    if kind == "corrected" and entry.erratum is None:
        raise TableError(file, f"{entry.key}.erratum", "this key is missing: what is wrong in the ISA")
    if kind == "corrected" and not entry.printed:
        raise TableError(file, f"{entry.key}.printed", "this key is missing: what the ISA prints")


@lru_cache(maxsize=256)
def variants(table: Table) -> Mapping[Said, Variant]:
    """Every concrete instruction of a table, by what its mnemonic says."""
    found: dict[Said, Variant] = {}
    for form in table.forms:
        for variant in _expand(table, form):
            key = said(variant.mnemonic)
            if key in found:
                raise TableError(table.file, "mnemonic", f"{variant.mnemonic} is described twice")
            found[key] = variant
    return found


def _expand(table: Table, form: Mapping[str, Any]) -> Iterator[Variant]:
    param: Mapping[str, list[Word]] = form.get("param", {})
    for row in form["types"]:
        for types in product(*([item] if isinstance(item, str) else item for item in row)):
            named = dict(zip(schema.OPERANDS, types, strict=True))
            for name, word in named.items():
                if word not in schema.WIDTH:
                    reason = f"{word!r} is not a PTX element type ({name} of {row})"
                    raise TableError(table.file, "types", reason)
            for words in product(*param.values()):
                chosen = dict(zip(param, words, strict=True))
                mnemonic = _spell(table, form, named, chosen)
                targets = tuple(form["targets"])
                yield Variant(table, mnemonic, named, chosen, targets, form.get("ptx", table.isa))


def _spell(table: Table, form: Mapping[str, Any], types: Mapping[str, str], param: Mapping[str, Word]) -> str:
    spelling: Mapping[str, str] = form.get("spelling", {})
    words = {**param, **{name: spelling.get(word, word) for name, word in types.items()}}

    def word(match: re.Match[str]) -> str:
        if match[1] not in words:
            reason = f"unknown placeholder {match[0]} (known here: {', '.join(words)})"
            raise TableError(table.file, "mnemonic", reason, form["mnemonic"], match.start() + 1)
        return str(words[match[1]])

    mnemonic = re.sub(r"\{(.*?)\}", word, form["mnemonic"])
    _check_name(table.file, said(mnemonic), mnemonic)
    return mnemonic


def _check_name(file: str, key: Said, mnemonic: str) -> None:
    if not may_hold(Path(file), key):
        start = "_".join(filter(None, (key.head, key.shape)))
        raise TableError(file, "mnemonic", f"a file that holds {mnemonic} must be named {start}[_...].toml")


def may_hold(path: Path, key: Said) -> bool:
    """Whether a file's name lets it hold such an instruction."""
    head, *rest = path.stem.split("_")
    shape = next(filter(is_shape, rest[:1]), None)
    return head == key.head and shape in (None, key.shape)


def files(folder: Path) -> list[Path]:
    """The table files of a folder, sorted."""
    return sorted(folder.glob("*.toml"))

# SPDX-License-Identifier: Apache-2.0
"""The reader of table files: one TOML file per instruction shape and element group, formulas left as text.

A file is named after its instructions, `<instruction>[_<shape>][_<element group>].toml`: a look-up reads only
the files whose names fit. A file with several shapes leaves the shape out of its name, or writes it with
the N of a family: `wgmma_m64nNk16_16b.toml`. Sparse and block-scaled instructions have files of their own,
`mma.sp_...` and `mma.block-scale_...`.

Main declarations: `read(path)` returns a `Table`, `variants(table)` its instructions, each a `Variant` with types and
parameters chosen; `files(folder, key)` lists the files that may have an instruction.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from isa_tables import schema
from isa_tables.errors import TableError, together
from isa_tables.mnemonic import Said, is_shape, list_parts

SHIPPED = Path(__file__).parent / "ptx"
SUFFIX = ".toml"
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
MAX_BYTES = 1 << 20  # of one table: the largest shipped one has 37 kB
MAX_VARIANTS = 1 << 16  # of one form
Word = str | int


class Sparsity(NamedTuple):
    """The meaning of metadata: a field of four bits for each `columns` columns of A selects the stored ones."""

    columns: int
    kept: Mapping[int, tuple[int, ...]]  # field -> columns, in the order in which they are stored

    def __hash__(self) -> int:
        return hash((self.columns, *self.kept.items()))


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """One file, checked against the schema."""

    file: str  # the path of the file
    isa: str  # the PTX ISA version that it cites
    section: str  # of the ISA
    lanes: int  # threads that share one instruction
    product: str | None  # formula of a lane: the number of the matrix product that it works for
    let: Mapping[str, str]  # names for all its formulas
    errata: tuple[str, ...]  # what the section prints wrongly or leaves out
    forms: tuple[Mapping[str, Any], ...]  # its [[form]] tables, `param` of the file included
    operands: Mapping[str, Mapping[str, Any]]  # as in the file
    sparsity: Sparsity | None  # the meaning of metadata
    addresses: Mapping[str, str]  # name in the assembly text -> space
    part: bool  # the ISA has more of the family
    descriptor: tuple[Mapping[str, Any], ...]  # the types that a descriptor may choose together

    def describing(self, operand: str) -> str:
        """Return the name of the table that describes an operand: its own, or C's for a D without one."""
        return operand if operand in self.operands or operand != "D" else "C"


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """One concrete instruction of a table: a form with its types and parameters chosen."""

    table: Table  # that has it
    mnemonic: str  # as the table writes it
    said: Said  # the parts of the mnemonic
    operands: tuple[str, ...]  # names, in the order of the assembly text
    types: Mapping[str, str]  # operand -> PTX type
    param: Mapping[str, Word]  # parameters of the form -> values
    select: Mapping[str, tuple[Word, ...]]  # what the assembly text may choose
    chosen: Mapping[str, Word]  # and what it chooses; by default the first of each list
    asm: str  # the operands in the assembly text, with placeholders
    targets: tuple[str, ...]  # where it exists: "sm_80+", "sm_120a"
    ptx: str  # the first PTX ISA version that has it
    ctas: int | str  # CTAs that work together, or a formula of it
    shape: str | None  # the shape qualifier, parameters by name: m64nNk16

    @property
    def words(self) -> Mapping[str, Word]:
        """Parameters and selections by name."""
        return {**self.param, **self.chosen}

    @property
    def numbers(self) -> Mapping[str, int]:
        """The words that are numbers, which formulas may use."""
        return {name: word for name, word in self.words.items() if isinstance(word, int)}


def text_of(path: Path) -> str:
    """Return the text of a file. Raises TableError when it is too large or cannot be read."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise TableError(str(path), "", f"larger than {MAX_BYTES} bytes")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TableError(str(path), "", f"cannot be read: {error}") from None


def parse_tables(file: str, text: str) -> dict[str, Any]:
    """Return the TOML tables of a file with `schema = 1`."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # TOMLDecodeError, and an int() of too many digits
        raise TableError(file, "", f"not TOML: {error}") from None


def check_schema(data: Mapping[str, Any], file: str) -> None:
    """Raise TableError unless the file has schema 1."""
    if data["schema"] != 1:
        raise TableError(file, "schema", f"only schema 1 is known, not {data['schema']}")


def read_table(path: Path) -> Table:
    """Return the table in a file. Raises TableError when it is not TOML or breaks the schema."""
    return _read_shipped(path.name) if path.parent == SHIPPED else _read_table(str(path), text_of(path))


@cache
def _read_shipped(name: str) -> Table:
    """Return a shipped table, cached: it does not change while a process runs, a user's file may."""
    return _read_table(str(SHIPPED / name), text_of(SHIPPED / name))


@lru_cache(maxsize=256)
def _read_table(file: str, text: str) -> Table:
    data = parse_tables(file, text)
    operands = {name: data.pop(name) for name in list(data) if schema.OPERAND.fullmatch(name)}
    listed = "form" in data
    if not listed:  # a file with one form may write it at the top
        data["form"] = [{key: data.pop(key) for key in schema.keys()["form"] if key in data}]
    _check(data, operands, listed, file)
    table = Table(
        file=file,
        isa=data["isa"],
        section=data["section"],
        lanes=data["lanes"],
        product=data.get("product"),
        let=data.get("let", {}),
        errata=tuple(data.get("errata", ())),
        forms=tuple({**form, "param": {**data.get("param", {}), **form.get("param", {})}} for form in data["form"]),
        operands=operands,
        sparsity=_sparsity(data, file),
        addresses=data.get("addresses", {}),
        part=data.get("part", False),
        descriptor=tuple(data.get("descriptor", ())),
    )
    _check_listed(table)
    return table


def _check(data: Mapping[str, Any], operands: Mapping[str, Any], listed: bool, file: str) -> None:
    """Raise TableError, with all errors, unless the file obeys the schema."""
    errors: list[TableError] = []

    def check(table: Any, kinds: Mapping[str, schema.Constraint], path: str, required: tuple[str, ...] = ()) -> bool:
        try:
            schema.check(table, kinds, file, path, required)
        except TableError as error:
            errors.extend(error.errors)
            return False
        return True

    if check(data, schema.keys()["file"], "", ("schema", "isa", "section", "lanes")):
        check_schema(data, file)
        for number, form in enumerate(data["form"]):
            check(form, schema.keys()["form"], f"form[{number}]" if listed else "", ("mnemonic", "targets"))
        for number, choice in enumerate(data.get("descriptor", ())):
            check(choice, schema.keys()["descriptor"], f"descriptor[{number}]", ("types",))
    for name, operand in operands.items():
        known = {**schema.keys()["operand"], "case": schema.KINDS["tables"]}
        if check({name: operand}, {name: schema.KINDS["table"]}, "") and check(operand, known, name):
            for number, case in enumerate(operand.get("case", ())):
                kinds = {**schema.keys()["operand"], "when": schema.KINDS["conditions"]}
                check(case, kinds, f"{name}.case[{number}]", ("when",))
    if errors:
        raise together(errors)


def _sparsity(data: Mapping[str, Any], file: str) -> Sparsity | None:
    if "sparsity" not in data:
        return None
    table = data["sparsity"]
    schema.check(table, schema.keys()["sparsity"], file, "sparsity", ("columns", "kept"))
    for field, columns in table["kept"].items():
        inside = all(0 <= column < table["columns"] for column in columns)
        good = inside and columns == sorted({*columns}) and 2 * len(columns) == table["columns"]
        if not field.isdecimal() or int(field) >= 16 or not good:
            raise TableError(file, f"sparsity.kept.{field}", f"{columns} are not half of {table['columns']} columns")
    return Sparsity(table["columns"], {int(field): tuple(kept) for field, kept in table["kept"].items()})


def _check_listed(table: Table) -> None:
    """Raise TableError unless the operands that forms list are exactly those that have a table."""
    listed = {table.describing(name) for form in table.forms for name in form.get("operands", schema.OPERANDS)}
    for name in sorted(listed - table.operands.keys()):
        raise TableError(table.file, name, "this operand is not described")
    for name in table.operands:
        if name not in listed:
            raise TableError(table.file, name, f"unknown operand (listed here: {', '.join(sorted(listed))})")


@lru_cache(maxsize=256)
def variants(table: Table) -> Mapping[Said, tuple[Variant, ...]]:
    """Every instruction of a table by the parts of its mnemonic; several where they differ only in selections."""
    by_parts: dict[Said, tuple[Variant, ...]] = {}
    for form in table.forms:
        for number, variant in enumerate(_expand(table, form)):
            if number == MAX_VARIANTS:
                raise TableError(table.file, "mnemonic", f"{form['mnemonic']} makes more than {number} instructions")
            before = by_parts.get(variant.said, ())
            if any(_overlap(variant, earlier) for earlier in before):
                raise TableError(table.file, "mnemonic", f"{variant.mnemonic} is described twice")
            by_parts[variant.said] = (*before, variant)
    return by_parts


def _overlap(left: Variant, right: Variant) -> bool:
    return all(set(words) & set(right.select.get(name, words)) for name, words in left.select.items())


def _expand(table: Table, form: Mapping[str, Any]) -> Iterator[Variant]:
    operands = tuple(form.get("operands", schema.OPERANDS))
    param: Mapping[str, list[Word]] = form["param"]
    select = {name: tuple(words) for name, words in form.get("select", {}).items()}
    for name in (*param, *select):
        if name in operands or (name in param and name in select):
            raise TableError(table.file, "param" if name in param else "select", f"{name!r} is a name already")
    first = {name: words[0] for name, words in select.items()}
    asm = form.get("asm", ", ".join(f"{{{name}}}" for name in operands))
    targets, ptx, ctas = tuple(form["targets"]), form.get("ptx", table.isa), form.get("ctas", 1)
    shape = _shape(form["mnemonic"])
    for types in _types(table, form.get("types", [[]]), operands):
        for words in product(*param.values()):
            chosen = dict(zip(param, words, strict=True))
            key, mnemonic = _write_value(table, form, types, chosen)
            yield Variant(table, mnemonic, key, operands, types, chosen, select, first, asm, targets, ptx, ctas, shape)


def _shape(template: str) -> str | None:
    """Return the shape qualifier of a mnemonic with parameters, each written as its name.

    >>> _shape("wgmma.mma_async.sync.aligned.m64n{N}k16.{D}.{A}.{B}")
    'm64nNk16'
    """
    return next(filter(is_shape, re.sub(r"[{}]", "", template).split(".")), None)


def _types(table: Table, rows: list[list[Any]], operands: tuple[str, ...]) -> Iterator[dict[str, str]]:
    """Yield the type of each operand, for every combination that the rows of `types` list."""
    given = {name: table.operands[table.describing(name)].get("type") for name in operands}
    open_ = [name for name, text in given.items() if text is None]
    for row, named in expand(rows, open_, table.file, "types"):
        for name, text in given.items():
            if text is not None:
                named[name] = fill(table.file, f"{name}.type", text, named)
        for name, word in named.items():
            _check_type(word, name, row, table.file, "types")
        yield named


def expand(
    rows: Iterable[Sequence[Any]], operands: Sequence[str], file: str, key: str
) -> Iterator[tuple[Sequence[Any], dict[str, str]]]:
    """Every combination of types that rows list, a list in a row meaning each of its members; each with its row.

    Raises TableError for a row that is not one type for each operand, and for a word that isn't a type.
    """
    for row in rows:
        if len(row) != len(operands):
            raise TableError(file, key, f"{row} must be a list of [{', '.join(operands)}]")
        for types in product(*([item] if isinstance(item, str) else item for item in row)):
            for name, word in zip(operands, types, strict=True):
                _check_type(word, name, row, file, key)
            yield row, dict(zip(operands, types, strict=True))


def _check_type(word: str, operand: str, row: Sequence[Any], file: str, key: str) -> None:
    if word not in schema.WIDTH:
        raise TableError(file, key, f"{word!r} is not a PTX element type ({operand} of {row})")


def fill(file: str, key: str, template: str, words: Mapping[str, Word]) -> str:
    """Return a text with its {name} placeholders replaced. Raises TableError for a name that is not known.

    >>> fill("f.toml", "mnemonic", "mma.m64n{N}k16.{D}", {"N": 8, "D": "f32"})
    'mma.m64n8k16.f32'
    """

    def word(match: re.Match[str]) -> str:
        if match[1] not in words:
            reason = f"unknown placeholder {match[0]} (known here: {', '.join(words)})"
            raise TableError(file, key, reason, template, match.start() + 1)
        return str(words[match[1]])

    return _PLACEHOLDER.sub(word, template)


def _write_value(
    table: Table, form: Mapping[str, Any], types: Mapping[str, str], param: Mapping[str, Word]
) -> tuple[Said, str]:
    written: Mapping[str, str] = form.get("spelling", {})
    words = {**param, **{name: written.get(word, word) for name, word in types.items()}}
    mnemonic = fill(table.file, "mnemonic", form["mnemonic"], words)
    key = list_parts(mnemonic)
    if not may_have(table.file, key.stem, key.shape):
        start = "_".join(filter(None, (key.stem, key.shape)))
        raise TableError(table.file, "mnemonic", f"a file with {mnemonic} must be named {start}[_...].toml")
    return key, mnemonic


@lru_cache(maxsize=4096)
def may_have(path: str, stem: str, shape: str | None) -> bool:
    """Whether a file of this name may have an instruction of this stem and shape.

    >>> may_have("wgmma_m64nNk16_16b.toml", "wgmma", "m64n8k16"), may_have("mma_m8n8k4_f64.toml", "mma", "m16n8k8")
    (True, False)
    """
    named, *rest = os.path.basename(path).removesuffix(SUFFIX).split("_")
    if named != stem:
        return False
    own = next(filter(is_shape, rest[:1]), shape)
    return own == shape or (own is not None and re.fullmatch(own.replace("N", r"\d+"), shape or "") is not None)


def files(folder: Path, key: Said | None = None) -> Sequence[Path]:
    """Return the table files of a folder, sorted; with a key, those that may have its instruction."""
    if key is None:
        return [folder / name for name in (_shipped_names() if folder == SHIPPED else _names(folder))]
    if folder == SHIPPED:
        return _shipped_candidates(key.stem, key.shape)
    return _candidates(folder, _names(folder), key.stem, key.shape)


def _candidates(folder: Path, names: Sequence[str], stem: str, shape: str | None) -> tuple[Path, ...]:
    starts = (f"{stem}_", f"{stem}{SUFFIX}")  # a quick test that rules most names out
    return tuple(folder / name for name in names if name.startswith(starts) and may_have(name, stem, shape))


def _names(folder: Path) -> list[str]:
    return sorted(name for name in os.listdir(folder) if name.endswith(SUFFIX)) if folder.is_dir() else []


@cache
def _shipped_names() -> list[str]:
    return _names(SHIPPED)


@lru_cache(maxsize=1024)
def _shipped_candidates(stem: str, shape: str | None) -> tuple[Path, ...]:
    return _candidates(SHIPPED, _shipped_names(), stem, shape)

# SPDX-License-Identifier: Apache-2.0
"""Specs of index arithmetic, as users write them: by options of the command, or as tables of a TOML file.

The fields of `OperandSpec` are the keys of one operand; `IndexSpec` is an instruction with one operand or several. A
file has one table for each instruction, parsed and never executed:

["accumulators"]
ptx     = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
lang    = "c"
operand = "C"
row     = "lane/4 + 8*(i/2)"
col     = "lane%4*2 + i%2"

["a warp's product"]
ptx  = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
lang = "python"
let  = { g = "lane >> 2", t = "lane & 3" }
A = { row = "g + 8*(i >> 1 & 1)", col = "t*2 + (i & 1) + 8*(i >> 2)" }
B = { table = "b.csv" }
C = { bases = "{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]}" }
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.core.errors import SpecError
from verify.core.files import read_keys
from verify.core.python_files import find_colon
from verify.core.specs import Key, key, keys, require

if TYPE_CHECKING:
    from layouts.toml.entry import Entry

REPLAY = ("lanecheck", "index")
FUNCTION = re.compile(r"(?P<file>.+\.py)::(?P<function>[^\W\d]\w*(?:\.[^\W\d]\w*)*)")
OPERAND = re.compile(r"[A-Z][A-Z0-9]{0,7}")
FORMS: tuple[tuple[str, ...], ...] = (
    ("row", "col"),
    ("lane", "value"),
    ("table",),
    ("bases",),
    ("function",),
    ("inverse",),
)
PLACE = ("cta", "lane", "column", "byte")  # of an operand in memory: those of them that it has
CALLED = frozenset({"function", "inverse"})  # whose code is run
AXES = ("m", "n", "k")
LANGUAGES = ("c", "python")
SHARED = (
    "ptx",
    "select",
    "relabel",
    "lang",
    "type",
    "values",
    "let",
)  # keys that all operands of an entry have in common


def text(value: object) -> str:
    """Return the value, a text that is not blank; raises ValueError for anything else."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"expected a text, found {value!r:.60}")
    return value


def parse_call(value: object) -> str:
    """Return the value, a text FILE.py::function; raises ValueError for anything else."""
    if FUNCTION.fullmatch(text(value)) is None:
        raise ValueError(find_colon(str(value)) or f"expected FILE.py::function, found {value!r:.60}")
    return str(value)


def one_of(*words: str) -> Any:
    """Return a parser of one of some words."""

    def parse(value: object) -> str:
        if value not in words:
            raise ValueError(f"expected one of {', '.join(words)}, found {value!r:.60}")
        return str(value)

    return parse


def definitions(value: object) -> dict[str, str]:
    """Names with their expressions: a table, or a list of texts NAME=EXPRESSION. Raises ValueError."""
    if isinstance(value, list):
        value = dict(_definition(text) for text in value)
    if not isinstance(value, dict):
        raise ValueError(f"expected a table of names and expressions, found {value!r:.60}")
    for name, expression in value.items():
        if not str(name).isidentifier():
            raise ValueError(f"{name!r:.60} isn't a name")
        text(expression)
    return value


def relabelling(value: object) -> dict[str, str]:
    """Return some of m, n, k with their layouts: a table, or a list of texts AXIS=LAYOUT. Raises ValueError."""
    layouts = definitions(value)
    if unknown := next((name for name in layouts if name not in AXES), ""):
        raise ValueError(f"expected m, n or k, found {unknown!r:.60}")
    return layouts


def _definition(value: object) -> tuple[str, str]:
    name, equals, expression = str(value).partition("=")
    if not equals:
        raise ValueError(f"expected NAME=EXPRESSION, found {value!r:.60}")
    return name.strip(), expression.strip()


def selection(value: object) -> dict[str, str | int]:
    """Return what the mnemonic leaves to the assembly text: a table, or a list of texts NAME=WORD.

    Raises ValueError.
    """
    if isinstance(value, list):
        value = {name: int(word) if word.isdecimal() else word for name, word in map(_definition, value)}
    if not isinstance(value, dict) or any(type(word) not in (str, int) for word in value.values()):
        raise ValueError(f"expected a table of words and numbers, found {value!r:.60}")
    return value


@dataclass(frozen=True, kw_only=True)
class OperandSpec:
    """One operand as its user gives it: expressions, a table or bases."""

    row: str | None = key("expression of the row: of A m, of B k, of C and D m, as the PTX ISA counts", text)
    col: str | None = key("expression of the column: of A k, of B, C and D n", text)
    lane: str | None = key(
        "expression of the lane, in `row` and `col`: with value inversely, or of tensor memory", text
    )
    value: str | None = key("expression of the value's number, of a map given inversely", text)
    column: str | None = key("expression of the column of tensor memory, in `row` and `col`", text)
    byte: str | None = key("expression of the byte of shared memory, or in the column of tensor memory", text)
    cta: str | None = key("expression of the CTA of a pair in whose tensor memory an element is", text)
    table: str | None = key("a CSV or JSON file with columns lane, i, row, col", text)
    bases: str | None = key("F2 bases in Triton's spelling: {register = [[0, 1], ...], lane = [...]}", text)
    function: str | None = key("FILE.py::function of (lane, value), which returns (row, col); it is called", parse_call)
    inverse: str | None = key("FILE.py::function of (row, col), which returns (lane, value); it is called", parse_call)
    python: str = key("interpreter that calls the function; absent: the one of this command", text, default="")
    lang: str = key("language of the expressions; absent: both, which must agree", one_of(*LANGUAGES), default="")
    type: str = key("type of the coordinates in C; absent: both must agree", one_of("int", "unsigned"), default="")
    memory: Mapping[str, str | int] = key(
        "of an operand in shared memory: swizzle, major, lbo and sbo in bytes", selection, default_factory=dict
    )
    values: str = key("loops over the values, the outermost first: i=2, j=2", text, default="")
    let: Mapping[str, str] = key("names for parts of the expressions: g = lane >> 2", definitions, default_factory=dict)

    @property
    def form(self) -> tuple[str, ...]:
        """The keys that give the map; raises SpecError unless they are those of one form."""
        place = tuple(name for name in PLACE if getattr(self, name) is not None)
        in_memory = next((name for name in place if name != "lane"), "")
        beside = next((name for name in ("row", "col", "value") if in_memory and getattr(self, name) is not None), "")
        if beside:
            hint = "; write col" if in_memory == "column" and beside == "row" else ""
            raise SpecError(in_memory, f"is of an operand in memory, {beside} is given too{hint}")
        given = [name for form in (*FORMS, PLACE) for name in form if getattr(self, name) is not None]
        form = place if in_memory else next((form for form in FORMS if given and given[0] in form), None)
        if form is None:
            raise SpecError("row", "missing: give row and col, or lane and value, or table, bases, function or inverse")
        missing = [name for name in form if name not in given]
        if missing:
            raise SpecError(missing[0], f"missing: {form[0] if missing[0] != form[0] else form[1]} is given")
        excess = next((name for name in given if name not in form), None)
        if excess is not None:
            raise SpecError(excess, f"{' and '.join(form)} give the map already")
        if form in FORMS[2:6]:
            for name in ("lang", "type", "values", "let"):
                if getattr(self, name):
                    raise SpecError(name, f"is for expressions; {form[0]} has none")
        if self.python and not self.runs_code:
            raise SpecError("python", f"is for a function; {' and '.join(form)} give the map")
        return form

    @property
    def runs_code(self) -> bool:
        """Whether the map is a function that is called."""
        return self.function is not None or self.inverse is not None


@dataclass(frozen=True)
class IndexSpec:
    """An instruction with the maps of its operands, as its user gives them."""

    name: str  # of the entry
    replay: str  # the command that verifies it again
    ptx: str  # the mnemonic
    operands: Mapping[str, OperandSpec]  # by their names
    select: Mapping[str, str | int] = field(default_factory=dict)  # what the mnemonic leaves to the assembly text
    folder: Path = Path()  # to which tables are relative
    relabel: Mapping[str, str] = field(default_factory=dict)  # m, n or k -> layout: the maps' number of the ISA's

    @property
    def runs_code(self) -> bool:
        """Whether a map of it is a function that is called."""
        return any(operand.runs_code for operand in self.operands.values())


def operand_name(value: object) -> str:
    """Return the name of an operand. Raises ValueError."""
    if not isinstance(value, str) or not OPERAND.fullmatch(value):
        raise ValueError(f"expected an operand such as A, B, C, found {value!r:.60}")
    return value


@dataclass(frozen=True, kw_only=True)
class EntrySpec:
    """What an entry gives besides its operands' maps."""

    ptx: str = require("mnemonic of the instruction", text)
    operand: str = require("operand of it: A, B, C, D, E, ...", operand_name)
    select: Mapping[str, str | int] = key("what the mnemonic leaves open, as M=64", selection)
    relabel: Mapping[str, str] = key("declared permutations of m, n, k in A, B and C, as k=(2,4):(4,1)", relabelling)


@cache
def options() -> dict[str, Key]:
    """All keys, in the order of --help."""
    return {**keys(EntrySpec), **keys(OperandSpec)}


def of_options(given: Mapping[str, Any]) -> IndexSpec:
    """Return the spec that options give; raises SpecError."""
    for name in ("ptx", "operand"):
        if name not in given:
            raise SpecError(name, "missing: give --ptx MNEMONIC and --operand A")
    values = {name: option.parse_value(given[name]) for name, option in options().items() if name in given}
    own = {name: value for name, value in values.items() if name in keys(OperandSpec)}
    words = [word for name, value in given.items() for word in _words(name, value)]
    operands = {values["operand"]: OperandSpec(**own)}
    _ = operands[values["operand"]].form  # is one
    title = f"{values['ptx']} {values['operand']}"
    select, relabel = (values.get(name) or {} for name in ("select", "relabel"))
    return IndexSpec(title, shlex.join([*REPLAY, *words]), values["ptx"], operands, select, relabel=relabel)


def _words(name: str, value: Any) -> list[str]:
    """Return the words of an option; a value that looks like an option is joined to its name."""
    listed = [str(part) for part in (value if isinstance(value, list) else [value])]
    return [word for part in listed for word in ([f"--{name}={part}"] if part.startswith("-") else [f"--{name}", part])]


def of_entry(entry: Entry) -> IndexSpec:
    """Return the spec that a table of a file gives; raises AtomFileError with all its errors."""
    table, known = entry.table, options()
    named = [name for name in table if OPERAND.fullmatch(name)]
    allowed = {name: option for name, option in known.items() if not named or name in SHARED}
    plain = {name: value for name, value in table.items() if name not in named}
    with entry.collect_errors() as each:
        values = each(lambda: read_keys(entry, plain, allowed)) or {}
        shared = {name: value for name, value in values.items() if name in keys(OperandSpec)}
        specs = {name: each(partial(_operand, entry, name, shared)) for name in named}
        if not named and "operand" in values:
            specs = {values["operand"]: each(lambda: _check_form(entry, "", OperandSpec(**shared)))}
    replay = shlex.join([*REPLAY, entry.file, "--only", entry.name])
    select, relabel = (values.get(name) or {} for name in ("select", "relabel"))
    return IndexSpec(entry.name, replay, values["ptx"], specs, select, Path(entry.file).parent, relabel)


def _operand(entry: Entry, name: str, shared: Mapping[str, Any]) -> OperandSpec:
    """Return an operand's own table, with what all operands of the entry have in common where it is an expression."""
    table = entry.table[name]
    if not isinstance(table, dict):
        entry.fail(name, 'expected a table such as { row = "lane/4", col = "i" }')
    given = read_keys(entry, table, keys(OperandSpec), f"{name}.")
    return _check_form(
        entry, f"{name}.", OperandSpec(**{**({} if {"table", "bases", *CALLED} & given.keys() else shared), **given})
    )


def _check_form(entry: Entry, under: str, spec: OperandSpec) -> OperandSpec:
    """Return the spec, if its keys are those of one form."""
    try:
        _ = spec.form
    except SpecError as error:
        entry.fail(f"{under}{error.key}", error.problem, error)
    return spec

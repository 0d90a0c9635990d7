# SPDX-License-Identifier: Apache-2.0
"""One atom's table and the readers of its keys, for MMA and copy atoms alike.

Main declarations: `Entry`, a table whose methods each read and validate one key (`layout`, `ptx`, `copies`, ...) and
whose `collect_errors` gathers the errors of several; `Family`, an entry with parameters, and its instances; `hint`, the
suggestion for an unknown key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import product
from math import prod
from typing import Any, NamedTuple, NoReturn, Protocol, TypeVar, cast

from layouts.errors import LayoutParseError
from layouts.int_tuple import IntTuple, leaves
from layouts.spelling import factors, parse_written
from layouts.text import format_int_tuple, parse_shape_stride
from layouts.toml import template
from layouts.toml.errors import AtomFileError, Spot, combine_errors
from layouts.toml.template import PLACE, TemplateError, Word

LARGEST = 2**24  # points of a layout, elements of a tile: more do not fit reasonable memory
MOST_THREADS = 2**16
LONGEST_NAME = 256  # characters of a name or a mnemonic
FARTHEST = 2**62  # the largest element of a layout: sums of them must fit int64
T = TypeVar("T")
SYNONYMS = {  # another name for a key -> its name here
    **{f"{operand}Layout": operand for operand in ("A", "B", "C", "Src", "Dst", "Ref")},
    **{"ThrID": "thr", "Shape_MNK": "shape", "threads": "thr", "metadata": "E"},
    **{f"ValType{operand}": f"types.{operand}" for operand in "DABC"},
}
SUGGESTIONS = {"D": "D has the layout of C: state C alone"}


class KeyReader(Protocol):
    """Runs the reader of a key and records its errors, so that other keys can be read after an error."""

    def __call__(self, reader: Callable[[], T]) -> T:
        """Return the reader's result; None where it fails."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A table of a file, its parameters filled in."""

    file: str  # the path of the file
    name: str  # of the entry, parameters filled in
    table: Mapping[str, object]  # key -> value as in the file, parameters filled in
    parsed: dict[str, IntTuple] = field(default_factory=dict)  # layout texts that parsed -> their shapes
    family: Family | None = None  # the entry with parameters that it is an instance of
    params: Mapping[str, Word] = field(default_factory=dict)  # the values of that entry's parameters
    taken: Mapping[str, str] = field(default_factory=dict)  # keys that were filled in -> with what

    def gaps(self, said: Mapping[str, object]) -> tuple[str, ...]:
        """Return the keys that `fill` would fill in, also those missing from its tables.

        >>> Entry("", "", {"types": {"A": "f16"}}).gaps({"types": {"A": "f32", "B": "f32"}, "thr": "1:0"})
        ('thr', 'types.B')
        """
        keys = [key for key in said if key not in self.table]
        for key, value in said.items():
            own = self.table.get(key)
            if isinstance(value, dict) and isinstance(own, dict):
                keys += [f"{key}.{name}" for name in value if name not in own]
        return tuple(keys)

    def fill(self, said: Mapping[str, object], taken: Mapping[str, str] | None = None) -> Entry:
        """Return the entry with missing keys filled in, also those of its tables; keys that are there are kept.

        >>> Entry("", "", {"types": {"A": "f16"}}).fill({"types": {"A": "f32", "B": "f32"}, "thr": "1:0"}).table
        {'types': {'A': 'f16', 'B': 'f32'}, 'thr': '1:0'}
        """
        table = dict(self.table)
        for key, value in said.items():
            own = table.get(key, value)
            table[key] = {**value, **own} if isinstance(value, dict) and isinstance(own, dict) else own
        return replace(self, table=table, taken=taken or {})

    def fail(self, key: str, problem: str, cause: BaseException | None = None) -> NoReturn:
        """Raise the AtomFileError of a key; a LayoutParseError as its `cause` gives the letter of the text."""
        raise self.error(key, problem, cause)

    def error(self, key: str, problem: str, cause: BaseException | None = None) -> AtomFileError:
        """Return the AtomFileError of a key; its spot has the letter at which parsing of a layout stopped."""
        text, letter = "", -1
        while cause is not None and letter < 0:
            if isinstance(cause, LayoutParseError):
                text, letter = cause.text, cause.column - 1
            cause = cause.__cause__
        spot = Spot(self.name if self.family is None else self.family.name, key, text, letter)
        return AtomFileError(self.file, f"{self.name}.{key}" if key else self.name or '""', problem, spot)

    @contextmanager
    def collect_errors(self) -> Iterator[KeyReader]:
        """Open a context in which keys are read one after another; at its end all errors are raised at once."""
        errors: list[AtomFileError] = []

        def read_key(reader: Callable[[], T]) -> T:
            try:
                return reader()
            except AtomFileError as error:
                errors.extend(error.errors)
                return cast(T, None)

        try:
            yield read_key
        finally:
            if errors:
                raise combine_errors(errors)

    def common(self, read: KeyReader) -> dict[str, Any]:
        """Return what MMA and copy atoms have in common besides operands, spaces and multiplicities."""
        return {
            "name": self.name,
            "ptx": read(self.ptx),
            "thr": read(self.threads),
            "source": read(lambda: self.optional("source")) or "",
            "known_defect": read(lambda: self.optional("known_defect")),
            "file": self.file,
            "family": self.family,
            "params": self.params,
            "spellings": read(self.spellings),
            "expect": read(self.expectation),
            "taken": self.taken,
        }

    def value(self, key: str) -> object:
        """Return the value of a required key."""
        if key not in self.table:
            self.fail(key, "missing")
        return self.table[key]

    def check_keys(
        self, table: Mapping[str, object], under: str, required: Iterable[str], optional: Iterable[str] = ()
    ) -> None:
        """Raise AtomFileError, with all errors, for unknown and for missing keys."""
        known = [*required, *optional]
        errors = [self.error(under + key, f"unknown key; {hint(key, known)}") for key in table if key not in known]
        errors += [self.error(under + key, "missing") for key in required if key not in table]
        if errors:
            raise combine_errors(errors)

    def correct_keys(self, known: Sequence[str]) -> Entry:
        """Return the entry with known keys only; an unknown key is renamed to the known one that was probably meant.

        >>> Entry("", "", {"a": "1:0", "q": 1}).correct_keys(["A", "B"]).table
        {'A': '1:0'}
        """
        table = {key: value for key, value in self.table.items() if key in known}
        for key in (key for key in self.table if key not in known and key not in SUGGESTIONS):
            meant = likeliest(key, known)
            if meant in known:
                table.setdefault(meant, self.table[key])
        return replace(self, table=table)

    def text(self, value: object, key: str) -> str:
        """Return a string that is not blank."""
        if not isinstance(value, str):
            self.fail(key, f"expected a string, found {kind(value)}")
        if not value.strip():
            self.fail(key, "expected a text, found an empty string")
        return value

    def integer(self, value: object, key: str, what: str = "it") -> int:
        """Return an integer from 1 to 2^24."""
        if type(value) is not int:
            self.fail(key, f"{what} should be an integer, found {kind(value)}")
        if not 1 <= value <= LARGEST:
            self.fail(key, f"{what} should be {'at least 1' if value < 1 else f'at most {LARGEST}'}, found {value}")
        return value

    def tables(self, key: str, what: str, allowed: Sequence[str]) -> Mapping[str, object]:
        """Return the table of a key, from operands to values; empty where the key is absent."""
        given = self.table.get(key, {})
        if not isinstance(given, dict):
            self.fail(key, f"expected a table of {what}, found {kind(given)}")
        self.check_keys(given, f"{key}.", (), allowed)
        return given

    def ptx(self) -> tuple[str, ...] | None:
        """Return the instructions in order, each by its first mnemonic; None where the key is absent."""
        issued = self._issued_mnemonics()
        return None if issued is None else tuple(mnemonics[0] for mnemonics in issued)

    def spellings(self) -> dict[str, tuple[str, ...]]:
        """Return the other mnemonics of each instruction, by its first."""
        return {first: tuple(synonyms) for first, *synonyms in self._issued_mnemonics() or () if synonyms}

    def _issued_mnemonics(self) -> tuple[tuple[str, ...], ...] | None:
        """Each instruction with all its mnemonics: a nested array gives several."""
        given = self.table.get("ptx")
        if given is None:
            return None
        if isinstance(given, str):
            return ((self._mnemonic(given, "ptx"),),)
        if not isinstance(given, list):
            self.fail("ptx", f"expected a mnemonic or an array of mnemonics, found {kind(given)}")
        return tuple(self._alternatives(written, f"ptx[{i}]") for i, written in enumerate(given))

    def _alternatives(self, written: object, key: str) -> tuple[str, ...]:
        if not isinstance(written, list):
            return (self._mnemonic(written, key),)
        mnemonics = tuple(self._mnemonic(text, f"{key}[{i}]") for i, text in enumerate(written))
        if not mnemonics:
            self.fail(key, "an empty nested list; write `ptx = []` for an atom without an instruction")
        if len(set(mnemonics)) < len(mnemonics):
            self.fail(key, "a mnemonic is listed twice; a nested array gives several mnemonics of one instruction")
        return mnemonics

    def _mnemonic(self, value: object, key: str) -> str:
        text = self.text(value, key)
        if len(text) > LONGEST_NAME or not text.isprintable():
            self.fail(key, f"a mnemonic is at most {LONGEST_NAME} printable characters, found {text!r:.40}")
        return text

    def layout(self, key: str, plain: bool = True) -> str:
        """Return the text of a layout that parses and has at most 2^24 points.

        `plain` excludes swizzles and coordinates.

        A list of shape and strides is a text too. A swizzle of no bits is left out: it's the identity.
        """
        return self.layout_of(self.value(key), key, plain)

    def layout_of(self, value: object, key: str, plain: bool = True) -> str:
        """Return the text of a value that is a layout, as `layout` of a key of the table."""
        text = _without_identity(self.text(_spell_bracketed(value) if isinstance(value, list) else value, key))
        if text not in self.parsed:
            try:
                shape, stride = parse_shape_stride(text) if plain else _any_layout(text)
            except LayoutParseError as error:
                self.fail(key, str(error), error)
            if prod(max(extent, 1) for extent in leaves(shape)) > LARGEST:
                self.fail(key, f"{text} has more than {LARGEST} points")
            if LARGEST * max(map(abs, leaves(stride)), default=0) > FARTHEST:
                self.fail(key, f"{text} has a stride above {FARTHEST // LARGEST}")
            self.parsed[text] = shape
        return text

    def threads(self) -> str:
        """Return the text of the threads' layout, at most 2^16 of them."""
        text = self.layout("thr")
        count = prod(max(extent, 1) for extent in leaves(self.parsed[text]))
        if count > MOST_THREADS:
            self.fail("thr", f"{text} numbers {count} threads, at most {MOST_THREADS} are allowed")
        return text

    def copies(self, allowed: Sequence[str]) -> dict[str, int]:
        """How many places each element of an operand has; it must divide the points of its layout."""
        given = {}
        for operand, value in self.tables("copies", "operands and integers", allowed).items():
            if operand not in self.table:
                self.fail(f"copies.{operand}", f"the atom has no operand {operand}")
            count = self.integer(value, f"copies.{operand}")
            points = prod(leaves(self.parsed[self.layout(operand)]))
            if points % count:
                self.fail(f"copies.{operand}", f"{points} points of {operand} do not divide by {count}")
            given[operand] = count
        return given

    def spaces(self, allowed: Sequence[str], spaces: Sequence[str]) -> dict[str, str]:
        """Return the space of each operand that states one."""
        given = {}
        for operand, value in self.tables("space", "operands and spaces", allowed).items():
            if operand not in self.table:
                self.fail(f"space.{operand}", f"the atom has no operand {operand}")
            if value not in spaces:
                self.fail(f"space.{operand}", f"expected one of {', '.join(spaces)}, found {value!r}")
            given[operand] = str(value)
        return given

    def optional(self, key: str) -> str | None:
        """Return the text of a key; None where it is absent."""
        return self.text(self.table[key], key) if key in self.table else None

    def expectation(self) -> str | None:
        """Why the atom, or with a `known_defect` what it does not name, is expected to be UNCHECKED."""
        text = self.optional("expect")
        if text is not None and text.partition(":")[0].strip() != "UNCHECKED":
            self.fail("expect", f'expected "UNCHECKED: why", found {text!r}')
        return text


def _spell_bracketed(value: object) -> str:
    """Return the text of a list of shape and strides: [[4, 8], [8, 1]]."""
    return f"[{','.join(map(_spell_bracketed, value))}]" if isinstance(value, list) else str(value)


def _without_identity(text: str) -> str:
    """Return the text of a layout without the swizzles in front of it, if none of them moves a bit.

    >>> _without_identity("Sw<0,4,3> o 0 o (4,8):(8,1)"), _without_identity("Sw<1,4,3> o (4,8):(8,1)")
    ('(4,8):(8,1)', 'Sw<1,4,3> o (4,8):(8,1)')
    """
    if "<0," not in text.replace(" ", ""):  # most texts: no other reader is loaded for them
        return text

    with suppress(LayoutParseError):
        written = parse_written(text)
        if written.swizzles and all(bits == offset == 0 for (bits, _, _), offset in written.swizzles):
            return f"{format_int_tuple(written.shape)}:{format_int_tuple(written.stride)}"
    return text


def _any_layout(text: str) -> tuple[IntTuple, IntTuple]:
    """Shape and stride of a layout, those of the innermost behind swizzles; coordinates count by their factors."""
    with suppress(LayoutParseError):
        return parse_shape_stride(text)

    written = parse_written(text)
    return written.shape, factors(written.stride)


def kind(value: object) -> str:
    """Return the TOML type of a value, in words."""
    names = {bool: "a boolean", int: "an integer", float: "a float", str: "a string", list: "an array", dict: "a table"}
    return names.get(type(value), "a date or time")


def hint(key: str, known: Sequence[str]) -> str:
    """Return the suggestion for an unknown key, as a clause.

    >>> hint("ThrID", ["thr", "A"]), hint("a", ["thr", "A"]), hint("x", ["thr", "A"])
    ("did you mean 'thr'?", "did you mean 'A'?", 'known are thr, A')
    """
    if key in SUGGESTIONS and key not in known:
        return SUGGESTIONS[key]
    meant = likeliest(key, known)
    return f"did you mean {meant!r}?" if meant else f"known are {', '.join(known)}"


def likeliest(key: str, known: Sequence[str]) -> str:
    """Return the known key that was probably meant by an unknown one; empty where none is near."""
    lowered = {name.lower(): name for name in known}
    near = [SYNONYMS.get(key, ""), lowered.get(key.lower(), ""), *get_close_matches(key, known, n=1)]
    near += [lowered[name] for name in get_close_matches(key.lower(), lowered, n=1)]
    return next((name for name in near if name.partition(".")[0] in known), "")


class Family(NamedTuple):
    """An entry with its parameters: each a list of integers, or of words."""

    name: str  # with {N} in place of a parameter
    params: Mapping[str, Sequence[Word]]
    entry: Entry  # the table as in the file, without `params`

    def names(self) -> Iterator[tuple[str, dict[str, Word]]]:
        """Yield the names of all instances with their parameters, the last parameter varying fastest."""
        for values in product(*self.params.values()):
            chosen = dict(zip(self.params, values, strict=True))
            yield template.fill(self.name, chosen), chosen

    def instance(self, name: str, params: Mapping[str, Word]) -> Entry:
        """Return the entry of one instance; raises AtomFileError where a text cannot be filled in."""
        filled = Entry(self.entry.file, name, {}, self.entry.parsed, self, params)
        table = {key: _fill_value(filled, key, value) for key, value in self.entry.table.items()}
        return Entry(self.entry.file, name, table, self.entry.parsed, self, params)

    def read_name(self, name: str) -> dict[str, str] | None:
        """Return the parameters in a name of this family, listed values or not; None where the name does not fit."""
        fixed = PLACE.split(self.name)
        parts = (re.escape(text) if i % 2 == 0 else rf"(?P<{text}>[A-Za-z0-9_]+?)" for i, text in enumerate(fixed))
        match = re.fullmatch("".join(parts), name)
        return None if match is None else match.groupdict()


def _fill_value(entry: Entry, key: str, value: object) -> object:
    """Return a value of the table with the parameters in its texts filled in.

    In `shape`, numbers in texts become integers.
    """
    if isinstance(value, str):
        try:
            text = template.fill(value, entry.params) if "{" in value else value
        except TemplateError as error:
            entry.fail(key, str(error))
        return int(text) if key == "shape" and text.isdigit() else text
    if isinstance(value, list):
        return [_fill_value(entry, key, item) for item in value]
    if isinstance(value, dict):
        return {name: _fill_value(entry, f"{key}.{name}", item) for name, item in value.items()}
    return value

# SPDX-License-Identifier: Apache-2.0
"""One atom's table while it is being checked, and what MMA and copy atoms have in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import product
from math import prod
from typing import NoReturn, Protocol, TypeVar, cast

from layouts.atoms import template
from layouts.atoms.errors import AtomFileError, Spot, raised
from layouts.atoms.template import PLACE, TemplateError, Word
from layouts.errors import LayoutParseError
from layouts.int_tuple import IntTuple, leaves
from layouts.text import parse_shape_stride

LARGEST = 2**24  # points of a layout, elements of a tile: more cannot be judged in reasonable memory
MOST_THREADS = 2**16
LONGEST_NAME = 256  # characters of a name or a mnemonic
FARTHEST = 2**62  # the largest element that a layout may name: beyond it, int64 ends
T = TypeVar("T")
NUMBERS = re.compile(r"[\[(]?\s*[0-9]{1,9}(?:\s*[,x]\s*[0-9]{1,9}){0,7}\s*[\])]?")
ELSEWHERE = {  # what others call a key -> what it is called here
    **{f"{operand}Layout": operand for operand in ("A", "B", "C", "Src", "Dst", "Ref")},
    **{"ThrID": "thr", "Shape_MNK": "shape", "threads": "thr", "metadata": "E"},
    **{f"ValType{operand}": f"types.{operand}" for operand in "DABC"},
}
INSTEAD = {"D": "D has the layout of C: state C alone"}


class Read(Protocol):
    """Reads one key after another: what is wrong with one does not keep the others from being read."""

    def __call__(self, reader: Callable[[], T]) -> T:
        """What the reader gives; nothing, where it fails."""
        ...


@dataclass(frozen=True, slots=True)
class Entry:
    """A table of a file, its parameters filled in; `parsed` holds layout texts that were seen to parse."""

    file: str
    name: str
    table: Mapping[str, object]
    parsed: dict[str, IntTuple] = field(default_factory=dict)  # layout text -> its shape
    family: Family | None = None
    params: Mapping[str, Word] = field(default_factory=dict)
    taken: Mapping[str, str] = field(default_factory=dict)  # keys that were filled in -> with what

    def gaps(self, said: Mapping[str, object]) -> tuple[str, ...]:
        """The keys that `filled` would fill in, of a table that is there its own keys.

        >>> Entry("", "", {"types": {"A": "f16"}}).gaps({"types": {"A": "f32", "B": "f32"}, "thr": "1:0"})
        ('thr', 'types.B')
        """
        keys = [key for key in said if key not in self.table]
        for key, value in said.items():
            own = self.table.get(key)
            if isinstance(value, dict) and isinstance(own, dict):
                keys += [f"{key}.{name}" for name in value if name not in own]
        return tuple(keys)

    def filled(self, said: Mapping[str, object], taken: Mapping[str, str] | None = None) -> Entry:
        """The entry with what it leaves out filled in: keys, and in a table that is there its keys.

        >>> Entry("", "", {"types": {"A": "f16"}}).filled({"types": {"A": "f32", "B": "f32"}, "thr": "1:0"}).table
        {'types': {'A': 'f16', 'B': 'f32'}, 'thr': '1:0'}
        """
        table = dict(self.table)
        for key, value in said.items():
            own = table.get(key, value)
            table[key] = {**value, **own} if isinstance(value, dict) and isinstance(own, dict) else own
        return replace(self, table=table, taken=taken or {})

    def fail(self, key: str, problem: str, cause: BaseException | None = None) -> NoReturn:
        """Refuse the file because of this key; a `cause` that knows the letter of a layout's text points at it."""
        raise self.error(key, problem, cause)

    def error(self, key: str, problem: str, cause: BaseException | None = None) -> AtomFileError:
        """What is wrong with this key."""
        text, letter = _pointed(cause)
        spot = Spot(self.name if self.family is None else self.family.name, key, text, letter)
        return AtomFileError(self.file, f"{self.name}.{key}" if key else self.name or '""', problem, spot)

    @contextmanager
    def collected(self) -> Iterator[Read]:
        """Read keys one after another, then raise all errors at once."""
        errors: list[AtomFileError] = []

        def read(reader: Callable[[], T]) -> T:
            try:
                return reader()
            except AtomFileError as error:
                errors.extend(error.errors)
                return cast(T, None)

        try:
            yield read
        finally:
            if errors:
                raise raised(errors)

    def value(self, key: str) -> object:
        """What a key that must be there says."""
        if key not in self.table:
            self.fail(key, "missing")
        return self.table[key]

    def check_keys(
        self, table: Mapping[str, object], under: str, required: Iterable[str], optional: Iterable[str] = ()
    ) -> None:
        """Refuse keys that are unknown, and keys that are missing."""
        known = [*required, *optional]
        errors = [self.error(under + key, f"unknown key; {hint(key, known)}") for key in table if key not in known]
        errors += [self.error(under + key, "missing") for key in required if key not in table]
        if errors:
            raise raised(errors)

    def corrected(self, known: Sequence[str]) -> Entry:
        """The entry with known keys alone; an unknown one is called what it may have been meant for.

        >>> Entry("", "", {"a": "1:0", "q": 1}).corrected(["A", "B"]).table
        {'A': '1:0'}
        """
        table = {key: value for key, value in self.table.items() if key in known}
        for key in (key for key in self.table if key not in known and key not in INSTEAD):
            meant = likeliest(key, known)
            if meant in known:
                table.setdefault(meant, self.table[key])
        return replace(self, table=table)

    def text(self, value: object, key: str) -> str:
        """A string that is not blank."""
        if not isinstance(value, str):
            self.fail(key, f"expected a string, found {kind(value)}")
        if not value.strip():
            self.fail(key, "expected a text, found an empty string")
        return value

    def integer(self, value: object, key: str, what: str = "it") -> int:
        """A whole number from 1 to 2^24."""
        if type(value) is not int:
            self.fail(key, f"{what} should be an integer, found {kind(value)}")
        if not 1 <= value <= LARGEST:
            self.fail(key, f"{what} should be {'at least 1' if value < 1 else f'at most {LARGEST}'}, found {value}")
        return value

    def tables(self, key: str, what: str, allowed: Sequence[str]) -> Mapping[str, object]:
        """An optional table from operands to something."""
        stated = self.table.get(key, {})
        if not isinstance(stated, dict):
            self.fail(key, f"expected a table of {what}, found {kind(stated)}")
        self.check_keys(stated, f"{key}.", (), allowed)
        return stated

    def ptx(self) -> tuple[str, ...] | None:
        """What is issued, in order, each instruction in its first spelling; None where the key is absent."""
        issued = self._issued()
        return None if issued is None else tuple(spelled[0] for spelled in issued)

    def spellings(self) -> dict[str, tuple[str, ...]]:
        """The further spellings of what is issued, by the first."""
        return {first: tuple(others) for first, *others in self._issued() or () if others}

    def _issued(self) -> tuple[tuple[str, ...], ...] | None:
        """Each issued instruction with all its spellings: a nested array gives several."""
        stated = self.table.get("ptx")
        if stated is None:
            return None
        if isinstance(stated, str):
            return ((self._mnemonic(stated, "ptx"),),)
        if not isinstance(stated, list):
            self.fail("ptx", f"expected a mnemonic or an array of mnemonics, found {kind(stated)}")
        return tuple(self._spelled(one, f"ptx[{i}]") for i, one in enumerate(stated))

    def _spelled(self, one: object, key: str) -> tuple[str, ...]:
        if not isinstance(one, list):
            return (self._mnemonic(one, key),)
        found = tuple(self._mnemonic(text, f"{key}[{i}]") for i, text in enumerate(one))
        if not found:
            self.fail(key, "a nested list with no spelling; `ptx = []` is for an atom that issues none")
        if len(set(found)) < len(found):
            self.fail(key, "a spelling stands twice; a nested array gives other spellings of one instruction")
        return found

    def _mnemonic(self, value: object, key: str) -> str:
        text = self.text(value, key)
        if len(text) > LONGEST_NAME or not text.isprintable():
            self.fail(key, f"a mnemonic is at most {LONGEST_NAME} printable characters, found {text!r:.40}")
        return text

    def layout(self, key: str) -> str:
        """A layout text that parses, of at most 2^24 points."""
        text = self.text(self.value(key), key)
        if text not in self.parsed:
            try:
                shape, stride = parse_shape_stride(text)
            except LayoutParseError as error:
                self.fail(key, str(error), error)
            if prod(max(extent, 1) for extent in leaves(shape)) > LARGEST:
                self.fail(key, f"{text} has more than {LARGEST} points")
            if LARGEST * max(map(abs, leaves(stride)), default=0) > FARTHEST:
                self.fail(key, f"{text} has a stride above {FARTHEST // LARGEST}")
            self.parsed[text] = shape
        return text

    def threads(self) -> str:
        """The layout of the threads, of at most 2^16: no more can work together."""
        text = self.layout("thr")
        count = prod(max(extent, 1) for extent in leaves(self.parsed[text]))
        if count > MOST_THREADS:
            self.fail("thr", f"{text} numbers {count} threads, at most {MOST_THREADS} are judged")
        return text

    def copies(self, allowed: Sequence[str]) -> dict[str, int]:
        """How often each element is held; it must divide the points of the layout."""
        stated = {}
        for operand, value in self.tables("copies", "operands and whole numbers", allowed).items():
            if operand not in self.table:
                self.fail(f"copies.{operand}", f"the atom has no operand {operand}")
            count = self.integer(value, f"copies.{operand}")
            points = prod(leaves(self.parsed[self.layout(operand)]))
            if points % count:
                self.fail(f"copies.{operand}", f"{points} points of {operand} do not divide by {count}")
            stated[operand] = count
        return stated

    def spaces(self, allowed: Sequence[str], spaces: Sequence[str]) -> dict[str, str]:
        """Where operands live."""
        stated = {}
        for operand, value in self.tables("space", "operands and spaces", allowed).items():
            if operand not in self.table:
                self.fail(f"space.{operand}", f"the atom has no operand {operand}")
            if value not in spaces:
                self.fail(f"space.{operand}", f"expected one of {', '.join(spaces)}, found {value!r}")
            stated[operand] = str(value)
        return stated

    def source(self) -> str:
        """Where the entry comes from; empty where it does not say."""
        return self.text(self.table["source"], "source") if "source" in self.table else ""

    def defect(self) -> str | None:
        """Why the atom is expected to be refuted."""
        defect = self.table.get("known_defect")
        return None if defect is None else self.text(defect, "known_defect")

    def expectation(self) -> str | None:
        """That the atom is expected to be UNCHECKED, and why; what is expected to be refuted is a `known_defect`."""
        if "expect" not in self.table:
            return None
        text = self.text(self.table["expect"], "expect")
        if text.partition(":")[0].strip() != "UNCHECKED":
            self.fail("expect", f'expected "UNCHECKED: why", found {text!r}')
        if "known_defect" in self.table:
            self.fail("expect", "a known_defect expects a refutation; give one of the two")
        return text


def kind(value: object) -> str:
    """A value's TOML type, as a reader of the file would call it."""
    names = {bool: "a boolean", int: "an integer", float: "a float", str: "a string", list: "an array", dict: "a table"}
    return names.get(type(value), "a date or time")


def numbers(text: str) -> list[int] | None:
    """Numbers joined by commas or by x; None where a text is none of these.

    >>> numbers("16x8x16"), numbers("2, 2"), numbers("[2, 2]"), numbers("2by2")
    ([16, 8, 16], [2, 2], [2, 2], None)
    """
    return [int(word) for word in re.findall(r"[0-9]+", text)] if NUMBERS.fullmatch(text.strip()) else None


def hint(key: str, known: Sequence[str]) -> str:
    """What an unknown key may have been meant for, as a clause.

    >>> hint("ThrID", ["thr", "A"]), hint("a", ["thr", "A"]), hint("x", ["thr", "A"])
    ("did you mean 'thr'?", "did you mean 'A'?", 'known are thr, A')
    """
    if key in INSTEAD and key not in known:
        return INSTEAD[key]
    meant = likeliest(key, known)
    return f"did you mean {meant!r}?" if meant else f"known are {', '.join(known)}"


def likeliest(key: str, known: Sequence[str]) -> str:
    """The known key for which an unknown one may have been meant; empty where none is near."""
    lowered = {name.lower(): name for name in known}
    near = [ELSEWHERE.get(key, ""), lowered.get(key.lower(), ""), *get_close_matches(key, known, n=1)]
    near += [lowered[name] for name in get_close_matches(key.lower(), lowered, n=1)]
    return next((name for name in near if name.partition(".")[0] in known), "")


def _pointed(error: BaseException | None) -> tuple[str, int]:
    """The text of a layout that could not be read, and the letter where reading stopped, from 0."""
    while error is not None:
        if isinstance(error, LayoutParseError):
            return error.text, error.column - 1
        error = error.__cause__
    return "", -1


@dataclass(frozen=True, slots=True)
class Family:
    """An entry with its parameters: each a list of whole numbers, or of words."""

    name: str  # with {N} where a parameter stands
    params: Mapping[str, Sequence[Word]]
    entry: Entry  # the table as it stands in the file, without `params`

    def names(self) -> Iterator[tuple[str, dict[str, Word]]]:
        """The names of all instances with their parameters, the last parameter varying fastest."""
        for values in product(*self.params.values()):
            chosen = dict(zip(self.params, values, strict=True))
            yield template.fill(self.name, chosen), chosen

    def instance(self, name: str, params: Mapping[str, Word]) -> Entry:
        """The entry of one instance; raises AtomFileError where a text cannot be filled in."""
        filled = Entry(self.entry.file, name, {}, self.entry.parsed, self, params)
        table = {key: _filled(filled, key, value) for key, value in self.entry.table.items()}
        return Entry(self.entry.file, name, table, self.entry.parsed, self, params)

    def said(self, name: str) -> dict[str, str] | None:
        """What a name gives for each parameter, listed or not; None when it is no name of this family."""
        found = re.fullmatch(_pattern(self.name), name)
        return None if found is None else found.groupdict()


def _filled(entry: Entry, key: str, value: object) -> object:
    """A value of the table with every text in it filled in; in `shape`, texts become the numbers they say."""
    if isinstance(value, str):
        try:
            text = template.fill(value, entry.params) if "{" in value else value
        except TemplateError as error:
            entry.fail(key, str(error))
        return int(text) if key == "shape" and text.isdigit() else text
    if isinstance(value, list):
        return [_filled(entry, key, item) for item in value]
    if isinstance(value, dict):
        return {name: _filled(entry, f"{key}.{name}", item) for name, item in value.items()}
    return value


def _pattern(name: str) -> str:
    """A regular expression for the names of a family's instances."""
    fixed = PLACE.split(name)
    parts = (re.escape(text) if i % 2 == 0 else rf"(?P<{text}>[A-Za-z0-9_]+?)" for i, text in enumerate(fixed))
    return "".join(parts)

# SPDX-License-Identifier: Apache-2.0
"""A kind of subject as one row: how it is recognized, read, verified, locked and drawn.

`verify.kinds` lists the rows. The verbs (the pytest suite, the API, `show`, `lock`) loop over them and import no kind,
so a new kind is its folder with a `kind.py`, and its name in that list.

Every verb loads every row, so a row loads little: each of its functions imports what it needs when it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

from verify.core.names import S, select
from verify.core.verdict import Check, Place, Property, Verdict

if TYPE_CHECKING:
    from argparse import Namespace

    from layouts.toml.tables import ReadTables
    from verify.core.registry import Signs
    from verify.maps.fragment_map import FragmentMap
    from verify.pictures.picture import Picture, Window
    from verify.report import Case, Report

SURE, LIKELY, POSSIBLE = 3, 2, 1
"""How strongly a kind recognizes an argument: by the content of a file, by its spelling, or as a name."""


class Recognition(NamedTuple):
    """That an argument may name a subject of a kind: how surely, and by what."""

    strength: int
    why: str


class PropertyTable(NamedTuple):
    """The properties that hold of one sort of subject, as a table of the docs."""

    page: str  # of docs/
    sort: str  # the key of `Property.says` whose words it has
    rows: Sequence[Property]


@dataclass(frozen=True)
class Resources:
    """What a verification may use: the checks to make, and the atoms that a subject may name."""

    checks: frozenset[Check] = frozenset(Check)
    atoms: Mapping[str, Any] | None = None  # None: the shipped ones


class Functions(NamedTuple):
    """What a subject is, for `lock`: the function of each operand, and in words what isn't a function."""

    says: Mapping[str, str]
    maps: Mapping[str, FragmentMap] = {}
    place: Place | None = None  # of a definition in a header; else that of its table


class Reported(NamedTuple):
    """What a report in JSON says of a subject."""

    name: str
    layouts: Mapping[str, str]  # operand -> layout
    verdicts: Sequence[Verdict]


class Drawing(NamedTuple):
    """How `show` draws a subject that an argument spells out: a layout, an instruction."""

    draw: Callable[[str, Namespace], Picture | Case]
    options: Collection[str] = ()  # of `show`: those that it reads and that some others don't


class Question(NamedTuple):
    """A part of a file that `lanecheck init` asks for; the option of its key answers before."""

    key: str
    asks: str  # in words, with an example
    needed: bool = True  # whether it may not be empty


class Template(NamedTuple):
    """A file that `lanecheck init` writes."""

    name: str  # the word after `lanecheck init`
    of: str  # what one has who begins it, in words
    questions: Sequence[Question]  # in the order in which they are asked
    write: Callable[[Mapping[str, str]], str]  # its text; raises SpecError with the key of a question
    then: Callable[[Mapping[str, str]], str]  # the command to run next, {} for the file
    derive: Callable[[Mapping[str, str]], Mapping[str, str]] = lambda answers: {}  # what follows from those so far


@dataclass(frozen=True, kw_only=True)
class Kind(Generic[S]):
    """One kind of subject. What a kind can't do has None, or is empty, and the verbs say so by name."""

    name: str  # "tiling"
    singular: str  # "a tiling", in messages
    plural: str  # "tilings"
    argument: str = ""  # how `lanecheck check` is given one, in words, if not by a TOML file alone
    example: Sequence[str] = ()  # arguments of `lanecheck check` that verify one
    command: str = ""  # the module whose `main` verifies it: verify.tiling.command; without one `lanecheck check` does
    arguments: Callable[[Sequence[str]], Sequence[str]] = lambda what: what  # of that command, for what is checked
    spelled: Callable[[str], Recognition | None] = lambda text: (
        None
    )  # recognizes an argument that is not the name of a file
    suffixes: Collection[str] = ()  # of files that are its subjects and no TOML
    folders: bool = False  # whether a folder is one
    document: Callable[[Mapping[str, object]], bool] = lambda tables: False  # whether a whole TOML file is one
    says: Callable[[Path], str] | None = None  # what a file of it is and what reads it, if not `lanecheck check FILE`
    lists: str = ""  # the command that lists the names of its subjects
    signs: Signs | None = None  # the keys by which a table of a TOML file is one
    specs: Callable[[], Sequence[type]] = tuple  # their fields are the keys of such a table, one for each of its forms
    read: Callable[[Path], ReadTables[S]] | None = None  # the subjects of a file, and all errors of the others
    table: Callable[[S], str] = attrgetter("name")  # of the file: where a subject of it stands
    shipped: Callable[[], Mapping[str, S]] | None = None  # the subjects that need no file
    names: Callable[[], Iterable[str]] = tuple  # of those that need no file and are not `shipped`
    template: str = ""  # the module whose `TEMPLATE` is how `lanecheck init` begins a file of it
    choose: Callable[[Sequence[str], Mapping[str, S]], list[str]] = field(  # of names, patterns and all subjects
        default=lambda names, pool: select(names, pool, "subject")
    )
    from_keys: Callable[[Mapping[str, Any]], S] | None = None  # the subject of keys, as a table or options have them
    runs_code: Callable[[S], bool] | None = None  # whether it calls a user's function, which CI must allow
    report: Callable[..., Report] | None = None  # on what arguments name, with options as keywords; else by `verifier`
    verifier: Callable[[Resources], Callable[[S], Case]] | None = None  # one run: evidence on one serves the next
    names_atoms: bool = False  # whether its subjects name atoms, which a user's files may have
    functions: Callable[[S, Resources], Functions] | None = None  # what `lock` keeps
    tables: Callable[[], Sequence[PropertyTable]] = tuple  # its properties, as the docs list them
    pictures: Mapping[str, Callable[[S, Resources, Any, Window], Picture | Case]] = field(default_factory=dict)
    """Pictures other than that of its case, by the option of `show` that asks for one."""
    redraw: Callable[[Reported, Resources, Window], Picture | None] | None = None  # of a report on one of the kind
    drawing: Drawing | None = None  # of a subject that is spelled out

    def describe(self, path: Path) -> str:
        """Return what a file of this kind is and which command reads it, as a clause."""
        if self.says is not None:
            return self.says(path)
        return f"this is a file of {self.signs.of if self.signs else self.plural}: lanecheck check {path}"

    def list_names(self) -> list[str]:
        """Return the names of those that need no file."""
        return [*(self.shipped() if self.shipped is not None else self.names())]

    @property
    def noun(self) -> str:
        """One of it without an article, as in "no map is named x"."""
        return self.singular.partition(" ")[2]

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return hash(self.name)

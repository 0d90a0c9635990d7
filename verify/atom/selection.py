# SPDX-License-Identifier: Apache-2.0
"""The atoms and checks that a command line selects: files, names, an architecture."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import TYPE_CHECKING

import isa_tables
from layouts.atoms import registry
from layouts.atoms.shelf import Shelf
from verify.cli import inputs
from verify.core.errors import SpecError
from verify.core.names import select
from verify.core.verdict import Check
from verify.report.loaded import LoadedFiles

if TYPE_CHECKING:
    import argparse

    from layouts.atoms import AnyAtom
    from verify.core.verdict import Check

NAMED = r"SM(\d+)(?=[_:<])"
MANY = 200  # atoms: from which on further processes pay
ARCHITECTURE = r"(?i)sm_?(\d+)[af]?"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that select atoms and checks."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="exact name, prefix or glob; or a FILE, as of --atoms")
    parser.add_argument("--arch", metavar="SM", help="only the atoms of an architecture, such as sm90")
    parser.add_argument("--atoms", action="append", default=[], metavar="FILE", help="atoms of a TOML file; repeatable")
    parser.add_argument(
        "--checks", default="isa,proof,gpu", metavar="C[,C]", help="the checks to make: isa, proof, gpu"
    )


def split(options: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Return the names of atoms, and the files of atoms: those of --atoms, and the names that are or end as one."""
    files = [name for name in options.names if name.endswith(".toml") or os.path.isfile(name)]
    return [name for name in options.names if name not in files], [*options.atoms, *files]


def pool(files: Sequence[str]) -> tuple[Mapping[str, AnyAtom], LoadedFiles[AnyAtom]]:
    """Return the atoms to choose from, those of the user's files or else the registry; and what was read of files.

    Errors of a file are printed. Raises MalformedError if the files have nothing else.
    """
    from verify.binding.completion import atoms

    if not files:
        return registry(), LoadedFiles()
    loaded = inputs.load(files, atoms, table_of, unique=True)
    return {atom.name: atom for atom in loaded.items}, loaded


def table_of(atom: AnyAtom) -> str:
    """Return the table in which an atom stands: of a family's member that of the family."""
    return atom.family.name if atom.family else atom.name


def choose_names(patterns: Sequence[str], arch: str | None, atoms: Mapping[str, AnyAtom]) -> list[str]:
    """Return the names that patterns and an architecture select, in the order of the atoms; all if neither is given.

    Raises SpecError for a pattern or an architecture that selects nothing.

    >>> choose_names(["SM80*"], None, dict.fromkeys(["SM80_16x8x16_F32F16F16F32_TN", "SM90_64x8x16_F16"]))
    ['SM80_16x8x16_F32F16F16F32_TN']
    """
    of_arch = None if arch is None else f"SM{_number(arch, atoms)}"
    if not patterns:
        return [name for name in atoms if of_arch is None or _is_of(name, of_arch)]
    selected = _select_atoms(patterns, atoms)
    return [name for name in selected if of_arch is None or _is_of(name, of_arch)]


def _select_atoms(patterns: Sequence[str], atoms: Mapping[str, AnyAtom]) -> list[str]:
    """Return the atoms of names as given, or else without the namespaces of CUTLASS.

    Only the families that may have such atoms are opened, if that finds some. A name of a family with a value that the
    family lacks is an error of its own.
    """
    bare = [unqualify(pattern) for pattern in patterns]
    for wanted in (patterns, bare):
        starts = [re.split(r"[*?\[]", pattern)[0] for pattern in wanted]
        with suppress(SpecError):
            return select(wanted, atoms.beginning(*starts) if isinstance(atoms, Shelf) else atoms, "atom")
    try:
        return select(bare, atoms, "atom")
    except SpecError as error:
        if isinstance(atoms, Shelf):
            families = atoms.families()
        else:
            families = [*{atom.family.name: atom.family for atom in atoms.values() if atom.family}.values()]
        for name, family in product(bare, families):
            for parameter, word in (family.read_name(name) or {}).items():
                values = [str(value) for value in family.params[parameter]]
                if word not in values:
                    problem = f"{name}: {parameter} = {word} is not one of {', '.join(values)} of {family.name}"
                    raise SpecError("", problem) from error
        if instruction := next((name for name in bare if isa_tables.expand(name)), ""):
            way = f"{instruction} is an instruction: `lanecheck check {instruction}` verifies the atoms that issue it"
            raise SpecError("", way) from error
        raise SpecError("", error.problem) from error


def unqualify(name: str) -> str:
    """Return a name without the namespaces `cute::` and `cutlass::`.

    >>> unqualify("cute::UniversalFMA<cutlass::half_t,cutlass::half_t>")
    'UniversalFMA<half_t,half_t>'
    """
    return re.sub(r"(?<![\w:])(?:::)?(?:cute|cutlass)::(?:arch::)?", "", name.strip())


def architecture(name: str) -> int | None:
    """Return the architecture that an atom's name begins with; None without one.

    >>> architecture("SM90_64x8x16_F16F16F16_SS"), architecture("UniversalFMA<float,float,float,float>")
    (90, None)
    """
    match = re.match(NAMED, name)
    return None if match is None else int(match[1])


def _is_of(name: str, start: str) -> bool:
    match = re.match(NAMED, name)
    return match is not None and match[0] == start


def _number(arch: str, atoms: Iterable[str]) -> int:
    """Return the number of an architecture; raises SpecError if no atom is of it."""
    known = sorted({number for name in atoms if (number := architecture(name)) is not None})
    match = re.fullmatch(ARCHITECTURE, arch)
    if match is None or int(match[1]) not in known:
        listed = ", ".join(f"sm{number}" for number in known) or "none"
        raise SpecError("arch", f"no atom is of the architecture {arch}; there are: {listed}")
    return int(match[1])


def checks(text: str, require: Sequence[str] = ()) -> frozenset[Check]:
    """Return the checks that a text names; raises SpecError, also if a required one is not among them.

    >>> sorted(checks("isa,gpu"))
    [<Check.GPU: 'gpu'>, <Check.ISA: 'isa'>]
    """
    try:
        chosen = frozenset(Check(word.strip()) for word in text.split(","))
    except ValueError as error:
        raise SpecError("checks", f"expected some of isa, proof, gpu, found {text}") from error
    missing = [word for word in require if Check(word) not in chosen]
    if missing:
        raise SpecError("require", f"{missing[0]} is not among the checks {text}")
    return chosen

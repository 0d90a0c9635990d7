# SPDX-License-Identifier: Apache-2.0
"""Instructions as a kind of subject: all else is compared with their tables, so their atoms are what is verified."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import isa_tables
from verify.atom.kind import ATOM, shipped_atoms, verifier
from verify.core.errors import UsageError
from verify.kind import LIKELY, Drawing, Kind, Recognition, Resources
from verify.report import Report

if TYPE_CHECKING:
    from verify.pictures.picture import Picture

OF_TABLES = frozenset({"isa", "section", "lanes", "mnemonic", "form"})  # keys at the top of an instruction's table
MNEMONIC = re.compile(r"[a-z][a-z0-9_]*\.[\w.:]+")


def recognize_mnemonic(text: str) -> Recognition | None:
    """Return a recognition of a text that is spelled as a mnemonic or a short name."""
    return Recognition(LIKELY, "it is spelled as a mnemonic") if MNEMONIC.fullmatch(text) else None


def is_table(tables: Mapping[str, object]) -> bool:
    """Return whether a TOML file is the table of an instruction."""
    return len(OF_TABLES & tables.keys()) > 1


def draw(text: str, options: Namespace) -> Picture:
    """Draw an instruction as the options of `show` say."""
    from verify.pictures.instructions import of_instruction

    return of_instruction(text, (options.rows, options.columns))


def find_atoms(what: Sequence[str]) -> Sequence[str]:
    """Return the shipped atoms that issue the instructions of mnemonics, or of short names such as `ldmatrix.x4`."""
    known = frozenset(isa_tables.mnemonics("*"))
    every: dict[str, None] = {}
    for text in what:
        if text.endswith(".toml"):
            raise UsageError(f"{text}: {INSTRUCTION.describe(Path(text))}")
        whole = spell_as_tables(text, known)  # of no short name: what has more words is another instruction
        meant = {whole} if whole in known else {*isa_tables.expand(text)}
        atoms = shipped_atoms().items()
        issuing = [
            name
            for name, atom in atoms
            if any(spell_as_tables(mnemonic, known) in meant for mnemonic in atom.ptx or ())
        ]
        if not issuing:
            try:
                isa_tables.instruction(text)
            except isa_tables.IsaError as error:
                raise UsageError(" ".join(str(error).split())) from error
            raise UsageError(f"no atom issues {text}: `lanecheck show` draws the instruction")
        every |= dict.fromkeys(issuing)
    return list(every)


def report_atoms(what: Sequence[str], *, allow_exec: bool = False) -> Report:
    """Return the verdicts on the shipped atoms that issue some instructions."""
    atoms, verify = shipped_atoms(), verifier(Resources())
    return Report(tuple(verify(atoms[name]) for name in find_atoms(what)))


def spell_as_tables(mnemonic: str, known: Collection[str]) -> str:
    """Return a mnemonic with its words in the order of the ISA tables; one that the ISA lacks as it is."""
    with suppress(isa_tables.IsaError):
        return mnemonic if mnemonic in known else isa_tables.instruction(mnemonic).signature.mnemonic
    return mnemonic


INSTRUCTION: Kind[Any] = Kind(
    name="instruction",
    singular="an instruction",
    plural="instructions",
    argument="an instruction (its mnemonic, or its short name)",
    example=("mma.m16n8k8",),
    command=ATOM.command,
    arguments=find_atoms,
    spelled=recognize_mnemonic,
    document=is_table,
    says=lambda path: "this is the table of an instruction: put it into isa_tables/ptx",
    report=report_atoms,
    drawing=Drawing(draw),
    names=lambda: isa_tables.mnemonics("*"),
)

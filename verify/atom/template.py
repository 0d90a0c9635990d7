# SPDX-License-Identifier: Apache-2.0
"""What `lanecheck init atom` asks for, and the file that it writes of the answers."""

from __future__ import annotations

import json
from collections.abc import Mapping

from layouts.atoms.reading import list_atoms
from layouts.toml.document import document
from layouts.toml.errors import AtomFileError
from verify.binding.completion import complete_atom
from verify.core.errors import SpecError
from verify.kind import Question, Template

NAME = "MY_ATOM"
QUESTIONS = (
    Question("ptx", "the instruction, as mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"),
    Question("A", "the layout of A, (thread, value) -> m + M*k, as ((4,8),(2,2,2)):((32,1),(16,8,128))"),
    Question("B", "the layout of B, (thread, value) -> n + N*k, as ((4,8),(2,2)):((16,1),(8,64))"),
    Question("C", "the layout of C, (thread, value) -> m + M*n, as ((4,8),(2,2)):((32,1),(16,8))"),
    Question("name", f"its name; empty: {NAME}", needed=False),
)


def write(answers: Mapping[str, str]) -> str:
    """Return the atom's file. Raises SpecError, its key that of a question, for answers that make none."""
    lines = ["# An atom that `lanecheck init atom` began; docs/atoms.md has every key.", ""]
    lines += [f"[{json.dumps(answers['name'] or NAME)}]"]
    lines += [f"{key:<4}= {json.dumps(answers[key])}" for key in ("ptx", "A", "B", "C")]
    text = "".join(f"{line}\n" for line in lines)
    try:
        for atom in list_atoms(document(text.encode(), "atom")).whole():
            complete_atom(atom)
    except AtomFileError as error:
        key = error.spot.key if error.spot is not None else ""
        raise SpecError(key if key in answers else "ptx", error.problem) from error
    return text


TEMPLATE = Template(
    "atom", "the layouts of an instruction's A, B and C", QUESTIONS, write, lambda _: "lanecheck check {}"
)

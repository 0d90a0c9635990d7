# SPDX-License-Identifier: Apache-2.0
"""What `lanecheck init map` asks for, and the file that it writes of the answers."""

from __future__ import annotations

import json
from collections.abc import Mapping

from verify.index.bind import bind
from verify.index.spec import of_options
from verify.kind import Question, Template

QUESTIONS = (
    Question("ptx", "the instruction, as mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"),
    Question("operand", "which operand of it the map is: A, B, C or D"),
    Question("row", "the row that lane and value i hold, as lane/4 + 8*(i/2)"),
    Question("col", "their column, as lane%4*2 + i%2"),
    Question("lang", "what these expressions are: c or python; empty: c", needed=False),
)


def write(answers: Mapping[str, str]) -> str:
    """Return the map's file. Raises SpecError, its key that of a question, for answers that make none."""
    given = {**answers, "lang": answers["lang"] or "c"}
    bind(of_options(given))
    lines = ["# A map that `lanecheck init map` began; docs/maps.md has every key.", ""]
    lines += [f"[{json.dumps('my ' + given['operand'])}]"]
    lines += [f"{key:<8}= {json.dumps(given[key])}" for key in ("ptx", "operand", "lang", "row", "col")]
    return "".join(f"{line}\n" for line in lines)


TEMPLATE = Template(
    "map",
    "index arithmetic: the row and column of lane and value",
    QUESTIONS,
    write,
    lambda answers: "lanecheck check {}",
)

# SPDX-License-Identifier: Apache-2.0
"""Evidence that subjects share has points, but no name, file or line of the subject on which it was found."""

from __future__ import annotations

from pathlib import Path

import pytest

from layouts.atoms.reading import ReadAtom
from verify.atom.checker import AtomChecker
from verify.binding.completion import atoms
from verify.core.verdict import Verdict

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
RIGHT = {
    "A": "((4,8),(2,2,2)):((32,1),(16,8,128))",
    "B": "((4,8),(2,2)):((16,1),(8,64))",
    "C": "((4,8),(2,2)):((32,1),(16,8))",
}
WRONG = {  # one operand in place of the right one
    "leaves its tile": {"C": "((4,8),(2,2)):((32,1),(16,16))"},
    "two owners": {"B": "((4,8),(2,2)):((16,1),(8,8))"},
    "another element": {"C": "((4,8),(2,2)):((32,1),(8,16))"},
    "another size": {"A": "((4,8),(2,2)):((32,1),(16,8))"},
    "right": {},
}


def written(folder: Path, name: str, operands: dict[str, str]) -> ReadAtom:
    path = folder / f"{name}_file.toml"
    lines = "\n" * len(name) + f'["{name}"]\nptx = "{MMA}"\n'
    path.write_text(lines + "".join(f'{key} = "{text}"\n' for key, text in operands.items()))
    (atom,) = atoms(path).whole()
    return atom


def found(verdicts: list[Verdict]) -> list[object]:
    """What the verdicts say, but for the time that it took and the subject that evidence is shared with."""
    return [
        (one.claim[1:], one.status, [e._replace(shared="", seconds=0.0, artifact="") for e in one.evidence], one.cause)
        for one in verdicts
    ]


@pytest.mark.parametrize("what", WRONG)
def test_evidence_of_another_atom_is_what_a_fresh_run_finds(what: str, tmp_path: Path) -> None:
    """The same layouts under another name, in another file, further down."""
    operands = {**RIGHT, **WRONG[what]}
    first, second = (written(tmp_path, name, operands) for name in ("early_bird", "the_second"))
    run = AtomChecker()
    before, shared, fresh = run.verify(first), run.verify(second), AtomChecker().verify(second)
    assert any(e.shared for one in shared for e in one.evidence), "nothing was shared"
    assert found(shared) == found(fresh)
    without = [e._replace(shared="") for one in shared for e in one.evidence]
    for trace in ("early_bird", str(tmp_path)):
        assert not any(trace in repr(e) for e in without)
        assert not any(trace in repr(e._replace(shared="")) for one in before for e in one.evidence)

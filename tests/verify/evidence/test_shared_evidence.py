# SPDX-License-Identifier: Apache-2.0
"""Evidence that subjects share has points, but no name, file or line of the subject on which it was found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from layouts import parse_layout
from layouts.atoms.reading import ReadAtom
from tests.verify.tiling.tilings import F16, TWO_BY_TWO, verify_tiling
from verify.atom.checker import AtomChecker
from verify.binding.completion import atoms
from verify.core.verdict import Verdict
from verify.movement.bind import bind
from verify.movement.properties import MovementChecker
from verify.movement.spec import AccessSpec, parse_tile
from verify.tiling.proof import Prover
from verify.tiling.spec import TilingSpec, swizzle_atom

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


def write_atom(folder: Path, name: str, operands: dict[str, str]) -> ReadAtom:
    path = folder / f"{name}_file.toml"
    lines = "\n" * len(name) + f'["{name}"]\nptx = "{MMA}"\n'
    path.write_text(lines + "".join(f'{key} = "{text}"\n' for key, text in operands.items()))
    (atom,) = atoms(path).whole()
    return atom


def list_facts(verdicts: Sequence[Verdict]) -> list[object]:
    """What the verdicts say, but for the time that it took and the subject that evidence is shared with."""
    return [
        (
            verdict.claim[1:],
            verdict.status,
            [e._replace(shared="", seconds=0.0, artifact="") for e in verdict.evidence],
            verdict.cause,
        )
        for verdict in verdicts
    ]


@pytest.mark.parametrize("what", WRONG)
def test_evidence_of_another_atom_is_what_a_fresh_run_finds(what: str, tmp_path: Path) -> None:
    """The same layouts under another name, in another file, further down."""
    operands = {**RIGHT, **WRONG[what]}
    first, second = (write_atom(tmp_path, name, operands) for name in ("early_bird", "the_second"))
    run = AtomChecker()
    before, shared, fresh = run.verify(first), run.verify(second), AtomChecker().verify(second)
    assert any(e.shared for verdict in shared for e in verdict.evidence), "nothing was shared"
    assert list_facts(shared) == list_facts(fresh)
    for trace in ("early_bird", str(tmp_path)):
        assert not traces(before, trace) and not traces(shared, trace)


def traces(verdicts: Sequence[Verdict], trace: str) -> list[str]:
    """The evidence, of whatever subject, in which a name or a file stands."""
    each = (repr(e._replace(shared="")) for verdict in verdicts for e in verdict.evidence)
    return [text for text in each if trace in text]


TILINGS: dict[str, dict[str, Any]] = {
    "right": {},
    "a claimed layout": {"claimed": {"C": "((4,8,2,2),(2,2)):((64,1,16,256),(32,8))"}},
    "a swizzle atom": {"smem": {"A": swizzle_atom("Sw<1,0,1> o (2,2):(1,5)")}},
}


@pytest.mark.parametrize("what", TILINGS)
def test_evidence_of_another_tiling_is_what_a_fresh_run_finds(what: str) -> None:
    specs = [
        TilingSpec(name, F16, TWO_BY_TWO, file=f"{name}.toml", **TILINGS[what]) for name in ("early_bird", "the_second")
    ]
    prover = Prover()
    before, shared = (verify_tiling(spec, prover).verdicts for spec in specs)
    assert list_facts(shared) == list_facts(verify_tiling(specs[1]).verdicts)
    assert not traces(before, "early_bird") and not traces(shared, "early_bird")


@pytest.mark.parametrize("tile", ["(64,64):(64,1)", "Sw<3,3,3> o (64,64):(64,1)"])
def test_evidence_of_another_movement_is_what_a_fresh_run_finds(tile: str) -> None:
    """One has bank conflicts."""
    keys = {"shared": parse_tile(tile), "access": parse_layout("(32,8):(1,64)"), "element": 16, "width": 128}
    specs = [AccessSpec(name=name, replay=f"{name}.toml", **keys) for name in ("early_bird", "the_second")]
    run = MovementChecker()
    before, shared = (run.case(bind(spec)).verdicts for spec in specs)
    fresh = MovementChecker().case(bind(specs[1])).verdicts
    assert list_facts(shared) == list_facts(fresh) and any(e.shared for verdict in shared for e in verdict.evidence)
    assert not traces(before, "early_bird") and not traces(shared, "early_bird")

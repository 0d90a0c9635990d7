# SPDX-License-Identifier: Apache-2.0
"""Instructions that no atom claims: every one is counted, and what is told of them is what the book and the GPU say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import isa_tables
from gpu_checks import recordings
from isa_tables import instruction, mnemonics
from isa_tables.signature import find
from layouts import Layout, size
from layouts.atoms import Atom, CopyAtom, registry
from verify.atlas import command
from verify.atlas.rows import Atlas, Told, tabulate
from verify.atlas.unclaimed import Silent, as_atom, unclaimed, written
from verify.atom.checker import AtomChecker
from verify.binding.atom import look_up
from verify.core.verdict import Check

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("unclaimed")]  # its fixtures are made once a run

BARE = tuple(unclaimed(registry().values()))
SPARSE = "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"


@pytest.fixture(scope="module")
def beside() -> Atlas:
    return tabulate((), AtomChecker(), BARE)


def test_every_instruction_has_an_atom_or_is_counted_here(beside: Atlas) -> None:
    named = {mnemonic for atom in registry().values() for mnemonic in atom.mnemonics}
    told = {find(name).mnemonic for name in named if not name.startswith("dp2a.s32")}
    assert told | set(BARE) == set(mnemonics("*")) and not told & set(BARE)
    assert sum(row.atoms for row in beside.unclaimed) == len(BARE) == beside.without_atom().atoms
    for row in beside.unclaimed:
        assert all(sum(counts.values()) == row.atoms for counts in row.told.values())


def test_nothing_that_was_recorded_is_left_out(beside: Atlas) -> None:
    """Sparse products, dp2a and moves without an atom agree with what the GPU showed; so does nothing less."""
    library = recordings()
    products = [
        n for n in BARE if n in library and not n.startswith(("wmma", "wgmma")) and isinstance(as_atom(n), Atom)
    ]
    moved = [n for n in BARE if n in library.moves]
    whole = beside.without_atom()
    assert whole.told[Check.GPU][Told.VERIFIED] >= len(products) + len(moved) > 140
    assert whole.told[Check.GPU][Told.REFUTED] == 0 and not whole.refuted


def test_what_the_isa_leaves_open_is_said(beside: Atlas) -> None:
    opened = [row for row in beside.unclaimed if row.family.startswith("wmma")]
    assert {row.family for row in opened} == {"wmma.load.sync", "wmma.mma.sync", "wmma.store.sync"}
    for row in opened:
        assert row.verdicts == {"UNSPECIFIED": row.atoms}
        assert all(reason.startswith("PTX ISA 9.7.14.4.1 leaves ") for reason in row.reasons[Check.ISA])
    seen = next(row for row in opened if row.instruction == "wmma.mma.sync m16n16k16")
    assert any(reason.startswith("observed, ") for reason in seen.reasons[Check.GPU])


@pytest.mark.parametrize("name", [n for n in BARE if n.startswith(("mma.s", "dp2a"))][::7])
def test_the_layouts_are_the_formulas_of_the_book(name: str) -> None:
    """Against the tables at every lane and value, for operands of which an element is one of the tile's."""
    found = as_atom(name)
    if isinstance(found, Silent):
        assert "dealt out differently" in found.reason
        return
    assert isinstance(found, Atom)
    book = instruction(name)
    for operand, swapped in (("B", True), ("C", False)):
        table = book.operands["D" if operand == "C" else operand]
        layout, thr = Layout.parse(found.operands[operand]), Layout.parse(found.thr)
        lanes = np.array([thr(t) for t in range(size(thr))])
        row, col = table.locate(lanes[:, None], np.arange(table.values))
        x, y = (col, row) if swapped else (row, col)
        width = table.extent[1 if swapped else 0]
        assert np.array_equal(layout(np.arange(len(lanes))[:, None], np.arange(table.values)), x + width * y)


def test_accumulators_that_differ_are_no_atom() -> None:
    found = as_atom("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16")
    assert isinstance(found, Silent) and "dealt out differently" in found.reason
    moved = as_atom("ldmatrix.sync.aligned.m8n8.x1.b16")
    assert isinstance(moved, CopyAtom) and moved.copies["Src"] == 4 and moved.space == {"Src": "smem", "Dst": "reg"}


def test_what_is_no_layout_is_not_written_as_one() -> None:
    assert written(lambda lane, value: lane ^ value, range(4), 4) is None
    assert written(lambda lane, value: 1 + lane + 4 * value, range(4), 4) is None


def test_a_wrong_book_is_contradicted_by_the_recordings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The book with rows and columns of a group exchanged: its own layouts then differ from what was recorded."""
    path = Path(isa_tables.__file__).parent / "ptx" / "mma.sp_m16n8k16_16b.toml"
    old, new = "%laneid >> 2", "%laneid % 8"
    assert old in path.read_text()
    (tmp_path / path.name).write_text(path.read_text().replace(old, new).replace("%laneid % 4", "%laneid // 8"))
    wrong = instruction(SPARSE, tmp_path)
    monkeypatch.setattr("isa_tables.instruction", lambda name, **_: wrong)
    look_up.cache_clear()
    try:
        found = tabulate((), AtomChecker(), [SPARSE])
    finally:
        look_up.cache_clear()
    assert found.without_atom().told[Check.GPU][Told.REFUTED] == 1 and found.exit == 3


def test_the_command_shows_them_only_with_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["SM61_DP4A", "--format", "markdown"]) == 0
    assert "without an atom" not in capsys.readouterr().out

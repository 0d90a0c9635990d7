# SPDX-License-Identifier: Apache-2.0
"""Instructions without an atom: every one is counted, with what the ISA tables and the recordings say of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import isa_tables
from gpu_checks import recordings
from isa_tables import instruction, mnemonics
from isa_tables.signature import find
from layouts import Layout, size
from layouts.atoms import registry
from verify.atlas import command
from verify.atlas.rows import Atlas, CheckOutcome, tabulate
from verify.atlas.without_atom import NoAtom, bind_own, find_layout, without_atom
from verify.atom.checker import AtomChecker
from verify.binding.atom import look_up
from verify.core.verdict import Check

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("atlas")]  # its fixtures are made once a run

BARE = tuple(without_atom(registry().values()))
SPARSE = "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"


@pytest.fixture(scope="module")
def bare() -> Atlas:
    return tabulate((), AtomChecker(), BARE)


def test_every_instruction_has_an_atom_or_is_counted_here(bare: Atlas) -> None:
    named = {mnemonic for atom in registry().values() for mnemonic in atom.mnemonics}
    shipped = {find(name).mnemonic for name in named if not name.startswith("dp2a.s32")}
    assert shipped | set(BARE) == set(mnemonics("*")) and not shipped & set(BARE)
    assert sum(row.atoms for row in bare.without_atom) == len(BARE) == bare.total_without_atom().atoms
    for row in bare.without_atom:
        assert all(sum(counts.values()) == row.atoms for counts in row.outcomes.values())


def is_product(mnemonic: str) -> bool:
    try:
        return not bind_own(mnemonic).is_copy
    except NoAtom:
        return False


def test_nothing_that_was_recorded_is_left_out(bare: Atlas) -> None:
    """Every recorded sparse product, dp2a and move without an atom agrees with its recording."""
    library = recordings()
    products = [n for n in BARE if n in library and not n.startswith(("wmma", "wgmma")) and is_product(n)]
    moved = [n for n in BARE if n in library.moves]
    whole = bare.total_without_atom()
    assert whole.outcomes[Check.GPU][CheckOutcome.VERIFIED] >= len(products) + len(moved) > 140
    assert whole.outcomes[Check.GPU][CheckOutcome.REFUTED] == 0 and not whole.refuted


def test_what_the_isa_leaves_open_is_unspecified(bare: Atlas) -> None:
    opened = [row for row in bare.without_atom if row.family.startswith("wmma")]
    assert {row.family for row in opened} == {"wmma.load.sync", "wmma.mma.sync", "wmma.store.sync"}
    for row in opened:
        assert row.verdicts == {"UNSPECIFIED": row.atoms}
        assert all(reason.startswith("PTX ISA 9.7.14.4.1 leaves ") for reason in row.reasons[Check.ISA])
    observed = next(row for row in opened if row.instruction == "wmma.mma.sync m16n16k16")
    assert any(reason.startswith("observed, ") for reason in observed.reasons[Check.GPU])


@pytest.mark.parametrize("name", [n for n in BARE if n.startswith(("mma.s", "dp2a"))][::7])
def test_the_layouts_equal_the_formulas_of_the_tables(name: str) -> None:
    """At every lane and value, for operands whose elements are elements of the tile."""
    try:
        maps = bind_own(name)
    except NoAtom as none:
        assert "C and D have different layouts" in none.reason
        return
    expected, layouts = instruction(name), {part.name: part.layout_of_text for part in maps.parts}
    for operand, swapped in (("B", True), ("C", False)):
        table = expected.operands["D" if operand == "C" else operand]
        layout, thr = layouts[operand], Layout.parse(maps.thr_text)
        lanes = np.array([thr(t) for t in range(size(thr))])
        row, col = table.locate(lanes[:, None], np.arange(table.values))
        x, y = (col, row) if swapped else (row, col)
        width = table.extent[1 if swapped else 0]
        assert np.array_equal(layout(np.arange(len(lanes))[:, None], np.arange(table.values)), x + width * y)


def test_accumulators_that_differ_are_no_atom() -> None:
    with pytest.raises(NoAtom, match="C and D have different layouts"):
        bind_own("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16")
    moved = bind_own("ldmatrix.sync.aligned.m8n8.x1.b16")
    assert moved.is_copy and moved.copies["Src"] == 4 and moved.space == {"Src": "smem", "Dst": "reg"}


def test_a_function_that_is_no_layout_is_not_written_as_one() -> None:
    assert find_layout(lambda lane, value: lane ^ value, range(4), 4) is None
    assert find_layout(lambda lane, value: 1 + lane + 4 * value, range(4), 4) is None


def test_a_wrong_table_is_contradicted_by_the_recordings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table with rows and columns of a group exchanged: its own layouts then differ from the recording."""
    path = Path(isa_tables.__file__).parent / "ptx" / "mma.sp_m16n8k16_16b.toml"
    old, new = "%laneid >> 2", "%laneid % 8"
    assert old in path.read_text()
    (tmp_path / path.name).write_text(path.read_text().replace(old, new).replace("%laneid % 4", "%laneid // 8"))
    wrong = instruction(SPARSE, tmp_path)
    monkeypatch.setattr("isa_tables.instruction", lambda name, **_: wrong)
    look_up.cache_clear()
    try:
        atlas = tabulate((), AtomChecker(), [SPARSE])
    finally:
        look_up.cache_clear()
    assert atlas.total_without_atom().outcomes[Check.GPU][CheckOutcome.REFUTED] == 1 and atlas.exit == 3


def test_the_command_shows_them_only_with_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["SM61_DP4A", "--format", "markdown"]) == 0
    assert "without an atom" not in capsys.readouterr().out

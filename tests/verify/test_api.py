# SPDX-License-Identifier: Apache-2.0
"""The commands as functions: the same verdicts by name, by file and as a value; what is wrong is raised in a line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import lanecheck
import verify
from layouts import Layout
from layouts.atoms import AtomFileError, registry
from tests.cases import each
from verify import kinds
from verify.core.errors import Exit, SpecError, UsageError
from verify.kind import Kind
from verify.movement import bind as movement
from verify.tiling import spec as tiling

EXAMPLES = Path(__file__).parents[2] / "examples"
NAME = "SM80_16x8x16_F32F16F16F32_TN"


def test_an_atom_by_name_by_file_and_as_a_value() -> None:
    by_name = verify.verify_atom(NAME)
    assert by_name.exit() is Exit.OK and [case.name for case in by_name.cases] == [NAME]
    assert verify.verify_atom(registry()[NAME]).cases == by_name.cases
    assert [case.name for case in verify.verify_atom("SM80_16x8x8").cases][:1] == ["SM80_16x8x8_F16F16F16F16_TN"]
    mine = verify.verify_atom(EXAMPLES / "my_atoms.toml")
    assert mine.exit() is Exit.OK
    assert verify.verify_atom(mine.cases[0].name, EXAMPLES / "my_atoms.toml").cases == mine.cases[:1]


def test_a_wrong_atom_is_refuted_and_raises_nothing() -> None:
    atom = registry()[NAME]
    wrong = replace(atom, name="wrong", operands={**atom.operands, "C": "((4,8),(2,2)):((32,1),(8,16))"})
    assert verify.verify_atom(wrong).exit() is Exit.REFUTED


def test_a_check_that_is_required_and_was_not_made_is_no_pass() -> None:
    atom = replace(registry()[NAME], name="unnamed", ptx=None)
    assert verify.verify_atom(atom).exit() is Exit.UNDECIDED
    assert verify.verify_atom(atom, allow_unchecked=True).exit() is Exit.OK
    assert verify.verify_atom(atom, require=["gpu"], allow_unchecked=True).exit() is Exit.UNDECIDED


def test_tilings_and_movements_by_file_by_name_and_as_values() -> None:
    for ask, read, file in (
        (verify.verify_tiling, tiling.read_tilings, EXAMPLES / "tilings.toml"),
        (verify.verify_movement, movement.read_movements, EXAMPLES / "movement.toml"),
    ):
        first = read(file).items[0]
        named = ask(first.name, file)
        assert named.exit() is Exit.OK and [case.name for case in named.cases] == [first.name]
        assert ask(first).exit() is Exit.OK
        with pytest.raises(UsageError, match="of which file"):
            ask(first.name)


@pytest.mark.parametrize(
    ("ask", "file", "says"),
    [
        (verify.verify_atom, "tilings.toml", "file of tilings"),
        (verify.verify_tiling, "my_atoms.toml", "file of atoms"),
        (verify.verify_movement, "maps.toml", "file of index arithmetic"),
        (verify.verify_index, "movement.toml", "file of movements"),
    ],
)
def test_a_file_of_another_sort_is_an_error(ask: Callable[..., object], file: str, says: str) -> None:
    with pytest.raises(UsageError, match=rf"{file}.*{says}"):
        ask(EXAMPLES / file)
    with pytest.raises((UsageError, AtomFileError), match=rf"{file}.*{says}"):
        ask("one of it", EXAMPLES / file)


def test_arguments_that_do_not_go_together_are_errors() -> None:
    for ask, file in ((verify.verify_atom, "my_atoms.toml"), (verify.verify_index, "maps.toml")):
        with pytest.raises(UsageError, match="give one of the two"):
            ask(EXAMPLES / file, "other.toml")
    with pytest.raises(UsageError, match="the keys of an entry, row, col: give one of the two"):
        verify.verify_index("one of it", EXAMPLES / "maps.toml", row="lane", col="i")
    with pytest.raises(UsageError, match="'nope' isn't a check: isa, proof, gpu"):
        verify.verify_atom(NAME, require=["isa", "nope"])


def test_a_layout_is_verified_onto_a_tile_or_against_another() -> None:
    assert verify.verify_layout("8:1", onto=8).exit() is Exit.OK
    assert verify.verify_layout("8:2", onto=8).exit() is Exit.REFUTED
    assert verify.verify_layout("(8,(2,1)):(1,(8,16))", equals=Layout((8, 2))).exit() is Exit.OK
    with pytest.raises(SpecError, match="one of the two"):
        verify.verify_layout("8:1")
    with pytest.raises(UsageError, match="8;1"):
        verify.verify_layout("8;1", onto=8)


def test_what_is_wrong_is_raised_as_the_command_prints_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nearest: SM80_16x8x16"):
        verify.verify_atom("SM80_16x8x17_F32F16F16F32_TN")
    broken = tmp_path / "broken.toml"
    broken.write_text("[a\n")
    with pytest.raises((UsageError, AtomFileError), match=r"broken\.toml:1"):
        verify.verify_atom(broken)


def test_importing_the_package_loads_none_of_it_but_where_the_kinds_are_listed() -> None:
    program = "import sys, verify; print(*sorted(name for name in sys.modules if name.startswith('verify.')))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["verify.core", "verify.core.registry"]
    assert "verify_atom" in dir(verify) or verify.verify_atom is not None
    with pytest.raises(AttributeError, match="no attribute 'verify_nothing'"):
        verify.verify_nothing  # noqa: B018


def test_a_tile_of_which_no_owners_can_be_counted_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="--onto 1048576x1048576: the tile has more than 2\\^24 elements"):
        verify.verify_layout("8:1", onto=(1 << 20, 1 << 20))


@pytest.mark.parametrize("onto", ["16x8", (16, 8, 1), (16, "8"), (16, 0), (True, 8), 0, 1.5])
def test_a_tile_that_is_none_is_a_spec_error(onto):
    with pytest.raises(SpecError, match="expected a tile such as"):
        verify.verify_layout("((4,8),(2,2)):((32,1),(16,8))", onto=onto)


@pytest.mark.long
@each("kind", [kind for kind in kinds.KINDS if kind.name not in ("campaign", "foreign")], ids=lambda kind: kind.name)
def test_check_verifies_the_example_of_every_kind(kind: Kind[Any]) -> None:
    options = {"onto": (16, 8)} if kind.name == "layout" else {}
    what = [word for word in kind.example if word not in ("--onto", "16x8")]
    report = lanecheck.check(*what, **options)
    assert report.check() and lanecheck.check(*what, kind=kind.name, **options).exit() is Exit.OK
    assert lanecheck.check(*what, require=["gpu"], **options).exit() in (Exit.OK, Exit.UNDECIDED)


def test_check_takes_paths_values_and_several_kinds() -> None:
    report = lanecheck.check(EXAMPLES / "movement.toml", NAME)
    assert report.check() and report.cases[-1].name == NAME
    assert lanecheck.check(registry()[NAME], kind="atom").check()
    assert lanecheck.check(Layout.parse("(4,8):(8,1)"), equals="(4,8):(8,1)").check()
    wrong = lanecheck.check("((4,8),8):((32,1),8)", onto=(8, 32))
    assert wrong.exit() is Exit.REFUTED and "both hold" in wrong.text()


@each(
    ("what", "options", "problem"),
    [
        ((), {}, "check what?"),
        ((3,), {}, "3 is neither a path nor a text: say its kind="),
        ((NAME,), {"onto": (4, 4)}, "onto= is not read for atoms"),
        (("8:1",), {"claim": "x.toml"}, "claim= is not read for a layout: it reads equals, onto, operand and ptx"),
        (("DM",), {"require": ["isaa"]}, "require: 'isaa' isn't a check"),
        (("examples/campaign.toml",), {}, "campaigns have no verdicts"),
        (("examples/kernel/fragment.ptx",), {}, "give one kernel and its claim"),
        (("examples/kernel/fragment.toml",), {}, "names no kernel: give it before --claim"),
        (("missing.ptx",), {"claim": "examples/kernel/fragment.toml"}, "cannot read missing.ptx"),
    ],
    ids=str,
)
def test_check_says_what_it_does_not_read(what: tuple[object, ...], options: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        lanecheck.check(*what, **options)


def test_code_of_others_runs_in_ci_only_if_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(UsageError, match="allow_exec=True"):
        lanecheck.check("tinygrad")

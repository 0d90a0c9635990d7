# SPDX-License-Identifier: Apache-2.0
"""Entries verified one by one: a malformed one, or a fault of ours, costs the others nothing."""

from pathlib import Path

import pytest

from layouts.atoms import AnyAtom
from tests.verify.test_several_instructions import ENTRY, K16, quote
from verify.atlas import command as atlas
from verify.atom import command
from verify.atom.checker import AtomChecker
from verify.core.verdict import Verdict
from verify.tiling import command as tiling


# one atom's failure
def test_a_fault_of_ours_in_one_atom_leaves_the_others_their_verdicts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "three.toml"
    path.write_text("".join(ENTRY.format(name=name, ptx=quote(K16)) for name in ("one", "two", "three")))
    true = AtomChecker.verify

    def checked(self: AtomChecker, atom: AnyAtom, *rest: object, **options: object) -> list[Verdict]:
        if atom.name == "two":
            raise ZeroDivisionError("planted")
        return true(self, atom, *rest, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(AtomChecker, "verify", checked)
    assert command.main(["--atoms", str(path)]) == 3
    output = capsys.readouterr()
    assert "one    VERIFIED" in output.out and "three  VERIFIED" in output.out and "two" not in output.out
    assert "internal error, two was not verified: ZeroDivisionError: planted" in output.err
    assert "Traceback" not in output.err


def test_an_atom_that_is_malformed_for_its_instruction_leaves_the_others_their_verdicts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "two.toml"
    bad = ENTRY.format(name="bad", ptx=quote(K16)) + 'E = "((4,8),(2,2,2)):((32,1),(16,8,128))"\n'
    path.write_text(bad + ENTRY.format(name="fine", ptx=quote(K16)))
    assert command.main(["--atoms", str(path)]) == 2
    output = capsys.readouterr()
    assert "fine  VERIFIED" in output.out
    line = 1 + next(i for i, text in enumerate(path.read_text().splitlines()) if text.startswith("E = "))
    assert output.err.startswith(f"lanecheck: {path}:{line}:1: bad.E: ") and "has no operand E\n" in output.err


def test_an_atom_that_is_malformed_or_fails_leaves_the_others_their_rows_in_the_atlas_and_their_tilings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, given = tmp_path / "two.toml", tmp_path / "tilings.toml"
    bad = ENTRY.format(name="bad", ptx=quote(K16)) + 'E = "((4,8),(2,2,2)):((32,1),(16,8,128))"\n'
    path.write_text(bad + ENTRY.format(name="fine", ptx=quote(K16)))
    assert atlas.main(["--atoms", str(path), "-q"]) == 2
    output = capsys.readouterr()
    assert output.out.startswith("1 atoms of 1 instructions: 1 VERIFIED;") and output.out.endswith("exit 2\n")
    assert output.err.count("has no operand E\n") == 1
    given.write_text('["one"]\natom = "fine"\n["two"]\natom = "fine"\natoms_layout = [2]\n')
    assert tiling.main([str(given), "--atoms", str(path), "-q"]) == 2
    output = capsys.readouterr()
    assert output.out.startswith("2 subjects: 2 verified;") and output.err.count("has no operand E\n") == 1
    path.write_text(ENTRY.format(name="bad", ptx=quote(K16)) + ENTRY.format(name="fine", ptx=quote(K16)))
    right = AtomChecker.verify

    def failing(checker: AtomChecker, atom: AnyAtom, **options: object) -> list[Verdict]:
        if atom.name == "bad":
            raise ZeroDivisionError("planted")
        return right(checker, atom, **options)

    monkeypatch.setattr(AtomChecker, "verify", failing)
    monkeypatch.delenv("LANECHECK_TRACEBACK", raising=False)
    assert atlas.main(["--atoms", str(path), "-q"]) == 3
    output = capsys.readouterr()
    assert output.out.startswith("1 atoms of 1 instructions: 1 VERIFIED;") and output.out.endswith("exit 3\n")
    assert "internal error, bad was not verified: ZeroDivisionError: planted" in output.err

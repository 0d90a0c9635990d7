# SPDX-License-Identifier: Apache-2.0
"""What was read of files goes with the report: each subject's line, and each error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.verify.test_user_files import FULL, TILING
from verify.core.errors import Exit, SpecError
from verify.report import Failure
from verify.report.loaded import LoadedFiles
from verify.tiling import command as tiling
from verify.tiling.spec import TilingSpec

ONE, TWO = TilingSpec("one", "x"), TilingSpec("two", "x")
WRONG = Failure("mine", "mine: wrong", Exit.USAGE)


def test_names_select_and_errors_are_kept() -> None:
    loaded = LoadedFiles((ONE, TWO), failures=(WRONG,))
    assert loaded.only([], "tiling") is loaded
    assert loaded.only(["tw*"], "tiling") == LoadedFiles((TWO,), failures=(WRONG,))
    with pytest.raises(SpecError, match="no tiling is named 'three'"):
        loaded.only(["three"], "tiling")
    assert loaded.adding([WRONG]) == loaded and loaded.adding([]) == loaded
    assert LoadedFiles((ONE,)).adding([WRONG]).failures == (WRONG,)


def test_atoms_of_a_file_leave_the_tilings_their_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, atoms = tmp_path / "tilings.toml", tmp_path / "atoms.toml"
    file.write_text(f"\n\n{TILING}")
    atoms.write_text(FULL)
    tiling.main([str(file), "--atoms", str(atoms), "--format", "json"])
    (subject,) = json.loads(capsys.readouterr().out)["subjects"]
    assert subject["place"] == {"file": str(file), "line": 3, "column": 2}

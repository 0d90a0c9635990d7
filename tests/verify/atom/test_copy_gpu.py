# SPDX-License-Identifier: Apache-2.0
"""Copies compared with what a GPU moved: the first byte in another place is named."""

from __future__ import annotations

import pytest

from tests.verify.test_adapters import PAIRS, ldmatrix
from tests.verify.test_copy_soundness import toml
from verify.atom import command as atom


@pytest.mark.parametrize(
    ("permutation", "order", "code", "said"),
    [
        (PAIRS, (1, 0, 2), 0, ""),
        (
            PAIRS,
            (0, 1, 2),
            1,
            "Dst calls byte 2 of lane 0 bits 16..23; it is byte 0 of lane 8, which Src calls bits 1024..1031",
        ),
        (
            None,
            (1, 0, 2),
            1,
            "Dst calls byte 2 of lane 0 bits 1024..1031; it is byte 2 of lane 0, which Src calls bits 16..23",
        ),
    ],
)
def test_the_gpus_check_alone_finds_the_first_byte(permutation, order, code, said, tmp_path, capsys) -> None:
    file = tmp_path / "atoms.toml"
    file.write_text(toml(ldmatrix(False, permutation, order)), encoding="utf-8")
    assert atom.main(["--atoms", str(file), "--checks", "gpu", "--require", "gpu", "-v"]) == code
    assert said in capsys.readouterr().out

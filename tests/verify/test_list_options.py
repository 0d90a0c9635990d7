# SPDX-License-Identifier: Apache-2.0
"""What a command does not need for --list is checked all the same: nonsense beside it is exit 2, not passed over."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify import atom, movement, tiling

ACCESS = ["--shared", "256:1", "--access", "(32,1):(1,0)", "--element", "32"]
TILED = ["--atom", "SM80_16x8x16_F32F16F16F32_TN"]


@pytest.mark.parametrize(
    ("command", "words", "told"),
    [
        (atom, ["SM80_16x8x16", "--witness", "D"], "one of book, proof, silicon"),
        (atom, ["SM80_16x8x16", "--recordings", "/no/such/folder"], "/no/such/folder"),
        (atom, ["SM80_16x8x16", "--rlimit", "0"], "must be positive"),
        (atom, ["SM80_16x8x16", "--witness", "book", "--require", "silicon"], "contradicts"),
        (atom, ["SM80_16x8x16", "--live", "--witness", "book"], "--live"),
        (atom, ["SM80_16x8x16", "--emit-smt", "smt"], "goes without --emit-smt"),
        (tiling, [*TILED, "--rlimit", "-1"], "must be positive"),
        (tiling, [*TILED, "--explain"], "goes without --explain"),
        (movement, [*ACCESS, "--rlimit", "0"], "must be positive"),
        (movement, [*ACCESS, "--search-swizzle"], "goes without --search-swizzle"),
    ],
)
def test_nonsense_beside_list_is_a_usage_error(
    capsys: pytest.CaptureFixture[str], command: object, words: list[str], told: str
) -> None:
    code = command.main([*words, "--list"])  # type: ignore[attr-defined]
    out, err = capsys.readouterr()
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert told in err


def test_what_is_right_beside_list_stays_right(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for command, words in ((atom, ["SM80_16x8x16", "--witness", "book"]), (tiling, TILED), (movement, ACCESS)):
        assert command.main([*words, "--rlimit", "1000", "--list"]) == 0  # type: ignore[attr-defined]
    assert capsys.readouterr().err == ""

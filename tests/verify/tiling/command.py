# SPDX-License-Identifier: Apache-2.0
"""`lanecheck tiling` as tests call it."""

from __future__ import annotations

import pytest

from verify.tiling import command as tiling

F16 = "SM80_16x8x16_F32F16F16F32_TN"
FMA = "UniversalFMA<float,float,float,float>"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """The exit code, stdout and stderr."""
    code = tiling.main([*words])
    printed = capsys.readouterr()
    return code, printed.out, printed.err

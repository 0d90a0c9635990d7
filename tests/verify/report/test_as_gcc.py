# SPDX-License-Identifier: Apache-2.0
"""Reports as compilers print theirs."""

from __future__ import annotations

import pytest

from tests.verify.report.test_alike import WRONG
from verify.kernel.command import main


@pytest.mark.long
def test_an_editor_can_jump_to_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*WRONG, "--seed", "1", "--format", "gcc"]) == 1
    first = capsys.readouterr().out.splitlines()[0]
    assert first.endswith("matmul.py:23:17: error: matmul  REFUTED: C[m,n] = sum_k A[m,k]*B[k,n] [values]")

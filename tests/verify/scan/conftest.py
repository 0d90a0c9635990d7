# SPDX-License-Identifier: Apache-2.0
"""A copy of the example headers, in which texts are replaced."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from verify.scan.command import main

HEADERS = Path(__file__).parents[3] / "examples" / "headers"


@pytest.fixture
def scan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Scan a copy of the example headers, in which texts are replaced; the exit code and what is printed."""
    for folder in ("arch", "atom"):
        (tmp_path / folder).mkdir()
        for path in (HEADERS / folder).iterdir():
            (tmp_path / folder / path.name).write_text(path.read_text())

    def run(*options: str, **replaced: tuple[str, str]) -> tuple[int, str]:
        for name, (old, new) in replaced.items():
            (path,) = tmp_path.glob(f"a*/{name}_own.hpp")
            text = path.read_text()
            assert old in text
            path.write_text(text.replace(old, new))
        code = main([str(tmp_path), *options])
        return code, " ".join(capsys.readouterr().out.split())

    return run

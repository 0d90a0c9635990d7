# SPDX-License-Identifier: Apache-2.0
"""An alert is where the fault is: in the source, the claim, the PTX or the function; a warning is an alert too."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from tests.verify.kernel.test_consequences import LANES
from tests.verify.kernel.test_mends import TURN
from verify.kernel.claims.compiled import place_error
from verify.kernel.command import main
from verify.kernel.report import verify_kernel, verify_safety
from verify.report.alerts import Level, alerts

SAFE = Path(__file__).parents[2] / "kernels/safe"
BAD = """grid = 1
block = 64
params = ["A"]
claim = "A[i] = 1"
[arrays]
A = { dims = "i", type = "f99", out = true }
[sizes]
I = 64
"""


def test_wrong_values_are_where_they_are_stored(tmp_path: Path) -> None:
    file = tmp_path / "turn.ptx"
    file.write_text(TURN.replace("add.f32 %f5, %f3, %f4;", "sub.f32 %f5, %f3, %f4;"))
    (alert,) = alerts(verify_kernel(str(file), LANES, seed=1))
    assert alert.rule == "values" and alert.place is not None
    assert "st.global" in file.read_text().splitlines()[alert.place.line - 1]


def test_a_warning_is_an_alert_that_fails_no_run() -> None:
    ptx = (SAFE / "elementwise.ptx").read_text()
    old = "and.b32 \t%r13, %r11, 254;"
    assert ptx.count(old) == 1
    table = tomllib.loads((SAFE / "elementwise.toml").read_text())
    report = verify_safety(ptx.replace(old, old.replace("254", "238")), table, seed=1)
    (alert,) = alerts(report)
    assert bool(report) and (alert.rule, alert.level) == ("letter", Level.WARNING)
    assert "equal values written twice" in alert.text and "CTA" not in alert.text and "CTA" in alert.exact
    strict = verify_safety(ptx.replace(old, old.replace("254", "238")), table, seed=1, strict=True)
    assert not strict and [(raised.rule, raised.level) for raised in alerts(strict)] == [("letter", Level.ERROR)]


def test_a_claim_that_cannot_be_read_has_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel, claim = tmp_path / "turn.ptx", tmp_path / "turn.toml"
    kernel.write_text(TURN)
    claim.write_text(BAD)
    words = [str(kernel), "--claim", str(claim), "--format"]
    assert main([*words, "gcc"]) == 2
    line = next(number for number, text in enumerate(BAD.splitlines(), 1) if "f99" in text)
    assert capsys.readouterr().out.startswith(f"{claim}:{line}:19: error: arrays.A")
    assert main([*words, "sarif"]) == 2
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == line
    assert main([str(tmp_path / "none.ptx"), "--claim", str(claim), "--format", "gcc"]) == 2  # of no file: no place
    assert capsys.readouterr().out.startswith("lanecheck: error: ")


def test_an_error_of_triton_has_the_line_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "k.py"
    file.write_text(
        "import triton\n\n@triton.jit\ndef other(x):\n    pass\n\n@triton.jit\ndef add(x):\n    y = 1\n    z\n"
    )
    assert place_error(file, "add", "CompilationError: at 3:4: NameError('z')") == f"{file}:10:5: "
    assert place_error(file, "add", "ImportError: no") == place_error(file, "none", "at 3:4: no") == ""

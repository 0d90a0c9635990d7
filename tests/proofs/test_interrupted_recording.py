# SPDX-License-Identifier: Apache-2.0
"""How the commands that record proofs end when they are interrupted or get impossible options."""

from __future__ import annotations

import re
from types import ModuleType

import pytest

from proofs.laws import certificates
from proofs.symbolic import campaign


def interrupt_recording(*_: object) -> list[str]:
    raise KeyboardInterrupt


@pytest.mark.long
@pytest.mark.parametrize(
    ("module", "step", "words", "expected"),
    [
        (campaign, "examine_missing", [], r"campaign: interrupted: \d+ of \d+ operations not recorded\n"),
        (certificates, "faults", ["--check"], "certificates: interrupted\n"),
        (certificates, "certificate", ["--check", "--prove"], r"certificates: interrupted: (\d+) of \1 laws not .*\n"),
    ],
)
def test_an_interruption_is_one_line(
    module: ModuleType,
    step: str,
    words: list[str],
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(module, step, interrupt_recording)
    assert module.main(words) == 130
    out, err = capsys.readouterr()
    other_solver = r"index\.json: made by .*, proved anew by .*\n"  # than that of the shipped certificates
    assert re.fullmatch(f"({other_solver})?", out) and re.fullmatch(expected, err), (out, err)


def test_no_process_is_too_few(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        campaign.main(["--jobs", "0"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith("error: --jobs 0: at least 1\n")

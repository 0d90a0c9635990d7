# SPDX-License-Identifier: Apache-2.0
"""When text is in colour: on a terminal, unless NO_COLOR or FORCE_COLOR says otherwise; without another library."""

import io
import sys

import pytest

from verify.cli import output


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("terminal", "environment", "painted"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (False, {"FORCE_COLOR": "1"}, True),
        (True, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
    ],
)
def test_colour(terminal: bool, environment: dict[str, str], painted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    screen = Screen() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setitem(sys.modules, "rich", None)  # it would be an ImportError
    output.write("SM80 VERIFIED, UNVERIFIED REFUTED\n", None)
    coloured = "SM80 \x1b[32mVERIFIED\x1b[0m, UNVERIFIED \x1b[1;31mREFUTED\x1b[0m\n"
    assert screen.getvalue() == (coloured if painted else "SM80 VERIFIED, UNVERIFIED REFUTED\n")


def test_a_file_is_never_in_colour(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    output.write("VERIFIED\n", str(tmp_path / "report"))
    assert (tmp_path / "report").read_text() == "VERIFIED\n"

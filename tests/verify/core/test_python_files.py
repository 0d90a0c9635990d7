# SPDX-License-Identifier: Apache-2.0
"""A Python file, or a function of it, that is misspelled or isn't there is named in one line; the file is not run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases import each
from tests.messages import TWO_COLONS
from verify.core import python_files

PLAIN = "import os as system\nfrom math import ceil\nraise_ = 1\ndef kernel(): pass\nclass Inside:\n    def c(): pass\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.py").write_text(PLAIN)
    (tmp_path / "runs.py").write_text(f"{PLAIN}if True:\n    more = 2\n")
    (tmp_path / "star.py").write_text(f"from math import *\n{PLAIN}")
    (tmp_path / "wrong.py").write_text("def kernel(:")
    return tmp_path


@each("text", ["x.py::kernel", "x.py::Inside.c", "x.py::system", "x.py::ceil", "x.py::raise_", "8:1", "a.ptx"])
def test_what_is_there_or_is_no_function_passes(text: str, folder: Path) -> None:
    assert python_files.find_fault(text) == ""


@each("text", ["runs.py::more", "runs.py::unseen", "star.py::sqrt", "wrong.py::kernel"])
def test_what_only_running_the_file_would_tell_passes(text: str, folder: Path) -> None:
    assert python_files.find_fault(text) == ""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x.py:kernel", f"x.py:kernel: {TWO_COLONS} x.py::kernel"),
        ("y.py::kernel", "y.py: there is no such file"),
        ("x.py", "x.py: name a function of it: x.py::kernel"),
        ("wrong.py", "wrong.py: name a function of it: wrong.py::NAME"),
        ("x.py::kernal", "x.py::kernal: x.py has no 'kernal'; nearest: kernel"),
    ],
)
def test_what_is_misspelled_is_one_line(text: str, says: str, folder: Path) -> None:
    assert python_files.find_fault(text) == says

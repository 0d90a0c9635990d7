# SPDX-License-Identifier: Apache-2.0
"""The PTX that was compiled here is kept where a finding's line can be looked up; a folder that can't be is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.kernel.kept import keep_ptx
from verify.kernel.report import verify_kernel

EXAMPLES = Path(__file__).parents[3] / "examples/kernel"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "lanecheck/ptx"


def test_the_next_compile_of_a_source_takes_its_place(cache: Path) -> None:
    said = [keep_ptx(text, name) for text, name in (("one", "a.py::f"), ("two", "a.py::f"), ("three", "b.py::f"))]
    kept = [Path(note.removeprefix("its PTX is ")) for note in said]
    assert kept[0] == kept[1] != kept[2] and {path.parent for path in kept} == {cache}
    assert [path.read_text(encoding="utf-8") for path in kept] == ["two", "two", "three"]
    assert kept[0].name.startswith("f-") and kept[0].suffix == ".ptx"


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert keep_ptx("text", "a.cu").startswith("its PTX is not kept: ")


def test_a_refuted_kernel_names_its_ptx_and_a_right_one_keeps_none(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, count in (("matmul", 0), ("wrong", 1)):
        text = (EXAMPLES / f"{name}.ptx").read_text(encoding="utf-8")
        source = tmp_path / f"{name}.cu"
        source.write_text("__global__ void kernel();", encoding="utf-8")
        monkeypatch.setattr("verify.kernel.nvcc.compile_cuda", lambda *_, text=text: text)  # there may be no nvcc
        report = verify_kernel(source, EXAMPLES / "matmul.toml", sizes={"M": 100, "N": 80, "K": 48}, seed=1)
        kept = list(cache.glob("*.ptx")) if cache.exists() else []
        assert len(kept) == count and bool(report) is not bool(count)
    (path,) = kept
    assert path.read_text(encoding="utf-8") == text
    assert f"compiled by nvcc for sm_90a; its PTX is {path}" in report.cases[0].notes

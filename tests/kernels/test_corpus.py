# SPDX-License-Identifier: Apache-2.0
"""The corpus: its rows, its claims, and that the kept kernels are what the compilers make of the sources today."""

from __future__ import annotations

import re
import shutil
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.kernels.reasons import machine_code
from tests.kernels import compile as corpus

ROWS = corpus.rows()
KEPT = [row for row in ROWS if row.kept]
EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "kernel").glob("*.ptx"))


def test_the_corpus_has_types_shapes_warps_stages_architectures_and_levels() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS) >= 60
    assert Counter(row.source for row in ROWS).keys() == {
        path.name for path in corpus.SOURCES.iterdir() if path.suffix in (".cu", ".py")
    }
    types = {row.names["type"] for row in ROWS if "type" in row.names}
    assert types >= {"f16", "bf16", "tf32", "f32", "f64", "s8", "e4m3", "e5m2"}
    assert {row.target for row in ROWS} >= {"sm_75", "sm_80", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120"}
    assert {row.names.get("warps") for row in ROWS} >= {4, 8}
    assert {row.names.get("stages") for row in ROWS} >= {1, 2, 3, 4}
    assert any("-G" in row.options for row in ROWS)


def test_the_kept_kernels_are_the_files_of_the_folder_and_of_modest_size() -> None:
    names = {path.name for path in corpus.COMPILED.iterdir()}
    assert names == {f"{row.name}.{suffix}" for row in KEPT for suffix in ("ptx", "toml")}
    assert sum(path.stat().st_size for path in corpus.COMPILED.iterdir()) < 704 * 1024
    for row in KEPT:
        text = (corpus.COMPILED / f"{row.name}.ptx").read_text()
        assert re.search(rf"^\.target {row.target}a?\b", text, re.MULTILINE)
        assert "/work" not in text and "/home" not in text and ".debug" not in text


@pytest.mark.parametrize("row", KEPT, ids=lambda row: row.name)
def test_a_kept_claim_is_its_templates(row: corpus.Row) -> None:
    text = (corpus.COMPILED / f"{row.name}.toml").read_text()
    kept = tomllib.loads(text)
    assert {size: row.names[size] for size in "MNKWDHGS" if size in row.names}.items() <= kept["sizes"].items()
    metadata = {"threads": kept["block"], "shared": kept.get("smem", 0)}
    assert row.claim(metadata) == text


@pytest.mark.slow
def test_every_kernel_compiles_to_what_is_kept() -> None:
    """The texts differ between versions of a compiler; the instructions that matter do not."""
    if reason := corpus.explain_missing():
        pytest.skip(reason)
    made = dict(zip((row.name for row in ROWS), corpus.compile_rows(ROWS), strict=True))
    for row in KEPT:
        ptx, claim = made[row.name]
        assert claim == (corpus.COMPILED / f"{row.name}.toml").read_text()
        kept = (corpus.COMPILED / f"{row.name}.ptx").read_text()
        for head in ("mma.sync", "wgmma.mma_async", "ldmatrix", "cp.async.bulk.tensor", "bar.sync", "stmatrix"):
            assert ptx.count(head) == kept.count(head), (row.name, head)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("ptxas") is None, reason="needs ptxas")
@pytest.mark.parametrize("path", [*sorted(corpus.COMPILED.glob("*.ptx")), *EXAMPLES], ids=lambda path: path.stem)
def test_a_kept_text_assembles(path: Path) -> None:
    """Nothing refers to the debug sections that were left out."""
    assert machine_code(path.read_text()) is not None

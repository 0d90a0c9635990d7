# SPDX-License-Identifier: Apache-2.0
"""The site: it is made strictly and without network, has every page, and shows each wrong map of the museum."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.museum.page import REPORTS
from tests.site import build, museum

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.relative_to(ROOT / "docs").with_suffix("").as_posix() for path in (ROOT / "docs").rglob("*.md"))


def test_every_page_is_in_the_navigation() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r"- ([\w/.-]+)\.md$", text, re.MULTILINE)
    assert sorted(listed) == sorted([*PAGES, "command-line"])


@pytest.mark.slow
def test_the_museum_has_a_picture_of_each_wrong_map(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = museum.with_pictures(tmp_path)
    without = [one.number for one in REPORTS if one.refuted and f"(museum/{one.number}.svg)" not in text]
    assert without in ([], [38])  # a misaligned access, which is not drawn
    for name in re.findall(r"\(museum/(\d+\.svg)\)", text):
        assert (tmp_path / "museum" / name).read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.slow
def test_the_site_is_made_without_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if importlib.util.find_spec("zensical") is None:
        pytest.skip("zensical is not installed (it is in the dependency group `docs`)")
    monkeypatch.chdir(ROOT)
    build.pages(tmp_path / "build" / "pages")
    (tmp_path / "build" / "pages" / "verdicts" / "atlas.html").write_text("the atlas", encoding="utf-8")
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    for name in ("verify", "layouts", "isa_tables", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, **nowhere}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for page in [*PAGES, "command-line"]:
        text = (tmp_path / "site" / f"{page.replace('reports/README', 'reports/index')}.html").read_text(
            encoding="utf-8"
        )
        loaded = re.findall(r"<(?:script|img|source|iframe)[^>]*src=\"([^\"]*)", text)
        loaded += re.findall(r"<link[^>]*rel=\"(?:stylesheet|preconnect|icon)\"[^>]*href=\"([^\"]*)", text)
        assert [one for one in loaded if one.startswith(("http", "//"))] == [], page
    assert len(json.loads((tmp_path / "site" / "search.json").read_text(encoding="utf-8"))["items"]) > 300
    assert "SM80_16x8x16" in (tmp_path / "site" / "api.html").read_text(encoding="utf-8")

# SPDX-License-Identifier: Apache-2.0
"""The HTML page: whole, self-contained, and nothing of the user's text becomes markup."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from verify.atom import command as atom

VOID = {"meta", "br", "th", "td"}  # HTML closes these by itself
HOSTILE = """["<script>alert(1)</script>"]
shape = [16, 8, 16]
thr = "32:1"
types = { D = "f32", A = "f16", B = "f16", C = "f32" }
A = "((4,8),(2,2,2)):((32,1),(16,8,128))"
B = "((4,8),(2,2)):((16,1),(8,64))"
C = "((4,8),(2,2)):((32,1),(16,8))"
source = "a test"
"""


class Page(HTMLParser):
    """Collects the text, and the tags with what they point to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.links: list[str | None] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def page(tmp_path: Path, *words: str) -> Page:
    target = tmp_path / "report.html"
    atom.main([*words, "--format", "html", "-o", str(target)])
    return Page(target.read_text(encoding="utf-8"))


@pytest.mark.parametrize("words", [["SM80_16x8x16"], ["--atoms", "tests/museum/wrong.toml"]], ids=str)
def test_the_page_is_whole_and_fetches_nothing(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).resolve().parents[3])
    made = page(tmp_path, *words)
    assert not made.open and not made.links and not made.tags & {"script", "link", "img", "iframe"}
    text = "".join(made.words)
    assert ("SM80_16x8x16_F32F16F16F32_TN" in text) == (words == ["SM80_16x8x16"])
    assert ("T0 V4 and T1 V0 both hold (n=0, k=4)" in text) == ("--atoms" in words)
    assert " ms" not in text


def test_a_name_is_text(tmp_path: Path) -> None:
    file = tmp_path / "hostile.toml"
    file.write_text(HOSTILE, encoding="utf-8")
    made = page(tmp_path, "--atoms", str(file))
    assert "script" not in made.tags
    assert "<script>alert(1)</script>" in "".join(made.words)

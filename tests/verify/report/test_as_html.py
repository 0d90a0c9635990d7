# SPDX-License-Identifier: Apache-2.0
"""The HTML page: whole, self-contained, and nothing of the user's text becomes markup."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from verify import verify_atom, verify_layout
from verify.atom import command as atom
from verify.kernel import command as kernel
from verify.pictures.html import script
from verify.pictures.picture import Picture, Window
from verify.report import Report, as_html

VOID = {"meta", "input"}  # HTML closes it by itself
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
        self.tags: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.unfolded: list[str] = []
        self.cases: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.cases += [pair for pair in attrs if pair == ("class", "case")]
        if tag == "details" and ("open", "") in attrs:
            self.unfolded += [value or "" for name, value in attrs if name == "id"]
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]
        self.ids += [value or "" for name, value in attrs if name == "id"]
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


@pytest.mark.long
@pytest.mark.parametrize(
    "words",
    [
        ["SM80_16x8x16"],
        ["--atoms", "tests/museum/wrong.toml", "1:*", "5:*"],
        pytest.param(["--atoms", "tests/museum/wrong.toml"], marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_the_page_is_whole_and_fetches_nothing(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).resolve().parents[3])
    made = page(tmp_path, *words)
    assert not made.open and not {"link", "img", "iframe"} & {*made.tags}
    assert {link[0] for link in made.links} == {"#"}
    assert {unquote(link[1:]) for link in made.links} <= set(made.ids) and len(set(made.ids)) == len(made.ids)
    assert len((tmp_path / "report.html").read_bytes()) < 1_000_000 * len(made.cases)
    text = "".join(made.words)
    assert ("SM80_16x8x16_F32F16F16F32_TN" in text) == (words == ["SM80_16x8x16"])
    assert ("T0 V4 and T1 V0 both hold (n=0, k=4)" in text) == ("--atoms" in words)
    assert " ms" not in text
    assert "replay" in text or words == ["SM80_16x8x16"]


def test_every_claim_has_a_place_and_every_operand_its_formula(tmp_path: Path) -> None:
    made = page(tmp_path, "SM80_16x8x16_F32F16F16F32_TN")
    name = "SM80_16x8x16_F32F16F16F32_TN"
    assert {f"{name}/{part}/{key}" for part in "ABC" for key in ("size", "ownership", "equals_isa")} <= set(made.ids)
    text = "".join(made.words)
    assert "math" in made.tags and text.count("groupID=%laneid>>2") == 3
    assert [text.count(f"{part} by PTX ISA 9.7.14.5.8 (ISA text)") for part in "ABC"] == [1, 1, 1]


@pytest.mark.long
def test_one_subject_is_not_folded_and_of_several_those_that_are_verified(tmp_path: Path) -> None:
    single, *several = (
        page(tmp_path, *words) for words in (["SM80_16x8x8_F32F16F16F32_TN"], ["SM80_16x8x8"], ["SM61"])
    )
    assert single.tags.count("section") == 1 + single.tags.count("h2") and len(single.cases) == 1
    assert [made.unfolded for made in several] == [[], ["SM61_DP2A"]]
    assert [made.tags.count("summary") > len(made.cases) for made in several] == [True, True]


def test_a_refuted_subject_begins_with_its_verdict_and_place_and_folds_what_follows(tmp_path: Path) -> None:
    museum = Path(__file__).parents[2] / "museum" / "wrong.toml"
    made = page(tmp_path, "--atoms", str(museum), "--checks", "isa", "1: SM80_16x8x32_S32S4S4S32_TN")
    raw = (tmp_path / "report.html").read_text(encoding="utf-8")
    text = [word for word in made.words if word.strip()]
    title = text.index("REFUTED")
    assert text[title : title + 2] == ["REFUTED", "1: SM80_16x8x32_S32S4S4S32_TN"]
    assert text[title + 2].startswith(f"{museum}:") and raw.index('class="wrong"') < raw.index("<svg")
    folded = re.findall(r'<details class="follows"><summary>(.*?)</summary>', raw)
    assert folded and all(summary.startswith("follows from ") for summary in folded)


def test_a_line_of_the_source_is_one_block(tmp_path: Path) -> None:
    root = Path(__file__).parents[3] / "examples" / "kernel"
    target = tmp_path / "kernel.html"
    words = [str(root / "wrong.ptx"), "--claim", str(root / "matmul.toml"), "--seed", "1"]
    assert kernel.main([*words, "--format", "html", "-o", str(target)]) == 1
    text = target.read_text(encoding="utf-8")
    assert text.index(
        '<pre class="excerpt" tabindex="0">23 | total = tl.dot(x, y, total)\n   |         ^</pre>'
    ) < text.index("<svg")
    assert "A 16x16 (m,k) holds A[m,k], shown: m 0..5 of 0..15" in text


def test_a_name_is_text(tmp_path: Path) -> None:
    file = tmp_path / "hostile.toml"
    file.write_text(HOSTILE, encoding="utf-8")
    made = page(tmp_path, "--atoms", str(file))
    raw = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert made.tags.count("script") == 1 and script() in raw
    assert "<script>alert(1)</script>" in "".join(made.words)


@pytest.mark.slow
def test_of_a_picture_that_is_too_large_for_a_page_a_window_is_drawn_that_says_so(tmp_path: Path) -> None:
    name = "SM90::GMMA::SPARSE::GMMA_64x248x64_F32E4M3E4M3_SS_TN"
    made = page(tmp_path, name, "--checks", "isa")
    words, raw = "".join(made.words), (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"Its 39936 elements are too many for this page: parts of it follow; lanecheck show {name}" in words
    assert "svg" in made.tags and "shown: n 0..69 of 0..247" in raw and len(raw) < 1_000_000


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SM100_TMEM_STORE_32dp32b128x_16b", "SM100_TMEM_LOAD_16dp256b32x"])
def test_an_atom_of_millions_of_points_is_drawn(name: str, tmp_path: Path) -> None:
    made = page(tmp_path, name, "--checks", "isa")
    raw = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "svg" in made.tags and "Not drawn" not in raw and len(raw) < 1_000_000
    assert len(re.findall(r"data-cells=", raw)) == 3  # Src, Dst and Ref


def test_a_subject_of_a_file_has_its_line(tmp_path: Path) -> None:
    museum = Path(__file__).parents[2] / "museum" / "wrong.toml"
    words = "".join(page(tmp_path, "--atoms", str(museum), "--checks", "isa", "1: SM80_16x8x32_S32S4S4S32_TN").words)
    lines = museum.read_text(encoding="utf-8").splitlines()
    table = next(number for number, line in enumerate(lines, 1) if line.startswith('["1: '))
    own = next(number for number, line in enumerate(lines, 1) if number > table and line.startswith("B "))
    assert f"{museum}:{own}:" in words.partition("1 subject")[0]  # the line that is wrong
    mine = Path(__file__).parents[3] / "examples" / "my_atoms.toml"
    name = re.search(r'^\["?(.*?)"?\]', mine.read_text(encoding="utf-8"), re.MULTILINE)
    assert name is not None
    words = "".join(page(tmp_path, "--atoms", str(mine), "--checks", "isa", name[1]).words)
    line = mine.read_text(encoding="utf-8").partition(name[0])[0].count("\n") + 1
    assert f"{mine}:{line}:" in words  # where it is written


def test_of_many_subjects_those_that_are_not_verified_are_drawn_and_each_other_names_its_command() -> None:
    drawn: list[str] = []
    shown = verify_atom("SM61_DP4A", allow_unchecked=True).cases[0], verify_atom("SM61_DP2A").cases[0]

    def picture(name: str, _: Window) -> Picture:
        drawn.append(name)
        return Picture(name, (), notes=(f"nothing of {name}",))

    cases = [
        replace(shown[i == 60], name=f"{i}", picture=partial(picture, f"{i}"), drawn_by=f"show {i}") for i in range(61)
    ]
    text = "".join(Page(as_html.render(Report(tuple(cases)))).words)
    assert len(drawn) == as_html.DRAWN and set(drawn) == {"60", *map(str, range(as_html.DRAWN - 1))}
    assert all(f"Not drawn: nothing of {name}" in text for name in drawn)
    assert all(f"subjects; show {i} draws it." in text for i in range(as_html.DRAWN - 1, 60))


def test_a_picture_that_cannot_be_made_leaves_the_verdicts() -> None:
    def fails(_: Window) -> Picture:
        raise ValueError("no such layout")

    (case,) = verify_atom("SM80_16x8x8_F32F16F16F32_TN").cases
    text = "".join(Page(as_html.render(Report((replace(case, picture=fails),)))).words)
    assert "Not drawn: no such layout" in text and text.count("PROVED") > 10


def test_a_page_about_one_subject_has_its_verdict_as_title_whatever_it_is() -> None:
    page = as_html.render(verify_layout("((4,8),8):((32,1),8)", onto=(8, 32)))
    assert "<title>((4,8),8):((32,1),8): REFUTED</title>" in page

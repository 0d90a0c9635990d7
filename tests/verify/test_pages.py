# SPDX-License-Identifier: Apache-2.0
"""The HTML pages in headless Chromium: by keyboard alone, dark, narrow, without a violation that axe-core finds.

`LANECHECK_SNAPSHOTS=update pytest -m slow tests/verify/test_pages.py` takes the screenshots anew.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser import Browser, address, browser
from verify.atlas import command as atlas
from verify.atom import command as atom
from verify.kernel import command as kernel
from verify.layout import command as layout
from verify.movement import command as movement
from verify.tiling import command as tiling

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
ROOT = Path(__file__).parents[2]
SCREENSHOTS = Path(__file__).parent / "screenshots"
PAGES = {
    "verified": (atom.main, ["SM80_16x8x16_F32F16F16F32_TN"]),
    "refuted": (atom.main, ["--atoms", "tests/museum/wrong.toml", "--", "1: SM80_16x8x32_S32S4S4S32_TN"]),
    "atlas": (atlas.main, ["SM80*", "SM61"]),
    "large": (atom.main, ["SM90_64x256x16_F32F16F16_SS"]),  # its picture is drawn by a script
    "kernel": (kernel.main, ["examples/kernel/fragment.ptx", "--claim", "examples/kernel/fragment.toml", "--seed=1"]),
    "movement": (movement.main, ["examples/movement.toml", "--only", "ldmatrix fills A"]),
    "tiling": (tiling.main, ["--atom", "SM80_16x8x8_F32F16F16F32_TN"]),
    "several": (atom.main, ["SM80_16x8x8"]),
    "layout": (layout.main, ["(4,2):(2,1)", "--equals", "(4,2):(1,4)"]),
}
SMALL = ["verified", "refuted", "atlas"]
DRAWN = ["refuted", "kernel", "tiling", "movement", "layout"]
STATES = ["verified", "refuted", "atlas", "kernel", "tiling", "error"]
LIKE = 5.0  # the mean difference, of 255, up to which two screenshots are alike


@pytest.fixture(scope="module")
def shown() -> Iterator[Browser]:
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder, before = tmp_path_factory.mktemp("pages"), Path.cwd()
    os.chdir(ROOT)
    for name, (command, words) in PAGES.items():
        command(["--format", "html", "-o", str(folder / f"{name}.html"), *words])
    wrong = folder / "wrong.toml"
    right = (ROOT / "examples" / "my_atoms.toml").read_text(encoding="utf-8")
    wrong.write_text(f'{right}\n["wrong"]\nptx = "mma.sync"\nA = 3\n', encoding="utf-8")
    atom.main(["--atoms", str(wrong), "--format", "html", "-o", str(folder / "error.html")])
    os.chdir(before)
    return {path.stem: path for path in folder.glob("*.html")}


@pytest.mark.parametrize("width", [1200, 768, 400])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", STATES)
def test_a_page_fits_and_is_accessible(
    name: str, dark: bool, width: int, shown: Browser, pages: dict[str, Path]
) -> None:
    shown.open(address(pages[name]), width, dark)
    assert shown.sideways() <= 0
    assert shown.violations() == []
    assert shown.fetched() == []


@pytest.mark.parametrize("name", DRAWN)
def test_each_drawing_fits_a_phone_and_keys_come_to_it(name: str, shown: Browser, pages: dict[str, Path]) -> None:
    shown.open(address(pages[name]), 400)
    assert shown.js("document.querySelectorAll('svg g.c').length") > 7
    assert shown.sideways() <= 0
    assert shown.js("[...document.querySelectorAll('.lc-scroll svg')].every(one => one.clientWidth <= 400)")
    for _ in range(8):
        shown.press("\ue004")
        if shown.js("document.activeElement.classList.contains('lc-whole')"):
            break
    assert (shown.js("document.activeElement.getAttribute('aria-label')") or "").startswith("drawing of ")
    assert shown.js("getComputedStyle(document.activeElement).outlineStyle") == "solid"


@pytest.mark.parametrize("width", [1200, 400])
def test_a_large_picture_is_drawn_and_scrolls_in_its_own_frame(
    width: int, shown: Browser, pages: dict[str, Path]
) -> None:
    shown.open(address(pages["large"]), width)
    assert shown.sideways() <= 0 and shown.fetched() == []
    assert pages["large"].stat().st_size < 1_000_000
    wide = "document.querySelector('.lc-whole').scrollWidth"
    assert shown.js(f"{wide} <= window.innerWidth")  # all of it is seen
    shown.js("document.querySelector('.lc-full input').click()")
    assert shown.js(f"{wide} > window.innerWidth") and shown.sideways() <= 0
    assert shown.js("document.querySelector('[data-at=\"0 0\"]').getBoundingClientRect().left < 200")


def test_the_counterexample_is_on_the_first_screen_of_a_phone(shown: Browser, pages: dict[str, Path]) -> None:
    shown.open(address(pages["refuted"]), 400)
    place = "document.querySelector('.lc-zoom .m').getBoundingClientRect()"
    assert 0 < shown.js(f"{place}.top") and shown.js(f"{place}.bottom") < 800 and shown.js(f"{place}.width") > 40


def test_a_page_that_is_wrong_is_found(shown: Browser, tmp_path: Path) -> None:
    page = tmp_path / "wrong.html"
    page.write_text("<p style='width: 99rem; color: #ddd'>wide and pale<img src=x.png>", encoding="utf-8")
    shown.open(address(page), 400)
    assert shown.sideways() > 1000 and shown.fetched()[-1] == (tmp_path / "x.png").as_uri()
    rules = {line.partition(":")[0] for line in shown.violations()}
    assert {"color-contrast", "html-has-lang", "image-alt"} <= rules


def test_a_page_follows_the_scheme(shown: Browser, pages: dict[str, Path]) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    shown.open(address(pages["verified"]))
    light = shown.js(background)
    shown.open(address(pages["verified"]), dark=True)
    assert (light, shown.js(background)) == ("rgb(255, 255, 255)", "rgb(21, 24, 29)")


def test_the_keyboard_alone_unfolds_a_verdict(shown: Browser, pages: dict[str, Path]) -> None:
    from selenium.webdriver import Keys

    shown.open(address(pages["several"]))
    shown.press(Keys.TAB)
    assert shown.js("document.activeElement.className") == "skip"
    shown.press(Keys.TAB)
    assert shown.js("document.activeElement.tagName") == "SUMMARY"
    assert shown.js("document.querySelector('details').open") is False
    shown.press(Keys.ENTER)
    assert shown.js("document.querySelector('details').open") is True
    shown.press(Keys.TAB)
    assert shown.js("document.activeElement.className") == "permalink"
    assert shown.js("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_the_keyboard_alone_searches_and_filters_the_atlas(shown: Browser, pages: dict[str, Path]) -> None:
    from selenium.webdriver import Keys

    rows = "[...document.querySelectorAll('tbody tr:not([hidden]) th code')].map((one) => one.textContent)"
    shown.open(address(pages["atlas"]))
    every = shown.js(rows)
    assert len(every) > 8 and shown.js("document.forms[0].shown.value") == f"{len(every)} of {len(every)} rows"
    shown.press(Keys.TAB, Keys.TAB, "K16")
    assert shown.js("document.activeElement.name") == "q"
    assert shown.js(rows) == [name for name in every if "k16" in name] != []
    shown.press(*[Keys.BACKSPACE] * 3, Keys.TAB, "REF")
    assert shown.js("document.activeElement.value") == "REFUTED"
    assert shown.js(rows) == ["dp2a", "mma.sync m16n8k128"]
    assert shown.js("document.forms[0].shown.value") == f"2 of {len(every)} rows"


def test_without_its_script_the_atlas_shows_every_row(pages: dict[str, Path]) -> None:
    text = pages["atlas"].read_text(encoding="utf-8")
    assert '<form role="search" hidden' in text and "<tr hidden" not in text


def test_a_permalink_shows_its_claim(shown: Browser, pages: dict[str, Path]) -> None:
    shown.open(address(pages["refuted"], "1:_SM80_16x8x32_S32S4S4S32_TN/B/equals_isa"))
    assert "REFUTED" in shown.js("document.querySelector(':target').innerText")
    assert -1 < shown.js("document.querySelector(':target').getBoundingClientRect().top") < 800
    every = "[...document.querySelectorAll('a[href]')].map((a) => decodeURIComponent(a.hash.slice(1)))"
    assert shown.js(f"{every}.filter((id) => document.getElementById(id) === null)") == []


@pytest.mark.parametrize("name", SMALL)
def test_a_page_looks_as_before(name: str, shown: Browser, pages: dict[str, Path]) -> None:
    shown.open(address(pages[name]))
    picture, kept = shown.picture(), SCREENSHOTS / f"{name}.png"
    if os.environ.get("LANECHECK_SNAPSHOTS") == "update":
        kept.write_bytes(picture)
    assert shown.difference(picture, kept.read_bytes()) < LIKE
    shown.open(address(pages[name]), dark=True)
    assert shown.difference(shown.picture(), kept.read_bytes()) > 10 * LIKE
    shown.open("about:blank")
    assert shown.difference(shown.picture(), kept.read_bytes()) > LIKE

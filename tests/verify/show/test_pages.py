# SPDX-License-Identifier: Apache-2.0
"""The pages and large drawings of `verify.show` in headless Chromium: narrow, dark, by keyboard, by script."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser import Browser, address, browser
from verify.show.command import main

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
MUSEUM = str(Path(__file__).parents[2] / "museum" / "wrong.toml")
TILE = ["((4,8,2,2),(2,2,8,4)):((256,1,16,1024),(128,8,2048,32))", "--onto", "128x128"]
TILING = [
    str(Path(__file__).parents[3] / "examples" / "tilings.toml"), "--only",
    "four warps, 128 x 128 x 32, rows permuted so that a thread's values are neighbours",
]  # fmt: skip
PAGES = {
    "wrong": [MUSEUM, "--only", "1: SM80_16x8x32_S32S4S4S32_TN"],
    "several": ["SM80_16x8x8_F32F16F16F32_TN", "SM70_8x8x4_F32F16F16F32_TN"],
}


@pytest.fixture(scope="module")
def shown() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.mark.parametrize(("width", "dark"), [(1200, False), (400, True)])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_and_is_accessible(name: str, width: int, dark: bool, shown: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    assert main([*PAGES[name], "--html", "-o", str(path)]) in (0, 1)
    shown.open(address(path), width, dark)
    assert shown.sideways() <= 0
    assert shown.violations() == []
    assert shown.fetched() == []


@pytest.mark.parametrize("option", ["--svg", "--html"])
def test_a_script_draws_every_cell_of_a_large_tile(option: str, shown: Browser, tmp_path: Path) -> None:
    path = tmp_path / f"tile.{option[2:]}"
    assert main([*TILE, option, "-o", str(path)]) == 0
    shown.open(address(path))
    assert shown.becomes("document.querySelectorAll('[data-at]').length", 128 * 128)
    last = shown.js(
        "[...document.querySelectorAll('[data-at=\"127 127\"] text')].map(one => one.textContent).join(' ')"
    )
    assert last == "T127 V127"
    assert "shown" not in shown.js("document.querySelector('[data-cells] text').textContent")
    over = "new PointerEvent('pointerover', {bubbles: true})"
    assert shown.js(f"document.querySelector('[data-at=\"5 3\"] rect').dispatchEvent({over})")
    assert shown.js("document.querySelector('[data-at=\"5 3\"] title').textContent").startswith("m 5, n 3: T21 V1")


def test_the_keyboard_comes_to_the_drawing_and_to_the_tables(shown: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    assert main(["SM80_16x8x16_F32F16F16F32_TN", "--html", "-o", str(path)]) == 0
    shown.open(address(path), 400)
    seen = []
    for _ in range(5):
        shown.press("\ue004")
        seen.append(shown.js("document.activeElement.getAttribute('aria-label') || document.activeElement.textContent"))
    assert "drawing of SM80_16x8x16_F32F16F16F32_TN" in seen and "In words and as tables" in seen


LEFT = "[...document.querySelectorAll('.lc-whole g.c:not(.away) text:not(.e)')].map(one => one.textContent)"


@pytest.mark.parametrize("what", [["SM80_16x8x16_F32F16F16F32_TN"], TILE], ids=["atom", "large"])
def test_a_click_or_a_key_shows_one_thread_alone(what: list[str], shown: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    assert main([*what, "--html", "-o", str(path)]) == 0
    shown.open(address(path))
    shown.becomes(f"{LEFT}.includes('T21')", True)
    click = "dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    cell = "[...document.querySelectorAll('.lc g.c text')].find(one => /^T5\\b/.test(one.textContent))"
    shown.js(f"{cell}.{click}")
    left = [text for text in shown.js(LEFT) if text.startswith("T")]
    assert left and {text.split(" ")[0] for text in left} == {"T5"}
    told = shown.js("document.querySelector('.lc-lane').textContent")
    assert told.startswith("Thread 5 holds ") and sum(map(int, re.findall(r"(\d+) of", told))) == len(left)
    shown.js(f"{cell}.{click}")
    assert shown.js("document.querySelectorAll('.away').length") == 0
    shown.js("document.querySelector('.lc-whole').focus()")
    shown.press("l", "l")
    assert {text.split(" ")[0] for text in shown.js(LEFT) if text.startswith("T")} == {"T1"}
    shown.press("L", "L")  # the one before the first is the last
    last = 31 if what[0].startswith("SM80") else 127
    assert {text.split(" ")[0] for text in shown.js(LEFT) if text.startswith("T")} == {f"T{last}"}
    shown.press("\ue00c")
    assert shown.js("document.querySelectorAll('.away').length") == 0


def test_a_pointer_shows_what_the_title_of_an_svg_says(shown: Browser, tmp_path: Path) -> None:
    """A page has each text once, and the script puts the numbers of a cell into it."""
    drawn, path, what = tmp_path / "atom.svg", tmp_path / "page.html", [MUSEUM, "--only", "7: *"]
    assert main([*what, "--svg", "-o", str(drawn)]) == main([*what, "--html", "-o", str(path)]) == 1
    titles = re.findall(r"<g class=\"c[^>]*><title>(.*?)</title>", drawn.read_text(encoding="utf-8"), re.DOTALL)
    shown.open(address(path))
    cells = "[...document.querySelectorAll('.lc-whole g.c')]"
    shown.js(f"{cells}.forEach(one => one.dispatchEvent(new PointerEvent('pointerover', {{bubbles: true}})))")
    spoken = shown.js(f"{cells}.map(one => one.querySelector('title')?.textContent)")
    assert spoken == [html.unescape(title) for title in titles] and len(spoken) > 200
    assert path.read_text(encoding="utf-8").count("threadID_in_group") < 20


@pytest.mark.parametrize(("width", "beside"), [(1200, True), (768, False), (400, False)])
def test_panels_go_below_each_other_before_they_are_too_small_to_read(
    width: int, beside: bool, shown: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    assert main(["SM80_16x8x32_S32S8S8S32_TN", "--html", "-o", str(path)]) == 0
    shown.open(address(path), width)
    lefts = "document.querySelectorAll('.lc-whole svg > g').values().map(one => one.getBoundingClientRect().left)"
    assert shown.becomes(f"new Set([...{lefts}].map(one => Math.round(one / 60))).size > 1", beside)
    drawing = "document.querySelector('.lc-whole svg')"
    scale = shown.js(f"{drawing}.clientWidth / {drawing}.viewBox.baseVal.width")
    assert scale > (0.5 if width == 400 else 0.95)  # a letter is 8 units high


@pytest.mark.parametrize(("width", "beside"), [(1200, 3), (400, 1)])
def test_the_parts_of_a_tiling_are_beside_each_other_and_show_a_thread_alone(
    width: int, beside: int, shown: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    assert main([*TILING, "--html", "-o", str(path)]) == 0
    shown.open(address(path), width)
    assert shown.sideways() <= 0 and shown.violations() == []
    tops = shown.js("[...document.querySelectorAll('.lc-parts svg')].map(one => one.getBoundingClientRect().top)")
    assert len(tops) == 3 and tops.count(tops[0]) == beside
    cell = "[...document.querySelectorAll('.lc-parts .c text')].find(one => /^T5\\b/.test(one.textContent))"
    shown.js(f"{cell}.dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
    told = "Thread 5 holds 4 of A, 4 of B, 4 of C in the parts that are drawn."
    assert shown.js("document.querySelector('.lc-lane').textContent") == told
    assert shown.js("document.querySelectorAll('.lc-whole .away').length") == 0  # warps stay


WHOLE, PART = "document.querySelector('.lc-whole')", "document.querySelector('.lc-zoom')"
WORDS = "document.querySelector('.lc-near').firstChild.data"


@pytest.mark.parametrize("width", [1200, 400])
def test_a_drawing_too_small_to_read_has_a_part_that_keys_and_clicks_choose(
    width: int, shown: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    assert main([*TILE, "--html", "-o", str(path)]) == 0
    shown.open(address(path), width)
    assert shown.becomes(f"{WHOLE}.classList.contains('lc-overview')", True)
    drawing = f"{PART}.querySelector('svg')"
    assert shown.js(f"{drawing}.clientWidth / {drawing}.viewBox.baseVal.width") > 1.4  # letters of 12 pixels
    columns = shown.js(f"{PART}.querySelectorAll('.k').length")
    assert 4 < columns < 128 and shown.js(f"{drawing}.clientWidth") <= width and shown.sideways() <= 0

    def place() -> list[int]:
        m, n = re.findall(r"\b(?:m|n) (\d+)\.\.", shown.js(WORDS))
        return [int(m), int(n)]

    assert place() == [0, 0]
    for focus, keys, expected in (
        (WHOLE, ["\ue014"], [0, 1]),  # right
        (PART, ["\ue015", "\ue015"], [2, 1]),  # down
        (WHOLE, ["\ue012", "\ue012", "\ue013"], [1, 0]),  # left, to the end, and up
    ):
        shown.js(f"{focus}.focus()")
        shown.press(*keys)
        assert place() == expected
    shown.js(f"{WHOLE}.dispatchEvent(new KeyboardEvent('keydown', {{key: 'ArrowDown', shiftKey: true}}))")
    assert place() == [7, 0]  # by a whole part
    shown.js(f"{WHOLE}.querySelector('[data-at=\"64 64\"]').dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
    assert place()[0] == 61 and 64 - columns < place()[1] < 64
    assert shown.js(f"{WHOLE}.querySelectorAll('.here').length") == 1
    cell = f"{PART}.querySelector('.c')"
    shown.js(f"{cell}.dispatchEvent(new PointerEvent('pointerover', {{bubbles: true}}))")
    assert shown.js(f"{cell}.querySelector('title').textContent").startswith("m 61, n ")
    shown.js(f"{cell}.dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")  # in the part it shows a thread alone
    assert shown.js("document.querySelector('.lc-lane').textContent").startswith("Thread ")
    assert shown.violations() == []


def test_the_part_of_a_wrong_map_begins_where_it_is_wrong_and_goes_on_in_the_next_operand(
    shown: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    assert main([MUSEUM, "--only", "1: SM80_16x8x32_S32S4S4S32_TN", "--html", "-o", str(path)]) == 1
    shown.open(address(path), 400)
    assert shown.becomes(f"{WHOLE}.classList.contains('lc-overview')", True)
    assert shown.js(WORDS).startswith("B 8x32 (n,k): n 0..5, k 3..")
    assert shown.js(f"{PART}.querySelectorAll('.m').length") == 1
    shown.js(f"{WHOLE}.focus()")
    shown.press(*["\ue015"] * 40)
    assert shown.js(WORDS).startswith("C 16x8 (m,n)")
    shown.js("document.querySelector('.lc-full input').click()")
    assert shown.becomes(f"{WHOLE}.classList.contains('lc-overview')", False)
    assert shown.js("document.querySelector('.lc-near').textContent").startswith("B 8x32")  # as the page had it


def test_a_drawing_that_can_be_read_has_no_part(shown: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    assert main(["SM80_16x8x32_S32S8S8S32_TN", "--html", "-o", str(path)]) == 0
    shown.open(address(path), 2000)
    assert shown.becomes(f"{PART}.hidden", True)
    shown.open(address(path), 400)
    assert shown.becomes(f"{PART}.hidden", False)

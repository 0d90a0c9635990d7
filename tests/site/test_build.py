# SPDX-License-Identifier: Apache-2.0
"""The site: made strictly and without network, with every page; each fits a window, axe finds nothing, search works."""

from __future__ import annotations

import html
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.browser import Browser, address, browser
from tests.museum.page import REPORTS
from tests.site import build, museum, pictures

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.relative_to(ROOT / "docs").with_suffix("").as_posix() for path in (ROOT / "docs").rglob("*.md"))
GENERATED = ["command-line", "notebook"]


def test_every_page_is_in_the_navigation() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r"- ([\w/.-]+)\.md$", text, re.MULTILINE)
    assert sorted(listed) == sorted([*PAGES, *GENERATED])


@pytest.mark.slow
def test_the_museum_has_a_picture_of_each_wrong_map(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = museum.with_pictures(tmp_path)
    without = [report.number for report in REPORTS if report.refuted and f"(museum/{report.number}.svg)" not in text]
    assert without in ([], [38])  # a misaligned access, which is not drawn
    for name in re.findall(r"\(museum/([\w-]+\.svg)\)", text):
        assert (tmp_path / "museum" / name).read_text(encoding="utf-8").startswith("<svg")
    linked = set(re.findall(r"(?<!!)\[[^]]*\]\(museum/(\d+)\.svg\)", text))
    assert len(linked) < 10


@pytest.mark.parametrize("page", ["tv-layouts", *(page for page in PAGES if page.startswith("tutorial/"))])
def test_each_section_of_a_chapter_with_a_layout_has_a_picture(page: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    assert len(pictures.SHOWN.findall(text)) > 2
    layout = re.compile(r'Layout\.parse\("|swizzled = |\binstruction\("mma')
    bare = [section.split("\n")[0] for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]
            if layout.search(section) and not pictures.SHOWN.search(section)]  # fmt: skip
    assert bare == []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, made strictly and without network; its atlas is a word."""
    if importlib.util.find_spec("zensical") is None:
        pytest.skip("zensical is not installed (it is in the dependency group `docs`)")
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        build.pages(folder / "build" / "pages")
        (folder / "build" / "pages" / "verdicts" / "atlas.html").write_text("the atlas", encoding="utf-8")
        shutil.copy(ROOT / "mkdocs.yml", folder)
        for name in ("verify", "layouts", "isa_tables", "tests"):
            (folder / name).symlink_to(ROOT / name)
        nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
        command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
        environment = {**os.environ, **nowhere, "SITE_URL": "https://somebody.github.io/lanecheck/"}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    build.finish(folder / "site")
    (folder / "lanecheck").symlink_to(folder / "site")  # where its address says that it is
    return folder / "site"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as driven:
        yield driven


def find_built(page: str) -> str:
    """Where the site has a page of the documentation."""
    return f"{page.replace('reports/README', 'reports/index')}.html"


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    for page in [*PAGES, *GENERATED]:
        text = (site / find_built(page)).read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|source|iframe)[^>]*src=\"([^\"]*)", text)
        loaded += re.findall(r"<link[^>]*rel=\"(?:stylesheet|preconnect|icon)\"[^>]*href=\"([^\"]*)", text)
        assert [address for address in loaded if address.startswith(("http", "//"))] == [], page
    assert len(json.loads((site / "search.json").read_text(encoding="utf-8"))["items"]) > 300
    assert "SM80_16x8x16" in (site / "api.html").read_text(encoding="utf-8")
    assert 'href="/lanecheck/site.css"' in (site / "404.html").read_text(encoding="utf-8")  # it is shown at any address


def products(text: str) -> list[str]:
    """What an HTML page emphasizes though nobody meant it: `*` with digits or operators, or `**` inside a word.

    >>> products("1<em>32 + 1</em>1 = 33, <em>not</em>, <strong>2 of 3</strong>, x<strong>2 + y</strong>2")
    ['32 + 1', '2 + y']
    """
    emphasized = re.findall(r"(.?)<(em|strong)\b[^>]*>(.*?)</\2>(.?)", text, re.DOTALL)
    plain = [(before, tag, re.sub(r"<[^>]*>", "", inner), after) for before, tag, inner, after in emphasized]
    return [
        html.unescape(inner)
        for before, tag, inner, after in plain
        if re.search(r"\d|[-+*/%=<>&|^.]", inner) and (tag == "em" or re.match(r"\w|[)(\]\[]", before + after))
    ]


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_markdown_takes_no_product_for_emphasis(site: Path) -> None:
    """`1*32 + 1*1` outside a code span is rendered as 132 + 11."""
    paths = sorted(site.rglob("*.html"))
    assert len(paths) > len(PAGES)
    texts = {path.relative_to(site): path.read_text(encoding="utf-8") for path in paths}
    wrong = [f"{path}: {product}" for path, text in texts.items() for product in products(text)]
    assert wrong == [], "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.xdist_group("site")
@pytest.mark.parametrize("page", [*PAGES, *GENERATED])
def test_a_page_fits_a_narrow_window_and_axe_finds_nothing(site: Path, chromium: Browser, page: str) -> None:
    chromium.open(address(site / find_built(page)), width=400)
    assert chromium.sideways() <= 0
    assert chromium.violations() == []


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_no_page_names_a_folder_of_the_machine_that_made_it(site: Path) -> None:
    pages = [path for kind in ("html", "svg") for path in site.rglob(f"*.{kind}")]
    assert len(pages) > len(PAGES)
    assert [path.relative_to(site) for path in pages if str(ROOT) in path.read_text(encoding="utf-8")] == []


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_a_page_of_many_pictures_is_not_slow_to_load(site: Path) -> None:
    sizes = {page: (site / find_built(page)).stat().st_size for page in [*PAGES, *GENERATED]}
    large = {"museum": 700_000, "show": 400_000, "index": 400_000}
    assert {page: size for page, size in sizes.items() if size > large.get(page, 600_000)} == {}
    verdicts = {path.name: path.stat().st_size for path in (site / "verdicts").iterdir() if path.stem != "atlas"}
    assert len(verdicts) > 9
    assert {page: size for page, size in verdicts.items() if size > 400_000} == {}


@pytest.mark.slow
@pytest.mark.xdist_group("site")
@pytest.mark.parametrize(
    "page", ["api", "claims", "own-maps/functions", "show", "teaching/tv_layout", "tutorial/fragments"]
)
def test_axe_finds_nothing_in_the_dark(site: Path, chromium: Browser, page: str) -> None:
    chromium.open(address(site / find_built(page)), dark=True)
    assert chromium.js("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert chromium.sideways() <= 0
    assert chromium.violations() == []


@pytest.mark.slow
@pytest.mark.xdist_group("site")
@pytest.mark.parametrize("width", [1200, 768, 400])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("page", ["index", "museum", "kernel", "404"])
def test_a_page_is_whole_in_every_window(site: Path, chromium: Browser, page: str, dark: bool, width: int) -> None:
    with serve(site.parent) as root:  # 404 has addresses from the root of a server
        chromium.open(f"{root}/lanecheck/{find_built(page)}", width, dark)
        assert chromium.sideways() <= 0
        assert chromium.violations() == []
        assert chromium.js(
            "[...document.querySelectorAll('.lc-scroll svg')].every(one => one.clientWidth <= innerWidth)"
        )


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_the_first_screen_has_the_navigation_the_quick_start_a_picture_and_a_verdict(
    site: Path, chromium: Browser
) -> None:
    chromium.open(address(site / "index.html"))
    nav = "document.querySelector('.md-sidebar--primary').getBoundingClientRect()"
    assert chromium.js(f"{nav}.left") >= 0 and chromium.js(f"{nav}.width") > 100
    start = "document.querySelector('#quick-start ~ .highlight').getBoundingClientRect()"
    assert chromium.js(f"{start}.bottom") < 800
    for what in (".lc-hero .lc-figure", ".lc-hero .several", ".lc-status.REFUTED"):
        place = f"document.querySelector('{what}').getBoundingClientRect()"
        assert 0 < chromium.js(f"{place}.top") and chromium.js(f"{place}.bottom") < 800, what


@pytest.mark.slow
@pytest.mark.xdist_group("site")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_phone_s_first_screen_has_the_counterexample(site: Path, chromium: Browser, dark: bool) -> None:
    chromium.open(address(site / "index.html"), 400, dark)
    place = "document.querySelector('.lc-hero .m').getBoundingClientRect()"
    assert (
        0 < chromium.js(f"{place}.top") and chromium.js(f"{place}.bottom") < 800 and chromium.js(f"{place}.width") > 40
    )


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_a_picture_of_a_chapter_is_read_on_a_phone(site: Path, chromium: Browser) -> None:
    """Its words are text of the page, so that the drawing alone is scaled."""
    chromium.open(address(site / "tv-layouts.html"), width=400)
    wide = "[...document.querySelectorAll('.lc-whole svg')].map(one => one.clientWidth / one.viewBox.baseVal.width)"
    scales = chromium.js(wide)
    assert len(scales) == 3 and min(scales) > 0.95 and max(scales) > 1.4, (
        scales
    )  # a letter is 8 units; a wrong map is wider
    assert chromium.js("document.querySelectorAll('figcaption .lc-keys').length") == 3
    assert list(site.rglob("*.part")) == []


@pytest.mark.slow
@pytest.mark.xdist_group("site")
@pytest.mark.parametrize(("width", "columns"), [(1200, 2), (400, 1)])
def test_an_atom_of_the_home_is_read_on_a_phone(site: Path, chromium: Browser, width: int, columns: int) -> None:
    chromium.open(address(site / "index.html"), width)
    drawing = "[...document.querySelectorAll('.lc-figure svg.lc[data-below]')].at(-1)"
    lefts = f"[...{drawing}.querySelectorAll('g[data-below]')].map(one => one.getAttribute('transform').split(' ')[0])"
    assert chromium.becomes(f"new Set({lefts}).size", columns)
    assert chromium.js(f"{drawing}.clientWidth / {drawing}.viewBox.baseVal.width") > 0.95  # a letter is 8 units high


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_the_notebook_is_a_page_with_its_drawings(site: Path) -> None:
    text, book = (site / "notebook.html").read_text(encoding="utf-8"), ROOT / "docs" / "notebook.ipynb"
    drawings = book.read_text(encoding="utf-8").count("<svg xmlns")
    assert drawings > 4 and text.count('<svg class="lc" role="img"') == drawings
    assert "FragmentMap" in text and "REFUTED" in text and "&lt;svg" not in text


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_a_click_in_a_picture_of_a_page_shows_one_thread_alone(site: Path, chromium: Browser) -> None:
    chromium.open(address(site / "index.html"))
    figure = "[...document.querySelectorAll('.lc-figure')].at(-1)"
    cell = f"[...{figure}.querySelectorAll('.c text')].find(one => one.textContent === 'T5')"
    chromium.js(f"{cell}.dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
    assert chromium.js(f"{figure}.querySelector('.lc-lane').textContent") == "Thread 5 holds 8 of A, 4 of B, 4 of C."
    chromium.js(f"{figure}.querySelector('.lc-whole').focus()")
    chromium.press("l")
    assert chromium.js(f"{figure}.querySelector('.lc-lane').textContent").startswith("Thread 6 holds ")
    assert chromium.js("[...document.querySelectorAll('b.lc-status')].map(one => one.textContent)").count("REFUTED") > 0


READ = """[...document.querySelectorAll('.lc-whole')].every((frame) => {
  const scale = (svg) => svg.clientWidth / svg.viewBox.baseVal.width;
  const part = frame.parentNode.querySelector(':scope > .lc-zoom:not([hidden]) svg');
  return scale(frame.querySelector('svg')) >= 0.9 || (part !== null && scale(part) > 1.4 && part.clientWidth <= 400);
})"""


@pytest.mark.slow
@pytest.mark.xdist_group("site")
@pytest.mark.parametrize("page", ["index", "museum", "notebook", "show", "teaching/cute_slides", "tutorial/tiling"])
def test_each_picture_of_a_page_is_read_on_a_phone_or_has_a_part_that_is(
    site: Path, chromium: Browser, page: str
) -> None:
    chromium.open(address(site / find_built(page)), 400)
    assert chromium.js("document.querySelectorAll('.lc-whole').length") > 2
    assert chromium.becomes(READ, True)


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_a_large_picture_of_a_page_is_drawn_from_its_data_and_without_scripts_there_is_its_image(
    site: Path, chromium: Browser
) -> None:
    text = (site / "show.html").read_text(encoding="utf-8")
    images = re.findall(r'<noscript><img alt="[^"]*" src="([^"]*)"></noscript>', text)
    assert len(images) > 3 and all((site / image).is_file() for image in images)
    chromium.open(address(site / "show.html"))
    figure = "[...document.querySelectorAll('.lc-figure')].find((one) => one.querySelector('noscript'))"
    assert chromium.js(f"{figure}.querySelectorAll('.lc-whole .c').length") == 16 * 16 + 16 * 8 + 16 * 8
    cell = f"{figure}.querySelector('.lc-whole [data-at=\"0 1\"]')"
    chromium.js(f"{cell}.dispatchEvent(new PointerEvent('pointerover', {{bubbles: true}}))")
    assert "layout: T0 V1" in chromium.js(f"{cell}.querySelector('title').textContent")


def test_ids_of_two_pictures_of_a_page_differ() -> None:
    first, second = (pictures.figure("words", ROOT / "docs" / "pictures", name) for name in ("atom.svg", "wrong.svg"))
    ids = [set(re.findall(r'\bid="([^"]*)"', text)) for text in (first, second)]
    assert ids[0] and ids[1] and not ids[0] & ids[1]
    used = set(re.findall(r"url\(#([^)]*)\)", second)) | set(re.findall(r'aria-\w+by="([^"]*)"', second))
    assert used and used <= ids[1]


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_the_search_finds_a_page_without_network(site: Path, chromium: Browser) -> None:
    """From a server on this machine: Chromium lets no page that is a file start the worker that searches."""
    with serve(site) as root:
        chromium.open(f"{root}/index.html")
        chromium.fetched()
        chromium.js("document.querySelector('.md-search__button').click()")
        chromium.press(*"swizzle")
        results = "[...document.querySelectorAll('*')].map(e => e.shadowRoot?.textContent ?? '').join('')"
        assert chromium.becomes(f"{results}.includes('Swizzles')", True)
        assert [address for address in chromium.fetched() if not address.startswith(root)] == []


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """The address at which a folder is served."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()

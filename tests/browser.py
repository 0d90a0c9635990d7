# SPDX-License-Identifier: Apache-2.0
"""Pages in headless Chromium: opened, typed at, photographed, and checked by axe-core."""

from __future__ import annotations

import base64
import importlib.util
import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars --force-color-profile=srgb"
)
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
# The mean difference of two small pictures, 0 to 255; one may be some rows lower, as other fonts make it.
DIFFERENCE = """
const [one, other, done] = arguments, load = (src) => new Promise((resolve) => {
  const image = new Image(); image.onload = () => resolve(image); image.src = 'data:image/png;base64,' + src; });
Promise.all([load(one), load(other)]).then((images) => {
  const [wide, tall] = [images[0].width, images[0].height];
  const [a, b] = images.map((image) => { const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [wide, tall]; const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0, wide, tall);
    return context.getImageData(0, 0, wide, tall).data; });
  const between = (rows) => { let sum = 0;
    const skipped = 4 * wide * Math.abs(rows), shift = 4 * wide * Math.max(rows, 0);
    for (let i = 0; i < a.length - skipped; i++) sum += Math.abs(a[i + shift] - b[i + skipped - shift]);
    return sum / ((a.length - skipped) * 3 / 4); };
  done(Math.min(...[-4, -3, -2, -1, 0, 1, 2, 3, 4].map(between))); });
"""


def explain_missing() -> str:
    """Why no browser can be driven here; empty where one can."""
    if not any(map(shutil.which, PROGRAMS)):
        return f"no browser: none of {', '.join(PROGRAMS)} is on PATH (Debian: apt install chromium chromium-driver)"
    if not shutil.which("chromedriver"):
        return "no chromedriver on PATH (Debian: apt install chromium-driver)"
    for module in ("selenium", "axe_core_python"):
        if importlib.util.find_spec(module) is None:
            return f"{module} is not installed (it is in the dependency group `test`)"
    return ""


class Browser:
    """A page in Chromium, with what a test needs of it."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, page: str, width: int = 1200, dark: bool = False) -> None:
        """Open an address in a window of this width, light or dark."""
        metrics = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        self.driver.get("about:blank")  # an address that differs in its fragment alone would not be opened anew
        self.driver.get(page)

    def js(self, expression: str) -> Any:
        """The value of an expression of JavaScript in the page."""
        return self.driver.execute_script(f"return {expression}")

    def becomes(self, expression: str, value: Any) -> bool:
        """Whether an expression has a value within half a minute: what a script draws comes after the page."""
        end = time.monotonic() + 30
        while self.js(expression) != value:
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def press(self, *keys: str) -> None:
        """Press keys, one after the other, where the focus is."""
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def sideways(self) -> int:
        """By how many pixels the page is wider than its window."""
        return int(self.js("document.documentElement.scrollWidth - window.innerWidth"))

    def fetched(self) -> list[str]:
        """The addresses that pages fetched since the last call, without those of the pages."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        requests = [event["params"] for event in events if event["method"] == "Network.requestWillBeSent"]
        addresses = [request["request"]["url"] for request in requests if request.get("type") != "Document"]
        return [address for address in addresses if not address.startswith(("chrome:", "chrome-untrusted:", "data:"))]

    def violations(self) -> list[str]:
        """What axe-core finds wrong in the page, each with the first element that it is about."""
        self.driver.execute_script((files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8"))
        cells = "{exclude: [['svg.lc > g']]}"  # of drawings, whose role is that of an image: there are thousands
        result = self.driver.execute_async_script(f"axe.run({cells}).then(arguments[arguments.length - 1])")
        return [
            f"{violation['id']}: {violation['help']}: {violation['nodes'][0]['html'][:200]}"
            for violation in result["violations"]
        ]

    def picture(self) -> bytes:
        """The window as a PNG, an eighth as wide and high."""
        clip = {"x": 0, "y": 0, "width": self.js("window.innerWidth"), "height": 800, "scale": 0.125}
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "clip": clip})
        return base64.b64decode(shot["data"])

    def difference(self, first: bytes, second: bytes) -> float:
        """The mean difference of two pictures, 0 to 255."""
        coded = [base64.b64encode(picture).decode() for picture in (first, second)]
        return float(self.driver.execute_async_script(DIFFERENCE, *coded))


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser with an empty profile; skips the test, with the reason, where none can be driven."""
    if why := explain_missing():
        pytest.skip(why)
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = next(path for name in PROGRAMS if (path := shutil.which(name)))
    options.set_capability("goog:loggingPrefs", {"performance": "ALL"})
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in (*FLAGS.split(), f"--user-data-dir={profile}"):
            options.add_argument(flag)
        driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
        driver.set_script_timeout(300)  # axe-core looks at every cell of a picture
        try:
            yield Browser(driver)
        finally:
            driver.quit()


def address(page: Path, fragment: str = "") -> str:
    """The address of a file, at a place in it."""
    return page.resolve().as_uri() + (f"#{fragment}" if fragment else "")

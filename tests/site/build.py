# SPDX-License-Identifier: Apache-2.0
"""The site of the documentation: `python -m tests.site.build` makes it from `docs` and from what the commands print.

`build/pages` gets a copy of `docs` and the pages that are generated; Zensical makes `site` of it, without network.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.site import command_line, museum
from verify.atlas import command as atlas
from verify.atom import command as atom

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "build" / "pages"
LANGUAGES = {  # of a block that names none, by how it begins
    "sh": r"(?:python|pip|make|lanecheck|pytest) |\$ ",
    "toml": r'\["',
    "diff": r"[-+] ",
}
VERDICTS = {
    "verified.html": ["SM80_16x8x16_F32F16F16F32_TN"],
    "refuted.html": ["--atoms", "tests/museum/wrong.toml"],
}


def pages(target: Path = PAGES) -> None:
    """Write the pages that the site is made of."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(ROOT / "docs", target)
    (target / "command-line.md").write_text(command_line.page(), encoding="utf-8")
    (target / "museum.md").write_text(museum.with_pictures(target), encoding="utf-8")
    for path in target.rglob("*.md"):
        path.write_text(coloured(path.read_text(encoding="utf-8")), encoding="utf-8")
    (target / "verdicts").mkdir()
    for name, words in VERDICTS.items():
        atom.main([*words, "--format", "html", "-o", str(target / "verdicts" / name)])


def coloured(text: str) -> str:
    """A page with the language of each block of commands, of TOML and of changes.

    >>> coloured("```\\nmake docs\\n```\\n")
    '```sh\\nmake docs\\n```\\n'
    """
    for name, begins in LANGUAGES.items():
        text = re.sub(rf"(?<=^```)\n(?={begins})(?=(?:(?!```).)*^```$)", f"{name}\n", text, flags=re.M | re.S)
    return text


def atlas_page(target: Path = PAGES, report: Path = ROOT / "build" / "atlas.json") -> None:
    """Write the page of the whole atlas; its report, which takes a minute, is kept until `make clean`."""
    if not report.is_file():
        atlas.main(["-q", "--format", "json", "-o", str(report)])
    atlas.main(["--from", str(report), "--format", "html", "-o", str(target / "verdicts" / "atlas.html")])


def main(words: list[str]) -> int:
    """Make the site, strictly; `serve` in place of that shows it while the pages change."""
    os.chdir(ROOT)
    pages()
    atlas_page()
    how = words or ["build", "--strict", "--clean"]
    return subprocess.run([sys.executable, "-m", "zensical", *how], check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

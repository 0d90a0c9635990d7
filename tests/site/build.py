# SPDX-License-Identifier: Apache-2.0
"""The site of the documentation: `python -m tests.site.build` makes it from `docs` and from what the commands print.

`build/pages` gets a copy of `docs` and the pages that are generated; Zensical makes `site` of it, without network. Then
pictures become parts of their pages, where keys and a pointer reach cells, and the navigation is seen at 1200 pixels.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks import front
from tests.ledger import ledger
from tests.ledger.pictures import pictures as both_pictures
from tests.site import command_line, museum, notebook, pictures
from verify.atlas import command as atlas
from verify.atom import command as atom
from verify.kernel import command as kernel
from verify.pictures import palette, svg
from verify.pictures.html import FIGURES, script
from verify.tiling import command as tiling

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "build" / "pages"
LANGUAGES = {  # of a block that names none, by how it begins
    "pycon": r">>> ",
    "sh": r"(?:python|pip|make|lanecheck|pytest) |\$ ",
    "toml": r'\["',
    "diff": r"[-+] ",
}
EXAMPLES = Path("examples/kernel")
VERDICTS = {  # the page of each, its command and its arguments
    "verified.html": (atom.main, ["SM80_16x8x16_F32F16F16F32_TN"]),
    **{
        f"{name}.html": (kernel.main, [str(EXAMPLES / f"{name}.ptx"), "--claim", str(EXAMPLES / claim), "--seed", "1"])
        for name, claim in {"wrong": "matmul.toml", "fragment": "fragment.toml"}.items()
    },
    "tiling.html": (tiling.main, ["tests/verify/tiling/wrong.toml", "--only", "museum_25"]),
    **{page: (atom.main, ["--atoms", museum.WRONG, "--", name]) for name, page in museum.list_verdicts().items()},
}
# The theme hides the navigation below 1220 pixels, in its style sheets and in its script.
NARROW = {"76.25em": "68.75em", "76.234375em": "68.734375em"}
SCHEMES = f"""
[data-md-color-scheme="default"] .lc{{{palette.LIGHT_SCHEME}}}
[data-md-color-scheme="slate"] .lc{{{palette.DARK_SCHEME}}}
"""


def pages(target: Path = PAGES) -> None:
    """Write the pages that the site is made of."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(ROOT / "docs", target)
    pictures.draw_anew(target)
    (target / "command-line.md").write_text(command_line.page(), encoding="utf-8")
    (target / "museum.md").write_text(museum.with_pictures(target), encoding="utf-8")
    (target / "notebook.md").write_text(notebook.page(target / "notebook.ipynb"), encoding="utf-8")
    for name, text in teaching(target).items():
        (target / name).write_text(text, encoding="utf-8")
    for path in target.rglob("*.md"):
        path.write_text(widen(front.fill(colour_code(pictures.draw(path)))), encoding="utf-8")
    for name, more in (("site.css", FIGURES + palette.STYLE + SCHEMES), ("site.js", script())):
        with (target / name).open("a", encoding="utf-8") as file:
            file.write(more)
    (target / "verdicts").mkdir()
    for name, (command, words) in VERDICTS.items():
        command(["--format", "html", "-o", str(target / "verdicts" / name), *words])


def teaching(target: Path) -> dict[str, str]:
    """Return the pages of the ledger, with the pictures that it writes beside those of the documents."""
    folder = target / "teaching"

    def both(claim: ledger.Claim) -> str:
        lines = []
        for number, picture in enumerate(both_pictures(claim)):
            name = f"{claim.anchor}-{number}.svg"
            (folder / name).write_text(svg.text(svg.drawing(picture, words=False)), encoding="utf-8")
            marks = any(cell.expected for panel in picture.panels for cell in panel.every())
            lines.append(f"![{picture.title}{'; ≠ is what is right' * marks}]({name})")
        return "\n".join(lines)

    return ledger.pages(ledger.load(), both)


def colour_code(text: str) -> str:
    """A page with the language of each block of commands, of TOML and of changes.

    >>> colour_code("```\\nmake docs\\n```\\n")
    '```sh\\nmake docs\\n```\\n'
    """
    for name, begins in LANGUAGES.items():
        block = rf"(?<=^```)(?:python(?=\n>>> ))?\n(?={begins})(?=(?:(?!```).)*^```$)"
        text = re.sub(block, f"{name}\n", text, flags=re.M | re.S)
    return text


def widen(text: str) -> str:
    """Return a page; if it has no sections, without the column that would list them.

    >>> widen("# All words\\n"), widen("# Page\\n\\n## Section\\n")
    ('---\\nhide: [toc]\\n---\\n# All words\\n', '# Page\\n\\n## Section\\n')
    """
    return text if re.search(r"^##+ ", text, re.MULTILINE) else f"---\nhide: [toc]\n---\n{text}"


def finish(site: Path) -> None:
    """Put the pictures into the pages of a site, and show its navigation in narrower windows."""
    for page in site.rglob("*.html"):
        pictures.inline(page)
    for words in site.rglob(f"*{pictures.PART}"):
        words.unlink()
    for path in [*(site / "assets").rglob("*.css"), *(site / "assets").rglob("*.js")]:
        text = path.read_text(encoding="utf-8")
        for before, after in NARROW.items():
            text = text.replace(before, after)
        path.write_text(text, encoding="utf-8")


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
    code = subprocess.run([sys.executable, "-m", "zensical", *how], check=False).returncode
    if not code and how[0] == "build":
        finish(ROOT / "site")
    return code


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

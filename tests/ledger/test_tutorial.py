# SPDX-License-Identifier: Apache-2.0
"""The tutorial's examples are run, and its pages are in the documentation's table of contents."""

import doctest
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted((DOCS / "tutorial").glob("*.md"))


class Fenced(doctest.DocTestParser):
    """Examples in fences: the closing line is not part of the output."""

    def parse(self, string: str, name: str = "<string>") -> list[str | doctest.Example]:
        return super().parse(re.sub(r"^```.*$", "", string, flags=re.MULTILINE), name)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_example_of_a_page_prints_what_it_shows(page: Path) -> None:
    tested = doctest.testfile(str(page), module_relative=False, parser=Fenced(), optionflags=doctest.FAIL_FAST)
    assert tested.failed == 0
    assert tested.attempted > 5


def test_every_page_is_in_the_table_of_contents_and_on_the_index() -> None:
    contents = (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8")
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    for page in PAGES:
        assert f"tutorial/{page.name}" in contents, page
        assert f"(tutorial/{page.name})" in index, page

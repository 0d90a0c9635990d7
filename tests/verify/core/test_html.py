# SPDX-License-Identifier: Apache-2.0
"""HTML pages: names are text, ids and attributes too; the ISA's formulas are set in type."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

import isa_tables
from verify.core.html import document, element, printable, typeset

F16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"


@pytest.mark.parametrize(
    "name", ["</title><script>alert(1)</script>", "a\x00b", "\ud800", '"><img src=x>', "]]>", "\u202egnp"]
)
def test_a_name_is_text(name: str) -> None:
    made = document(name, element("p", name, id=name))
    made.encode("utf-8")
    tags: list[tuple[str, dict[str, str | None]]] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: tags.append((tag, dict(attributes)))
    parser.feed(made)
    assert [tag for tag, _ in tags] == ["html", "head", "meta", "meta", "title", "style", "body", "a", "p"]
    assert tags[-1] == ("p", {"id": printable(name)})
    assert "\x00" not in made and "\u202e" not in made


def test_text_and_elements_keep_their_order() -> None:
    made = element("p", "a", "b", element("b", "c"), "d", element("i"), "e", "f")
    assert "".join(made.itertext()) == "abcdef" and made.text == "ab" and made[1].tail == "ef"


def test_what_can_be_shown_is_left_alone() -> None:
    assert printable("µ × é\n\t漢") == "µ × é\n\t漢"


def test_a_formula_is_set_with_its_cases() -> None:
    made = typeset(isa_tables.instruction(F16).operands["A"].text())
    assert made.tag == "math"
    names = ["".join(row[0].itertext()) for row in made[0]]
    assert names == ["row", "col", "i", "groupID", "threadID_in_group"]
    cases = [
        ["".join(cell.itertext()).replace("\u00a0", " ") for cell in row] for row in made.find(".//mtable[@class]")
    ]
    assert cases == [["groupID", " if 0≤i<2 or 4≤i<6"], ["groupID+8", " otherwise "]]


def test_what_is_no_formula_stays_as_it_is() -> None:
    text = "every thread addresses the whole tile: value v is element v of 64x16"
    assert (typeset(text).tag, typeset(text).text) == ("pre", text)

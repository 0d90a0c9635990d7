# SPDX-License-Identifier: Apache-2.0
"""HTML pages that need no other file: elements, their one style sheet, and formulas of the ISA set in type.

Whatever comes from a user's file is the text or an attribute of an element, never markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element, tostring

STYLE = """
:root { color-scheme: light dark; --page: #fff; --text: #1d2129; --dim: #586069; --line: #d5d9df; --box: #f5f6f8;
  --good: #116329; --bad: #a40e26; --open: #7a4f01; --link: #0a56a8; }
@media (prefers-color-scheme: dark) { :root { --page: #15181d; --text: #e4e7eb; --dim: #a3abb5; --line: #3b424c;
  --box: #1f242b; --good: #6fd08c; --bad: #ff8f98; --open: #ecc055; --link: #86bdff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 70rem; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { position: static; }
h1 { font-size: 1.6rem; }
@media (max-width: 30rem) { h1 { font-size: 1.3rem; } }
h1, h2, h3, h4 { line-height: 1.25; margin: 1.2rem 0 .4rem; }
summary { cursor: pointer; padding: .4rem 0; }
summary h2 { display: inline; font-size: 1.1rem; }
code, pre, .status { font-family: ui-monospace, monospace; font-size: .9rem; }
pre { white-space: pre-wrap; background: var(--box); padding: .6rem; margin: .4rem 0; }
.excerpt { white-space: pre; overflow-x: auto; }
.case { border-top: 1px solid var(--line); }
.operand h2 { font-size: 1.15rem; }
.operand { border-left: 3px solid var(--line); padding-left: .8rem; margin: 1rem 0; }
.claims, .checks { list-style: none; padding: 0; margin: 0; }
.claims > li { padding: .3rem 0; border-top: 1px dotted var(--line); }
.claims > li:target { background: var(--box); outline: 2px solid var(--link); }
.checks { color: var(--dim); font-size: .85rem; padding-left: 1rem; }
.place { font-family: ui-monospace, monospace; font-size: .9rem; margin: .2rem 0; }
.follows { color: var(--dim); } .follows summary { padding: .2rem 0; }
.wrong { border-left: 3px solid var(--bad); padding-left: .8rem; margin: .4rem 0; }
.status { font-weight: 700; margin-right: .4rem; }
.VERIFIED, .PROVED, .AGREES, .verified { color: var(--good); }
.REFUTED, .RELABELLED, .VACUOUS, .CONTRADICTION, .refuted { color: var(--bad); }
.UNKNOWN, .UNCHECKED, .UNSPECIFIED, .unchecked { color: var(--open); }
.TAKEN, .dim { color: var(--dim); }
.permalink { text-decoration: none; padding: 0 .3rem; }
.permalink:hover, .permalink:focus { text-decoration: underline; }
.wide { overflow-x: auto; }
figure { margin: .6rem 0; }
figcaption { color: var(--dim); font-size: .85rem; }
math { font-size: 1.05rem; display: block; width: max-content; margin: 0; }
mtd { text-align: left; }
.cases { border-left: .12rem solid; border-radius: .5rem; padding-left: .3rem; }
"""

# No HTML document can hold them, or they would turn the text around them.
UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
WORDS = re.compile(r"(?P<number>0x[0-9A-Fa-f]+|\d+)|(?P<name>%?[A-Za-z_]\w*)|(?P<operator><<|>>|//|[<>=!]=|\.\.|\S)")
SPOKEN = {"and", "or", "not", "if", "otherwise"}
PIECE = re.compile(r"(?:(?P<name>\w+) = |\s+)(?P<value>\S.*?)(?: {3,}(?P<when>if .*|otherwise))?")
SIGNS = {"*": "·", "<=": "≤", ">=": "≥", "!=": "≠", "..": "…"}


def element(tag: str, *inside: Element | str, **attributes: str) -> Element:
    """Return an element with attributes (`class_` is `class`, `aria_label` is `aria-label`) around its content."""
    made = Element(tag, {name.rstrip("_").replace("_", "-"): printable(value) for name, value in attributes.items()})
    last: Element | None = None
    for child in inside:
        if isinstance(child, Element):
            made.append(child)
            last = child
        elif last is None:
            made.text = (made.text or "") + printable(child)
        else:
            last.tail = (last.tail or "") + printable(child)
    return made


def printable(text: str) -> str:
    r"""Return the text without what a page cannot hold: control characters, halves of characters, turns of direction.

    >>> printable("a\x00b\u202ec") == "a\ufffdb\ufffdc"
    True
    """
    return UNPRINTABLE.sub("\ufffd", text)


def document(title: str, *body: Element, style: str = "", script: str = "") -> str:
    """Return a whole page; `style` and `script` are ours, never a user's."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", STYLE + style),
    )
    skip = element("a", "Skip to the content", class_="skip", href="#main")
    page = element(
        "html", head, element("body", skip, *body, *([element("script", script)] if script else [])), lang="en"
    )
    return f"<!DOCTYPE html>\n{tostring(page, 'unicode', method='html')}\n"


def formula(text: str, citation: str) -> Element:
    """Return a formula as the ISA tables print it, set in type: a line for each map, its cases behind a bar."""
    label = element("figcaption", citation)
    return element("figure", typeset(text), label, class_="wide", tabindex="0", role="group", aria_label=citation)


def typeset(text: str) -> Element:
    r"""Return a formula as MathML; text that has not the form of a formula as it is.

    >>> made = typeset("row = g       if i < 2\n      g + 8   otherwise\ng = %laneid >> 2")
    >>> ["".join(row.itertext()) for row in made[0]]
    ['row=g\xa0if\xa0i<2g+8\xa0otherwise\xa0', 'g=%laneid>>2']
    """
    maps: list[tuple[str, list[tuple[str, str]]]] = []
    for line in text.splitlines():
        parts = [line] if "   " in line else re.split(r", (?=\w+ = )", line)
        for part in parts:
            match = PIECE.fullmatch(part)
            if match is None or (match["name"] is None and not maps):
                return element("pre", text)
            if match["name"]:
                maps.append((match["name"], []))
            maps[-1][1].append((match["value"], match["when"] or ""))
    rows = [element("mtr", _cell(name), _cell("="), element("mtd", _pieces(pieces))) for name, pieces in maps]
    return element("math", element("mtable", *rows), aria_label=" ".join(text.split()))


def _pieces(pieces: list[tuple[str, str]]) -> Element:
    if len(pieces) == 1 and not pieces[0][1]:
        return element("mrow", *_words(pieces[0][0]))
    rows = [element("mtr", _cell(value), _cell(when)) for value, when in pieces]
    return element("mtable", *rows, class_="cases")


def _cell(text: str) -> Element:
    return element("mtd", element("mrow", *_words(text)))


def _words(text: str) -> Iterator[Element]:
    for word in WORDS.finditer(text):
        spelled = word[0]
        if word["number"]:
            yield element("mn", spelled)
        elif spelled in SPOKEN:
            yield element("mtext", f"\u00a0{spelled}\u00a0")
        elif word["name"]:
            yield element("mi", spelled, mathvariant="normal")
        else:
            room = "0" if spelled in "()" else ".25em"
            yield element("mo", SIGNS.get(spelled, spelled), stretchy="false", lspace=room, rspace=room)

# SPDX-License-Identifier: Apache-2.0
"""Small repairs of a map in its user's own text: another constant or basis, or two terms or bases exchanged.

Each candidate is a text that is parsed and evaluated like any other. One that equals the ISA's map at every point is
proposed, and `verify.core.verified_repair` shows it if the whole entry is verified with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations, islice
from typing import Any

from verify.index import memory
from verify.index.bind import IndexOperand
from verify.index.spec import OperandSpec
from verify.maps import bases
from verify.maps.c_meaning import Undefined
from verify.maps.expression import IndexFunction, readings
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import MapError, Point
from verify.maps.search import count_agreement, list_differences
from verify.maps.syntax import parse
from verify.maps.synthesis import as_c
from verify.maps.tree import ExpressionError, Name, Number, Tree, nodes

MOST = 1500  # candidates, and parts of all of them: less than a second
MOST_PARTS = 30_000
LONGEST = 200  # letters of a map that is written
PROBES = 4  # points at which a candidate is evaluated first
ROW_COL, LANE_VALUE = ("row", "col"), ("lane", "value")
POWERS = (1, 2, 4, 8, 16, 32, 64, 128, 3, 7, 15, 31, 5, 6, 0)
Texts = dict[str, str]


def find(part: IndexOperand, wanted: FragmentMap) -> tuple[str, Mapping[str, Any]]:
    """Return the repaired expressions, with the number of points that agree, and the keys that change; else "".

    A table or a function has no text that could be edited, so expressions of C take its place.
    """
    function = part.function
    if part.spec.bases is not None:
        return _of_bases(part, part.spec.bases, wanted)
    if function is None:
        return _in_place_of(part, wanted)
    now, points = count_agreement(part.given, wanted)
    probes = list_differences(part.given, wanted)[:PROBES]
    size = sum(len(_parts(text, part.spec.lang)) for text in _texts(function).values())
    most = min(MOST, MOST_PARTS // max(1, size))
    for how, texts in islice(_candidates(function, part.spec.lang), most):
        candidate = _with(function, texts)
        if _fits(candidate, wanted, probes, part):
            changed = {name: text for name, text in texts.items() if text != _texts(function)[name]}
            listed = "; ".join(f"{_key(part, name)} = {' '.join(text.split())}" for name, text in changed.items())
            return f"{how}: {listed}      {points} of {points} agree (now {now})", _keys(part, changed)
    return "", {}


def _keys(part: IndexOperand, changed: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the user's keys with the changed texts."""
    let = {name.removeprefix("let "): text for name, text in changed.items() if name.startswith("let ")}
    keys: dict[str, Any] = {_key(part, name): text for name, text in changed.items() if not name.startswith("let ")}
    return {**keys, "let": {**part.spec.let, **let}} if let else keys


def _in_place_of(part: IndexOperand, wanted: FragmentMap) -> tuple[str, Mapping[str, Any]]:
    """Return the ISA's map as expressions, and the keys that give it; "" if it isn't written in two lines."""
    texts = expressions(wanted)
    if part.in_memory:
        names = ROW_COL if part.inverse else tuple(memory.keys(wanted))
    else:
        names = LANE_VALUE if part.inverse else ROW_COL
    if not texts:
        return "", {}
    own = dict.fromkeys(part.spec.form) if part.spec != OperandSpec() else {}
    given = dict(zip(names, texts.values(), strict=True))
    return f"the ISA's map is {list_texts(texts)}", {**own, "python": "", **given, "lang": "c"}


def list_texts(texts: Texts) -> str:
    """Return expressions with their names, as a report shows them."""
    return "; ".join(f"{name} = {text}" for name, text in texts.items())


def expressions(m: FragmentMap) -> Texts:
    """Return an expression of C for each output of a map; none if they don't fit in two lines."""
    try:
        text = as_c(m)
    except MapError:
        return {}
    return dict(line.split(" = ", 1) for line in text.split("; ")) if len(text) < LONGEST else {}


def _of_bases(part: IndexOperand, text: str, wanted: FragmentMap) -> tuple[str, Mapping[str, Any]]:
    """Return the bases with one changed, two exchanged, or rows and columns exchanged in all."""
    try:
        right, mine, places = bases.of_map(wanted), bases.read_bases(text), bases.places(text)
    except MapError:
        return "", {}
    names = [name for name in ("register", "lane", "warp") if name in mine]
    given = [(places[name][bit], basis) for name in names for bit, basis in enumerate(mine[name])]
    needed = [*right["value"], *right["lane"]]
    if len(given) != len(needed) or len(mine["register"]) != len(right["value"]):
        return "", {}
    wrong = [(span, basis, need) for (span, basis), need in zip(given, needed, strict=True) if basis != need]
    if len(wrong) == 1:
        how = "one basis"
    elif len(wrong) == 2 and wrong[0][1:] == wrong[1][:0:-1]:
        how = "two bases exchanged"
    elif all(basis[::-1] == need for _, basis, need in wrong):
        how = " and ".join(axis.name for axis in wanted.outputs) + " exchanged"
    else:
        return "", {}
    for (start, end), _, need in sorted(wrong, reverse=True):
        text = text[:start] + _renumber(text[start:end], need) + text[end:]
    if list_differences(bases.of_operand(bases.read_bases(text), wanted.outputs), wanted):
        return "", {}
    now, points = count_agreement(part.given, wanted)
    words = f"{how}: bases = {' '.join(text.split())}      {points} of {points} agree (now {now})"
    return words, {"bases": text}


def _renumber(text: str, numbers: Point) -> str:
    """Return the text with other integers in place of its own, in their order."""
    words = iter(map(str, numbers))
    return re.sub("[0-9]+", lambda _: next(words), text)


def _key(part: IndexOperand, name: str) -> str:
    """Return the user's key for an output's expression: row for m, or the name that `let` defines."""
    if part.function is None or name.startswith("let "):
        return name
    return part.spec.form[[axis.name for axis in part.function.outputs].index(name)]


def _texts(function: IndexFunction) -> Texts:
    return {**{f"let {name}": text for name, text in function.let.items()}, **function.texts}


def _with(function: IndexFunction, texts: Mapping[str, str]) -> IndexFunction:
    let = {name.removeprefix("let "): text for name, text in texts.items() if name.startswith("let ")}
    return replace(function, let=let, texts={name: text for name, text in texts.items() if name in function.texts})


def _fits(candidate: IndexFunction, wanted: FragmentMap, probes: list[Point], part: IndexOperand) -> bool:
    """Whether a candidate equals the wanted map: at a few points first, then at all in every reading."""
    try:
        image = candidate.evaluator(part.spec.lang, part.spec.type)
        if any(isinstance(got := image(point), Undefined) or got != wanted.at(*point)[0] for point in probes):
            return False
        m = candidate.map(part.spec.lang, part.spec.type)
    except (ExpressionError, MapError, IndexError):
        return False
    return not list_differences(m if wanted.total else m.restrict(wanted.images), wanted)


def _candidates(function: IndexFunction, language: str) -> Iterator[tuple[str, Texts]]:
    """Yield the texts with one constant changed, nearest first, then with two terms exchanged."""
    texts = _texts(function)
    parts = [(name, node) for name, text in texts.items() for node in _parts(text, language)]
    literals = [(name, node) for name, node in parts if isinstance(node, Number)]
    listed = dict.fromkeys([node.value for _, node in literals if isinstance(node, Number)])
    for name, node in literals:
        if isinstance(node, Number):
            near = (node.value + 1, node.value - 1, 2 * node.value, node.value // 2)
            for value in dict.fromkeys((*near, *listed, *POWERS)):
                if value >= 0 and value != node.value:
                    suffix = node.suffix
                    yield "one constant", {**texts, name: _replace_parts(texts[name], [(node, f"{value}{suffix}")])}
    names = [axis.name for axis in function.outputs]
    for a, b in combinations(names, 2):
        yield f"{a} and {b} exchanged", {**texts, a: texts[b], b: texts[a]}
    terms = [(name, node) for name, node in parts if not isinstance(node, Number)]
    terms.sort(key=lambda term: not isinstance(term[1], Name))
    for (a, left), (b, right) in combinations([*terms, *literals], 2):
        first, second = texts[a][left.start : left.end], texts[b][right.start : right.end]
        if first == second or (a == b and left.start < right.end and right.start < left.end):
            continue
        if a == b:
            yield "two terms exchanged", {**texts, a: _replace_parts(texts[a], [(left, second), (right, first)])}
        else:
            changed = {a: _replace_parts(texts[a], [(left, second)]), b: _replace_parts(texts[b], [(right, first)])}
            yield "two terms exchanged", {**texts, **changed}


def _parts(text: str, language: str) -> list[Tree]:
    """Every part of a text, in the first language that reads it."""
    for reading in readings(language, "int"):
        try:
            code = parse(text, reading.language, comments=not language)
        except ExpressionError:
            continue
        return [
            node
            for tree in (*(declaration.value for declaration in code.declarations), code.result)
            for node in nodes(tree)
        ]
    return []


def _replace_parts(text: str, changes: list[tuple[Tree, str]]) -> str:
    """Return the text with other words in place of some of its parts."""
    for node, words in sorted(changes, key=lambda change: -change[0].start):
        text = text[: node.start] + words + text[node.end :]
    return text

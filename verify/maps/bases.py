# SPDX-License-Identifier: Apache-2.0
"""F2 bases as text, in the spellings of Triton and Gluon, and the bases of a map.

A map is linear over F2 if the image of an input is the xor of the images of its bits. Its bases are these images: one
for each bit of the value (Triton's register), of the lane and of the warp.

>>> text = "{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []}"
>>> C = of_operand(read_bases(text), (Axis("m", 16), Axis("n", 8)))
>>> C(5, 3), spell_bases(C)
((9, 3), '{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []}')
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from verify.maps.fragment_map import FragmentMap
from verify.maps.linear import BasesMap
from verify.maps.map import NOWHERE, Axis, MapError, MapOrigin, Point
from verify.maps.search import list_differences

MAX_TEXT = 16 * 1024
WARP_BITS = 5
NAMES = {
    **dict.fromkeys(("register", "reg", "reg_bases", "value"), "register"),
    **dict.fromkeys(("lane", "lane_bases"), "lane"),
    **dict.fromkeys(("warp", "warp_bases"), "warp"),
    **dict.fromkeys(("block", "block_bases"), "block"),
}
NUMBERS = r"[-0-9,\s]*"
LISTED = re.compile(
    rf"""["']?(?P<name>[a-z_]+)["']?\s*[=:]\s*[\[(](?P<bases>(?:\s*,?\s*[\[(]{NUMBERS}[\])])*+\s*,?\s*)[\])]"""
)
BASIS = re.compile(rf"[\[(]({NUMBERS})[\])]")
PRINTED = re.compile(rf"(?P<name>[a-z]+)=(?P<unit>[0-9]{{1,9}})\s*->\s*\((?P<basis>{NUMBERS})\)")
TRIVIAL = re.compile(r"(?P<name>[a-z]+) is a size 1 dimension")
Bases = Mapping[str, Sequence[Point]]


def read_bases(text: str) -> Bases:
    """Return the bases of a text: register, lane, warp and block, each with a list of points.

    Spellings: MLIR's `#ttg.linear<{register = [[0, 1]], lane = [[0, 2]], ...}>`, JSON, Gluon's
    `DistributedLinearLayout(reg_bases=[[0, 1]], ...)`, and a printed LinearLayout, `register=1 -> (0, 1)` by line.

    Raises MapError.
    """
    if len(text) > MAX_TEXT:
        raise MapError(f"bases of more than {MAX_TEXT} characters")
    bases = {name: [_point(text[slice(*span)]) for span in spans] for name, spans in places(text).items()}
    if "lane" not in bases or not {"register"} & bases.keys():
        raise MapError(
            "no bases: expected register and lane, such as {register = [[0, 1]], lane = [[0, 2], [0, 4]], warp = []}"
        )
    return bases


def places(text: str) -> dict[str, list[tuple[int, int]]]:
    """Where the numbers of each basis are in a text, by name; raises MapError.

    >>> places("register=1 -> (0, 1)")
    {'register': [(15, 19)]}
    """
    printed: dict[str, list[re.Match[str]]] = {}
    for match in PRINTED.finditer(text):
        printed.setdefault(_name(match["name"]), []).append(match)
    for name, bases in printed.items():
        if [int(match["unit"]) for match in bases] != [1 << bit for bit in range(len(bases))]:
            raise MapError(f"the bases of {name} are not those of 1, 2, 4, ...")
    spans = {name: [match.span("basis") for match in bases] for name, bases in printed.items()}
    spans |= {_name(match["name"]): [] for match in TRIVIAL.finditer(text)}
    for match in LISTED.finditer(text) if not printed else ():
        if (sort := NAMES.get(match["name"])) is not None:
            if sort in spans:
                raise MapError(f"the bases of {sort} are there twice, again at column {match.start() + 1}")
            spans[sort] = [basis.span(1) for basis in BASIS.finditer(text, *match.span("bases"))]
    return spans


def _name(word: str) -> str:
    if word not in NAMES:
        raise MapError(f"bases of {word!r}: known are register, lane, warp, block")
    return NAMES[word]


def _point(text: str) -> Point:
    words = [word.strip() for word in text.split(",") if word.strip()]
    if any(not re.fullmatch("[0-9]{1,19}", word) for word in words):
        raise MapError(f"the basis ({' '.join(text.split())}) isn't a list of integers")
    return tuple(map(int, words))


def of_operand(bases: Bases, outputs: Sequence[Axis], origin: MapOrigin = NOWHERE) -> FragmentMap:
    """Return the map (lane, value) -> outputs of one CTA's bases: the warp's bits are the lane's from bit 5 on."""
    if any(any(basis) for basis in bases.get("block", ())):
        raise MapError("bases of block: an operand belongs to one CTA")
    lanes = [*bases["lane"], *bases.get("warp", ())]
    if bases.get("warp") and len(bases["lane"]) != WARP_BITS:
        raise MapError(f"{len(bases['lane'])} bases of lane beside those of warp: a warp has 5")
    wrong = next((basis for basis in (*lanes, *bases["register"]) if len(basis) != len(outputs)), None)
    if wrong is not None:
        names = ", ".join(axis.name for axis in outputs)
        raise MapError(f"the basis {list(wrong)} has {len(wrong)} numbers, expected ({names})")
    return FragmentMap.from_bases({"lane": lanes, "value": bases["register"]}, outputs, origin)


def of_map(m: FragmentMap) -> Bases:
    """Return the bases of a linear map, by input axis; raise MapError with the first point that prevents it.

    >>> of_map(FragmentMap.tabulate(lambda i: 3 * i, [Axis("i", 4)], [Axis("m", 16)]))
    Traceback (most recent call last):
    verify.maps.map.MapError: not linear over F2: i 3 has (m=9), its bits give (m=5)
    """
    for axis in m.inputs:
        if axis.extent & (axis.extent - 1):
            raise MapError(f"not linear over F2: {axis.extent} {axis.name}s aren't a power of two")
    if not m.total:
        raise MapError("not linear over F2: some input has no image, or several")
    zero = (0,) * len(m.inputs)
    bases: dict[str, list[Point]] = {}
    for place, axis in enumerate(m.inputs):
        units = [(*zero[:place], 1 << bit, *zero[place + 1 :]) for bit in range(axis.extent.bit_length() - 1)]
        bases[axis.name] = [m(*unit) for unit in units]
    if any(c < 0 for basis in m.images.values() for c in basis[0]):
        raise MapError("not linear over F2: an image is negative")
    linear = BasesMap(bases, m.outputs)
    if differing := list_differences(m, linear):
        point = differing[0]
        has = f"{m.show_input(point)} has {m.show(m(*point))}"
        raise MapError(f"not linear over F2: {has}, its bits give {linear.show(linear(*point))}")
    return bases


def spell_bases(m: FragmentMap) -> str:
    """Return the bases of a linear map from (lane, value) in Triton's spelling; raise MapError if it is not linear."""
    bases = of_map(m)
    listed = {"register": bases["value"], "lane": bases["lane"][:WARP_BITS], "warp": bases["lane"][WARP_BITS:]}
    return "{" + ", ".join(f"{name} = {[list(basis) for basis in several]}" for name, several in listed.items()) + "}"

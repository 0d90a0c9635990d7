# SPDX-License-Identifier: Apache-2.0
"""The colours of pictures: eight pastels, light and dark, and what marks a fault. Only what is wrong is red.

Nothing is said by colour alone: several owners have a double border and are all listed, a cell without one is hatched,
another owner than expected is outlined with the expected one in it, the counterexample has a ring.
"""

from __future__ import annotations

import re

PASTELS = (  # thread % 8: blue, green, yellow and teal, then lighter; CuTe's print_latex has pink in place of teal
    (175, 175, 255), (175, 255, 175), (255, 255, 175), (140, 222, 226),
    (210, 210, 255), (210, 255, 210), (255, 255, 210), (205, 240, 242),
)  # fmt: skip
DARK = (
    (52, 52, 116), (30, 84, 40), (90, 84, 24), (12, 84, 92),
    (70, 70, 100), (56, 86, 58), (88, 88, 58), (48, 86, 92),
)  # fmt: skip
RED = (200, 20, 20)


def _hex(colour: tuple[int, int, int]) -> str:
    return "#" + "".join(f"{part:02x}" for part in colour)


def _variables(shades: tuple[tuple[int, int, int], ...], rest: str) -> str:
    return "".join(f"--lc-{i}:{_hex(shade)};" for i, shade in enumerate(shades)) + rest


LIGHT_SCHEME = _variables(PASTELS, "--lc-bg:#fff;--lc-ink:#1b1b1b;--lc-dim:#555;--lc-line:#8a8a8a;--lc-plain:#fff;"
                          f"--lc-red:{_hex(RED)};--lc-on-red:#fff;--lc-out:#0b3fbf")  # fmt: skip
DARK_SCHEME = _variables(DARK, "--lc-bg:#16181c;--lc-ink:#f2f2f2;--lc-dim:#b4b4b4;--lc-line:#7d8590;--lc-plain:#22252b;"
                         "--lc-red:#e0443c;--lc-on-red:#000;--lc-out:#8ab4ff")  # fmt: skip
STYLE = f"""
.lc{{{LIGHT_SCHEME}}}
@media (prefers-color-scheme:dark){{.lc{{{DARK_SCHEME}}}}}
.lc text{{font:8px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:var(--lc-ink)}}
.lc .c text{{text-anchor:middle}}
.lc .c rect{{fill:var(--lc-plain);stroke:var(--lc-line);stroke-width:.5}}
{"".join(f".lc .s{i} rect{{fill:var(--lc-{i})}}" for i in range(8))}
.lc .several rect{{fill:var(--lc-red)}}.lc .several text{{fill:var(--lc-on-red);font-weight:bold}}
.lc .several .b{{fill:none;stroke:var(--lc-on-red);stroke-width:1}}
.lc .o{{fill:none!important;stroke:var(--lc-out)!important;stroke-width:1.5!important;stroke-dasharray:3 1.5}}
.lc .c .e{{fill:var(--lc-out);font-weight:bold}}
.lc .several .e{{fill:var(--lc-on-red)!important}}
.lc .m{{fill:none!important;stroke:var(--lc-ink)!important;stroke-width:2.5!important}}
.lc .away{{opacity:.13}}
.lc .bg{{fill:var(--lc-bg)}}.lc .d{{fill:var(--lc-dim)}}.lc .h{{font-weight:bold;font-size:10px}}
.lc .n{{font-size:9px;white-space:pre}}.lc .r{{text-anchor:end}}.lc .k{{text-anchor:middle}}
.lc .hatch{{stroke:var(--lc-dim);stroke-width:1}}
"""


def plain() -> str:
    """Return the style in the colours of the light scheme, without variables and rules for a dark one.

    >>> "var(" in plain() or "@media" in plain(), ".lc .s0 rect{fill:#afafff}" in plain()
    (False, True)
    """
    colours = dict(part.split(":") for part in LIGHT_SCHEME.strip(";").split(";"))
    rules = re.sub(r"@media[^{]*\{.*?\}\}", "", STYLE, flags=re.DOTALL)
    return re.sub(r"var\((--lc-[a-z0-9-]+)\)", lambda name: colours[name[1]], rules)

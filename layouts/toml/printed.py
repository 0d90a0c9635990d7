# SPDX-License-Identifier: Apache-2.0
"""A printed TiledMMA as an atom's file: what `print(tiled_mma)` writes in C++ and in the CuTe DSL.

Each line of the block becomes a line of TOML with its key, and is kept as its source, so that errors quote the text:

    MMA Atom                                                         ["NAME"]
      ThrID:           32:1                                          thr = "32:1"
      Shape MNK:       (16,8,16)                                     shape = "16,8,16"
      TV Layout A:     ((4,8),(2,2,2)):((32,1),(16,8,128))           A = "((4,8),(2,2,2)):((32,1),(16,8,128))"

The block does not say which instruction is issued: a line `PTX: MNEMONIC` may be added to it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

HEAD = re.compile(r"[ \t]*MMA[ _]Atom[ \t]*:?[ \t]*")
LINE = r"[ \t]*([A-Za-z_ ]{3,30}?)[ \t]*:[ \t]*(.*?)[ \t]*"
KEYS = {
    "thrid": "thr",
    "shapemnk": "shape",
    "ptx": "ptx",
    **{f"tvlayout{name.lower()}": name for name in "ABC"},
    **{f"layout{name.lower()}tv": name for name in "ABC"},
}
UNKNOWN = '{ D = "unknown", A = "unknown", B = "unknown", C = "unknown" }'


class PrintedLine(NamedTuple):
    """The line of the printed text that a line of TOML was made from."""

    line: int  # from 1
    text: str
    shift: int  # its column less that of the TOML, inside the value
    end: int  # the column of the TOML up to which there is no value

    def place(self, column: int) -> tuple[int, int, str]:
        """Line, column and text of what is at a column of the TOML: of a key it is where the text begins."""
        begin = len(self.text) - len(self.text.lstrip()) + 1
        return self.line, begin if column <= self.end else column + self.shift, self.text


def as_toml(text: str, name: str) -> tuple[str, list[PrintedLine]]:
    r"""Return the TOML of a text with printed MMA atoms, the second one `NAME 2`, and the source of each of its lines.

    The text itself and no sources where it has none.

    >>> toml, sources = as_toml("Tiled MMA\nMMA Atom\n  ThrID: 32:1\n  PTX: mma.x", "mine")
    >>> print(toml)
    # Tiled MMA
    ["mine"]
    thr = "32:1"
    ptx = "mma.x"
    >>> sources[2].place(8), sources[2].place(1)
    ((3, 10, '  ThrID: 32:1'), (3, 3, '  ThrID: 32:1'))
    >>> as_toml('["mine"]', "mine")
    ('["mine"]', [])
    """
    lines = text.splitlines()
    if not any(map(HEAD.fullmatch, lines)):
        return text, []
    sourced: list[tuple[str, PrintedLine]] = []
    blocks: list[list[int]] = []  # the lines of each
    for number, line in enumerate(lines):
        plain = PrintedLine(number + 1, line, 0, len(line) + 2)
        if HEAD.fullmatch(line):
            blocks.append([])
            title = name if len(blocks) == 1 else f"{name} {len(blocks)}"
            sourced.append((f'["{_quote(title)}"]', plain))
            continue
        parts = re.fullmatch(LINE, line)
        key = KEYS.get(re.sub("[ _]", "", parts[1]).lower()) if parts else None
        if parts is None or key is None or not blocks:
            sourced.append((f"# {_quote(line)}".rstrip(), plain))
            continue
        value = re.sub(r"[()_\s]", "", parts[2]) if key == "shape" else parts[2]
        before = len(f'{key} = "')
        sourced.append(
            (f'{key} = "{_quote(value)}"', PrintedLine(number + 1, line, parts.start(2) - before, before - 1))
        )
        blocks[-1].append(number)
    for block in reversed(blocks):
        if block and not any(sourced[number][0].startswith("ptx = ") for number in block):
            sourced.insert(block[-1] + 1, (f"types = {UNKNOWN}", sourced[block[-1]][1]))
    return "\n".join(line for line, _ in sourced), [source for _, source in sourced]


def _quote(text: str) -> str:
    """Return the text inside a TOML string of one line; characters that it cannot have are left out."""
    return "".join(c for c in text if c.isprintable()).replace("\\", "\\\\").replace('"', '\\"')

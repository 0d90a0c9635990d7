# SPDX-License-Identifier: Apache-2.0
"""A printed TiledMMA as an atom's file: what `print(tiled_mma)` writes in C++ and in the CuTe DSL.

Each line of the block becomes the line of TOML with its key, so that errors name the line of the text:

    MMA Atom                                                         ["NAME"]
      ThrID:           32:1                                          thr = "32:1"
      Shape MNK:       (16,8,16)                                     shape = "16,8,16"
      TV Layout A:     ((4,8),(2,2,2)):((32,1),(16,8,128))           A = "((4,8),(2,2,2)):((32,1),(16,8,128))"

The block does not say which instruction is issued: a line `PTX: MNEMONIC` may be added to it.
"""

from __future__ import annotations

import re

HEAD = re.compile(r"[ \t]*MMA[ _]Atom[ \t]*:?[ \t]*")
LINE = re.compile(r"[ \t]*([A-Za-z_ ]{3,30}?)[ \t]*:[ \t]*(.*?)[ \t]*")
KEYS = {
    "thrid": "thr",
    "shapemnk": "shape",
    "ptx": "ptx",
    **{f"tvlayout{name.lower()}": name for name in "ABC"},
    **{f"layout{name.lower()}tv": name for name in "ABC"},
}
UNKNOWN = '{ D = "unknown", A = "unknown", B = "unknown", C = "unknown" }'


def as_toml(text: str, name: str) -> str:
    r"""The TOML of a text with printed MMA atoms, the second one `NAME 2`; the text itself where it has none.

    >>> print(as_toml("Tiled MMA\nMMA Atom\n  ThrID: 32:1\n  PTX: mma.x", "mine"))
    # Tiled MMA
    ["mine"]
    thr = "32:1"
    ptx = "mma.x"
    >>> as_toml('["mine"]', "mine")
    '["mine"]'
    """
    lines = text.splitlines()
    if not any(map(HEAD.fullmatch, lines)):
        return text
    found: list[str] = []
    blocks: list[list[int]] = []  # the lines of each
    for number, line in enumerate(lines):
        if HEAD.fullmatch(line):
            blocks.append([])
            title = name if len(blocks) == 1 else f"{name} {len(blocks)}"
            found.append(f'["{_quoted(title)}"]')
            continue
        parts = LINE.fullmatch(line)
        key = KEYS.get(re.sub("[ _]", "", parts[1]).lower()) if parts else None
        if parts is None or key is None or not blocks:
            found.append(f"# {_quoted(line)}".rstrip())
            continue
        value = re.sub(r"[()_\s]", "", parts[2]) if key == "shape" else parts[2]
        found.append(f'{key} = "{_quoted(value)}"')
        blocks[-1].append(number)
    for block in reversed(blocks):
        if block and not any(found[number].startswith("ptx = ") for number in block):
            found.insert(block[-1] + 1, f"types = {UNKNOWN}")
    return "\n".join(found)


def _quoted(text: str) -> str:
    """The text inside a TOML string of one line; characters that it cannot have are left out."""
    return "".join(c for c in text if c.isprintable()).replace("\\", "\\\\").replace('"', '\\"')

# SPDX-License-Identifier: Apache-2.0
"""`lanecheck COMMAND …`, the same as `python -m verify.COMMAND …`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from verify import installation
from verify.cli import Exit, complain, spell

COMMANDS = {
    "atlas": "every atom by instruction: what each witness said, and on whose word",
    "atom": "judge atoms by the book, the proof and the silicon",
    "laws": "prove the laws of the layout algebra for all extents and ranks",
    "layout": "judge one layout: bounds and ownership of a tile",
    "movement": "judge data on its way: registers handed over, bank conflicts, matrix descriptors",
    "mutate": "show that wrong atoms are refuted: the mutation campaign",
    "tiling": "judge tiled MMAs: who holds what of a CTA's tile, and what they compute",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Hand the arguments on to a command."""
    spell()
    if line := installation.fault():
        return complain(line, Exit.USAGE)
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or words[0] in ("-h", "--help"):
        listed = "\n".join(f"  {name:<8} {what}" for name, what in COMMANDS.items())
        print(f"usage: lanecheck COMMAND …\n\n{listed}\n\n`lanecheck COMMAND --help` tells more.")
        return Exit.STANDS if words else Exit.USAGE
    if words[0] not in COMMANDS:
        return complain(f"lanecheck: no command is named {words[0]!r}; one of {', '.join(COMMANDS)}", Exit.USAGE)
    command = importlib.import_module(f"verify.{words[0]}")
    return int(command.main(words[1:]))


if __name__ == "__main__":
    raise SystemExit(main())

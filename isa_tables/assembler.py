# SPDX-License-Identifier: Apache-2.0
"""How NVIDIA's assembler reads a mnemonic: the name of the instruction first, most other words in any order.

`ptxas.toml` holds the answers of one release of ptxas, so that nobody needs it.

>>> name_of("tcgen05.mma.ws.cta_group::1.kind::f16"), name_of("mma.sync.aligned.m16n8k16"), name_of("mmma.sync")
('tcgen05.mma.ws', 'mma', '')
>>> find_misplaced("dp2a.s32.lo.s32", "dp2a.lo.s32.s32")
'the name dp2a.lo stands first'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from isa_tables import schema, tables

FILE = Path(__file__).with_name("ptxas.toml")


class Assembler(NamedTuple):
    """The answers of one release of ptxas."""

    release: str  # 13.0.88
    names: frozenset[str]  # of instructions: mma, tcgen05.mma.ws
    order: Sequence[Mapping[str, Sequence[str]]]  # words that keep their order, in the instructions of these names
    beyond: Mapping[str, frozenset[str]]  # name -> words that it may have and the tables leave out


@cache
def assembler() -> Assembler:
    """Read `ptxas.toml` once. Raises TableError."""
    return read_answers(FILE)


def read_answers(path: Path) -> Assembler:
    """Read a file of answers. Raises TableError where it breaks the schema."""
    file = str(path)
    data = tables.parse_tables(file, tables.text_of(path))
    schema.check(data, schema.keys()["reading"], file, "", ("schema", "ptxas", "isa", "single", "several"))
    tables.check_schema(data, file)
    names = {f"{head}.{rest}".rstrip(".") for head, rests in data["several"].items() for rest in rests}
    beyond = {name: frozenset(row["words"]) for row in _rows(data, "beyond", file) for name in row["names"]}
    return Assembler(data["ptxas"], frozenset({*data["single"], *names}), _rows(data, "order", file), beyond)


def _rows(data: Mapping[str, Any], key: str, file: str) -> Sequence[Mapping[str, Sequence[str]]]:
    kinds = schema.keys()[key]
    for number, row in enumerate(data.get(key, ())):
        schema.check(row, kinds, file, f"{key}[{number}]", tuple(kinds))
    rows: Sequence[Mapping[str, Sequence[str]]] = data.get(key, ())
    return rows


@lru_cache(maxsize=8192)
def name_of(mnemonic: str) -> str:
    """Return the name of the instruction, the longest that begins the mnemonic; empty if PTX has none."""
    words = mnemonic[:200].split(".")
    candidates = (".".join(words[:count]) for count in range(len(words), 0, -1))
    return next((name for name in candidates if name in assembler().names), "")


def find_misplaced(mnemonic: str, written: str) -> str:
    """Say which word ptxas rejects at its place in a mnemonic; empty if it takes the order.

    `written` is the same mnemonic as the tables write it.
    """
    name, words = name_of(written), mnemonic.split(".")
    if name_of(mnemonic) != name:
        return f"the name {name} stands first"
    for row in assembler().order if name else ():
        places = [[at for at, word in enumerate(words) if word in row[key]] for key in ("before", "after")]
        if name in row["names"] and all(places) and max(places[0]) > min(places[1]):
            return f".{words[max(places[0])]} stands before .{words[min(places[1])]}"
    return ""


def find_beyond(mnemonic: str) -> str:
    """Return a word that the instruction may have and the tables leave out; empty if there is none."""
    known = assembler().beyond.get(name_of(mnemonic), frozenset())
    return next((word for word in mnemonic.split(".") if word in known), "")

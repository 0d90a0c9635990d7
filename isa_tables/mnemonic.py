# SPDX-License-Identifier: Apache-2.0
"""A mnemonic split into its parts, so that mnemonics that differ only in the order of qualifiers are equal.

>>> list_parts("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32.satfinite") == list_parts(
...     "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32")
True
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from isa_tables.schema import WIDTH

_SHAPE = re.compile(r"m\d+n(?:\d+|N)(?:k\d+)?|\d+x\d+b(?:x2)?")  # m64nNk16 is a family of shapes
_LAYOUTS = ("row", "col")
_GENERAL = ("sync", "aligned")
_OPERATIONS = ("mma", "mma_async", "load", "store", "ld", "st", "red", "cp", "async")


class Said(NamedTuple):
    """The parts of a mnemonic: shape, layouts and types, each in their order, and flags, whose order means nothing.

    Two mnemonics name the same instruction exactly when their `Said` are equal.
    """

    head: str  # mma, wgmma, tcgen05, ldmatrix, ...
    ordered: tuple[str, ...]  # shape, then layouts, then types
    flags: tuple[str, ...]  # sorted, with repetitions: a flag given twice is another mnemonic

    @property
    def family(self) -> str:
        """The kind of instruction: mma.sync, mma.sp.sync, mma.sync.kind::f8f6f4, wgmma.mma_async.sync, ..."""
        return _family(self.head, self.flags)

    @property
    def stem(self) -> str:
        """The first part of the names of the files that may have it: mma, mma.sp, mma.block-scale, wgmma.sp, ..."""
        return _stem(self.head, self.flags)

    @property
    def shape(self) -> str | None:
        """The shape qualifier, "m16n8k16", if there is one."""
        return next(filter(is_shape, self.ordered), None)

    @property
    def qualifiers(self) -> frozenset[str]:
        """The flags that choose among variants: all but sync and aligned."""
        return _qualifiers(self.flags)


# Thousands of mnemonics have few sets of flags and few words among them.
@lru_cache(maxsize=1024)
def _family(head: str, flags: tuple[str, ...]) -> str:
    does = [word for word in _OPERATIONS if word in flags]
    sparse = [flag for flag in flags if flag.split("::")[0] == "sp"]
    sync = [flag for flag in flags if flag == "sync"]
    kind = [flag for flag in flags if flag.startswith("kind::") or flag == "block_scale"]
    return ".".join([head, *does, *sparse, *sync, *sorted(kind, reverse=True)])


@lru_cache(maxsize=1024)
def _stem(head: str, flags: tuple[str, ...]) -> str:
    marks = {flag.split("::")[0] for flag in flags} & {"sp", "block_scale"}
    return ".".join([head, *sorted(marks, reverse=True)]).replace("_", "-")


@lru_cache(maxsize=1024)
def _qualifiers(flags: tuple[str, ...]) -> frozenset[str]:
    return frozenset(flags) - frozenset(_GENERAL)


def list_parts(mnemonic: str) -> Said:
    """Return the parts of a mnemonic; of a text that isn't a mnemonic, parts that equal no instruction's."""
    head, *tokens = mnemonic.split(".")
    # ptxas lets shape, layouts and types interleave; only two layouts, or two types, keep their order.
    ordered = tuple(sorted(filter(_has_place, tokens), key=_rank))
    return Said(head, ordered, tuple(sorted(token for token in tokens if not _has_place(token))))


def is_shape(token: str) -> bool:
    """Whether a word is a shape.

    >>> is_shape("m16n8k16"), is_shape("16x64b"), is_shape("f16")
    (True, True, False)
    """
    return _SHAPE.fullmatch(token) is not None


def _rank(token: str) -> int:
    """Return 0 for a shape, 1 for a layout, 2 for a type."""
    return 0 if is_shape(token) else 1 if token in _LAYOUTS else 2


@lru_cache(maxsize=1024)
def _has_place(token: str) -> bool:
    return token in _LAYOUTS or token in WIDTH or is_shape(token)


def is_short_for(short: str, mnemonic: str) -> bool:
    """Return whether a mnemonic has the words of a short name in their order, the first word first.

    >>> is_short_for("mma.m16n8k8.f32", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32")
    True
    """
    words, wanted = mnemonic.split("."), short.split(".")
    rest = iter(words)
    return words[0] == wanted[0] and all(word in rest for word in wanted)

# SPDX-License-Identifier: Apache-2.0
"""The layouts of one matrix instruction or one copy, parsed from an atom's entry."""

from __future__ import annotations

from dataclasses import dataclass

from layouts.atoms import Atom, IncompleteAtom
from layouts.atoms import CopyAtom as CopyEntry
from layouts.errors import LayoutError
from layouts.int_tuple import size
from layouts.layout import Layout
from layouts.widths import upcast


@dataclass(frozen=True, slots=True)
class MmaAtom:
    """One matrix instruction of ``shape`` (M, N, K), with the layouts of its operands.

    ``thr`` maps logical threads to lanes; A, B and C map (logical thread, value) to m + M*k, n + N*k, and m + M*n. The
    operands in ``memory`` stay in shared or tensor memory: the layout shows every thread the whole tile. Layouts may be
    given as text.

    Raises LayoutError for layouts that are not of rank 2 with as many threads as ``thr``, and for extents below 1.
    """

    shape: tuple[int, int, int]  # M, N, K
    thr: Layout  # logical thread -> lane
    A: Layout  # (logical thread, value) -> m + M*k
    B: Layout  # (logical thread, value) -> n + N*k
    C: Layout  # (logical thread, value) -> m + M*n
    memory: frozenset[str] = frozenset()  # the operands that stay in shared or tensor memory

    def __post_init__(self) -> None:
        if len(self.shape) != 3 or min(self.shape) < 1:
            raise LayoutError(f"an atom needs three extents M, N, K of at least 1, got {self.shape}")
        parse_layouts(self, "ABC")

    @classmethod
    def of(cls, atom: MmaAtom | Atom | IncompleteAtom) -> MmaAtom:
        """Return the atom with its layouts parsed; in a file's entry they are texts.

        Raises LayoutError if a text isn't a layout, and for an entry that leaves out keys for its instruction to give.

        >>> from layouts.atoms import registry
        >>> MmaAtom.of(registry()["SM80_16x8x16_F32F16F16F32_TN"]).C
        Layout.parse('((4,8),(2,2)):((32,1),(16,8))')
        """
        if isinstance(atom, MmaAtom):
            return atom
        if isinstance(atom, IncompleteAtom):
            raise LayoutError(f"{atom.name} leaves {', '.join(atom.gaps)} to its instruction: state them for a tiling")
        memory = frozenset(operand for operand in "ABC" if atom.space.get(operand, "reg") != "reg")
        A, B, C, thr = map(Layout.parse, (*(atom.operands[operand] for operand in "ABC"), atom.thr))
        return cls(atom.shape, thr, A, B, C, memory)

    def operand(self, name: str) -> Layout:
        """Return the (thread, value) layout of A, B or C; raises LayoutError for any other."""
        if name not in ("A", "B", "C"):
            raise LayoutError(f"{name!r} isn't an operand of an MMA: A, B, C are")
        return {"A": self.A, "B": self.B, "C": self.C}[name]


@dataclass(frozen=True, slots=True)
class TiledCopyAtom:
    """One copy instruction for values of ``bits`` bits, as layouts (logical thread, bit) -> number of the bit.

    A bit has the same number in ``src`` and ``dst``; ``ref`` is the one of the two by which tiles are divided.
    Layouts may be given as text.

    Raises LayoutError for layouts that are not of rank 2 with as many threads as ``thr``.
    """

    thr: Layout
    src: Layout
    dst: Layout
    ref: Layout
    bits: int = 1

    def __post_init__(self) -> None:
        parse_layouts(self, ("src", "dst", "ref"))

    @classmethod
    def of(cls, atom: TiledCopyAtom | CopyEntry, bits: int) -> TiledCopyAtom:
        """Return the atom, for values of ``bits`` bits.

        Raises LayoutError where a text isn't a layout.
        """
        if isinstance(atom, TiledCopyAtom):
            return cls(atom.thr, atom.src, atom.dst, atom.ref, bits)
        src, dst, ref, thr = map(Layout.parse, (*(atom.operands[x] for x in ("Src", "Dst", "Ref")), atom.thr))
        return cls(thr, src, dst, ref, bits)

    def values(self, operand: str) -> Layout:
        """Return the layout (logical thread, value) -> number of the value, of src, dst or ref.

        Raises LayoutError when a thread's bits are no integer of values.
        """
        return upcast({"src": self.src, "dst": self.dst, "ref": self.ref}[operand], self.bits)


def check_multiple(extent: int, unit: int, problem: str) -> None:
    """Raise LayoutError unless ``unit`` divides ``extent``: with ``problem`` and the two nearest multiples."""
    times = extent // unit
    if extent % unit:
        raise LayoutError(f"{problem}: {f'{times * unit} or ' if times else ''}{(times + 1) * unit} would do")


def parse_layouts(atom: MmaAtom | TiledCopyAtom, operands: str | tuple[str, ...]) -> None:
    """Parse layouts that are text; raise LayoutError unless they are (thread, value) with the threads of ``thr``."""
    for name in ("thr", *operands):
        layout = getattr(atom, name)
        if isinstance(layout, str):
            layout = Layout.parse(layout)
            object.__setattr__(atom, name, layout)
        if name != "thr" and len(layout) != 2:
            raise LayoutError(f"{name} = {layout} has {len(layout)} modes, a (thread, value) layout has 2")
        if name != "thr" and size(layout[0]) != size(atom.thr):
            raise LayoutError(f"{name} = {layout} has {size(layout[0])} threads, thr = {atom.thr} has {size(atom.thr)}")

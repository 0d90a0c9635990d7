# SPDX-License-Identifier: Apache-2.0
"""Bank conflicts: the number of wavefronts that an access of a warp to shared memory takes.

Shared memory has 32 banks of four bytes; the word w is in bank w mod 32. Lanes are served in phases of neighbouring
lanes: 32 for accesses of up to 32 bits, 16 for 64 bits, 8 for 128 bits and for each matrix of ldmatrix. The wavefronts
of a phase are the largest number of different words that its lanes access in one bank; lanes that access the same word
share it. A wide load in which every lane has the address of lane ^ 1, or every lane that of lane ^ 2, has phases of
twice as many lanes. Asynchronous copies share no words: two lanes that write one word take two wavefronts. Source:
measured on an NVIDIA H200, all patterns of gpu_checks/recordings/banks; no manual states the phases.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from layouts.errors import LayoutError
from layouts.swizzle import Swizzle

BANKS = 32  # of shared memory, one word wide: CUDA C++ Programming Guide, compute capability 5.0 and later
WORD = 4  # bytes
LANES = 32  # of a warp, which accesses memory together
PHASE = {
    8: 32,
    16: 32,
    32: 32,
    64: 16,
    128: 8,
}  # bits of a lane's access -> lanes that are served together: at most 128 bytes (docs/movement.md)


class AccessKind(StrEnum):
    """The kind of an access, which decides what lanes share."""

    LOAD = "load"  # words, and of wide loads phases merge
    STORE = "store"  # words; also the rows of ldmatrix and stmatrix
    COPY = "cp.async"  # nothing


@dataclass(frozen=True, slots=True)
class BankConflict:
    """Two lanes of one phase that one bank cannot serve at once: the first such pair."""

    lanes: tuple[int, int]
    bank: int
    words: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Wavefronts:
    """The wavefronts of each phase of an access, and the first conflict where a phase takes several."""

    phases: tuple[int, ...]
    conflict: BankConflict | None = None

    @property
    def total(self) -> int:
        """The wavefronts of all phases together."""
        return sum(self.phases)

    @property
    def excess(self) -> int:
        """Wavefronts beyond one for each phase: 0 means free of conflicts."""
        return sum(phase - 1 for phase in self.phases)

    @property
    def degree(self) -> int:
        """The most wavefronts of one phase: an n-way conflict."""
        return max(self.phases, default=0)


def wavefronts(addresses: Sequence[int | None], bits: int, operation: AccessKind = AccessKind.LOAD) -> Wavefronts:
    """Return the wavefronts of one access of a warp: a byte address for each lane, None for a lane that takes no part.

    >>> wavefronts([128 * lane for lane in range(32)], 32)
    Wavefronts(phases=(32,), conflict=BankConflict(lanes=(0, 1), bank=0, words=(0, 32)))
    >>> wavefronts([16 * lane for lane in range(32)], 128).phases
    (1, 1, 1, 1)
    >>> wavefronts([16 * (lane // 2) for lane in range(32)], 128, AccessKind.COPY).phases
    (2, 2, 2, 2)

    Raises LayoutError for a width that no access has, more than 32 lanes, and addresses that are negative or no
    multiple of the width.
    """
    if bits not in PHASE:
        raise LayoutError(f"an access has 8, 16, 32, 64 or 128 bits, not {bits}")
    if len(addresses) > LANES:
        raise LayoutError(f"{len(addresses)} addresses: a warp has {LANES} lanes")
    for lane, address in enumerate(addresses):
        if address is not None and (address < 0 or address % (bits // 8)):
            raise LayoutError(f"lane {lane} accesses byte {address}: {bits} bits need a multiple of {bits // 8}")
    active = [(lane, address) for lane, address in enumerate(addresses) if address is not None]
    width = PHASE[bits] * (2 if operation is AccessKind.LOAD and bits > 32 and _merge_lanes(addresses) else 1)
    phases = [[pair for pair in active if start <= pair[0] < start + width] for start in range(0, LANES, width)]
    counted = [_phase(phase, bits, operation is not AccessKind.COPY) for phase in phases if phase]
    return Wavefronts(tuple(n for n, _ in counted), next((c for _, c in counted if c is not None), None))


def matrix_wavefronts(rows: Sequence[int]) -> Wavefronts:
    """Return the wavefronts of ldmatrix or stmatrix: the byte address of each row of 16 bytes, eight rows to a matrix.

    >>> matrix_wavefronts([128 * row for row in range(8)]).phases
    (8,)

    Raises LayoutError for rows that are no whole matrices, and as `wavefronts` does.
    """
    if len(rows) not in (8, 16, 32):
        raise LayoutError(f"{len(rows)} rows: a matrix has 8, and an instruction 1, 2 or 4 of them")
    return wavefronts(rows, 128, AccessKind.STORE)  # rows that agree do not merge phases: each matrix is one


def _merge_lanes(addresses: Sequence[int | None]) -> bool:
    """Whether every lane has the address of lane ^ 1, or every lane that of lane ^ 2."""
    if len(addresses) != LANES or None in addresses:
        return False
    return any(all(addresses[lane] == addresses[lane ^ bit] for lane in range(LANES)) for bit in (1, 2))


def _phase(active: Iterable[tuple[int, int]], bits: int, shared: bool) -> tuple[int, BankConflict | None]:
    """Wavefronts of one phase, and the first two lanes in conflict; `shared`: one word serves several lanes."""
    first: dict[int, dict[tuple[int, int], int]] = {}  # bank -> (word, lane unless shared) -> first lane
    for lane, address in active:
        for part in range(max(1, bits // (8 * WORD))):
            word = address // WORD + part
            first.setdefault(word % BANKS, {}).setdefault((word, 0 if shared else lane), lane)
    most = max(len(words) for words in first.values())
    return most, _first_conflict(first) if most > 1 else None


def _first_conflict(first: dict[int, dict[tuple[int, int], int]]) -> BankConflict:
    conflicts = []
    for bank, words in first.items():
        pair = sorted(islice(((lane, word) for (word, _), lane in words.items()), 2))
        if len(pair) == 2:
            (left, here), (right, there) = pair
            conflicts.append(BankConflict((left, right), bank, (here, there)))
    return min(conflicts, key=lambda c: (max(c.lanes), c.lanes, c.bank))


def swizzles(bits: int, limit: int) -> Iterator[Swizzle]:
    """Every swizzle of addresses below `limit` bytes that keeps accesses of `bits` together, the smallest first.

    A negative shift xors lower bits into higher ones. Words of one bank agree in the bits of the bank, so such a shift
    separates them only by bits within a word: it is tried for accesses narrower than a word.
    """
    base = (bits // 8).bit_length() - 1
    top = (limit - 1).bit_length()
    signs = (1, -1) if bits < 8 * WORD else (1,)
    yield Swizzle(0, base, 0)
    for count in range(1, (BANKS * WORD).bit_length() - base):
        for low in range(base, top):
            shifts = range(count, top - low - count + 1)
            yield from (Swizzle(count, low, sign * shift) for sign in signs for shift in shifts)


@dataclass(frozen=True, slots=True)
class Best:
    """A swizzle of byte addresses with the wavefronts of each access under it."""

    swizzle: Swizzle
    totals: tuple[int, ...]
    excess: int

    @property
    def free(self) -> bool:
        """Whether no access has a conflict."""
        return self.excess == 0


@dataclass(frozen=True, slots=True)
class Access:
    """One access of a warp before any swizzle: byte addresses by lane, the bits of a lane, and its kind."""

    addresses: tuple[int | None, ...]
    bits: int
    operation: AccessKind = AccessKind.LOAD

    def through(self, swizzle: Swizzle) -> Wavefronts:
        """Its wavefronts when shared memory is addressed through a swizzle.

        >>> column = Access(tuple(128 * row for row in range(8)), 128)
        >>> column.through(Swizzle(0, 4, 3)).total, column.through(Swizzle(3, 4, 3)).total
        (8, 1)
        """
        return wavefronts([None if a is None else swizzle(a) for a in self.addresses], self.bits, self.operation)


def best_swizzle(accesses: Sequence[Access]) -> Best:
    """Return the swizzle under which the accesses together take the fewest wavefronts, the first among equals.

    Tries every swizzle whose fields are within the addresses used and that keeps the widest access together, so no
    swizzle is better; `Best.free` says whether conflicts remain.

    >>> row = Access(tuple(16 * lane for lane in range(32)), 128)
    >>> column = Access(tuple(128 * lane for lane in range(32)), 128)
    >>> best_swizzle([row, column]).swizzle
    Swizzle(3, 4, 3)

    Raises LayoutError where no lane has an address.
    """
    used = [a for access in accesses for a in access.addresses if a is not None]
    if not used:
        raise LayoutError("no lane has an address: give at least one access")
    widest = max(access.bits for access in accesses)
    best: Best | None = None
    for swizzle in swizzles(widest, max(used) + widest // 8):
        totals, excess = [], 0
        for access in accesses:
            swizzled = access.through(swizzle)
            totals.append(swizzled.total)
            excess += swizzled.excess
            if best is not None and excess >= best.excess:
                break
        else:
            best = Best(swizzle, tuple(totals), excess)
            if best.free:
                break
    if best is None:
        raise LayoutError("no swizzle keeps these accesses together")
    return best

# SPDX-License-Identifier: Apache-2.0
"""A tiling as plain data: which thread holds which elements of a CTA's tile, and how they get there.

Everything is a layout over a CTA tile of M x N x K. An index of A's tile is m + M*k, of B's n + N*k, of C's m + M*n.
Nothing here says how a kernel is written: `kernel` writes it from these layouts and the instruction's signature.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

from gpu_checks.tilings.strided import Nested, Strided
from isa_tables.signature import Fragment, Signature
from isa_tables.signature import signature as look_up

FMA = "fma.rn."  # scalar multiply-adds, which are no matrix instructions: the ISA tables do not have them


class TilingError(ValueError):
    """A tiling that no kernel can be made from; the message names the layout and the numbers."""


class TiledProduct(NamedTuple):
    """A tiled MMA over the CTA's tile: for each operand (thread, (value, (rest, rest))) -> index in its tile.

    A value is an element of one instruction's fragment; the rests count instructions along m and k of A, n and k of
    B, m and n of C. The values of an operand in shared memory are the elements of the instruction's tile.
    """

    mnemonic: str  # the instruction; or fma.rn.TYPE, a scalar multiply-add
    tile: tuple[int, int, int]  # M, N, K of the CTA
    A: Strided  # (thread, (value, rests)) -> m + M*k
    B: Strided  # the same -> n + N*k
    C: Strided  # the same -> m + M*n
    A_space: str = "reg"  # of A, where the instruction lets one choose

    @property
    def signature(self) -> Signature:
        """The instruction's registers and types."""
        if self.mnemonic.startswith(FMA):
            return _fma(self.mnemonic)
        wide = self.mnemonic.startswith("wgmma")
        return look_up(self.mnemonic, A_space=self.A_space) if wide else look_up(self.mnemonic)

    def fragment(self, operand: str) -> Fragment:
        """Return A, B or C as one lane holds it; C is D where the accumulators are both."""
        operands = self.signature.operands
        return operands[operand] if operand in operands else operands["D"]

    def extent(self, operand: str) -> tuple[int, int]:
        """Return the tile of an operand: (m, k), (n, k) or (m, n)."""
        m, n, k = self.tile
        return {"A": (m, k), "B": (n, k), "C": (m, n)}[operand]

    @property
    def steps(self) -> tuple[int, int, int]:
        """How many instructions a thread takes part in along m, n and k."""
        (m, k), (n, _) = rests(self.A), rests(self.B)
        return m, n, k

    @property
    def splits(self) -> int:
        """How many threads hold a partial sum of each element of C."""
        return self.C.size // prod(self.extent("C"))


class Load(NamedTuple):
    """How ldmatrix fills the fragments of an operand.

    `source` is (thread, (element of the row, step)) -> index in the tile, `target` is (value, step) -> value of the
    thread's fragments, counted through all its instructions.
    """

    mnemonic: str
    source: Strided
    target: Strided


class Feed(NamedTuple):
    """How an operand comes from global memory through shared memory to the threads."""

    major: str  # K or MN: the axis whose neighbours are neighbours in global memory
    copy: Strided  # (thread, value) -> index in the tile that the thread copies
    shared: Strided  # index in the tile -> element of shared memory
    load: Load | None = None  # None: each thread reads its own elements, or the instruction reads shared memory


class Reuse(NamedTuple):
    """A second product D = C * V whose A is the first one's accumulators, as attention's P is.

    `values` is value of A -> value of C in the same thread, both counted through all instructions of the thread.
    """

    product: TiledProduct
    values: Strided
    V: Feed


class TilingKernel(NamedTuple):
    """One kernel: C = A * B over `tiles` CTA tiles along m, n and k, or D = (A * B) * V.

    With a reuse, tiles count m, the second product's n, and the first one's k; the first one's n are walked in
    `walked` tiles, one after the other. `short` is what the matrices lack along m, n and k to fill their tiles.
    """

    name: str  # of the tiling, in its file
    threads: int  # of a CTA
    product: TiledProduct  # A * B over the CTA's tile
    A: Feed  # how A comes to the threads
    B: Feed  # and how B does
    tiles: tuple[int, int, int]  # along m, n and k
    reuse: Reuse | None = None  # the second product, if there is one
    walked: int = 1  # tiles along the first product's n, one after the other
    short: tuple[int, int, int] | None = None  # what the matrices lack along m, n and k; None where nothing

    @property
    def last(self) -> TiledProduct:
        """The product whose accumulators are stored."""
        return self.reuse.product if self.reuse else self.product

    @property
    def feeds(self) -> dict[str, tuple[Feed, TiledProduct, str]]:
        """The operands in memory by their names in the kernel: how they come, for which product, as A or B."""
        feeds = {"A": (self.A, self.product, "A"), "B": (self.B, self.product, "B")}
        return feeds | ({"V": (self.reuse.V, self.reuse.product, "B")} if self.reuse else {})

    @property
    def extents(self) -> dict[str, tuple[int, int]]:
        """The whole matrices: A (m, k), B (n, k), V (n, k of the second product) and the result (m, n)."""
        whole = (*self.last.tile[:2], self.product.tile[2])
        missing = self.short or (0, 0, 0)
        m, n, k = (count * size - less for count, size, less in zip(self.tiles, whole, missing, strict=True))
        inner = self.walked * self.product.tile[1] if self.reuse else n
        return {"A": (m, k), "B": (inner, k), "V": (n, inner), "C": (m, n)}


def rests(layout: Strided) -> tuple[int, int]:
    """Return the two rest extents of (thread, (value, (rest, rest)))."""
    _, outer = layout.modes[1].modes
    first, second = outer.modes
    return first.size, second.size


def check(tiling: TilingKernel) -> None:
    """Raise TilingError for a tiling whose layouts do not fit its tiles, its threads or its instruction."""
    try:
        if tiling.short is not None:
            _require(tiling.reuse is None, "a chain of two products takes whole tiles alone")
            for axis, less, size in zip("mnk", tiling.short, tiling.product.tile, strict=True):
                _require(0 <= less < size, f"{less} elements are lacking along {axis}; the last tile has 1 to {size}")
        if tiling.reuse:
            made, taken = tiling.product.tile[:2], tiling.reuse.product.tile[::2]
            _require(made == taken, f"the first product makes {made} of (m, n), the second takes {taken} of (m, k)")
            _check_product(tiling.threads, tiling.reuse.product)
        _check_product(tiling.threads, tiling.product)
        for name, (feed, product, operand) in tiling.feeds.items():
            size = prod(product.extent(operand))
            for what, layout in (("copy", feed.copy), ("shared", feed.shared)):
                why = f"{what} of {name} = {layout} has size {layout.size}; the tile has {size}"
                _require(layout.size == size, why)
            copy = f"copy of {name} = {feed.copy}"
            _require(len(feed.copy.modes) == 2, f"{copy} is not (thread, value)")
            copiers = feed.copy.modes[0].size
            _require(copiers <= tiling.threads, f"{copy} asks for {copiers} threads; there are {tiling.threads}")
    except TilingError as error:
        raise TilingError(f"{tiling.name}: {error}") from None


def _check_product(threads: int, product: TiledProduct) -> None:
    signature = product.signature
    extra = ", ".join(name for name in signature.operands if name not in "ABCD")
    _require(not extra, f"{signature.mnemonic} takes {extra} too, which no tiling feeds")
    space = product.fragment("C").space
    _require(space == "reg", f"{signature.mnemonic} leaves its result in {space}, which no kernel here reads")
    for operand in "ABC":
        layout: Strided = getattr(product, operand)
        bits = product.fragment(operand).bits
        _require(bits % 8 == 0, f"elements of {bits} bits, as {operand}'s are, have no address of their own in memory")
        distribution = all(len(part.modes) == 2 for part in (layout, layout.modes[-1], layout.modes[-1].modes[-1]))
        _require(distribution, f"{operand} = {layout} is not (thread, (value, (rest, rest)))")
        owners, values = layout.modes[0].size, layout.modes[1].modes[0].size
        _require(owners == threads, f"{operand} = {layout} distributes over {owners} threads; there are {threads}")
        expected = values_of(product.fragment(operand))
        _require(values == expected, f"{operand} = {layout} has {values} values; {signature.mnemonic} has {expected}")
    m, n, k = product.steps
    fits = (rests(product.B), rests(product.C)) == ((n, k), (m, n))
    _require(fits, f"A takes {m} x {k} instructions along m, k; B {rests(product.B)}; C {rests(product.C)}")
    done = m * n * k * threads // signature.lanes * signature.products * prod(signature.shape)
    size = prod(product.tile)
    _require(done == size, f"the instructions multiply {done} pairs of elements; the tile {product.tile} has {size}")


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise TilingError(otherwise)


def values_of(fragment: Fragment) -> int:
    """Return the elements that one instruction takes of an operand: from a lane, or from the tile in shared memory."""
    return prod(fragment.extent) if fragment.space == "smem" else fragment.values


def mutants(tiling: TilingKernel) -> Iterator[tuple[str, TilingKernel]]:
    """Yield the tiling with one wrong stride, once for each operand that can have one: (operand, mutant).

    The largest stride of the distribution becomes the next smaller one, or 0: no index leaves the tile. For an operand
    that the instruction reads from shared memory it is the step from one instruction to the next.
    """
    product, reuse = tiling.product, tiling.reuse
    for operand, feed in (("A", tiling.A), ("B", tiling.B)):
        distribution: Strided = getattr(product, operand)
        threads, (values, steps) = distribution.modes[0], distribution.modes[1].modes
        wrong: dict[str, Any]
        if feed.load:
            wrong = {operand: feed._replace(load=feed.load._replace(source=mutant(feed.load.source)))}
            yield operand, tiling._replace(**wrong)
            continue
        if product.fragment(operand).space == "reg":
            wrong = {operand: mutant(distribution)}
        elif steps.size == 1:  # one instruction takes all of it from shared memory
            continue
        else:
            stuck = mutant(steps, 0)
            shape, stride = (values.shape, stuck.shape), (values.stride, stuck.stride)
            wrong = {operand: Strided((threads.shape, shape), (threads.stride, stride))}
        yield operand, tiling._replace(product=product._replace(**wrong))
    if reuse:
        second = reuse.product._replace(C=mutant(reuse.product.C))
        yield "C", tiling._replace(reuse=reuse._replace(product=second))
        yield "reuse", tiling._replace(reuse=reuse._replace(values=mutant(reuse.values)))
    else:
        yield "C", tiling._replace(product=product._replace(C=mutant(product.C)))


def mutant(layout: Strided, wrong: int | None = None) -> Strided:
    """Return the layout with its largest stride replaced by another, the next smaller one if none is given.

    >>> print(mutant(Strided.parse("((4,8),(2,2)):((32,1),(16,8))")))
    ((4,8),(2,2)):((16,1),(16,8))
    """
    strides = sorted({stride for extent, stride in layout.leaves if extent > 1})
    if wrong is None:
        wrong = strides[-2] if len(strides) > 1 else 0
    return replace(layout, stride=_replace_part(layout.shape, layout.stride, strides[-1], wrong))


def _replace_part(shape: Nested, stride: Nested, old: int, new: int) -> Nested:
    if isinstance(shape, tuple) and isinstance(stride, tuple):
        return tuple(_replace_part(extent, step, old, new) for extent, step in zip(shape, stride, strict=True))
    return new if stride == old and shape != 1 else stride


def _fma(mnemonic: str) -> Signature:
    """Return the scalar D = A * B + C of one thread, on f32 or f64."""
    kind = mnemonic.removeprefix(FMA)
    bits = {"f32": 32, "f64": 64}.get(kind)
    if bits is None:
        raise TilingError(f"{mnemonic}: scalar multiply-adds are fma.rn.f32 and fma.rn.f64")
    scalar = Fragment(kind, bits, 1, 1, kind, (1, 1))
    return Signature(
        mnemonic=mnemonic,
        family="fma",
        shape=(1, 1, 1),
        operands=dict.fromkeys("DABC", scalar),
        qualifiers=frozenset(),
        targets=("sm_20+",),
        ptx="2.0",
        lanes=1,
        products=1,
        asm="{D}, {A}, {B}, {C}",
    )

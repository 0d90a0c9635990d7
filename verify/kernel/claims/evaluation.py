# SPDX-License-Identifier: Apache-2.0
"""The value of a claim's tree at the points of a run.

`Evaluation` computes by plain arithmetic modulo each prime, with no code of the interpreter: two computations that
share no step are compared. A tensor also has the elements that are -inf, and what is known of its signs.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from verify.core.errors import SpecError
from verify.kernel.claims.expression import LARGEST, Apply, Below, ClaimNumber, Element, Node, Scalar, Sum, whole
from verify.kernel.data import levels, logarithms
from verify.kernel.data.choices import LAWLESS, POLES, Choices
from verify.kernel.data.histories import sign_of

Residues: TypeAlias = NDArray[np.uint64]
Samples: TypeAlias = NDArray[np.float64]
_EXACT = 2.0**53  # integers below it are exact in a double


class NamedTensor(NamedTuple):
    """Numbers with a name for each axis after the first, which has the primes; or samples without that axis."""

    dims: tuple[str, ...]  # the names of its axes
    residues: Residues  # (primes, ...)
    sample: Samples  # without the axis of primes
    below: NDArray[np.bool_] | None = None  # where it is -inf; None for nowhere
    sign: NDArray[np.int8] | None = None  # what is known of the signs; None for nothing
    fixed: bool = False  # whether it is made of numbers and indices alone
    logs: int = logarithms.NONE  # what is known of the logarithms in it
    turned: NDArray[np.uint8] | None = None  # the signs that they lose; None for none

    def align(self, dims: Sequence[str]) -> tuple[Residues, Samples, NDArray[np.bool_] | None]:
        """Return its numbers with an axis for each of `dims`, of extent 1 where it does not depend on one."""
        if stray := set(self.dims) - set(dims):
            raise SpecError("claim", f"nothing sums over the index {min(stray)}")
        below = None if self.below is None else self.expand(self.below, dims)
        return self.expand(self.residues, dims, first=1), self.expand(self.sample, dims), below

    @property
    def shape(self) -> tuple[int, ...]:
        """Return its extents."""
        return self.sample.shape

    def pick(self, picked: Sequence[NDArray[np.int64] | None]) -> tuple[Residues, Samples]:
        """Return the residues and the samples at some indices of each axis, at all where it is None."""
        residues, sample = self.residues, self.sample
        for axis, places in enumerate(picked):
            if places is not None:
                residues, sample = residues.take(places, axis + 1), sample.take(places, axis)
        return residues, sample

    def expand(self, table: NDArray[Any], dims: Sequence[str], first: int = 0) -> NDArray[Any]:
        """Return a table of its elements, `first` axes before them, with an axis for each of `dims`."""
        order = sorted(range(len(self.dims)), key=lambda axis: dims.index(self.dims[axis]))
        table = table.transpose(*range(first), *(axis + first for axis in order))
        absent = [place + first for place, name in enumerate(dims) if name not in self.dims]
        return np.expand_dims(table, absent) if absent else table

    @property
    def signs(self) -> NDArray[np.int8]:
        """What is known of the signs, for each element."""
        return np.full(self.sample.shape, levels.ANY, np.int8) if self.sign is None else self.sign

    @property
    def lost_signs(self) -> NDArray[np.uint8]:
        """Return the signs that its logarithms lose, for each element."""
        return np.zeros(self.sample.shape, np.uint8) if self.turned is None else self.turned

    @property
    def where_below(self) -> NDArray[np.bool_]:
        """Where it is -inf, for each element."""
        return np.zeros(self.sample.shape, bool) if self.below is None else self.below


class PickedTensor(Protocol):
    """A tensor of which some elements are asked for: one of a large array has no others."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Return its extents."""

    def pick(self, picked: Sequence[NDArray[np.int64] | None]) -> tuple[Residues, Samples]:
        """Return the residues and the samples at some indices of each axis, at all where it is None."""


class Evaluation:
    """The value of a claim's tree at the points of a run."""

    def __init__(
        self, primes: Sequence[Any], arrays: Mapping[str, PickedTensor], scalars: Mapping[str, Fraction],
        choose: Choices, extents: Mapping[str, int], sizes: Mapping[str, int], part: Mapping[str, slice] | None = None,
    ) -> None:  # fmt: skip
        """Keep what the names of a claim stand for; `part` has the indices of which some values are enough."""
        self.primes = np.array(primes, np.uint64)
        self.arrays, self.scalars, self.choose = arrays, scalars, choose
        self.extents, self.sizes, self.part = extents, sizes, part or {}
        self.made: dict[Node, NamedTensor] = {}  # softmax_n(x) has exp(x) twice

    def __call__(self, node: Node) -> NamedTensor:
        """Return the tensor of a tree, over its free indices."""
        if not isinstance(node, Apply) or node.name != "ex2":  # all others are used once, and may be large
            return self._compute(node)
        if node not in self.made:
            self.made[node] = self._compute(node)
        return self.made[node]

    def _compute(self, node: Node) -> NamedTensor:
        if isinstance(node, ClaimNumber | Below | Scalar | Element):
            return self._leaf(node)
        if isinstance(node, Sum):
            return self._sum(node)
        if node.name == LARGEST:
            return self._largest(node.parts[0])
        parts = [self(part) for part in node.parts]
        if node.name in "+-*":
            return self._arithmetic(node.name, *parts)
        return self._apply(node.name, parts)

    # ---- leaves

    def _leaf(self, node: ClaimNumber | Below | Scalar | Element) -> NamedTensor:
        if isinstance(node, ClaimNumber):
            return self._number(node.value)
        if isinstance(node, Below):
            zero = self._number(Fraction(0))
            return zero._replace(sample=np.array(-np.inf), below=np.array(True), sign=None)
        return self._lookup(node.name) if isinstance(node, Scalar) else self._element(node)

    def _number(self, value: Fraction) -> NamedTensor:
        residues = self.choose.constant(value)
        sign = np.array(sign_of(value), np.int8)
        return NamedTensor((), np.array(residues, np.uint64), np.array(float(value)), None, sign, fixed=True)

    def _lookup(self, name: str) -> NamedTensor:
        """Return a scalar, a size, or the numbers of an index."""
        if name in self.scalars:
            return self._number(self.scalars[name])._replace(fixed=False)
        if name in self.extents:
            numbers = np.arange(self.extents[name], dtype=np.uint64)[self.part.get(name, slice(None))]
            sign = np.where(numbers > 0, levels.POSITIVE, levels.NONNEGATIVE).astype(np.int8)
            residues = np.broadcast_to(numbers, (len(self.primes), len(numbers)))
            return NamedTensor((name,), residues, numbers.astype(np.float64), None, sign, fixed=True)
        return self._number(Fraction(self.sizes[name]))

    def _element(self, node: Element) -> NamedTensor:
        """Return an element of an array: along an axis with an expression for an index, at what that is."""
        array, dims, picked = self.arrays[node.name], list[str](), list[NDArray[np.int64] | None]()
        for axis, text in enumerate(node.indices):
            name, places = index_places(text, self.extents, self.sizes)
            dims.append(name)
            if name in self.part:
                places = (np.arange(array.shape[axis]) if places is None else places)[self.part[name]]
            picked.append(places)
        residues, sample = array.pick(picked)
        if len(set(dims)) < len(dims):
            raise SpecError("claim", f"{node.name} has one index twice")
        return NamedTensor(tuple(dims), residues, sample)

    # ---- operations

    @staticmethod
    def _dims(parts: Sequence[NamedTensor]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for part in parts for name in part.dims))

    def _arithmetic(self, sign: str, left: NamedTensor, right: NamedTensor) -> NamedTensor:
        dims = self._dims((left, right))
        (x, a, _), (y, b, _) = left.align(dims), right.align(dims)
        top = self.primes.reshape(-1, *[1] * len(dims))
        apply = {"+": operator.add, "-": operator.sub, "*": operator.mul}[sign]
        y = top - y if sign == "-" else y
        residues = (x * y if sign == "*" else x + y) % top
        signs = self._sign(sign, left, right, dims)
        below = None
        if left.below is not None or right.below is not None:
            below = self._below(sign, left, right, dims)
            residues = np.where(below, np.uint64(0), residues)
        with np.errstate(invalid="ignore", over="ignore"):  # a sample that isn't a number verifies nothing
            sample = apply(a, b)
        tensor = NamedTensor(dims, residues, sample, below, signs, left.fixed and right.fixed)
        return tensor if left.logs == right.logs == logarithms.NONE else self._join_logs(tensor, sign, left, right)

    @staticmethod
    def _join_logs(tensor: NamedTensor, sign: str, left: NamedTensor, right: NamedTensor) -> NamedTensor:
        """Return a result of arithmetic with what is known of the logarithms in it."""
        signs = [each.expand(each.lost_signs, tensor.dims) for each in (left, right)]
        if sign != "*":
            return tensor._replace(logs=logarithms.join(left.logs, right.logs), turned=signs[0] ^ signs[1])
        factor = right if left.logs else left
        number = None if factor.dims or factor.logs or not factor.fixed else Fraction(float(factor.sample))
        logs, odd = logarithms.scale(left.logs or right.logs, number)
        return tensor._replace(logs=logs, turned=(signs[0] | signs[1]) * np.uint8(odd))

    @staticmethod
    def _sign(sign: str, left: NamedTensor, right: NamedTensor, dims: tuple[str, ...]) -> NDArray[np.int8] | None:
        if left.sign is None or right.sign is None or sign == "-":
            return None
        a, b = left.expand(left.sign, dims), right.expand(right.sign, dims)
        low, high = np.minimum(a, b), np.maximum(a, b)
        return np.asarray(low if sign == "*" else np.where(low == levels.ANY, low, high))

    @staticmethod
    def _below(sign: str, left: NamedTensor, right: NamedTensor, dims: tuple[str, ...]) -> NDArray[np.bool_]:
        """Return where a result is -inf; SpecError where it isn't a number or +inf."""
        a, b = left.expand(left.where_below, dims), right.expand(right.where_below, dims)
        if sign == "-" and b.any():
            raise SpecError("claim", "-inf is subtracted")
        if sign == "*":
            good = (left.expand(left.signs, dims) == levels.POSITIVE) & b & ~a
            good = good | (right.expand(right.signs, dims) == levels.POSITIVE) & a & ~b
            if ((a | b) & ~good).any():
                raise SpecError("claim", "-inf is multiplied by what is not known to be positive")
        return np.asarray(a | b)

    def _apply(self, name: str, parts: Sequence[NamedTensor]) -> NamedTensor:
        dims = self._dims(parts)
        if name == "where" and all(_is_whole(part) for part in parts[:2]):
            return self._select(parts, dims)
        if name == "abs" and _is_whole(parts[0]):
            return self._absolute(parts[0])
        residues, samples, below = zip(*(part.align(dims) for part in parts), strict=True)
        if name != "ex2" and any(each is not None for each in below):
            raise SpecError("claim", f"{name} of -inf")
        shape = np.broadcast_shapes(*(sample.shape for sample in samples))
        flat = [
            np.broadcast_to(residue, (len(self.primes), *shape)).reshape(len(self.primes), -1) for residue in residues
        ]
        given = [np.broadcast_to(sample, shape).ravel() for sample in samples]
        sign = self._find_sign(name, parts[0])
        zero = self.choose.agree(flat[0], 0) if name in POLES else np.zeros(1, bool)
        if name == "lg2":
            if ((parts[0].signs == levels.POSITIVE) | zero.reshape(shape)).all():
                name = "log2"
            if zero.any():  # as of a row that is wholly masked
                below, zero = (zero.reshape(shape),), np.zeros(1, bool)
        if name == "ex2" and parts[0].logs not in (logarithms.NONE, logarithms.PLAIN):
            name = LAWLESS
        made, sample = self.choose(name, flat, given)
        if name == "ex2" and parts[0].turned is not None:
            self.choose.turn_signs(made, parts[0].turned.ravel())
        turned = self.choose.find_signs(flat[0], made).reshape(shape) if name == "log2" else None
        logs = logarithms.apply(name, [part.logs for part in parts])
        # 1/0 has a residue, but isn't a number
        lost = zero | np.logical_or.reduce([np.isnan(argument) for argument in given])
        made, sample = made.reshape(-1, *shape), np.where(lost, np.nan, sample).reshape(shape)
        if below[0] is not None:  # exp2(-inf) is 0, and so is a residue of -inf
            made = np.where(below[0], np.uint64(0), made)
        below_too = below[0] if name in ("lg2", "log2") else None
        return NamedTensor(dims, made, sample, below_too, sign, False, logs, turned)

    @staticmethod
    def _find_sign(name: str, part: NamedTensor) -> NDArray[np.int8] | None:
        if name == "ex2":
            return np.where(part.where_below, levels.NONNEGATIVE, levels.POSITIVE).astype(np.int8)
        if name in ("rcp", "sqrt", "rsqrt"):
            return np.where(part.signs == levels.POSITIVE, part.signs, levels.ANY).astype(np.int8)
        return None

    def _absolute(self, part: NamedTensor) -> NamedTensor:
        """Return the size of a number that indices decide."""
        top = self.primes.reshape(-1, *[1] * len(part.dims))
        residues = np.where(part.sample < 0, (top - part.residues) % top, part.residues)
        return part._replace(residues=residues, sample=np.abs(part.sample), sign=None)

    def _select(self, parts: Sequence[NamedTensor], dims: tuple[str, ...]) -> NamedTensor:
        """Return a choice that indices decide."""
        left, right, chosen, otherwise = parts
        taken = left.expand(left.sample, dims) > right.expand(right.sample, dims)
        (x, a, _), (y, b, _) = chosen.align(dims), otherwise.align(dims)
        below = None
        if chosen.below is not None or otherwise.below is not None:
            ends = (each.expand(each.where_below, dims) for each in (chosen, otherwise))
            below = np.where(taken, *ends)
        sign = np.where(taken, *(each.expand(each.signs, dims) for each in (chosen, otherwise)))
        fixed = chosen.fixed and otherwise.fixed
        logs = logarithms.OPEN * bool(chosen.logs or otherwise.logs)
        return NamedTensor(dims, np.where(taken, x, y), np.where(taken, a, b), below, sign, fixed, logs)

    def _largest(self, node: Node) -> NamedTensor:
        """Return the largest term over an index: -inf where every one is masked."""
        assert isinstance(node, Sum)
        part = self(node.body)
        if node.index not in part.dims:
            raise SpecError("claim", f"max_{node.index} of what has no index {node.index}")
        dims = tuple(name for name in part.dims if name != node.index)
        residues, sample, _ = part.align((node.index, *dims))
        below = part.expand(part.where_below, (node.index, *dims))
        if not len(below):
            raise SpecError("claim", f"max_{node.index} of no values")
        signs = part.expand(part.signs, (node.index, *dims)).max(0)
        flat = residues.reshape(len(self.primes), len(below), -1)
        made = self.choose.find_largest(flat, below.reshape(len(below), -1)).reshape(-1, *below.shape[1:])
        masked, logs = np.asarray(below.all(0)) if below.any() else None, logarithms.OPEN * bool(part.logs)
        return NamedTensor(dims, made, sample.max(0), masked, signs, False, logs)

    # ---- sums

    def _sum(self, node: Sum) -> NamedTensor:
        """Return the sum of products of factors, one index at a time: a tensor of all products would be large."""
        factors, rest = [], [node.body]
        while rest:
            inner = rest.pop()
            if isinstance(inner, Apply) and inner.name == "*":
                rest += inner.parts
            else:
                factors.append(self(inner))
        inside = [part for part in factors if node.index in part.dims]
        if not inside:
            raise SpecError("claim", f"no array under sum_{node.index} has the index {node.index}")
        if any(part.below is not None for part in factors):
            raise SpecError("claim", f"sum_{node.index} of -inf")
        product = len(inside) == 2 and set(inside[0].dims) != set(inside[1].dims)
        with np.errstate(invalid="ignore", over="ignore"):  # of samples, as in `_arithmetic`
            total = self._matrix_product(node.index, *inside) if product else self._add_up(node.index, inside)
        if any(part.logs for part in inside):
            total = total._replace(logs=logarithms.OPEN)
        for part in factors:
            if node.index not in part.dims:
                total = self._arithmetic("*", total, part)
        return total

    def _add_up(self, index: str, factors: Sequence[NamedTensor]) -> NamedTensor:
        dims = tuple(name for name in self._dims(factors) if name != index)
        aligned = [part.align((index, *dims))[:2] for part in factors]
        if len(aligned) == 1:  # 2^32 residues have a sum below 2^64
            residues, total = (numbers.sum(axis) for numbers, axis in zip(aligned[0], (1, 0), strict=True))
        else:
            residues, total = self._add_products(aligned)
        sign = None
        if all(part.sign is not None for part in factors):
            each = reduce(np.minimum, (part.expand(part.signs, (index, *dims)) for part in factors))
            sign = np.where((each == levels.ANY).any(0), levels.ANY, each.max(0)).astype(np.int8)
        return NamedTensor(dims, residues % self.primes.reshape(-1, *[1] * len(dims)), total, None, sign)

    def _add_products(self, aligned: Sequence[tuple[Residues, Samples]]) -> tuple[Residues, Samples]:
        """Add up products over the first axis; the residues are below 2^64, and not yet reduced."""
        shape = np.broadcast_shapes(*(sample.shape[1:] for _, sample in aligned))
        residues, total = np.zeros((len(self.primes), *shape), np.uint64), np.zeros(shape)
        room, count = np.empty(shape, np.uint64), aligned[0][1].shape[0]
        for number in range(count):
            total += reduce(operator.mul, (sample[number] for _, sample in aligned))
            for row, prime in enumerate(self.primes):
                *rest, last = (factor[row, number] for factor, _ in aligned)
                product = reduce(lambda x, y, prime=prime: x * y % prime, rest, np.uint64(1))  # type: ignore[misc]
                residues[row] += np.multiply(product, last, out=room)
                if number % 3 == 2:  # four numbers below 2^62 are below 2^64
                    np.floor_divide(residues[row], prime, out=room)
                    room *= prime
                    residues[row] -= room
        return residues, total

    def _matrix_product(self, index: str, left: NamedTensor, right: NamedTensor) -> NamedTensor:
        """Sum products over an index that two tensors share, for each value of the others that they share.

        Residues are cut into halves of 16 bits: a double holds a sum of 64 products of a half and a residue exactly.
        """
        common = tuple(name for name in left.dims if name in right.dims and name != index)
        parts = []
        for part in (left, right):
            rest = tuple(name for name in part.dims if name != index and name not in common)
            residues, sample, _ = part.align((*common, index, *rest))
            batch, count = sample.shape[: len(common)], sample.shape[len(common)]
            size = int(np.prod(batch, dtype=int))
            extents = sample.shape[len(common) + 1 :]
            shape = (size, count, int(np.prod(extents, dtype=int)))
            parts.append((rest, residues.reshape(len(residues), *shape), sample.reshape(shape), extents))
        (first, x, a, rows), (second, y, b, columns) = parts
        residues = np.zeros((len(self.primes), x.shape[1], x.shape[3], y.shape[3]), np.uint64)
        for number, prime in enumerate(self.primes):
            for start in range(0, x.shape[2], 64):
                some = slice(start, start + 64)
                halves, doubles = x[number, :, some].transpose(0, 2, 1), y[number, :, some].astype(np.float64)
                upper = ((halves >> np.uint64(16)).astype(np.float64) @ doubles).astype(np.uint64) % prime
                lower = ((halves & np.uint64(65535)).astype(np.float64) @ doubles).astype(np.uint64)
                residues[number] += (upper << np.uint64(16)) + lower
            residues[number] %= prime
        shape = (*batch, *rows, *columns)
        total = (a.transpose(0, 2, 1) @ b).reshape(shape)
        return NamedTensor((*common, *first, *second), residues.reshape(-1, *shape), total)


def _is_whole(part: NamedTensor) -> bool:
    """Return whether a tensor is made of indices and integers alone, so that a double has it exactly."""
    sizes = np.abs(part.sample)
    return part.fixed and bool((part.sample == np.rint(part.sample)).all() and (sizes < _EXACT).all())


def index_places(
    text: str, extents: Mapping[str, int], sizes: Mapping[str, int]
) -> tuple[str, NDArray[np.int64] | None]:
    """Return the name in an index, and for an expression the place along the axis by its values; None for a name.

    >>> name, places = index_places("h//G", {"h": 4}, {"G": 2})
    >>> name, places.tolist()
    ('h', [0, 0, 1, 1])
    """
    if text in extents or text.isidentifier():
        return text, None
    names = {name for name in re.findall(r"[A-Za-z_]\w*", text) if name in extents}
    if len(names) != 1:
        raise SpecError("claim", f"the index {text} has {len(names)} names of indices, and needs one")
    name = names.pop()
    places = [whole("claim", text, {**sizes, name: number}) for number in range(extents[name])]
    return name, np.array(places, np.int64)

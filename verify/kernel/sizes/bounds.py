# SPDX-License-Identifier: Apache-2.0
"""The elements that accesses mean at all sizes: each at its own place, under exactly the mask that its bounds are.

At the sample an access reads or writes some element of an array. Its indices at other sizes follow: an index of the
output begins at the CTA's tile, the summed one grows with the rounds of the loop. The access must be at that place as a
polynomial, and its mask must be the bounds of that element, minus what the region implies: both ways.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from verify.kernel.sizes.accesses import GlobalAccess
from verify.kernel.sizes.forms import AllOf, Condition, Fixed, Less, Linear, Monomial, NotLifted, Polynomial, describe
from verify.kernel.sizes.region import tighten
from verify.kernel.sizes.runs import LiftedRun
from verify.kernel.sizes.statement import INNER

Key = tuple[tuple[Monomial, int], ...]  # of an inequality: its terms in order
DIVISORS = (2, 4, 8, 16, 32, 64, 128)  # by which a size is tried to be divisible, to say what a claim could give


class Bounds:
    """The places and masks of one run's accesses."""

    def __init__(self, run: LiftedRun, growth: Polynomial) -> None:
        """Compare with the indices of the statement; `growth` is by how much k is larger after the loop's head."""
        self.run, self.region, self.growth = run, run.region, growth
        self._implied: dict[Key, bool] = {}

    def check_loads(self) -> None:
        """Raise NotLifted for a load that is not of its element, or whose mask is not its bounds.

        The output is read in the CTA's own tile alone: another CTA may have written the rest.
        """
        for access in self.run.accesses.loads:
            each = self._check(access)
            if access.array == self.run.statement.target.name:
                for _ in self._places(access, each):
                    pass

    def check_stores(self) -> None:
        """Raise NotLifted unless every element of the tile is stored once, at its place and under its bounds."""
        statement = self.run.statement
        rows, columns = (axis.tile for axis in statement.axes)
        written = np.zeros((rows, columns), np.int64)
        for access in self.run.accesses.stores:
            if access.array != statement.target.name:
                raise NotLifted(access.line, f"writes {access.array}, of which nothing is claimed")
            for place in self._places(access, self._check(access)):
                np.add.at(written, place, 1)
        if (written != 1).any():
            missing, twice = int((written == 0).sum()), int((written > 1).sum())
            raise NotLifted(
                0, f"{missing} of {written.size} elements of a tile are never stored, {twice} more than once"
            )

    def _places(
        self, access: GlobalAccess, indices: Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield rows and columns in the CTA's tile; NotLifted for an element outside of it."""
        rows, columns = (axis.tile for axis in self.run.statement.axes)
        for first, second in indices:
            row, column = first - INNER * rows, second - INNER * columns
            if not ((row >= 0) & (row < rows) & (column >= 0) & (column < columns)).all():
                raise NotLifted(access.line, f"an access of {access.array} outside of the CTA's tile")
            yield row, column

    def _check(self, access: GlobalAccess) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Check one access; return the indices (of all threads) of each element that it has."""
        indices = self.indices(access)
        names = self._names(access)
        forms = [self._form(access, name, each[:, 0]) for name, each in zip(names, indices, strict=True)]
        size = self.run.accesses.arrays[access.array]
        wanted = Polynomial.number(0)
        for form, stride in zip(forms, self.run.statement.stride(access.array), strict=True):
            wanted += form * stride
        wanted *= Polynomial.number(size)
        offset, modular = self._unwrap(access, names, forms, indices, self.pick(access))
        if not offset.same(wanted):
            raise NotLifted(access.line, f"{access.array} is at {offset}, and its element is at {wanted} (bytes)")
        for name, form in zip(names, forms, strict=True):
            if not self._never_below(form):
                raise NotLifted(access.line, f"{access.array}: index {name} may be below 0", str(form))
        self._check_mask(access, names, forms, indices, modular)
        return zip(*(each.T for each in indices), strict=True) if len(indices) == 2 else iter(())

    def _never_below(self, form: Polynomial) -> bool:
        """Return whether a form is at least 0 in every thread."""
        constants = np.broadcast_to(form.constant, form.rows)
        return all(self.region.holds({**symbols, (): int(constants[here].min())}) for symbols, here in form.groups())

    def _names(self, access: GlobalAccess) -> tuple[str, ...]:
        if access.array == self.run.statement.target.name:
            return self.run.statement.target.indices
        return self.run.indices_of(access.array)

    def pick(self, access: GlobalAccess) -> Polynomial:
        """Return where an access is, in the threads that make it."""
        return _pick_threads(access.offset, access.threads, self.run.machine.count)

    def _unwrap(
        self,
        access: GlobalAccess,
        names: tuple[str, ...],
        forms: list[Polynomial],
        indices: list[NDArray[np.int64]],
        offset: Polynomial,
    ) -> tuple[Polynomial, frozenset[str]]:
        """Return where an access is if an index i mod its size is i, and the names of such indices.

        Beyond the size such a load gets another element, where a mask would have left a zero. Of an index of the output
        that is as good: what comes of it is that of no element which is stored. Of the summed one it is not.
        """
        modular: set[str] = set()
        spans = {name: int((each[:, -1] - each[:, 0]).max()) + 1 for name, each in zip(names, indices, strict=True)}
        for symbol in offset.symbols & self.region.atoms.keys():
            atom = self.region.atoms[symbol]
            if atom.kind != "%":
                continue
            whole, modulus = (each * Polynomial.number(atom.scale) for each in (atom.left, atom.right))
            whole = _pick_threads(whole, access.threads, self.run.machine.count)
            possible = {axis.index for axis in self.run.statement.axes} - modular
            name = next((name for name, form in zip(names, forms, strict=True) if name in possible and form.same(whole)
                         and modulus.same(self.run.statement.size(name.upper()))), None)  # fmt: skip
            if name is None or spans[name] > atom.scale or access.array == self.run.statement.target.name:
                raise NotLifted(
                    access.line, f"{access.array} is at a remainder that isn't an index of the output", symbol
                )
            modular.add(name)
            self.run.modular.add((access.array, name))
            offset = offset.replace(symbol, _pick_threads(atom.left, access.threads, self.run.machine.count))
        return offset, frozenset(modular)

    def indices(self, access: GlobalAccess) -> list[NDArray[np.int64]]:
        """Return by index of the array (threads, elements) what it is at the sample: consecutive elements of a row."""
        region = next(region for region in self.run.run.regions if region.array.name == access.array)
        at = np.broadcast_to(access.offset.value(self.region.sample), self.run.machine.count)
        first = at[access.threads].astype(np.int64)
        if (first % region.size).any() or access.count % region.size:
            raise NotLifted(access.line, f"an access of parts of elements of {access.array}")
        count = access.count // region.size
        places = first[:, None] // region.size + np.arange(count) + region.array.offset
        inside = (places >= 0) & (places < len(region.elements))
        numbers = np.where(inside, region.elements[np.where(inside, places, 0)], -1)
        if (numbers < 0).any() or region.kept is not None:
            raise NotLifted(access.line, f"an access outside of {access.array}")
        indices = [each.astype(np.int64) for each in np.unravel_index(numbers, region.array.shape)]
        unit = next((axis for axis, stride in enumerate(region.array.strides) if stride == 1), None)
        for axis, each in enumerate(indices):
            if (each - each[:, :1] != (np.arange(count) if axis == unit else 0)).any():
                raise NotLifted(access.line, f"an access of {access.array} that goes beyond the end of a row")
        return indices

    def _form(self, access: GlobalAccess, name: str, numbers: NDArray[np.int64]) -> Polynomial:
        """Return an index at all sizes, of what it is at the sample in each thread."""
        statement = self.run.statement
        for axis in statement.axes:
            if name == axis.index:
                return statement.tiles[name] * Polynomial.number(axis.tile) + Polynomial.number(
                    numbers - INNER * axis.tile
                )
        return Polynomial.number(numbers) + (self.growth if access.moved else Polynomial.number(0))

    def _check_mask(
        self, access: GlobalAccess, names: tuple[str, ...], forms: list[Polynomial], indices: list[NDArray[np.int64]],
        modular: frozenset[str],
    ) -> None:  # fmt: skip
        """Raise NotLifted unless a mask is the bounds of its elements; a `modular` index has none."""
        statement, ends = self.run.statement, []
        for name, form, each in zip(names, forms, indices, strict=True):
            if name in modular:
                continue
            size, rows = statement.size(name.upper()) - form, len(access.threads)
            spans = (1, each[:, -1] - each[:, 0] + 1)
            ends.append([self._keys(size - Polynomial.number(span), rows) for span in spans])
        parts = list(_conjunction(access.mask, access.line))
        count = self.run.machine.count
        for part in parts:
            if isinstance(part, Fixed) and not part.mask[access.threads if len(part.mask) > 1 else 0].all():
                raise NotLifted(access.line, "a mask that is open is false in some thread")
        chosen = [_pick_threads(part, access.threads, count) for part in parts if isinstance(part, Polynomial)]
        masks = [self._keys(form, len(access.threads)) for form in chosen]
        had = [{each[row] for each in masks} for row in range(len(access.threads))]
        wanted = [[{each[place][row] for each in ends} for row in range(len(had))]
                  for place in range(2)]  # fmt: skip  # of the first element, and of the last
        pairs = [pair for keys in wanted for pair in zip(keys, had, strict=True)]
        for row, pair in enumerate(pairs):
            keys, mask = map(self._leave_implied, pair)
            # a mask that leaves no zero may be narrower: its threads alone read the element
            if (access.zeros and keys != mask) or not keys <= mask:
                at = ", ".join(str(each[row % len(had), 0]) for each in indices)
                text = f"{access.array}[{at}] of the sample has another mask than its bounds{self._propose(pairs)}"
                raise NotLifted(
                    access.line, text, f"{describe(access.mask)}, and bounds {_words(keys)}",
                    [Less(Polynomial.of(dict(key))) for key in keys ^ mask], self.region,
                )  # fmt: skip

    def _propose(self, pairs: list[tuple[set[Key], set[Key]]]) -> str:
        """Return in words the divisor of a size with which all bounds and masks are the same; "" if none is."""
        statement = self.run.statement
        differ = [(bounds, mask, self._leave_implied(bounds), self._leave_implied(mask)) for bounds, mask in pairs]
        for name in statement.names:
            symbol, given = statement.symbol(name), statement.divisors.get(name, 1)
            for by in DIVISORS:
                every = ([_divide(keys, symbol, by) for keys in each] for each in differ)
                # what the region implies of one is true of the other too, however that is written
                if all(more <= mask and less <= bounds for bounds, mask, more, less in every):
                    return f" (`given` may say {name} % {given * by} == 0)"
        return ""

    def _keys(self, form: Polynomial, rows: int) -> list[Key]:
        """Return of each thread the inequality form >= 0 in its normal form."""
        names = list(form.terms)
        table = np.stack([np.broadcast_to(form.terms[name], rows) for name in names])
        different, place = np.unique(table, axis=1, return_inverse=True)
        parts = [dict(zip(names, numbers, strict=True)) for numbers in different.T.tolist()]
        keys = [_key({name: number for name, number in part.items() if number}) for part in parts]
        return [keys[at] for at in place.ravel().tolist()]

    def _leave_implied(self, keys: set[Key]) -> set[Key]:
        """Return the inequalities that the region does not imply."""
        for key in keys - self._implied.keys():
            self._implied[key] = self.region.holds(dict(key))
        return {key for key in keys if not self._implied[key]}


def _key(part: Linear) -> Key:
    """Return the inequality part >= 0 in its normal form."""
    return tuple(sorted((monomial, number) for monomial, number in tighten(part).items() if number))


def _divide(keys: set[Key], symbol: str, by: int) -> set[Key]:
    """Return inequalities in their normal form once a symbol is a number times it."""
    return {_key({monomial: number * by ** monomial.count(symbol) for monomial, number in key}) for key in keys}


def _pick_threads(form: Polynomial, threads: NDArray[np.int64], count: int) -> Polynomial:
    """Return a form of some threads alone."""
    return Polynomial(
        {key: np.broadcast_to(each, count)[threads] if len(each) > 1 else each for key, each in form.terms.items()}
    )


def _conjunction(mask: Condition, line: int) -> Iterator[Polynomial | Fixed]:
    """Yield the parts of a mask, each as a form that is at least 0; NotLifted for one that is no conjunction."""
    if isinstance(mask, AllOf):
        for part in mask.parts:
            yield from _conjunction(part, line)
    elif isinstance(mask, Less):
        yield -mask.form - Polynomial.number(1)
    elif isinstance(mask, Fixed):
        yield mask
    else:
        raise NotLifted(line, "a mask that is not a conjunction of inequalities", describe(mask))


def _words(keys: set[Key]) -> str:
    return " and ".join(f"{Polynomial.of(dict(key))} >= 0" for key in sorted(keys)) or "always true"

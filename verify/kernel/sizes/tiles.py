# SPDX-License-Identifier: Apache-2.0
"""Which tile of the output a CTA has, where one axis of the grid has the tiles of several indices.

A kernel computes its tile from its number, often in groups that share columns. The number of the tile in each direction
is read off the addresses of the sample's stores, as a form. It is proved that no CTA's tile lies outside, and that no
two CTAs have one tile: there are as many CTAs as tiles, so each tile has its CTA. That each access at all sizes is of
that tile is proved by `bounds`, as for every grid.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from proofs.smt.inequalities import Inequalities
from verify.kernel.data.values import Values
from verify.kernel.interpretation import Interpretation
from verify.kernel.ptx.source import Kernel
from verify.kernel.sizes.bounds import Bounds
from verify.kernel.sizes.forms import Linear, Monomial, NotLifted, Numbers, Polynomial
from verify.kernel.sizes.lifted import LiftedMachine, go, start
from verify.kernel.sizes.region import SizeRegion, times, total
from verify.kernel.sizes.runs import BUDGET, LiftedRun
from verify.kernel.sizes.statement import AXES, AllSizes

OTHER = "~"  # of a second CTA: behind the names of its number and of all that this decides


def find_cta(statement: AllSizes, kernel: Kernel, seed: int) -> tuple[int, int, int]:
    """Return the CTA of the sample that stores the second tile in each direction; NotLifted if none does."""
    claim = statement.launch(statement.numbers(1))
    count, axis = int(np.prod(claim.launches[0].grid)), statement.axes[0].number
    for number in sorted(range(count), key=lambda number: abs(number - count // 2)):
        run = Interpretation(kernel, claim.launches[0], Values(seed), BUDGET, {}, LiftedMachine)
        cta = tuple(number if place == axis else 0 for place in range(3))
        go(start(run, (cta[0], cta[1], cta[2])), None, -1, lambda trips: None)
        region = next(region for region in run.regions if region.array.name == statement.target.name)
        assert region.stored is not None
        at = region.places.reshape(region.array.shape)[tuple(slice(cut.tile, 2 * cut.tile) for cut in statement.axes)]
        if (region.stored.writer[at * region.size] >= 0).all():
            return cta[0], cta[1], cta[2]
    raise NotLifted(0, "no CTA of the sample stores the second tile in each direction")


def find_tiles(run: LiftedRun) -> dict[str, Polynomial]:
    """Return by index of the output the number of the CTA's tile as a form, from the first store of a run."""
    statement = run.statement
    access = next((store for store in run.accesses.stores if store.array == statement.target.name), None)
    if access is None:
        raise NotLifted(0, "nothing is stored")
    bounds = Bounds(run, Polynomial.number(0))
    forms = _split_offset(statement, bounds.pick(access), run.accesses.arrays[access.array], access.line)
    tiles = {}
    for axis, numbers in zip(statement.axes, bounds.indices(access), strict=True):
        first = forms[axis.index] - Polynomial.number(numbers[:, 0] - axis.tile)  # of the CTA's tile
        if any((each % axis.tile).any() or (each != each[0]).any() for each in first.terms.values()):
            raise NotLifted(access.line, f"{axis.index} of a CTA's tile isn't a multiple of {axis.tile}", str(first))
        tiles[axis.index] = Polynomial({key: each[:1] // axis.tile for key, each in first.terms.items()})
    return tiles


def _split_offset(statement: AllSizes, offset: Polynomial, size: int, line: int) -> dict[str, Polynomial]:
    """Return the index in each direction of the output that an offset in bytes is: the terms with a stride are rows."""
    strides = dict(zip(statement.target.indices, statement.stride(statement.target.name), strict=True))
    steps = {index: _factor(stride) for index, stride in strides.items() if stride.symbolic}
    rest, by_index = dict(offset.terms), {}
    for index, (symbol, by) in steps.items():
        mine = {key: rest.pop(key) for key in [*rest] if symbol in key}
        by_index[index] = _divide_terms({_leave_out(key, symbol): each for key, each in mine.items()}, by * size, line)
    plain = [index for index in strides if index not in by_index]
    if len(plain) != 1 or not strides[plain[0]].same(Polynomial.number(1)):
        raise NotLifted(
            line, "a grid with tiles of several indices on one axis needs a stride of 1 and others with names"
        )
    return {**by_index, plain[0]: _divide_terms(rest, size, line)}


def _factor(stride: Polynomial) -> tuple[str, int]:
    """Return the symbol and the number of which a stride is the product."""
    terms = stride.thread(0)
    key, number = next(iter(terms.items()))
    if len(terms) != 1 or len(key) != 1:
        raise NotLifted(
            0, f"the stride {stride} isn't a name: a grid with tiles of several indices on one axis needs one"
        )
    return key[0], number


def _leave_out(key: Monomial, symbol: str) -> Monomial:
    place = key.index(symbol)
    return key[:place] + key[place + 1 :]


def _divide_terms(terms: Mapping[Monomial, Numbers], by: int, line: int) -> Polynomial:
    if any((each % by).any() for each in terms.values()):
        raise NotLifted(line, "an address that isn't a multiple of its stride", str(Polynomial(terms)))
    return Polynomial({key: each // by for key, each in terms.items()})


def check_tiles(statement: AllSizes, tiles: Mapping[str, Polynomial], of: SizeRegion) -> SizeRegion:
    """Raise NotLifted unless every CTA has a tile of the output, and no two have one; return the region of all sizes.

    `of` is the region of a run, of which the forms' atoms are.
    """
    region = statement.whole_region(statement.numbers(1))
    region.adopt([name for form in tiles.values() for name in form.symbols], of)
    _check_inside(statement, tiles, region)
    _check_distinct(statement, tiles, region)
    return region


def _check_inside(statement: AllSizes, tiles: Mapping[str, Polynomial], region: SizeRegion) -> None:
    """Raise NotLifted unless the tile of every CTA is one of the output."""
    for axis in statement.axes:
        form = tiles[axis.index].thread(0)
        end = total(region.extents[axis.index].thread(0), times(form, -1))
        if not (region.learn(form, 0) and region.learn(end, -1)):
            shown = f"{axis.index} from {axis.tile}*({tiles[axis.index]})"
            raise NotLifted(0, f"a CTA's tile may lie outside of {axis.size}", shown)


def _check_distinct(statement: AllSizes, tiles: Mapping[str, Polynomial], region: SizeRegion) -> None:
    """Raise NotLifted unless two CTAs with one tile are one.

    What the number of the CTA decides has a second name for the second CTA. One after another these are proved to be
    equal: by their definitions, once what they are made of is, or by linear reasoning.
    """
    cta = AXES[statement.axes[0].number]
    names = {name: name + OTHER for name in (cta, *(atom for atom in region.atoms if atom in region.made_of(cta)))}
    while True:
        facts = [*region.facts, *(_rename(fact, names) for fact in region.facts)]
        for form in tiles.values():
            apart = total(form.thread(0), times(_rename(form.thread(0), names), -1))
            facts += [apart, times(apart, -1)]
        known = Inequalities(facts)
        equal = next((name for name in names if _is_one(name, names, region, known)), None)
        if equal is None:
            shown = ", ".join(f"{index} from {tiles[index]}" for index in tiles)
            raise NotLifted(0, "two CTAs may have one tile", shown)
        if equal == cta:
            return
        del names[equal]


def _is_one(name: str, names: Mapping[str, str], region: SizeRegion, known: Inequalities) -> bool:
    """Return whether a symbol of two CTAs is proved to be the same number."""
    atom = region.atoms.get(name)
    if atom is not None and not names.keys() & (atom.left.symbols | atom.right.symbols):
        return True
    apart: Linear = {(name,): 1, (names[name],): -1}
    region.asked += 2
    proofs = [known.derive(each) is not None for each in (apart, times(apart, -1))]
    region.proved += sum(proofs)
    return all(proofs)


def _rename(part: Linear, names: Mapping[str, str]) -> Linear:
    return total(
        *({tuple(sorted(names.get(symbol, symbol) for symbol in key)): number} for key, number in part.items())
    )

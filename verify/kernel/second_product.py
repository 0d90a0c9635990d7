# SPDX-License-Identifier: Apache-2.0
"""What is wrong with the second product of attention, P * V, where P holds the powers of 2 of the first one.

With a maximum that is always 0, each element of P is what the claim says of it, so its residues say which one it is.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verify.core.errors import SpecError
from verify.kernel.claims.evaluation import Evaluation, NamedTensor
from verify.kernel.claims.expression import Apply, Element, Node, Sum, depends, elements, list_factors
from verify.kernel.comparison import read_tensors
from verify.kernel.data.values import Ids, Values
from verify.kernel.interpretation import Interpretation
from verify.kernel.online import FixedMaximum
from verify.kernel.wrong_product import Ints, ProductTerm, ProductWatch, Source, list_sources

_MOST = 1 << 22  # elements of P


def watch_powers(run: Interpretation, seed: int, budget: int, cta: int) -> ProductWatch | None:
    """Run a CTA again, and return the watch that found a product of P and V whose elements don't belong together."""
    power_term = find_power_term(run.launch.value)
    if power_term is None:
        return None
    index, power, value = power_term
    axes = (*(name for name in run.launch.target.indices if depends(power, name)), index)
    if np.prod([run.launch.extents[name] for name in axes]) > _MOST:
        return None
    values = FixedMaximum(seed, exponents=True)
    again = Interpretation(run.kernel, run.launch, values, budget, {})
    launch = run.launch
    evaluate = Evaluation(
        values.primes, read_tensors(again, power), launch.scalars, values.choices, launch.extents, launch.sizes
    )
    try:
        powers = evaluate(power)
    except SpecError:  # a power that has no value with these data
        return None
    term = ProductTerm(index, value, value)
    where = f"in the product of P and {value.name}, where P holds the powers of the claim, "
    sources = [_list_powers(values, powers, axes), *list_sources(again.regions, term)]
    strangers = [
        list_sources(again.regions, ProductTerm(element.indices[0], element, element))[0]
        for element in {each.name: each for each in elements(power)}.values()
        if element.name != value.name
    ]
    watched = ProductWatch(again, sources, where, strangers)
    again.machine.watch = watched
    return watched if again.finish(cta) and watched.finding else None


def find_power_term(node: Node) -> tuple[str, Apply, Element] | None:
    """Return the index, the power and the array of a sum of powers times an array's elements."""
    if isinstance(node, Sum):
        factors = [factor for factor in list_factors(node.body) if depends(factor, node.index)]
        powers = [factor for factor in factors if isinstance(factor, Apply) and factor.name == "ex2"]
        arrays = [factor for factor in factors if isinstance(factor, Element) and node.index in factor.indices]
        if len(powers) != 1 or len(arrays) != 1 or len(factors) > 2 or arrays[0].name in _names(powers[0]):
            return None  # what is in both products belongs to neither alone
        return node.index, powers[0], arrays[0]
    if isinstance(node, Apply):
        return next((power_term for part in node.parts if (power_term := find_power_term(part))), None)
    return None


def _names(node: Node) -> set[str]:
    return {element.name for element in elements(node)}


def _list_powers(values: Values, powers: NamedTensor, axes: tuple[str, ...]) -> Source:
    """Return the powers of a claim, over an index after others, as an array of the product's elements."""
    residues, sample, _ = powers.align(axes)
    keys = _join(residues.reshape(len(residues), -1))
    order = np.argsort(keys)
    return Source(Element("P", axes), sample.shape, len(axes) - 1, partial(_find_powers, values, keys[order], order))


def _join(residues: NDArray[Any]) -> Ints:
    """Return the residues modulo the first two primes as one number."""
    return np.asarray(residues[0].astype(np.int64) << 32 | residues[1].astype(np.int64))


def _find_powers(values: Values, keys: Ints, order: Ints, ids: Ids) -> Ints:
    values.flush()
    mine = _join(values.residues[:2, ids.astype(np.intp)])
    at = np.minimum(np.searchsorted(keys, mine), len(keys) - 1)
    return np.where((keys[at] == mine) & (mine != 0), order[at], -1)

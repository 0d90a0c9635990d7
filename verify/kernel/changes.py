# SPDX-License-Identifier: Apache-2.0
"""Small changes of a claim, in words: a term, a factor, a function or an index of it is another one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from fractions import Fraction

from verify.kernel.claims.expression import (
    LARGEST,
    LN_2,
    LOG2_E,
    Apply,
    ClaimNumber,
    Element,
    Node,
    Scalar,
    elements,
    list_factors,
    round_number,
)
from verify.kernel.claims.launch import Launch
from verify.kernel.claims.rewriting import (
    ZERO,
    drop_factor,
    is_sum,
    list_parts,
    list_products,
    list_terms,
    multiply,
    substitute,
)
from verify.kernel.claims.written import spell_node

TERMS = 16  # at most so many are tried
_LONG = 40  # characters of a part of a claim that are shown
_KEPT = ("ex2", "lg2", "rcp", "where", "max", "min", LARGEST)  # functions that nobody forgets to apply
Changes = Iterator[tuple[str, Node]]


def list_changes(node: Node, launch: Launch) -> Changes:
    """Yield changes of a claim in words."""
    yield from _change_terms(node)
    yield from _change_factors(node, launch.scalars.keys())
    yield from _change_functions(node)
    yield from _change_indices(node, {array.name: array.shape for array in launch.arrays})


def _change_terms(node: Node) -> Changes:
    """Yield a claim whose terms are missing, twice there, or have the other sign."""
    masks = [part for part in list_parts(node) if isinstance(part, Apply) and part.name == "where"]
    conditions = {part for mask in masks for side in mask.parts[:2] for part in list_parts(side)}
    sums = [part for part in list_parts(node) if isinstance(part, Apply) and is_sum(part) and part not in conditions]
    inner, tried = {part for outer in sums for part in outer.parts}, 0
    for total in sums:
        if total in inner:
            continue
        terms = list_terms(total)
        for sign, term in terms[: TERMS - tried] if len(terms) > 1 else []:
            tried += 1
            less, more = ("-", "+") if sign > 0 else ("+", "-")
            lacking = Apply(less, (total, term))
            yield f"the term {spell_node(term)} is missing", substitute(node, {total: lacking})
            yield f"the term {spell_node(term)} is added twice", substitute(node, {total: Apply(more, (total, term))})
            yield (
                f"the term {spell_node(term)} has the other sign",
                substitute(node, {total: Apply(less, (lacking, term))}),
            )
        if len(terms) == 2 and terms[0][0] != terms[1][0]:
            turned = Apply("-", (ZERO, total))
            yield f"the difference {_shorten(total)} is turned", substitute(node, {total: turned})


def _change_factors(node: Node, scalars: Set[str]) -> Changes:
    """Yield a claim in which a scalar, a number or a divisor is missing, or is there twice."""
    products = list_products(node)
    names = [symbol for product in products for symbol in list_factors(product) if isinstance(symbol, Scalar)]
    for scalar in (symbol for symbol in dict.fromkeys(names) if symbol.name in scalars):
        twice = multiply(scalar, scalar)
        yield f"{scalar.name} is applied twice", substitute(node, {scalar: twice})
        yield f"{scalar.name} is not applied", substitute(node, {scalar: ClaimNumber(Fraction(1))})
    for product in products:
        factors = list_factors(product)
        for factor in dict.fromkeys(factors):
            less = substitute(node, {product: drop_factor(product, factor)})
            if isinstance(factor, Scalar) and factor.name in scalars:
                twice = substitute(node, {product: multiply(factor, product)})
                yield f"{factor.name} is applied twice in {_shorten(product)}", twice
                yield f"{factor.name} is not applied in {_shorten(product)}", less
            elif isinstance(factor, Element):
                yield f"the factor {spell_node(factor)} is missing", less
            elif isinstance(factor, ClaimNumber) and factor.value not in (0, 1):
                yield _name_number(factor, product), less
            elif isinstance(factor, Apply) and factor.name == "rcp":
                yield f"it is not divided by {_shorten(factor.parts[0])}", less
                turned = multiply(drop_factor(product, factor), factor.parts[0])
                yield (
                    f"it is multiplied by {_shorten(factor.parts[0])}, not divided",
                    substitute(node, {product: turned}),
                )


def _name_number(factor: ClaimNumber, product: Node) -> str:
    """Return in words that a number is not applied."""
    if factor == _hold(LOG2_E):
        return "the exponent lacks log2(e)"
    if factor == _hold(LN_2):
        return "the logarithm has base 2 where base e is claimed"
    return f"the factor {spell_node(factor)} is missing in {_shorten(product)}"


def _hold(number: float) -> ClaimNumber:
    return ClaimNumber(round_number(number, double=False))


def _change_functions(node: Node) -> Changes:
    """Yield a claim in which a function is another one, or a power or a logarithm has another base."""
    log2_e, ln_2 = _hold(LOG2_E), _hold(LN_2)
    parts = [part for part in list_parts(node) if isinstance(part, Apply)]
    for call in parts:
        if call.name in ("sqrt", "rsqrt"):
            without = call.parts[0] if call.name == "sqrt" else Apply("rcp", call.parts)
            yield f"{spell_node(call)} lacks its root", substitute(node, {call: without})
        elif call.name not in _KEPT and len(call.parts) == 1:
            yield f"{call.name} is not applied", substitute(node, {call: call.parts[0]})
    powers = [part for part in parts if part.name == "ex2"]
    for power in powers:
        exponent = power.parts[0]
        more = Apply("ex2", (multiply(exponent, log2_e),))
        yield "the exponent has log2(e) once too often", substitute(node, {power: more})
        factors = list_factors(exponent)
        inside = [total for total in factors if is_sum(total)]
        for bias in (term for total in inside for _, term in list_terms(total)) if log2_e in factors else ():
            less = substitute(exponent, {bias: multiply(bias, ln_2)})
            yield (
                f"the term {spell_node(bias)} of the exponent lacks log2(e)",
                substitute(node, {power: Apply("ex2", (less,))}),
            )
        if log2_e in factors:
            bare = [part for part in factors if not isinstance(part, ClaimNumber)]
            for factor in bare if len(bare) > 1 else ():
                rest = multiply(*(part for part in bare if part is not factor))
                text = f"the exponent has neither {_shorten(factor)} nor log2(e)"
                yield text, substitute(node, {power: Apply("ex2", (rest,))})
    for log in (part for part in parts if part.name == "lg2"):
        if not any(log in (of := list_factors(product)) and ln_2 in of for product in list_products(node)):
            text = "the logarithm has base e where base 2 is claimed"
            yield text, substitute(node, {log: multiply(log, ln_2)})


def _change_indices(node: Node, shapes: Mapping[str, tuple[int, ...]]) -> Changes:
    """Yield a claim in which a head is that of another group, of all arrays and of each."""
    every = dict.fromkeys(elements(node))
    texts = {(text, shapes[element.name][axis]): None for element in every for axis, text in enumerate(element.indices)}
    for text, extent in texts:
        match = re.fullmatch(r"(\w+)//(\w+)", text)
        for index in (f"{match[1]}%{match[2]}", f"{match[1]}%{extent}") if match else ():
            have = [element for element in every if text in element.indices]
            names, changed = (
                dict.fromkeys(element.name for element in have),
                {element: _put_index(element, text, index) for element in have},
            )
            verb = "has" if len(names) == 1 else "have"
            yield f"{' and '.join(names)} {verb} the index {index}, not {text}", substitute(node, changed)
            for alone in have if len(have) > 1 else ():
                yield f"{alone.name} has the index {index}, not {text}", substitute(node, {alone: changed[alone]})


def _put_index(element: Element, text: str, index: str) -> Element:
    """Return an element with another index in place of one."""
    return Element(element.name, tuple(index if each == text else each for each in element.indices))


def _shorten(node: Node) -> str:
    """Return a part of a claim, its end left out if it is long."""
    text = spell_node(node)
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"

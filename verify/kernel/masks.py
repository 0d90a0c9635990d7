# SPDX-License-Identifier: Apache-2.0
"""Changes of a claim with exponentials, in words: masks that hide something else, and terms that are left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from verify.kernel.blocks import BLOCKS, change_powers, find_totals, name_block
from verify.kernel.claims.expression import LN_2, Apply, Below, ClaimNumber, Node, Scalar, Sum, depends, round_number
from verify.kernel.claims.launch import Launch
from verify.kernel.claims.rewriting import ONE, ZERO, list_parts, multiply, replace_each, substitute
from verify.kernel.claims.written import spell_node

Changes = Iterator[tuple[str, Node]]
_QUAD = (("n%8//4", "2 of the 4 lanes"), ("n//2%2", "2 of the 4 lanes"), ("n%8//2", "one of the 4 lanes"))
_LEAST = -1e30  # a number below it is as good as -inf


def list_masked(node: Node, launch: Launch, numbers: Sequence[Fraction]) -> Changes:
    """Yield changes of a claim's masks and of what its sums of powers have; `numbers` are constants of the kernel."""
    masks, extents = _list_masks(node), launch.extents
    for mask in masks:
        yield from _shift_mask(node, mask, extents)
    yield "nothing is masked", _change_each(node, "where", _unmask)
    for mask in masks if len(masks) > 1 else ():
        yield f"the mask by {_write_condition(mask)} is missing", _change_mask(node, mask, _unmask)
    yield from _skip_terms(node, extents)
    for index in sorted(_list_summed(node)):
        for more in sorted({1, *(-extents[index] % block for block in BLOCKS)} - {0}):  # the edge of the last block
            text = f"terms of the score 0 are summed beyond {index} = {extents[index] - 1}, as many as {more}"
            yield text, _add_terms(node, index, ClaimNumber(Fraction(more)))
        yield from _share_among_lanes(node, index, launch)
    for mask in masks:
        yield from _mask_blocks(node, mask, extents)
    if not masks:
        yield from _mask_diagonal(node, launch)
    if masks:
        yield from _hide_less(node, masks[0], extents, sorted({Fraction(0), *(_small(numbers))}, reverse=True))


def _small(numbers: Sequence[Fraction]) -> list[Fraction]:
    return [number for number in numbers if _LEAST < number < 0]


# ---- conditions


def _list_masks(node: Node) -> list[Apply]:
    """Return every choice in a tree."""
    return [part for part in list_parts(node) if isinstance(part, Apply) and part.name == "where"]


def _hides(mask: Apply) -> bool:
    """Return whether a choice hides what its condition is true of."""
    return mask.parts[2] in (Below(), ZERO)


def _change_mask(node: Node, mask: Apply, change: Callable[[Apply], Node]) -> Node:
    """Return a tree with a change of each choice that has the condition of one."""
    return _change_each(node, "where", lambda part: change(part) if part.parts[:2] == mask.parts[:2] else part)


def _write_condition(mask: Apply) -> str:
    """Return the condition of what a choice doesn't hide."""
    left, right = (spell_node(side) for side in mask.parts[:2])
    return f"{right} >= {left}" if _hides(mask) else f"{left} > {right}"


def _list_names(mask: Apply, extents: Mapping[str, int]) -> list[str]:
    """Return the indices in a choice's condition."""
    parts = [part for side in mask.parts[:2] for part in list_parts(side)]
    return [part.name for part in dict.fromkeys(parts) if isinstance(part, Scalar) and part.name in extents]


def _mask_diagonal(node: Node, launch: Launch) -> Changes:
    """Yield a claim that hides what lies above or below the diagonal."""
    for index in sorted(_list_summed(node)):
        for row in (name for name in launch.target.indices if name != index and launch.extents[name] > 1):
            yield f"only {index} <= {row} is summed: a mask is there", _keep(node, Scalar(f"{row}+1"), Scalar(index))
            yield f"only {index} >= {row} is summed: a mask is there", _keep(node, Scalar(f"{index}+1"), Scalar(row))


def _shift_mask(node: Node, mask: Apply, extents: Mapping[str, int]) -> Changes:
    """Yield a claim whose mask hides more or fewer: by one, by the corner that the diagonal begins at, by a block."""
    left, right = mask.parts[:2]
    if isinstance(left, Apply) and left.name == "abs":  # of an equality
        for step in (1, -1):
            moved = Apply("abs", (Apply("+", (left.parts[0], ClaimNumber(Fraction(step)))),))
            text = f"the place where {spell_node(left.parts[0])} is 0 is off by one"
            yield text, _change_mask(node, mask, partial(_compare, left=moved, right=right))
        return
    sizes = [extents[name] for name in _list_names(mask, extents)]
    corner = {abs(height - width) for height in sizes for width in sizes}
    for step in (
        shift for shift in dict.fromkeys((1, *sorted(corner - {0}), *BLOCKS)) if shift < max(sizes, default=0)
    ):
        for sign, words in ((1, "too few"), (-1, "too many")):
            by = ClaimNumber(Fraction(sign * step if _hides(mask) else -sign * step))
            many = ("one", "one element") if step == 1 else (str(step), f"{step} elements")
            change = partial(_compare, left=left, right=Apply("+", (right, by)))
            yield f"the mask is off by {many[0]}, it hides {many[1]} {words}", _change_mask(node, mask, change)


def _compare(mask: Apply, left: Node, right: Node) -> Node:
    """Return a choice with another condition."""
    return Apply("where", (left, right, *mask.parts[2:]))


def _unmask(part: Apply) -> Node:
    """Return what a mask hides, in place of a choice between it and -inf or 0."""
    return next((branch for branch in part.parts[2:] if branch not in (Below(), ZERO)), part)


def _mask_blocks(node: Node, mask: Apply, extents: Mapping[str, int]) -> Changes:
    """Yield a claim whose mask has the numbers of blocks, or of places in them, in place of the indices."""
    names = _list_names(mask, extents)
    keys, rows = (
        [index for index in names if index in _list_summed(node)],
        [index for index in names if index not in _list_summed(node)],
    )
    for size in BLOCKS:
        first = {Scalar(name): name_block(name, size) for name in names}
        for name in names:
            text = f"the mask has the first {name} of a block of {size} in place of each"
            yield text, _put_names(node, mask, {Scalar(name): first[Scalar(name)]})
        yield f"the mask is that of whole blocks of {size}", _put_names(node, mask, first)
        places = _put_names(node, mask, {Scalar(name): Scalar(f"{name}%{size}") for name in names})
        text = f"the mask compares the places in blocks of {size}"
        yield text, places
        for key, row in ((key, row) for key in keys for row in rows):
            yield text, _limit(places, row, key, size)
            yield f"the blocks of {size} on the diagonal are skipped", _keep(node, name_block(row, size), Scalar(key))


def _put_names(node: Node, mask: Apply, names: Mapping[Any, Node]) -> Node:
    """Return a tree in which the condition of a mask has other names."""
    left, right = (substitute(side, names) for side in mask.parts[:2])
    return _change_mask(node, mask, partial(_compare, left=left, right=right))


def _hide_less(node: Node, mask: Apply, extents: Mapping[str, int], numbers: Sequence[Fraction]) -> Changes:
    """Yield a claim that gives what is masked a small score, or adds one, up to the end of a row's blocks."""
    names = _list_names(mask, extents)
    ends = [(row, key) for key in names if key in _list_summed(node) for row in names if row != key]
    for number in numbers:
        for unit in (ONE, ClaimNumber(round_number(LN_2, double=False))) if number else (ONE,):
            score = multiply(ClaimNumber(number), unit)
            hidden = partial(substitute, replacements={mask: score})
            changes = [(f"what is masked has the score {float(number):g}, not -inf", partial(_score, score=score))]
            if number:
                text = f"what is masked isn't hidden: {float(number):g} is added to its score"
                changes.append((text, partial(_lower, score=score)))
            for text, change in changes:
                made = _change_each(node, "where", change)
                yield text, made
                for row, key in ends:
                    powers = {total.index: hidden(total.body) for total in find_totals(node)}
                    yield from ((text, tree) for tree in _end_rows(made, row, key, extents[key], powers.get(key, ONE)))


def _end_rows(node: Node, row: str, key: str, extent: int, power: Node) -> Iterator[Node]:
    """Yield a tree whose sums end with the block of the row; then with terms more up to the end of a block."""
    for size in BLOCKS:
        made = _limit(node, row, key, size)
        yield made
        for step in (block for block in BLOCKS if block <= size):
            end = -(-extent // step) * step
            count = Scalar(f"max(0,min({row}//{size}*{size}+{size},{end})-{extent})")
            yield _add_terms(made, key, multiply(count, power))


def _score(part: Apply, score: Node) -> Node:
    """Return a choice with a score in place of -inf."""
    return Apply("where", (*part.parts[:2], *(score if branch == Below() else branch for branch in part.parts[2:])))


def _lower(part: Apply, score: Node) -> Node:
    """Return a choice with what it hides, less a number, in place of -inf."""
    shown = _unmask(part)
    while isinstance(shown, Apply) and shown.name == "where":
        shown = _unmask(shown)
    lower = Apply("+", (shown, score))
    return Apply("where", (*part.parts[:2], *(lower if branch == Below() else branch for branch in part.parts[2:])))


# ---- terms of sums


def _list_summed(node: Node) -> set[str]:
    """Return the indices of sums of exponentials."""
    if isinstance(node, Sum):
        return {node.index} if _has_power(node.body) else set()
    return {index for part in node.parts for index in _list_summed(part)} if isinstance(node, Apply) else set()


def _has_power(node: Node) -> bool:
    return any(isinstance(part, Apply) and part.name == "ex2" for part in list_parts(node))


def _skip_terms(node: Node, extents: Mapping[str, int]) -> Changes:
    """Yield a claim whose sums of powers lack some terms: all of them, or those without other factors alone."""
    for index in sorted(_list_summed(node)):
        extent, at = extents[index], Scalar(index)
        ragged = {extent % size for size in BLOCKS if size < extent} - {0}  # what the last block of a sum has
        kept: list[tuple[str, Node, Node]] = []
        for block in sorted({size for size in BLOCKS if size < extent} | ragged):
            kept.append((f"the last {block} terms", ClaimNumber(Fraction(extent - block)), at))
            kept.append((f"the first {block} terms", at, ClaimNumber(Fraction(block - 1))))
        for block in (size for size in BLOCKS if size < extent):
            odd = Scalar(f"{index}//{block}%2")
            kept.append((f"every second block of {block} terms", ClaimNumber(Fraction(1)), odd))
        for text, more, less in kept:
            yield f"{text} of sum_{index} are skipped", _keep(node, more, less)
        for block in BLOCKS:
            end = ClaimNumber(Fraction(block - 1))
            kept.append((f"the last of each {block} terms", end, Scalar(f"{index}%{block}")))
        for total in (candidate for candidate in find_totals(node) if candidate.index == index):
            for text, more, less in kept:
                hide = partial(_hide_power, more=more, less=less)
                yield f"{text} are skipped in the sum of a row", change_powers(node, total, hide, _leave)
                yield f"{text} are skipped in the accumulator", change_powers(node, total, _leave, hide)


def _leave(node: Node) -> Node:
    return node


def _share_among_lanes(node: Node, index: str, launch: Launch) -> Changes:
    """Yield a claim whose sum of a row is that of some of the four lanes that have parts of it, as mma gives them."""
    for total in (candidate for candidate in find_totals(node) if candidate.index == index):
        for column in (
            name for name in launch.target.indices if not depends(total, name) and launch.extents[name] >= 8
        ):
            for place, words in _QUAD:
                sides = Scalar(re.sub("^n", index, place)), Scalar(re.sub("^n", column, place))
                distance = Apply("abs", (Apply("-", sides),))
                mine = Apply("where", (distance, ZERO, ZERO, ONE))
                shared = Sum(index, Apply("*", (total.body, mine)))
                text = f"the sum of a row is that of {words} that share it: a shuffle is missing"
                yield text, substitute(node, {total: shared})


def _add_terms(node: Node, index: str, more: Node) -> Node:
    """Return a tree whose sums of powers over an index have some more."""
    longer = {total: Apply("+", (total, more)) for total in find_totals(node) if total.index == index}
    return substitute(node, longer)


def _limit(node: Node, row: str, key: str, size: int) -> Node:
    """Return a tree whose powers are 0 behind the block that has the row."""
    return _keep(node, Scalar(f"{row}//{size}*{size}+{size}"), Scalar(key))


def _keep(node: Node, more: Node, less: Node) -> Node:
    """Return a tree whose powers are 0 but where one number is above another."""
    return _change_each(node, "ex2", partial(_hide_power, more=more, less=less))


def _hide_power(part: Node, more: Node, less: Node) -> Node:
    """Return a power, or 0 where one number is not above another."""
    return Apply("where", (more, less, part, ZERO))


def _change_each(node: Node, name: str, change: Callable[[Apply], Node]) -> Node:
    """Return a tree with a change of each operation of a name."""
    return replace_each(node, lambda part: change(part) if isinstance(part, Apply) and part.name == name else part)

# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a kernel that sums exponentials block by block: no rescaling, a block that is skipped, a mask.

With a maximum that never changes, nothing has to be rescaled: a kernel that is right then, and wrong otherwise, forgets
to. Blocks and masks are changes of the claim that give every wrong element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial

import numpy as np

from verify.kernel.claims.expression import Apply, Below, ClaimNumber, Node, Scalar, Sum
from verify.kernel.comparison import Comparison
from verify.kernel.data import levels
from verify.kernel.data.values import Ids, Values
from verify.kernel.interpretation import Interpretation, Missing
from verify.kernel.state.findings import Finding, Severity, Unclear

BLOCKS = (16, 32, 64, 128, 256)  # terms that a step of a loop may have
_RESCALED = (
    "the accumulator or the sum of a row is not rescaled as it should be when the maximum grows (or a logarithm lacks "
    "the maximum): with a maximum that never changes, all is right"
)
_ZERO = ClaimNumber(Fraction(0))


class FixedMaximum(Values):
    """Values of which the larger one is always 0."""

    def apply(self, name: str, ids: Sequence[Ids], kind: str, opaque: int) -> Ids:
        """Return the ids of a function's results."""
        if name != "max":
            return super().apply(name, ids, kind, opaque)
        self.flush()
        below = np.logical_and.reduce([self.marks("level", each) == levels.BELOW for each in ids])
        return np.where(below, ids[0], np.uint32(self.constant(0, kind))).astype(np.uint32)


def explain_rescaling(run: Interpretation, seed: int, budget: int) -> list[Finding]:
    """Return a finding if the kernel is right as long as the maximum does not change."""
    values = FixedMaximum(seed, exponents=True)
    again = Interpretation(run.kernel, run.launch, values, budget, {})
    try:
        again.interpret()
    except (Unclear, Missing):
        return []
    if again.findings.found.keys() - run.findings.found.keys():
        return []
    found = Comparison(again)
    if found.wrong.any() or found.compared < found.ids.size:
        return []
    return [Finding("not rescaled", Severity.VALUE, 0, _RESCALED)]


def masked_claims(node: Node, extents: Mapping[str, int]) -> Iterator[tuple[str, Node]]:
    """Yield changes of a claim with exponentials, in words: masks by one off, and blocks that are left out."""
    for mask in dict.fromkeys(_list_masks(node)):
        for step, words in ((1, "too few"), (-1, "too many")):
            shifted = partial(_shift, condition=mask.parts[:2], step=step if _hides(mask) else -step)
            yield f"the mask is off by one, it hides one element {words}", _change_each(node, "where", shifted)
    yield "nothing is masked", _change_each(node, "where", _unmask)
    yield "the exponent lacks log2(e), or has it once too often", _change_each(node, "ex2", _without_factor)
    for index in sorted(_list_summed(node)):
        extent = extents.get(index, 0)
        ragged = {extent % one for one in BLOCKS if one < extent} - {0}  # what the last block of a sum has
        for block in sorted({one for one in BLOCKS if one < extent} | ragged):
            end, at = ClaimNumber(Fraction(extent - block)), Scalar(index)
            yield f"the last {block} terms of sum_{index} are skipped", _keep(node, end, at)
            yield (
                f"the first {block} terms of sum_{index} are skipped",
                _keep(node, at, ClaimNumber(Fraction(block - 1))),
            )
        for more in sorted({1, *(-extent % one for one in BLOCKS)} - {0}):  # the edge of the last block isn't masked
            text = f"terms of the score 0 are summed beyond {index} = {extent - 1}, as many as {more}"
            yield text, _add_terms(node, index, more)


def _list_summed(node: Node) -> set[str]:
    """Return the indices of sums of exponentials."""
    if isinstance(node, Sum):
        return {node.index} if _has_power(node.body) else set()
    return {index for part in node.parts for index in _list_summed(part)} if isinstance(node, Apply) else set()


def _has_power(node: Node) -> bool:
    if isinstance(node, Sum):
        return _has_power(node.body)
    return isinstance(node, Apply) and (node.name == "ex2" or any(map(_has_power, node.parts)))


def _list_masks(node: Node) -> list[Apply]:
    """Return every choice in a tree."""
    if isinstance(node, Sum):
        return _list_masks(node.body)
    if not isinstance(node, Apply):
        return []
    return [*([node] if node.name == "where" else ()), *(one for part in node.parts for one in _list_masks(part))]


def _hides(mask: Apply) -> bool:
    """Return whether a choice hides what its condition is true of."""
    return mask.parts[2] in (Below(), _ZERO)


def _shift(part: Apply, condition: tuple[Node, ...], step: int) -> Node:
    """Return a choice whose condition reaches one element further, or less far, if it is that one."""
    left, right, *rest = part.parts
    if part.parts[:2] != condition:
        return part
    return Apply("where", (left, Apply("+", (right, ClaimNumber(Fraction(step)))), *rest))


def _unmask(part: Apply) -> Node:
    """Return what a mask hides, in place of a choice between it and -inf or 0."""
    return next((one for one in part.parts[2:] if one not in (Below(), _ZERO)), part)


def _add_terms(node: Node, index: str, more: int) -> Node:
    """Return a tree whose sums of powers over an index have terms more, of exponents that are 0."""
    if isinstance(node, Sum):
        made = Sum(node.index, _add_terms(node.body, index, more))
        alone = node.index == index and isinstance(node.body, Apply) and node.body.name == "ex2"
        return Apply("+", (made, ClaimNumber(Fraction(more)))) if alone else made
    if not isinstance(node, Apply):
        return node
    return Apply(node.name, tuple(_add_terms(part, index, more) for part in node.parts))


def _without_factor(part: Apply) -> Node:
    """Return a power of 2 of what a power of e has as its exponent."""
    inner = part.parts[0]
    factor = isinstance(inner, Apply) and inner.name == "*" and isinstance(inner.parts[1], ClaimNumber)
    return Apply("ex2", (inner.parts[0],)) if factor and isinstance(inner, Apply) else part


def _keep(node: Node, more: Node, less: Node) -> Node:
    """Return a tree whose powers are 0 but where one index is above another."""
    return _change_each(node, "ex2", lambda part: Apply("where", (more, less, part, _ZERO)))


def _change_each(node: Node, name: str, change: Callable[[Apply], Node]) -> Node:
    """Return a tree with a change of each operation of a name."""
    if isinstance(node, Sum):
        return Sum(node.index, _change_each(node.body, name, change))
    if not isinstance(node, Apply):
        return node
    made = Apply(node.name, tuple(_change_each(part, name, change) for part in node.parts))
    return change(made) if node.name == name else made

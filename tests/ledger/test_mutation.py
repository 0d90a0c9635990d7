# SPDX-License-Identifier: Apache-2.0
"""No check is vacuous: a statement that holds is refuted once one of its numbers is changed.

The number is drawn with a fixed seed from the statement; where the change makes no difference (`i % 2` or `i % 3` for
i < 2) others are drawn. Statements without numbers have a twin that must be refuted.
"""

import re
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

import pytest

from layouts import LayoutError
from tests.ledger.ledger import KINDS, Claim, check, load

pytestmark = pytest.mark.slow

# The inputs of each kind that are the statement; the others are its subject.
STATEMENT = {
    "values": ["are"], "table": ["rows"], "stored": ["layout"], "equal": ["b"], "operation": ["result"],
    "number": ["is"], "prints": ["layout"], "digits": ["modes"], "linear": ["formula"], "of_index": ["formula"],
    "compatible": ["shape"], "rearranged": ["layout"], "tiles": ["rows", "columns"], "inverse": ["layout"],
    "product_of": ["whole"], "formula": ["row", "col"], "proved": ["layout"], "fragment": ["layout"],
    "drawing": ["rows"], "drawn_by": ["rows"], "once": ["rows"], "holds": ["elements"], "along": ["formula"],
    "distances": ["by"], "store": ["registers"], "fact": ["is"], "known": ["instruction"], "in_row": ["cells"],
    "participants": ["lanes"],
    "same_map": ["differs"], "observed": ["layout"], "even_steps": ["even"], "atom": ["is"],
    "bijective": ["row", "col"],
    "count": ["is"], "positions": ["are"], "accepted": ["yes"], "owners": ["rows"], "part": ["layout", "offset"],
    "derivation": ["gives"], "coordinates": ["formulas"], "index_arrays": ["rows", "columns"],
    "covered": ["rows", "columns"], "reads": ["are"],
    "choices": ["are"], "every_multiple": ["permutation"], "three_loops": ["loops"],
    "element": ["offset", "row", "column"], "arithmetic": ["is"], "loop": ["base", "stride"],
    "copy": ["source", "destination", "means"], "multiply": ["a", "b", "c"], "lines": ["touched"], "span": ["is"],
    "bank_conflicts": ["ways"], "vector": ["bits"], "runs": ["count", "length"], "permutation": ["formula"],
    "placed": ["rows"], "covers": ["step"],
}  # fmt: skip
TWINS: Mapping[str, Mapping[str, Any]] = {
    "no_stride": {"view": ["ab", "ef", "cd", "gh"]},
    "warps": {"family": "wgmma*"},
    "distributes": {"condition": "surjective"},
    "associative": {"inside": False},
    "identity": {"stride": 2},
    "refines": {"order": "B after A"},
    "product_is": {"order": "copies first"},
    "divide_is": {"order": "rest first"},
    "scaled_strides": {"rest": "a group"},
    "poset": {"relation": "proper"},
    "agrees": {"relation": "weakly congruent"},
}
OWN_MUTANTS = {"law"}  # the laws' own mutants are part of the check
DRAWS = 6
CLAIMS = load()


def changed(value: Any) -> Iterator[Any]:
    """The value with one of its numbers one larger or smaller, or a truth value negated."""
    match value:
        case bool():
            yield not value
        case int():
            yield from (value + 1, value - 1) if value else (1,)
        case str() if not re.search(r"\d", value):
            yield f"{value} + 1"
        case str():
            for digits in re.finditer(r"\d+", value):
                yield value[: digits.start()] + str(int(digits[0]) + 1) + value[digits.end() :]
        case list():
            for i, item in enumerate(value):
                yield from ([*value[:i], edited, *value[i + 1 :]] for edited in changed(item))


def mutants(claim: Claim) -> list[dict[str, Any]]:
    """The inputs of a statement that holds, each with one number changed, in a seeded order."""
    right = claim.right
    edited = [{**right, key: new} for key in STATEMENT[claim.kind] if key in right for new in changed(right[key])]
    Random(claim.id).shuffle(edited)
    return edited


def refuted(kind: str, given: Mapping[str, Any]) -> bool:
    """Whether the check finds a counterexample; a statement that has become meaningless does not count."""
    try:
        return check(kind, given) != ""
    except (LayoutError, ValueError, IndexError, KeyError):
        return False


@pytest.mark.parametrize("claim", [c for c in CLAIMS if c.kind in STATEMENT], ids=lambda claim: claim.id)
def test_a_changed_number_is_refuted(claim: Claim) -> None:
    drawn = mutants(claim)[:DRAWS]
    assert drawn, "no number to change"
    assert any(refuted(claim.kind, given) for given in drawn), drawn[0]


def test_every_kind_has_its_mutants() -> None:
    assert STATEMENT.keys() | TWINS.keys() | OWN_MUTANTS == KINDS.keys()
    assert not STATEMENT.keys() & TWINS.keys()


@pytest.mark.parametrize("kind", sorted(TWINS))
def test_a_twin_of_a_statement_without_numbers_is_refuted(kind: str) -> None:
    claim = next(c for c in CLAIMS if c.kind == kind)
    assert check(kind, {**claim.right, **TWINS[kind]}) != ""


@pytest.mark.parametrize(
    ("property_", "relation"),
    [("reflexive", "proper"), ("antisymmetric", "same size"), ("transitive", "few more lists"), ("minimal", "proper")],
)
def test_another_relation_lacks_the_property(property_: str, relation: str) -> None:
    assert check("poset", {"property": property_, "relation": relation}) != ""

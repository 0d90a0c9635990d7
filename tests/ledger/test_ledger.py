# SPDX-License-Identifier: Apache-2.0
"""Every statement of the ledger is evaluated; `LANECHECK_SNAPSHOTS=update pytest …` rewrites the pages."""

import os
from collections import Counter
from pathlib import Path

import pytest

from tests.ledger.ledger import KINDS, Claim, check, load, pages
from tests.ledger.pictures import pictures

CLAIMS = load()
DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.slow
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_the_verdict_is_that_of_the_check(claim: Claim) -> None:
    """A statement that holds has no counterexample; a refuted one has exactly this, and its correction has none."""
    counterexample = check(claim.kind, claim.given)
    assert claim.verdict in ("HOLDS", "REFUTED")
    assert bool(counterexample) == (claim.verdict == "REFUTED"), counterexample or "nothing refutes it"
    assert counterexample == claim.counterexample
    if claim.verdict == "REFUTED":
        assert claim.correct and claim.correct.keys() <= claim.given.keys()
        assert check(claim.kind, claim.right) == ""


def test_only_a_refuted_statement_is_corrected() -> None:
    assert not [claim.id for claim in CLAIMS if claim.verdict == "HOLDS" and (claim.correct or claim.counterexample)]


def test_every_kind_of_check_is_used_and_no_statement_is_repeated() -> None:
    assert {claim.kind for claim in CLAIMS} == set(KINDS)
    twice = Counter((claim.title, claim.at, claim.says) for claim in CLAIMS)
    assert [key for key, n in twice.items() if n > 1] == []


REFUTED = [claim for claim in CLAIMS if claim.verdict == "REFUTED"]


def test_each_refuted_statement_has_its_own_place_to_which_its_row_leads() -> None:
    assert len({claim.anchor for claim in REFUTED}) == len(REFUTED) > 90
    for claim in REFUTED:
        text = (DOCS / "teaching" / f"{claim.document}.md").read_text(encoding="utf-8")
        assert text.count(f'<a id="{claim.anchor}"></a>') == text.count(f"](#{claim.anchor})") == 1, claim.anchor


@pytest.mark.parametrize("claim", REFUTED, ids=lambda claim: claim.id)
def test_a_refuted_statement_has_both_pictures_or_says_why_not(claim: Claim) -> None:
    drawn = pictures(claim)
    assert (len(drawn) == 2) == (claim.undrawn == ""), [picture.title for picture in drawn]
    assert claim.undrawn.startswith("No picture: ") == (drawn == ())
    marked = [[cell for cell in picture.panels[0].every() if cell.expected] for picture in drawn]
    assert not marked or not marked[-1]
    if len(drawn) == 2 and claim.kind != "same_map":  # two instructions, of which the document says that they differ
        assert marked[0], "the pictures do not differ"


def test_only_few_statements_have_no_two_pictures() -> None:
    without = [claim for claim in CLAIMS if claim.undrawn]
    assert len(without) <= 5 and all(claim.verdict == "REFUTED" for claim in without)


def test_a_picture_marks_where_the_document_is_wrong() -> None:
    """The mixed layout of a slide has 21 and 22 the wrong way round."""
    (claim,) = (claim for claim in REFUTED if claim.id == "cute_slides/slide-e")
    marked = [(cell.text, cell.expected) for cell in pictures(claim)[0].panels[0].every() if cell.expected]
    assert marked == [("21", "22"), ("22", "21")]


def test_the_pages_are_current() -> None:
    made = pages(CLAIMS)
    for name, text in made.items():
        if os.environ.get("LANECHECK_SNAPSHOTS") == "update":
            (DOCS / name).write_text(text, encoding="utf-8")
        assert (DOCS / name).read_text(encoding="utf-8") == text
    assert {f"teaching/{path.name}" for path in (DOCS / "teaching").glob("*")} | {"teaching.md"} == made.keys()

# SPDX-License-Identifier: Apache-2.0
"""What is generated is what is committed, and a kind that is added makes it out of date."""

from __future__ import annotations

import pytest

from tests.project.generate import ROOT, list_generated, stale
from tests.verify.toy import TOY
from verify import kinds


@pytest.mark.long
def test_what_is_generated_is_committed() -> None:
    assert [str(path.relative_to(ROOT)) for path in stale()] == [], "run `make generate`"


def test_a_kind_that_is_added_is_generated() -> None:
    with kinds.register(TOY):
        made = {path.name for path, _ in list_generated()}
    assert made - {path.name for path, _ in list_generated()} == {"rotations.schema.json", "rotation.md"}

# SPDX-License-Identifier: Apache-2.0
"""Why an element is wrong: the CTA that wrote it is run again, and only a whole run explains anything."""

from __future__ import annotations

import pytest

from tests.verify.kernel.test_check import PRODUCT, one
from verify.kernel.interpretation import Interpretation
from verify.kernel.state.findings import Unclear


def test_a_cause_is_named_only_by_a_run_that_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong element's CTA is run again; if that run has no meaning, what it saw until then explains nothing."""
    wrong = PRODUCT.replace("ld.global.b32 %r11, [%d5+256]", "ld.global.b32 %r11, [%d5+16]")
    assert {"wrong operand", "wrong sum"} <= {each.kind for each in one(wrong).findings}
    run = Interpretation.run

    def end_early(self: Interpretation, only: int | None = None) -> None:
        run(self, only)
        if only is not None:
            raise Unclear(1, "no meaning in the second run")

    monkeypatch.setattr(Interpretation, "run", end_early)
    found = one(wrong)
    assert found.status == "REFUTED"
    assert not {"wrong operand", "wrong sum"} & {each.kind for each in found.findings}

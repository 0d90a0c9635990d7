# SPDX-License-Identifier: Apache-2.0
"""Why an element is wrong: the CTA that wrote it is run again, and only a whole run explains anything."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.kernels.compile import COMPILED
from tests.verify.kernel.test_check import PRODUCT, run_once
from verify.kernel.check import check
from verify.kernel.claims.claim import claim_of
from verify.kernel.claims.claim_file import read_claim
from verify.kernel.interpretation import Interpretation
from verify.kernel.state.findings import Unclear


def test_a_cause_is_named_only_by_a_run_that_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong element's CTA is run again; if that run has no meaning, what it saw until then explains nothing."""
    wrong = PRODUCT.replace("ld.global.b32 %r11, [%d5+256]", "ld.global.b32 %r11, [%d5+16]")
    assert {"wrong operand", "wrong sum"} <= {each.kind for each in run_once(wrong).findings}
    run = Interpretation.interpret

    def end_early(self: Interpretation, only: int | None = None) -> None:
        run(self, only)
        if only is not None:
            raise Unclear(1, "no meaning in the second run")

    monkeypatch.setattr(Interpretation, "interpret", end_early)
    outcome = run_once(wrong)
    assert outcome.status == "REFUTED"
    assert not {"wrong operand", "wrong sum"} & {each.kind for each in outcome.findings}


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (
            "{%r226,%r227}",
            "{%r226,%r226}",
            "in the product of Q and K, mma of the warp of CTA (0,0), thread 0: lane 0",
        ),
        ("{%r250,%r251}", "{%r250,%r250}", "in the product of P and V, where P holds the powers of the claim, mma of"),
        ("{%r250,%r251}", "{%r226,%r227}", "B holds K[h=0,n=0,k=0], an element of K; only those of P or V belong"),
        (
            "{%r246,%r247,",
            "{%r247,%r246,",
            "A register 2 low half holds P[h=0,m=0,n=8]; the instruction wants P[h=0,m=8,",
        ),
    ],
    ids=["scores", "values", "keys", "powers"],
)
def test_the_wrong_product_of_attention_is_named(old: str, new: str, text: str) -> None:
    """The line of the product, the lane and the element, of the scores and of what is multiplied by V."""
    kernel = (COMPILED / "attention_cuda.ptx").read_text()
    lines = [number for number, line in enumerate(kernel.splitlines(), 1) if old in line and "mma.sync" in line]
    edited = re.sub(rf"(mma.sync.*){re.escape(old)}", rf"\1{new}", kernel, count=1)
    (outcome,) = check(edited, read_claim(COMPILED / "attention_cuda.toml"), seed=2)
    cause = next(each for each in outcome.findings if each.kind == "wrong operand")
    assert outcome.status == "REFUTED" and text in cause.text and cause.line in range(lines[0] - 1, lines[0] + 1)


@pytest.mark.long
def test_an_attention_whose_products_are_right_has_no_wrong_operand() -> None:
    kernel, claim = ((COMPILED / f"attention_cuda.{end}").read_text() for end in ("ptx", "toml"))
    (outcome,) = check(kernel, claim_of(tomllib.loads(claim.replace("softmax_n(scale", "softmax_n(2 * scale"))), seed=2)
    assert outcome.status == "REFUTED" and "wrong operand" not in {each.kind for each in outcome.findings}

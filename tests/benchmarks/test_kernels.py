# SPDX-License-Identifier: Apache-2.0
"""Edits of kernels, and the reasons for which an accepted one may be accepted."""

from __future__ import annotations

import re

import pytest

from benchmarks.kernels import others
from benchmarks.kernels.campaign import Fate as KernelFate
from benchmarks.kernels.campaign import destinations, live, summary
from benchmarks.kernels.edits import Edit, body, drawn, planted
from verify.kernel.claim import claim_of

TEXT = """.entry k()
{
 add.s32 %r1, %r2, 4;
 add.s32 %r5, %r1, 1;
 mul.lo.s32 %r3, %r1, 2;
LOOP:
 setp.lt.s32 %p1, %r3, 9;
 @%p1 bra LOOP;
 bar.sync 0;
 st.shared.b32 [%r3], %r1;
 ret;
}
"""


def test_an_edit_changes_one_line() -> None:
    (edit,) = [edit for edit in planted(TEXT) if edit.sort == "barriers"]
    assert edit.on(TEXT) == TEXT.replace(" bar.sync 0;\n", "\n") and edit.line == 9
    assert "setp.lt.s32 %p1, %r3, 10;" in next(edit for edit in planted(TEXT) if edit.sort == "trips").new


def test_random_edits_are_repeatable_different_and_of_instructions() -> None:
    found = drawn(TEXT, 20, seed=3)
    assert found == drawn(TEXT, 20, seed=3) != drawn(TEXT, 20, seed=4)
    assert len({(edit.line, edit.new) for edit in found}) == 20
    lines = dict(body(TEXT))
    assert all(lines[edit.line] == edit.old and not re.search(r"\b(bra|ret)\b", edit.old) for edit in found)


def test_a_line_is_live_if_a_store_or_a_branch_depends_on_it() -> None:
    assert live(TEXT, frozenset()) == {3, 5, 7, 8, 9, 10, 11}
    assert live(TEXT, frozenset({10})) == {3, 5, 7, 8, 9, 11}


@pytest.mark.parametrize(
    ("line", "registers"),
    [
        ("add.s32 %r1, %r2, 4;", {"%r1"}),
        ("@%p1 mov.b32 %r9, %r8;", {"%r9"}),
        ("st.global.b32 [%rd1], %r2;", {"%rd1", "%r2"}),
    ],
)
def test_the_registers_that_an_instruction_writes(line: str, registers: set[str]) -> None:
    assert destinations(line) == registers


def test_the_summary_counts_what_has_no_reason() -> None:
    edit = Edit(1, "waits", "a", "")
    fates = [KernelFate("k", edit, "VERIFIED", ""), KernelFate("k", edit, "VERIFIED", "", "never ran")]
    assert [one.open for one in fates] == [True, False]
    assert summary([*fates, KernelFate("k", edit, "REFUTED", "x")]) == [
        "waits            3 edits: 1 open, 1 never ran, 1 REFUTED"
    ]


def test_the_claims_of_other_peoples_kernels_can_be_read() -> None:
    import tomllib

    projects = tomllib.loads(others.PROJECTS.read_text())
    claims = [claim_of(tomllib.loads(kernel["claim"])) for data in projects.values() for kernel in data["kernel"]]
    assert len(claims) >= 6 and all(claim.launches for claim in claims)

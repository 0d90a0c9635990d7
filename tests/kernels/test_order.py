# SPDX-License-Identifier: Apache-2.0
"""Rules of order: kernels with TMA, wgmma and mbarriers keep them, and each wrong twin is found by its rule."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache

import pytest

from tests.kernels import compile as corpus
from tests.messages import OTHER_PHASE, UNORDERED
from verify.kernel.check import LaunchOutcome, check
from verify.kernel.claims.claim import claim_of
from verify.kernel.state.findings import Severity


@dataclass(frozen=True)
class Twin:
    """A wrong twin: one place of a kernel's text exchanged, and what the first finding must be."""

    name: str
    kernel: str
    old: str
    new: str
    kind: str
    severity: Severity
    words: str  # in its text
    place: int = 0  # of the occurrences of `old`


SIZES = {"specialised": {"M": 128, "N": 64, "K": 448}, "tma_3": {"M": 64, "N": 64, "K": 320}}  # one CTA
RACE, STUCK, LETTER = Severity.RACE, Severity.STUCK, Severity.LETTER
ARRIVE = "mbarrier.arrive.shared::cta.b64 _, [%r83];"
FULL = """{
.reg .pred p;
AGAIN:
mbarrier.try_wait.parity.shared::cta.b64 p, [%r46], %r47;
@p bra DONE;
bra AGAIN;
DONE:
}"""
EMPTY = FULL.replace("%r46", "%r133").replace("%r47", "%r134")
OTHER, OVERRUN = OTHER_PHASE, "mbarrier overrun"
S, NAMED = "specialised", "bar.sync %r154, 128;"
QUICK = {"late-wait", "no-barrier", "no-empty-wait", "count-4"}
TWINS = (
    Twin("no-fence", S, "wgmma.fence.sync.aligned;", "", "no wgmma.fence", LETTER, "there is no wgmma.fence"),
    Twin("no-commit", S, "wgmma.commit_group.sync.aligned;", "", "wgmma on its way", RACE, "no wait_group since"),
    Twin("late-wait", S, "wait_group.sync.aligned 0", "wait_group.sync.aligned 1", "race: write after read", RACE,
         "which the wgmma of line 173 read"),
    Twin("no-full-wait", S, FULL, "", OTHER, RACE, "nothing orders it after the end of phase 0"),
    Twin("no-empty-wait", S, EMPTY, "", OTHER, RACE, "to which the copy engine contributes"),
    Twin("full-parity-fixed", S, "[%r46], %r47", "[%r46], 0", OTHER, RACE, "thread 128 arrives in phase 1"),
    Twin("full-parity", S, "and.b32  \t%r47, %r50, 1;", "not.b32 %r47, %r50; and.b32 %r47, %r47, 1;",
         "a wait for another phase", RACE, "when the parity says that the wait is over"),
    Twin("empty-parity", S, "not.b32 \t%r146, %r145;", "mov.u32 %r146, %r145;", "stuck threads", STUCK,
         "for parity 0, phase 0 lacks 8 of 8 arrivals"),
    Twin("count-7", S, "mov.u32 \t%r44, 8;", "mov.u32 %r44, 7;", OVERRUN, STUCK, "for 7"),
    Twin("count-4", S, "mov.u32 \t%r44, 8;", "mov.u32 %r44, 4;", OVERRUN, STUCK, "for 4"),
    Twin("count-9", S, "mov.u32 \t%r44, 8;", "mov.u32 %r44, 9;", "stuck threads", STUCK, "lacks 1 of 9 arrivals"),
    Twin("bytes", S, "mov.u32 \t%r136, 24576;", "mov.u32 %r136, 8192;", "stuck threads", STUCK,
         "16384 bytes more came than were expected"),
    Twin("other-stage", S, "add.s32 \t%r83, %r85, %r52;", "mov.u32 %r83, %r85;", OTHER, RACE, "phase 0"),
    Twin("relaxed", S, ARRIVE, ARRIVE.replace("arrive.", "arrive.relaxed.cta."), "tensor load not waited for", RACE,
         "fills"),
    Twin("no-proxy-fence", "wgmma", "fence.proxy.async;", "", "no proxy fence", LETTER, "no fence.proxy.async"),
    Twin("no-barrier", "tma_3", "bar.sync \t0;", "", "write after read by a part of a warpgroup", LETTER,
         "warps 1, 2, 3", 1),
    Twin("barrier-id", S, NAMED, "bar.sync 1, 128;", "barrier overrun", STUCK, "256 threads arrive"),
    Twin("count-96", S, NAMED, "bar.sync %r154, 96;", "barrier overrun", STUCK, "for 96"),
    Twin("count-144", S, NAMED, "bar.sync %r154, 144;", "barrier with a wrong count", STUCK, "144"),
    Twin("count-256", S, NAMED, "bar.sync %r154, 256;", "stuck threads", STUCK, "a barrier"),
    Twin("maxnreg-part", S, "setp.eq.s32 \t%p2, %r2, 0;", "setp.lt.s32 %p2, %r1, 160;",
         "setmaxnreg by a part of a warpgroup", STUCK, "another warp of its warpgroup"),
    Twin("maxnreg-many", S, "dec.sync.aligned.u32 40", "dec.sync.aligned.u32 56", "setmaxnreg of too many registers",
         STUCK, "to have 66560 registers"),
    Twin("maxnreg-twice", S, "setmaxnreg.inc.sync.aligned.u32 232;",
         "setmaxnreg.inc.sync.aligned.u32 216; setmaxnreg.inc.sync.aligned.u32 232;", "setmaxnreg without a barrier",
         LETTER, "no barrier of its warps"),
    Twin("no-named-barrier", S, NAMED, "", "race: read after write", RACE, UNORDERED),
)  # fmt: skip


@cache
def outcome(kernel: str, old: str = "", new: str = "", place: int = 0) -> LaunchOutcome:
    """The outcome of a kernel, one place of its text exchanged."""
    text = (corpus.COMPILED / f"{kernel}.ptx").read_text()
    parts = text.split(old) if old else [text]
    assert len(parts) > place + 1 or not old, f"{old!r} is not {place + 1} times in {kernel}"
    made = old.join(parts[: place + 1]) + new + old.join(parts[place + 1 :]) if old else text
    claim = tomllib.loads((corpus.COMPILED / f"{kernel}.toml").read_text())
    (judged,) = check(made, claim_of(claim | {"sizes": SIZES.get(kernel, claim["sizes"])}), seed=1)
    return judged


@pytest.mark.long
@pytest.mark.parametrize("kernel", ["specialised", "tma_3", "wgmma"])
def test_a_right_kernel_keeps_all_rules(kernel: str) -> None:
    assert (outcome(kernel).status, outcome(kernel).findings) == ("VERIFIED", ())


@pytest.mark.parametrize(
    "twin",
    [pytest.param(twin, id=twin.name, marks=() if twin.name in QUICK else pytest.mark.slow) for twin in TWINS],
)
def test_a_wrong_twin_is_found_by_its_rule(twin: Twin) -> None:
    judged = outcome(twin.kernel, twin.old, twin.new, twin.place)
    first = judged.findings[0]
    assert (first.kind, first.severity) == (twin.kind, twin.severity), judged.findings
    assert twin.words in first.text and first.line
    assert judged.status == ("VERIFIED" if twin.severity is LETTER else "REFUTED")

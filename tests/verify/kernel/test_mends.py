# SPDX-License-Identifier: Apache-2.0
"""What a race lacks is shown if the kernel with it is verified, and only then."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from verify.kernel.mends import insert_before
from verify.kernel.report import verify_kernel, verify_safety
from verify.kernel.state import findings
from verify.report import Report

HOME = Path(__file__).parent
KERNELS = HOME.parents[1] / "kernels/compiled"
ROWS = tomllib.loads((HOME.parents[2] / "verify/kernel/mends.toml").read_text(encoding="utf-8"))
LAUNCH = {
    "kernel": "turn", "grid": 1, "block": 64, "claim": "C[i] = A[i] + B[i]", "params": ["A", "B", "C"],
    "sizes": [{"I": 64}],
    "arrays": {name: {"dims": "i", "type": "f32", "out": name == "C"} for name in "ABC"},
}  # fmt: skip
TURN = """.version 8.0
.target sm_80
.address_size 64
.visible .entry turn(.param .u64 A, .param .u64 B, .param .u64 C)
{
.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>;
.shared .align 4 .b8 buf[256];
mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; mov.u32 %r2, 63; sub.u32 %r2, %r2, %r1; mul.wide.u32 %d2, %r2, 4;
ld.param.u64 %d3, [A]; ld.param.u64 %d4, [B]; ld.param.u64 %d5, [C];
add.u64 %d3, %d3, %d2; add.u64 %d4, %d4, %d2; add.u64 %d5, %d5, %d1;
shl.b32 %r3, %r1, 2; shl.b32 %r4, %r2, 2; mov.u32 %r5, buf; add.u32 %r3, %r3, %r5; add.u32 %r4, %r4, %r5;
ld.global.f32 %f1, [%d3]; ld.global.f32 %f2, [%d4];
st.shared.f32 [%r3], %f1;
bar.sync 0;
ld.shared.f32 %f3, [%r4];
bar.sync 0;
st.shared.f32 [%r3], %f2;
bar.sync 0;
ld.shared.f32 %f4, [%r4];
add.f32 %f5, %f3, %f4;
st.global.f32 [%d5], %f5;
ret;
}
"""  # each thread's element comes from the thread at the other end of the CTA, through shared memory, twice
LACKING = [(0, 15, "read after write"), (1, 17, "write after read"), (2, 19, "read after write")]


def without(text: str, number: int, ptx: str) -> str:
    """Return PTX without one of its instructions that begin so, counted from 0; the lines stay."""
    parts = ptx.split(text)
    assert number + 1 < len(parts)
    return text.join(parts[: number + 1]) + text.join(parts[number + 1 :]).partition(";")[2]


def repairs(report: Report) -> dict[str, str]:
    """Return by property the repairs that a report shows."""
    wrong = ((verdict.claim.prop.key, verdict.counterexample) for case in report.cases for verdict in case.verdicts)
    return {key: example.repair for key, example in wrong if example is not None}


def test_the_kernel_is_right() -> None:
    assert verify_kernel(TURN, LAUNCH, seed=1) and verify_safety(TURN, LAUNCH, seed=1)


@pytest.mark.parametrize(("number", "line", "race"), LACKING)
@pytest.mark.parametrize("verify", [verify_kernel, verify_safety])
def test_a_barrier_that_is_missing_is_named_with_the_line_before_which_it_belongs(
    number: int, line: int, race: str, verify: Callable[..., Report]
) -> None:
    report = verify(without("bar.sync", number, TURN), LAUNCH, seed=1)
    good = "verified" if verify is verify_kernel else "SAFE"
    words = f"a barrier: with bar.sync 0 (__syncthreads()) before line {line} the kernel is {good}"
    assert repairs(report) == {"order": words} and report.exit() == 1
    assert race in report.text() and f"\n  repair   {words}\n" in report.text()


def test_no_barrier_is_named_for_a_kernel_that_stays_wrong_with_it() -> None:
    broken = without("bar.sync", 0, TURN)
    for wrong in (broken.replace("add.f32", "sub.f32"), without("bar.sync", 1, broken)):
        report = verify_kernel(wrong, LAUNCH, seed=1)
        assert not report and not any(repairs(report).values()), report.text()


def test_a_barrier_that_is_missing_in_an_unrolled_loop_is_named_once() -> None:
    """Both reads are of one place of the source, so one barrier there is one before each of them."""
    text = TURN.replace("{\n", '.file 1 "turn.cu"\n{\n', 1).replace("ld.shared", ".loc 1 9 5\nld.shared")
    text = without("bar.sync", 1, without("bar.sync", 0, text))
    words = "a barrier: with bar.sync 0 (__syncthreads()) before turn.cu:9 (PTX lines 17, 22) the kernel is SAFE"
    assert repairs(verify_safety(text, LAUNCH, seed=1)) == {"order": words}
    elsewhere = text.replace(".loc 1 9", ".loc 1 8", 1)
    assert not any(repairs(verify_safety(elsewhere, LAUNCH, seed=1)).values())


def test_no_barrier_is_named_where_threads_would_wait_for_ever() -> None:
    text = without("bar.sync", 0, TURN).replace(
        "ld.shared.f32 %f3", "setp.lt.u32 %p1, %r1, 32; @%p1 bra LOW; bra ON;\nLOW:\nld.shared.f32 %f3"
    )
    text = text.replace("bar.sync 0;\nst.shared.f32 [%r3], %f2", "ON:\nbar.sync 0;\nst.shared.f32 [%r3], %f2").replace(
        ".reg .f32", ".reg .pred %p<2>; .reg .f32"
    )
    report = verify_safety(text, LAUNCH, seed=1)
    assert "race: read after write" in report.text() and not any(repairs(report).values())


@pytest.mark.long
def test_a_wait_that_is_missing_is_named() -> None:
    text = (KERNELS / "pipeline_3.ptx").read_text(encoding="utf-8")
    report = verify_safety(without("cp.async.wait_group", 0, text), KERNELS / "pipeline_3.toml", seed=1)
    assert "so too REFUTED every access lies in its array" in report.text()  # bytes that were not there yet
    assert repairs(report)["order"].startswith("a wait for cp.async, and a barrier: with cp.async.wait_all; bar.sync 0")


def test_every_row_is_of_a_kind_that_findings_have() -> None:
    texts = [path.read_text(encoding="utf-8") for path in Path(findings.__file__).parent.glob("*.py")]
    assert all(any(f'"{kind.removeprefix("race: ")}"' in text for text in texts) for kind in ROWS)


@pytest.mark.parametrize(
    ("line", "ptx", "wanted"),
    [
        (1, "ld.shared.f32 %f1, [%r1];", "X; ld.shared.f32 %f1, [%r1];"),
        (2, "a;\n\t@!%p1 st;\nb;", "a;\n\tX; @!%p1 st;\nb;"),
        (1, "$L__BB0_3: %r1;", "$L__BB0_3: X; %r1;"),
        (1, "ld.shared::cta.b32 %r1, [%r2];", "X; ld.shared::cta.b32 %r1, [%r2];"),
    ],
)
def test_instructions_are_put_before_a_line_and_behind_its_labels(line: int, ptx: str, wanted: str) -> None:
    assert insert_before([line], "X;", ptx) == wanted

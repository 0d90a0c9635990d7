# SPDX-License-Identifier: Apache-2.0
"""Edits of kernels, and the reasons for which an accepted one may be accepted."""

from __future__ import annotations

import os
import re
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from benchmarks.kernels import campaign, fates, meanings, others, reasons, score, silicon
from benchmarks.kernels.__main__ import THOROUGH, main
from benchmarks.kernels.campaign import CORPUS, MOST, Sample, planned
from benchmarks.kernels.edits import SORTS, Edit, body, drawn, planted
from benchmarks.kernels.fates import Fate, summary
from benchmarks.kernels.reasons import NOT_ASSEMBLED, SAME_PLACE, destinations, live, reason_of, written
from gpu_checks.model import DeviceInfo
from gpu_checks.record import Bench
from tests.kernels.compile import rows as corpus_rows
from tests.verify.kernel.test_command import CLAIM as PTX_CLAIM
from tests.verify.kernel.test_command import PTX
from verify.kernel.check import check
from verify.kernel.claims.claim import claim_of

PAGE = Path(__file__).parents[2] / "docs" / "kernel-score.md"
INFO = DeviceInfo("Fake", "sm_90a", "0", "0.0", "0.0")
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
    edits = drawn(TEXT, 20, seed=3)
    assert edits == drawn(TEXT, 20, seed=3) != drawn(TEXT, 20, seed=4)
    assert len({(edit.line, edit.new) for edit in edits}) == 20
    lines = dict(body(TEXT))
    assert all(lines[edit.line] == edit.old and not re.search(r"\b(bra|ret)\b", edit.old) for edit in edits)


def test_a_line_is_live_if_a_store_or_a_branch_depends_on_it() -> None:
    assert live(TEXT, frozenset()) == {3, 5, 7, 8, 9, 10, 11}
    assert live(TEXT, frozenset({10})) == {3, 5, 7, 8, 9, 11}


@pytest.mark.parametrize("effect", ["st.shared.b32 [%r5], 7;", "mbarrier.init.shared.b64 [%r5], 1;"])
def test_what_writes_memory_by_one_register_is_live(effect: str) -> None:
    assert live(TEXT.replace("bar.sync 0;", effect), frozenset()) >= {4, 9}


def test_a_line_of_several_instructions_makes_live_what_it_reads() -> None:
    text = TEXT.replace(" bar.sync 0;", " {.reg .pred p; setp.ne.b32 p, %r5, 0; @p bar.sync 0;}")
    assert 4 in live(text, frozenset())


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


@pytest.mark.parametrize(
    ("old", "new", "ends"),
    [
        ("add.s64 %d4, %d1, %d3;", "", True),  # an access of nothing: the rest is not executed
        ("add.s64 %d4, %d1, %d3;", "sub.s64 %d4, %d1, %d3;", True),
        ("add.f32 %f2, %f1, %f1;", "mul.f32 %f2, %f1, %f1;", False),  # known at the end alone
        ("mov.u32 %r1, %tid.x;", "mov.u32 %r1, 0;", False),  # a race may be withdrawn
        ("add.f32 %f2, %f1, %f1;", "add.rz.f32 %f2, %f1, %f1;", False),
    ],
)
def test_a_hasty_check_has_the_status_of_a_whole_one(old: str, new: str, ends: bool) -> None:
    edit = Edit(PTX.splitlines().index(old) + 1, "random", old, new)
    made = Fate("k", "", edit, check(edit.on(PTX), claim_of(tomllib.loads(PTX_CLAIM)))[0].status)
    if ends:
        with pytest.raises(reasons.Refuted):
            reasons.checked(edit, PTX, PTX_CLAIM)
        assert made.status == "REFUTED"
    else:
        assert reasons.checked(edit, PTX, PTX_CLAIM)[0].status == made.status


def test_one_process_does_its_tasks_itself_and_begins_none_after_the_time() -> None:
    made = Fate("k", "", Edit(1, "waits", "a", ""), "REFUTED")
    tasks = [(CORPUS / "none.ptx", number) for number in range(3)]
    assert list(campaign.campaign(lambda path, number: made, tasks, 1)) == [made] * 3
    assert list(campaign.campaign(lambda path, number: made, tasks, 1, seconds=-1)) == []


def test_the_summary_counts_what_has_no_reason() -> None:
    edit = Edit(1, "waits", "a", "")
    listed = [Fate("k", "", edit, "VERIFIED"), Fate("k", "", edit, "VERIFIED", "", "never ran")]
    assert [fate.open for fate in listed] == [True, False]
    assert summary([*listed, Fate("k", "", edit, "REFUTED", "x")]) == [
        "waits                3 edits: 1 rest, 1 never ran, 1 refuted"
    ]


def test_what_ptxas_rejects_is_not_counted() -> None:
    edit = Edit(1, "widths", "a", "b")
    taken, rejected = Fate("k", "", edit, "REFUTED"), Fate("k", "", edit, "VERIFIED", "", NOT_ASSEMBLED)
    assert taken.counted and not rejected.counted and not replace(taken, gpu=NOT_ASSEMBLED).counted
    assert summary([taken, rejected]) == ["widths               1 edits: 1 refuted"]
    assert "| k | 1 | 1 | 0 |" in score.page(score.count_fates([taken, rejected]))


def test_a_gpu_gives_a_reason_or_takes_one_away() -> None:
    edit = Edit(1, "waits", "a", "")
    same = Fate("k", "", edit, "VERIFIED", gpu="same output in 32 runs")
    assert not same.open and same.column == "same output"
    assert Fate("k", "", edit, "VERIFIED", reason="never ran", gpu="differs in 1 of 32 runs").column == "open"
    assert not Fate("k", "", edit, "REFUTED", gpu="differs").open


def test_a_file_of_edits_is_read_again_without_its_torn_line(tmp_path: Path) -> None:
    path, edit = tmp_path / "edits.jsonl", Edit(1, "waits", "a", "")
    first, second = Fate("k", "d", edit, "VERIFIED"), Fate("k", "e", edit, "REFUTED", "x")
    for fate in (first, second, replace(first, reason="never ran")):
        fates.append(path, fate)
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:40])
    assert list(fates.kept(path).values()) == [replace(first, reason="never ran"), second]
    assert path.read_bytes() == whole and fates.kept(tmp_path / "none") == {}


def test_edits_are_not_written_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["score", "-o", "-"])
    assert ended.value.code == 2 and "edits are kept in a file" in capsys.readouterr().err


def test_what_is_in_the_file_is_not_checked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["mutate", "simt_tn", "--thorough", "--random", "3", "--meanings", "0"]
    words += ["-o", str(tmp_path / "edits.jsonl")]
    plan = planned([CORPUS / "simt_tn.ptx"], [], Sample(0, 0, 0, 0), Sample(MOST, 3, 0, 1))
    for kernel, name, edit in plan:
        fates.append(tmp_path / "edits.jsonl", Fate(kernel, name, edit, "REFUTED", "x"))
    monkeypatch.setattr("benchmarks.kernels.campaign.unverified", lambda paths: [])
    monkeypatch.setattr("benchmarks.kernels.campaign.fate", None)  # must not be called
    assert main(words) == 0
    fates.append(tmp_path / "edits.jsonl", Fate(*plan[0][:2], plan[0][2], "VERIFIED"))
    assert main(words) == 1


def test_the_page_is_made_of_the_record_and_lists_what_is_left_and_what_was_read(tmp_path: Path) -> None:
    edit = Edit(7, "waits", " wait 1;", "")
    read = Edit(9, "waits", " cp.async.wait_group 2;", "")
    listed = [Fate("a", "", edit, "REFUTED", "x"), Fate("b", "", edit, "VERIFIED")]
    listed += [Fate("b", "", edit, "UNKNOWN", "line 3: %r5 is used"), Fate("triton_x", "", read, "VERIFIED")]
    made = score.count_fates(listed)
    score.write_score(made, tmp_path / "score.json")
    assert score.read_score(tmp_path / "score.json") == made
    lines = list(score.page(made))
    assert lines[0].startswith(
        "4 edits of 3 kernels, from 1 to 2 of each: 1 refuted (25.0 %), 1 unknown (25.0 %), 1 left"
    )
    assert lines[2:8] == [
        "| kernel | edits | refuted | unknown | read | rest |",
        "|---|---:|---:|---:|---:|---:|",
        "| a | 1 | 1 | 0 | 0 | 0 |",
        "| b | 2 | 0 | 1 | 0 | 1 |",
        "| triton_x | 1 | 0 | 0 | 1 | 0 |",
        "| all | 4 | 1 | 1 | 1 | 1 |",
    ]
    assert "- 1: # is used" in lines and "- The same wait stands on the next line." in lines
    assert lines[-1] == "- `b.ptx:7` waits: `wait 1;` > `(nothing)`"
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- score -->\nold\n<!-- /score -->\nafter\n")
    score.write_page(page, ["new"])
    assert page.read_text() == "before\n<!-- score -->\n\nnew\n\n<!-- /score -->\nafter\n"


def test_a_reading_excuses_its_edit_alone_and_no_gpu_that_differs() -> None:
    edit = Edit(7, "waits", " cp.async.wait_group 2;", "")
    accepted = Fate("triton_x", "", edit, "VERIFIED")
    assert accepted.column == fates.READ and not accepted.open
    for changed in (
        replace(accepted, kernel="mma_x"),
        replace(accepted, edit=replace(edit, new=" cp.async.wait_group 3;")),
        replace(accepted, edit=replace(edit, sort="random")),
        replace(accepted, gpu="differs in 1 of 32 runs"),
    ):
        assert changed.open, changed


@dataclass(frozen=True)
class FakeRun:
    """A job that ends in the way that it names."""

    how: str
    right: tuple[int, ...] = (1, 2)
    signature: None = None

    def on(self, bench: Bench) -> int:
        if self.how == "dies":
            os._exit(7)
        if self.how == "hangs":
            time.sleep(60)
        return {"same": 0, "differs": 3, "no code": -1}[self.how]


@dataclass(frozen=True)
class FakeGpu:
    """A machine on which the jobs above run."""

    info: DeviceInfo = INFO

    def open(self) -> None:
        """Nothing is opened."""

    def prepare(self, signatures: object) -> None:
        """Nothing is compiled."""


@pytest.mark.slow
def test_a_hang_or_a_death_on_the_gpu_is_of_one_edit_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    ways = ["same", "hangs", "differs", "dies", "no code", "same"]
    monkeypatch.setattr(silicon, "both", lambda path, fate, here, seeds, times: FakeRun(fate.edit.old))
    monkeypatch.setattr(silicon, "SECONDS", 3.0)
    tasks = [
        (CORPUS / "none.ptx", Fate("k", "", Edit(at, "waits", how, ""), "VERIFIED")) for at, how in enumerate(ways)
    ]
    answers = list(silicon.answered(tasks, INFO, 2, 4, factory=f"{__name__}:FakeGpu"))
    said = {fate.edit.line: fate.gpu for fate in answers}
    assert said[0] == said[5] == "same output in 8 runs" and said[2] == "differs in 3 of 8 runs"
    assert said[1].startswith("differs: no answer within 3 s") and said[3].startswith("differs: ")
    assert said[4] == "not assembled"


def test_a_kernel_for_a_later_gpu_is_made_for_this_one_unless_it_is_for_that_one_alone() -> None:
    for target, made in (("sm_120", "sm_90"), ("sm_90", "sm_90"), ("sm_80", "sm_80"), ("sm_100a", "sm_100a")):
        assert silicon.retargeted(f".version 8.7\n.target {target}\n", INFO) == f".version 8.7\n.target {made}\n"
    edit = Edit(1, "waits", "a", "")
    listed = [Fate("k", "", edit, "VERIFIED")]
    kernels = [CORPUS / "tma_3.ptx", CORPUS / "simt_tn.ptx"]
    older = list(silicon.runnable([(path, listed[0]) for path in kernels], INFO._replace(sm="sm_100a")))
    assert [path.stem for path, _ in older] == ["simt_tn"]


@pytest.mark.long
def test_a_line_that_writes_no_register_has_no_same_numbers() -> None:
    """A barrier or a wait writes none: what is written says nothing of it."""
    text = PTX.replace("ret;", "bar.sync 0;\nret;")
    lines = {line.split()[0]: number for number, line in body(text)}
    assert written(text, PTX_CLAIM, lines["bar.sync"]) == "" != written(text, PTX_CLAIM, lines["mov.u32"])


@pytest.mark.parametrize(
    ("old", "new", "equal"),
    [
        ("st.global.f32 [%d5], %f2;", "st.global.b32 [%d5], %f2;", True),
        ("st.global.f32 [%d5], %f2;", "st.global.f32 [%d5], %f1;", False),
        ("mov.f32 %f1, 0f00000000;", "neg.f32 %f1, 0f00000000; mov.f32 %f1, %f1;", True),  # -0 is 0
        ("mov.f32 %f1, 0f3F800000;", "neg.f32 %f1, 0f3F800000; mov.f32 %f1, %f1;", False),
    ],
)
def test_numbers_are_the_same_in_memory_and_at_the_end_of_a_line(old: str, new: str, equal: bool) -> None:
    text = PTX if old in PTX else PTX.replace("ld.global", f"{old}\nld.global")
    line = text.splitlines().index(old) + 1
    before, after = (written(each, PTX_CLAIM, line) for each in (text, text.replace(old, new)))
    assert before and (before == after) == equal


@pytest.mark.parametrize(
    ("variable", "reason"),
    [
        (".shared .align ALIGN .b8 buf[64];", ""),
        (".extern .shared .align ALIGN .b8 buf[];", SAME_PLACE),  # which begins where the CTA's memory does
    ],
)
def test_an_alignment_is_excused_if_the_variable_stays_where_it_was(
    variable: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reasons, "assembled", lambda text, edited: "")
    old, new = (variable.replace("ALIGN", size) for size in ("64", "4"))
    text, claim = PTX.replace(".entry", f"{old}\n.entry"), f"smem = 64\n{PTX_CLAIM}"
    edit = Edit(text.splitlines().index(old) + 1, "alignments", old, new)
    assert reason_of(text, claim, edit) == reason


def test_the_claims_of_other_peoples_kernels_can_be_read() -> None:
    projects = tomllib.loads(others.PROJECTS.read_text())
    claims = [claim_of(tomllib.loads(kernel["claim"])) for data in projects.values() for kernel in data["kernel"]]
    assert len(claims) >= 6 and all(claim.launches for claim in claims)


def tables(page: str, part: str) -> Iterator[list[list[str]]]:
    """The cells of each table of numbers between the marks of a part of the page."""
    made = page.partition(f"<!-- {part} -->")[2].partition(f"<!-- /{part} -->")[0]
    for match in re.finditer(r"(?:^\|.*\n)+", made, re.MULTILINE):
        yield [[cell.strip() for cell in line.strip("|\n").split("|")] for line in match[0].splitlines()]


def test_the_page_says_what_the_record_says_and_one_edit_in_a_hundred_is_left_at_most() -> None:
    record, made = score.read_score(), PAGE.read_text(encoding="utf-8")
    written = made.partition(score.MARKS[0])[2].partition(score.MARKS[1])[0].strip()
    assert written == "\n".join(score.page(record)).strip()
    assert set(record.names(1)) == {"random", *SORTS, *meanings.SORTS}
    assert len(record.left) == record.total(2, "open") <= record.total() // 100
    assert sum(map(len, record.read.values())) == record.total(2, fates.READ)
    assert sum(record.causes.values()) == record.total(2, "UNKNOWN") and not record.total(2, "crashed")
    known = {row.name for row in corpus_rows()} | {"half_sums_90", "tilelang_90"}  # of tests/verify/kernel
    assert set(record.names(0)) <= known


def test_the_edits_of_attention_are_those_of_the_record_and_one_in_a_hundred_is_left_at_most() -> None:
    record = score.read_score(score.ATTENTION)
    made = PAGE.with_name("attention.md").read_text(encoding="utf-8").partition(score.EDITS[0])[2]
    assert made.partition(score.EDITS[1])[0].strip() == "\n".join(score.page(record)).strip()
    assert record.total() >= 290 and record.names(1) == ["random"] and not record.total(2, "crashed")
    assert len(record.left) + record.total(2, fates.READ) <= record.total() // 100


@pytest.mark.long
def test_an_edit_that_spoils_another_output_is_not_accepted() -> None:
    """The claim of the backward pass is about the gradient by V; this store is one of that by K."""
    path = CORPUS / "attention_backward.ptx"
    text, claim = campaign.texts(path)
    line = next(
        number
        for number, text_line in enumerate(text.splitlines(), 1)
        if "st.global" in text_line and "%rd35" in text_line
    )
    edit = Edit(line, "random", text.splitlines()[line - 1], "")
    assert {finding.status for finding in reasons.checked(edit, text, claim)} == {"VERIFIED"}
    fate = campaign.check_others("attention_backward", edit, text, claim)
    assert fate is not None and fate.status == "REFUTED"
    nothing = Edit(line, "random", edit.old, edit.old)
    assert campaign.check_others("attention_backward", nothing, text, claim) is None


@pytest.mark.parametrize(
    ("part", "sorts", "kernels", "edits"),
    [("structure", {"random", *SORTS}, 60, 30), ("meanings", {*meanings.SORTS}, 15, 8)],
)
def test_the_tables_of_earlier_runs_agree(part: str, sorts: set[str], kernels: int, edits: int) -> None:
    """Each table's last row is the sum of the others, both have the same one, and what is left is listed."""
    page = PAGE.read_text(encoding="utf-8")
    by_kernel, by_class = tables(page, part)
    for head, _, *rows, last in (by_kernel, by_class):
        assert last[1:] == [str(sum(int(row[at]) for row in rows)) for at in range(1, len(head))]
        assert all(int(row[1]) == sum(map(int, row[2:])) for row in rows)
    assert by_kernel[0][1:] == by_class[0][1:] and by_kernel[-1] == by_class[-1]
    assert {row[0] for row in by_class[2:-1]} == sorts
    made, left = int(by_kernel[-1][1]), int(by_kernel[-1][-1])
    listed = page.partition(f"<!-- {part} -->")[2].partition(f"<!-- /{part} -->")[0]
    assert by_kernel[0][-1] == "rest" and len(re.findall(r"^- `\w+\.ptx:\d+`", listed, re.MULTILINE)) == left
    assert left <= made // 100
    counts = {row[0]: int(row[1]) for row in by_kernel[2:-1]}
    assert len(counts) >= kernels and min(counts.values()) >= edits
    if part == "structure":
        assert all(counts[name] >= 200 for name in THOROUGH)

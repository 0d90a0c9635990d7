# SPDX-License-Identifier: Apache-2.0
"""A run goes on where another one was interrupted: the result is the same, and no chunk is counted twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lanecheck.console.progress import Progress
from proofs.symbolic.attempt import Stopped
from verify.campaign import report, tasks
from verify.campaign import run as running
from verify.campaign.executors import InProcess
from verify.campaign.results import Results, open_results
from verify.campaign.run import CampaignRun, CountedPart, GoneError, LongError, check_minute, count_parts
from verify.campaign.spec import LawsSpec
from verify.campaign.tally import Tally, Wrong
from verify.campaign.tasks import CampaignPart, Implementation, parts
from verify.core.errors import UsageError

OURS = Implementation()
WRONG = Wrong(4, "coalesce(4:2)", "-> 4:1")
SPEC = LawsSpec(
    name="small", kind="laws", laws=("composition", "coalesce"), rank=2, size=4, extents=(2, 4), strides=(0, 1, 2)
)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "SIDE", 4)
    monkeypatch.setattr(tasks, "ROW", 4)


@contextmanager
def start_run(file: Path) -> Iterator[tuple[CampaignRun, Results, list[CampaignPart]]]:
    listed = parts(SPEC, OURS)
    with open_results(file) as results:
        yield CampaignRun(listed, results, OURS), results, listed


def finish_run(file: Path, pool: Executor | None = None, ask: Any = lambda *_: None) -> list[CountedPart]:
    with start_run(file) as (run, results, listed):
        run.go(pool or InProcess(), lambda: 1, Progress(run.cases, "cases", quiet=True), ask)
        return count_parts(listed, results, run.stopped)


class Ending(InProcess):
    """An executor that ends with an error after some chunks."""

    def __init__(self, chunks: int, error: BaseException) -> None:
        self.left, self.error = chunks, error

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        if not self.left:
            raise self.error
        self.left -= 1
        return super().submit(fn, *args, **kwargs)


def test_the_cases_are_all_counted_once(tmp_path: Path) -> None:
    known = finish_run(tmp_path / "r.jsonl")
    assert [counted.part.name for counted in known] == ["composition", "coalesce"]
    layouts = 2 * 3 + 3 * 3
    assert (
        [counted.tally.cases for counted in known] == [counted.part.cases for counted in known] == [layouts**2, layouts]
    )
    assert all(counted.done == len(counted.part.tasks) > 1 and counted.tally.confirmed for counted in known)


def test_a_chunk_of_several_blocks_has_all_its_cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = finish_run(tmp_path / "whole.jsonl")
    monkeypatch.setattr(tasks, "BLOCK", 5)  # cases: one layout with its four second ones
    assert finish_run(tmp_path / "blocks.jsonl") == whole


def test_chunks_that_leave_cases_out_are_no_pass(tmp_path: Path) -> None:
    counted = finish_run(tmp_path / "r.jsonl")[0]
    fewer = replace(counted.tally, cases=counted.tally.cases - 1, confirmed=counted.tally.confirmed - 1)
    assert (report.status(counted), report.status(replace(counted, tally=fewer))) == ("VERIFIED", "UNKNOWN")
    assert (
        report.why(replace(counted, tally=fewer))
        == f"{counted.tally.cases - 1} of {counted.tally.cases} cases are counted"
    )


@pytest.mark.parametrize("chunks", range(1, 16, 3))
def test_an_interrupted_run_goes_on_with_the_same_result(tmp_path: Path, chunks: int) -> None:
    whole = finish_run(tmp_path / "whole.jsonl")
    file = tmp_path / "r.jsonl"
    with pytest.raises(KeyboardInterrupt):
        finish_run(file, Ending(chunks, KeyboardInterrupt()))
    kept = file.read_bytes()
    assert finish_run(file) == whole
    assert file.read_bytes().startswith(kept)
    assert len(file.read_bytes().splitlines()) == sum(len(counted.part.tasks) for counted in whole)


def test_a_worker_that_has_gone_ends_a_run_with_its_results_kept(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    with pytest.raises(GoneError, match=r"the workers have gone \(BrokenProcessPool\)"):
        finish_run(file, Ending(5, BrokenProcessPool("gone")))
    assert len(file.read_bytes().splitlines()) >= 4
    assert finish_run(file) == finish_run(tmp_path / "whole.jsonl")


class Waiting(Executor):
    """Workers that come later: no chunk is done before `least` wait, or never."""

    def __init__(self, least: int) -> None:
        self.least = least
        self.waiting: list[tuple[Future[Any], Callable[[], Any]]] = []
        self.most = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.waiting.append((Future(), partial(fn, *args, **kwargs)))
        future = self.waiting[-1][0]
        self.most = max(self.most, len(self.waiting))
        if len(self.waiting) >= self.least:
            self.least = 0
            for each, call in self.waiting:
                each.set_result(call())
            self.waiting.clear()
        return future


class Counting(ThreadPoolExecutor):
    """A worker that begins late; `most` is how many chunks it was ever given at once."""

    def __init__(self) -> None:
        super().__init__(1, initializer=time.sleep, initargs=(0.2,))
        self.waiting: set[Future[Any]] = set()
        self.most = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future = super().submit(fn, *args, **kwargs)
        self.waiting.add(future)
        self.most = max(self.most, len(self.waiting))
        future.add_done_callback(self.waiting.discard)
        return future


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, 3])
def test_at_most_two_chunks_for_each_worker_are_in_flight(tmp_path: Path, workers: int) -> None:
    """What docs/campaign.md promises: these, and no more, are run again after an interruption."""
    with start_run(tmp_path / "r.jsonl") as (run, results, listed), Counting() as pool:
        assert len(run.todo) > 6 * workers
        run.go(pool, lambda: workers, Progress(run.cases, "cases", quiet=True), lambda *_: None)
        assert count_parts(listed, results, {}) == finish_run(tmp_path / "whole.jsonl")
    assert 0 < pool.most <= 2 * workers


def test_workers_that_come_later_work_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "LOOK", 0.01)
    there, pool = iter([1, 1, 3]), Waiting(6)
    with start_run(tmp_path / "r.jsonl") as (run, results, listed):
        run.go(pool, lambda: next(there, 3), Progress(run.cases, "cases", quiet=True), lambda *_: None)
        assert count_parts(listed, results, {}) == finish_run(tmp_path / "whole.jsonl")
    assert pool.most == 6  # not the two of one worker


def test_chunks_wait_for_a_worker_that_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "LOOK", 0.0)
    there = iter([1])
    with start_run(tmp_path / "r.jsonl") as (run, results, listed):
        run.go(InProcess(), lambda: next(there, 0), Progress(run.cases, "cases", quiet=True), lambda *_: None)
        assert count_parts(listed, results, {}) == finish_run(tmp_path / "whole.jsonl")


def test_workers_that_do_not_come_back_end_a_run_with_its_results_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "LOOK", 0.01)
    monkeypatch.setattr(running, "PATIENCE", 0.05)
    there = iter([1])
    with start_run(tmp_path / "r.jsonl") as (run, _, _), pytest.raises(GoneError, match="no worker was there for"):
        run.go(Waiting(1000), lambda: next(there, 0), Progress(run.cases, "cases", quiet=True), lambda *_: None)


def test_a_part_that_was_stopped_is_never_a_pass_and_keeps_what_it_refuted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def stopping(task: Any, *_: str) -> Tally | Stopped:
        asked.append(task)
        first = sum(earlier.law == task.law for earlier in asked) == 1
        return Tally(task.cases, task.cases - 1, 1, smallest=WRONG) if first else Stopped("it took too long")

    monkeypatch.setattr(running, "work", stopping)
    known = finish_run(tmp_path / "r.jsonl")
    assert [(counted.done, counted.stopped, counted.tally.smallest) for counted in known] == [
        (1, "it took too long", WRONG)
    ] * 2
    assert [report.status(counted) for counted in known] == ["REFUTED"] * 2
    assert len(asked) < sum(len(counted.part.tasks) for counted in known)  # the rest of a stopped part is left out
    assert [report.status(replace(counted, tally=Tally(2, 2))) for counted in known] == ["UNCHECKED"] * 2


def test_an_error_of_a_chunk_is_that_of_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise UsageError("a worker has other code than this process")

    monkeypatch.setattr(running, "work", failing)
    with pytest.raises(UsageError, match="other code"):
        finish_run(tmp_path / "r.jsonl")


def test_a_worker_with_other_code_is_rejected() -> None:
    part = parts(SPEC, OURS)[0]
    with pytest.raises(UsageError, match="a worker has other code than this process"):
        tasks.work(part.tasks[0], "another digest")


def test_keys_differ_by_code_and_spec_and_not_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def keys(spec: LawsSpec) -> list[str]:
        return [part.key for part in parts(spec, OURS)]

    before = keys(SPEC)
    assert keys(replace(SPEC, name="another")) == before
    assert keys(replace(SPEC, laws=("coalesce", "composition"))) == before[::-1]
    assert not {*keys(replace(SPEC, strides=(0, 1)))} & {*before}
    monkeypatch.setattr(tasks.code, "digest", lambda *_: "another digest")
    assert not {*keys(SPEC)} & {*before}


def test_results_of_other_code_are_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "r.jsonl"
    whole = finish_run(file)
    monkeypatch.setattr(tasks.code, "digest", lambda *_: "another digest")
    with start_run(file) as (run, results, listed):
        assert [counted.done for counted in count_parts(listed, results, {})] == [0, 0]
        assert len(run.todo) == sum(len(counted.part.tasks) for counted in whole)


def test_the_time_left_is_estimated_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "MEASURED", 0.0)
    asked: list[tuple[int, float, float]] = []
    finish_run(tmp_path / "r.jsonl", ask=lambda *given: asked.append(given))
    assert len(asked) == 1 and 0 < asked[0][0] < 15**2 + 15 and asked[0][1] > 0


def test_chunks_that_take_a_minute_do_not_keep_the_question_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "MINUTE", 0.1)
    monkeypatch.setattr(running, "LOOK", 0.01)
    with (
        start_run(tmp_path / "r.jsonl") as (run, *_),
        pytest.raises(LongError, match="240 cases are left, and no chunk was done"),
    ):
        run.go(Waiting(1000), lambda: 1, Progress(run.cases, "cases", quiet=True), check_minute)


def test_more_than_a_minute_is_rejected_and_less_is_not() -> None:
    check_minute(6000, 100.0)
    with pytest.raises(LongError, match=r"^6001 cases are left, about 1 minute at 100 a second: --yes runs them all$"):
        check_minute(6001, 100.0)


def test_the_seconds_so_far_count() -> None:
    check_minute(5800, 100.0, 2.0)
    with pytest.raises(LongError):
        check_minute(5801, 100.0, 2.0)
    with pytest.raises(LongError, match=r"^1 cases are left"):
        check_minute(1, 100.0, 61.0)
    check_minute(0, 100.0, 61.0)


def test_chunks_are_run_in_one_order_that_mixes_them(tmp_path: Path) -> None:
    with start_run(tmp_path / "r.jsonl") as (run, results, listed):
        again = running.list_left(listed, results)
        assert run.todo == again != sorted(again)

# SPDX-License-Identifier: Apache-2.0
"""The watched worker: one bad probe is marked with its reason, the others are answered."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import pairwise

import pytest

from gpu_checks.model import Unavailable
from gpu_checks.worker import OPENING, Worker, WorkerError
from tests.gpu_checks.fake_probes import Answer, Misbehave, Opened

pytestmark = pytest.mark.slow

IDLE = "tests.gpu_checks.fake_probes:idle"


def outcomes(jobs, **options):
    with Worker(IDLE, **options) as worker:
        return list(worker.run_jobs(jobs))


def test_answers_come_in_order_from_one_process_that_is_not_ours():
    with Worker(IDLE) as worker:
        first = list(worker.run_jobs([Answer(n) for n in range(5)]))
        second = list(worker.run_jobs([Answer(9)]))
    assert [(index, number) for index, (number, _) in first] == [(n, n) for n in range(5)]
    processes = {pid for _, (_, pid) in first + second}
    assert len(processes) == 1 and os.getpid() not in processes


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("exit", "the probe process ended with exit code 7: last words"),
        ("crash", "the probe process ended with signal 11: a library that prints to standard output"),
        ("fault", "an illegal instruction was encountered"),
    ],
)
def test_a_probe_that_breaks_its_process_is_marked_and_a_new_process_goes_on_behind_it(how, reason):
    answers = dict(outcomes([Answer(0), Misbehave(how), Answer(2), Misbehave(how), Answer(4)]))
    assert list(answers) == [0, 1, 2, 3, 4]
    assert answers[1] == answers[3] == Unavailable(reason)
    assert [answers[n][0] for n in (0, 2, 4)] == [0, 2, 4]
    assert len({answers[n][1] for n in (0, 2, 4)}) == 3


def test_a_probe_that_hangs_is_ended_after_its_time():
    answers = dict(outcomes([Answer(0), Misbehave("hang"), Answer(2)], timeout=3))
    assert answers[1] == Unavailable("no answer within 3 s; the probe process was ended")
    assert answers[2][0] == 2


def test_a_rejection_leaves_the_process_as_it_is():
    answers = dict(outcomes([Answer(0), Misbehave("reject"), Answer(2)]))
    assert answers[1] == Unavailable("the assembler does not know it")
    assert answers[0][1] == answers[2][1]


def test_a_bad_argument_is_raised_in_the_calling_process():
    with pytest.raises(ValueError, match="the map is upside down"):
        outcomes([Misbehave("value")])


def test_a_defect_of_a_probe_is_raised_with_its_place_and_never_taken_for_a_missing_gpu():
    with pytest.raises(WorkerError, match="ZeroDivisionError"):
        outcomes([Answer(0), Misbehave("divide")])


def test_answers_that_were_not_waited_for_are_not_those_of_the_next_call():
    with Worker(IDLE) as worker:
        index, (number, _) = next(iter(worker.run_jobs([Answer(n) for n in range(5)])))
        assert (index, number) == (0, 0)
        assert [number for _, (number, _) in worker.run_jobs([Answer(8), Answer(9)])] == [8, 9]


def test_without_a_machine_every_probe_is_unavailable_for_its_reason():
    with Worker("tests.gpu_checks.fake_probes:none") as worker:
        answers = list(worker.run_jobs([Answer(0), Answer(1)]))
        assert worker.device == Unavailable("no GPU in this test")
    assert answers == [(n, Unavailable("no GPU in this test")) for n in (0, 1)]


def test_a_machine_that_cannot_be_opened_is_unavailable_for_its_reason():
    with Worker("tests.gpu_checks.fake_probes:full") as worker:
        answers = list(worker.run_jobs([Answer(0), Answer(1)]))
    assert answers == [(n, Unavailable("CUDA_ERROR_OUT_OF_MEMORY: out of memory")) for n in (0, 1)]


def test_machines_are_opened_one_after_the_other():
    with ExitStack() as stack, ThreadPoolExecutor(4) as pool:
        workers = [stack.enter_context(Worker(IDLE)) for _ in range(4)]
        times = sorted(pool.map(lambda worker: next(worker.run_jobs([Opened()]))[1], workers))
    assert all(end <= start for (_, end), (start, _) in pairwise(times))


def test_a_process_that_dies_in_its_turn_does_not_delay_others():
    with Worker("tests.gpu_checks.fake_probes:dying") as first, Worker(IDLE) as second:
        answers = list(first.run_jobs([Answer(0), Answer(1)]))
        assert answers == [(n, Unavailable("the probe process ended with exit code 9")) for n in (0, 1)]
        assert next(second.run_jobs([Answer(7)]))[1][0] == 7


def test_a_worker_does_not_wait_for_ever_for_its_turn():
    with OPENING, Worker(IDLE, start=3) as worker:
        answers = list(worker.run_jobs([Answer(0)]))
    assert answers == [(0, Unavailable("others took longer than 3 s to open a CUDA context"))]


def test_a_worker_that_is_ended_from_another_thread_answers_and_starts_nothing_more():
    with Worker(IDLE) as worker, ThreadPoolExecutor(1) as pool:
        answers = worker.run_jobs([Answer(0), Misbehave("hang"), Answer(2)])
        assert next(answers)[1][0] == 0
        rest = pool.submit(list, answers)
        time.sleep(0.5)
        worker.end()
        late = dict(rest.result())  # the hang is ten minutes
    assert late[1].reason.startswith("the probe process ended with signal 9")
    assert late[2] == worker.device == Unavailable("the probing was ended")


def test_a_machine_that_cannot_be_made_is_a_defect():
    with Worker("tests.gpu_checks.fake_probes:broken") as worker, pytest.raises(WorkerError, match="text file"):
        list(worker.run_jobs([Answer(0)]))


def test_a_process_that_never_starts_is_reported():
    with Worker("tests.gpu_checks.fake_probes:idle", start=0.0) as worker:
        answers = list(worker.run_jobs([Answer(0)]))
    assert answers == [(0, Unavailable("no answer within 0 s; the probe process was ended"))]


def test_no_process_outlives_the_worker():
    with Worker(IDLE) as worker:
        ((_, (_, process)),) = worker.run_jobs([Answer(0)])
        os.kill(process, 0)
    with pytest.raises(ProcessLookupError):  # it is killed at once, and waited for in another thread
        while True:
            os.kill(process, 0)
            time.sleep(0.01)

# SPDX-License-Identifier: Apache-2.0
"""A process that runs many probes, and the parent that watches it.

A trap or an illegal access spoils the CUDA context of the whole process, and a hung kernel never returns.
So probes run in a child: when it reports a fault, dies or does not answer in time, the probe it was at is
marked with the reason and a new child goes on behind it.
"""

from __future__ import annotations

import importlib
import os
import pickle
import queue
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any, Protocol, Self

from gpu_checks.inference.product import Maps, multiply_on
from gpu_checks.model import DeviceFault, DeviceInfo, Unavailable, Unsupported, WorkerError
from gpu_checks.record import Bench, record, require
from gpu_checks.recording import Move, Recording
from isa_tables.signature import Signature

FACTORY = "gpu_checks.device.gpu:machine"
OPENING = threading.Lock()  # contexts opened at once delay each other: none is ready before the last
_ALONE = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")  # there are other processes


class Job(Protocol):
    """One probe, sent to the child and run there."""

    @property
    def signature(self) -> Signature | None:
        """The instruction whose kernel it will need, None where it brings its own."""

    def on(self, bench: Bench) -> Any:
        """Do it; Unsupported or DeviceFault where it cannot be done."""


@dataclass(frozen=True, slots=True)
class Relate:
    """Record the relation of an instruction."""

    signature: Signature
    trials: int = 64
    seed: int = 0

    def on(self, bench: Bench) -> Recording | Move:
        """Return the recording."""
        return record(bench, self.signature, self.trials, self.seed)


@dataclass(frozen=True, slots=True)
class Multiply:
    """Multiply random matrices through given maps."""

    signature: Signature
    maps: Maps
    trials: int = 64
    seed: int = 0

    def on(self, bench: Bench) -> int:
        """Return the number of wrong D elements."""
        require(bench.machine, self.signature)
        return multiply_on(bench.machine, self.signature, self.maps, self.trials, self.seed)


def reported_defect(error: Exception) -> WorkerError:
    """Return the error of a worker's process as its parent raises it: its first line, then the traceback."""
    what = str(error).partition("\n")[0]
    return WorkerError(f"{type(error).__name__}: {what}\n{traceback.format_exc()}")


class Worker:
    """Runs probes in a child process, for as long as the `with` block lasts, which starts it.

    `timeout` is how long one probe may take in seconds, its compilation included; `start` how long the child
    may take to find the GPU, to wait for its turn, and to open the GPU: each.
    """

    def __init__(self, factory: str = FACTORY, timeout: float = 60.0, start: float = 120.0) -> None:
        self.device: DeviceInfo | Unavailable | None = None  # known once the first job was sent
        self._factory, self._timeout, self._start = factory, timeout, start
        self._child: _Child | None = None
        self._starting: _Child | None = None  # of which it is not known yet whether it found a GPU
        self._over = threading.Event()

    def __enter__(self) -> Self:
        self._starting = _Child(self._factory)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    @property
    def usable(self) -> bool:
        """Whether it has a machine, as far as is known."""
        return not isinstance(self.device, Unavailable)

    def end(self) -> None:
        """Close for good, from any thread: what is under way in another one is answered with Unavailable."""
        self._over.set()
        self.close()

    def close(self) -> None:
        """End the child process."""
        for child in (self._child, self._starting):
            if child is not None:
                child.stop()
        self._child = self._starting = None

    def run_jobs(self, jobs: Sequence[Job], ahead: Sequence[Signature] = ()) -> Iterator[tuple[int, Any]]:
        """Yield (index, result) for every job in order; Unavailable for one that could not be probed.

        `ahead` are the instructions of the next call: they are compiled and disassembled meanwhile.

        ValueError as the probe raised it; WorkerError for any other error that the probes do not foresee.
        """
        done = 0
        try:
            while done < len(jobs):
                child = self._child or self._launch()
                if isinstance(child, Unavailable):
                    yield from ((index, child) for index in range(done, len(jobs)))
                    return
                child.send(jobs[done:], ahead)
                for index in range(done, len(jobs)):
                    kind, result = child.receive(self._timeout)
                    if kind == "bug":
                        raise result
                    done = index + 1
                    if kind == "gone":
                        self.close()
                    yield index, result
                    if kind == "gone":
                        break
        finally:
            if done < len(jobs):  # answers still under way must not be taken for those of the next call
                self.close()

    def _launch(self) -> _Child | Unavailable:
        if self._over.is_set():
            self.device = Unavailable("the probing was ended")
            return self.device
        child = self._starting = self._starting or _Child(self._factory)
        kind, result = child.receive(self._start)
        if kind == "found":
            kind, result = self._open(child)
        self._starting = None
        if kind == "bug":
            child.stop()
            raise result
        self.device = result
        if isinstance(result, Unavailable):
            child.stop()
            return result
        self._child = child
        if self._over.is_set():  # set since the child began: `end` has not ended this one
            self.close()
        return child

    def _open(self, child: _Child) -> tuple[str, Any]:
        """Let the child open its machine when it is its turn: for as long as the one before may take, it waits."""
        if not OPENING.acquire(timeout=self._start):
            return "gone", Unavailable(f"others took longer than {self._start:g} s to open a CUDA context")
        try:
            child.send()
            return child.receive(self._start)
        finally:
            OPENING.release()


class _Child:
    """The watched process: jobs go to its input, answers come from its output, both pickled."""

    def __init__(self, factory: str) -> None:
        self._stderr = tempfile.TemporaryFile()
        path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from gpu_checks.worker import main; main()", factory],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env={**_ALONE, **os.environ, "PYTHONPATH": path},
        )
        self._answers: queue.SimpleQueue[tuple[str, Any] | None] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None  # it was opened as a pipe
        try:
            while True:
                self._answers.put(pickle.load(self._process.stdout))
        except Exception:  # the end of the output, or half an answer of a process that died
            self._answers.put(None)

    def send(self, jobs: Sequence[Job] = (), ahead: Sequence[Signature] = ()) -> None:
        """Send jobs and the instructions of the next ones; once the child is gone, `receive` returns "gone" and why."""
        assert self._process.stdin is not None
        with suppress(OSError, ValueError):  # closed, where another thread has stopped it
            pickle.dump((list(jobs), list(ahead)), self._process.stdin)
            self._process.stdin.flush()

    def receive(self, timeout: float) -> tuple[str, Any]:
        """Return the next answer; "gone" with the reason when there will be no more."""
        try:
            answer = self._answers.get(timeout=timeout)
        except queue.Empty:
            return "gone", Unavailable(f"no answer within {timeout:g} s; the probe process was ended")
        if answer is None:
            return "gone", Unavailable(self._exit_reason())
        return answer

    def _exit_reason(self) -> str:
        code = self._process.wait()
        lines: list[str] = []
        with suppress(ValueError):  # likewise
            self._stderr.seek(0)
            lines = self._stderr.read().decode(errors="replace").splitlines()
        last = f": {lines[-1].strip()}" if lines else ""
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return f"the probe process ended with {how}{last}"

    def stop(self) -> None:
        """End the process. Another thread waits for its end: it takes a second to release a context."""
        self._process.kill()
        threading.Thread(target=self._reap, daemon=True).start()

    def _reap(self) -> None:
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._stderr):
            if stream is not None:
                with suppress(OSError):  # unsent bytes for a process that is gone
                    stream.close()


def serve(factory: str, source: IO[bytes], sink: IO[bytes]) -> None:
    """Serve as the child: report the machine, open it when its turn comes, then answer lists of jobs to the end."""

    def answer(kind: str, result: object) -> None:
        pickle.dump((kind, result), sink)
        sink.flush()

    try:
        module, _, name = factory.partition(":")
        machine = getattr(importlib.import_module(module), name)()
        if not isinstance(machine, Unavailable):
            answer("found", machine.info)
            pickle.load(source)  # comes when it is its turn
            machine.open()
    except DeviceFault as fault:
        machine = Unavailable(str(fault))
    except Exception as error:
        answer("bug", reported_defect(error))
        return
    if isinstance(machine, Unavailable):
        answer("ready", machine)
        return
    answer("ready", machine.info)
    bench = Bench(machine)
    while True:
        try:
            jobs: list[Job]
            ahead: list[Signature]
            jobs, ahead = pickle.load(source)
        except EOFError:
            return
        machine.prepare([signature for job in jobs if (signature := job.signature) is not None])
        machine.prepare(ahead)
        for job in jobs:
            kind, result = _attempt(job, bench)
            answer(kind, result)
            if kind != "done":
                return


def _attempt(job: Job, bench: Bench) -> tuple[str, object]:
    try:
        return "done", job.on(bench)
    except Unsupported as error:
        return "done", Unavailable(str(error))
    except DeviceFault as fault:
        return "gone", Unavailable(str(fault))
    except ValueError as error:
        return "bug", error
    except Exception as error:
        return "bug", reported_defect(error)


def main() -> None:
    """Serve on standard input and output; all other output goes to standard error, unbuffered."""
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    serve(sys.argv[1], sys.stdin.buffer, sink)

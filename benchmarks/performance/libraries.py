# SPDX-License-Identifier: Apache-2.0
"""The libraries that are compared, and the process in which each runs."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PATIENCE = 300.0  # seconds beyond the CPU seconds that an answer may take


@dataclass(frozen=True, slots=True)
class Library:
    """A library, how to install it, and what it computes."""

    name: str
    adapter: str  # the file in `adapters`
    distribution: str
    install: str  # the command
    ways: tuple[str, ...]  # to evaluate a whole domain
    operations: tuple[str, ...]
    ours: bool = False  # runs in this interpreter


OPERATIONS = ("composition", "complement", "right_inverse", "coalesce", "logical_divide")
NUMPY = Library("numpy", "numpy", "numpy", "pip install numpy", ("divmod chain",), (), True)
PYCUTE = Library("pycute", "pycute", "nvidia-cutlass", "pip install --no-deps nvidia-cutlass",
                 ("one at a time",), OPERATIONS)  # fmt: skip
LIBRARIES = (
    Library("Lanecheck", "lanecheck", "lanecheck", "pip install -e .",
            ("batched", "batched, in blocks", "one at a time"), OPERATIONS, True),
    NUMPY,
    Library("CuTe DSL", "cutlass_dsl", "nvidia-cutlass-dsl", "pip install nvidia-cutlass-dsl",
            ("compiled for the CPU",), OPERATIONS),
    Library("Triton's LinearLayout", "triton", "triton", "pip install triton",
            ("one at a time",), ("composition", "right_inverse")),
    Library("tensor-layouts", "tensor_layouts", "tensor-layouts", "pip install tensor-layouts",
            ("one at a time",), OPERATIONS),
    PYCUTE,
)  # fmt: skip


class Failed(Exception):
    """A request without a result, and why."""


@dataclass
class Running:
    """A library in a process of its interpreter; started anew after it has ended."""

    peer: Library
    python: str
    process: Any = field(init=False, default=None)
    version: str = field(init=False, default="")
    missing: str = field(init=False, default="")  # why it cannot be used

    def __post_init__(self) -> None:
        try:
            self._start()
        except Failed as failed:
            self.missing = str(failed)

    def ask(self, patience: float = PATIENCE, **request: Any) -> dict[str, Any]:
        """The answer to a request; Failed where there is none."""
        if self.process is None:
            self._start()
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        answer = self._answer(patience)
        if "failed" in answer:
            raise Failed(answer["failed"])
        return answer

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def _start(self) -> None:
        adapter = HERE / "adapters" / f"{self.peer.adapter}.py"
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        if self.peer.ours:
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), environment.get("PYTHONPATH"))))
        words = [self.python, str(HERE / "child.py"), str(adapter), self.peer.distribution]
        try:
            self.process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
            )
        except OSError as error:
            raise Failed(f"{self.python}: {error.strerror}") from None
        greeting = self._answer(PATIENCE)
        if "missing" in greeting:
            self.close()
            raise Failed(greeting["missing"])
        self.version = greeting["version"]

    def _answer(self, patience: float) -> dict[str, Any]:
        """The next line of the process; Failed where it ends, or takes too long."""
        if not select.select([self.process.stdout], [], [], patience)[0]:
            self.close()
            raise Failed(f"no answer within {patience:g} s")
        line = self.process.stdout.readline()
        if not line.endswith(b"\n"):
            self.process.wait()
            code = self.process.returncode
            self.close()
            raise Failed(f"its process ended with {f'signal {-code}' if code < 0 else f'exit code {code}'}")
        answer: dict[str, Any] = json.loads(line)
        return answer


def start(python: str) -> list[Running]:
    """Every library, ours in this interpreter and the others in the one that is named."""
    return [Running(peer, sys.executable if peer.ours else python) for peer in LIBRARIES]

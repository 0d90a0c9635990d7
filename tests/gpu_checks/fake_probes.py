# SPDX-License-Identifier: Apache-2.0
"""Machines and jobs for the watched worker, importable by its child process."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gpu_checks.model import DeviceFault, DeviceInfo, Unavailable, Unsupported
from isa_tables.signature import Signature, mnemonics, signature
from tests.gpu_checks.simulated import INFO, Simulated, random_maps

ANY = signature("dp4a.s32.s32")


@dataclass
class Idle:
    """A machine that runs nothing."""

    info: DeviceInfo = INFO
    opened: tuple[float, ...] = ()

    def open(self) -> None:
        start = time.monotonic()
        time.sleep(0.1)
        self.opened = (start, time.monotonic())

    def prepare(self, signatures: list[Signature]) -> None:
        print("a library that prints to standard output")


def idle() -> Idle:
    return Idle()


class Full(Idle):
    """A machine that cannot be opened."""

    def open(self) -> None:
        raise DeviceFault("CUDA_ERROR_OUT_OF_MEMORY: out of memory")


def full() -> Full:
    return Full()


class Slow(Simulated):
    """A machine whose every table takes a minute; the file $BEGUN shows that one was begun."""

    def table(self, signature: Signature) -> np.ndarray:
        if "BEGUN" in os.environ:
            Path(os.environ["BEGUN"]).touch()
        time.sleep(60)
        return super().table(signature)


def slow() -> Slow:
    return Slow(simulated().maps)


class Dying(Idle):
    """A machine whose process dies when it is opened."""

    def open(self) -> None:
        os._exit(9)


def dying() -> Dying:
    return Dying()


class Scarce(Simulated):
    """A machine that one process alone can open."""

    def open(self) -> None:
        try:
            os.close(os.open(os.environ["TAKEN"], os.O_CREAT | os.O_EXCL))
        except FileExistsError as error:
            raise DeviceFault("CUDA_ERROR_OUT_OF_MEMORY: out of memory") from error


def scarce() -> Scarce:
    return Scarce(simulated().maps)


def none() -> Unavailable:
    return Unavailable("no GPU in this test")


def broken() -> Idle:
    raise OSError("libcuda is a text file")


def simulated() -> Simulated:
    """Small instructions with elements distributed at random."""
    random = np.random.default_rng(5)
    small = [signature(name) for name in mnemonics() if name.startswith(("dp", "mma.sync.aligned.m8n8k4"))]
    return Simulated({s.mnemonic: random_maps(s, random) for s in small})


class Lying(Simulated):
    """Its products are not those of its relation: D arrives one lane further on."""

    def run(self, signature, a, b, c, fixed=None):
        return np.roll(super().run(signature, a, b, c), 1, axis=1)


def lying() -> Lying:
    return Lying(simulated().maps)


@dataclass(frozen=True)
class Answer:
    """Returns a number and the process that computed it."""

    number: int
    signature: Signature = ANY

    def on(self, bench: object) -> tuple[int, int]:
        return self.number, os.getpid()


@dataclass(frozen=True)
class Opened:
    """Reports from when to when its machine was opened."""

    signature: Signature = ANY

    def on(self, bench: object) -> tuple[float, ...]:
        return bench.machine.opened


@dataclass(frozen=True)
class Misbehave:
    """Does what a bad instruction or a bad probe can do."""

    how: str
    signature: Signature = ANY

    def on(self, bench: object) -> int:
        if self.how == "exit":
            print("last words", file=sys.stderr)
            os._exit(7)
        if self.how == "crash":
            ctypes.string_at(0)
        if self.how == "hang":
            time.sleep(600)
        if self.how == "fault":
            raise DeviceFault("an illegal instruction was encountered")
        if self.how == "reject":
            raise Unsupported("the assembler does not know it")
        if self.how == "value":
            raise ValueError("the map is upside down")
        return 1 // 0

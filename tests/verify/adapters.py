# SPDX-License-Identifier: Apache-2.0
"""Texts of adapters for the tests: a project of one right map, and one whose maps misbehave."""

from __future__ import annotations

from pathlib import Path

RIGHT = """
PROJECT = "right"

def element(lane, value):
    return lane // 4 + value // 2 * 8, lane % 4 * 2 + value % 2

def place(row, column):
    return row % 8 * 4 + column // 2, row // 8 * 2 + column % 2

def fragment(**more):
    return {"source": "right.py", "ptx": "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "operand": "C",
            "inputs": (("lane", 32), ("value", 4)), "outputs": (("m", 16), ("n", 8)), "of": element, **more}

def maps():
    yield "C", fragment
"""

HOSTILE = (
    RIGHT.replace("def maps():", "def right_maps():")
    + """
import json, os, signal, subprocess, sys, threading, time

class Liar:
    def __eq__(self, other): return True
    def __hash__(self): return 0
    def __index__(self): return True

def prints():
    print("x" * 100000); sys.stderr.write("y" * 100000); os.write(1, b"{}\\n")
    return fragment()

def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)
    return fragment()

def child_of_child():
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    return fragment()

def hang():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True: time.sleep(1)

def nested():
    value = []
    for _ in range(100000): value = [value]
    return fragment(note=value)

def recursion(*_): return recursion()

def maps():
    yield "first", fragment
    yield "prints", prints
    yield "exits", lambda: sys.exit(0)
    yield "exits at once", lambda: os._exit(0)
    yield "aborts", os.abort
    yield "hangs", hang
    yield "daemon", daemon
    yield "child of a child", child_of_child
    yield "huge number", lambda: fragment(of=lambda lane, value: (2**70, 0))
    yield "nan", lambda: fragment(of=lambda lane, value: (float("nan"), 0))
    yield "liar", lambda: fragment(of=lambda lane, value: (Liar(), Liar()))
    yield "huge answer", lambda: fragment(note="z" * (5 << 20))
    yield "huge map", lambda: fragment(inputs=(("lane", 2**40), ("value", 4)))
    yield "nested", nested
    yield "recursion", lambda: fragment(of=recursion)
    yield "no map", lambda: 5
    yield "unknown key", lambda: fragment(verdict="VERIFIED")
    yield "wrong", lambda: fragment(of=lambda lane, value: (lane % 8 + value // 2 * 8, lane // 8 * 2 + value % 2))
    yield "wrong inverse", lambda: fragment(back=lambda row, column: place(row, 7 - column))
    yield "right inverse", lambda: fragment(back=place)
    yield "last", fragment
"""
)


def write(folder: Path, text: str, name: str = "adapter") -> Path:
    """The file of an adapter with a text."""
    path = folder / f"{name}.py"
    path.write_text(text)
    return path

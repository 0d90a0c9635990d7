# SPDX-License-Identifier: Apache-2.0
"""A function of a user's file as a map: `FILE.py::function`, called for every point in a child process.

The child is that of `verify.maps.isolation`: what the function prints, raises or leaves running costs one line here.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from verify.core.python_files import find_fault
from verify.maps import isolation
from verify.maps.answers import MissingMap, read_answer
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import LARGEST, Axis, MapError, MapOrigin

ADAPTER = Path(__file__).with_name("function_adapter.py")
SECONDS, START = 20.0, 120.0  # of all calls, and of the imports before them


def of_function(text: str, inputs: Sequence[Axis], outputs: Sequence[Axis], folder: Path, python: str) -> FragmentMap:
    """Return the map of FILE.py::function, its file relative to a folder; `python` is the interpreter or empty.

    The function is called with the inputs, and returns the outputs. Raises MapError with one line for a function that
    is not there, raises, hangs, ends its process or returns something else.
    """
    file, _, function = text.rpartition("::")
    path = (folder / file).resolve()
    if fault := find_fault(text, folder):
        raise MapError(fault)
    ends = [(axis.name, min(axis.extent, LARGEST)) for axis in outputs]
    task = {"file": str(path), "function": function, "inputs": inputs, "outputs": ends}
    given = _interpreter(python, folder)
    try:
        answered = list(isolation.answers(ADAPTER, given, SECONDS, START, task=json.dumps(task)))
    except isolation.NoAnswer as error:
        raise MapError(f"{text}: {error}") from error
    last = answered[-1] if answered else {"missing": "its process answered nothing"}
    answer = read_answer({"name": text, **last} if isinstance(last, dict) else last)
    if isinstance(answer, MissingMap):
        raise MapError(f"{text}: {answer.why}")
    return replace(answer.map, inputs=tuple(inputs), outputs=tuple(outputs), origin=MapOrigin(text))


def _interpreter(python: str, folder: Path) -> str:
    """Return the path of an interpreter: a program of PATH, or a file relative to a folder. Raise MapError."""
    if not python:
        return sys.executable
    program = shutil.which(str(folder / python) if os.sep in python else python)
    if program is None:
        raise MapError(f"{python} isn't a program that can be run")
    return os.path.abspath(program)

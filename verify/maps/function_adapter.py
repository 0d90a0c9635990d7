# SPDX-License-Identifier: Apache-2.0
"""The adapter that calls a function of a user's file, in the child: what to call is a JSON object in LANECHECK_TASK.

Standard library only: it runs in the interpreter that the user names.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import operator
import os
import sys
from collections.abc import Iterator
from typing import Any

TASK = json.loads(os.environ["LANECHECK_TASK"])
PROJECT = os.path.basename(TASK["file"])

sys.path.insert(0, os.path.dirname(TASK["file"]))
_spec: Any = importlib.util.spec_from_file_location(os.path.splitext(PROJECT)[0], TASK["file"])
_module = sys.modules[_spec.name] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)


def maps() -> Iterator[tuple[str, Any]]:
    """The one function, as a map."""
    yield "function", function


def function() -> dict[str, Any]:
    """The map of the function; it is called twice at each point, so that one that only remembers is found out."""
    called: Any = functools.reduce(getattr, TASK["function"].split("."), _module)

    def of(*point: int) -> list[tuple[int, ...]]:
        first, second = images(called(*point)), images(called(*point))
        if first != second:
            raise ValueError(f"called twice it returns {first} and {second}")
        return first

    return {"inputs": TASK["inputs"], "outputs": TASK["outputs"], "of": of}


def images(returned: Any) -> list[tuple[int, ...]]:
    """The images that the function has returned: a tuple, a list or an array is one, a list of them several."""
    if hasattr(returned, "tolist"):
        returned = returned.tolist()
    several = isinstance(returned, list) and all(isinstance(one, (list, tuple)) for one in returned)
    names = [name for name, _ in TASK["outputs"]]
    found = []
    for one in returned if several else [] if returned is None else [returned]:
        if not isinstance(one, (list, tuple)) or len(one) != len(names):
            raise ValueError(f"it returns {one!r:.60}, expected ({', '.join(names)})")
        found.append(tuple(map(operator.index, one)))
    return found

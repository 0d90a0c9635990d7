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

PROJECT = "function"


def maps() -> Iterator[tuple[str, Any]]:
    """Yield the one function, as a map; its file is imported, and may import its neighbours."""
    task = json.loads(os.environ["LANECHECK_TASK"])
    folder, file = os.path.split(task["file"])
    sys.path.insert(0, folder)
    spec: Any = importlib.util.spec_from_file_location(os.path.splitext(file)[0], task["file"])
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield PROJECT, functools.partial(function, task, module)


def function(task: dict[str, Any], module: Any) -> dict[str, Any]:
    """Return the function's map; it is called twice at each point, so that one that only remembers is found out."""
    called: Any = functools.reduce(getattr, task["function"].split("."), module)
    names = [name for name, _ in task["outputs"]]

    def of(*point: int) -> list[tuple[int, ...]]:
        first, second = images(called(*point), names), images(called(*point), names)
        if first != second:
            raise ValueError(f"called twice it returns {first} and {second}")
        return first

    return {"inputs": task["inputs"], "outputs": task["outputs"], "of": of}


def images(returned: Any, names: list[str]) -> list[tuple[int, ...]]:
    """Return the images that the function has returned: a tuple, a list or an array is one, a list of them several."""
    if hasattr(returned, "tolist"):
        returned = returned.tolist()
    several = isinstance(returned, list) and all(isinstance(part, (list, tuple)) for part in returned)
    points = []
    for image in returned if several else [] if returned is None else [returned]:
        if not isinstance(image, (list, tuple)) or len(image) != len(names):
            raise ValueError(f"it returns {image!r:.60}, expected ({', '.join(names)})")
        points.append(tuple(map(operator.index, image)))
    return points

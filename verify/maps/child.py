# SPDX-License-Identifier: Apache-2.0
"""The program that calls a project's functions, in the project's own interpreter; standard library only.

    python -I child.py ADAPTER.py DESCRIPTOR SECONDS [NAME OR GLOB]...

It imports the adapter, which imports the project, and writes JSON lines to the file descriptor: first what there is,

    {"project": "tinygrad", "version": "0.14.0", "maps": ["...", ...]}

then one answer for each map, in order: `{"name": ..., "map": {...}}` or `{"name": ..., "missing": "why"}`. Each map is
made in a fork of its own, so that a crash, an exit or a hang costs that map alone; what it leaves running is ended.
Standard output and standard error belong to the project. This isolates accidents; it isn't a sandbox.

An adapter has `PROJECT`, the name of its distribution; `DISTRIBUTION`, where that is another; and `maps()`, which
yields (name, function). The function returns a dict: `source`, `ptx`, `operand`, `note`, `inputs` and `outputs` as
`verify.maps.answers` describes them; `of`, which is called with every input and returns its image (a tuple), several
(a list of tuples) or None; and perhaps `back`, the project's own inverse, called with every output.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import itertools
import json
import math
import operator
import os
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from fnmatch import fnmatchcase
from importlib.metadata import PackageNotFoundError, version
from typing import Any

MOST = 4 << 20  # bytes of one answer
POINTS = 1 << 20  # of one map
GIB = 1 << 30
LIMITS = (("RLIMIT_CORE", 0), ("RLIMIT_FSIZE", 64 << 20), ("RLIMIT_AS", 64 * GIB), ("RLIMIT_NOFILE", 1024))
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER: whatever loses its parent becomes a child of this process
DIGITS = 1 << 62
HERE = os.path.dirname(__file__)


def main(adapter: str, descriptor: int, seconds: float, only: list[str]) -> None:
    """Answer for every map of an adapter, or for those whose names match."""
    limit()
    out = os.fdopen(descriptor, "wb", buffering=0)
    os.set_inheritable(descriptor, False)
    try:
        module = load(adapter)
        listed = [(str(name), make) for name, make in module.maps()]
        listed = [pair for pair in listed if not only or any(pair[0] == p or fnmatchcase(pair[0], p) for p in only)]
        names = [name for name, _ in listed]
        opening = {"project": module.PROJECT, "version": version_of(module), "maps": names}
    except BaseException as error:  # an exit too
        opening = {"missing": describe(error)}
    write(out, opening)
    if "missing" in opening:
        return
    for name, make in listed:
        write(out, {"name": name, **answer(make, seconds, out)})
        end_all()


def limit() -> None:
    """Set the limits of resources, and become the parent of orphans where the system can do that."""
    for name, most in LIMITS:
        _, hard = resource.getrlimit(getattr(resource, name))
        resource.setrlimit(getattr(resource, name), (most if hard < 0 else min(most, hard), hard))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)


def load(path: str) -> Any:
    """Import an adapter from its file."""
    spec: Any = importlib.util.spec_from_file_location("adapter", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def version_of(module: Any) -> str:
    """Return the version of the installed distribution, or of the module itself."""
    try:
        return version(getattr(module, "DISTRIBUTION", module.PROJECT))
    except PackageNotFoundError:
        return "unknown"


def answer(make: Any, seconds: float, out: Any) -> Any:
    """Return what one function returns, made in a fork: {"map": ...}, or {"missing": why}."""
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(source)
        out.close()  # so that it ends with this process's parent
        try:
            text = json.dumps({"map": plain(tabulate(make()))}, allow_nan=False)
        except BaseException as error:
            text = json.dumps({"missing": describe(error)})
        content = text.encode()
        content = (
            content if len(content) < MOST else json.dumps({"missing": f"an answer of {len(content)} bytes"}).encode()
        )
        while content:
            content = content[os.write(sink, content) :]
        os.write(sink, b"\n")
        os._exit(0)
    os.close(sink)
    content, status = receive(source, child, time.monotonic() + seconds)
    os.close(source)
    if content.endswith(b"\n"):
        try:
            return dict(json.loads(content))
        except (ValueError, TypeError, RecursionError):  # something else has written into the pipe
            return {"missing": "an answer that isn't JSON"}
    if status is None:
        return {"missing": f"no answer within {seconds} s"}
    how = f"signal {-status} ({signal.strsignal(-status)})" if status < 0 else f"exit code {status}"
    return {"missing": f"its process ended with {how} before it answered"}


def receive(source: int, child: int, deadline: float) -> tuple[bytes, int | None]:
    """Receive until the line is whole: (text, exit status), None as status where time ran out; the child has ended."""
    content, status = b"", None
    while not content.endswith(b"\n") and len(content) <= MOST:
        ready = select.select([source], [], [], 0.02)[0]
        if ready:
            part = os.read(source, 1 << 16)
            content += part
            if part:
                continue
        if status is not None or time.monotonic() > deadline:
            break
        ended, how = os.waitpid(child, os.WNOHANG)
        if ended:
            status = os.waitstatus_to_exitcode(how)
    if status is None:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return content, status


def tabulate(described: dict[str, Any]) -> dict[str, Any]:
    """Return the same map with every pair in place of its functions."""
    described = {**described}
    function, back = described.pop("of"), described.pop("back", None)
    inputs, outputs = described["inputs"], described["outputs"]
    described["pairs"] = [[*point, *image] for point in grid(inputs) for image in images(call(function, point, inputs))]
    if back is not None:
        described["inverse"] = [
            [*image, *point] for point in grid(outputs) for image in images(call(back, point, outputs))
        ]
    return described


def call(function: Any, point: tuple[int, ...], axes: Any) -> Any:
    """Return what a function returns at a point; an error that it raises gets the point and the line."""
    try:
        return function(*point)
    except Exception as error:
        where = ", ".join(f"{axis[0]} {point[at]}" for at, axis in enumerate(axes))
        frames = [
            frame for frame in traceback.extract_tb(error.__traceback__) if os.path.dirname(frame.filename) != HERE
        ]
        line = f", line {frames[-1].lineno} of {os.path.basename(frames[-1].filename)}" if frames else ""
        with contextlib.suppress(Exception):
            error.place = f" at {where}{line}"  # type: ignore[attr-defined]
        raise


def grid(axes: Any) -> Iterator[tuple[int, ...]]:
    """Every point within the extents."""
    if math.prod(extent for _, extent in axes) > POINTS:
        raise ValueError(f"more than {POINTS} points")
    return itertools.product(*(range(extent) for _, extent in axes))


def images(returned: Any) -> list[Any]:
    """Return the images that a function has returned: a tuple is one, a list has several, None has none."""
    return returned if isinstance(returned, list) else [] if returned is None else [returned]


def plain(value: Any) -> Any:
    """Return the same value of dicts, lists, texts and integers only; TypeError for anything else.

    A number must say by `__index__` what it is, and be small: what compares equal to everything isn't a number.
    """
    if value is None or type(value) in (str, bool):
        return value
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    number = operator.index(value)
    if type(number) is not int or not -DIGITS < number < DIGITS:
        raise ValueError("a number of more than 62 bits")
    return number


def describe(error: BaseException) -> str:
    """Return an error in one line; for a module that isn't there, which project is missing or too old."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        root = error.name.partition(".")[0]
        if root == error.name:
            return f"{root} isn't installed here"
        return f"the {root} installed here has no {error.name}: another version?"
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:300] + str(getattr(error, "place", ""))[:200]


def write(out: Any, value: Any) -> None:
    """Write a line whole."""
    content = json.dumps(value).encode() + b"\n"
    while content:
        content = content[out.write(content) :]


def end_all() -> None:
    """End every process that a map has left behind: the children of this one, orphans among them."""
    while True:
        left = children(os.getpid())
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        for pid in left:
            os.waitpid(pid, 0)
        if not left:
            return


def children(parent: int) -> list[int]:
    """Return the processes whose parent this is, where the system has /proc."""
    pids = []
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else []:
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="latin-1") as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == parent:
                pids.append(int(name))
    return pids


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4:])

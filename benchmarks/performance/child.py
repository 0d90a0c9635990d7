# SPDX-License-Identifier: Apache-2.0
"""The program that calls a library's functions in the library's interpreter; standard library only.

    python child.py ADAPTER.py DISTRIBUTION

It reads a request from each line of stdin and writes one answer as JSON: first `{"version": ...}`, or
`{"missing": why}`; then `{"seconds": ..., "result": ...}`, or `{"failed": why}`. What is timed is a whole call, in CPU
seconds, repeated until it takes `least` of them; a request with `least` 0 has the result of one call. Standard output
is the library's.

An adapter has EVALUATE, of each way the function (shape, stride) -> (function whose call returns all values);
`layout(shape, stride, space)`, a layout with values in 0 .. space - 1; OPERATIONS on them; `plain(layout)`, its
(shape, stride); and perhaps `within(body)`, which calls a function where the operations may be used.
"""

import gc
import hashlib
import importlib.util
import json
import os
import sys
import time
from array import array
from importlib.metadata import PackageNotFoundError, version

SHOWN = 1 << 20  # values that an answer may have


def main(path, distribution):
    """Answer every request."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    del sys.path[0]  # this folder
    try:
        adapter = load(path)
        greeting = {"version": version_of(distribution)}
    except Exception as error:
        greeting = {"missing": describe(error)}
    print(json.dumps(greeting), file=out)
    repeats = {}
    for line in sys.stdin if "version" in greeting else ():
        try:
            answer = work(adapter, json.loads(line), repeats)
        except Exception as error:
            answer = {"failed": describe(error)}
        print(json.dumps(answer), file=out)


def load(path):
    """Import an adapter from its file."""
    spec = importlib.util.spec_from_file_location("adapter", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def version_of(distribution):
    """The version of an installed distribution, or that there is none."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "source tree"


def work(adapter, request, repeats):
    """Evaluate a layout, or apply an operation to all its cases."""
    least, key = request["least"], json.dumps({**request, "least": 0})
    if "way" in request:
        run = adapter.EVALUATE[request["way"]](tuples(request["shape"]), tuples(request["stride"]))
        seconds, values = timed(run, least, key, repeats)
        return {"seconds": seconds} if least else {"seconds": seconds, "result": summary(values, request["values"])}

    def body():
        cases = [[made(adapter, argument, request["space"]) for argument in case] for case in request["cases"]]
        operation = adapter.OPERATIONS[request["operation"]]
        seconds, results = timed(lambda: [operation(*case) for case in cases], least, key, repeats)
        return {"seconds": seconds} if least else {"seconds": seconds, "result": [adapter.plain(r) for r in results]}

    return getattr(adapter, "within", lambda body: body())(body)


def timed(run, least, key, repeats):
    """(CPU seconds of a call, the result of the last): as many calls as take at least so long."""
    count = repeats.get(key, 1)
    gc.collect()
    gc.disable()
    try:
        while True:
            started = time.process_time()
            for _ in range(count):
                result = None  # the memory of the last one is free again
                result = run()
            seconds = time.process_time() - started
            if seconds >= least:
                return seconds / count, result
            count = repeats[key] = max(2 * count, int(1.2 * count * least / max(seconds, 1e-6)))
    finally:
        gc.enable()


def summary(values, shown):
    """A digest of values as 64-bit integers, and the values where they are wanted."""
    whole = values.whole() if hasattr(values, "whole") else values
    whole = whole if hasattr(whole, "__array_interface__") else array("q", whole)
    digested = {"count": len(whole), "digest": hashlib.sha256(whole).hexdigest()}
    return {**digested, "values": [int(v) for v in whole]} if shown and len(whole) <= SHOWN else digested


def made(adapter, given, space):
    """A layout from its shape and stride, or a number."""
    return given if isinstance(given, int) else adapter.layout(*map(tuples, given), space)


def tuples(value):
    """Tuples in place of lists."""
    return tuple(map(tuples, value)) if isinstance(value, list) else value


def describe(error):
    """An error in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:200]


if __name__ == "__main__":
    main(*sys.argv[1:])

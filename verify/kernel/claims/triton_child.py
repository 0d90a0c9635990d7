# SPDX-License-Identifier: Apache-2.0
"""The program of a child process that compiles a Triton function: JSON in on stdin, JSON out on stdout.

It runs in an interpreter that has Triton, for a target that need not be here, and imports nothing of Lanecheck.
"""

import importlib
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any


def main() -> None:
    """Compile what stdin requests; prints {"ptx", "threads", "shared", "name", "version"} or {"error"}."""
    request = json.load(sys.stdin)
    answers, sys.stdout = sys.stdout, sys.stderr  # what the module prints isn't an answer
    try:
        answer = compile_function(request)
    except Exception as error:
        first, *rest = filter(str.strip, f"{type(error).__name__}: {error}".splitlines())
        last = rest[-1].strip() if rest and first.endswith(":") else ""  # "at LINE:COLUMN:", the source, what is wrong
        answer = {"error": f"{first} {last}".rstrip()}
    json.dump(answer, answers)


def compile_function(request: dict[str, Any]) -> dict[str, Any]:
    """Return the PTX of a function and what Triton's metadata says of its launch."""
    triton = importlib.import_module("triton")
    source = importlib.import_module("triton.compiler").ASTSource
    target = importlib.import_module("triton.backends.compiler").GPUTarget
    module = import_file(Path(request["file"]))
    function = getattr(module, request["function"], None)
    while function is not None and not isinstance(function, triton.JITFunction) and hasattr(function, "fn"):
        function = function.fn  # autotuners and heuristics
    if not isinstance(function, triton.JITFunction):
        return {"error": f"{request['file']} has no Triton function {request['function']!r}"}
    known = {param.name: param.default for param in function.params if param.is_constexpr and param.has_default}
    known.update(request["constants"])
    rest = [name for name in function.arg_names if name not in known]
    if len(rest) != len(request["types"]):
        return {"error": f"params has {len(request['types'])} entries, the function takes {', '.join(rest)}"}
    types = dict(zip(rest, request["types"], strict=True))
    known.update({name: 1 for name, is_one in zip(rest, request["ones"], strict=True) if is_one})
    signature = {name: "constexpr" if name in known else types[name] for name in function.arg_names}
    divisible = [name for name, by in zip(rest, request["divisible"], strict=True) if by and name not in known]
    hints = {(function.arg_names.index(name),): [["tt.divisibility", 16]] for name in divisible}
    options = {"num_warps": request["warps"], "num_stages": request["stages"], **request["options"]}
    made = triton.compile(
        source(function, signature, known, hints), target=target("cuda", request["capability"], 32), options=options
    )
    return {
        "ptx": made.asm["ptx"],
        "threads": 32 * made.metadata.num_warps,
        "shared": made.metadata.shared,
        "scratch": getattr(made.metadata, "global_scratch_size", 0),
        "name": made.metadata.name,
        "version": triton.__version__,
        "divisible": divisible,
    }


def import_file(file: Path) -> ModuleType:
    """Import a file as its own Python does: what lies beside it, or in its package, can be imported from it."""
    folder, names = file.parent, [file.stem]
    while (folder / "__init__.py").exists():
        folder, names = folder.parent, [folder.name, *names]
    sys.path.insert(0, str(folder))
    if len(names) > 1:
        importlib.import_module(".".join(names[:-1]))
    # Not by name: a file may be called as a module of Python's is.
    spec = importlib.util.spec_from_file_location(".".join(names), file)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot import {file}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""The kernel of a Triton function, `module.py::function`: compiled in a child process, as a launch would specialise it.

The claim's table `[triton]` has the target, the constants, warps and stages; block, shared memory and scratch memory
come from Triton's metadata, the parameters, where the claim has none, from the names of the function's arguments. A
integer that is 1 becomes a constant, one that 16 divides is known to be so, as in a launch.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from isa_tables.targets import known_targets
from lanecheck.console.children import describe_end, read_last_lines, run_child
from verify.core.errors import SpecError, UsageError
from verify.kernel.claims.claim import KernelClaim, claim_of
from verify.kernel.claims.launch import Launch
from verify.kernel.data.values import SIZE

CHILD = Path(__file__).with_name("triton_child.py")
SECONDS = 300  # for Triton in its child process: the first compilation is slow, and one that hangs must end
TARGET, WARPS, STAGES = "sm_80", 4, 3  # where the claim does not say
SCRATCH = "triton_scratch"  # the array that a kernel with scratch memory gets
KEYS = {"function": str, "target": str, "constants": dict, "warps": int, "stages": int, "options": dict}
POINTERS = {
    **{"f16": "*fp16", "bf16": "*bf16", "f32": "*fp32", "tf32": "*fp32", "f64": "*fp64"},
    **{"s8": "*i8", "u8": "*u8", "s32": "*i32", "e4m3": "*fp8e4nv", "e5m2": "*fp8e5"},
}  # as Triton writes them


def compile_function(named: str, given: Mapping[str, Any], python: str) -> tuple[str, KernelClaim, str]:
    """Return (PTX, claim, what it was compiled for) of `module.py::function` and the table of a claim."""
    file, _, function = named.partition("::")
    if not Path(file).is_file():
        raise UsageError(f"cannot read {file}: there is no such file")
    table = dict(given)
    said = table.pop("triton", None)
    if not isinstance(said, dict):
        raise SpecError("triton", 'expected a table, as { target = "sm_80", constants = { BLOCK = 64 }, warps = 4 }')
    for key, value in said.items():
        if key not in KEYS or type(value) is not KEYS[key]:
            raise SpecError(
                f"triton.{key}", f"expected {', '.join(f'{name} ({kind.__name__})' for name, kind in KEYS.items())}"
            )
    target = re.fullmatch(r"sm_(\d+)[af]?", said.get("target", TARGET))
    if target is None or target[0] not in known_targets():
        raise SpecError("triton.target", f"expected one of {', '.join(known_targets())}; found {said['target']!r}")
    constants = said.get("constants", {})
    if "grid" in table:
        table["grid"] = _with_constants(table["grid"], constants)
    lacking = [name for name in list_constants(Path(file), function) if name not in constants]
    if lacking:
        example = ", ".join(f"{name} = …" for name in lacking)
        text = f"{function} has constants without a value: constants = {{ {example} }}"
        alike = [constant for constant in constants if constant.lower() in {name.lower() for name in lacking}]
        raise SpecError("triton.constants", text + (f"; {', '.join(alike)} is given: case matters" if alike else ""))
    if "params" not in table:
        names = [name for name in arguments(Path(file), function) if name not in constants]
        table["params"] = [_name_array(name, table.get("arrays")) for name in names]
    launches = claim_of({**table, "block": 32}).launches  # the block is not known yet
    request = [specialise(launch) for launch in launches]
    if any(specialised != request[0] for specialised in request):
        raise SpecError("sizes", "Triton specialises these sizes in different ways: give each a claim of its own")
    warps, stages = said.get("warps", WARPS), said.get("stages", STAGES)
    answer = _answer(
        {
            "file": str(Path(file).resolve()),
            "function": function,
            "constants": constants,
            "capability": int(target[1]),
            "warps": warps,
            "stages": stages,
            "options": said.get("options", {}),
            **request[0],
        },
        python,
    )
    params = [param for param, dropped in zip(table.get("params", []), request[0]["ones"], strict=True) if not dropped]
    filled = {"block": answer["threads"], "smem": answer["shared"], "kernel": answer["name"], **table, "params": params}
    if answer["scratch"]:
        ctas = max(launch.grid[0] * launch.grid[1] * launch.grid[2] for launch in launches)
        memory = {"dims": [str(ctas * answer["scratch"])], "type": "u8", "scratch": True}
        filled |= {"params": [*params, SCRATCH], "arrays": {**table["arrays"], SCRATCH: memory}}
    listed = "".join(f", {name} = {value}" for name, value in constants.items())
    shape = f"{answer['threads']} threads, {answer['shared']} bytes of shared memory"
    known = f"; 16 divides {', '.join(answer['divisible'])}" if answer["divisible"] else ""
    words = f"by Triton {answer['version']} for sm_{target[1]}, {warps} warps, {stages} stages{listed}{known}; {shape}"
    return answer["ptx"], claim_of(filled), words


def arguments(file: Path, function: str) -> list[str]:
    """Return the arguments of a function that a launch must give: all but constants that have a default."""
    return [
        argument.arg for argument, default in _parse_arguments(file, function) if not default or not _constant(argument)
    ]


def list_constants(file: Path, function: str) -> list[str]:
    """Return the constants of a function that have no default."""
    return [
        argument.arg for argument, default in _parse_arguments(file, function) if _constant(argument) and not default
    ]


def _parse_arguments(file: Path, function: str) -> list[tuple[ast.arg, bool]]:
    """Return the arguments of a function, and whether each has a default. Raise UsageError if there is no such one."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError) as error:
        raise UsageError(f"{file}: {error}") from None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == function:
            given = node.args.posonlyargs + node.args.args
            first = len(given) - len(node.args.defaults)
            return [(argument, at >= first) for at, argument in enumerate(given)]
    raise UsageError(f"{file} has no function {function!r}")


def place_error(file: Path, function: str, error: str) -> str:
    """Return FILE:LINE:COLUMN of an error in which Triton counts lines from `def`, before a message."""
    at = re.search(r"\bat (\d+):(\d+):", error)
    for node in ast.walk(ast.parse(file.read_bytes())) if at is not None else ():
        if isinstance(node, ast.FunctionDef) and node.name == function and at is not None:
            return f"{file}:{node.lineno + int(at[1]) - 1}:{int(at[2]) + 1}: "
    return ""


def _name_array(name: str, arrays: object) -> str:
    """Return the array that an argument points to by its name, `a_ptr` to A; another name is itself."""
    plain = re.sub(r"^(p|ptr)_|_(ptr|pointer|desc)$", "", name.lower())
    return next((array for array in arrays if array.lower() == plain), name) if isinstance(arrays, dict) else name


def _with_constants(grid: Any, constants: Mapping[str, Any]) -> Any:
    """Return a grid with the numbers of constants in place of their names."""
    if isinstance(grid, list):
        return [_with_constants(part, constants) for part in grid]
    if not isinstance(grid, str):
        return grid
    return re.sub(r"[A-Za-z_]\w*", lambda match: str(constants.get(match[0], match[0])), grid)


def _constant(argument: ast.arg) -> bool:
    return argument.annotation is not None and ast.unparse(argument.annotation).rpartition(".")[2] == "constexpr"


def specialise(launch: Launch) -> dict[str, list[Any]]:
    """Return the types of a launch's parameters, and what a launch specialises."""
    types, are_one, divisible = [], [], []
    base = {array.name: array.offset * SIZE[array.kind] for array in launch.arrays}
    for number, given in enumerate(launch.params):
        key = f"params[{number}]"
        array = next((array for array in launch.arrays if array.name == given), None)
        value = 0
        if array is not None:
            if array.kind not in POINTERS:
                raise SpecError(key, f"Triton has no pointer to {array.kind}")
            types.append(POINTERS[array.kind])
            value = base[array.name]
        elif isinstance(given, float) or given in launch.scalars:
            types.append("fp32")
            value = 1 << 20 | 1
        else:
            packed = launch.parameter(number, 8, base)
            if packed is None or packed.maps:
                raise SpecError(key, "a Triton function takes arrays and numbers")
            value = int.from_bytes(packed.octets, "little", signed=True)
            types.append("i32" if -(1 << 31) <= value < 1 << 31 else "i64")
        are_one.append(array is None and value == 1)
        divisible.append(value % 16 == 0)
    return {"types": types, "ones": are_one, "divisible": divisible}


def _answer(request: Mapping[str, Any], python: str) -> dict[str, Any]:
    """Say what the child says; UsageError where it has no kernel."""
    with tempfile.TemporaryDirectory(prefix="lanecheck-") as home:
        environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": home, "TRITON_CACHE_DIR": home}
        if "PYTHONPATH" in os.environ:  # where a user's modules may be
            environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
        command = [python, "-B", str(CHILD)]
        given, out, errors = (Path(home, name) for name in ("request", "answer", "errors"))
        given.write_text(json.dumps(request), encoding="utf-8")
        try:
            code = run_child(command, SECONDS, home, environment, out, errors, given)
        except OSError as error:
            raise UsageError(f"--python: {python} cannot be started: {error.strerror}") from error
        except subprocess.TimeoutExpired:
            raise UsageError(f"{request['function']}: Triton has not compiled it within {SECONDS} s") from None
        try:
            answer = json.loads(out.read_bytes())
        except ValueError:
            how = describe_end(code, read_last_lines(errors))
            raise UsageError(f"{request['function']} was not compiled: {how}") from None
    if "error" in answer:
        where = place_error(Path(request["file"]), request["function"], answer["error"])
        raise UsageError(f"{where}{request['function']} was not compiled: {answer['error'][:300]}")
    kernel: dict[str, Any] = answer
    return kernel

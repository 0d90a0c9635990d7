# SPDX-License-Identifier: Apache-2.0
"""Where the PTX of a kernel comes from: a file, a text, an object that has it, a function of Triton, CUDA C++."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from verify.core.errors import UsageError
from verify.core.python_files import find_fault
from verify.kernel.claims.claim_file import open_claim

MAX_BYTES = 64 << 20  # of PTX text: a larger file is not the PTX of one kernel, and reading it would exhaust memory
TARGET = "sm_90a"  # of CUDA C++, where nobody says it
CUDA = (".cu", ".cuh", ".cpp")


class KernelSource(NamedTuple):
    """A kernel: its name, and its PTX unless it is a function that Triton compiles."""

    name: str
    ptx: str = ""
    compiled: str = ""  # how, in words
    function: bool = False
    entry: str = ""  # the kernel's name in the PTX, if it was given with the file


def refuse_claim(claim: object, kernel: object = None) -> str | Path | Mapping[str, Any]:
    """Return a claim. Raises UsageError for none, and for a kernel in its place or the other way round."""
    if isinstance(kernel, Mapping):
        raise UsageError("the first argument is a table, as a claim is: give the kernel first, then the claim")
    if isinstance(claim, Mapping):
        return claim
    if claim is None and str(kernel).endswith(".toml"):
        raise UsageError(
            f"{kernel} is a claim: give the kernel before it, or claim = {str(kernel)!r} if it names its own"
        )
    if not isinstance(claim, (str, Path)):
        raise UsageError("what does it compute? Give the claim, a TOML file or its table, as docs/kernel.md shows")
    if str(claim).endswith((".ptx", *CUDA)) or "::" in str(claim):
        raise UsageError(f"{claim} is a kernel, not a claim: give the kernel first, then --claim FILE.toml")
    return claim


def find_source(kernel: object, table: Mapping[str, Any], claim: str, target: str) -> KernelSource:
    """Return where a kernel's PTX is. Raises UsageError for what isn't a kernel, in one line."""
    if kernel is None:
        kernel = _named_by(table, Path(claim).parent, claim)
    if isinstance(kernel, bytes):  # as NVRTC gives PTX: it ends with a zero byte
        kernel = kernel.rstrip(b"\0").decode("utf-8", "replace")
    ptx = getattr(kernel, "__ptx__", None) or _of_assembly(kernel)
    if ptx is not None:
        return KernelSource("kernel", _refuse_target(str(ptx() if callable(ptx) else ptx), target))
    if not isinstance(kernel, (str, Path)):
        return KernelSource(_name_function(kernel), function=True)
    text = str(kernel).rstrip("\0")
    if "__global__" in text and ".entry" not in text:
        return _compile_cuda(text, "kernel", target)
    if "\n" in text:
        return KernelSource("kernel", _refuse_target(text, target))
    file, colons, entry = text.partition("::")
    if colons and not file.endswith((".ptx", *CUDA)):
        return KernelSource(text, function=True)
    if fault := find_fault(file):
        raise UsageError(fault)
    if file.endswith(CUDA):
        source = _compile_cuda(read_text(file), file, target)
    else:
        source = KernelSource(file, _refuse_target(read_text(file), target))
    return source._replace(name=text, entry=entry)


def find_code(kernel: str | None, claim: str | Path | Mapping[str, Any]) -> str:
    """Return the Python file that is imported to compile a kernel; empty if there is none."""
    file, colons, _ = find_name(kernel, claim).partition("::")
    return file if colons and not file.endswith((".ptx", *CUDA)) else ""


def find_name(kernel: str | None, claim: str | Path | Mapping[str, Any]) -> str:
    """Return what a kernel is named by: itself, or in its claim."""
    if kernel is not None:
        return kernel
    if isinstance(claim, Mapping):
        return _named_by(claim, Path(), "")
    with open_claim(claim) as table:
        return _named_by(table, Path(claim).parent, str(claim))


def _named_by(table: Mapping[str, Any], folder: Path, claim: str) -> str:
    """Return the kernel that a claim names, relative to its folder."""
    ptx, triton = table.get("ptx"), table.get("triton")
    function = triton.get("function") if isinstance(triton, dict) else None
    if (ptx is None) == (function is None):
        ways = 'ptx = "FILE.ptx", or function = "FILE.py::function" in [triton]'
        problem = "names two kernels" if ptx is not None else "names no kernel: give it before --claim, or in the claim"
        raise UsageError(f"{claim or 'the claim'} {problem}, {ways}")
    named = ptx if ptx is not None else function
    if not isinstance(named, str) or not named:
        raise UsageError(f"{claim}: expected the name of a file, found {named!r:.60}")
    return str(folder / named)


def _of_assembly(kernel: object) -> str | None:
    """Return the PTX of a kernel that Triton compiled, which has its assembly by name."""
    assembly = getattr(kernel, "asm", None)
    return assembly.get("ptx") if isinstance(assembly, Mapping) else None


def _name_function(kernel: object) -> str:
    """Return FILE.py::function of a function of Triton, behind autotuners and heuristics."""
    function: Any = kernel
    while hasattr(function, "fn"):
        function = function.fn
    code = getattr(function, "__code__", None)
    if function is kernel or code is None:
        kinds = "PTX, a file, a function of Triton, or an object with __ptx__"
        raise UsageError(f"expected {kinds}, found an object of type {type(kernel).__name__}")
    return f"{code.co_filename}::{function.__name__}"


def _refuse_target(ptx: str, target: str) -> str:
    """Return PTX. Raises UsageError if it is for another target than the one that is asked for."""
    match = re.search(r"^\s*\.target\s+(\w+)", ptx, re.MULTILINE)
    if target and match and match[1] != target:
        raise UsageError(f"the PTX is for {match[1]}, not {target}: compile it for {target}, or leave the target out")
    return ptx


def _compile_cuda(text: str, name: str, target: str) -> KernelSource:
    """Return CUDA C++ that nvcc compiled. Raises UsageError with its first error."""
    from verify.kernel.nvcc import compile_cuda  # starts a process, which PTX doesn't need

    target = target or TARGET
    folder = Path(name).resolve().parent if name.endswith(CUDA) else Path.cwd()
    return KernelSource(name, compile_cuda(text, name, target, folder), f"by nvcc for {target}")


def read_text(name: str) -> str:
    """Return the text of a file; raises UsageError in one line."""
    try:
        path = Path(name)
        if path.stat().st_size > MAX_BYTES:
            raise UsageError(f"{name}: a PTX file has at most {MAX_BYTES >> 20} MiB")
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}") from error
    except (UnicodeDecodeError, ValueError) as error:
        raise UsageError(f"{name}: this isn't PTX text: {str(error)[:80]}") from error

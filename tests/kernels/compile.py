# SPDX-License-Identifier: Apache-2.0
"""Compiles the kernels of `corpus.toml`, and writes the kept ones with their claims: `python tests/kernels/compile.py`;
with `--all FOLDER` every one, there.

It needs nvcc, and Triton in this Python or in the one that TRITON_PYTHON names; it imports nothing of Lanecheck.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

HOME = Path(__file__).parent
SOURCES, COMPILED = HOME / "sources", HOME / "compiled"
EXPONENTIALS = ("attention", "softmax", "norm")  # how the names of kernels begin that apply functions to sums
TRITON = os.environ.get("TRITON_PYTHON", sys.executable)
POINTERS = {
    **{"f16": "*fp16", "bf16": "*bf16", "tf32": "*fp32", "f32": "*fp32"},
    **{"s8": "*i8", "s32": "*i32", "e4m3": "*fp8e4nv", "e5m2": "*fp8e5"},
}  # as Triton writes them
LEADING = (("a", "K", 1), ("b", "N", 1), ("c", "N", 2))  # the strides of matmul.toml.in


@dataclass(frozen=True)
class Row:
    """One kernel to compile."""

    name: str
    source: str  # a file of `sources`
    target: str  # sm_80
    options: tuple[str, ...]  # of nvcc
    names: Mapping[str, Any]  # for the claim, and the constants of a Triton function
    kept: bool

    def claim(self, metadata: Mapping[str, Any]) -> str:
        """Return the claim's TOML text; `metadata` is what the compiler said."""
        return Template((SOURCES / self.source).with_suffix(".toml.in").read_text()).substitute(self.names, **metadata)


def rows() -> list[Row]:
    """Every kernel of the corpus."""
    data = tomllib.loads((HOME / "corpus.toml").read_text())
    return [row for family in data.values() for row in _rows(family)]


def _rows(family: Mapping[str, Any]) -> Iterator[Row]:
    for name, kernel in family["kernels"].items():
        options = (*(f"-D{word}" for word in kernel.get("define", ())), *kernel.get("options", ()))
        names = family["with"] | kernel.get("with", {})
        yield Row(name, family["source"], kernel["target"], options, names, kernel.get("kept", False))


def compile_rows(chosen: Sequence[Row], sources: Path = SOURCES) -> Iterator[tuple[str, str]]:
    """The PTX and the claim of each row, in order, where nothing is `missing`."""
    triton = [row for row in chosen if row.source.endswith(".py")]
    made = dict(zip((row.name for row in triton), _by_triton(triton, sources), strict=True)) if triton else {}
    for row in chosen:
        ptx, metadata = made[row.name] if row.name in made else (_by_nvcc(row, sources), {})
        yield readable(ptx), row.claim(metadata)


def readable(ptx: str) -> str:
    """PTX without debug sections and what refers to them, and without the folders of this machine."""
    text = re.sub(r"^\s*\.section\s+\.debug[^{]*\{[^}]*\}", "", ptx, flags=re.MULTILINE)
    text = re.sub(r"^(\s*\.loc[^,\n]*),.*", r"\1", text, flags=re.MULTILINE)
    text = re.sub(r"^(\.target\s+\w+), debug", r"\1", text, flags=re.MULTILINE)
    return re.sub(r'(\.file\s+\d+\s+")[^"]*/', r"\1", text)


def explain_missing(chosen: Sequence[Row] | None = None) -> str:
    """Why not every kernel, or of these, can be compiled here; "" where nvcc and Triton are at hand."""
    sources = {row.source for row in (rows() if chosen is None else chosen)}
    if any(source.endswith(".cu") for source in sources) and shutil.which("nvcc") is None:
        return "nvcc is not on the PATH"
    if (
        any(source.endswith(".py") for source in sources)
        and subprocess.run([TRITON, "-c", "import triton"], capture_output=True, check=False).returncode
    ):
        return f"{TRITON} has no triton; the variable TRITON_PYTHON names another interpreter"
    return ""


def _by_nvcc(row: Row, sources: Path) -> str:
    with tempfile.TemporaryDirectory() as folder:
        to = Path(folder) / "kernel.ptx"
        command = ["nvcc", "-ptx", "-std=c++17", f"-arch={row.target}", *row.options, "-o", str(to)]
        subprocess.run([*command, row.source], cwd=sources, check=True, capture_output=True, text=True)
        return to.read_text()


def _by_triton(chosen: Sequence[Row], sources: Path) -> list[tuple[str, dict[str, Any]]]:
    """Compile in the interpreter that has Triton, all rows in one child process."""
    asked = [{"source": str(sources / row.source), "target": row.target, **row.names} for row in chosen]
    command = [TRITON, str(Path(__file__).resolve()), "--triton"]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return [(answer["ptx"], answer["metadata"]) for answer in json.loads(done.stdout)]


def _triton_child() -> None:
    """Compile what stdin asks for, for a target that need not be here."""
    import importlib.util

    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    answers = []
    for row in json.load(sys.stdin):
        spec = importlib.util.spec_from_file_location("source", row["source"])
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        function = next(value for value in vars(module).values() if isinstance(value, triton.JITFunction))
        constants = {name: row[name] for name in function.arg_names if name in row and name.isupper() and len(name) > 1}
        types = row.get("pointers") or {"a": row["type"], "b": row["type"], "c": row["out"]}
        floats = row.get("floats", [])
        signature = {
            name: "constexpr" if name in constants else POINTERS[types[name]] if name in types else
            "fp32" if name in floats else "i32" for name in function.arg_names
        }  # fmt: skip
        numbers = row.get("numbers") or {name: row[name] for name in "MNK"} | {
            f"ld{x}": row[by] + row["pad"] * n for x, by, n in LEADING
        }
        divisible = {*types} | {name for name, number in numbers.items() if number % 16 == 0}  # as a launch specialises
        known = {(at,): [["tt.divisibility", 16]] for at, name in enumerate(function.arg_names) if name in divisible}
        source = ASTSource(function, signature, constants, known)
        options = {"num_warps": row["warps"], "num_stages": row["stages"], "ptx_version": 87}
        made = triton.compile(source, target=GPUTarget("cuda", int(row["target"][3:]), 32), options=options)
        metadata = {"threads": 32 * made.metadata.num_warps, "shared": made.metadata.shared}
        answers.append({"ptx": made.asm["ptx"], "metadata": metadata})
    json.dump(answers, sys.stdout)


def main() -> None:
    """Write every kept kernel, or with `--all FOLDER [NAME...]` every kernel there whose name begins so."""
    everything = sys.argv[1:2] == ["--all"]
    names = tuple(sys.argv[3:]) or ("",)
    chosen = [row for row in rows() if (row.name.startswith(names) if everything else row.kept)]
    if reason := explain_missing(chosen):
        sys.exit(reason)
    folder = Path(sys.argv[2]) if everything else COMPILED
    folder.mkdir(parents=True, exist_ok=True)
    for row, (ptx, claim) in zip(chosen, compile_rows(chosen), strict=True):
        (folder / f"{row.name}.ptx").write_text(ptx)
        (folder / f"{row.name}.toml").write_text(claim)
        print(f"{row.name}: {len(ptx)} bytes")


if __name__ == "__main__":
    _triton_child() if sys.argv[1:] == ["--triton"] else main()

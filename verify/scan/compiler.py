# SPDX-License-Identifier: Apache-2.0
"""What a C++ compiler prints for each layout that was read: a second reading, by other code than ours.

One program per header includes it, and prints the layouts of its definitions by CuTe's own `print`.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lanecheck.console.children import describe_end, read_last_lines, run_child
from verify.core.errors import UsageError
from verify.scan.checkout import Checkout
from verify.scan.cplusplus import ALIASES
from verify.scan.program import Param, parameters
from verify.scan.traits import Definition, Instance, TraitsReader
from verify.scan.values import TypeName

LIMIT = 900  # seconds of one compilation
WHOLE = ("cute/tensor.hpp", "cute/atom/mma_atom.hpp", "cute/atom/copy_atom.hpp")  # some headers need them first
NAMESPACES = ("cute", "cute::SM90", "cute::SM100", "cutlass")


@dataclass(frozen=True, slots=True)
class Printed:
    """One layout, as it was read and as the compiler prints it."""

    name: str  # of the operation
    part: str  # of the operand
    read: str  # by us
    printed: str  # by the compiler; empty where its program cannot be compiled


@dataclass(frozen=True, slots=True)
class LayoutComparison:
    """All layouts that were compared, and what could not be compiled."""

    layouts: tuple[Printed, ...]
    errors: tuple[str, ...]  # the first line of each failed compilation

    @property
    def different(self) -> list[Printed]:
        """The layouts that the compiler prints differently."""
        return [layout for layout in self.layouts if layout.printed != layout.read]


def compare_layouts(read: Checkout, command: str) -> LayoutComparison:
    """Every layout as the compiler prints it. Raises UsageError for a compiler that cannot be run."""
    compared: list[Printed] = []
    errors: list[str] = []
    files = dict.fromkeys(definition.place.file for definition in read.definitions)
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            definitions = [
                definition for definition in read.definitions if definition.place.file == file and definition.instances
            ]
            wanted = [(definition, instance) for definition in definitions for instance in definition.instances]
            printed, error = _print_layouts(file, wanted, read.reader, command, Path(folder))
            errors += [f"{file}: {error}"] if error else []
            for _, instance in wanted:
                for part, operand in instance.operands.items():
                    said = next(printed, "") if not error else ""
                    if not error:
                        compared.append(Printed(instance.name, part, str(operand.layout), said))
    return LayoutComparison(tuple(compared), tuple(errors))


def _print_layouts(
    file: str, wanted: Sequence[tuple[Definition, Instance]], reader: TraitsReader, command: str, folder: Path
) -> tuple[Iterator[str], str]:
    """Return what the program of one header prints, a layout a line; or the first error."""
    header = Path(file).resolve()
    include = next((parent for parent in header.parents if parent.name == "include"), header.parent)
    source, program = folder / "layouts.cpp", folder / "layouts"
    source.write_text(_source(header, wanted, reader), encoding="utf-8")
    words = [*shlex.split(command), "-std=c++17", "-w", "-I", str(include), str(source), "-o", str(program)]
    out, errors = folder / "output", folder / "errors"
    if _run_compiler(words, out, errors):
        said = errors.read_text("utf-8", errors="replace").splitlines()
        return iter(()), next((line for line in said if "error" in line), next(iter(said), "failed"))
    code = _run_compiler([str(program)], out, errors)
    if code:
        return iter(()), describe_end(code, read_last_lines(errors))
    said = out.read_text("utf-8", errors="replace").splitlines()
    return (re.sub(r"_(?=\d)", "", line) for line in said), ""


def _run_compiler(words: Sequence[str], out: Path, errors: Path) -> int:
    """Return the exit code of the compiler, or of its program, which print to files. Raises UsageError."""
    try:
        return run_child(words, LIMIT, Path.cwd(), os.environ, out, errors)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"--compiler {words[0]}: {error}") from error


def _source(header: Path, wanted: Sequence[tuple[Definition, Instance]], reader: TraitsReader) -> str:
    """Return a program that prints the layouts of some instances."""
    first = [f"#if __has_include(<{name}>)\n#include <{name}>\n#endif" for name in WHOLE]
    lines = [*first, f'#include "{header}"', "#include <cstdio>"]
    for name in NAMESPACES:
        parts = name.split("::")
        lines.append(" { ".join(f"namespace {part}" for part in parts) + " {" + " }" * len(parts))
    lines += [f"using namespace {name};" for name in NAMESPACES]
    lines += ['template <class L> void show() { print(L{}); std::printf("\\n"); }', "int main() {"]
    for definition, instance in wanted:
        text = _type(definition, instance, reader)
        lines += [f"  show<typename {text}::{ALIASES[part]}>();" for part in instance.operands]
    return "\n".join([*lines, "}", ""])


def _type(definition: Definition, instance: Instance, reader: TraitsReader) -> str:
    """Return the type of an instance, with values for the parameters that its layouts do not need."""
    item = definition.item
    listed = parameters(item.params or "")
    values = reader.fill_types(item, instance.values)
    texts = {param.name: _text(param, values.get(param.name)) for param in listed}
    arguments = re.sub(
        r",?\s*\b(\w+)\s*\.\.\.", lambda match: "" if match[1] in texts else match[0], item.arguments or ""
    )
    spelled = re.sub(r"[A-Za-z_]\w*", lambda match: texts.get(match[0], match[0]), arguments)
    return f"{item.name}<{' '.join(spelled.split())}>"


def _text(param: Param, value: object) -> str:
    """Return a value as a template argument: of an enumeration its first enumerator."""
    if param.typed:
        return f"Int<{value}>" if isinstance(value, int) else str(value) if isinstance(value, TypeName) else "float"
    if isinstance(value, int):
        return str(value)
    return f"{param.type}(0)"

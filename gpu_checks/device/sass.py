# SPDX-License-Identifier: Apache-2.0
"""Which machine instructions a probe was compiled to, read from a disassembler's listing where one is installed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from gpu_checks.device import cache

# The opcodes that carry out or replace a matrix instruction. CALL: a helper routine of the compiler's.
_OPCODE = re.compile(r"\*/\s+(?:@!?U?P\w+\s+)?((?:[A-Z]{1,2}MMA|IDP|LDSM|STSM|MOVM|CALL|BPT)(?:\.\w+)*)")
_FUNCTION = re.compile(r"^\s*(?:\.text\.|Function : )(\w+):?\s*$")
_NATIVE = re.compile(r"(?:[A-Z]{1,2}MMA|IDP|LDSM|STSM|MOVM)(?:\.\w+)*")


def disassembler() -> list[str] | None:
    """The command that lists a cubin, to be followed by its path: nvdisasm or cuobjdump, if either is found."""
    folders = [os.environ.get("PATH", "")]
    roots = (os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME"), "/usr/local/cuda")
    folders += [str(Path(root) / "bin") for root in roots if root]
    for name, *options in (("nvdisasm", "-c", "-ndf"), ("cuobjdump", "-sass")):  # no data flow: a third of the time
        found = shutil.which(name, path=os.pathsep.join(folders))
        if found:
            return [found, *options]
    return None


def opcodes(listing: str) -> Mapping[str, str]:
    r"""Function name -> its matrix opcodes, each with its count: "HMMA.16816.F32", "2xBMMA.88128.AND.POPC + CALL".

    >>> opcodes(".text.run:\n  /*0090*/   IMMA.8816.S8.S8 R6, R0.ROW, R5.COL, R6 ;")
    {'run': 'IMMA.8816.S8.S8'}
    """
    return {name: _summary(counts) for name, counts in _count(listing.splitlines()).items()}


def _count(lines: list[str]) -> Mapping[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    current: Counter[str] = Counter()
    for line in lines:
        if start := _FUNCTION.match(line):
            current = found.setdefault(start[1], Counter())
        elif opcode := _OPCODE.search(line):
            name = opcode[1]
            current["CALL" if name.startswith("CALL") else name] += 1
    return found


def _summary(counts: Counter[str]) -> str:
    helpers = counts.pop("CALL", 0)
    parts: Iterator[str] = (f"{count}x{name}" if count > 1 else name for name, count in counts.items())
    return " + ".join([*parts, *(["CALL"] if helpers else [])])


def is_emulated(sass: str) -> bool | None:
    """Whether the instruction became anything but one native opcode; None where the SASS was not seen.

    >>> is_emulated("HMMA.16816.F32"), is_emulated("2xIMMA.8816.S8.S8 + CALL"), is_emulated("")
    (False, True, None)
    """
    return None if not sass else _NATIVE.fullmatch(sass) is None


class Listing:
    """The disassembly of one cubin, begun at once and waited for when it is read; or as it was before."""

    def __init__(self, cubin: bytes) -> None:
        self._process: subprocess.Popen[str] | None = None
        command = disassembler()
        self._name = command and cache.name_of("sass", cubin, *command, _stamp(command[0]))
        kept = cache.fetch(self._name) if self._name else None
        self._opcodes: Mapping[str, str] | None = None if kept is None else json.loads(kept)
        if command and self._opcodes is None:
            self._file = tempfile.NamedTemporaryFile(suffix=".cubin")
            self._file.write(cubin)
            self._file.flush()
            self._process = subprocess.Popen(
                [*command, self._file.name],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                errors="replace",
            )

    @property
    def opcodes(self) -> Mapping[str, str]:
        """Function name -> its matrix opcodes; empty where no disassembler was found or it failed."""
        if self._opcodes is None:
            text = self._process.communicate()[0] if self._process else ""
            self._opcodes = opcodes(text)
            if self._process:
                self._file.close()
            if self._name and self._opcodes:
                cache.keep(self._name, json.dumps(dict(self._opcodes)).encode())
        return self._opcodes


def _stamp(program: str) -> str:
    """What changes when another version of the program is installed."""
    try:
        found = os.stat(program)
    except OSError:
        return ""
    return f"{found.st_size} {found.st_mtime_ns}"

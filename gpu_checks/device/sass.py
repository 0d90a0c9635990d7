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
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from gpu_checks.device import cache
from lanecheck.console.digests import name_of

# The opcodes that carry out or replace a matrix instruction. CALL: a helper routine of the compiler's.
_OPCODE = re.compile(r"\*/\s+(?:@!?U?P\w+\s+)?((?:[A-Z]{1,2}MMA|IDP|LDSM|STSM|MOVM|CALL|BPT)(?:\.\w+)*)")
_FUNCTION = re.compile(r"^\s*(?:\.text\.|Function : )(\w+):?\s*$")
_DISASSEMBLERS = ThreadPoolExecutor(2)  # each waits for a process
_NATIVE = re.compile(r"(?:[A-Z]{1,2}MMA|IDP|LDSM|STSM|MOVM)(?:\.\w+)*")


def disassembler() -> list[str] | None:
    """Return the command that lists a cubin, to be followed by its path: nvdisasm or cuobjdump, if either is found."""
    folders = [os.environ.get("PATH", "")]
    roots = (os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME"), "/usr/local/cuda")
    folders += [str(Path(root) / "bin") for root in roots if root]
    for name, *options in (("nvdisasm", "-c", "-ndf"), ("cuobjdump", "-sass")):  # no data flow: a third of the time
        program = shutil.which(name, path=os.pathsep.join(folders))
        if program:
            return [program, *options]
    return None


def opcodes(listing: str) -> Mapping[str, str]:
    r"""Return each function's matrix opcodes with their counts: "HMMA.16816.F32", "2xBMMA.88128.AND.POPC + CALL".

    >>> opcodes(".text.run:\n  /*0090*/   IMMA.8816.S8.S8 R6, R0.ROW, R5.COL, R6 ;")
    {'run': 'IMMA.8816.S8.S8'}
    """
    return {name: _summary(counts) for name, counts in _count(listing.splitlines()).items()}


def _count(lines: list[str]) -> Mapping[str, Counter[str]]:
    counts: dict[str, Counter[str]] = {}
    current: Counter[str] = Counter()
    for line in lines:
        if start := _FUNCTION.match(line):
            current = counts.setdefault(start[1], Counter())
        elif opcode := _OPCODE.search(line):
            name = opcode[1]
            current["CALL" if name.startswith("CALL") else name] += 1
    return counts


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
    """The disassembly of one cubin: begun ahead by `begin`, else when it is first read."""

    def __init__(self, cubin: bytes) -> None:
        self.cubin = cubin
        self._found: Future[Mapping[str, str]] | None = None

    def begin(self) -> Future[Mapping[str, str]]:
        """Start the disassembler, unless it was started: it works while the probe runs."""
        if self._found is None:
            self._found = _DISASSEMBLERS.submit(_disassemble, self.cubin)
        return self._found

    @property
    def opcodes(self) -> Mapping[str, str]:
        """Function name -> its matrix opcodes; empty where no disassembler was found or it failed."""
        return self.begin().result()


def _disassemble(cubin: bytes) -> Mapping[str, str]:
    """Return the opcodes of each function of a cubin, kept on disk from then on."""
    command = disassembler()
    if command is None:
        return {}
    name = name_of("sass", Path(__file__).read_bytes(), cubin, *command, _stamp(command[0]))
    kept = cache.fetch(name)
    if kept is not None:
        known: Mapping[str, str] = json.loads(kept)
        return known
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        ran = subprocess.run(
            [*command, file.name],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    listing = opcodes(ran.stdout)
    if listing:
        cache.keep(name, json.dumps(dict(listing)).encode())
    return listing


def _stamp(program: str) -> str:
    """Return what changes when another version of the program is installed."""
    try:
        status = os.stat(program)
    except OSError:
        return ""
    return f"{status.st_size} {status.st_mtime_ns}"

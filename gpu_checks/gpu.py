# SPDX-License-Identifier: Apache-2.0
"""The GPU at hand as a Machine: which kernels it needs, when they are compiled, how they are launched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from gpu_checks.device import Loaded, compile_cubin, device, load
from gpu_checks.kernels import MATRIX_SOURCES, WARPS, fits, module
from gpu_checks.machine import Rows
from gpu_checks.packing import POISON, Words, words_per_lane
from gpu_checks.sass import Listing
from gpu_checks.values import DeviceInfo, Refused, Table, Unavailable
from isa_tables.signature import Signature, runs_on

GROUP = 16  # instructions compiled as one module: NVRTC's start-up is half the time of a small one
_UNWRITTEN = 0xFFF0  # in the table before the kernel runs: no slot and no code


def machine() -> Gpu | Unavailable:
    """The GPU as a Machine, or why there is none."""
    found = device()
    return found if isinstance(found, Unavailable) else Gpu(found)


@dataclass(frozen=True, slots=True)
class _Kernels:
    """Where one instruction's kernels are: the loaded module, its place in it, and the module's disassembly."""

    module: Loaded
    index: int
    listing: Listing


@dataclass(slots=True)
class Gpu:
    """A Machine that compiles with NVRTC, several instructions at a time, and runs on the current device."""

    info: DeviceInfo
    _groups: list[list[Signature]] = field(default_factory=list)
    _place: dict[str, int] = field(default_factory=dict)  # mnemonic -> its group
    _compiled: int = 0  # groups compiled so far
    _kernels: dict[str, _Kernels | Refused] = field(default_factory=dict)

    def prepare(self, signatures: Sequence[Signature]) -> None:
        """Group what this GPU can run; a group is compiled when first needed."""
        fresh = {s.mnemonic: s for s in signatures if s.mnemonic not in self._place}
        new = [s for s in fresh.values() if fits(s) and runs_on(s, self.info.sm)]
        for start in range(0, len(new), GROUP):
            self._place |= dict.fromkeys((s.mnemonic for s in new[start : start + GROUP]), len(self._groups))
            self._groups.append(new[start : start + GROUP])

    def table(self, signature: Signature) -> Table:
        """The D slot (or code) that each one-hot pair reached: [A slot][B slot]."""
        a_slots, b_slots = (signature.lanes * signature.operands[x].values for x in "AB")
        found = self._find(signature)
        grid = ((a_slots + WARPS - 1) // WARPS, max(1, min(b_slots, 4096 // a_slots)))
        blank = np.full((a_slots, b_slots), _UNWRITTEN, np.uint16)
        return found.module.launch(f"relation_{found.index}", grid, 32 * WARPS, [blank], 0)

    def run(self, signature: Signature, a: Words, b: Words, c: Words) -> Words:
        """Issue the instruction once per trial on words [trial][lane][word]; D is poisoned beforehand."""
        found = self._find(signature)
        blank = np.full((len(a), signature.lanes, words_per_lane(signature.operands["D"])), POISON, np.uint32)
        return found.module.launch(f"run_{found.index}", (len(a),), signature.lanes, [a, b, c, blank], 3)

    def move(self, name: Literal["ldmatrix", "stmatrix"], words: Words, rows: Rows) -> Words:
        """One .x4 matrix move between memory rows and registers."""
        cubin = compile_cubin(MATRIX_SOURCES[name], self.info.sm)
        blank = np.full((32, 4), 0xFFFFFFFF, np.uint32)
        loads = name == "ldmatrix"
        image, registers = (words, blank) if loads else (blank, words)
        return load(cubin).launch(name, (1,), 32, [image, rows, registers], 2 if loads else 0)

    def sass(self, signature: Signature) -> str:
        """The matrix opcodes of the `run` kernel, empty where no disassembler is found."""
        kernels = self._find(signature)
        return kernels.listing.opcodes.get(f"run_{kernels.index}", "")

    def _find(self, signature: Signature) -> _Kernels:
        """The module of an instruction. One group more is compiled, while this one is being disassembled."""
        self.prepare([signature])
        while self._compiled < min(len(self._groups), self._place[signature.mnemonic] + 2):
            self._compile(self._groups[self._compiled])
            self._compiled += 1
        found = self._kernels[signature.mnemonic]
        if isinstance(found, Refused):
            raise found
        return found

    def _compile(self, group: Sequence[Signature]) -> None:
        try:
            cubin = compile_cubin(module(group), self.info.sm)
        except Refused as refused:
            if len(group) == 1:
                self._kernels[group[0].mnemonic] = refused
            else:  # one of them is to blame
                for one in group:
                    self._compile([one])
            return
        listing = Listing(cubin)
        loaded = load(cubin)
        self._kernels |= {s.mnemonic: _Kernels(loaded, index, listing) for index, s in enumerate(group)}

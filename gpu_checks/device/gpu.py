# SPDX-License-Identifier: Apache-2.0
"""The GPU at hand as a Machine: which kernels it needs, when they are compiled, how they are launched."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from gpu_checks.arrays import np
from gpu_checks.device.cuda import (
    Array,
    Launched,
    Loaded,
    Uninitialized,
    compile_cubin,
    device_info,
    load,
    open_context,
)
from gpu_checks.device.sass import Listing
from gpu_checks.kernels.copies import threads
from gpu_checks.kernels.digit_coded import At, families
from gpu_checks.kernels.forms import forms, plainest
from gpu_checks.kernels.mma import WARPS
from gpu_checks.kernels.modules import GROUP, module, probe_of
from gpu_checks.kernels.packing import POISON, Words, words_per_lane
from gpu_checks.kernels.smem_matrix import ALIGNMENT, Window
from gpu_checks.machine import DigitQuery, Hits, Rows
from gpu_checks.model import DeviceInfo, Table, Unavailable, Unsupported
from isa_tables.signature import Signature, runs_on

BLOCKS = 1024  # of a digit-coded kernel: enough to fill the largest GPU
ROOM = 44 << 10  # words of shared memory that a block may request: Hopper has 57 << 10, and A may take a part
_UNWRITTEN = 0xFFF0  # in the table before the kernel runs: no slot and no code


def machine() -> Gpu | Unavailable:
    """Return the GPU as a Machine, or why there is none. `open` opens its CUDA context."""
    info = device_info()
    return info if isinstance(info, Unavailable) else Gpu(info)


@dataclass(frozen=True, slots=True)
class _Kernels:
    """Where one instruction's kernels are: the loaded module, its place in it, and the module's disassembly."""

    module: Loaded  # several instructions' kernels in the GPU's memory
    index: int  # of the instruction in it
    kind: str | None  # the probe it gets
    listing: Listing  # the module's disassembly
    family: int = 0  # of instructions that share digit-coded kernels
    member: int = 0  # place of the instruction in its family


@dataclass(slots=True)
class Gpu:
    """A Machine that compiles with NVRTC, several instructions at a time, and runs on the current device."""

    info: DeviceInfo
    _groups: list[Future[list[_Built]] | None] = field(default_factory=list)  # None once they are loaded
    _place: dict[str, int] = field(default_factory=dict)  # mnemonic -> its group
    # The cache key is the mnemonic, for one GPU in one process: kernels follow from the shipped, fixed tables.
    _kernels: dict[str, _Kernels | Unsupported] = field(default_factory=dict)
    _compilers: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(os.cpu_count()))

    def open(self) -> None:
        """Open the CUDA context."""
        open_context()

    def prepare(self, signatures: Sequence[Signature]) -> None:
        """Group the instructions that this GPU can run and begin to compile and disassemble them."""
        self._begin(signatures, listed=True)

    def _begin(self, signatures: Sequence[Signature], listed: bool) -> None:
        """Begin to compile those that were not met before, on all processors; `listed`: to disassemble them too."""
        fresh = {s.mnemonic: s for s in signatures if s.mnemonic not in self._place}
        new = [s for s in fresh.values() if probe_of(s) and runs_on(s, self.info.sm)]
        for start in range(0, len(new), GROUP):
            group = new[start : start + GROUP]
            self._place |= dict.fromkeys((s.mnemonic for s in group), len(self._groups))
            self._groups.append(self._compilers.submit(_build, group, self.info.sm, listed))

    def table(self, signature: Signature) -> Table:
        """Return the D slot (or code) that each one-hot pair contributes to: [A slot][B slot]."""
        a_slots, b_slots = (signature.lanes * signature.operands[x].values for x in "AB")
        kernels = self._find(signature)
        grid = ((a_slots + WARPS - 1) // WARPS, max(1, min(b_slots, 4096 // a_slots)))
        blank = np.full((a_slots, b_slots), _UNWRITTEN, np.uint16)
        return kernels.module.launch(f"relation_{kernels.index}", grid, 32 * WARPS, [blank], [0]).results()[0]

    def hits(self, signature: Signature, queries: Sequence[DigitQuery]) -> list[Hits]:
        """For each query, the D elements that each A element contributes to, and the numbers of the B elements."""
        begun = [self._launch(signature, query) for query in queries]
        return [Hits(*launched.results()) for launched in reversed(begun)][::-1]  # all are done when the last is

    def _launch(self, signature: Signature, query: DigitQuery) -> Launched:
        """Launch a digit-coded probe."""
        kernels, numbering = self._find(signature), query.numbering
        planes, items = len(numbering.planes), len(query.fixed) * len(query.chosen)
        d_words = signature.lanes * words_per_lane(signature.operands["D"])
        stride = 0 if query.b is None else -(-query.b.size // ALIGNMENT) * ALIGNMENT // 4
        resident = planes if d_words + planes * stride <= ROOM else 1
        numbers = _numbers(
            query.a,
            query.b,
            planes=planes,
            items=items,
            a_slots=len(query.chosen),
            limit=numbering.columns,
            base=numbering.base,
            member=kernels.member,
            d_values=signature.operands["D"].values,
            b_at=d_words,
            b_stride=stride,
            resident=resident,
        )
        each = (items, numbering.columns)
        shown = (((items,), "u4"), (each, "u2"), (each, "i4"))  # as Hits
        given: list[Array | Uninitialized] = [numbers, query.chosen, numbering.planes, query.fixed]
        arrays = [*given, *(Uninitialized(shape, np.dtype(kind)) for shape, kind in shown)]
        name = f"coded_{kernels.family}_{forms(signature).index(query.form)}"
        shared = ALIGNMENT + 4 * (d_words + resident * stride)
        return kernels.module.launch(name, (min(items, BLOCKS),), signature.lanes, arrays, [4, 5, 6], shared)

    def begin(
        self, signature: Signature, a: Words, b: Words, c: Words, fixed: Words | None = None
    ) -> Callable[[], Words]:
        """Issue the instruction once per trial on words [trial][lane][word]; what is returned waits for D."""
        kernels = self._find(signature)
        blank = np.full((len(a), signature.lanes, words_per_lane(signature.operands["D"])), POISON, np.uint32)
        arrays = [a, b, c, blank]
        if kernels.kind == "codes":
            numbers = _numbers(None, plainest(signature, "B"))
            arrays = [numbers, a, b, c, blank if fixed is None else fixed, blank]
        at = len(arrays) - 1
        begun = kernels.module.launch(f"run_{kernels.index}", (len(a),), signature.lanes, arrays, [at])
        return lambda: begun.results()[0]

    def move(self, signature: Signature, memory: Words, rows: Rows, given: Words) -> tuple[Words, Words]:
        """Return memory [trial][row][word] and registers [trial][lane][register] after a matrix move of each trial."""
        kernels = self._find(signature)
        arrays = [memory, rows, given, np.full_like(given, 0xFFFFFFFF)]
        begun = kernels.module.launch(f"move_{kernels.index}", (len(rows),), threads(signature), arrays, [0, 3])
        image, taken = begun.results()
        return image, taken

    def sass(self, signature: Signature) -> str:
        """Return the matrix opcodes of one issue, empty where no disassembler is found."""
        kernels = self._find(signature)
        name = "move" if kernels.kind == "moves" else "run"
        return kernels.listing.opcodes.get(f"{name}_{kernels.index}", "")

    def _find(self, signature: Signature) -> _Kernels:
        """Return the module of an instruction, once its group is compiled."""
        self._begin([signature], listed=False)
        group = self._groups[self._place[signature.mnemonic]]
        if isinstance(group, Future):
            for part in group.result():
                self._load(part)
            self._groups[self._place[signature.mnemonic]] = None
        kernels = self._kernels[signature.mnemonic]
        if isinstance(kernels, Unsupported):
            raise kernels
        return kernels

    def _load(self, part: _Built) -> None:
        if isinstance(part.code, Unsupported):
            self._kernels |= dict.fromkeys((s.mnemonic for s in part.signatures), part.code)
            return
        loaded = load(part.code.cubin)
        for index, signature in enumerate(part.signatures):
            self._kernels[signature.mnemonic] = _Kernels(loaded, index, probe_of(signature), part.code)
        for number, family in enumerate(families(part.signatures)):
            for member, signature in enumerate(family):
                kernels = self._kernels[signature.mnemonic]
                if isinstance(kernels, _Kernels):
                    self._kernels[signature.mnemonic] = replace(kernels, family=number, member=member)


@dataclass(frozen=True, slots=True)
class _Built:
    """Machine code of some instructions, or why there is none."""

    signatures: Sequence[Signature]
    code: Listing | Unsupported


def _build(group: Sequence[Signature], architecture: str, listed: bool) -> list[_Built]:
    """Compile a group as one module; if that fails, each instruction alone, to find the one that does not compile."""
    try:
        code = Listing(compile_cubin(module(group), architecture, fast=True))
    except Unsupported as error:
        if len(group) == 1:
            return [_Built(group, error)]
        return [part for signature in group for part in _build([signature], architecture, listed)]
    if listed:
        code.begin()
    return [_Built(group, code)]


def _numbers(a: Window | None, b: Window | None, **known: int) -> Array:
    """Return the first argument of a digit-coded kernel, whose places are `At`; zero where nothing is known."""
    numbers = np.zeros(max(At) + 1, np.uint32)
    for at, image in ((At.A_DESCRIPTOR, a), (At.B_DESCRIPTOR, b)):
        if image is not None:
            numbers[at : at + 2] = image.descriptor & 0xFFFFFFFF, image.descriptor >> 32
    numbers[At.B_WORDS] = 0 if b is None else b.size // 4
    for name, number in known.items():
        numbers[At[name.upper()]] = number
    return numbers

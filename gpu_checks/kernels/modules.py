# SPDX-License-Identifier: Apache-2.0
"""Which probe an instruction gets, and the CUDA text of several instructions as one module."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from gpu_checks.kernels import copies, digit_coded, forms, mma, tcgen05
from gpu_checks.kernels.templates import beside

if TYPE_CHECKING:
    from isa_tables.signature import Signature

GROUP = 16  # instructions that are compiled as one module: NVRTC's start-up is half the time of a small one
COMMON = beside(__file__)["common"].template  # what every module begins with

_TEXTS: Mapping[str, tuple[Callable[[Signature], bool], Callable[[Signature, int], str]]] = MappingProxyType(
    {
        "pairs": (mma.fits, mma.text),
        "codes": (forms.fits, digit_coded.text),
        "moves": (copies.fits, copies.text),
    }
)
_UNREAD = (tcgen05.fits, tcgen05.text)  # kernels that no probe reads yet


def probe_of(signature: Signature) -> str | None:
    """pairs, codes or moves: the kind of probe that can issue the instruction; None where there is none."""
    return next((name for name, (fits, _) in _TEXTS.items() if fits(signature)), None)


def has_kernels(signature: Signature) -> bool:
    """Whether `module` has text for the instruction. No probe reads that of `tcgen05`, so it isn't a kind of probe."""
    return probe_of(signature) is not None or tcgen05.fits(signature)


def group_instructions(signatures: Sequence[Signature]) -> list[Sequence[Signature]]:
    """Return the instructions in groups that are best compiled as one module: families, which share kernels."""
    kin = sorted(signatures, key=lambda s: (digit_coded.family_of(s), s.shape))
    return [kin[start : start + GROUP] for start in range(0, len(kin), GROUP)]


def module(signatures: Sequence[Signature]) -> str:
    """One compilation unit for some instructions; the kernels of the n-th end in _n, those of family f in _f_form."""
    own = (
        text(signature, index)
        for index, signature in enumerate(signatures)
        for fits, text in (*_TEXTS.values(), _UNREAD)
        if fits(signature)
    )
    shared = (digit_coded.family_text(family, f) for f, family in enumerate(digit_coded.families(signatures)))
    return "".join([COMMON, *own, *shared])


def kernel_hash(signature: Signature) -> str:
    """SHA-256 of the text of one instruction's kernels; a recording keeps it to show which kernels made it."""
    return hashlib.sha256(module([signature]).encode()).hexdigest()

# SPDX-License-Identifier: Apache-2.0
"""The kernel of tcgen05.mma, cp and ld.red: memories are filled, the instruction issued, Tensor Memory read back.

There is no probe that reads what these kernels compute, and no GPU has run them: all that is known is that they
assemble. `modules.probe_of` gives them no kind, so `record.require` rejects them on every GPU, and nothing is recorded
from them.

A block is one CTA, `ctas` of them a cluster. Each fills its Tensor Memory, a column at a time with .32x32b.x1, and
its shared memory, as much as it was launched with. CTA 0 of the cluster then issues the instruction, by as many
threads as share it, and commits it to a barrier in every CTA, where all threads wait. Registers that it returns are
waited for at once, and nothing is left to commit. Then Tensor Memory is read back as it was filled.

What the operand list names is a number that the host gives (`names`): for Tensor Memory an address from the start of
what was allocated, for shared memory a matrix descriptor whose address counts from the start of the image, else the
number itself, as the instruction descriptor and the predicate p are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from gpu_checks.kernels import tensor_memory
from gpu_checks.kernels.templates import beside

if TYPE_CHECKING:
    from isa_tables.signature import Signature

_CUDA = beside(__file__)
_NAME = re.compile(r"\{([A-Z]+)\}|\b([a-z]\w*)\b")
_PREDICATE = "p"
_GIVEN: Mapping[str, str] = MappingProxyType(
    {"tmem": '"r"(start + (u32)given[{}])', "smem": '"l"(home + given[{}])', "number": '"r"((u32)given[{}])'}
)


def fits(signature: Signature) -> bool:
    """Whether the instruction names Tensor Memory in its operand list and is no move that a probe follows."""
    return "tmem" in {_space(signature, name) for name in _list_names(signature)} and not tensor_memory.fits(signature)


def names(signature: Signature) -> tuple[str, ...]:
    """Return what the host gives, a 64-bit number each, in the operand list's order: operands, addresses, idesc, p."""
    return tuple(name for name in _list_names(signature) if _space(signature, name) != "reg")


def text(signature: Signature, index: int) -> str:
    """Return the kernel tensor_{index}: the instruction once in a cluster."""
    return _CUDA["kernel"].substitute(
        mnemonic=signature.mnemonic,
        index=index,
        ctas=signature.ctas,
        every=(1 << signature.ctas) - 1,
        threads=tensor_memory.THREADS,
        lanes=tensor_memory.LANES,
        columns=tensor_memory.COLUMNS,
        names=len(names(signature)),
        issuers=signature.lanes,
        issue=_issue(signature),
        together=_CUDA["together"].template,
    )


def _list_names(signature: Signature) -> list[str]:
    """Return the names in the operand list: an operand's in capitals, else as the assembly text has it."""
    return [operand or word for operand, word in _NAME.findall(signature.asm)]


def _space(signature: Signature, name: str) -> str:
    """reg, tmem, smem; number for what is in none of them."""
    fragment = signature.operands.get(name)
    return fragment.space if fragment else signature.addresses.get(name, "number")


def _issue(signature: Signature) -> str:
    """Return the instruction, its registers numbered: first those that it returns, then what the host gives."""
    numbered: dict[str, str] = {}
    registers = 0
    for name, fragment in signature.operands.items():
        if fragment.space == "reg":
            vector = ", ".join(f"%{registers + r}" for r in range(fragment.regs))
            numbered[name] = f"{{{vector}}}" if name == "R" else vector
            registers += fragment.regs
    before = ""
    for place, name in enumerate(names(signature), registers):
        numbered[name] = f"%{place}"
        if name == _PREDICATE:
            before = f".reg .pred p; setp.ne.u32 p, %{place}, 0; "
            numbered[name] = name
    spaces = enumerate(_space(signature, name) for name in names(signature))
    return _CUDA["taking" if registers else "quiet"].substitute(
        before=before,
        mnemonic=signature.mnemonic,
        operands=_NAME.sub(lambda match: numbered[match[1] or match[2]], signature.asm),
        registers=registers,
        issuers=signature.lanes,
        outputs=", ".join(f'"=r"(r[{w}])' for w in range(registers)),
        inputs=", ".join(_GIVEN[space].format(n) for n, space in spaces),
    )

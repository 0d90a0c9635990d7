# SPDX-License-Identifier: Apache-2.0
"""The kernel of tcgen05.ld and tcgen05.st: Tensor Memory is filled, the instruction issued, Tensor Memory read back.

It is filled and read back a column at a time, by the four warps, with .32x32b.x1. So the lanes and columns that are
observed are those of that form: the premise is that thread t of warp w has lane 32 * w + t of a column there. The
instruction itself is warp 0's, which accesses the lanes 0 to 31.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_checks.kernels.assembly import register_inputs
from gpu_checks.kernels.templates import beside

if TYPE_CHECKING:
    from isa_tables.signature import Signature

LANES, COLUMNS = 128, 512  # of the Tensor Memory of a CTA: PTX ISA 9.7.16.1.1
THREADS = 128  # a warpgroup: each of its warps can access 32 lanes (PTX ISA 9.7.16.2.3.1)

_CUDA = beside(__file__)


def fits(signature: Signature) -> bool:
    """Whether it moves between Tensor Memory and registers, and nothing else."""
    return signature.family in ("tcgen05.ld.sync", "tcgen05.st.sync") and set(signature.operands) == {"R"}


def room(signature: Signature) -> int:
    """Return the last column at which the instruction stays inside Tensor Memory."""
    behind = int(signature.chosen.get("immHalfSplitoff", 0))
    return COLUMNS - signature.operands["R"].extent[1] - behind


def text(signature: Signature, index: int) -> str:
    """Return the kernel: one trial a block; what is not written stays as it was given."""
    fragment = signature.operands["R"]
    loads = signature.asm.startswith("{R}")
    given = ", ".join(register_inputs("r", fragment))
    vector = f"{{{', '.join(f'%{w}' for w in range(fragment.regs))}}}"
    return _CUDA["move"].substitute(
        mnemonic=signature.mnemonic,
        index=index,
        threads=THREADS,
        lanes=LANES,
        all=COLUMNS,
        barrier=_CUDA["barrier"].template,
        registers=fragment.regs,
        operands=signature.asm.replace("{R}", vector).replace("taddr", f"%{fragment.regs}"),
        wait="ld" if loads else "st",
        outputs=given.replace('"r"', '"=r"') if loads else "",
        inputs='"r"(p)' if loads else f'{given}, "r"(p)',
    )

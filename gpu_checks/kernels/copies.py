# SPDX-License-Identifier: Apache-2.0
"""Moves between memory and registers: ldmatrix, stmatrix, movmatrix; tcgen05.ld and st (`tensor_memory`).

Which byte goes where is inferred from their runs (`inference.copies`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_checks.kernels import tensor_memory
from gpu_checks.kernels.assembly import operand_list, register_inputs
from gpu_checks.kernels.templates import beside

if TYPE_CHECKING:
    from isa_tables.signature import Fragment, Signature

# ldmatrix and stmatrix take rows of 16 bytes (PTX ISA 9.7.14.5.15), each from an address of its own.
ROWS, ROW = 256, 16  # rows of memory to draw from, bytes in a row

_CUDA = beside(__file__)


def fits(signature: Signature) -> bool:
    """Whether it moves matrices: registers and addresses, registers and registers, or Tensor Memory and registers."""
    moves = set(signature.operands) in ({"R", "P"}, {"D", "A"}) and signature.lanes == 32
    return moves or tensor_memory.fits(signature)


def loads(signature: Signature) -> bool:
    """Whether memory is the source."""
    return signature.asm.startswith("{R}")


def registers(signature: Signature) -> Fragment:
    """Return the registers that a lane gives or takes."""
    return signature.operands["R" if "R" in signature.operands else "D"]


def text(signature: Signature, index: int) -> str:
    """Return the kernel: one trial a block; what is not written stays as it was given."""
    if tensor_memory.fits(signature):
        return tensor_memory.text(signature, index)
    count = registers(signature).regs
    given = ", ".join(register_inputs("r", registers(signature)))
    taken = given.replace('"r"', '"=r"')
    if loads(signature):
        operands, outputs, inputs = _vector(count) + f", [%{count}]", taken, '"r"(p)'
    elif "P" in signature.operands:
        operands, outputs, inputs = f"[%{count}], " + _vector(count), "", f'{given}, "r"(p)'
    else:
        operands, outputs, inputs = operand_list(signature, signature.asm).translate(_PLAIN), taken, given
    facts = {"mnemonic": signature.mnemonic, "index": index, "registers": count, "words": ROWS * ROW // 4, "row": ROW}
    return _CUDA["move"].substitute(facts, operands=operands, outputs=outputs, inputs=inputs)


_PLAIN = str.maketrans("", "", "{}")  # movmatrix takes single registers


def _vector(count: int) -> str:
    return f"{{{', '.join(f'%{w}' for w in range(count))}}}"


def threads(signature: Signature) -> int:
    """Threads of a block of the kernel."""
    return tensor_memory.THREADS if tensor_memory.fits(signature) else 32

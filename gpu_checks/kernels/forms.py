# SPDX-License-Identifier: Apache-2.0
"""Instructions with metadata or with operands in shared memory: the forms in which they are issued.

An operand in shared memory has one lane, and its slots are the elements of its image in order of address.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from gpu_checks.kernels.assembly import is_warpgroup
from gpu_checks.kernels.smem_matrix import MAJORS, Window, transposes, window
from isa_tables.signature import signature as look_up

if TYPE_CHECKING:
    from isa_tables.signature import Signature

BAD = -(2**30)  # a code below zero: D did not get exactly one element of B
CODED, MULTIPLIED = ("D", "A", "B"), ("D", "A", "B", "C")


class InstructionForm(NamedTuple):
    """One way to write an instruction: what its text chooses, and the major of each matrix in memory."""

    signature: Signature
    majors: tuple[str, str] = ("K", "K")

    @property
    def plain(self) -> bool:
        """Whether A comes from registers and B is K-major: there is one such form for each selector."""
        return self.signature.operands["A"].space == "reg" and self.majors == ("K", "K")

    @property
    def asm(self) -> str:
        """The operand list with the transposes of the majors."""
        text = self.signature.asm
        flags = [str(MAJORS.index(major)) for major in self.majors][2 - transposes(text) :]
        return ", ".join(text.split(", ")[: -len(flags)] + flags) if flags else text


def fits(signature: Signature) -> bool:
    """Whether these kernels can issue it: more operands than A, B, C and D, or some of them in shared memory."""
    operands = signature.operands
    known = set(operands) <= {*MULTIPLIED, "E", "SFA", "SFB"} and set(operands) >= set(CODED)
    elsewhere = {name: fragment.space for name, fragment in operands.items() if fragment.space != "reg"}
    plain = tuple(operands) == MULTIPLIED and not elsewhere
    in_memory = set(elsewhere) <= set("AB") and set(elsewhere.values()) == {"smem"} and "C" not in operands
    return known and not plain and (not elsewhere or in_memory) and signature.lanes in (32, 128)


# The cache key is the whole signature, its operands too: one in which a fault is planted has forms of its own.
@cache
def forms(signature: Signature) -> tuple[InstructionForm, ...]:
    """Every form, the one that `run` issues first: A from registers, K-major, the first selector.

    Other majors come with the first selector alone.
    """
    choices = signature.select.get("F", ())
    if not is_warpgroup(signature):
        return tuple(InstructionForm(look_up(signature.mnemonic, F=selector)) for selector in choices) or (
            InstructionForm(signature),
        )
    every: list[InstructionForm] = []
    for selector in choices or (None,):
        chosen: dict[str, Any] = {} if selector is None else {"F": selector}
        registers, memory = (look_up(signature.mnemonic, A_space=space, **chosen) for space in ("reg", "smem"))
        every += [InstructionForm(registers), InstructionForm(memory)]
        if len(every) == len(MAJORS) == transposes(memory.asm):
            every += [InstructionForm(registers, ("K", "MN")), InstructionForm(memory, ("MN", "K"))]
    return tuple(every)


def plain_form(signature: Signature) -> Signature:
    """Return the signature of the form that `run` issues."""
    return forms(signature)[0].signature if fits(signature) else signature


def plainest(signature: Signature, operand: str) -> Window | None:
    """Return the image that `run` expects of A or B; None for an operand in registers."""
    fragment = forms(signature)[0].signature.operands[operand]
    return window(operand, fragment) if fragment.space == "smem" else None


def slots(form: InstructionForm, operand: str, image: Window | None) -> tuple[int, int]:
    """Lanes and values of A or B: the lanes that hold it, or one lane that holds every element of its image."""
    fragment = form.signature.operands[operand]
    if image is None:
        return form.signature.lanes, fragment.values
    return 1, image.size * 8 // fragment.bits

# SPDX-License-Identifier: Apache-2.0
"""Runs coded probes: the planes of B for an image or for registers, and the meetings they show."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gpu_checks.coded import Form, slots
from gpu_checks.machine import Coded, Machine
from gpu_checks.meetings import Meetings, collect
from gpu_checks.packing import Words, digits, pack

if TYPE_CHECKING:
    from gpu_checks.memory import Window

NOTHING = np.zeros((1, 1, 1), np.uint32)  # the fixed words of an instruction without metadata


@dataclass(frozen=True, slots=True)
class Spelling:
    """How B's elements are numbered: the planes as words, and the base of their digits."""

    planes: Words
    base: int
    numbers: int  # that are there: 0 up to this
    columns: int  # of B that are not zero: so many elements of D does an element of A reach


def spell(
    form: Form, image: Window | None, named: npt.NDArray[np.int64] | None = None, columns: int | None = None
) -> Spelling:
    """A plane of ones, then one for each digit of the slot's number, the lowest first.

    The number is the slot's own, or the one that it is `named`: zeros stand where that is below 0, which leaves so
    many `columns` of B.
    """
    lanes, values = slots(form, "B", image)
    base = digits(form.signature)
    number = np.arange(lanes * values) if named is None else named
    planes, weight, numbers = [np.ones_like(number)], 1, 1 + int(number.max(initial=0))
    while weight < numbers:
        planes.append(number // weight % base)
        weight *= base
    fragment = form.signature.operands["B"]
    if image is not None:
        fragment = replace(fragment, values=values, regs=image.size // 4, reg_type="b32")
    whole = np.where(number < 0, 0, np.stack(planes)).reshape(-1, lanes, values)
    return Spelling(pack(fragment, whole), base, numbers, columns or form.signature.shape[1])


def meet(
    machine: Machine,
    form: Form,
    a: Window | None,
    b: Window | None,
    spelling: Spelling,
    fixed: Words = NOTHING,
    only: npt.NDArray[np.int64] | None = None,
) -> tuple[list[Meetings], tuple[str, ...]]:
    """The meetings of A's elements, or of some of them, under each of the fixed words, and what did not fit.

    Each element of B is known by its number in the spelling.
    """
    chosen = np.arange(prod(slots(form, "A", a))) if only is None else only
    coded = Coded(form, a, b, chosen.astype(np.uint32), spelling.planes, spelling.base, fixed, spelling.columns)
    return collect(machine.hits(form.signature, coded), chosen, spelling.numbers)

# SPDX-License-Identifier: Apache-2.0
"""Digit-coded probes: the planes of B for an image or for registers, and the queries of a probe, run in turns.

The queries of a probe are a coroutine: it yields a list of queries, is sent their answers, and returns its result.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import replace
from itertools import islice
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from gpu_checks.arrays import np
from gpu_checks.inference.interactions import Interactions, collect
from gpu_checks.kernels.forms import InstructionForm, slots
from gpu_checks.kernels.packing import Words, digits, pack
from gpu_checks.machine import DigitQuery, Numbering, ProbeMachine

if TYPE_CHECKING:
    import numpy.typing as npt

    from gpu_checks.kernels.smem_matrix import Window
    from isa_tables.signature import Signature

NOTHING = np.zeros((1, 1, 1), np.uint32)  # the fixed words of an instruction without metadata


def numbering(
    form: InstructionForm, image: Window | None, named: npt.NDArray[np.int64] | None = None, columns: int | None = None
) -> Numbering:
    """Return a plane of ones, then one for each digit of the slot's number, the lowest first.

    The number is the slot's own, or the one in `named`. An element whose number is below 0 is zero in every plane,
    which leaves so many `columns` of B.
    """
    lanes, values = slots(form, "B", image)
    base = digits(form.signature)
    number = np.arange(lanes * values) if named is None else named
    numbers, width = 1 + int(number.max(initial=0)), base.bit_length() - 1  # of a digit, in bits
    digit = (number >> shift & base - 1 for shift in range(0, (numbers - 1).bit_length(), width))
    planes = np.stack([np.ones_like(number), *digit])
    if named is not None:
        planes[:, number < 0] = 0
    fragment = form.signature.operands["B"]
    if image is not None:
        fragment = replace(fragment, values=values, regs=image.size // 4, reg_type="b32")
    words = pack(fragment, planes.reshape(-1, lanes, values))
    return Numbering(words, base, numbers, columns or form.signature.shape[1])


Answer: TypeAlias = "tuple[list[Interactions], tuple[str, ...]]"  # one for each of the fixed words; notes
T = TypeVar("T")
Queries: TypeAlias = Generator[list[DigitQuery], Any, T]  # yields queries, is sent their Answers, returns a T


def query(
    form: InstructionForm,
    a: Window | None,
    b: Window | None,
    numbered: Numbering,
    fixed: Words = NOTHING,
    only: npt.NDArray[np.int64] | None = None,
) -> DigitQuery:
    """Return the query for the interactions of A's elements, or of `only` some, under each of the fixed words."""
    chosen = np.arange(prod(slots(form, "A", a))) if only is None else only
    return DigitQuery(form, a, b, chosen.astype(np.uint32), numbered, fixed)


def together(several: Iterable[Queries[T]]) -> Queries[list[T]]:
    """Yield the results of several probes, whose queries of one turn are issued together."""
    every, known = list(several), {}
    answers: dict[int, list[Answer] | None] = dict.fromkeys(range(len(every)))
    while answers:
        issued = {}
        for number, given in answers.items():
            try:
                issued[number] = every[number].send(given)
            except StopIteration as ended:
                known[number] = ended.value
        queries = [query for part in issued.values() for query in part]
        answered = iter((yield queries)) if queries else iter(())
        answers = {number: list(islice(answered, len(part))) for number, part in issued.items()}
    return [known[number] for number in range(len(every))]


def run_queries(machine: ProbeMachine, signature: Signature, queries: Queries[T]) -> T:
    """Return the result of a probe. The queries of a turn are issued together: a GPU is slow to change processes."""
    answers: list[Answer] | None = None
    while True:
        try:
            issued = queries.send(answers)
        except StopIteration as ended:
            known: T = ended.value
            return known
        seen = zip(issued, machine.hits(signature, issued), strict=True)
        answers = [collect(hits, query.chosen.astype(np.int64), query.numbering.numbers) for query, hits in seen]

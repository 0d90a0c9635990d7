# SPDX-License-Identifier: Apache-2.0
"""Opaque data: what an instruction gives lies in the interval that it gives of intervals with its operands."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest

from isa_tables.semantics import Row, rows
from tests.verify.kernel import states
from tests.verify.kernel.forms import Form, choose_first, list_pairs
from verify.kernel.data.intervals import Interval, fill_ones, insert, of_mask, settle
from verify.kernel.data.opaque import OpaqueValues
from verify.kernel.data.registers import Word
from verify.kernel.data.values import Values
from verify.kernel.instructions import handlers
from verify.kernel.interpretation import Interpretation
from verify.kernel.ptx.parse import parse_kernel
from verify.kernel.ptx.source import WIDTHS
from verify.kernel.state.findings import Unclear
from verify.kernel.state.machine import Machine

CLASSES = handlers.ON_DATA | {"permute", "shuffle", "move"}
LANES = states.LANES
ROWS = [row for row in rows() if row.meaning in CLASSES and row.spelling[:1] != "*"]
EACH = 1  # forms of a row
WITHOUT_BITS = {"function", "quotient"}  # approximations
NO_RESULT = {"activemask.b32", "abs.{type}"}  # depends on the schedule; a value that is known by its argument


def forms_of(row: Row) -> Iterator[Form]:
    """The first form of a row, and a few that differ from it."""
    yield choose_first(row)
    more = [form for pair in list_pairs(row) for form in pair]
    yield from random.Random(row.spelling).sample(more, min(EACH, len(more)))


def contains(span: Interval, number: int, width: int) -> bool:
    """Whether a number is one of an interval, by its definition."""
    return (number - span.start) % (1 << width) <= span.extent and not number & ~span.mask & fill_ones(width)


def around(number: int, width: int, draw: random.Random) -> Interval:
    """An interval that has a number: narrow or wide, one that wraps, one by its mask."""
    way = draw.randrange(4)
    if way == 0:
        return of_mask(number | draw.getrandbits(draw.randrange(1, width + 1)))
    below, above = (draw.getrandbits(draw.randrange(1, 1 + (width if way == 1 else 5))) for _ in range(2))
    return settle(number - below, below + above, fill_ones(width), width)


def machine_of(text: str, values: Values) -> Machine:
    """A machine with an instruction as its first."""
    run = Interpretation(parse_kernel(states.TEXT.replace("INSTRUCTION", text)), states.launch(), values, 1000, {})
    run.machine.start([(0, 0, 0)], 0)
    if missing := handlers.bind_instructions(run.machine):
        raise states.Refused(missing[0].text)
    return run.machine


def execute(machine: Machine) -> None:
    """Execute the first instruction in all lanes."""
    machine.number, machine.findings.line = 0, machine.kernel.instructions[0].line
    machine.values.line = machine.findings.line
    machine.bound[0].run(None)


def hide(machine: Machine, plain: Word, width: int, draw: random.Random) -> Word:
    """Data of which is known that they lie near the numbers of a register; some lanes keep them, as do a few bytes."""
    values = machine.values
    assert isinstance(values, OpaqueValues)
    bits = np.broadcast_to(plain.bits, LANES).tolist()
    intervals = [around(number, width, draw) if draw.random() < 0.9 else Interval(number, 0, number) for number in bits]
    return values.register(intervals, np.arange(LANES), np.zeros(LANES, np.uint32), max(width // 8, 1), LANES)


@pytest.mark.long
@pytest.mark.parametrize("row", ROWS, ids=[f"{at} {row.spelling}" for at, row in enumerate(ROWS)])
def test_what_an_instruction_gives_lies_in_the_interval(row: Row) -> None:
    compared = 0
    for form in forms_of(row):
        draw = random.Random(form.text)
        try:
            concrete, opaque = (
                machine_of(form.text, Values(1, capacity=1 << 15)),
                machine_of(form.text, OpaqueValues(1)),
            )
        except (states.Refused, Unclear):
            continue
        for seed in range(1):
            compared += compare_both(form, concrete, opaque, draw, seed)
    assert compared or row.meaning in WITHOUT_BITS or row.spelling in NO_RESULT


def compare_both(form: Form, concrete: Machine, opaque: Machine, draw: random.Random, seed: int) -> int:
    """Execute an instruction on numbers and on data that hide them; how many results were compared."""
    picks = np.random.default_rng(seed + len(form.text)).permutation(states.picks())
    lane = np.arange(LANES)
    for number, kind in enumerate(concrete.kernel.registers):
        width = WIDTHS[kind]
        numbers = picks[(lane * 31 + number * 97) % len(picks)] & np.uint64(fill_ones(min(width, 64)))
        concrete.registers[number] = Word(numbers)
        named = f" {concrete.kernel.names[number]}"
        used = form.text.partition(" ")[2]
        data = named.strip() in used and width <= 64
        opaque.registers[number] = hide(opaque, Word(numbers), width, draw) if data else Word(numbers)
    for machine in (concrete, opaque):
        machine.registers[-2:] = [Word((lane % 2).astype(np.uint64))] * 2
    before = list(concrete.registers)
    try:
        execute(concrete)
        execute(opaque)
    except (Unclear, AssertionError):
        return 0
    compared = 0
    for number, (old, new) in enumerate(zip(before, concrete.registers, strict=True)):
        if new is old or new is None or number >= len(concrete.kernel.registers):
            continue
        width = min(WIDTHS[concrete.kernel.registers[number]], 64)
        values, held = opaque.values, opaque.registers[number]
        assert isinstance(values, OpaqueValues) and held is not None
        rows_ = values.rows(held, max(width // 8, 1))
        known = ~np.broadcast_to(new.labels.any(1) if new.labels is not None else False, LANES)
        bits = np.broadcast_to(new.bits, LANES)
        columns = [np.broadcast_to(each, LANES) for each in rows_[:3]]
        for at in np.flatnonzero(known):
            interval = Interval(*(int(each[at]) for each in columns))
            result = int(bits[at]) & fill_ones(max(width, 8))
            assert contains(interval, result, max(width, 8)), (
                form.text,
                at,
                hex(result),
                interval,
                concrete.kernel.names[number],
            )
            compared += 1
    return compared


def test_a_field_that_is_inserted_lies_in_the_interval() -> None:
    draw = random.Random(7)
    for _ in range(3000):
        new, old, at, count = draw.getrandbits(32), draw.getrandbits(32) >> draw.randrange(32), draw.randrange(36), 0
        count = draw.randrange(40)
        new >>= draw.randrange(32)
        field = fill_ones(min(count, max(32 - at, 0))) << at
        number = (old & ~field) | ((new << at) & field)
        spans = [Interval(bits, 0, bits) if draw.random() < 0.3 else around(bits, 32, draw) for bits in (new, old)]
        assert contains(insert(*spans, at, count, 32), number, 32), (new, old, at, count, spans)

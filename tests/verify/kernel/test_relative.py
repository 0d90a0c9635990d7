# SPDX-License-Identifier: Apache-2.0
"""The state that is compared at the head of a loop is complete: every attribute is compared, empty, or has a reason."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from tests.verify.kernel import plain
from verify.kernel.ptx.parse import parse_kernel
from verify.kernel.sizes import relative
from verify.kernel.sizes.forms import NotLifted
from verify.kernel.sizes.induction import same_state
from verify.kernel.sizes.lifted import LiftedMachine, RunStopped
from verify.kernel.sizes.runs import LiftedRun
from verify.kernel.sizes.statement import state
from verify.kernel.state.copies import Copies
from verify.kernel.state.machine import Machine
from verify.kernel.state.products import Products
from verify.kernel.state.region import Stored

OBJECTS = (*relative.COMPARED, *relative.EMPTY, *relative.LISTED)


def run_to_a_head(
    name: str = "plain_f16", given: Sequence[str] = plain.GIVEN, step: int = 32, old: str = "", new: str = ""
) -> LiftedRun:  # fmt: skip
    """Return a run of a kernel, some words changed, after two trips, copies on their way."""
    statement = state(plain.claim(given, name))
    statement.step = step
    ptx = (plain.COMPILED / f"{name}.ptx").read_text(encoding="utf-8")
    assert old in ptx
    kernel = parse_kernel(ptx.replace(old, new), str(statement.table["kernel"]))
    run = LiftedRun(statement, kernel, statement.region(6, statement.numbers(6)), 6, 1)
    loop = max(
        number for number, instruction in enumerate(kernel.instructions) if 0 <= instruction.target <= number
    )  # the last

    def head(trips: int) -> None:
        if trips == 2:
            raise RunStopped

    run.to_the_end(loop, head)
    return run


@pytest.fixture(scope="module")
def run() -> LiftedRun:
    return run_to_a_head()


@pytest.fixture(scope="module")
def machine(run: LiftedRun) -> LiftedMachine:
    return run.machine


def test_every_attribute_of_the_state_is_compared_or_empty_or_has_a_reason(machine: LiftedMachine) -> None:
    assert machine.shared.copies
    relative.relative(machine)
    for kind in {*OBJECTS}:
        compared, empty = relative.COMPARED.get(kind, frozenset()), relative.EMPTY.get(kind, frozenset())
        assert not compared & empty and not (compared | empty) & relative.LISTED.get(kind, {}).keys()
        assert all(len(reason) > 5 for reason in relative.LISTED.get(kind, {}).values())


@pytest.mark.parametrize("of", ["", "shared", "shared.order", "barriers", "memory", "loops"])
def test_an_attribute_that_nobody_knows_ends_a_proof(machine: LiftedMachine, of: str) -> None:
    owner = machine
    for name in of.split(".") if of else ():
        owner = getattr(owner, name)
    owner.unheard_of = 1  # type: ignore[attr-defined]
    try:
        with pytest.raises(NotLifted, match=r"nobody compares \w+.unheard_of"):
            relative.relative(machine)
    finally:
        del owner.unheard_of  # type: ignore[attr-defined]


def _later(name: str) -> Callable[[LiftedMachine], None]:
    """Return a change of one time of an array of the order: later than all that every thread knows."""

    def change(machine: LiftedMachine) -> None:
        array = getattr(machine.shared.order, name)
        array.flat[1 if name == "known" else 0] = machine.shared.order.now + 5

    return change


def _late(when: str) -> Callable[[LiftedMachine], None]:
    """Return a change of the time of the last access of one cell: not all threads know of it then."""

    def change(machine: LiftedMachine) -> None:
        times = getattr(machine.shared.order, when)
        times.flat[int(times.argmax())] = machine.shared.order.now

    return change


def _another(name: str, when: str) -> Callable[[LiftedMachine], None]:
    """Return a change of who did the last access of that cell."""

    def change(machine: LiftedMachine) -> None:
        order = machine.shared.order
        who, cell = getattr(order, name), int(getattr(order, when).argmax())
        who.flat[cell] = (who.flat[cell] + 1) % 128

    return change


CHANGES: dict[str, Callable[[LiftedMachine], None]] = {
    **{name: _later(name) for name in ("known", "floor", "written", "read", "by_lanes", "heard")},
    "writer": _another("writer", "written"),
    "reader": _another("reader", "read"),
    "pc": lambda machine: machine.pc.__setitem__(3, 0),
    "state": lambda machine: machine.state.__setitem__(3, 1),
    "active": lambda machine: machine.active.__setitem__(3, False),
    "pending": lambda machine: machine.shared.pending.__setitem__(slice(None), 0),
    "generic": lambda machine: machine.shared.generic.__setitem__(0, not machine.shared.generic[0]),
}


# what both states have before one of them is changed
BEFORE = {"writer": _late("written"), "reader": _late("read")}
# the part of the state that alone is another one, so that a proof without that part would not see it
SEEN_AS = {
    "known": "what threads know of each other", "floor": "what threads know of all others",
    "written": "when cells were written", "read": "when cells were read", "by_lanes": "when lanes read cells",
    "heard": "when threads last came to know of others", "writer": "who wrote cells", "reader": "who read cells",
    "pc": "places of threads", "state": "states of threads", "active": "threads that execute",
    "pending": "cells with a copy on its way", "generic": "cells written since a proxy fence",
}  # fmt: skip


def test_every_part_of_the_state_has_a_twin_that_it_alone_sees(machine: LiftedMachine) -> None:
    barriers = {name for name in relative.relative(machine) if name.startswith("barrier ")}
    known = {*SEEN_AS.values(), "a thread's knowledge of itself"}  # its change is one of `known` too
    assert relative.relative(machine).keys() - barriers == known and SEEN_AS.keys() == CHANGES.keys()


@pytest.mark.parametrize("field", CHANGES)
def test_a_difference_in_one_field_is_seen(machine: LiftedMachine, field: str) -> None:
    """Each twin differs in one field alone; the run is not continued."""
    untouched = relative.relative(machine)
    kept = [(holder, name, value.copy()) for holder in (machine, machine.shared, machine.shared.order)
            for name, value in vars(holder).items() if isinstance(value, np.ndarray)]  # fmt: skip
    BEFORE.get(field, lambda machine: None)(machine)
    before = relative.relative(machine)
    CHANGES[field](machine)
    try:
        after = relative.relative(machine)
        assert relative.differs(before, after)
        assert [name for name, held in before.items() if not np.array_equal(held, after[name])] == [SEEN_AS[field]]
    finally:
        for holder, name, value in kept:
            getattr(holder, name)[...] = value
    assert relative.differs(untouched, relative.relative(machine)) == ""


def _later_copy(name: str) -> Callable[[LiftedMachine], None]:
    """Return a change of one number of the first copy that is on its way."""

    def change(machine: LiftedMachine) -> None:
        first = next(copy for copy in machine.shared.copies if copy.open.any())
        array = getattr(first, name)
        array.flat[0] = ~array.flat[0] if array.dtype == bool else array.flat[0] + 8

    return change


DATA: dict[str, Callable[[LiftedMachine], None]] = {
    "Shared.labels": lambda machine: machine.shared.labels.__setitem__(0, machine.shared.labels[0] + 8),
    "Shared.plain": lambda machine: machine.shared.plain.__setitem__(0, machine.shared.plain[0] + 1),
    "Shared.copies": lambda machine: machine.shared.copies.pop(),
    "Machine.group": lambda machine: machine.group.__setitem__(0, machine.group[0] + 1),
    **{f"Copies.{name}": _later_copy(name) for name in sorted(relative.COMPARED[Copies])},
}
# whose change ends the proof by itself: nobody has stored or read the output
ENDS: dict[str, Callable[[LiftedMachine], None]] = {
    "Stored.writer": lambda machine: _read_stored(machine).writer.__setitem__(0, 3),
    "Stored.reader": lambda machine: _read_stored(machine).reader.__setitem__(0, 3),
}
# objects that have the fields above, and what means nothing where nobody has stored or read; registers have
# kernels of their own in test_lifted and test_theorem
ELSEWHERE = {
    "Machine.registers", "Machine.shared", "Machine.barriers", "Machine.memory", "Machine.products", "Shared.order",
    "Barriers.barriers", "Products.reads",
    "Global.arrays", "Stored.written", "Stored.read", "Stored.reader_cta",
}  # fmt: skip


def _read_stored(machine: LiftedMachine) -> Stored:
    return next(array.stored for array in machine.memory.arrays if array.stored is not None)


@pytest.mark.parametrize("field", ENDS)
def test_what_a_loop_may_not_do_ends_a_proof(machine: LiftedMachine, field: str) -> None:
    stored = _read_stored(machine)
    writer, reader = stored.writer.copy(), stored.reader.copy()
    ENDS[field](machine)
    try:
        with pytest.raises(NotLifted, match="before the end of the loop"):
            relative.relative(machine)
    finally:
        stored.writer[...], stored.reader[...] = writer, reader
    relative.relative(machine)


@pytest.mark.parametrize("field", DATA)
def test_a_difference_in_the_data_of_one_field_is_seen(run: LiftedRun, field: str) -> None:
    machine = run.machine
    before, copies = run.snapshot(2), list(machine.shared.copies)
    holders = (machine, machine.shared, *copies)
    kept = [(holder, name, value.copy()) for holder in holders for name, value in relative.attributes(holder).items()
            if isinstance(value, np.ndarray)]  # fmt: skip
    DATA[field](machine)
    try:
        assert same_state(run, before, run.snapshot(2), 0)
    finally:
        machine.shared.copies[:] = copies
        for holder, name, value in kept:
            getattr(holder, name)[...] = value
    assert same_state(run, before, run.snapshot(2), 0) == ""


WAIT = "wgmma.wait_group.sync.aligned "
OF_PRODUCTS = ("touched", "fenced", "serial", "complete", "committed", "spans", "results", "inputs")


@pytest.fixture(scope="module")
def wgmma() -> LiftedMachine:
    """Return a machine between two trips, the wgmma of the last one on their way."""
    given = [f"{name} % 64 == 0" for name in ("M", "N", "K", "lda", "ldb", "ldc")]
    return run_to_a_head("wgmma", given, 64, f"{WAIT}0;", f"{WAIT}1;").machine


def _first_result(products: Products) -> int:
    return next(iter(products.results))


def _read_other_cells(products: Products) -> None:
    serial, cells = products.spans[0][0]
    products.spans[0][0] = serial, cells[1:]


WGMMA: dict[str, Callable[[Products], None]] = {
    "Products.touched": lambda products: products.touched.update({0: np.array([1 << 40])}),
    "Products.fenced": lambda products: products.fenced.__setitem__(0, -1),
    "Products.serial": lambda products: setattr(products, "serial", products.serial + 1),
    "Products.complete": lambda products: products.complete.__setitem__(0, products.serial),
    "Products.committed": lambda products: products.committed[0].pop(),
    "Products.spans": _read_other_cells,
    "Products.results": lambda products: products.results.pop(_first_result(products)),
    "Products.inputs": lambda products: products.inputs.update({0: np.array([products.serial])}),
    "Reads.ended": lambda products: products.reads.ended.__setitem__((0, 0), products.reads.order.now + 5),
    "Reads.reading": lambda products: products.reads.reading.__setitem__(slice(None), 0),
}


@pytest.mark.parametrize("field", WGMMA)
def test_a_difference_in_the_state_of_wgmma_is_seen(wgmma: LiftedMachine, field: str) -> None:
    products = wgmma.products
    assert products is not None and products.touched and (products.fenced >= 0).all()
    assert products.spans[0] and products.committed[0] and (products.complete < products.serial).all()
    before = relative.relative(wgmma)
    kept = {name: copy.deepcopy(getattr(products, name)) for name in OF_PRODUCTS}
    reads = {name: getattr(products.reads, name).copy() for name in ("ended", "reading")}
    WGMMA[field](products)
    try:
        assert relative.differs(before, relative.relative(wgmma))
    finally:
        for of, held in ((products, kept), (products.reads, reads)):
            for name, value in held.items():
                setattr(of, name, value)
    assert relative.differs(before, relative.relative(wgmma)) == ""


def test_the_number_of_a_wgmma_alone_is_no_difference(wgmma: LiftedMachine) -> None:
    """All are counted back from the last one: later ones on their way are as these."""
    products = wgmma.products
    assert products is not None
    before = relative.relative(wgmma)
    kept = {name: copy.deepcopy(getattr(products, name)) for name in OF_PRODUCTS}
    reading = products.reads.reading.copy()
    products.serial += 7
    products.complete += 7
    products.committed = [[(serial + 7, clock) for serial, clock in each] for each in products.committed]
    products.spans = [[(serial + 7, cells) for serial, cells in each] for each in products.spans]
    for table in (products.results, products.inputs):
        table.update({register: serials + 7 for register, serials in table.items()})
    products.reads.reading = np.where(reading > 0, reading + 7, 0)
    try:
        assert relative.differs(before, relative.relative(wgmma)) == ""
    finally:
        products.reads.reading = reading
        for name, value in kept.items():
            setattr(products, name, value)


@pytest.mark.parametrize(("name", "held"), [("issued", [[1]])])
def test_what_no_wgmma_of_a_lifted_kernel_has_ends_a_proof(wgmma: LiftedMachine, name: str, held: object) -> None:
    assert wgmma.products is not None
    kept = getattr(wgmma.products, name)
    setattr(wgmma.products, name, held)
    try:
        with pytest.raises(NotLifted, match=rf"uses Products.{name}"):
            relative.relative(wgmma)
    finally:
        setattr(wgmma.products, name, kept)


BARRIER = {"Barrier.came", "Barrier.waited"}


def test_who_came_to_a_barrier_and_who_waited_are_seen(machine: LiftedMachine) -> None:
    (barrier,) = machine.barriers.barriers.values()
    came, waited = barrier.came, barrier.waited
    assert came is not None and len(waited)
    before = relative.relative(machine)
    barrier.came = came.copy()
    barrier.came[0] = machine.shared.order.now + 5  # not all threads know of it
    try:
        late = relative.relative(machine)
        assert relative.differs(before, late) == "barrier 0: who came"
        barrier.waited = waited[1:]
        assert relative.differs(late, relative.relative(machine)) == "barrier 0: who waited"
    finally:
        barrier.came, barrier.waited = came, waited
    assert relative.differs(before, relative.relative(machine)) == ""


def test_every_compared_field_has_a_twin() -> None:
    compared = {f"{kind.__name__}.{name}" for kind, names in relative.COMPARED.items() for name in names}
    of_clocks = {field for field in compared if field.split(".")[1] in CHANGES and field.split(".")[0] != "Stored"}
    assert compared - of_clocks - DATA.keys() - ENDS.keys() - BARRIER - WGMMA.keys() == ELSEWHERE


@pytest.mark.parametrize("name", sorted(relative.EMPTY[Machine] - {"asynchronous"}))
def test_what_must_be_empty_ends_a_proof(machine: LiftedMachine, name: str) -> None:
    kept = getattr(machine, name)
    setattr(machine, name, [1])
    try:
        with pytest.raises(NotLifted, match=rf"uses Machine.{name}"):
            relative.relative(machine)
    finally:
        setattr(machine, name, kept)

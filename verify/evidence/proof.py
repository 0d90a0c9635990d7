# SPDX-License-Identifier: Apache-2.0
"""The check `proof`: z3 over symbolic lane and value, from the shape and stride of a layout alone.

`proofs` does not call `Layout.__call__`; the formulas of the ISA tables are passed to it as callables over terms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import TYPE_CHECKING, TypeAlias

import proofs
from layouts import Layout, LayoutError, right_inverse
from verify.core.digits import halves, modes, walk, written_out
from verify.core.verdict import Check, Counterexample, Evidence, Status, finding, leave_unchecked
from verify.core.wording import owners
from verify.maps.map import Map
from verify.maps.strided import StridedMap

if TYPE_CHECKING:
    from verify.binding.bound import BoundMaps
    from verify.binding.operand import BoundOperand

STATUS = {"unsat": Status.PROVED, "sat": Status.REFUTED, "unknown": Status.UNKNOWN, "vacuous": Status.VACUOUS}
Wrong: TypeAlias = Callable[[Mapping[str, int]], Counterexample | str]  # of the solver's model
Prove: TypeAlias = "Callable[[Map, int, proofs.Solver], Evidence]"


def in_bounds(m: Map, budget: int, solver: proofs.Solver) -> Evidence:
    """Prove that no value of a layout is outside its tile."""
    m = plain(m)
    return _evidence(proofs.prove_in_bounds(_fragment(m), budget, solver), m)


def ownership(m: Map, copies: int, budget: int, solver: proofs.Solver) -> Evidence:
    """Prove that each element of a layout's tile has so many owners."""
    m = plain(m)
    return _evidence(proofs.prove_ownership(_fragment(m, copies), budget, solver), m)


def inverse(m: Map, budget: int, solver: proofs.Solver) -> Evidence:
    """Prove that a layout composed with its right inverse is the identity on the tile."""
    m = plain(m)
    fragment = _fragment(m)
    try:
        outcome = proofs.prove_right_inverse(fragment, right_inverse(fragment.layout), budget, solver)
    except LayoutError as error:
        return leave_unchecked(Check.PROOF, f"no right inverse to check: {error}")
    return _evidence(outcome, m)


def prove_ownership(m: Map, copies: int, budget: int, solver: proofs.Solver) -> list[Evidence]:
    """Prove ownership by the solver, and by a certificate that needs none, if there is one."""
    return [ownership(m, copies, budget, solver), *_certificate(plain(m), copies)]


def _certificate(m: StridedMap, copies: int) -> list[Evidence]:
    """Prove ownership without a solver, by mixed radix or by rank over F2; nothing if neither applies."""
    certificate = proofs.certificate(m.plain_layout, prod(m.tile))
    if certificate is None or certificate.copies != copies:
        return []
    return [Evidence(Check.PROOF, Status.PROVED, f"{certificate.method} certificate")]


def one_product(subject: BoundMaps, budget: int, solver: proofs.Solver) -> list[Evidence]:
    """Return the proof that all threads of a replica work for one product, where an instruction makes several."""
    instruction = subject.instruction
    if instruction.signature.products == 1 or subject.thr is None or subject.rep is None:
        return []
    threads = Layout((subject.threads, 1))  # their elements do not matter here
    fragment = proofs.OperandLayout(threads, (1, 1), subject.thr, subject.rep, None, 1)
    outcome = proofs.prove_product(fragment, instruction.product, budget, solver)
    return [as_evidence(outcome, lambda _: "lanes of one atom work for different products")]


def tiling(budget: int, solver: proofs.Solver) -> Evidence:
    """Return the proof of the tiling law: any number of atoms and tiles, any bijective atom."""
    return as_evidence(proofs.prove_tiling(budget, solver))


def plain(m: Map) -> StridedMap:
    """Return the map of a plain layout. Raise TypeError for any other: its shape and stride are what is proved."""
    if not isinstance(m, StridedMap) or m.plain is None:
        raise TypeError(f"{m.origin} isn't a plain layout")
    return m


def _fragment(m: StridedMap, copies: int = 1) -> proofs.OperandLayout:
    """Return a layout on its tile for the proofs about it alone, which read neither lanes nor a formula."""
    return proofs.OperandLayout(m.plain_layout, _extent(m), Layout(m.extents[0], 1), Layout(1, 0), None, copies)


def _extent(m: StridedMap) -> tuple[int, int]:
    """Return the extents of a tile; bits are a tile of one column."""
    x, y = (*m.tile, 1)[:2]
    return x, y


def equals(subject: BoundMaps, part: BoundOperand, budget: int, solver: proofs.Solver) -> Evidence:
    """Prove equality with every formula of the operand; a layout of another size is refuted by counting."""
    m = plain(part.points)
    layout, copies = m.plain_layout, subject.multiplicity(part)
    threads, values = proofs.domain(layout)
    wanted = subject.expect_extents(part)
    if (threads, values) != wanted:
        statement = f"the layout has {threads} x {values} points, the ISA {wanted[0]} x {wanted[1]}"
        wrong = Counterexample({"threads": threads, "values": values}, statement)
        return finding(Check.PROOF, wrong, "counted")
    if all(formula.whole for formula in part.formulas) and counts(layout):
        return Evidence(Check.PROOF, Status.PROVED, "strides in order")
    proved = []
    for formula in part.formulas:
        fragment = proofs.OperandLayout(layout, part.extent, *subject.numbering, formula.locate, copies)
        proved.append(_evidence(proofs.prove_equals(fragment, budget, solver), m))
        if proved[-1].status is not Status.PROVED:
            return proved[-1]
    return proved[0]._replace(artifact="(reset)\n".join(evidence.artifact for evidence in proved))


def counts(layout: Layout) -> bool:
    """Whether L(t, v) = v: each stride of v is the product of the extents before it, and those of t are 0.

    >>> counts(Layout.parse("(128,(64,16)):(0,(1,64))")), counts(Layout.parse("(128,(64,16)):(0,(16,1))"))
    (True, False)
    """
    thread, value = (list(modes(*half)) for half in halves(layout))
    prefix = 1
    for extent, stride in value:
        if extent > 1 and stride != prefix:
            return False
        prefix *= extent
    return all(extent == 1 or stride == 0 for extent, stride in thread)


def _evidence(outcome: proofs.Outcome, m: StridedMap) -> Evidence:
    def wrong(model: Mapping[str, int]) -> Counterexample:
        arithmetic = ""
        if "thread" in model and "value" in model:
            thread, value = model["thread"], model["value"]
            arithmetic = f"{written_out(m.plain_layout, thread, value)} = {walk(m.plain_layout, thread, value)}"
        damage = (f"{outcome.bad} points disagree",) if outcome.bad is not None else ()
        unique = bool(outcome.unique)
        return Counterexample(dict(model), _in_words(model, m), arithmetic, damage=damage, unique=unique)

    return as_evidence(outcome, wrong)


def _in_words(model: Mapping[str, int], m: StridedMap) -> str:
    """Say a model: an element's owners, or the (thread, value), with its element by the layout and the formula."""
    if model.keys() == {"element", "owners"}:
        return f"{m.show_element(model['element'])} has {owners(model['owners'])}"
    if not {"thread", "value", "element"} <= set(model):
        return ", ".join(f"{name} = {number}" for name, number in model.items())
    where, element = f"T{model['thread']} V{model['value']}", model["element"]
    if {"x", "y"} <= set(model):
        lane = f" (lane {model['lane']})" if model["lane"] != model["thread"] else ""
        at = zip((axis.name for axis in m.outputs), (model["x"], model["y"]), strict=False)
        right = "(" + ", ".join(f"{axis}={coordinate}" for axis, coordinate in at) + ")"
        return f"{where}{lane}: layout {m.show_element(element)}, formula {right}"
    if {"thread2", "value2"} <= set(model):
        return f"{where} and T{model['thread2']} V{model['value2']} both hold {m.show_element(element)}"
    return f"{where}: element {element} = {m.show_element(element)}"


def as_evidence(outcome: proofs.Outcome, wrong: Wrong | None = None, over: str = "") -> Evidence:
    """Return a solver's outcome as evidence; `wrong` makes the counterexample of its model, or says what is wrong.

    `over` names what the proof ranges over besides the variables.
    """
    counterexample, model = None, outcome.model
    if model is not None and wrong is not None:
        given = wrong(model)
        counterexample = Counterexample(dict(model), given) if isinstance(given, str) else given
    return Evidence(
        Check.PROOF,
        STATUS[outcome.status],
        f"{outcome.method}, {over}" if over else outcome.method,
        engine=outcome.engine,
        reason=outcome.reason,
        seconds=outcome.seconds,
        artifact=outcome.smt,
        counterexample=counterexample,
    )

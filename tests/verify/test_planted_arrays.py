# SPDX-License-Identifier: Apache-2.0
"""A bug planted in the evaluation by arrays refutes nothing that is right: counterexamples are computed again.

Only the check `isa` is made, so that no solver contradicts it: plain integers alone must.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from layouts import Layout, batched
from layouts.atoms import registry
from layouts.batched import evaluate
from layouts.batched.evaluate import Batch, Linear
from layouts.int_tuple import leaves
from verify.atom.checker import AtomChecker
from verify.atom.properties import EQUALS
from verify.core.verdict import Check, Claim, Status, Verdict, join
from verify.evidence.isa import same_function
from verify.movement import bind
from verify.movement.conflict_free import enumerate_accesses
from verify.movement.properties import CONFLICT_FREE, MovementChecker
from verify.movement.spec import of_options
from verify.tiling import properties
from verify.tiling.proof import Prover
from verify.tiling.spec import TilingSpec, swizzle_atom
from verify.tiling.spec import load as load_tilings

ROOT = Path(__file__).resolve().parents[2]
ISA = frozenset({Check.ISA})
ATOMS = ("SM80_16x8x16_F32F16F16F32_TN", "SM90_64x16x16_F32F16F16_SS", "SM75_U32x4_LDSM_N", "SM90_U32x4_STSM_N")
MOVEMENTS: tuple[dict[str, Any], ...] = (
    {"from": "ldmatrix.sync.aligned.m8n8.x4.shared.b16", "to": ATOMS[0], "operand": "A", "major": "K"},
    {"shared": "Sw<3,3,3> o (64,64):(64,1)", "access": "(32,8):(1,64)", "element": 16, "width": 128, "how": "store"},
    {"shared": "(64,64):(1024,1)", "access": "((8,4),8):((512,1),64)", "element": 16, "width": 128},
    {"descriptor": "Sw<3,3,3> o (64,64):(64,1)", "element": 16, "major": "K"},
    {"descriptor": "((8,8),(8,2)):((8,64),(1,512))", "element": 16},
)
SMEM = {x: swizzle_atom("Sw<2,3,3> o (8,32):(32,1)") for x in "AB"}
TILED = TilingSpec("swizzle atoms", ATOMS[0], Layout((2, 2, 1)), tile=(32, 32, 64), smem=SMEM)
SAME = "(4,8):(8,1)", "((2,2),8):((8,16),1)"  # one function
TABLE, AT, MOVED, VALUES, WHOLE = (
    Linear.table,
    Linear.at,
    evaluate._move_axis,  # seam: a step of the evaluation
    Batch.values,
    batched.table,
)  # seam: bugs


FOOLED = {  # the properties that one bug or another makes the arrays find wrong
    "in_bounds", "ownership", "equals_isa", "right_inverse", "product", "same_bits",
    "thread_numbers", "equals_tiled_atom", "partition", "swizzle_atom",
    "hand_over", "whole_accesses", "disjoint", "free_of_bank_conflicts", "room", "descriptor",
}  # fmt: skip


def late(values: Any) -> Any:
    return values + (np.arange(values.size).reshape(values.shape) == values.size - 1)


def exchange(values: Any) -> Any:
    return values[..., ::-1]


def of_several_modes(bug: Callable[[Any], Any]) -> Callable[[Layout], Any]:
    """Whole tables of layouts with more than two modes, with a bug."""
    return lambda layout: bug(WHOLE(layout)) if len(leaves(layout.shape)) > 2 else WHOLE(layout)


def within(values: Any) -> Any:
    """One more at a point that isn't a digit's unit and not the last."""
    values = values.copy()
    values[min(3, len(values) - 2), min(3, values.shape[1] - 1)] += 1
    return values


BUGS: dict[str, tuple[Any, str, Any]] = {
    "tables doubled": (Linear, "table", lambda *given: TABLE(*given) * 2),
    "the last of a table is one more": (Linear, "table", lambda *given: late(TABLE(*given))),
    "tables backwards": (Linear, "table", lambda *given: exchange(TABLE(*given))),
    "tables of nothing": (Linear, "table", lambda *given: TABLE(*given) * 0),
    "compositions doubled": (Linear, "at", lambda *given: AT(*given) * 2),
    "the last of a composition is one more": (Linear, "at", lambda *given: late(AT(*given))),
    "compositions of nothing": (Linear, "at", lambda *given: AT(*given) * 0),
    "a point within is one more": (batched, "table", of_several_modes(within)),
    "the last values of a table are left out": (batched, "table", of_several_modes(lambda values: values[:, :-1])),
    "values are far from each other": (batched, "table", of_several_modes(lambda values: values << 20)),
    "the last value is left out": (Batch, "values", lambda *given, **how: VALUES(*given, **how)[..., :-1]),
    "values are one less": (Batch, "values", lambda *given, **how: VALUES(*given, **how) - 1),
    "swizzles left out": (evaluate, "_move_axis", lambda swizzle, field: field * 0),
    "swizzles one bit off": (evaluate, "_move_axis", lambda *given: MOVED(*given) << 1),
}


def subjects() -> Iterator[tuple[str, Callable[[], Sequence[Verdict]]]]:
    """What is right, and its verdicts by the check `isa` alone."""
    atoms = registry()
    for name in ATOMS:
        yield name, partial(AtomChecker(ISA).verify, atoms[name])
    claim = Claim(SAME[0], "", EQUALS, f"is the same function as {SAME[1]}")
    yield SAME[0], lambda: [join(claim, [same_function(*map(Layout.parse, SAME))])]
    (access,) = bind.bind(of_options(MOVEMENTS[1])).accesses
    free = Claim(
        "banks", "", CONFLICT_FREE, "no two lanes conflict"
    )  # alone: a movement asks first whether accesses are whole
    yield "banks", lambda: [join(free, enumerate_accesses(None, None, access))]
    for table in MOVEMENTS:
        yield str(table), lambda table=table: MovementChecker(ISA).case(bind.bind(of_options(table))).verdicts
    tilings = [tiling for tiling in load_tilings(ROOT / "examples" / "tilings.toml") if max(tiling.tile or (0,)) < 128]
    for spec in (*tilings, TILED):
        yield spec.name, lambda spec=spec: properties.case(spec, atoms, Prover(ISA)).verdicts


def of_isa(verdicts: Sequence[Verdict]) -> Iterator[tuple[Verdict, Any]]:
    yield from ((verdict, e) for verdict in verdicts for e in verdict.evidence if e.check is Check.ISA)


def test_all_of_it_is_right_where_nothing_is_planted() -> None:
    for name, verdicts in subjects():
        assert not [verdict for verdict, e in of_isa(verdicts()) if e.status is Status.REFUTED], name


@pytest.mark.long
def test_what_is_right_is_refuted_by_no_bug_in_the_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong, reproduced = [], []
    for bug, planted in BUGS.items():
        with monkeypatch.context() as patched:
            patched.setattr(*planted)
            for name, verdicts in subjects():
                try:
                    refuted = [(verdict, e) for verdict, e in of_isa(verdicts()) if e.status is Status.REFUTED]
                except (IndexError, ValueError):  # arrays of the wrong form: an internal error, which is no verdict
                    continue
                wrong += [verdict for verdict, _ in refuted]
                reproduced += [
                    (bug, name, verdict.claim.prop.key) for verdict, e in refuted if e.counterexample.reproduced
                ]
    assert not reproduced
    assert all(verdict.contradiction for verdict in wrong)
    assert {verdict.claim.prop.key for verdict in wrong} == FOOLED

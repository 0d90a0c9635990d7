# SPDX-License-Identifier: Apache-2.0
"""Properties of layouts, proved or refuted by an SMT solver; every counterexample is confirmed in plain Python.

Definition
----------
A property is proved by writing down its *negation*. For "every element of a tile has one owner" the negation is: two
different (lane, value) have the same element. The solver z3 searches numbers that satisfy the negation. `unsat`: there
are none, so the property is proved for all lanes and values. `sat`: the numbers are a counterexample; it is computed
again in plain Python before it is reported. `unknown`: the budget ran out, which is never a pass.

A layout is read from its shape and stride alone: its value at x is the sum of ((x // before) % s) * d over its modes
s:d, where `before` is the product of the extents to the left. `Layout.__call__`, which evaluates layouts elsewhere, is
never used: a bug in it cannot hide from the proofs.

A worked example
----------------
The accumulator of m16n8k16, with the formula of the PTX ISA as a Python function of a symbolic lane and value:

>>> from layouts import Layout
>>> import proofs
>>> C = Layout.parse("((4,8),(2,2)):((32,1),(16,8))")
>>> lanes, single = Layout.parse("32:1"), Layout.parse("1:0")
>>> f = proofs.OperandLayout(C, (16, 8), lanes, single, lambda l, i: (l // 4 + i // 2 * 8, l % 4 * 2 + i % 2), 1)
>>> proofs.prove_ownership(f).status, proofs.prove_equals(f).status
('unsat', 'unsat')

With two strides exchanged, each element still has one owner, but the layout no longer equals the formula:

>>> from dataclasses import replace
>>> wrong = replace(f, layout=Layout.parse("((4,8),(2,2)):((32,1),(8,16))"))
>>> proofs.prove_ownership(wrong).status, proofs.prove_equals(wrong).status
('unsat', 'sat')
>>> model = proofs.prove_equals(wrong).model      # value 1 of lane 0 would be element 8, row 8; the ISA has row 0
>>> model["lane"], model["value"], model["element"]
(0, 1, 8)

Encodings
---------
Layouts whose extents are powers of two, but for the last one, become problems over bit-vectors, of the first of some
widths in which nothing overflows: a digit is then a field of bits. All others become problems over integers.
`proofs.smt.term` keeps the interval of every term, so no proof rests on a sum that wrapped around. An :class:`Outcome`
names the encoding and the budget spent, and contains the SMT-LIB text that was solved; `recheck` runs that text in a
second solver, cvc5.

Main declarations
-----------------
`prove_in_bounds`, `prove_equals`, `prove_right_inverse`, `prove_product`   one operand, point by point: `layout.points`
`prove_ownership`, `prove_bijective`                   how many owners an element has: `layout.bijectivity`
`prove_partition`, `prove_tiled`, `prove_tiling`  tiles of every size: `layout.partition`, `layout.tiling`
`prove_hand_over`        registers that two instructions share: `layout.movement`
`prove_room`, `prove_whole`, `prove_disjoint`, `prove_conflict_free`   accesses of shared memory: `layout.movement`
`certificate`            a bijection proved without a solver, by mixed radix or by a rank over the field of two elements
`proofs.laws`            the laws of the layout algebra for all extents, strides and ranks (docs/laws.md)
`proofs.symbolic`        the code of `layouts`, executed on symbolic integers, path by path (docs/laws.md)

References: Barrett, Fontaine, Tinelli, "The SMT-LIB Standard" 2.6; de Moura, Bjorner, "Z3", TACAS 2008.
"""

from __future__ import annotations

from lanecheck.console import interrupts

interrupts.end_at_once()  # before the imports below: Ctrl-C meanwhile isn't a traceback

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if sys.argv[:1] == ["-m"]:  # the value while Python imports the package of a command
    from lanecheck.console.installation import insist

    insist()  # before the imports below, which fail where a file of the user hides one of these packages

from proofs.errors import EngineError, ProblemError, ProofError, TermError, TermOverflow
from proofs.smt.outcome import BUDGET, Outcome

if TYPE_CHECKING:
    from proofs.layout.bijectivity import prove_bijective, prove_ownership
    from proofs.layout.certificate import Certificate, certificate, f2_rank, mixed_radix
    from proofs.layout.modes import domain
    from proofs.layout.movement import (
        RegisterHandOver,
        SharedAccess,
        prove_conflict_free,
        prove_disjoint,
        prove_hand_over,
        prove_room,
        prove_whole,
    )
    from proofs.layout.operand import OperandLayout
    from proofs.layout.partition import Partition, TileAxis, prove_partition, prove_tiled
    from proofs.layout.points import prove_equals, prove_in_bounds, prove_product, prove_right_inverse
    from proofs.layout.tiling import prove_tiling
    from proofs.smt.engine import Solver
    from proofs.smt.recheck import Second, recheck
    from proofs.smt.term import BoolTerm, Term

__all__ = [
    "BUDGET",
    "BoolTerm",
    "Certificate",
    "EngineError",
    "OperandLayout",
    "Outcome",
    "Partition",
    "ProblemError",
    "ProofError",
    "RegisterHandOver",
    "Second",
    "SharedAccess",
    "Solver",
    "Term",
    "TermError",
    "TermOverflow",
    "TileAxis",
    "certificate",
    "domain",
    "f2_rank",
    "mixed_radix",
    "prove_bijective",
    "prove_conflict_free",
    "prove_disjoint",
    "prove_equals",
    "prove_hand_over",
    "prove_in_bounds",
    "prove_ownership",
    "prove_partition",
    "prove_product",
    "prove_right_inverse",
    "prove_room",
    "prove_tiled",
    "prove_tiling",
    "prove_whole",
    "recheck",
]

_HOME = {
    **dict.fromkeys(
        ("prove_equals", "prove_in_bounds", "prove_product", "prove_right_inverse"), "proofs.layout.points"
    ),
    **dict.fromkeys(("prove_bijective", "prove_ownership"), "proofs.layout.bijectivity"),
    **dict.fromkeys(("TileAxis", "Partition", "prove_partition", "prove_tiled"), "proofs.layout.partition"),
    **dict.fromkeys(
        (
            "SharedAccess",
            "RegisterHandOver",
            "prove_conflict_free",
            "prove_disjoint",
            "prove_hand_over",
            "prove_room",
            "prove_whole",
        ),
        "proofs.layout.movement",
    ),
    **dict.fromkeys(("Certificate", "certificate", "f2_rank", "mixed_radix"), "proofs.layout.certificate"),
    **dict.fromkeys(("BoolTerm", "Term"), "proofs.smt.term"),
    "OperandLayout": "proofs.layout.operand",
    "Solver": "proofs.smt.engine",
    "domain": "proofs.layout.modes",
    **dict.fromkeys(("Second", "recheck"), "proofs.smt.recheck"),
    "prove_tiling": "proofs.layout.tiling",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: most need z3, and a kernel's report needs the budget alone."""
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

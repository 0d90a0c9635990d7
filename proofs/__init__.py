# SPDX-License-Identifier: Apache-2.0
"""Claims about layouts as SMT problems, over symbolic lane and value, with counterexamples that are confirmed.

A layout is read from its shape and stride; ``Layout.__call__`` is never used. The first proof loads the solver.

>>> from layouts import Layout
>>> import proofs
>>> C = Layout.parse("((4,8),(2,2)):((32,1),(16,8))")
>>> lanes, one = Layout.parse("32:1"), Layout.parse("1:0")
>>> f = proofs.Fragment(C, (16, 8), lanes, one, lambda l, i: (l // 4 + i // 2 * 8, l % 4 * 2 + i % 2), 1)
>>> proofs.prove_owns(f).status, proofs.prove_equals(f).status
('unsat', 'unsat')
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if sys.argv[:1] == ["-m"]:  # so Python calls it while it imports the package of a command
    from proofs.installation import insist

    insist()  # before the imports below, which fail where a file of the user's hides ours

from proofs.errors import EngineError, ProblemError, ProofError, TermError, TermOverflow
from proofs.layout.certificate import Certificate, certificate, f2_rank, mixed_radix
from proofs.layout.modes import domain
from proofs.layout.operand import Fragment
from proofs.smt.outcome import BUDGET, Outcome
from proofs.smt.recheck import Second, recheck
from proofs.smt.term import Condition, Term

if TYPE_CHECKING:
    from proofs.layout.equality import prove_same_function
    from proofs.layout.ownership import prove_bijective, prove_onto, prove_owns
    from proofs.layout.partition import Axis, Partition, prove_partition, prove_tiled
    from proofs.layout.points import prove_equals, prove_in_bounds, prove_product, prove_right_inverse
    from proofs.layout.tiling import prove_tiling
    from proofs.smt.engine import Solver

__all__ = [
    "BUDGET",
    "Axis",
    "Certificate",
    "Condition",
    "EngineError",
    "Fragment",
    "Outcome",
    "Partition",
    "ProblemError",
    "ProofError",
    "Second",
    "Solver",
    "Term",
    "TermError",
    "TermOverflow",
    "certificate",
    "domain",
    "f2_rank",
    "mixed_radix",
    "prove_bijective",
    "prove_equals",
    "prove_in_bounds",
    "prove_onto",
    "prove_owns",
    "prove_partition",
    "prove_product",
    "prove_right_inverse",
    "prove_same_function",
    "prove_tiled",
    "prove_tiling",
    "recheck",
]

_HOME = {
    **dict.fromkeys(
        ("prove_equals", "prove_in_bounds", "prove_product", "prove_right_inverse"), "proofs.layout.points"
    ),
    **dict.fromkeys(("prove_bijective", "prove_onto", "prove_owns"), "proofs.layout.ownership"),
    **dict.fromkeys(("Axis", "Partition", "prove_partition", "prove_tiled"), "proofs.layout.partition"),
    "Solver": "proofs.smt.engine",
    "prove_same_function": "proofs.layout.equality",
    "prove_tiling": "proofs.layout.tiling",
}


def __getattr__(name: str) -> Any:
    """Load what solves when it is asked for: whoever poses problems or reads certificates needs no solver."""
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

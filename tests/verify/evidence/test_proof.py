# SPDX-License-Identifier: Apache-2.0
"""The solver's check: all threads of an atom work for one product."""

from tests.verify.test_soundness import atom, status
from verify.atom.checker import AtomChecker
from verify.atom.properties import SIGNATURE, SIZE
from verify.core.verdict import Check, Status


def test_threads_of_one_atom_work_for_one_product() -> None:
    """Eight logical threads of m8n8k4 spread over two quad pairs: refuted by isa and proof, without a recording."""
    spread = atom("SM70_8x8x4_F32F16F16F32_TN", thr="(8,1):(1,0)")
    verdicts = AtomChecker(frozenset({Check.ISA, Check.PROOF})).verify(spread)
    signature = next(v for v in verdicts if v.claim.prop == SIGNATURE)
    said = {e.check: e.status for e in signature.evidence}
    assert said == {Check.ISA: Status.REFUTED, Check.PROOF: Status.REFUTED}


def test_nothing_is_counted_against_an_instruction_that_is_not_there() -> None:
    size = next(v for v in AtomChecker().verify(atom(ptx=None)) if v.claim.prop == SIZE)
    assert "instruction" not in size.claim.text
    assert status(atom(ptx=None)) == "UNCHECKED"

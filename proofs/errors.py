# SPDX-License-Identifier: Apache-2.0
"""The errors that a proof raises; a refuted or undecided claim is not an error."""


class ProofError(Exception):
    """Base class of the errors of this package."""


class ProblemError(ProofError, ValueError):
    """The claim is malformed: its parts do not fit together, so there is nothing to prove."""


class TermError(ProofError, TypeError):
    """An operation has no exact meaning on symbolic terms."""


class UnsupportedTerm(TermError):
    """The operation exists only in the other encoding, bit-vectors."""


class TermOverflow(ProofError, OverflowError):
    """A result could leave the range of the bit-vector: the problem needs a larger width."""


class EngineError(ProofError, RuntimeError):
    """The solver rejected the problem, or its model is not confirmed: a bug of this package or of the solver."""

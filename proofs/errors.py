# SPDX-License-Identifier: Apache-2.0
"""What can go wrong with a proof besides its answer."""


class ProofError(Exception):
    """Base of the errors raised here."""


class ProblemError(ProofError, ValueError):
    """The claim is not well posed: its parts do not fit together, so there is nothing to prove."""


class TermError(ProofError, TypeError):
    """An operation has no exact meaning on symbolic terms."""


class UnsupportedTerm(TermError):
    """The operation exists in another encoding: bit-vectors instead of integers."""


class TermOverflow(ProofError, OverflowError):
    """A result could leave the bit-vector's range: the problem has to be posed wider."""


class EngineError(ProofError, RuntimeError):
    """The solver refused the problem, or gave a model that plain Python does not confirm: our bug or its bug."""

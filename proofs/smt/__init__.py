# SPDX-License-Identifier: Apache-2.0
"""Problems for an SMT solver: terms, their text, z3, and cvc5 as a second solver. Nothing here knows layouts."""

__all__: list[str] = []

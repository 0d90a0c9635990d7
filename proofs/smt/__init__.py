# SPDX-License-Identifier: Apache-2.0
"""Problems for an SMT solver: terms, their text, the solver, and a second opinion. Nothing here knows layouts."""

# SPDX-License-Identifier: Apache-2.0
"""What registers hold: polynomials of the inputs modulo random primes, with a label on each byte."""

__all__: list[str] = []

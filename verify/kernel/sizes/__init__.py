# SPDX-License-Identifier: Apache-2.0
"""Proofs for all sizes: integers as polynomials over sizes, beside the run of one CTA; induction over the trips."""

__all__: list[str] = []

# SPDX-License-Identifier: Apache-2.0
"""The properties of a law of the algebra, and of code that is checked against the laws."""

from __future__ import annotations

from verify.core.verdict import Property

HOLDS = Property("holds")
MET = Property("not_vacuous")
MUTANTS = Property("mutants_broken")
REFUTED = Property("published_claim_refuted")
PATHS = Property("every_path")
LEAST = Property("least_result")
SMALL = Property("small_layouts")
CLAIM = Property("published_claim")
OPEN = Property("open")

# SPDX-License-Identifier: Apache-2.0
"""The properties of a law of the algebra, and of code that is held to the laws."""

from __future__ import annotations

from verify.core.verdict import Property

HOLDS = Property("holds", "holds")
MET = Property("not_vacuous", "not vacuous")
MUTANTS = Property("mutants_broken", "mutants broken")
REFUTED = Property("published_claim_refuted", "published claim refuted")
PATHS = Property("every_path", "every path")
LEAST = Property("least_result", "least result")
SMALL = Property("small_layouts", "small layouts")
CLAIM = Property("published_claim", "published claim")
OPEN = Property("open", "open")

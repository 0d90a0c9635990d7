# SPDX-License-Identifier: Apache-2.0
"""Words of messages that tests of several modules look for: a change of wording changes one line here."""

from __future__ import annotations

UNORDERED = "nothing orders the two"
RANGE_FROM_1 = "expected a number from 1 to"
WRITE_AFTER_READ = "race: write after read in global memory"
TRACEBACK = "(LANECHECK_TRACEBACK=1 shows where)"
TWO_COLONS = "a function of a file has two colons:"
WRONG_EVALUATION = "two evaluations differ, which is a bug in Lanecheck"
OTHER_LABELS = "the labels do not rebuild the table that was observed"
STDOUT_CLOSED = "cannot write to stdout: it is closed"
NOT_DECISIVE = "passes too if this comparison differs"
OTHER_PRODUCT = "something other than one product"
NO_INSTRUCTION = "the atom names no instruction"
NO_CLAIM = "what does the kernel compute?"
RANGE_NEEDED = "`range` of the claim's arrays"
OUT_OF_BOUNDS = "global memory out of bounds"
OTHER_PHASE = "an arrival of another phase"
NO_KIND = "no kind of subject is named"
NOT_DIVIDING = "does not divide the stride"
OTHER_KERNELS = "by kernels of another text"
FAILED_WAIT = "failure does anything else"

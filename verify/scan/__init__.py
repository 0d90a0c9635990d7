# SPDX-License-Identifier: Apache-2.0
"""`lanecheck scan`: the layouts and inline assembly of CUTLASS headers, read without a compiler and verified.

`text` (a header) < `declarations`, `expressions` < `program` (all headers), `values` < `evaluation` < `traits` (the
layouts of each definition), `assembly` < `entry` (as an atom) < `checker` (its verdicts) < `command`.
"""

__all__: list[str] = []

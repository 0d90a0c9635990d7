# SPDX-License-Identifier: Apache-2.0
"""`lanecheck index`: the index arithmetic, tables and bases of a kernel, compared with an operand of the ISA."""

__all__: list[str] = []

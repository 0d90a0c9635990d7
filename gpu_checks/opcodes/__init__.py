# SPDX-License-Identifier: Apache-2.0
"""What a GPU computes with each form of each opcode, on values at the edges of the types: bits that are recorded."""

__all__: list[str] = []

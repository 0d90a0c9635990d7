# SPDX-License-Identifier: Apache-2.0
"""Claims about layouts and operands: their points, ownership, partitions, tilings, families, movements."""

__all__: list[str] = []

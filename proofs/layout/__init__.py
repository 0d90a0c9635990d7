# SPDX-License-Identifier: Apache-2.0
"""Claims about layouts and operands: ownership, partitions, tilings, families, movements."""

# SPDX-License-Identifier: Apache-2.0
"""PTX as a kernel: its text read, its instructions, the loops that only wait."""

__all__: list[str] = []

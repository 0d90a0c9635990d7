# SPDX-License-Identifier: Apache-2.0
"""What is claimed: its text and file, what it leaves open chosen, and the kernel of a Triton function."""

__all__: list[str] = []

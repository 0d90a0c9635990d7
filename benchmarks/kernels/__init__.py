# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels: how many wrong ones are found, how long it takes, and other people's, which are fetched."""

__all__: list[str] = []

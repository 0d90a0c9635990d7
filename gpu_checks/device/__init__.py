# SPDX-License-Identifier: Apache-2.0
"""The GPU at hand: its driver and compiler through CuPy, kernels kept on disk, and what they were compiled to."""

__all__: list[str] = []

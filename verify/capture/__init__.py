# SPDX-License-Identifier: Apache-2.0
"""A user's own tests as claims: launches are caught without a GPU, and comparisons say what they compute."""

__all__: list[str] = []

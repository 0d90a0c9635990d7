# SPDX-License-Identifier: Apache-2.0
"""What all commands share: their arguments, their inputs, their output, and how they end."""

__all__: list[str] = []

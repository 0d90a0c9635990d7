# SPDX-License-Identifier: Apache-2.0
"""What each class of instructions does to the state."""

__all__: list[str] = []

# SPDX-License-Identifier: Apache-2.0
"""The state of a launch: threads, memory, barriers and their phases, and which accesses are ordered."""

__all__: list[str] = []

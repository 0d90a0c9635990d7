# SPDX-License-Identifier: Apache-2.0
"""`lanecheck identify`: which operands of which instructions a map is, and the other forms that it has."""

__all__: list[str] = []

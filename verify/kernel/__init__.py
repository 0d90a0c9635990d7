# SPDX-License-Identifier: Apache-2.0
"""`lanecheck kernel`: whether a compiled kernel computes what is claimed."""

__all__: list[str] = []

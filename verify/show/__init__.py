# SPDX-License-Identifier: Apache-2.0
"""`lanecheck show`: pictures of atoms, layouts, maps, tilings, movements and reports; nothing is proved."""

__all__: list[str] = []

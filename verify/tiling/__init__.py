# SPDX-License-Identifier: Apache-2.0
"""`lanecheck tiling`: tiled MMAs over the tile of a CTA."""

__all__: list[str] = []

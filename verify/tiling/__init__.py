# SPDX-License-Identifier: Apache-2.0
"""`python -m verify.tiling`: tiled MMAs against the tile of a CTA."""

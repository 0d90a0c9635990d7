# SPDX-License-Identifier: Apache-2.0
"""`lanecheck layout`: one layout as a map onto a tile, as an operand of an instruction, or as another layout."""

__all__: list[str] = []

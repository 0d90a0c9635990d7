# SPDX-License-Identifier: Apache-2.0
"""Which element of C a lane has as value i, as our code generator computes it, and the inverse."""


def row_and_col(lane: int, i: int) -> tuple[int, int]:
    """Return the row and column of an element."""
    return lane // 4 + i // 2 * 8, lane % 4 * 2 + i % 2


def lane_and_value(row: int, col: int) -> tuple[int, int]:
    """Return the lane that has an element, and as which value."""
    return row % 8 * 4 + col // 2, row // 8 * 2 + col % 2

# SPDX-License-Identifier: Apache-2.0
"""In the picture of the rooms, every floor is above what it imports."""

from tests.project.rooms import PACKAGES, floors, imports


def test_no_arrow_points_up() -> None:
    arrows = imports()
    for package in PACKAGES:
        rows = floors(package, arrows)
        for place, row in enumerate(rows):
            above = {name for higher in rows[: place + 1] for name in higher}
            assert all(not arrows[name] & above for name in row)

# SPDX-License-Identifier: Apache-2.0
"""The picture of the rooms shows today's imports, and every floor is above what it imports."""

from tests.project.rooms import PACKAGES, PAGE, floors, imports, page


def test_the_architecture_shows_the_rooms_as_they_are() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page(text) == text, "run `python -m tests.project.rooms --write`"


def test_no_arrow_points_up() -> None:
    arrows = imports()
    for package in PACKAGES:
        rows = floors(package, arrows)
        for place, row in enumerate(rows):
            above = {name for higher in rows[: place + 1] for name in higher}
            assert all(not arrows[name] & above for name in row)

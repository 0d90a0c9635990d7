# SPDX-License-Identifier: Apache-2.0
"""The plugin on atoms that no check can compare: SKIPPED with the reason, or a pass where the entry expects it."""

from __future__ import annotations

import pytest

from tests.messages import NO_INSTRUCTION
from tests.project.test_plugin import MINE, Guest, guest, keeper, text_of

pytest_plugins = ["pytester"]
__all__ = ["guest", "keeper"]

(PTX,) = (line for line in MINE.splitlines() if line.startswith("ptx"))
FIXTURE = "def test_it(verify_atom): verify_atom('MY_16x8x16*', file='mine.toml'{})\n"
NONE = f"{NO_INSTRUCTION} (`ptx` is absent)"
UNKNOWN = "hmma.magic"


@pytest.mark.long
@pytest.mark.parametrize(("line", "why"), [("", NONE), (f'ptx = ["{UNKNOWN}"]', UNKNOWN)], ids=["absent", "unknown"])
def test_an_atom_that_no_check_can_compare_is_skipped_with_the_reason(guest: Guest, line: str, why: str) -> None:
    guest.write(mine_toml=MINE.replace(PTX, line), test_mine_py=FIXTURE.format(""))
    done = guest.run("--lanecheck", "mine.toml", "-rs", ".")
    done.assert_outcomes(skipped=2)
    assert text_of(done).count("SKIPPED [1]") == 2 and "UNCHECKED MY_16x8x16" in text_of(done) and why in text_of(done)
    guest.run("--lanecheck", "mine.toml", "--lanecheck-allow-unchecked", "mine.toml").assert_outcomes(passed=1)
    guest.run("--lanecheck", "mine.toml", "--lanecheck-require", "isa", "mine.toml").assert_outcomes(failed=1)


@pytest.mark.long
@pytest.mark.parametrize("line", ["ptx = []", f'ptx = ["{UNKNOWN}"]\nexpect = "UNCHECKED: no table of it"'])
def test_an_atom_that_is_unchecked_as_expected_passes_unless_a_check_is_required(guest: Guest, line: str) -> None:
    guest.write(mine_toml=MINE.replace(PTX, line), test_mine_py=FIXTURE.format(""))
    guest.run("--lanecheck", "mine.toml", ".").assert_outcomes(passed=2)
    guest.run("--lanecheck", "mine.toml", "--lanecheck-require", "isa", "mine.toml").assert_outcomes(failed=1)


def test_the_fixture_passes_what_is_unchecked_where_that_is_allowed(guest: Guest) -> None:
    guest.write(mine_toml=MINE.replace(PTX, ""), test_mine_py=FIXTURE.format(", allow_unchecked=True"))
    guest.run("test_mine.py").assert_outcomes(passed=1)
    guest.write(test_mine_py=FIXTURE.format(", allow_unchecked=True, require='isa'"))
    guest.run("test_mine.py").assert_outcomes(failed=1)

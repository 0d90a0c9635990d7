# SPDX-License-Identifier: Apache-2.0
"""divmod of symbolic integers, on either side."""

from __future__ import annotations

from layouts.layout import trust_layout
from proofs.symbolic.execution import agrees
from proofs.symbolic.symbolic_int import InputSpace, SymInt, explore


def test_divmod_is_followed_with_the_symbol_on_either_side() -> None:
    """divmod(x, 3), and divmod(17, x), which Python evaluates by a method of the divisor."""
    space = InputSpace(("x",), ((">=", "x", 1), ("<=", "x", 20)), tuple({"x": x} for x in range(1, 21)))
    for divide in (lambda x: divmod(x, 3), lambda x: divmod(17, x), lambda x: divmod(-17, x)):
        paths, left = explore(space, lambda divide=divide: trust_layout(divide(SymInt("x")), (0, 0)), ())  # type: ignore[misc]
        assert (left, sum(len(path.samples) for path in paths)) == (0, 20)
        for path in paths:
            for at in path.samples:
                assert agrees(path, at, path.result, trust_layout(divide(at["x"]), (0, 0)))

# SPDX-License-Identifier: Apache-2.0
"""`@lanecheck.claim("…")`: what a test's kernel computes, said by its author where no comparison says it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from verify.kernel.claims.expression import read_claim

F = TypeVar("F", bound=Callable[..., Any])
CLAIMS = "__lanecheck_claims__"  # the attribute of a test's function


def claim(text: str) -> Callable[[F], F]:
    """Return a decorator of a test that says what a kernel in it computes; the test itself is not changed.

    The names are those of the kernel's arguments, with an index for each dimension of the tensor that it is given.
    Each launch that has all of them is verified under `pytest --lanecheck-kernels`.

    >>> @claim("c_ptr[m,n] = sum_k a_ptr[m,k] * b_ptr[k,n]")
    ... def test_matmul(): ...

    Raises SpecError for a text that isn't a claim, with the column.
    """
    read_claim(text)

    def mark(function: F) -> F:
        setattr(function, CLAIMS, [text, *getattr(function, CLAIMS, [])])
        return function

    return mark


def list_claims(function: object) -> list[str]:
    """Return the claims of a test's function, in the order of its decorators."""
    return list(getattr(function, CLAIMS, ()))

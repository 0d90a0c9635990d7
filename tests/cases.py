# SPDX-License-Identifier: Apache-2.0
"""Tables of cases that one test runs: hundreds of separate tests would cost more than what they check."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest


def each(
    names: str | tuple[str, ...], cases: Iterable[Any] | Callable[[], Iterable[Any]], ids: Callable[[Any], Any] = str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Like pytest.mark.parametrize, but one test: all cases are run, and each failure has the name of its case.

    The cases share the test's fixtures. Cases that are expensive to make are given by a function, which the test
    calls when it runs.
    """
    wanted = (names,) if isinstance(names, str) else names

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def every(**fixtures: Any) -> None:
            table = list(cases() if callable(cases) else cases)
            assert table, "no case"
            failures: list[BaseException] = []
            for case in table:
                values = (case,) if isinstance(names, str) else case
                try:
                    test(**fixtures, **dict(zip(wanted, values, strict=True)))
                except (Exception, pytest.fail.Exception) as failure:
                    failure.add_note(f"case: {', '.join(str(ids(value)) for value in values)}")
                    failures.append(failure)
            if len(failures) == 1:
                raise failures[0]
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(table)} cases", failures)

        left = [p for name, p in inspect.signature(test).parameters.items() if name not in wanted]
        every.__signature__ = inspect.Signature(left)  # type: ignore[attr-defined]
        return every

    return decorate

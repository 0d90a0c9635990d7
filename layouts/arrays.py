# SPDX-License-Identifier: Apache-2.0
"""numpy, imported when an array is first made or met: maps of integers need none of the time that it takes to load."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

__all__ = ["any_of", "is_array", "is_bool", "is_numpy_loaded", "np"]

if TYPE_CHECKING:
    import numpy as np
else:

    class _Numpy:
        """Has the names of numpy, each looked up once."""

        def __getattr__(self, name: str) -> Any:
            import numpy

            attribute = getattr(numpy, name)
            setattr(self, name, attribute)
            return attribute

    np = _Numpy()


def is_numpy_loaded() -> bool:
    """Whether numpy is imported already, so that arrays cost no more than their elements."""
    return sys.modules.get("numpy") is not None  # None, where an import of it was forbidden


def is_array(value: object) -> bool:
    """Whether a value is a numpy array; without numpy there is none.

    >>> is_array(3), is_array(np.arange(3)), is_array(np.int64(3))
    (False, True, False)
    """
    return is_numpy_loaded() and isinstance(value, np.ndarray)


def is_bool(value: object) -> bool:
    """Whether a value is a truth value, Python's or numpy's, and so no coordinate.

    >>> is_bool(True), is_bool(np.bool_(True)), is_bool(1)
    (True, True, False)
    """
    return isinstance(value, bool) or (is_numpy_loaded() and isinstance(value, np.bool_))


def any_of(value: Any) -> bool:
    """Whether a number or truth value is not zero, or any of an array is.

    >>> any_of(0), any_of(np.arange(3))
    (False, True)
    """
    return bool(value.any()) if is_array(value) else bool(value)

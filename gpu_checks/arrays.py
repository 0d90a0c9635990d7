# SPDX-License-Identifier: Apache-2.0
"""numpy, imported when it is first used. `layouts` has a copy: the checks share no code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["np"]

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

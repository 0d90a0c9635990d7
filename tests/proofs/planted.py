# SPDX-License-Identifier: Apache-2.0
"""Implementations of the layout algebra with a bug: `layouts` with some of its functions replaced."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import layouts
from layouts.layout import trust_layout
from proofs.symbolic.execution import Target


def plant_bugs(**functions: Callable[..., Any]) -> Target:
    """The operations of `layouts` with some of them replaced."""
    own = {name: getattr(layouts, name) for name in layouts.__all__}
    return Target("planted", SimpleNamespace(**own | functions), trust_layout, (layouts.LayoutError,))

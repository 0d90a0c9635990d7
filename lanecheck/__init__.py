# SPDX-License-Identifier: Apache-2.0
"""Lanecheck for Python: decide whether every element is in the right lane.

>>> import lanecheck
>>> lanecheck.check("SM80_16x8x16_F32F16F16F32_TN").check()
<Report OK: 1 VERIFIED>
>>> lanecheck.check("((4,8),8):((32,1),8)", onto=(8, 32)).exit().name
'REFUTED'

Each name is loaded when it is asked for: `import lanecheck` loads no other module, since pytest imports the plugin,
`lanecheck.pytest_plugin`, in every repository of an environment. `lanecheck.console` holds what every command needs.
"""

from __future__ import annotations

import sys

if sys.argv[:1] == ["-m"]:  # Python imports the package of a command: `python -m lanecheck`, or one that imports us
    from lanecheck.console import interrupts

    interrupts.end_at_once()

TYPE_CHECKING = False  # `typing` is a module too: Ctrl-C while it loads would be a traceback, see `console.interrupts`

if TYPE_CHECKING:
    from layouts import Layout
    from verify import (
        Report,
        verify_atom,
        verify_identify,
        verify_index,
        verify_kernel,
        verify_kind,
        verify_layout,
        verify_map,
        verify_movement,
        verify_safety,
        verify_tiling,
    )
    from verify.api import check, show
    from verify.capture.marking import claim

__all__ = [
    "Layout",
    "Report",
    "check",
    "claim",
    "show",
    "verify_atom",
    "verify_identify",
    "verify_index",
    "verify_kernel",
    "verify_kind",
    "verify_layout",
    "verify_map",
    "verify_movement",
    "verify_safety",
    "verify_tiling",
]


_HOMES = {  # `verify` has commands of these names
    "Layout": "layouts",
    "check": "verify.api",
    "show": "verify.api",
    "claim": "verify.capture.marking",
}


def __getattr__(name: str) -> object:
    """Load a name from the package that has it; AttributeError if this one offers no such name."""
    if name in __all__ or name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES.get(name, "verify")), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Name what is offered, so that a shell completes what isn't loaded yet."""
    return sorted([*globals(), *__all__])


if ipython := sys.modules.get("IPython"):  # perhaps a notebook
    from lanecheck import display

    display.register(ipython.get_ipython())

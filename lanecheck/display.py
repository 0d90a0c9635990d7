# SPDX-License-Identifier: Apache-2.0
"""Values that draw themselves in Jupyter, from the moment at which a notebook imports a package that needs `lanecheck`.

`layouts` knows no pictures, so its classes can't have a `_repr_html_`. IPython's formatters know a class by its name
and its module's; so nothing is loaded until a cell ends with such a value.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

DRAWN = {  # the function of lanecheck.notebook, and the classes that it draws
    "draw_layout": (("layouts.layout", "Layout"), ("layouts.composed", "ComposedLayout")),
    "draw_atom": (("layouts.atoms.atom", "Atom"), ("layouts.atoms.atom", "CopyAtom")),
    "draw_map": (("verify.maps.fragment_map", "FragmentMap"),),
    "draw_report": (("verify.report", "Report"),),
}


def register(shell: Any) -> None:
    """Make layouts, atoms, maps and reports draw themselves in a shell of IPython; None is plain Python."""
    for name, classes in DRAWN.items() if shell is not None else ():
        for module, kind in classes:
            shell.display_formatter.formatters["text/html"].for_type_by_name(module, kind, partial(draw, name))


def draw(name: str, value: object) -> str | None:
    """Return the HTML of a value by a function of `lanecheck.notebook`; None leaves it to its text."""
    notebook = import_module("lanecheck.notebook")  # loads all that draws, which a cell may never need
    drawn: str | None = getattr(notebook, name)(value)
    return drawn

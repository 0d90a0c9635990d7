# SPDX-License-Identifier: Apache-2.0
"""CUDA C++ in `.cu` files, one beside each module that writes kernels, cut into named parts.

A line `//// name` begins a part, `//// name, within a line` one without a newline at its end. Other lines that begin
with `////` explain the part and are left out of its text. `$name` and `${name}` are filled by `Template.substitute`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from string import Template

_BEGIN = re.compile(r"^//// (\w+)(, within a line)?\n", re.MULTILINE)
_REMARK = re.compile(r"^////.*\n", re.MULTILINE)


def beside(module: str) -> Mapping[str, Template]:
    """Name -> part of the `.cu` file beside a module, whose `__file__` is given."""
    _, *parts = _BEGIN.split(Path(module).with_suffix(".cu").read_text(encoding="utf-8"))
    return {
        name: Template(_REMARK.sub("", text).rstrip("\n") + ("" if within else "\n"))
        for name, within, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    }

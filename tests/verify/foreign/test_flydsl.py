# SPDX-License-Identifier: Apache-2.0
"""The adapter of FlyDSL with a stand-in for its compiler: a printed layout becomes the element of lane and value."""

from __future__ import annotations

import runpy
import sys
from contextlib import nullcontext
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from verify.foreign.command import ADAPTERS

# A of AMD's MFMA 16x16x16: lane l has row l % 16, and columns 4 * (l / 16) + v.
PRINTED = "!fly.layout<((16,4),4):((1,64),16)>"


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The adapter's functions, which import the stand-in."""
    names = ("flydsl", "flydsl._mlir", "flydsl._mlir._mlir_libs", "flydsl._mlir._mlir_libs._mlirDialectsFly",
             "flydsl._mlir._mlir_libs._mlirDialectsFlyROCDL", "flydsl._mlir.ir")  # fmt: skip
    modules = {name: ModuleType(name) for name in names}
    vars(modules["flydsl._mlir"])["ir"] = SimpleNamespace(
        Context=lambda: nullcontext(SimpleNamespace()),
        Location=SimpleNamespace(unknown=nullcontext),
        Type=SimpleNamespace(parse=str),
    )
    operation = SimpleNamespace(get=lambda m, n, k, *types: (m, n, k, *types))
    vars(modules["flydsl._mlir._mlir_libs._mlirDialectsFlyROCDL"])["MmaOpCDNA3_MFMAType"] = operation
    atom = SimpleNamespace(get=lambda operation: SimpleNamespace(tv_layout_a=PRINTED))
    vars(modules["flydsl._mlir._mlir_libs._mlirDialectsFly"])["MmaAtomType"] = atom
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    return runpy.run_path(str(ADAPTERS / "flydsl.py"))


def test_an_element_is_where_the_printed_layout_has_its_lane_and_value(adapter: dict[str, Any]) -> None:
    fragment = adapter["fragment"]("MmaOpCDNA3_MFMAType", 16, 16, 16, ("f16", "f16", "f32"), "A")
    assert fragment["inputs"] == (("lane", 64), ("value", 4)) and fragment["outputs"] == (("m", 16), ("k", 16))
    for lane in range(64):
        assert [fragment["of"](lane, value) for value in range(4)] == [
            (lane % 16, 4 * (lane // 16) + value) for value in range(4)
        ]

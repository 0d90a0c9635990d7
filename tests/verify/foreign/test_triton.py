# SPDX-License-Identifier: Apache-2.0
"""The adapter of Triton with a stand-in for its compiler: bases become the element of every lane and register."""

from __future__ import annotations

import runpy
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from verify.foreign.checker import case
from verify.foreign.command import ADAPTERS
from verify.maps.answers import ForeignMap
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Axis

# C of m16n8: value bits go to n and m + 8, lane bits to 2 n and m. D of wgmma m64n8: its warps are 16 rows apart.
BASES = {
    (16, 8): ([[0, 1], [8, 0]], [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], []),
    (64, 8): ([[0, 1], [8, 0]], [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], [[16, 0], [32, 0]]),
}


class Builder:
    """A compiler that knows the linear layouts of two tiles."""

    def __init__(self, context: object) -> None:
        self.context = context

    def to_linear_layout(self, layout: object, shape: list[int]) -> SimpleNamespace:
        registers, lanes, warps = BASES[tuple(shape)]
        return SimpleNamespace(reg_bases=registers, lane_bases=lanes, warp_bases=warps)


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The adapter's functions, which import the stand-in."""

    def layout(**fields: object) -> SimpleNamespace:
        return SimpleNamespace(**fields, _to_ir=lambda builder: builder)

    names = ("triton", "triton._C", "triton._C.libtriton", "triton.experimental", "triton.experimental.gluon",
             "triton.experimental.gluon.language")  # fmt: skip
    modules = {name: ModuleType(name) for name in names}
    vars(modules["triton._C.libtriton"]).update(
        ir=SimpleNamespace(context=object, load_dialects=lambda context: None),
        gluon_ir=SimpleNamespace(GluonOpBuilder=Builder),
    )
    vars(modules["triton.experimental.gluon.language"]).update(
        _layouts=SimpleNamespace(NVMMADistributedLayout=layout, DotOperandLayout=layout)
    )
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    return runpy.run_path(str(ADAPTERS / "triton.py"))


def verdict(answer: dict[str, Any]) -> str:
    inputs, outputs = (tuple(Axis(*axis) for axis in answer[key]) for key in ("inputs", "outputs"))
    fragment = FragmentMap.tabulate(answer["of"], inputs, outputs)
    return case("triton", ForeignMap("map", fragment, answer["ptx"], answer["operand"])).status


def test_bases_that_are_the_isas_are_verified_and_others_refuted(
    adapter: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert verdict(adapter["mma"](16, 16, "f16", "f32", "C")) == "VERIFIED"
    assert verdict(adapter["wgmma"](8, 16, "f16", "D")) == "VERIFIED"
    registers, lanes, warps = BASES[16, 8]
    monkeypatch.setitem(BASES, (16, 8), (registers[::-1], lanes, warps))
    assert verdict(adapter["mma"](16, 16, "f16", "f32", "C")) == "REFUTED"

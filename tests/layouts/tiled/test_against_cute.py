# SPDX-License-Identifier: Apache-2.0
"""Tilings against the output of CuTe: CUTLASS 4.7, compiled by nvcc 13.0 and run on the host.

thrA and thrC are thrfrg of a row-major 128x128 tensor; A, B, C, S and D are the get_layout..._TV.
"""

from __future__ import annotations

import pytest

from layouts import Layout
from layouts.atoms import registry
from layouts.tensor import Tensor, make_fragment_like
from layouts.tiled import (
    TiledCopy,
    TiledCopyAtom,
    TiledMMA,
    make_tiled_copy,
    make_tiled_copy_A,
    make_tiled_copy_B,
    make_tiled_copy_C,
)

FRAGMENTS = {  # layout -> that of make_fragment_like
    "(1,(4,2),(4,2)):(0,(128,8192),(1,64))": "(1,(4,2),(4,2)):(0,(8,32),(1,4))",
    "((2,2,2),4,2):((1,256,8),1024,16)": "((2,2,2),4,2):((1,2,4),16,8)",
    "((2,2),4,8):((64,8),16,1)": "((2,2),4,8):((1,2),32,4)",
    "((2,4),4,3):((0,1),0,8)": "((2,4),4,3):((0,1),4,16)",
    "(8,4,1,3):(0,5,0,1)": "(8,4,1,3):(0,3,0,1)",
    "(8):(3)": "(8):(1)",
}


@pytest.mark.parametrize("text", FRAGMENTS)
def test_registers_are_ordered_like_their_elements(text: str) -> None:
    part = Tensor(None, Layout.parse(text))
    fragment = make_fragment_like(part)
    assert str(fragment) == FRAGMENTS[text] and fragment.data.size == fragment.indices().max() + 1


PRINTED = """
number A ((4,8,2,2),((2,2,2),(1,1))):((64,1,16,0),((32,8,256),(0,0)))
number B ((4,8,2,2),((2,2),(2,1))):((64,1,0,8),((32,256),(16,0)))
number C ((4,8,2,2),((2,2),(1,2))):((64,1,16,256),((32,8),(0,512)))
number thrC (((4,8),(2,2)),((2,2),(4,8))):(((2,128),(2048,8)),((1,1024),(4096,16)))
number thrA (((4,8),(2,1)),((2,2,2),(4,8))):(((2,128),(2048,0)),((1,1024,8),(4096,16)))
layout A ((4,4,2,2,2),((2,2,2),(1,1))):((64,1,8,4,0),((32,16,256),(0,0)))
layout B ((4,8,2,2),((2,2),(2,1))):((64,1,0,8),((32,256),(16,0)))
layout C ((4,4,2,2,2),((2,2),(1,2))):((64,1,8,4,256),((32,16),(0,512)))
layout thrC (((4,(4,2)),(2,2)),((2,2),(4,8))):(((2,(128,1024)),(512,8)),((1,2048),(4096,16)))
layout thrA (((4,(4,2)),(2,1)),((2,2,2),(4,8))):(((2,(128,1024)),(512,0)),((1,2048,8),(4096,16)))
simt A ((16,16),(1,(4,1))):((0,4),(0,(1,0)))
simt B ((16,16),(1,(4,1))):((4,0),(0,(1,0)))
simt C ((16,16),(1,(4,4))):((256,4),(0,(1,64)))
simt thrC ((1,(16,16)),(1,((4,2),(4,2)))):((0,(512,4)),(0,((128,8192),(1,64))))
simt thrA ((1,(16,1)),(1,((4,2),128))):((0,(512,0)),(0,((128,8192),1)))
quadpair A ((4,(2,2),2),(4,(1,1))):((16,(8,0),4),(1,(0,0)))
quadpair B ((4,(2,2),2),(4,(1,1))):((16,(0,8),4),(1,(0,0)))
quadpair C (((2,2),(2,2),2),((2,2,2),(1,1))):(((1,32),(8,128),4),((16,2,64),(0,0)))
quadpair thrC (((2,2,2),(2,2)),((2,2,2),(8,8))):(((128,2,512),(1024,8)),((1,256,4),(2048,16)))
quadpair thrA (((4,2),(2,1)),(4,(8,32))):(((1,512),(1024,0)),(128,(2048,4)))
ldsm S ((4,4,2,2,2),(8,1)):((1,8,256,4,0),(32,0))
ldsm D ((4,4,2,2,2),((2,2,2),1)):((64,1,8,4,0),((32,16,256),0))
ldsm_t S ((16,2,2,2),(8,1)):((32,16,0,8),(1,0))
ldsm_t D ((4,8,2,2),((2,2,2),1)):((64,1,0,8),((32,256,16),0))
stsm S ((4,8,2,2),((2,2,2),1)):((64,1,16,256),((32,8,512),0))
stsm D ((16,2,2,2),(8,1)):((1,512,16,256),(32,0))
wide S ((8,16),(8,1)):((128,1),(16,0))
wide D ((8,16),(8,1)):((128,1),(16,0))
"""
ROWS = [tuple(line.split()) for line in PRINTED.split("\n") if line]


def tiled_mma(name: str) -> TiledMMA:
    f16, simt = registry()["SM80_16x8x16_F32F16F16F32_TN"], registry()["UniversalFMA<float,float,float,float>"]
    if name == "number":
        return TiledMMA(f16, (2, 2, 1), (32, 32, 16))
    if name == "layout":
        return TiledMMA(f16, (2, 2, 1), ("(4,4,2):(1,8,4)", 32, 16))
    if name == "simt":
        return TiledMMA(simt, "(16,16,1):(16,1,0)", ("(16,4):(4,1)", "(16,4):(4,1)"))
    return TiledMMA(registry()["SM70_8x8x4_F32F16F16F32_NT"], (2, 2, 1))


def tiled_copy(name: str) -> TiledCopy:
    if name == "ldsm":
        return make_tiled_copy_A(TiledCopyAtom.of(registry()["SM75_U32x4_LDSM_N"], 16), tiled_mma("layout"))
    if name == "ldsm_t":
        return make_tiled_copy_B(TiledCopyAtom.of(registry()["SM75_U16x8_LDSM_T"], 16), tiled_mma("number"))
    if name == "stsm":
        return make_tiled_copy_C(TiledCopyAtom.of(registry()["SM90_U32x4_STSM_N"], 16), tiled_mma("number"))
    wide = TiledCopyAtom.of(registry()["UniversalCopy<uint128_t,uint128_t>"], 16)
    return make_tiled_copy(wide, Layout((16, 8), (8, 1)), Layout((1, 8)))


@pytest.mark.parametrize(("name", "what", "printed"), ROWS, ids=[f"{name}-{what}" for name, what, _ in ROWS])
def test_layouts_print_as_cute_prints_them(name: str, what: str, printed: str) -> None:
    if what in ("S", "D"):
        layout = getattr(tiled_copy(name), f"layout{what}_TV")
    elif what.startswith("thr"):
        layout = tiled_mma(name).thrfrg(what[3:], Layout((128, 128), (128, 1)))
    else:
        layout = getattr(tiled_mma(name), f"layout{what}_TV")
    assert str(layout) == printed

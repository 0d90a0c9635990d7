# SPDX-License-Identifier: Apache-2.0
"""Reading a disassembler's listing."""

from __future__ import annotations

import sys

import pytest

from gpu_checks.device import sass
from gpu_checks.device.sass import Listing, is_emulated, opcodes

NVDISASM = """\
.text.run_0:
        /*00c0*/                   CALL.REL.NOINC `($__internal_0_$__cuda_sm_9x_mma_bit_internal_xor_m8n8k128) ;
        /*0190*/                   BMMA.88128.AND.POPC R4, R4.ROW, R2.COL, RZ ;
        /*01a0*/                   BMMA.88128.AND.POPC R8, R8.ROW, R12.COL, RZ ;
        /*01b0*/                   IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] ;
.text.run_1:
        /*0110*/              @P0  HFMA2.MMA R9, -RZ, RZ, 0, 0 ;
        /*0120*/                   DMMA.16x8x16.RZ R8, R16, R32, R8 ;
"""
CUOBJDUMP = """\
\t\tFunction : run_1
\t.headerflags\t@"EF_CUDA_SM90"
        /*0120*/                   HMMA.16816.F32 R8, R16, R32, R8 ;        /* 0x000 */
\t\tFunction : run_0
        /*0010*/                   BPT.TRAP 0x1 ;
"""


def test_opcodes_are_counted_per_function():
    assert opcodes(NVDISASM) == {"run_0": "2xBMMA.88128.AND.POPC + CALL", "run_1": "DMMA.16x8x16.RZ"}
    assert opcodes(CUOBJDUMP) == {"run_1": "HMMA.16816.F32", "run_0": "BPT.TRAP"}
    assert opcodes("") == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        ("HMMA.16816.F32", False),
        ("DMMA.16x8x4", False),
        ("IMMA.8816.S8.S8.SAT", False),
        ("IDP.4A.S8.S8", False),
        ("2xHMMA.1688.F32", True),
        ("2xIMMA.8816.S8.S8 + CALL", True),
        ("CALL", True),
        ("BPT.TRAP", True),
    ],
)
def test_one_native_opcode_is_not_emulated(text, expected):
    assert is_emulated(text) is expected


def test_without_a_disassembler_there_is_no_listing(monkeypatch, tmp_path):
    monkeypatch.setattr(sass.shutil, "which", lambda name, path: None)
    assert sass.disassembler() is None
    assert Listing(b"cubin").opcodes == {}


def test_a_disassembler_that_fails_gives_no_opcodes(monkeypatch):
    monkeypatch.setattr(sass, "disassembler", lambda: [sys.executable, "-c", "raise SystemExit('bad ELF')"])
    assert Listing(b"cubin").opcodes == {}


def test_the_listing_of_the_cubin_is_read(monkeypatch):
    script = f"import sys; assert open(sys.argv[1], 'rb').read() == b'cubin'; print({NVDISASM!r})"
    monkeypatch.setattr(sass, "disassembler", lambda: [sys.executable, "-c", script])
    listing = Listing(b"cubin")
    assert listing.opcodes["run_1"] == "DMMA.16x8x16.RZ"
    assert listing.opcodes is listing.opcodes


def test_a_listing_longer_than_a_pipe_is_made_before_anybody_reads_it(monkeypatch, tmp_path):
    ended = tmp_path / "ended"
    script = f"print({NVDISASM!r} + 'x' * 2**20, flush=True); open({str(ended)!r}, 'w')"
    monkeypatch.setattr(sass, "disassembler", lambda: [sys.executable, "-c", script])
    listing = Listing(b"cubin")
    assert not ended.exists(), "nothing is started before it is asked for"
    assert listing.begin().result(timeout=60)["run_1"] == "DMMA.16x8x16.RZ" and ended.exists()

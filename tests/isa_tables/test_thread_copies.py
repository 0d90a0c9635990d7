# SPDX-License-Identifier: Apache-2.0
"""Copies of one thread (cp.async, ld, st): contiguous bytes in source and destination, as many as the text gives."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from isa_tables import NotInIsa, UnknownInstruction, instruction, mnemonics, runs_on
from isa_tables.signature import signature
from tests.cases import each
from tests.isa_tables.test_ptxas import MISSING, assembles

NAMES = [name for head in ("cp", "ld", "st") for name in mnemonics(f"{head}*") if name.split(".")[0] == head]


@each("name", NAMES)
def test_the_elements_of_the_thread_are_contiguous(name: str) -> None:
    for size in signature(name).select.get("bytes", (0,)):
        isa = instruction(name, **({"bytes": size} if size else {}))
        vector = re.search(r"\.v(\d)", name)
        total = size or 4 * int(vector[1] if vector else 1)
        for operand in isa.operands.values():
            assert operand.values * operand.bits == 8 * total
            assert [operand.locate(0, i) for i in range(operand.values)] == [(0, i) for i in range(operand.values)]
        assert isa.signature.lanes == 1


def test_sizes_are_those_of_the_isa() -> None:
    """9.7.9.25.3.1: 4, 8 and 16 bytes; past the first cache only 16."""
    assert {signature(name).select["bytes"] for name in NAMES if ".ca." in name} == {(4, 8, 16)}
    assert {signature(name).select["bytes"] for name in NAMES if ".cg." in name} == {(16,)}
    with pytest.raises(NotInIsa, match="no bytes = 2"):
        instruction("cp.async.ca.shared.global", bytes=2)


@pytest.mark.parametrize("name", ["ld.shared.f32", "st.global.wb.f32", "cp.async.commit_group", "ld.global.v4.b64"])
def test_what_the_isa_may_have_besides_is_unknown_and_not_absent(name: str) -> None:
    with pytest.raises(UnknownInstruction, match="in the tables in part; nearest: "):
        instruction(name)


@pytest.mark.skipif(MISSING is not None, reason=f"needs ptxas: {MISSING}")
@pytest.mark.parametrize("target", ["sm_80", "sm_100"])
def test_they_assemble(target: str, tmp_path: Path) -> None:
    texts = []
    for name in NAMES:
        if runs_on(signature(name), target):
            for size in signature(name).select.get("bytes", (None,)):
                s = signature(name, **({} if size is None else {"bytes": size}))
                texts.append(kernel(len(texts), s.mnemonic, s.asm, s.operands["R"].regs if size is None else 0))
    good, said = assembles(texts, target, tmp_path)
    assert good and len(texts) > 30, said[:2000]
    wrong = kernel(0, "cp.async.cg.shared.global", "[%S], [%G], 8", 0)
    assert not assembles([wrong], target, tmp_path)[0]


def kernel(number: int, mnemonic: str, asm: str, registers: int) -> str:
    """A kernel of one copy: addresses in 64 bits, a vector in braces."""
    listed = ", ".join(f"%R{i}" for i in range(registers))
    vector = f"{{{listed}}}" if registers > 1 else listed
    text = asm.format(S="%S", G="%G", P="%P", R=vector)
    declared = f".reg .b64 %S, %G, %P; .reg .b32 %R<{max(1, registers)}>;"
    return f".visible .entry k{number}()\n{{\n{declared}\n{mnemonic} {text};\nret;\n}}\n"

# SPDX-License-Identifier: Apache-2.0
"""Nothing of an opcode is accepted unread: what neither code nor a row's `no_effect` accounts for is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from isa_tables import semantics
from isa_tables.errors import TableError
from tests.verify.kernel.forms import choose_first, list_pairs
from tests.verify.kernel.states import Refused, bind_instruction
from tests.verify.kernel.test_check import run_sum
from verify.kernel.instructions import handlers


@pytest.mark.long
def test_code_reads_every_modifier_and_operand_of_every_row() -> None:
    """A form may have no meaning, but never because its row lists what nothing reads."""
    forms = {
        form.text: None
        for row in semantics.rows()
        for form in (choose_first(row), *(first for first, _ in list_pairs(row)))
    }
    assert len(forms) > 700
    silent = []
    for text in forms:
        try:
            bind_instruction(text)
        except Refused as refused:
            silent += [(text, str(refused))] if "no code reads" in str(refused) else []
    assert not silent


# Flags of a row's last `*`, which is an instruction of isa_tables/ptx: test_meanings has a pair or a reason for each.
FLAGS = {
    "satfinite",
    "rn",
    "rz",
    "rm",
    "rp",
    "kind::f8f6f4",
    "x1",
    "x2",
    "trans",
    "shared::cta",
    "sp::ordered_metadata",
}


def test_the_forms_have_every_word_and_operand_of_the_table() -> None:
    """Each row, each word of each list, each optional word and operand is among what these tests look at."""
    absent = []
    for row in semantics.rows():
        base, forms = choose_first(row), [first for first, _ in list_pairs(row)]
        there = [set(form.opcode.split(".")) for form in (base, *forms)]
        listed = [(word, {*word.split(".")}) for _, words, _ in row.parts for word in words if word != "*"]
        absent += [(row.spelling, word) for word, parts in listed if not any(parts <= words for words in there)]
        optional = [role for role, _, is_optional in row.operands if is_optional]
        longer = [form for form in forms if len(form.operands) > len(base.operands)]
        absent += [(row.spelling, role) for role in optional if not longer and role not in row.no_effect]
        absent += [(row.spelling, flag) for flag in row.rest if flag not in FLAGS and flag not in base.opcode]
    assert absent == []


@pytest.mark.parametrize(
    ("spelling", "operands", "opcode", "said"),
    [
        ("sub.strange?.{type}", ["d", "a", "b"], "sub.strange.f32 %f3, %f1, %f2", "no code reads .strange"),
        ("sub.{how}?.{type}", ["d", "a", "b"], "sub.up.f32 %f3, %f1, %f2", "no code reads .up"),
        ("sub.{how}.{type}", ["d", "a", "b"], "sub.down.f32 %f3, %f1, %f2", "no code reads .down"),
    ],
)
def test_a_new_row_whose_modifier_no_code_reads_is_refused(
    spelling: str, operands: list[str], opcode: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = next(row for row in semantics.rows() if row.spelling.startswith("sub.") and row.meaning == "field")
    words = {"type": ("f32",)} | ({"how": ("up", "down")} if "how" in spelling else {})
    row = replace(plain, spelling=spelling, words=words)
    meaning = semantics.meaning

    def find_meaning(text: str) -> semantics.Meaning | None:
        chosen = row.choose(text)
        if chosen is None:
            return meaning(text)
        return semantics.Meaning(row, chosen, dict.fromkeys("dab", "f32"))

    monkeypatch.setattr(handlers, "meaning", find_meaning)
    outcome = run_sum(f"{opcode};", "C[i] = A[i] - B[i]")
    assert outcome.status == "UNKNOWN" and said in outcome.findings[0].text
    monkeypatch.undo()
    row = replace(row, no_effect={"strange": "9.7.1, none", "how": "9.7.1, none"})
    monkeypatch.setattr(handlers, "meaning", find_meaning)
    assert run_sum(f"{opcode};", "C[i] = A[i] - B[i]").status == "VERIFIED"


def test_an_operand_that_no_code_reads_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    row = next(row for row in semantics.rows() if row.spelling == "nanosleep.u32")
    changed = replace(row, no_effect={})
    known = semantics.meaning
    monkeypatch.setattr(
        handlers, "meaning", lambda text: semantics.Meaning(changed, {}, {}) if text == "nanosleep.u32" else known(text)
    )
    outcome = run_sum("add.f32 %f3, %f1, %f2; nanosleep.u32 %r1;", "C[i] = A[i] + B[i]")
    assert outcome.status == "UNKNOWN" and "no code reads the operand t" in outcome.findings[0].text


ROW = """schema = 1
isa = "9.0"
provenance = "ISA text"
[[opcode]]
spelling = "add.{cache}?.{type}"
section = "9.7.1.1"
cache = ["ca", "cg"]
type = ["u16"]
operands = ["d", "a"]
class = "integer"
[opcode.no_effect]
NAME = "REASON"
"""


def test_a_row_is_found_by_each_word_with_which_its_opcodes_may_begin() -> None:
    """Rows are read by the first word of an opcode: it is the first row of all that has the opcode."""
    every, firsts = semantics.rows(), [(choose_first(row), row) for row in semantics.rows()]
    forms = [form for base, row in firsts for form, _ in list_pairs(row) if form.words[0] != base.words[0]]
    opcodes = {form.opcode for form in (*forms, *(base for base, _ in firsts))}
    expected = {opcode: next(row for row in every if row.choose(opcode) is not None) for opcode in opcodes}
    meanings = {opcode: semantics.meaning(opcode) for opcode in opcodes}
    assert {opcode: meaning and meaning.row for opcode, meaning in meanings.items()} == expected


def test_a_row_begins_on_a_line_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "rows.toml").write_text(ROW.replace("[[opcode]]", "[[ opcode ]]"))
    with pytest.raises(TableError, match="a line of its own"):
        semantics.rows(tmp_path)


@pytest.mark.parametrize(
    ("name", "reason", "said"),
    [
        ("cache", "9.7.1.1, speed alone", ""),
        ("cg", "9.7.1.1, speed alone", ""),
        ("a", "9.7.1.1, speed alone", ""),
        ("strange", "9.7.1.1, speed alone", "no such modifier"),
        ("cache", "speed alone", "expected a section and why"),
        ("cache", "9.7.1.1", "expected a section and why"),
    ],
)
def test_what_has_no_effect_is_there_and_has_a_section_and_a_reason(
    name: str, reason: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "rows.toml").write_text(ROW.replace("NAME", name).replace("REASON", reason))
    if not said:
        (row,) = semantics.rows(tmp_path)
        assert row.no_effect == {name: reason}
        return
    with pytest.raises(TableError, match=said):
        semantics.rows(tmp_path)


@pytest.mark.parametrize(
    ("mnemonic", "operands"),
    [
        ("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32",
         "{%r2,%r3,%r4,%r5}, {%r10,%r11,%r12,%r13}, {%r14,%r15}, {%r6,%r7,%r8,%r9}"),
        ("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8.satfinite", "{%r2,%r3,%r4,%r5}, %d8, %d8, 1, 1, 1"),
    ],
)  # fmt: skip
def test_a_saturating_product_has_a_meaning_and_a_flag_of_another_instruction_none(
    mnemonic: str, operands: str
) -> None:
    bind_instruction(f"{mnemonic.replace('.satfinite', '')} {operands};")
    bind_instruction(f"{mnemonic} {operands};")
    with pytest.raises(Refused, match="the ISA tables have no"):
        bind_instruction(f"{mnemonic.replace('.satfinite', '.sat')} {operands};")


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%r2,%r3}, {%r4}, {%r5}, {%r6,%r7};", "popc, .xor"),
        ("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc {%r2,%r3}, {%r4}, {%r5}, {%r6,%r7};", "and, .popc"),
        ("wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {%r2,%r3,%r4,%r5}, %d8, %d8, 1;", "and, .popc"),
        ("ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%r2}, [%r5];", "b8x16"),
    ],
)
def test_a_flag_that_a_row_does_not_list_is_refused_by_name(text: str, flags: str) -> None:
    with pytest.raises(Refused, match=f"no meaning for .{flags} of"):
        bind_instruction(text)


def test_each_flag_of_a_row_has_code_and_one_that_is_taken_from_it_none(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32 {%r2,%r3,%r4,%r5}, {%r10,%r11}, {%r14}, "
    text += "{%r6,%r7,%r8,%r9};"
    bind_instruction(text)
    known = handlers.meaning

    def fewer(opcode: str) -> semantics.Meaning | None:
        meaning = known(opcode)
        rest = tuple(word for word in meaning.row.rest if word != "satfinite") if meaning else ()
        return replace(meaning, row=replace(meaning.row, rest=rest)) if meaning and meaning.row.rest else meaning

    monkeypatch.setattr(handlers, "meaning", fewer)
    with pytest.raises(Refused, match=r"no meaning for \.satfinite of"):
        bind_instruction(text)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('rest = ["x1"]', "the flags that a last"),
        ('loses_guard = ["kind"]', "isn't one of the spelling's lists"),
        ('loses_guard = ["type:s64"]', "isn't one of the spelling's lists"),
        ('loses_guard = ["type:u16"]', ""),
    ],
)
def test_what_a_row_says_of_its_spelling_is_in_it(line: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "rows.toml").write_text(ROW.partition("[opcode.no_effect]")[0] + line + "\n")
    if not said:
        (row,) = semantics.rows(tmp_path)
        assert row.loses_guard == ("type:u16",)
        return
    with pytest.raises(TableError, match=said):
        semantics.rows(tmp_path)


@pytest.mark.parametrize("opcode", ["sub.u16x2", "sub.s16x2", "add.sat.s16x2", "min.relu.u16x2", "neg.s16x2"])
def test_integers_in_pairs_that_the_isa_does_not_have_are_refused_by_name(opcode: str) -> None:
    operands = "%r2, %r3" if opcode.startswith("neg") else "%r2, %r3, %r4"
    with pytest.raises(Refused, match=f"no meaning for the opcode {opcode}"):
        bind_instruction(f"{opcode} {operands};")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("ld.global.v2.f32 %f4, [%d5]; mov.f32 %f3, %f4;", "2 registers in braces"),
        ("ld.global.f32 {%f3, %f4}, [%d5];", "1 registers in braces"),
        ("createpolicy.fractional.L2::evict_first.b64 %d9; cvt.u32.u64 %r9, %d9; mov.b32 %f3, %r9;", "policy"),
        ("bra.uni NEXT; NEXT: mov.f32 %f3, %f1;", ""),
        ("setp.lt.u32 %p1, %r1, 7; mov.f32 %f3, %f1; @%p1 bra.uni NEXT; mov.f32 %f3, %f1; NEXT:", "part at a branch"),
        ("setp.lt.u32 %p1, %r1, 32; mov.f32 %f3, %f1; @%p1 bra.uni NEXT; mov.f32 %f3, %f1; NEXT:", ""),
        ("mov.f32 %f3, %f1; bar.sync 0;", ""),
        ("mov.f32 %f3, %f1; setp.lt.u32 %p1, %r1, 7; @%p1 bar.sync 1, 32;", "part of its warp"),
        ("mov.f32 %f3, %f1; setp.lt.u32 %p1, %r1, 32; @%p1 bar.sync 1, 32;", ""),
    ],
)
def test_a_modifier_that_is_a_requirement_is_checked(body: str, said: str) -> None:
    outcome = run_sum(body, "C[i] = A[i]")
    assert (outcome.status == "VERIFIED") == (not said), outcome.findings
    assert said in " ".join(finding.text for finding in outcome.findings)

# SPDX-License-Identifier: Apache-2.0
"""Table files: every error in one is reported with file and key, and a new one needs no code."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import isa_tables
from isa_tables import NotInIsa, TableError, UnknownInstruction, instruction, mnemonics
from isa_tables.signature import signature
from tests.cases import each

PTX = Path(isa_tables.__file__).parent / "ptx"
NAME = "mma_m16n8k16_16b.toml"
TEXT = (PTX / NAME).read_text()
F16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"

# change of the m16n8k16 16-bit file -> key of the error, words of the error
BAD = [
    ("schema  = 1", "schema = 2", "schema", "only schema 1 is known, not 2"),
    ("schema  = 1", 'schema = "1"', "schema", "must be an integer above 0, not '1'"),
    ("schema  = 1", "", "schema", "this key is missing"),
    ('section = "9.7.14.5.8"', "", "section", "this key is missing"),
    ('section = "9.7.14.5.8"', "section = 9.7", "section", "must be a text, not 9.7"),
    ("lanes   = 32", "lanes = true", "lanes", "must be an integer above 0, not True"),
    ("lanes   = 32", "lanes = 0", "lanes", "must be an integer above 0, not 0"),
    ("lanes   = 32", "lanes = 16", "C.values", "16 lanes x 4 values is not 1 x 16x8 elements"),
    ("lanes   = 32", "lanes = 32\nwarps = 1", "warps", "unknown key (known here: schema, isa,"),
    ("lanes   = 32", "lanes = " + "9" * 5000, "", "not TOML"),
    ("lanes   = 32", 'lanes = 32\nproduct = "%laneid // i"', "product", "unknown name 'i'"),
    ("lanes   = 32", "lanes = 32\nlanes = 32", "", "not TOML"),
    ("mnemonic = ", "mnemonics = ", "mnemonics", "unknown key"),
    ('mnemonic = "mma.sync.aligned.m16n8k16', 'mnemonic = "mma.sync.aligned.m16n8k8', "mnemonic", "must be named"),
    (".{D}.{A}.{B}.{C}", ".{D}.{A}.{B}.{E}", "mnemonic", "unknown placeholder {E} (known here: D, A, B, C)"),
    ('["f32", "bf16", "bf16", "f32"]', '["f32", "f16", "f16", "f32"]', "mnemonic", "is described twice"),
    ('["f32", "bf16", "bf16", "f32"]', '["f32", "bf16", "bf16"]', "types", "must be a list of [D, A, B, C]"),
    ('["f32", "bf16", "bf16", "f32"]', '["f32", "g16", "bf16", "f32"]', "types", "'g16' is not a PTX element type"),
    ('["f32", "bf16", "bf16", "f32"]', '["f32", [], "bf16", "f32"]', "types", "must be a list of rows"),
    ("types    = ", "param = { A = [1] }\ntypes = ", "param", "none named D, A, B, C or type"),
    ("types    = ", "param = { N = [] }\ntypes = ", "param", "must be a table of lists of words or numbers"),
    ("types    = ", "param = { N = [1, 2.5] }\ntypes = ", "param", "must be a table of lists of words or numbers"),
    ("types    = ", "param = { N = [1], M = 2 }\ntypes = ", "param", "must be a table of lists of words or numbers"),
    ("types    = ", "param = { N = [1, 2] }\ntypes = ", "mnemonic", "is described twice"),
    ('targets  = ["sm_80+"]', "", "targets", "this key is missing"),
    ('targets  = ["sm_80+"]', 'targets = ["sm_80"]', "targets", 'must be a list such as ["sm_80+"]'),
    ('targets  = ["sm_80+"]', 'targets = "sm_80+"', "targets", "must be a list such as"),
    ("[A]", "[E]", "A", "this operand is not described"),
    ("[A]", "[E]\n[A]", "E", "unknown operand (listed here: A, B, C)"),
    ("values = 8", "values = 8.0", "A.values", "must be an integer above 0 or a formula of it, not 8.0"),
    ("values = 8", "values = 7", "A.regs", "7 values do not divide into 4 registers"),
    ("values = 8", "values = 4", "A.values", "32 lanes x 4 values is not 1 x 16x16 elements"),
    ("values = 8\n", "", "A.values", "this key is missing"),
    ("bits   = 16\nregs   = 4", "bits = 8\nregs = 4", "A.bits", "2 x f16 in 8 bits each overflow a 32-bit"),
    ("bits   = 16\nregs   = 4", "bits = 16\nregs = 2", "A.bits", "4 x f16 in 16 bits each overflow a 32-bit"),
    ("bits   = 16\nregs   = 4", "bits = 16\nregs = 4\nshift = 1", "A.bits", "overflow a 32-bit register"),
    ("bits = 32\nregs = 4", "bits = 33\nregs = 4", "C.bits", "1 x f32 in 33 bits each overflow a 32-bit register"),
    ("extent = [16, 16]", "extent = [16]", "A.extent", "must be two integers above 0"),
    ("extent = [16, 16]", "extent = [8, 32]", "A.extent", "(8, 32) does not fit the other operands"),
    ('provenance = "ISA text"\n\n[B]', 'provenance = "hearsay"\n\n[B]', "A.provenance", "must be one of ISA text,"),
    ('provenance = "ISA text"\n\n[B]', 'provenance = "corrected"\n\n[B]', "A.erratum", "this key is missing"),
    ('provenance = "ISA text"\n\n[B]', 'provenance = "derived"\n\n[B]', "A.provenance", "name the source"),
    ('provenance = "ISA text"\n\n[B]', 'provenance = "observed: "\n\n[B]', "A.provenance", "name the source"),
    ('provenance = "ISA text"\n\n[B]', "\n[B]", "A.provenance", "this key is missing"),
    ('provenance = "ISA text"\n\n[B]', 'provenance = "ISA text"\nprinted = "x"\n[B]', "A.printed", "a table of row"),
    ('provenance = "ISA text"\n\n[B]', 'provenance = "ISA text"\nprinted.dol = "x"\n[B]', "A.printed", "row and col"),
    ('col    = "groupID"', 'col = "group"', "B.col", "unknown name 'group'"),
    ('col    = "groupID"', 'col = "groupID / 2"', "B.col", "write '//' at column 9"),
    ('col    = "groupID"', 'let = { g = "%laneid >> n" }\ncol = "g"', "B.let.g", "unknown name 'n'"),
    ('col    = "groupID"', 'let = { i = "2" }\ncol = "i"', "B.let.i", "must be an identifier"),
    ('col    = "groupID"', 'let = { "2g" = "2" }\ncol = "i"', "B.let.2g", "must be an identifier"),
    ('col    = "groupID"', 'let = { d = "i - 8" }\ncol = "d % 4"', "B.col", "contains a subtraction"),
    ('when = { type = "f16" }', "when = 3", "C.case[1].when", "must be a table of words"),
    ('when = { type = "f16" }', 'when = { sort = "f16" }', "C.case[1].when.sort", "unknown (known here: type)"),
    (
        'when = { type = "f16" }',
        'when = { type = ["f16", "f32"] }',
        "C.case",
        "both case[0] and case[1] give 'bits' to",
    ),
    ('when = { type = "f16" }\n', "", "C.case[1].when", "this key is missing"),
    ("bits = 32\nregs = 4", "bits = 32", "C.regs", "this key is missing"),
    ("bits = 32\nregs = 4", "bits = 32\nregs = 4\nrow_ = 1", "C.case[0].row_", "unknown key"),
    ("[[C.case]]", "[C.case]", "", "not TOML"),
    ("mnemonic = ", "form = []\nmnemonic = ", "form", "must be a list of tables, not []"),
    ("mnemonic = ", "form = [1]\nmnemonic = ", "form", "must be a list of tables, not [1]"),
    ("mnemonic = ", "[[form]]\nmnemonics = ", "form[0].mnemonics", "unknown key"),
]


# changes of the file with most kinds of keys: sparse, selected, operands of their own
SPARSE = (PTX / "mma.sp_m16n8k16_16b.toml").read_text()
BAD_SPARSE = [
    ('"C", "E"]', '"C", "e"]', "form[0].operands", "must be a list of operands"),
    ('"C", "E"]', '"C", "E", "X"]', "X", "this operand is not described"),
    ("{ F = [0, 1, 2, 3] }", "{ E = [0, 1] }", "select", "'E' is a name already"),
    ("{ F = [0, 1, 2, 3] }", "{ F = [] }", "form[0].select", "must be a table of lists"),
    ("{ F = [0, 1, 2, 3] }", "{ G = [0, 1] }", "asm", "unknown placeholder {F}"),
    ('type   = "b1"', 'type   = "{X}"', "E.type", "unknown placeholder {X}"),
    ('type   = "b1"', 'type   = "b2"', "types", "'b2' is not a PTX element type"),
    ('type   = "b1"\n', "", "types", "must be a list of [D, A, B, C, E]"),
    ('axes   = ["m", "bit"]\n', "", "E.axes", "this key is missing"),
    ('axes   = ["m", "bit"]', 'axes   = ["n", "bit"]', "E.extent", "does not fit the other operands"),
    ('axes   = ["m", "bit"]', 'axes   = ["m", "m"]', "E.axes", "must be two names"),
    ("copies = 4", "copies = 2", "E.values", "32 lanes x 32 values is not 2 x 16x16 elements"),
    ("copies = 4", 'copies = "F // 2"', "E.copies", "is 0 for"),
    ("copies = 4", 'copies = "F +"', "E.copies", "not a formula"),
    ("copies = 4", 'copies = "i"', "E.copies", "unknown name 'i'"),
    ('holds  = "threadID_in_group == F"', 'holds  = "F"', "E.holds", "expected a condition, found a number"),
    ('holds  = "threadID_in_group == F"', 'holds  = "i == F"', "E.holds", "unknown name 'i'"),
    ('holds  = "threadID_in_group == F"', 'place  = { x = "m" }', "E.place", "cannot be combined with 'row'"),
    ('holds  = "threadID_in_group == F"', 'space  = "ram"', "E.space", "must be one of reg, smem, gmem, tmem"),
    ('holds  = "threadID_in_group == F"', "unspecified = true", "E.unspecified", "cannot be combined with 'row'"),
    ("columns = 4", "columns = 8", "sparsity.kept.4", "[0, 1] are not half of 8 columns"),
    ("columns = 4", "columns = 1000000000000", "sparsity.kept.4", "[0, 1] are not half of 1000000000000 columns"),
    ("4 = [0, 1]", "4 = [-1, 0]", "sparsity.kept.4", "are not half"),
    ("4 = [0, 1]", "4 = [0, 4]", "sparsity.kept.4", "are not half"),
    ("4 = [0, 1]", "4 = [1, 0]", "sparsity.kept.4", "are not half"),
    ("4 = [0, 1]", "17 = [0, 1]", "sparsity.kept.17", "are not half"),
    ("columns = 4", "column = 4", "sparsity.column", "unknown key"),
    (
        'k16.row.col.{D}.{A}.{B}.{C}"',
        f'k16.row.col.x{{x}}.y{{y}}.{{D}}.{{A}}.{{B}}.{{C}}"\nparam = {{ x = {[*range(300)]}, y = {[*range(300)]} }}',
        "mnemonic",
        "makes more than 65536 instructions",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new", "key", "words"), BAD_SPARSE)
def test_bad_keys_beyond_the_dense_ones(tmp_path: Path, old: str, new: str, key: str, words: str) -> None:
    assert old in SPARSE, "the change must change something"
    path = tmp_path / "mma.sp_m16n8k16_16b.toml"
    path.write_text(SPARSE.replace(old, new, 1))
    with pytest.raises(TableError) as error:
        for name in mnemonics("*", folder=tmp_path):
            instruction(name, folder=tmp_path)
    assert str(error.value).startswith(str(path))
    assert (error.value.key, words in str(error.value)) == (key, True), error.value


FAMILY = """
schema  = 1
isa     = "9.9"
section = "9.7.99"
lanes   = 32
param   = { N = [8, 16, 24] }

mnemonic = "newmma.sync.aligned.m8n{N}k4.{D}.{A}"
operands = ["D", "A", "B"]
types    = [["f32", "tf32"]]
select   = { place = [0, 1] }
asm      = "{D}, {A}, [{B}], {place}"
targets  = ["sm_140a"]

[D]
values = "N // 4"
bits   = 32
regs   = "N // 4"
extent = [8, "N"]
row    = "%laneid >> 2"
col    = "%laneid % 4 * (N // 4) + i"
provenance = "derived: for this test"

[A]
values = 1
bits   = 32
regs   = 1
extent = [8, 4]
row    = "%laneid >> 2"
col    = "%laneid % 4"
provenance = "derived: for this test"

[B]
type   = "{A}"
space  = "tmem"
bits   = 32
extent = [4, "N"]
place  = { lane = "k + 4 * place", column = "n" }
provenance = "derived: for this test"
"""


def test_a_new_family_needs_a_file_and_no_code(tmp_path: Path) -> None:
    (tmp_path / "newmma_m8nNk4.toml").write_text(FAMILY)
    assert len(mnemonics("newmma.sync", folder=tmp_path)) == 3
    isa = instruction("newmma.sync.aligned.m8n24k4.f32.tf32", folder=tmp_path, place=1)
    assert (isa.signature.shape, isa.signature.asm) == ((8, 24, 4), "{D}, {A}, [{B}], 1")
    d, b = isa.operands["D"], isa.operands["B"]
    assert (d.values, d.extent, d.uses, d.locate(5, 3)) == (6, (8, 24), {"N"}, (1, 9))
    assert (b.type, b.space, b.uses, b.place(3, 20)) == ("tf32", "tmem", {"place"}, {"lane": 7, "column": 20})
    with pytest.raises(NotInIsa, match=r"nearest: newmma.sync.aligned.m8n16k4.f32.tf32, newmma.*m8n24k4"):
        instruction("newmma.sync.aligned.m8n20k4.f32.tf32", folder=tmp_path)


@pytest.mark.parametrize("step", [1, -1])
def test_an_operand_depends_on_what_its_numbers_name(tmp_path: Path, step: int) -> None:
    """Parameters and selections alike, in whatever order the members of the family are asked for."""
    counted = "values = 1\nbits   = 32\nregs   = 1\n"
    assert FAMILY.count(counted) == 1
    text = FAMILY.replace(counted, 'values = "place + 1"\nbits = 16\nregs = 1\ncopies = "place + 1"\n')
    text = text.replace("[B]\n", "[[A.case]]\nwhen = { N = 24 }\nreg_type = 'f32'\n\n[B]\n")
    (tmp_path / "newmma_m8nNk4.toml").write_text(text.replace('"tf32"]]', '"f16"]]'))
    for n, place in [(n, place) for n in (8, 16, 24) for place in (0, 1)][::step] * 2:
        s = signature(f"newmma.sync.aligned.m8n{n}k4.f32.f16", folder=tmp_path, place=place)
        a, b, d = (s.operands[name] for name in "ABD")
        assert (a.values, a.copies, a.reg_type) == (place + 1, place + 1, "f32" if n == 24 else "b32")
        assert (b.extent, d.extent, d.values, d.regs) == ((4, n), (8, n), n // 4, n // 4)


def test_a_name_in_let_may_be_a_key(tmp_path: Path) -> None:
    """The key `holds` of an operand is a condition, a name that `let` gives is a number whatever it is."""
    text = TEXT.replace('col    = "groupID"', 'let = { holds = "7 - groupID" }\ncol = "holds"')
    (tmp_path / NAME).write_text(text)
    assert instruction(F16, folder=tmp_path).operands["B"].locate(4, 0) == (0, 6)


def test_an_error_in_a_number_names_the_instruction(tmp_path: Path) -> None:
    """Also where the same number has failed before, and where another selection is right."""
    (tmp_path / "newmma_m8nNk4.toml").write_text(FAMILY.replace("[8, 4]\n", '[8, 4]\ncopies = "place"\n'))
    for n in (8, 16, 8):
        name = f"newmma.sync.aligned.m8n{n}k4.f32.tf32"
        assert signature(name, folder=tmp_path, place=1).operands["A"].copies == 1
        with pytest.raises(TableError, match=rf"A\.copies: 'place' is 0 for {name}$"):
            signature(name, folder=tmp_path, place=0)


def read_all(folder: Path) -> None:
    for name in mnemonics(folder=folder):
        instruction(name, folder=folder)


@pytest.mark.parametrize(("old", "new", "key", "words"), BAD)
def test_a_bad_table_is_reported_with_file_and_key(tmp_path: Path, old: str, new: str, key: str, words: str) -> None:
    assert old in TEXT, "the change must change something"
    (tmp_path / NAME).write_text(TEXT.replace(old, new, 1))
    with pytest.raises(TableError) as error:
        read_all(tmp_path)
    assert str(error.value).startswith(str(tmp_path / NAME))
    assert (error.value.key, words in error.value.reason or words in str(error.value)) == (key, True), error.value


def test_a_bad_formula_is_shown_with_its_column(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(TEXT.replace('row    = "groupID if i < 2 ', 'row    = "groupID if i && 2 '))
    with pytest.raises(TableError) as error:
        read_all(tmp_path)
    assert str(error.value) == (
        f"{tmp_path / NAME}: C.row: '&&' is not in the language: write 'and' at column 14\n"
        "  groupID if i && 2 else groupID + 8\n"
        "               ^"
    )


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda path: path.write_bytes(b"\xff\xfe"), "cannot be read"),
        (lambda path: path.mkdir(), "cannot be read"),
        (lambda path: path.write_text("a = 1\n" * 200_000), "larger than 1048576 bytes"),
        (lambda path: path.write_text("a = " + "[" * 5000), "not TOML"),
        (lambda path: path.symlink_to("nowhere"), "cannot be read"),
    ],
    ids=["not UTF-8", "a folder", "too large", "too deep", "a dangling link"],
)
def test_a_table_that_cannot_be_read_is_named(tmp_path: Path, spoil: Callable[[Path], object], words: str) -> None:
    spoil(tmp_path / NAME)
    with pytest.raises(TableError, match=words) as error:
        instruction(F16, folder=tmp_path)
    assert str(tmp_path / NAME) in str(error.value)


def test_the_same_instruction_in_two_files(tmp_path: Path) -> None:
    for name in (NAME, "mma_m16n8k16_other.toml"):
        (tmp_path / name).write_text(TEXT)
    with pytest.raises(TableError, match=r"is also in .*16b\.toml"):
        instruction(F16, folder=tmp_path)


@pytest.mark.long
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_a_table_or_a_table_error(tmp_path: Path, data: bytes) -> None:
    (tmp_path / NAME).write_bytes(data)
    with pytest.raises((TableError, NotInIsa, UnknownInstruction)):
        instruction(F16, folder=tmp_path)


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(TEXT)
    before = instruction(F16, folder=tmp_path).operands["B"].locate(4, 0)
    (tmp_path / NAME).write_text(TEXT.replace('col    = "groupID"', 'col    = "7 - groupID"'))
    assert (before, instruction(F16, folder=tmp_path).operands["B"].locate(4, 0)) == ((0, 1), (0, 6))


NEW = """
schema  = 1
isa     = "9.9"
section = "9.7.14.5.99"
lanes   = 32

mnemonic = "mma.sync.aligned.m16n{N}k8.row.col{sat}.{D}.{A}.{B}.{C}"
types    = [["f32", "f16", "f16", "f32"]]
targets  = ["sm_140a"]
param    = { N = [8, 16], sat = ["", ".satfinite"] }

[A]
values = 4
bits   = 16
regs   = 2
extent = [16, 8]
let    = { groupID = "%laneid >> 2", threadID_in_group = "%laneid % 4" }
row    = "groupID if i < 2 else groupID + 8"
col    = "threadID_in_group * 2 + (i & 0x1)"
provenance = "derived: for this test"

[B]
bits   = 16
let    = { inner = "%laneid % (32 // N) * (N // 4) + i" }
row    = "inner % 8"
col    = "%laneid // (32 // N)"
provenance = "derived: for this test"
case   = [
    { when = { N = 8 }, values = 2, regs = 1, extent = [8, 8] },
    { when = { N = 16 }, values = 4, regs = 2, extent = [8, 16] },
]

[C]
bits   = 32
row    = "%laneid >> 1"
col    = "(%laneid & 0x1) * (N // 2) + i"
provenance = "derived: for this test"
case   = [
    { when = { N = [8] }, values = 4, regs = 4, extent = [16, 8] },
    { when = { N = [16] }, values = 8, regs = 8, extent = [16, 16] },
]
"""


def test_a_new_instruction_needs_a_file_and_no_code(tmp_path: Path) -> None:
    """A family of two shapes in one file, whose parameter is a number in the formulas."""
    (tmp_path / "mma_new.toml").write_text(NEW)
    assert mnemonics("mma.sync", folder=tmp_path) == (
        "mma.sync.aligned.m16n16k8.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m16n16k8.row.col.satfinite.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k8.row.col.satfinite.f32.f16.f16.f32",
    )
    wide = instruction("mma.sync.aligned.m16n16k8.row.col.f32.f16.f16.f32.satfinite", folder=tmp_path)
    assert (wide.signature.shape, wide.signature.ptx, wide.isa) == ((16, 16, 8), "9.9", "9.9")
    assert wide.operands["D"].locate(5, 3) == (2, 11)
    assert wide.operands["B"].locate(3, 2) == (6, 1)
    for name in mnemonics(folder=tmp_path):
        for operand in instruction(name, folder=tmp_path).operands.values():
            elements = {operand.locate(lane, i) for lane in range(32) for i in range(operand.values)}
            assert len(elements) == 32 * operand.values
    with pytest.raises(NotInIsa, match=r"nearest: .*m16n8k8"):
        signature("mma.sync.aligned.m16n12k8.row.col.f32.f16.f16.f32", folder=tmp_path)
    with pytest.raises(UnknownInstruction):
        signature("dp4a.s32.s32", folder=tmp_path)


def test_a_file_with_one_form_may_write_it_at_the_top(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(TEXT.replace("mnemonic = ", "[[form]]\nmnemonic = "))
    assert "[[form]]" not in TEXT
    assert signature(F16, folder=tmp_path) == signature(F16)


def test_the_first_ptx_version_is_the_cited_one_by_default(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(TEXT.replace('ptx      = "7.0"\n', ""))
    assert signature(F16, folder=tmp_path).ptx == "9.0"


def test_shipped_files_are_found_whatever_the_working_directory(tmp_path: Path) -> None:
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        assert len(mnemonics()) == 172
    finally:
        os.chdir(before)


@each("path", sorted(PTX.glob("*.toml")), ids=lambda path: path.stem)
def test_shipped_files_cite_their_section(path: Path) -> None:
    text = path.read_text()
    assert text.startswith("# SPDX-License-Identifier: Apache-2.0\n")
    assert re.search(
        r'^section = "9\.7\.(14\.(3|[456]\.[\d.]+)|15\.[56]\.[\d.]+|16(\.[\d.]+)?|1\.2[34]|9\.[\d.]+)"$', text, re.M
    )
    assert re.search(r'^isa     = "9\.0"$', text, re.M)

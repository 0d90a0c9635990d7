# SPDX-License-Identifier: Apache-2.0
"""A file of atoms is read as it is written, or rejected in one line that names the file and the key."""

import os
import pickle
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from layouts.atoms import AtomFileError, load, registry
from layouts.toml import entry
from layouts.toml.document import MAX_DEPTH, parse

GOOD = """\
["MINE"]
ptx   = ["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"]
shape = [16, 8, 16]
thr   = "32:1"
types = { D = "f32", A = "f16", B = "f16", C = "f32" }
A     = "((4,8),(2,2,2)):((32,1),(16,8,128))"
B     = "((4,8),(2,2)):((16,1),(8,64))"
C     = "((4,8),(2,2)):((32,1),(16,8))"
source = "a test"
"""


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "mine.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def rejection(path: Path | str) -> AtomFileError:
    """The error that reading the file raises; asserts what every such error must have."""
    with pytest.raises(AtomFileError) as caught:
        load(path)
    error = caught.value
    assert error.file == str(path)
    assert all(str(fault).isprintable() and len(str(fault)) < 1000 for fault in error.errors)
    assert pickle.loads(pickle.dumps(error)).args == error.args
    assert not isinstance(error.__context__, RecursionError)  # Dask pickles the context too, with all its frames
    return error


def with_line(key: str, line: str) -> str:
    """The good file with the line of one key replaced."""
    return "".join(line + "\n" if old.split("=")[0].strip() == key else old for old in GOOD.splitlines(keepends=True))


def test_an_entry_is_read_as_it_is_written(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    (atom,) = load(path)
    assert (atom.name, atom.shape, atom.thr, atom.source) == ("MINE", (16, 8, 16), "32:1", "a test")
    assert atom.ptx == ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",)
    assert atom.types == {"D": "f32", "A": "f16", "B": "f16", "C": "f32"}
    assert atom.operands["A"] == "((4,8),(2,2,2)):((32,1),(16,8,128))"
    assert (atom.element, atom.known_defect, atom.file) == ({}, None, str(path))
    assert load(str(path)) == (atom,)


@pytest.mark.long
def test_shipped_files_are_read_like_any_other() -> None:
    files = sorted({atom.file for atom in registry().values()})
    assert [atom for file in files for atom in load(file)] == list(registry().values())


def test_no_suggestion_is_searched_for_a_known_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Comparing a key with every known one takes longer than reading the entry."""
    searched: list[str] = []
    monkeypatch.setattr(entry, "likeliest", lambda key, known: searched.append(key) or "")
    load(write(tmp_path, GOOD))
    assert searched == []
    with pytest.raises(AtomFileError):
        load(write(tmp_path, GOOD + "clour = 1"))
    assert set(searched) == {"clour"}


def test_without_ptx_nothing_is_given_and_with_an_empty_one_nothing_is_issued(tmp_path: Path) -> None:
    assert load(write(tmp_path, with_line("ptx", "")))[0].ptx is None
    assert load(write(tmp_path, with_line("ptx", "ptx = []")))[0].ptx == ()


def test_an_element_is_given_for_all_operands_or_for_each(tmp_path: Path) -> None:
    assert load(write(tmp_path, GOOD + 'element = "2xf64"'))[0].element == dict.fromkeys("DABC", "2xf64")
    assert load(write(tmp_path, GOOD + 'element = { A = "2xf16" }'))[0].element == {"A": "2xf16"}


def test_a_known_defect_is_read(tmp_path: Path) -> None:
    assert load(write(tmp_path, GOOD + 'known_defect = "B is wrong"'))[0].known_defect == "B is wrong"


def test_profiles_that_differ_are_no_error_of_the_file(tmp_path: Path) -> None:
    text = "((4,8),(32,2)):((512,1),((16,8)))"
    assert load(write(tmp_path, with_line("A", f'A = "{text}"')))[0].operands["A"] == text


def test_a_file_without_a_table_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AtomFileError, match=r"mine\.toml: there is no table in it$"):
        load(write(tmp_path, "# nothing yet\n"))


def test_byte_order_mark_and_carriage_returns_are_accepted(tmp_path: Path) -> None:
    (plain,) = load(write(tmp_path, GOOD))
    assert load(write(tmp_path, b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())) == (plain,)


@pytest.mark.parametrize("key", ["A", "B", "C"])
def test_a_missing_key_is_named(tmp_path: Path, key: str) -> None:
    error = rejection(write(tmp_path, with_line(key, "")))
    assert (error.key, error.problem) == (f"MINE.{key}", "missing")


WRONG = [
    ("ptx", "ptx = 1", "MINE.ptx", "expected a mnemonic or an array of mnemonics, found an integer"),
    ("ptx", 'ptx = ""', "MINE.ptx", "found an empty string"),
    ("ptx", "ptx = [1]", "MINE.ptx[0]", "expected a string, found an integer"),
    ("ptx", 'ptx = ["mma", " "]', "MINE.ptx[1]", "found an empty string"),
    ("ptx", 'ptx = ["mma", [["dp4a"]]]', "MINE.ptx[1][0]", "expected a string, found an array"),
    ("shape", "shape = 16", "MINE.shape", "expected [M, N, K], found an integer"),
    ("shape", "shape = [16, 8]", "MINE.shape", "expected [M, N, K], found 2 items"),
    ("shape", "shape = [16, 8, 16.0]", "MINE.shape", "K should be an integer, found a float"),
    ("shape", "shape = [true, 8, 16]", "MINE.shape", "M should be an integer, found a boolean"),
    ("shape", "shape = [16, 0, 16]", "MINE.shape", "N should be at least 1, found 0"),
    ("shape", "shape = [16, 8, -1]", "MINE.shape", "K should be at least 1, found -1"),
    ("thr", "thr = 32", "MINE.thr", "expected a string, found an integer"),
    ("thr", 'thr = "32"', "MINE.thr", "expected ':'"),
    ("types", 'types = "f16"', "MINE.types", "expected a table of D, A, B, C, found a string"),
    ("types", 'types = { D = "f32", A = "f16", B = "f16", C = 32 }', "MINE.types.C", "found an integer"),
    ("types", 'types = { D = "f32", A = "f16", B = "f16", C = "f32", X = "b8" }', "MINE.types.X", "unknown key"),
    ("types", 'types = { D = "f32", A = "f16", B = "f16", C = "f32", E = "b8" }', "MINE.types.E", "has no operand E"),
    ("A", 'A = ""', "MINE.A", "found an empty string"),
    ("A", "A = 1979-05-27", "MINE.A", "found a date or time"),
    ("B", 'B = "((4,8),(2,2)):((16,1),(8,64)"', "MINE.B", "at column 29"),
    ("B", 'B = "((4,8),(2,2)):((16,1),(8,x))"', "MINE.B", "at column 26"),
    ("C", f'C = "{"(" * 65}8{")" * 65}:1"', "MINE.C", "nested deeper than 64"),
    ("source", "source = []", "MINE.source", "expected a string, found an array"),
    ("source", 'element = "f64"\nsource = "x"', "MINE.element.D", "such as 2xf64"),
    ("source", 'element = "0xf64"\nsource = "x"', "MINE.element.D", "such as 2xf64"),
    ("source", 'element = { Z = "2xf64" }\nsource = "x"', "MINE.element.Z", "unknown key"),
    ("source", 'element = { A = 2 }\nsource = "x"', "MINE.element.A", "expected a string, found an integer"),
    ("source", 'element = 2\nsource = "x"', "MINE.element", "expected a string or a table"),
    ("source", 'known_defect = ""\nsource = "x"', "MINE.known_defect", "found an empty string"),
    ("source", 'known_defect = true\nsource = "x"', "MINE.known_defect", "found a boolean"),
    ("source", 'sorce = "x"\nsource = "x"', "MINE.sorce", "did you mean 'source'?"),
    ("source", 'SFA = "32"\nsource = "x"', "MINE.SFA", "expected ':'"),
    ("source", 'SFC = "32:1"\nsource = "x"', "MINE.SFC", "did you mean 'SFB'?"),
    ("source", 'selector = 1\nsource = "x"', "MINE.selector", "unknown key"),
    ("source", '"a\\u0007\\nb" = 1\nsource = "x"', "MINE.a\a\nb", "unknown key"),
    ("source", f'"{"k" * 90000}" = 1\nsource = "x"', f"MINE.{'k' * 90000}", "unknown key"),
]


@pytest.mark.parametrize(("replaced", "line", "key", "problem"), WRONG, ids=map(str, range(len(WRONG))))
def test_a_key_of_the_wrong_kind_is_named(tmp_path: Path, replaced: str, line: str, key: str, problem: str) -> None:
    error = rejection(write(tmp_path, with_line(replaced, line)))
    assert error.key == key
    assert problem in error.problem


REJECTED = [
    ("schema = 1", "schema", "expected a table, found an integer"),
    ("[[MINE]]\nptx = []", "MINE", "expected a table, found an array"),
    (GOOD.replace('"MINE"', '""'), '""', "an atom needs a name"),
    (GOOD.replace('"MINE"', '"MI\\u001bNE"'), "MI\x1bNE", "a name is at most 256 printable characters"),
    (GOOD.replace("mma.sync", "m" * 300), "MINE.ptx[0]", "a mnemonic is at most 256 printable characters, found 'mmm"),
    (GOOD.replace("mma.sync", "\\u0000"), "MINE.ptx[0]", "a mnemonic is at most 256 printable characters"),
    (GOOD.replace('"MINE"', "MINE.x"), "MINE", 'a name with a dot needs quotes: ["MINE.x"]'),
    (GOOD + GOOD, "", "is not TOML: Cannot declare"),
    ('["MINE"]\nptx = [', "", "is not TOML: Invalid value (at end of document)"),
    ("[MINE]\nptx == 1", "", "is not TOML: Invalid value"),
    ("import os", "", "is not TOML"),
    (f"x = {'9' * 5000}", "", "is not TOML"),
    (b"\xff\xfe\x00", "", "is not UTF-8: byte 0 is 0xff"),
    (b"\x7fELF\x02\x01\x01\x00", "", "is not TOML"),
    (bytes(100), "", "is not TOML"),
    ("#" + "x" * 2**20, "", "is over 1 MiB"),
    ("x = " + "[" * 100_000, "", "nested deeper than 64"),
    ("x = " + "{a=" * 100_000, "", "nested deeper than 64"),
    (".".join("a" * 200) + " = 1", "", "nested deeper than 64"),
    ("[" + ".".join("a" * 200) + "]", "", "nested deeper than 64"),
    (".".join("a" * 400_000) + " = 1", "", "more than 1000 dots"),
]


@pytest.mark.parametrize(("text", "key", "problem"), REJECTED, ids=map(str, range(len(REJECTED))))
def test_what_is_no_file_of_atoms_is_rejected(tmp_path: Path, text: str | bytes, key: str, problem: str) -> None:
    error = rejection(write(tmp_path, text))
    assert error.key == key
    assert problem in error.problem


def test_the_message_begins_with_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, with_line("shape", "shape = [16, 8]"))
    assert str(rejection(path)) == f"{path}:3:1: MINE.shape: expected [M, N, K], found 2 items"


def test_depth_is_counted_exactly() -> None:
    def nested(levels: int) -> bytes:
        return b"x = " + b"[" * levels + b"]" * levels

    assert "x" in parse(nested(MAX_DEPTH), "f")
    with pytest.raises(AtomFileError, match="nested deeper"):
        parse(nested(MAX_DEPTH + 1), "f")


def test_size_is_counted_exactly() -> None:
    comment = b"#" + b"x" * (2**20 - 1)
    assert parse(comment, "f") == {}


@pytest.mark.parametrize("name", ["missing.toml", "", "no/such/folder.toml", "a\0b.toml", "n" * 300 + ".toml"])
def test_a_path_that_cannot_be_read_is_rejected(tmp_path: Path, name: str) -> None:
    assert "cannot be read" in rejection(tmp_path / name).problem


def test_an_endless_file_is_rejected() -> None:
    if not os.path.exists("/dev/zero"):
        pytest.skip("no /dev/zero on this system")
    assert rejection("/dev/zero").problem == "is over 1 MiB"


def test_a_file_of_ten_megabytes_is_not_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "big.toml"
    with path.open("wb") as stream:
        stream.truncate(10 << 20)
    assert rejection(path).problem == "is over 1 MiB"


def check_read_or_rejected(path: Path) -> None:
    """Load a file: its atoms say that they are of it, or the error has what every such error must have."""
    try:
        atoms = load(path)
    except AtomFileError:
        rejection(path)
    else:
        assert {atom.file for atom in atoms} <= {str(path)}


@pytest.mark.slow
@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")))
@example(b'["\xe2\x80\xae"]\n')
def test_any_bytes_are_read_or_rejected(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    path = write(tmp_path_factory.getbasetemp(), raw)
    check_read_or_rejected(path)


@given(st.integers(0, len(GOOD)), st.integers(0, 40), st.text("[]{}()=:,.\"'\\\n_-09aA \t#", max_size=6))
def test_a_good_file_with_a_piece_replaced_is_read_or_rejected(
    tmp_path_factory: pytest.TempPathFactory, start: int, length: int, piece: str
) -> None:
    path = write(tmp_path_factory.getbasetemp(), GOOD[:start] + piece + GOOD[start + length :])
    check_read_or_rejected(path)

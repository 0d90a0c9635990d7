# SPDX-License-Identifier: Apache-2.0
"""The shipped list of maps is what the tables give, and another file is never used."""

import shutil
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path

import pytest

import isa_tables
from isa_tables.tables import SHIPPED
from lanecheck.console.digests import seal, unseal
from layouts.arrays import np
from verify.identify import catalogue, making
from verify.identify.command import main
from verify.identify.groups import Catalogue, numbers

EDITS: dict[str, Callable[[bytes], bytes]] = {
    "a mnemonic": lambda text: text.replace(b"mma.sync.aligned.m16n8k16", b"mma.sync.aligned.m99n8k16"),
    "a size": lambda text: text.replace(b"registers 32x4 ", b"registers 32x5 ", 1),
    "a step": lambda text: text.replace(b'"x":[[0,[2,2,4,8],[0,8,0,1]]]', b'"x":[[0,[2,2,4,8],[0,8,0,2]]]', 1),
    "a place": lambda text: text.replace(b'"x":[[0,[256,128],[0,1]]]', b'"x":[[0,[256,128],[0,2]]]', 1),
    "the seal": lambda text: b"0" + text[1:] if text[:1] != b"0" else b"1" + text[1:],
    "torn": lambda text: text[: len(text) // 2],
    "longer": lambda text: text + b" ",
    "empty": lambda text: b"",
    "a list": lambda text: b"[]",
    "an object": lambda text: b"{}",
    "a list below the seal": lambda text: text.partition(b"\n")[0] + b"\n[]",
    "without the seal": lambda text: text.partition(b"\n")[2],
    "sealed by another name": lambda text: seal("other", text.partition(b"\n")[2]),
}
CODE = {"formulas": "isa_tables/formula.py", "maker": "verify/identify/making.py", "reader": "verify/core/digits.py"}
NOTHING = "\n"  # a list without maps
made_once = cache(making.text)  # of the shipped tables, which no test here changes: it takes seconds


def test_the_file_is_of_the_shipped_tables_and_of_this_code() -> None:
    """Else: `python -m verify.identify.catalogue`."""
    assert unseal(catalogue.name(), catalogue.FILE.read_bytes()) is not None


@pytest.mark.slow
def test_the_file_is_what_the_tables_give() -> None:
    assert seal(catalogue.name(), made_once().encode()) == catalogue.FILE.read_bytes()


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the file, which is used in its place; the list that is made without it is kept in a test alone."""
    copy = tmp_path / "catalogue.cache"
    copy.write_bytes(catalogue.FILE.read_bytes())
    monkeypatch.setattr(catalogue, "FILE", copy)
    monkeypatch.setenv("LANECHECK_CACHE", "")
    catalogue._make_lines.cache_clear()  # seam: the list that a process keeps
    yield copy
    catalogue._make_lines.cache_clear()  # seam: the same


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_file_is_not_used(edit: str, copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = copied.read_bytes()
    monkeypatch.setattr(making, "text", lambda: NOTHING)
    assert len(catalogue.read_catalogue().groups()) > 100
    copied.write_bytes(EDITS[edit](before))
    assert copied.read_bytes() != before and catalogue.read_catalogue().groups() == []
    copied.unlink()
    assert catalogue.read_catalogue().groups() == []


def test_what_is_made_of_other_tables_is_kept_by_its_digest(
    copied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANECHECK_CACHE", str(tmp_path / "kept"))
    made: list[str] = []
    monkeypatch.setattr(making, "text", lambda: made.append("made") or NOTHING)
    copied.unlink()
    for _ in range(2):
        assert catalogue.read_catalogue().groups() == []
        catalogue._make_lines.cache_clear()  # seam: as in another process
    assert made == ["made"]
    (entry,) = (tmp_path / "kept").iterdir()
    assert entry.name == catalogue.name()
    entry.write_bytes(entry.read_bytes() + b" ")
    assert catalogue.read_catalogue().groups() == [] and len(made) == 2  # it is damaged
    catalogue._make_lines.cache_clear()  # seam: as in another process
    monkeypatch.setattr(catalogue, "name", lambda: "another digest")
    assert catalogue.read_catalogue().groups() == [] and len(made) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edit", "words"),
    [
        ("a mnemonic", ["((4,8),(2,2)):((32,1),(16,8))"]),
        ("a place", ["--lang", "c", "--lane", "row", "--column", "col", "--tile", "128x256"]),
    ],
)
def test_the_answer_is_that_without_the_file(
    edit: str,
    words: list[str],
    copied: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(making, "text", made_once)
    words = [*words, "--format", "json"]
    answers = [(main(words), capsys.readouterr())]
    copied.write_bytes(EDITS[edit](copied.read_bytes()))
    answers.append((main(words), capsys.readouterr()))
    copied.unlink()
    answers.append((main(words), capsys.readouterr()))
    assert answers[0] == answers[1] == answers[2] and answers[0][0] == 0 and not answers[0][1].err


@pytest.mark.parametrize("changed", ["table", *CODE])
def test_a_file_of_other_tables_or_code_is_not_used(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "checkout"
    for path in catalogue.files():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes((catalogue.ROOT / path).read_bytes())
    before = catalogue.name()
    monkeypatch.setattr(catalogue, "ROOT", root)
    assert catalogue.name() == before
    edited = next((root / "isa_tables" / "ptx").glob("*.toml")) if changed == "table" else root / CODE[changed]
    edited.write_bytes(edited.read_bytes() + b"#\n")
    assert catalogue.name() != before


@pytest.mark.parametrize("change", ["new", "gone"])
def test_a_file_of_more_or_fewer_tables_is_not_used(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "checkout"
    shutil.copytree(catalogue.ROOT / "isa_tables", root / "isa_tables")
    monkeypatch.setattr(catalogue, "INPUTS", ("isa_tables/ptx/*.toml",))
    before = catalogue.name()
    monkeypatch.setattr(catalogue, "ROOT", root)
    assert catalogue.name() == before
    listed = sorted((root / "isa_tables" / "ptx").glob("*.toml"))
    if change == "new":
        shutil.copy(listed[0], listed[0].with_name("mma_m1n1k1.toml"))
    else:
        listed[0].unlink()
    assert catalogue.name() != before


@pytest.mark.long
def test_the_name_covers_all_code_of_ours_that_makes_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few instructions of each table are enough to run every function that makes it."""
    some = {name for pattern in ("mma.*", "ld*", "wgmma*", "dp*", "tcgen05*") for name in isa_tables.mnemonics(pattern)}
    monkeypatch.setattr(isa_tables, "mnemonics", lambda _: sorted(some)[::60])
    run = set()
    sys.setprofile(lambda frame, event, _: run.add(frame.f_code.co_filename) if event == "call" else None)
    try:
        assert Catalogue(making.text()).groups()
    finally:
        sys.setprofile(None)
    ours = {path.relative_to(catalogue.ROOT) for path in map(Path, run) if catalogue.ROOT in path.parents}
    names = {path.as_posix() for path in ours if not {".venv", "tests"} & set(path.parts)}
    assert len(names) > 5 and names <= set(catalogue.files())


@pytest.mark.long
def test_the_members_of_a_group_have_its_map() -> None:
    """The formulas of one member of each group, evaluated in plain integers, and of two sizes those of all choices."""
    known, seen = catalogue.read_catalogue(), 0
    for lanes, values in sorted(size for size in known.sizes() if size[0] * size[1] <= 2048):
        for group in known.of_size(lanes, values):
            every = (lanes, values) in ((32, 4), (32, 2))
            for member in group.members if every else group.members[-1:]:
                operand = isa_tables.instruction(member.mnemonics[-1], **dict(member.select)).operands[member.operand]
                assert [lane for lane in range(lanes) if operand.holds(lane)] == list(group.holds)
                located = [operand.locate(lane, value) for lane in group.holds for value in range(values)]
                x, y = group.points()[:: -1 if group.swapped else 1]
                assert located == list(zip(x, y, strict=True))
                seen += 1
    assert seen > 120


def _place_operand(mnemonic: str, name: str, tile: tuple[int, int]) -> isa_tables.Operand:
    """An operand of an instruction in tensor memory, with selections that give it a tile."""
    select = isa_tables.instruction(mnemonic).signature.select
    words = [[word for word in several if word in tile] or several for several in select.values()]
    for chosen in product(*words):
        named = dict(zip(select, chosen, strict=True))
        operand = isa_tables.instruction(mnemonic, SHIPPED, **named).operands[name]
        if operand.placed and operand.extent == tile:
            return operand
    raise AssertionError(f"{name} of {mnemonic} has no tile {tile}")


@pytest.mark.long
@pytest.mark.parametrize("tile", [(4, 8), (128, 4), (128, 8), (128, 24)], ids=str)
def test_a_map_of_tensor_memory_is_that_of_its_formulas(tile: tuple[int, int]) -> None:
    """Of every instruction that has it, element by element in plain integers."""
    groups = catalogue.read_catalogue().of_tile(*tile)
    assert groups
    for group in groups:
        x, y = group.points()
        lanes = [(lane, column) for lane in group.holds for column in range(group.values)]
        elements = dict(zip(zip(x, y, strict=True), lanes, strict=True))
        for member in group.members:
            for mnemonic in member.mnemonics:
                operand = _place_operand(mnemonic, member.operand, tile)
                assert (operand.axes, operand.copies, len(elements)) == (member.axes, 1, tile[0] * tile[1])
                for element, place in elements.items():
                    at = operand.place(*element)
                    assert (at.pop("lane"), at.pop("column")) == place and not any(at.values())


def test_numbers_that_are_no_layout_are_kept_in_pieces() -> None:
    for line in ([], [7], [0, 1, 5, 4, 4, 4], [3, 1, 4, 1, 5, 9, 2, 6], list(range(30)), [-2, -1, 0, 7]):
        assert numbers(making.pieces(line)) == line
    lanes, values = np.indices((4, 4))
    points = np.stack([lanes * values % 3, lanes ^ values], axis=-1)
    group = making.group_of(points, np.array([True, False, True, True]), (4, 4), False, ())
    text = making.line(group, {})
    (again,) = Catalogue(f"\nregisters 4x4 {text}\n").of_size(4, 4)
    assert again.holds == (0, 2, 3)
    assert again.points() == [points[[0, 2, 3], :, axis].ravel().tolist() for axis in (0, 1)]


def test_each_metadata_selector_has_its_own_map() -> None:
    sparse = "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
    selected = {
        member.select: group
        for group in catalogue.read_catalogue().groups()
        for member in group.members
        if member.operand == "E" and sparse in member.mnemonics
    }
    assert {dict(select)["F"] for select in selected} == {0, 1, 2, 3}

# SPDX-License-Identifier: Apache-2.0
"""The shipped list of maps is what the tables give, and another file is never used."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import isa_tables
from lanecheck_console.digests import sealed, unsealed
from layouts.arrays import np
from verify.identify import catalogue
from verify.identify.command import main

EDITS: dict[str, Callable[[bytes], bytes]] = {
    "a mnemonic": lambda found: found.replace(b"mma.sync.aligned.m16n8k16", b"mma.sync.aligned.m99n8k16"),
    "a size": lambda found: found.replace(b'"size":[32,4]', b'"size":[32,5]', 1),
    "the seal": lambda found: b"0" + found[1:] if found[:1] != b"0" else b"1" + found[1:],
    "torn": lambda found: found[: len(found) // 2],
    "longer": lambda found: found + b" ",
    "empty": lambda found: b"",
    "a list": lambda found: b"[]",
    "an object": lambda found: b"{}",
    "a list below the seal": lambda found: found.partition(b"\n")[0] + b"\n[]",
    "without the seal": lambda found: found.partition(b"\n")[2],
    "sealed by another name": lambda found: sealed("other", found.partition(b"\n")[2]),
}


def test_the_file_is_of_the_shipped_tables_and_of_this_code() -> None:
    """Else: `python -m verify.identify.catalogue`."""
    assert unsealed(catalogue.name(), catalogue.FILE.read_bytes()) is not None


@pytest.mark.slow
def test_the_file_is_what_the_tables_give() -> None:
    made = catalogue.made()
    assert catalogue.entry(made) == catalogue.FILE.read_bytes()
    assert list(catalogue.groups()) == made


@pytest.fixture
def other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the file, which is used in its place."""
    copy = tmp_path / "catalogue.cache"
    copy.write_bytes(catalogue.FILE.read_bytes())
    monkeypatch.setattr(catalogue, "FILE", copy)
    return copy


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_file_is_not_used(edit: str, other: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = other.read_bytes()
    monkeypatch.setattr(catalogue, "made", list)
    assert len(catalogue.groups()) > 100
    other.write_bytes(EDITS[edit](before))
    assert other.read_bytes() != before and catalogue.groups() == []
    other.unlink()
    assert catalogue.groups() == []


@pytest.mark.slow
@pytest.mark.parametrize("edit", ["a mnemonic", "a list"])
def test_the_answer_is_that_without_the_file(edit: str, other: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["((4,8),(2,2)):((32,1),(16,8))", "--format", "json"]
    answers = [(main(words), capsys.readouterr())]
    other.write_bytes(EDITS[edit](other.read_bytes()))
    answers.append((main(words), capsys.readouterr()))
    other.unlink()
    answers.append((main(words), capsys.readouterr()))
    assert answers[0] == answers[1] == answers[2] and answers[0][0] == 0 and not answers[0][1].err


@pytest.mark.parametrize("changed", ["table", "code"])
def test_a_file_of_other_tables_or_code_is_not_used(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "checkout"
    folder = root / catalogue.SHIPPED.relative_to(catalogue.ROOT)
    for path in catalogue.files():
        copy = root / path.relative_to(catalogue.ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    before = catalogue.name()
    monkeypatch.setattr(catalogue, "ROOT", root)
    monkeypatch.setattr(catalogue, "SHIPPED", folder)
    assert catalogue.name() == before
    edited = next(folder.glob("*.toml")) if changed == "table" else root / "isa_tables" / "formula.py"
    edited.write_bytes(edited.read_bytes() + b"#\n")
    assert catalogue.name() != before


def test_the_name_covers_all_code_of_ours_that_makes_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few instructions of each table are enough to run every function that makes it."""
    some = {name for pattern in ("mma.*", "ld*", "wgmma*", "dp*", "tcgen05*") for name in isa_tables.mnemonics(pattern)}
    monkeypatch.setattr(isa_tables, "mnemonics", lambda _: sorted(some)[::60])
    run = set()
    sys.setprofile(lambda frame, event, _: run.add(frame.f_code.co_filename) if event == "call" else None)
    try:
        assert catalogue.made()
    finally:
        sys.setprofile(None)
    ours = {path for path in map(Path, run) if catalogue.ROOT in path.parents}
    ours = {path for path in ours if not {".venv", "tests"} & set(path.relative_to(catalogue.ROOT).parts)}
    assert len(ours) > 5 and ours <= set(catalogue.files())


def test_the_members_of_a_group_have_its_map() -> None:
    """Another member than the one that is evaluated: of each group of two sizes."""
    seen = 0
    for group in catalogue.groups():
        if (group.lanes, group.values) not in ((32, 4), (32, 2)):
            continue
        points, holds = group.points()
        member = group.members[-1]
        operand = isa_tables.instruction(member.mnemonics[-1], **dict(member.select)).operands[member.operand]
        lane = np.arange(group.lanes)
        again = np.stack(operand.locate(lane[:, None], np.arange(group.values)[None, :]), axis=-1)
        again = again[..., ::-1] if group.swapped else again
        assert (again == points)[holds].all()
        assert (np.broadcast_to(operand.holds(lane), lane.shape) == holds).all()
        seen += 1
    assert seen > 20


def test_each_metadata_selector_has_its_own_map() -> None:
    sparse = "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
    found = {
        member.select: group
        for group in catalogue.groups()
        for member in group.members
        if member.operand == "E" and sparse in member.mnemonics
    }
    assert {dict(select)["F"] for select in found} == {0, 1, 2, 3}

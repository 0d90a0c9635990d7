# SPDX-License-Identifier: Apache-2.0
"""The file of results: whole lines are kept, a torn one is dropped, and the file of somebody else is left alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpu_checks.recordings_io.lines import with_digest, without_digest
from verify.campaign.results import ResultsError, open_results
from verify.campaign.tally import Tally, Wrong
from verify.core.errors import Exit, UsageError

RIGHT, WRONG = Tally(3, 2, 0, 1, 0), Tally(2, 0, 1, 0, 1, Wrong(9, "coalesce(4:1)", "-> 4:2"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with two results."""
    path = tmp_path / "results.jsonl"
    with open_results(path) as results:
        results.append("a", 0, RIGHT)
        results.append("a", 1, WRONG)
    return path


def read(path: Path) -> dict[tuple[str, int], Tally]:
    with open_results(path) as results:
        return results.tallies


def test_results_are_read_back(file: Path) -> None:
    assert read(file) == {("a", 0): RIGHT, ("a", 1): WRONG}


def test_a_torn_last_line_is_dropped_wherever_it_was_torn(file: Path) -> None:
    whole = file.read_bytes()
    start = whole.index(b"\n") + 1
    for end in range(start, len(whole)):
        file.write_bytes(whole[:end])
        with open_results(file) as results:
            assert results.tallies == {("a", 0): RIGHT}
            results.append("a", 1, WRONG)
        assert file.read_bytes() == whole


def test_lines_of_other_code_stay(file: Path) -> None:
    with open_results(file) as results:
        results.append("b", 0, RIGHT)
    assert read(file) == {("a", 0): RIGHT, ("a", 1): WRONG, ("b", 0): RIGHT}


def test_a_chunk_that_is_there_twice_is_one(file: Path) -> None:
    file.write_bytes(file.read_bytes() * 2)
    assert read(file) == {("a", 0): RIGHT, ("a", 1): WRONG}


@pytest.mark.parametrize("tally", [WRONG, Tally(3, 3)], ids=["other counts", "as many cases, other outcomes"])
def test_a_chunk_with_two_results_is_a_contradiction(file: Path, tally: Tally) -> None:
    with open_results(file) as results:
        results.append("a", 0, tally)
    with pytest.raises(ResultsError, match=r"results.jsonl:3: chunk 0 has another result above") as raised:
        read(file)
    assert raised.value.code is Exit.CONTRADICTION


@pytest.mark.parametrize(
    "line", ['{"counts": 3}\n', "a line of mine", "[1, 2]\n", '{"campaign": "a", "chunk": 0, "found": {"cases": 1}}\n']
)
def test_a_file_that_is_something_else_is_left_alone(file: Path, line: str) -> None:
    text = file.read_text() + line
    file.write_text(text)
    with pytest.raises(UsageError, match=r"results.jsonl:3: no result of a campaign"):
        read(file)
    assert file.read_text() == text


EDITS = {
    "a refuted case is confirmed": ('"confirmed": 0, "refuted": 1', '"confirmed": 1, "refuted": 0'),
    "another chunk": ('"chunk": 1', '"chunk": 7'),
    "another key": ('{"campaign": "a", "chunk": 1', '{"campaign": "b", "chunk": 1'),
    "no digest": ('"digest": "', '"digests": "'),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_line_is_no_result(file: Path, edit: str) -> None:
    first, second = file.read_text().splitlines()
    edited = second.replace(*EDITS[edit])
    assert edited != second
    file.write_text(f"{first}\n{edited}\n")
    with pytest.raises(UsageError, match=r"results.jsonl:2: no result of a campaign, or an edited one: remove"):
        read(file)


def test_counts_that_do_not_agree_are_no_result(file: Path) -> None:
    lines = [without_digest(line) for line in file.read_text().splitlines()]
    edited = [with_digest(line.replace('"confirmed": 2', '"confirmed": 3')) for line in lines]
    file.write_text("".join(f"{line}\n" for line in edited))
    with pytest.raises(UsageError, match=r"results.jsonl:1: no result"):
        read(file)


def test_only_one_run_writes_to_a_file(file: Path) -> None:
    with (
        open_results(file),
        pytest.raises(UsageError, match="another run writes its results there"),
        open_results(file),
    ):
        pass


def test_what_cannot_be_written_is_reported(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none" / "x.jsonl", Path("/dev/full")):
        with pytest.raises(UsageError, match="cannot write"), open_results(path):
            pass


def test_a_write_that_fails_half_way_leaves_whole_lines(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, write = file.read_bytes(), os.write

    def full(descriptor: int, data: bytes) -> int:
        if len(data) < 20:
            raise OSError(28, "No space left on device")
        return write(descriptor, data[:19])

    with open_results(file) as results:
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(UsageError, match=r"cannot write .*: No space left on device"):
            results.append("a", 2, RIGHT)
    assert file.read_bytes() == whole

# SPDX-License-Identifier: Apache-2.0
"""The manifest of the shipped recordings: none is removed, added or altered unnoticed by a command that reads them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_checks import RecordingError, laws, probe, recordings
from gpu_checks.banks import command as banks
from gpu_checks.laws import recordings_of_laws
from gpu_checks.order import command as order
from gpu_checks.recordings_io import manifest, reader
from gpu_checks.recordings_io.lines import with_digest, without_digest
from gpu_checks.tilings import store

NAME = "SM80_16x8x16_F32F16F16F32_TN"
MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
FILE = "nvidia_h200_mma_sync.jsonl"


@pytest.fixture
def shipped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A copy of the shipped recordings that can be edited."""
    home = tmp_path / "recordings"
    shutil.copytree(manifest.HOME, home)
    for module, name, folder in (
        (manifest, "HOME", home),
        (reader, "SHIPPED", home),
        (banks, "RECORDINGS", home / "banks"),
        (laws, "RECORDINGS", home / "laws"),
        (order, "RECORDINGS", home / "order"),
        (store, "RECORDINGS", home / "tilings"),
    ):
        monkeypatch.setattr(module, name, folder)
    manifest.entries.cache_clear()
    yield home
    manifest.entries.cache_clear()


def test_the_manifest_is_that_of_the_files() -> None:
    """`python -m gpu_checks.recordings_io.manifest` writes it anew."""
    assert manifest.file().read_text() == manifest.text()


def test_what_is_as_shipped_is_read(shipped: Path) -> None:
    assert MMA in recordings() and recordings_of_laws(shipped / "laws") and banks.recordings_of_banks(shipped / "banks")


@pytest.mark.parametrize("name", [FILE, "nvidia_h200_dp4a.jsonl"])
def test_a_removed_file_is_an_error_whatever_is_looked_up(shipped: Path, name: str) -> None:
    (shipped / name).unlink()
    with pytest.raises(RecordingError, match=rf"{name}: .*missing.*reinstall"):
        recordings()


@pytest.mark.parametrize("room", ["banks", "laws", "order", "tilings"])
def test_a_removed_file_of_a_room_is_an_error(shipped: Path, room: str) -> None:
    (shipped / room / "nvidia_h200.jsonl").unlink()
    read = {"banks": banks.recordings_of_banks, "laws": recordings_of_laws, "order": order.recordings_of_order}
    with pytest.raises(RecordingError, match=rf"{room}/nvidia_h200.jsonl: .*missing"):
        read.get(room, store.recordings_of_tilings)(shipped / room)


@pytest.mark.parametrize("room", ["", "banks"])
def test_an_added_file_is_an_error_that_says_where_it_belongs(shipped: Path, room: str) -> None:
    added = shipped / room / "mine.jsonl"
    shutil.copy(shipped / FILE, added)
    with pytest.raises(RecordingError, match=r"mine.jsonl: .*not shipped.*--recordings DIR"):
        recordings() if not room else banks.recordings_of_banks(shipped / room)


def test_an_altered_file_of_the_same_size_is_an_error_when_it_is_read(shipped: Path) -> None:
    """A whole line exchanged with its digest: no digest of a line shows that."""
    path = shipped / FILE
    lines = path.read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if f'"{MMA}"' in line)
    edited = without_digest(lines[at]).replace('"emulated": false', '"emulated":  true')
    lines[at] = with_digest(edited)
    path.write_text("\n".join(lines) + "\n")
    assert path.stat().st_size == (manifest.HOME / FILE).stat().st_size
    with pytest.raises(RecordingError, match=rf"{FILE}: .*altered"):
        recordings()[MMA]
    assert "dp4a.s32.s32" in recordings()  # whose file is another


def test_a_cut_file_is_an_error_before_any_is_read(shipped: Path) -> None:
    path = shipped / FILE
    path.write_text("".join(line + "\n" for line in path.read_text().splitlines()[:-1]))
    with pytest.raises(RecordingError, match=rf"{FILE}: .* bytes"):
        recordings()


def test_a_manifest_that_is_missing_or_is_none_is_an_error(shipped: Path) -> None:
    manifest.file().write_text("{}")
    with pytest.raises(RecordingError, match=r"manifest.json: .*reinstall"):
        recordings()
    manifest.entries.cache_clear()
    manifest.file().unlink()
    with pytest.raises(RecordingError, match=r"manifest.json: .*reinstall"):
        recordings()


def test_a_command_ends_with_exit_2_and_names_the_file(shipped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from verify.atom import command as atom

    (shipped / FILE).unlink()
    assert atom.main([NAME, "--checks", "gpu"]) == 2
    out, err = capsys.readouterr()
    assert FILE in err and "Traceback" not in err and len(err.splitlines()) == 1 and "no recorded GPU" not in out


def test_the_check_of_all_lines_finds_what_no_other_command_reads(
    shipped: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = shipped / "order" / "nvidia_h200.jsonl"
    path.write_text(path.read_text().replace('"delay": 200,', '"delay": 201,', 1))
    assert probe.main(["--check"]) == 2
    assert "order/nvidia_h200.jsonl: " in capsys.readouterr().err


@pytest.mark.slow
def test_the_check_says_that_it_read_every_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert probe.main(["--check"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert f"every line of {len(manifest.entries())} shipped files was checked" in words


def test_the_command_writes_what_is_new_and_check_names_it(shipped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shipped / "opcodes").mkdir(exist_ok=True)
    shutil.copy(shipped / "laws" / "nvidia_h200.jsonl", shipped / "opcodes" / "some_gpu.jsonl")
    assert manifest.main(["--check"]) == 1
    assert "opcodes/some_gpu.jsonl" in capsys.readouterr().out
    assert manifest.main([]) == 0 and manifest.main(["--check"]) == 0
    assert "opcodes/some_gpu.jsonl" in manifest.entries()

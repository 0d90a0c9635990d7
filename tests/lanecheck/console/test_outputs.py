# SPDX-License-Identifier: Apache-2.0
"""Whether a file can be written is found before a run, and nothing is made or emptied by that."""

from __future__ import annotations

import ast
import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lanecheck.console.outputs import Unwritable, output, unwritable, write_file

NAMELESS = "''"


@pytest.mark.parametrize(
    ("path", "folder", "why"),
    [
        ("new.txt", False, ""),
        ("old.txt", False, ""),
        ("link", False, ""),
        ("dangling", False, ""),
        (os.devnull, False, ""),
        ("there", True, ""),
        ("there/new/newer", True, ""),
        ("-", False, "expected a file, and - is stdout; ./- is a file of that name"),
        ("-", True, "expected a folder, and - is stdout; ./- is a folder of that name"),
        ("./-", False, ""),
        ("", False, "it is the name of no file"),
        ("", True, "it is the name of no folder"),
        ("none/x.txt", False, "No such file or directory"),
        ("far", False, "No such file or directory"),
        ("new/", False, "Is a directory"),
        ("there", False, "Is a directory"),
        ("old.txt/x.txt", False, "Not a directory"),
        ("old.txt", True, "Not a directory"),
        ("old.txt/x", True, "Not a directory"),
        ("x" * 300, False, "File name too long"),
        ("x\0", False, "embedded null byte"),
    ],
)
def test_what_can_be_written(
    path: str, folder: bool, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.txt").write_text("kept")
    Path("there").mkdir()
    Path("link").symlink_to("old.txt")
    Path("dangling").symlink_to("there/new.txt")
    Path("far").symlink_to("none/new.txt")
    before = sorted(tmp_path.rglob("*"))
    assert unwritable(path, folder) == (f"cannot write {path or NAMELESS}: {why}" if why else "")
    assert sorted(tmp_path.rglob("*")) == before and Path("old.txt").read_text() == "kept"


def test_a_report_goes_to_stdout_or_to_a_file_that_can_be_written(tmp_path: Path) -> None:
    assert output("-") is None
    assert output(f"{tmp_path}/new.txt") == tmp_path / "new.txt"
    with pytest.raises(Unwritable, match=r"^cannot write .*: Is a directory$"):
        output(str(tmp_path))


@pytest.mark.parametrize(("path", "denied", "folder"), [("old", "old", 0), ("x", ".", 0), ("d/e", ".", 1)])
def test_what_may_not_be_written(
    path: str, denied: str, folder: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For root too, whom no mode of a file stops."""
    monkeypatch.chdir(tmp_path)
    Path("old").touch()
    asked = os.path.realpath(denied)
    monkeypatch.setattr(os, "access", lambda file, _: os.path.realpath(file) != asked)
    assert unwritable(path, bool(folder)) == f"cannot write {path}: Permission denied"


LIMITED = """
import resource, sys
from lanecheck.console.outputs import Unwritable, write_file
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
sys.dont_write_bytecode = True  # half of a .pyc would end every later import
try:
    write_file(sys.argv[1], "x" * 5000)
except Unwritable as error:
    print(error)
"""


def run(code: str, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code, *words], text=True, capture_output=True, check=False, **options)


@pytest.mark.parametrize("before", [None, "what was there"])
def test_a_disk_that_is_full_leaves_what_was_there_and_nothing_else(tmp_path: Path, before: str | None) -> None:
    path = tmp_path / "report.txt"
    if before is not None:
        path.write_text(before)
    done = run(LIMITED, str(path))
    assert done.stdout == f"cannot write {path}: File too large\n", done.stderr
    assert [file.name for file in tmp_path.iterdir()] == (["report.txt"] if before else [])
    assert before is None or path.read_text() == before


def test_an_interruption_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.txt"
    path.write_text("old")

    def interrupted(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_file(path, "new")
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_a_file_is_written_whole_with_its_letters_and_line_ends(tmp_path: Path) -> None:
    for content in ("é\n", "a\r\nb\n", b"\x00\xff", ""):
        write_file(tmp_path / "file", content)
        assert (tmp_path / "file").read_bytes() == (content.encode() if isinstance(content, str) else content)


def test_a_link_stays_a_link_and_its_file_keeps_its_permissions(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    file, link = tmp_path / "there" / "file", tmp_path / "link"
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to("there/file")
    write_file(link, "new")
    assert link.is_symlink() and file.read_text() == "new" and file.stat().st_mode & 0o777 == 0o640
    dangling = tmp_path / "dangling"
    dangling.symlink_to("there/later")
    write_file(dangling, "new")
    assert dangling.is_symlink() and (tmp_path / "there" / "later").read_text() == "new"


def test_a_new_file_has_the_permissions_that_the_umask_leaves(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_file(tmp_path / "file", "new")
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640


def test_a_file_in_a_folder_that_cannot_be_changed_is_written_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that a container mounts: it can be written, but nothing can be renamed to it."""
    (tmp_path / "file").write_text("old and longer")

    def refused(*_: object) -> None:
        raise OSError(errno.EBUSY, "Device or resource busy")

    monkeypatch.setattr(os, "replace", refused)
    write_file(tmp_path / "file", "new")
    assert (tmp_path / "file").read_text() == "new" and len(list(tmp_path.iterdir())) == 1


def test_a_pipe_and_a_device_are_written_to(tmp_path: Path) -> None:
    write_file(os.devnull, "new")
    assert not Path(os.devnull).is_file()
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cat", str(tmp_path / "pipe")], stdout=subprocess.PIPE, text=True) as reader:
        write_file(tmp_path / "pipe", "through\n")
        assert reader.communicate()[0] == "through\n"
    assert (tmp_path / "pipe").is_fifo()


TWICE = """
import sys
from lanecheck.console.outputs import write_file
print("before", flush=True)
write_file(sys.argv[1], "report\\n")
print("after", flush=True)
"""


@pytest.mark.long
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_the_name_of_stdout_is_stdout_and_cuts_nothing(tmp_path: Path, name: str) -> None:
    """Also where stdout is a file, which is not replaced under the shell's feet."""
    if not os.path.exists(name):
        pytest.skip(f"no {name} here")
    assert run(TWICE, name).stdout == "before\nreport\nafter\n"
    log = tmp_path / "log"
    log.write_text("kept\n")
    with log.open("a") as opened:
        subprocess.run([sys.executable, "-c", TWICE, name], stdout=opened, check=True)
    assert log.read_text() == "kept\nbefore\nreport\nafter\n"


ROOT = Path(__file__).parents[3]
# What writes otherwise: a file of its own in a folder for a while, or lines that are added one by one.
IN_PLACE = {
    "lanecheck/console/outputs.py": "the helper",
    "lanecheck/console/streams.py": "the streams of the process",
    "verify/scan/compiler.py": "a source in a temporary folder",
    "verify/kernel/claims/compiled.py": "the question to a child process",
    "verify/kernel/nvcc.py": "a source in a temporary folder",
    "verify/capture/recording/launches.py": "kernels in a temporary folder",
    "lanecheck/kernel_recording.py": "the records of a child process",
    "lanecheck/kernel_tests.py": "the output of a child process",
    "verify/maps/child.py": "the answers of a child process",
    "lanecheck/console/children.py": "the output of a child process",
    "verify/maps/isolation.py": "the errors of a child process",
    "verify/campaign/results.py": "a line for each chunk; a torn last one is dropped",
    "gpu_checks/device/sass.py": "a temporary file",
    "gpu_checks/worker.py": "a child process",
}


def writes(path: Path) -> Iterator[int]:
    """The lines of a module that open a file for writing, or write one."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        given = [*node.args[:2], *(keyword.value for keyword in node.keywords)]
        modes = {argument.value for argument in given if isinstance(argument, ast.Constant)}
        opens = name in ("open", "fdopen") and bool(modes & {"w", "wb", "a", "ab", "x", "xb", "w+", "r+", "r+b", "wb+"})
        if opens or name in ("write_text", "write_bytes", "NamedTemporaryFile", "mkstemp"):
            yield node.lineno


@pytest.mark.long
def test_every_file_is_written_by_the_one_function_that_tears_none() -> None:
    packages = ("verify", "layouts", "isa_tables", "proofs", "gpu_checks", "lanecheck")
    places = {
        f"{path.relative_to(ROOT)}:{line}"
        for package in packages
        for path in (ROOT / package).rglob("*.py")
        for line in writes(path)
    }
    assert sorted(place for place in places if place.rpartition(":")[0] not in IN_PLACE) == []

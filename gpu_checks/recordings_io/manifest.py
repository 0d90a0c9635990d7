# SPDX-License-Identifier: Apache-2.0
"""The manifest of the shipped recordings: the size and the digest of each file.

A recording that is missing would read as an instruction that no GPU has run. So whoever opens a folder of shipped
recordings compares the names and sizes of its files with the manifest (`check_folder`), and whoever reads a file
compares its digest (`check_content`). The digest shows damage and edits, not forgery.

`python -m gpu_checks.recordings_io.manifest` writes the manifest anew after a recording was added; --check compares.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from gpu_checks.recordings_io.errors import RecordingError
from lanecheck.console.command import parser as parser_of
from lanecheck.console.exits import Exit
from lanecheck.console.outputs import write_file

SCHEMA = 1
HOME = Path(__file__).parents[1] / "recordings"
NAME = "manifest.json"
REPAIR = "reinstall Lanecheck (pip install --force-reinstall lanecheck), or restore the file from the repository"
_SIZE = 16  # bytes of a digest


class ShippedFile(NamedTuple):
    """What the manifest says of a file."""

    size: int  # in bytes
    digest: str  # blake2b of its content


def file() -> Path:
    """Return the path of the manifest."""
    return HOME / NAME


@cache
def entries() -> Mapping[str, ShippedFile]:
    """Return the manifest: the path of each file below HOME -> its entry. Raises RecordingError."""
    try:
        manifest = json.loads(file().read_text("utf-8"))
        if manifest["schema"] != SCHEMA:
            raise ValueError(f"schema is {manifest['schema']!r}, not {SCHEMA}")
        return {name: ShippedFile(int(size), str(digest)) for name, (size, digest) in manifest["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecordingError(f"{file()}: the manifest of the shipped recordings cannot be read: {REPAIR}") from error


def check_folder(folder: Path) -> None:
    """Raise RecordingError unless a folder of shipped recordings has the files of the manifest, with their sizes.

    Any other folder is a user's, and is not checked.
    """
    if HOME not in (folder, folder.parent):
        return
    room = "" if folder == HOME else f"{folder.name}/"
    expected = {name: entry for name, entry in entries().items() if name.rpartition("/")[0] == room.rstrip("/")}
    present = {room + path.name: path for path in folder.glob("*.jsonl")}
    for name, entry in expected.items():
        if name not in present:
            raise RecordingError(f"{HOME / name}: this shipped recording is missing: {REPAIR}")
        if (size := present[name].stat().st_size) != entry.size:
            raise RecordingError(f"{HOME / name}: {size} bytes, the shipped recording has {entry.size}: {REPAIR}")
    for name in sorted(present.keys() - expected.keys()):
        yours = "keep recordings of yours in another folder, and name it with --recordings DIR"
        raise RecordingError(f"{HOME / name}: this file is not shipped with Lanecheck: {yours}")


def check_content(path: Path, content: bytes) -> None:
    """Raise RecordingError if a file is a shipped recording and its content is another."""
    if HOME not in path.parents:
        return
    entry = entries().get(path.relative_to(HOME).as_posix())
    if entry is None or entry.digest != _digest(content):
        raise RecordingError(f"{path}: this shipped recording was altered, its digest is another: {REPAIR}")


def check_all() -> int:
    """Return how many files are shipped. Raises RecordingError unless each is as the manifest has it."""
    for folder in {(HOME / name).parent for name in entries()}:
        check_folder(folder)
    for name in entries():
        check_content(HOME / name, (HOME / name).read_bytes())
    return len(entries())


def text() -> str:
    """Return the manifest of the files that are there; a line for each, so that a new file is a new line."""
    lines = (f"{json.dumps(path.relative_to(HOME).as_posix())}: {json.dumps(_entry(path))}" for path in _present())
    return f'{{"schema": {SCHEMA}, "files": {{\n' + ",\n".join(lines) + "\n}}\n"


def _present() -> Iterator[Path]:
    yield from sorted(HOME.rglob("*.jsonl"))


def _entry(path: Path) -> ShippedFile:
    content = path.read_bytes()
    return ShippedFile(len(content), _digest(content))


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=_SIZE).hexdigest()


def _find_differing() -> Iterator[str]:
    """Yield the files that are not as the manifest has them."""
    kept, present = entries(), {path.relative_to(HOME).as_posix(): _entry(path) for path in _present()}
    yield from sorted(name for name in kept.keys() | present.keys() if kept.get(name) != present.get(name))


def main(argv: Sequence[str] | None = None) -> int:
    """Write the manifest, or compare with it; returns the exit code."""
    parser = parser_of(
        "python -m gpu_checks.recordings_io.manifest", "Write the manifest of the shipped recordings.", "--check"
    )
    parser.add_argument("--check", action="store_true", help="compare with it, and write nothing")
    options = parser.parse_args(argv)
    if not options.check:
        write_file(file(), text())
        entries.cache_clear()
    differing = list(_find_differing())
    print("\n".join(f"{name}: not as in the manifest" for name in differing) or f"{len(entries())} files as in {NAME}")
    return Exit.REFUTED if differing else Exit.OK


if __name__ == "__main__":
    raise SystemExit(main())

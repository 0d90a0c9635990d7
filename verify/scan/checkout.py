# SPDX-License-Identifier: Apache-2.0
"""The headers below a path, or of a commit of a git checkout, as a program of declarations."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePath

from verify.core.errors import UsageError
from verify.core.verdict import Place
from verify.scan.declarations import Item
from verify.scan.program import Program
from verify.scan.text import LARGEST, Header, ReadError
from verify.scan.traits import TRAITS as TRAITS_OF
from verify.scan.traits import Definition, TraitsReader

ENDINGS = (".hpp", ".h", ".cuh", ".cu", ".inl")
MOST = 1024  # headers of a run, by default
LOOKED_AT = 256  # files that are looked at for each header that may be read
TRAITS = ("mma_traits", "copy_traits")
OPERATIONS = ("mma", "copy", "tmem_allocator")


@dataclass
class Checkout:
    """What was read of some headers."""

    reader: TraitsReader
    definitions: list[Definition]
    problems: list[tuple[Place, str]] = field(default_factory=list)  # of headers that cannot be read
    operations: list[Item] = field(default_factory=list)  # structs of the headers that no definition has traits of
    # that there are more headers than were to be read, and the way out; it has at most one
    stopped: list[tuple[Place, str]] = field(default_factory=list)


def checkout(paths: Sequence[str], most: int = MOST) -> Checkout:
    """Read the definitions in files, and in the headers of traits below folders, at most `most` of them.

    Raises UsageError.
    """
    chosen: dict[Path, None] = {}
    context: list[Path] = []
    problems: list[tuple[Place, str]] = []
    cut = False
    if "" in paths:
        raise UsageError("'' is the name of no file or folder")  # Path takes it for the folder that we are in
    for path in map(Path, paths):
        if path.is_dir():
            below = _Below(most)
            chosen.update(dict.fromkeys(below.headers(path, problems)))
            cut = cut or below.cut
        elif path.is_file():
            chosen[path] = None
            context += _beside(path)
        else:
            raise UsageError(f"{path}: there is no such file or folder")
    kept = dict.fromkeys(list(chosen)[:most])
    files = dict.fromkeys((*kept, *(path for path in context if path not in chosen)))
    contents = [(str(path), partial(_bytes, path)) for path in files]
    read = _read_checkout(contents, {str(path) for path in kept}, " ".join(paths), problems)
    if cut or len(kept) < len(chosen):
        why = f"stopped after {len(kept):,} headers, there are more: raise --max-files {most}"
        read.stopped.append((Place(paths[0], 1), why))
    return read


def at_commit(path: str, commit: str) -> Checkout:
    """Read the definitions in the headers below a folder as a commit of its repository has them. Raises UsageError.

    Nothing is checked out.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise UsageError(f"{path}: --since compares a folder of a git checkout")
    listed = _git(folder, "ls-tree", "-r", "-z", "--name-only", "--end-of-options", commit, "--", ".").decode(
        "utf-8", "replace"
    )
    names = [name for name in listed.split("\0") if _is_header(PurePath(name))]
    if not names:
        raise UsageError(f"{commit} has no header of traits below {path}")
    wanted = "".join(f"{commit}:./{name}\n" for name in names).encode()
    answered = _git(folder, "cat-file", "--batch", given=wanted)
    contents = (partial(bytes, content) for content in _objects(answered))
    files = list(zip((str(folder / name) for name in names), contents, strict=True))
    return _read_checkout(files, {name for name, _ in files}, f"{commit} of {path}")


def _read_checkout(
    files: Iterable[tuple[str, Callable[[], bytes]]],
    chosen: set[str],
    what: str,
    problems: Iterable[tuple[Place, str]] = (),
) -> Checkout:
    program = Program()
    problems = [*problems]
    for name, load in files:
        try:
            content = load()
            if len(content) > LARGEST:
                raise ReadError(Place(name, 1), f"a header of {len(content)} bytes, at most {LARGEST} are read")
            program.add(Header(name, content.decode("utf-8", "replace")))
        except ReadError as error:
            if name in chosen:
                problems.append((error.place, error.problem))
    reader = TraitsReader(program)
    definitions = [definition for definition in reader.definitions() if definition.item.header.path in chosen]
    if not definitions and not problems:
        raise UsageError(f"{what}: no definition of MMA_Traits or Copy_Traits is there")
    used = {instance.operation.struct for definition in definitions for instance in definition.instances}
    names = {(struct.name, program.spaces.get(struct)) for struct in used if struct is not None}
    unnamed = [
        item
        for item, space in program.spaces.items()
        if item.kind == "struct" and item.name not in TRAITS_OF and (item.name, space) not in names
        if item.header.path in chosen
    ]
    return Checkout(reader, definitions, problems, unnamed)


@dataclass
class _Below:
    """The headers below a folder, at most one more than `most`: then there are more."""

    most: int
    cut: bool = False  # whether not all files were looked at

    def headers(self, folder: Path, problems: list[tuple[Place, str]]) -> list[Path]:
        """Return the headers of traits and operations; every header, if none has such a name.

        What can't be read or followed is added to `problems`. Raises UsageError if there is no header.
        """
        every: list[Path] = []
        named: list[Path] = []
        for number, path in enumerate(walk(folder, problems)):
            if len(named) > self.most or number >= LOOKED_AT * self.most:
                self.cut = True
                break
            if path.suffix not in ENDINGS:
                continue
            if not path.is_file():
                why = "a link in a circle, or to nothing" if path.is_symlink() else "it is gone, or no file"
                problems.append((Place(str(path), 1), f"it can't be read: {why}"))
                continue
            every += [path] if len(every) <= self.most else []
            named += [path] if _is_header(path) else []
        headers = named if any(path.name.startswith(TRAITS) for path in named) else every
        if not headers and not problems:
            among = f" among its first {LOOKED_AT * self.most:,} files: raise --max-files {self.most}"
            files = f"; its TOML files are read as {folder / '*.toml'}" if any(folder.glob("*.toml")) else ""
            raise UsageError(f"{folder}: no header is there{among if self.cut else files}")
        return headers


def walk(folder: Path, problems: list[tuple[Place, str]]) -> Iterator[Path]:
    """Yield the files below a folder in order, without git's own; links to folders aren't followed."""

    def note(error: OSError) -> None:
        problems.append((Place(str(error.filename), 1), f"it can't be read: {error.strerror}"))

    for root, folders, names in os.walk(folder, onerror=note):
        folders[:] = sorted(name for name in folders if name != ".git")
        yield from (Path(root, name) for name in sorted(names))


def _is_header(path: PurePath) -> bool:
    """Whether a file is one of CUTLASS's headers of traits or operations, by its name and folder."""
    if path.suffix not in ENDINGS:
        return False
    return path.name.startswith(TRAITS) or (path.parent.name == "arch" and path.name.startswith(OPERATIONS) and (
        "cute" in path.parts or "atom" not in path.parts
    ) and "cutlass" not in path.parts[-3:])  # fmt: skip


def _beside(path: Path) -> Iterator[Path]:
    """Yield the headers that a single one may rest on: its neighbours, and those of the folder arch."""
    for folder in (path.parent, path.parent.parent / "arch"):
        if folder.is_dir():
            yield from sorted(
                neighbour for neighbour in folder.iterdir() if neighbour.is_file() and _is_header(neighbour)
            )


def _bytes(path: Path) -> bytes:
    """Return the content of a file, and a byte more than may be read of a larger one. Raises ReadError."""
    try:
        with path.open("rb") as file:
            return file.read(LARGEST + 1)
    except OSError as error:
        raise ReadError(Place(str(path), 1), f"it can't be read: {error.strerror}") from error


def _git(folder: Path, *arguments: str, given: bytes = b"") -> bytes:
    """Run a git command and return what it prints. Raises UsageError."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], input=given, capture_output=True, check=False, timeout=600
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"git: {error}") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise UsageError(f"git in {folder}: {said[0] if said else 'it failed'}")
    return done.stdout


def _objects(answered: bytes) -> Iterator[bytes]:
    """Yield the contents that `git cat-file --batch` prints: each after a line with its size."""
    at = 0
    while at < len(answered):
        end = answered.index(b"\n", at)
        words = answered[at:end].split()
        if len(words) < 3 or not words[-1].isdigit():
            raise UsageError(f"git: {answered[at:end].decode('utf-8', 'replace')}")
        size = int(words[-1])
        yield answered[end + 1 : end + 1 + size]
        at = end + size + 2

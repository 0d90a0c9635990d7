# SPDX-License-Identifier: Apache-2.0
"""The digest of the code that a campaign runs: results of other code are not counted.

Of another implementation it has every file of code in the module's package and in the folder of `--path`. What a
process has loaded besides is found when a chunk was run: its result is kept only if all of it is in the digest.

`digest`     of all our code and tables, and of another implementation
`left_out`   what was loaded of that implementation and is not in its digest
"""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import lru_cache
from importlib.machinery import PathFinder
from pathlib import Path

from proofs.laws import solve
from verify.core.errors import UsageError

ROOT = Path(__file__).parents[2]
PACKAGES = ("gpu_checks", "isa_tables", "lanecheck", "layouts", "proofs", "verify")
OURS = {".py", ".toml"}
CODE = {
    ".py",
    ".pyc",
    ".so",
    ".pyd",
    ".dylib",
    ".dll",
}  # of another implementation; results and specs may lie beside it
MOST = 50_000  # files of another implementation
INSTALLED = {"site-packages", "dist-packages"}


@lru_cache(maxsize=8)
def digest(module: str = "", path: str = "") -> str:
    """Return the sha256 of all our code and tables, of another implementation, if one is named, and of z3's version.

    Raises UsageError for a module that is not in the folder.
    """
    hasher = hashlib.sha256("\0".join((solve.version("z3"), module, path)).encode())
    for file, name in (*_ours(), *_of_module(module, path).items()):
        hasher.update(f"\0{name}\0".encode())
        hasher.update(hashlib.sha256(file.read_bytes()).digest())
    return hasher.hexdigest()


def left_out(module: str, path: str, before: Set[str]) -> str:
    """Return the first file of an implementation that is not in its digest: of the module itself, or of those loaded
    since.

    Modules of Python, installed ones and ours are no part of it.
    """
    covered = _list_covered(module, path)
    since = sorted(sys.modules.keys() - before)
    for name in (module, *since):
        named = getattr(sys.modules.get(name), "__file__", None)
        file = Path(named).resolve() if named else None
        if file and file not in covered and (name == module or not _elsewhere(file)):
            return str(file)
    return ""


@lru_cache(maxsize=8)
def _list_covered(module: str, path: str) -> Set[Path]:
    """Return the files of an implementation that are in its digest."""
    return {file.resolve() for file in _of_module(module, path)}


def _elsewhere(file: Path) -> bool:
    """Whether a file is of Python, of an installed package, or ours."""
    homes = [Path(sysconfig.get_path(scheme)).resolve() for scheme in ("stdlib", "platstdlib")]
    homes += [(ROOT / package).resolve() for package in PACKAGES]
    return bool(INSTALLED & set(file.parts)) or any(file.is_relative_to(home) for home in homes)


def _ours() -> Iterator[tuple[Path, str]]:
    for package in PACKAGES:
        yield from _files((ROOT / package).rglob("*"), ROOT, OURS)


@lru_cache(maxsize=8)
def _of_module(module: str, path: str) -> Mapping[Path, str]:
    """Return the files of code of a module and of all in `path`, with their names, without importing it."""
    if not module:
        return {}
    if path and not os.path.isdir(path):
        raise UsageError(f"--path {path}: no folder; an archive must be unpacked")
    spec = PathFinder.find_spec(module.partition(".")[0], [path] if path else None)
    if spec is None and path:
        raise UsageError(f"--module {module}: there is none in {path}")
    folders = [] if spec is None else [Path(location) for location in spec.submodule_search_locations or ()]
    files: dict[Path, str] = {}
    if spec is not None and spec.origin and not folders:
        files |= _files([Path(spec.origin)], Path(spec.origin).parent, CODE)
    for folder in [Path(path)] if path else folders:
        files |= _files(_below(folder), folder.parent, CODE)
    if len(files) > MOST:
        raise UsageError(f"--path {path}: more than {MOST} files of code: name the folder of the module alone")
    return files


def _below(folder: Path) -> Iterator[Path]:
    """All files in a folder and those below it, also where links lead; not what Python keeps compiled."""
    seen: set[str] = set()
    for at, folders, files in os.walk(folder, followlinks=True):
        real = os.path.realpath(at)
        folders[:] = [] if real in seen else [name for name in folders if name != "__pycache__" and name[0] != "."]
        if real not in seen:
            yield from (Path(at, file) for file in files)
        seen.add(real)


def _files(paths: Iterable[Path], root: Path, suffixes: Set[str]) -> Iterator[tuple[Path, str]]:
    """Yield the files with some suffixes, with their names, in the order of the names."""
    chosen = {path.relative_to(root).as_posix(): path for path in paths if path.suffix in suffixes and path.is_file()}
    yield from ((chosen[name], name) for name in sorted(chosen))

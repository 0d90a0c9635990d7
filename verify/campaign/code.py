# SPDX-License-Identifier: Apache-2.0
"""The digest of the code that a campaign runs: results of other code are not counted."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Set
from functools import lru_cache
from importlib.machinery import PathFinder
from pathlib import Path

from proofs.laws import solve

ROOT = Path(__file__).parents[2]
PACKAGES = ("gpu_checks", "isa_tables", "lanecheck_console", "layouts", "proofs", "verify")
OURS = {".py", ".toml"}
CODE = {".py", ".so", ".pyd", ".dylib", ".dll"}  # of another implementation; results and specs may lie beside it


@lru_cache(maxsize=8)
def digest(module: str = "", path: str = "") -> str:
    """The sha256 of all our code and tables, of another implementation, if one is named, and of z3's version."""
    found = hashlib.sha256("\0".join((solve.version("z3"), module, path)).encode())
    for file, name in (*_ours(), *_of_module(module, path)):
        found.update(f"\0{name}\0".encode())
        found.update(hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()


def _ours() -> Iterator[tuple[Path, str]]:
    for package in PACKAGES:
        yield from _files((ROOT / package).rglob("*"), ROOT, OURS)


def _of_module(module: str, path: str) -> Iterator[tuple[Path, str]]:
    """The files of code of a module, and of what lies beside it in `path`, found without importing it.

    A helper in the folder, or in a package there, is part of the implementation. What is imported from elsewhere is
    not.
    """
    if not module:
        return
    found = PathFinder.find_spec(module.partition(".")[0], [path] if path else None)
    folders = [] if found is None else [Path(one) for one in found.submodule_search_locations or ()]
    if found is not None and found.origin and not folders:
        yield from _files([Path(found.origin)], Path(found.origin).parent, CODE)
    if path:
        yield from _files(Path(path).glob("*"), Path(path), CODE)
        folders += [file.parent for file in sorted(Path(path).glob("*/__init__.py"))]
    for folder in folders:
        yield from _files(folder.rglob("*"), folder.parent, CODE)


def _files(paths: Iterable[Path], root: Path, suffixes: Set[str]) -> Iterator[tuple[Path, str]]:
    """The files with some suffixes, with their names, in the order of the names."""
    chosen = {path.relative_to(root).as_posix(): path for path in paths if path.suffix in suffixes and path.is_file()}
    yield from ((chosen[name], name) for name in sorted(chosen))

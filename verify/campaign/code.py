# SPDX-License-Identifier: Apache-2.0
"""The digest of the code that a campaign runs: results of other code are not counted."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.machinery import PathFinder
from pathlib import Path

from proofs.laws import solve

ROOT = Path(__file__).parents[2]
PACKAGES = ("gpu_checks", "isa_tables", "lanecheck_console", "layouts", "proofs", "verify")
SUFFIXES = {".py", ".toml"}


@lru_cache(maxsize=8)
def digest(module: str = "", path: str = "") -> str:
    """The sha256 of all our code and tables, of another implementation, if one is named, and of z3's version."""
    found = hashlib.sha256(solve.version("z3").encode())
    for file, name in (*_ours(), *_of_module(module, path)):
        found.update(f"\0{name}\0".encode())
        found.update(file.read_bytes())
    return found.hexdigest()


def _ours() -> Iterator[tuple[Path, str]]:
    for package in PACKAGES:
        yield from _files((ROOT / package).rglob("*"), ROOT)


def _of_module(module: str, path: str) -> Iterator[tuple[Path, str]]:
    """The files of a module's package, found without importing it; none if there is no such module."""
    found = PathFinder.find_spec(module.partition(".")[0], [path] if path else None) if module else None
    if found is None or found.origin is None:
        return
    origin = Path(found.origin)
    inside = origin.parent.rglob("*") if found.submodule_search_locations else [origin]
    yield from _files(inside, origin.parent)


def _files(paths: Iterable[Path], root: Path) -> Iterator[tuple[Path, str]]:
    """The files of code with their names, in the order of the names."""
    chosen = {path.relative_to(root).as_posix(): path for path in paths if path.suffix in SUFFIXES and path.is_file()}
    yield from ((chosen[name], name) for name in sorted(chosen))

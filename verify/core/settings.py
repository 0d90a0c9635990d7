# SPDX-License-Identifier: Apache-2.0
"""`[tool.lanecheck]` of a project's pyproject.toml: which files `lanecheck check` and pytest verify, and how."""

from __future__ import annotations

import glob
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layouts.toml.document import Document, read_document
from layouts.toml.errors import AtomFileError
from verify.core.errors import SpecError, UsageError
from verify.core.specs import Between, Choice, Several, key, keys, text

NAME = "pyproject.toml"
TABLE = "tool.lanecheck"


def read_texts(value: object) -> tuple[str, ...]:
    """Return a list of texts. Raises ValueError for anything else."""
    if not isinstance(value, list) or not value or not all(isinstance(text, str) and text for text in value):
        raise ValueError(f"expected a list of names of files, found {value!r}")
    return tuple(value)


def read_truth(value: object) -> bool:
    """Return a truth value. Raises ValueError for anything else."""
    if not isinstance(value, bool):
        raise ValueError(f"expected true or false, found {value!r}")
    return value


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a project; what a command line says goes before them."""

    file: Path  # the pyproject.toml
    files: tuple[str, ...] = key("TOML files, folders and globs to verify", read_texts, default=())
    target: str = key("the GPU that kernels are compiled for, as sm_90a", text, default="")
    seed: int | None = key("the seed of the points and primes of kernels", Between(0, (1 << 63) - 1))
    strict: bool = key("refute what breaks the letter of the ISA too", read_truth, default=False)
    require: tuple[str, ...] = key(
        "checks that must give evidence", Several(Choice(("isa", "proof", "gpu"))), default=()
    )  # fmt: skip

    def of_kernels(self) -> dict[str, Any]:
        """Return the options of kernels."""
        return {"seed": self.seed, "strict": self.strict, "compile_for": self.target}

    def list_files(self) -> list[Path]:
        """Return the files that `files` means. Raises UsageError for a word that means none."""
        return expand(self.files, self.file.parent, f"{self.file}: {TABLE}.files:")


def find_settings(folder: Path) -> Settings | None:
    """Return the settings of the nearest pyproject.toml that has any, in a folder or above it; None without one.

    Raises UsageError, with line and column, for a key that is none or a value that is wrong.
    """
    for place in (folder, *folder.parents):
        file = place / NAME
        if file.is_file() and "lanecheck" in file.read_text(encoding="utf-8", errors="replace"):
            settings = _read_settings(file)
            if settings is not None:
                return settings
    return None


def _read_settings(file: Path) -> Settings | None:
    """Return the settings of a file; None if it has none."""
    try:
        document = read_document(file)
    except AtomFileError as error:
        raise UsageError(str(error)) from None
    tool = document.tables.get("tool")
    table = tool.get("lanecheck") if isinstance(tool, dict) else None
    if table is None:
        if document.errors:
            raise UsageError(str(document.errors[0]))
        return None
    if not isinstance(table, dict):
        raise UsageError(f"{_where(document)}: {TABLE}: expected a table")
    known, values = keys(Settings), dict[str, object]()
    for name, value in table.items():
        if name not in known:
            listed = ", ".join(known)
            raise UsageError(f"{_where(document, name)}: {TABLE}.{name}: there is no such key; the keys are {listed}")
        try:
            values[known[name].field] = known[name].parse_value(value)
        except SpecError as error:
            raise UsageError(f"{_where(document, name)}: {TABLE}.{name}: {error.problem}") from None
    return Settings(file=file, **values)  # type: ignore[arg-type]


def _where(document: Document, name: str = "") -> str:
    line, column = document.place("tool", *((f"lanecheck.{name}",) if name else ()), "lanecheck")
    return f"{document.file}:{line}:{column}"


def expand(words: Iterable[str], base: Path, named: str) -> list[Path]:
    """Return the files that words mean: files, folders with all TOML files below, and globs, relative to a folder.

    Raises UsageError, which begins with `named`, for a word that means none.
    """
    paths: list[Path] = []
    for word in words:
        path = base / word
        if path.is_dir():
            inside = (file for file in path.rglob("*.toml") if not _is_hidden(file.relative_to(path)))
        else:
            inside = (file for name in glob.glob(str(path), recursive=True) if (file := Path(name)).is_file())
        files = [path] if path.is_file() else sorted(inside)
        if not files:
            problem = "no TOML file is in this folder" if path.is_dir() else f"no such file in {base}"
            raise UsageError(f"{named} {word}: {problem}")
        paths += [file.resolve() for file in files]
    return list(dict.fromkeys(paths))


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)

# SPDX-License-Identifier: Apache-2.0
"""Kernels of other projects: fetched and compiled where they are asked for; none is kept here."""

from __future__ import annotations

import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

PROJECTS = Path(__file__).with_name("others.toml")


def fetched(project: Mapping[str, Any], folder: Path) -> Path:
    """The project's files in a folder, cloned at its tag unless they are there."""
    if not folder.exists():
        command = ["git", "clone", "--quiet", "--depth", "1", "--branch", project["tag"], project["url"], str(folder)]
        subprocess.run(command, check=True)
    return folder


def compiled(project: Mapping[str, Any], kernel: Mapping[str, Any], folder: Path, to: Path) -> Path:
    """The PTX of a kernel, compiled by nvcc unless it is there, with its claim beside it."""
    ptx = to / f"{kernel['name']}.ptx"
    if not ptx.exists():
        to.mkdir(parents=True, exist_ok=True)
        include = [f"-I{folder / name}" for name in project["include"]]
        words = ["nvcc", "-ptx", f"-arch={kernel['target']}", *project["options"], *include]
        subprocess.run([*words, "-o", str(ptx), str(folder / kernel["source"])], check=True, capture_output=True)
    ptx.with_suffix(".toml").write_text(kernel["claim"])
    return ptx


def kernels(folder: Path, name: str = "") -> Iterator[tuple[Path, tuple[str, ...]]]:
    """The PTX of every kernel whose name has this part, and the severities that are known of it."""
    for project, data in tomllib.loads(PROJECTS.read_text()).items():
        for kernel in data["kernel"]:
            if name in kernel["name"]:
                source = fetched(data, folder / project)
                yield compiled(data, kernel, source, folder / "compiled"), tuple(kernel.get("warns", ()))

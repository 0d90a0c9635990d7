# SPDX-License-Identifier: Apache-2.0
"""The files and folders that commands write: whether they can be written is found before a run."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

STDOUT = "-"
"""Stdout, in place of the name of a report's file."""


class Unwritable(OSError):
    """A file or folder that a command cannot write; its text is the one line that is printed."""


def output(path: str) -> Path | None:
    """The path of a report, None for stdout, which is -; Unwritable at once where it cannot be written."""
    return None if path == STDOUT else written(path)


def written(path: str) -> Path:
    """The path of a file that is written in the end; Unwritable at once where it cannot be."""
    if line := unwritable(path):
        raise Unwritable(line)
    from pathlib import Path

    return Path(path)


def filled(path: str) -> Path:
    """The path of a folder that files are written to in the end; Unwritable at once where they cannot be."""
    if line := unwritable(path, folder=True):
        raise Unwritable(line)
    from pathlib import Path

    return Path(path)


def unwritable(path: str, folder: bool = False) -> str:
    """`cannot write PATH: why`, found without making or emptying anything; empty where a file can be written there.

    With `folder`, the path is a folder that is made with those above it, and files are written there.
    """
    if path == STDOUT:
        what = "folder" if folder else "file"
        return f"cannot write {path}: expected a {what}, and {path} is stdout; ./{path} is a {what} of that name"
    if not path:
        return f"cannot write '': it is the name of no {'folder' if folder else 'file'}"
    try:
        _check_writable(path, folder)
    except (OSError, ValueError) as error:  # ValueError: a letter that no name has
        return f"cannot write {path}: {getattr(error, 'strerror', None) or error}"
    return ""


def _check_writable(path: str, folder: bool) -> None:
    """Raise the OSError that writing a file there would."""
    try:
        found = os.stat(path).st_mode
    except FileNotFoundError:
        above = os.path.dirname(os.path.realpath(path))  # of a link that leads nowhere: where its file would be
        if not path or not (folder or os.path.isdir(above)):
            raise
        if folder or not path.endswith(os.sep):
            _check_writable(above, folder=True)
            return
        code = errno.EISDIR
    else:
        allowed = os.access(path, os.W_OK | os.X_OK * folder)
        as_meant = stat.S_ISDIR(found) == folder
        code = (0 if allowed else errno.EACCES) if as_meant else errno.ENOTDIR if folder else errno.EISDIR
    if code:
        raise OSError(code, os.strerror(code))

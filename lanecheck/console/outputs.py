# SPDX-License-Identifier: Apache-2.0
"""The files and folders that commands write: whether they can be written is found before a run; none is torn."""

from __future__ import annotations

import errno
import os
import re
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

DESCRIPTOR = re.compile(r"/dev/fd/(\d+)|/proc/self/fd/(\d+)")
STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}
STDOUT = "-"
"""Stdout, in place of the name of a report's file."""


class Unwritable(OSError):
    """A file or folder that a command cannot write; its text is the one line that is printed."""


def output(path: str) -> Path | None:
    """Return the path of a report, None for stdout, which is -; Unwritable at once where it cannot be written."""
    return None if path == STDOUT else reserve_file(path)


def reserve_file(path: str) -> Path:
    """Return the path of a file that is written in the end; Unwritable at once where it cannot be."""
    if line := unwritable(path):
        raise Unwritable(line)
    from pathlib import Path

    return Path(path)


def reserve_folder(path: str) -> Path:
    """Return the path of a folder that files are written to in the end; Unwritable at once where they cannot be."""
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
        mode = os.stat(path).st_mode
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
        as_meant = stat.S_ISDIR(mode) == folder
        code = (0 if allowed else errno.EACCES) if as_meant else errno.ENOTDIR if folder else errno.EISDIR
    if code:
        raise OSError(code, os.strerror(code))


def write_file(path: str | os.PathLike[str], content: str | bytes, durable: bool = True) -> None:
    """Write a file whole or not at all: beside it, then renamed, so that a full disk leaves what was there.

    A link stays a link, and a file keeps its owner and permissions. Anything but a regular file, such as a pipe, is
    written to; so is a file to whose place nothing can be renamed. A reader that has gone isn't an error. Unless
    `durable`, a file may be lost if the machine stops now, as an entry of a cache may. Raises Unwritable.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        if (stream := _stream(os.fspath(path))) is not None:
            _write_all(stream, data)
            return
        target = os.path.realpath(path)
        before = _status(target)
        if before is not None and not stat.S_ISREG(before.st_mode):
            _write_in_place(target, data)
        elif not _replace(target, data, before, durable):
            _write_in_place(target, data)
    except BrokenPipeError:
        return
    except OSError as error:
        raise Unwritable(f"cannot write {os.fspath(path)}: {error.strerror}") from error


def _stream(path: str) -> int | None:
    """Return the descriptor that a path names: opened anew, a file that is stdout would be cut."""
    match = DESCRIPTOR.fullmatch(path)
    return int(match[1] or match[2]) if match else STREAMS.get(path)


def _status(path: str) -> os.stat_result | None:
    """Return the status of a file; None if there is none."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _replace(target: str, data: bytes, before: os.stat_result | None, durable: bool) -> bool:
    """Write a new file beside the target and rename it; return False if the folder lets nobody do that."""
    folder = os.path.dirname(target)
    part = os.path.join(folder, f".lanecheck-{os.urandom(6).hex()}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except OSError as error:
        if before is None or error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
        return False
    try:
        try:
            _write_all(descriptor, data)
            if before is not None:
                with suppress(OSError, AttributeError):  # only root may give files away; Windows has no chown
                    os.chown(part, before.st_uid, before.st_gid)
                os.chmod(part, stat.S_IMODE(before.st_mode))
            if durable:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        try:
            os.replace(part, target)
        except OSError as error:
            if error.errno not in (errno.EBUSY, errno.EACCES, errno.EPERM, errno.EXDEV):
                raise
            os.unlink(part)
            return False
    except BaseException:  # an interruption too
        with suppress(OSError):
            os.unlink(part)
        raise
    if durable:
        _sync(folder)
    return True


def _sync(folder: str) -> None:
    """Ask the system to keep a renaming, where folders can be asked for that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _write_in_place(path: str, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC)
    try:
        _write_all(descriptor, data)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]

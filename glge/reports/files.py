"""A report on disk: whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path

from glge.errors import GlgeError
from glge.reports.wording import visible

_FAULTS = {
    errno.ENOSPC: ("the disk is full", "free some space, or write elsewhere"),
    errno.EDQUOT: ("the disk quota is used up", "free some space, or write elsewhere"),
    errno.ENOENT: ("the folder does not exist", "make it first"),
    errno.ENOTDIR: ("the folder is a file", "choose another path"),
    errno.EISDIR: ("this is a folder", "give the name of a file in it"),
    errno.EACCES: ("no permission to write here", "choose another path"),
    errno.EPERM: ("no permission to write here", "choose another path"),
    errno.EROFS: ("the file system is read-only", "choose another path"),
    errno.ENAMETOOLONG: ("the name is too long", "choose a shorter one"),
}

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)  # Windows would rewrite line ends


def write(text: str | bytes, path: str | os.PathLike[str]) -> None:
    """Write text as UTF-8, or bytes, to `path`, atomically: readers see the old file or the whole new one.

    The text goes to a temporary name in the same folder, is forced to disk and then renamed. Whatever
    happens before that (disk full, Ctrl-C) leaves the old file as it was and no temporary one. An existing
    file keeps its mode, a symbolic link stays a link, and a device or a pipe (`/dev/stdout`) is written to
    directly. Raises GlgeError, one line, when the file cannot be written.
    """
    data = text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace")
    try:
        _write(data, Path(path))
    except OSError as fault:
        what, hint = _FAULTS.get(fault.errno or 0, (fault.strerror or str(fault), None))
        raise GlgeError(f"nothing was written: {what}", file=visible(os.fspath(path)), hint=hint) from fault


def _write(data: bytes, path: Path) -> None:
    mode: int | None = None
    with contextlib.suppress(FileNotFoundError):
        found = path.stat().st_mode
        if stat.S_ISDIR(found):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(found):
            # Renaming over a device would replace it by a file.
            with path.open("wb", buffering=0) as stream:
                _write_all(stream.fileno(), data)
            return
        if not os.access(path, os.W_OK):
            # A rename asks leave of the folder only: a file made read-only is meant to stay.
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        mode = stat.S_IMODE(found)
    target = path.resolve()
    temporary = target.with_name(f".glge-{secrets.token_hex(8)}.tmp")
    try:
        descriptor = os.open(temporary, _NEW, 0o666 if mode is None else mode)
        try:
            if mode is not None:
                temporary.chmod(mode)  # beyond the umask
            _write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _keep_name(target.parent)


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _keep_name(folder: Path) -> None:
    # The new name is as durable as the text once the folder is on disk; not every system can say so.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

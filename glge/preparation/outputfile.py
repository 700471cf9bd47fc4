"""One file, written whole or not at all.

The text goes to a temporary name in the same folder and is renamed into place when the block ends without a fault; a
fault or Ctrl-C leaves what was there as it was, and no temporary file. What is there already is refused unless `force`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from glge.errors import DataError
from glge.lines import printable

_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "no permission to write here",
    errno.EPERM: "no permission to write here",
    errno.ENOTDIR: "its folder is a file",
    errno.EEXIST: "its folder is a file",
    errno.ENAMETOOLONG: "the name is too long",
}


class OutputFile:
    """A file that appears when it is whole; DataError, one line, when it cannot be written."""

    def __init__(self, target: str | os.PathLike[str], *, force: bool = False) -> None:
        self.target = Path(target)
        self._force = force
        self._place = Path(os.path.abspath(target))  # noqa: PTH100 (a link stays the name that was given)
        self.path = self._place.with_name(f".glge-{secrets.token_hex(8)}.tmp")
        self._file: IO[str] | None = None

    def __enter__(self) -> Self:
        if self.target.is_dir():
            raise DataError("this is a folder, not a file", file=self._shown, hint="give the name of a file in it")
        if not self._force and self.target.exists():
            raise DataError("already there", file=self._shown, hint="give --force to replace it, or another name")
        try:
            self._place.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._fault(error) from None
        return self

    def open(self) -> IO[str]:
        """The file as text: UTF-8, line feeds as they are. `path` is where other writers may put bytes instead."""
        try:
            self._file = self.path.open("x", encoding="utf-8", newline="", errors="strict")
        except OSError as error:
            raise self._fault(error) from None
        return self._file

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._file is not None:
                self._file.close()  # writes what is still held: the disk may be full only now
            if kind is None:
                self.path.replace(self._place)
        except OSError as fault:
            raise self._fault(fault) from None
        finally:
            with contextlib.suppress(OSError):
                self.path.unlink()
        if isinstance(error, OSError) and error.errno in _REASONS:
            raise self._fault(error) from None

    @property
    def _shown(self) -> str:
        return printable(str(self.target))

    def _fault(self, error: OSError) -> DataError:
        reason = _REASONS.get(error.errno or 0, error.strerror or str(error))
        return DataError(f"nothing was written: {reason}", file=self._shown)

"""Folders of data, written whole or not at all.

    with OutputFolder(out / "easy" / "coqa_data" / "org_data", force=False) as folder:
        with folder.open("train.src") as file:
            file.write("one line\\n")

Everything goes to a temporary folder beside the target and is renamed into place when the block ends without a
fault; a fault or Ctrl-C leaves the target as it was and no temporary folder. What is there already is refused unless
`force`, and then replaced file by file: files of other names stay.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from glge.errors import DataError
from glge.lines import printable

_REASONS = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "the disk quota is used up", errno.EROFS: "read-only"}


class OutputFolder:
    """A folder that appears when it is whole; DataError, one line, when it cannot be written."""

    def __init__(self, target: Path, *, names: tuple[str, ...], force: bool = False) -> None:
        """`names`: the files that will be written; those that exist are refused unless `force`."""
        self.target = target
        self.names = names
        self._force = force
        whole = Path(os.path.abspath(target))  # noqa: PTH100 - links keep their names
        self._temporary = whole.with_name(f".{whole.name}-{secrets.token_hex(6)}.tmp")
        self._made: list[Path] = []  # folders above that are new, the outermost last

    def __enter__(self) -> Self:
        if self.target.exists() and not self.target.is_dir():
            raise DataError("this is a file, not a folder", file=printable(str(self.target)))
        there = [name for name in self.names if (self.target / name).exists()]
        if there and not self._force:
            raise DataError(
                f"already there: {', '.join(there)}",
                file=printable(str(self.target)),
                hint="give --force to replace, or another --out",
            )
        self._made = [folder for folder in self._temporary.parents if not folder.exists()]
        try:
            self._temporary.mkdir(parents=True)
        except OSError as error:
            raise self._fault(error) from None
        return self

    def open(self, name: str) -> IO[str]:
        """A new file of the folder, UTF-8, line feeds as they are; it must be one of `names`."""
        if name not in self.names:
            raise ValueError(f"{name} was not announced")
        return (self._temporary / name).open("x", encoding="utf-8", newline="", errors="strict")

    def path(self, name: str) -> Path:
        """Where the file lies until the folder is whole (to hash it)."""
        return self._temporary / name

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.target.mkdir(parents=True, exist_ok=True)
                for name in self.names:
                    if (self._temporary / name).exists():
                        (self._temporary / name).replace(self.target / name)
        except OSError as fault:
            raise self._fault(fault) from None
        finally:
            with contextlib.suppress(OSError):
                shutil.rmtree(self._temporary)
            if kind is not None:
                # Folders that were made for this and hold nothing go again.
                with contextlib.suppress(OSError):
                    for folder in self._made:
                        folder.rmdir()
        if isinstance(error, OSError) and error.errno in _REASONS:
            raise self._fault(error) from None

    def _fault(self, error: OSError) -> DataError:
        reason = _REASONS.get(error.errno or 0, error.strerror or str(error))
        return DataError(f"nothing was written: {reason}", file=printable(str(self.target)))

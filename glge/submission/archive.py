"""A zip of predictions, read in memory: a member that tries anything refuses the whole.

A path out of the archive, a link, a device, an encrypted member, a bomb, two members of one path: each is a
problem of its own, found from the zip's table of contents before anything is unpacked. Nothing is ever
written to disk.
"""

from __future__ import annotations

import io
import os
import re
import stat
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from glge.errors import GlgeError, Problem
from glge.lines import Lines, cannot_read, decode_lines, printable, recognise, shown_size, too_large, unreadable
from glge.submission.problems import CODES, listed

MAX_MEMBERS = 1_000
MAX_DIRECTORY = 4 << 20  # bytes of the table of contents
MAX_RATIO = 100  # unpacked to packed; text seldom exceeds 5
RATIO_FLOOR = 8 << 20  # bytes below which the ratio is nobody's concern: one line repeated packs 1,000:1


class CannotOpen(GlgeError):
    """The path holds no zip that can be read."""


@dataclass
class Archive:
    """The files of a zip (folders left out); when there are problems, none of them may be read."""

    file: str
    size_limit: int | None
    problems: list[Problem] = field(default_factory=list)
    members: list[zipfile.ZipInfo] = field(default_factory=list)
    zip: zipfile.ZipFile | None = None

    def read(self, member: zipfile.ZipInfo, name: str) -> Lines:
        """The lines of a member; what is wrong with it stands in their problems."""
        assert self.zip is not None
        limit = self.size_limit
        if limit is not None and member.file_size > limit:
            return unreadable(name, [too_large(name, member.file_size, limit)])
        try:
            data = _read_member(self.zip, member)
        except _ZIP_FAULTS as error:
            known = str(error) if isinstance(error, zipfile.BadZipFile) else "it cannot be unpacked"
            reason = "its checksum does not fit" if "CRC" in known else "it cannot be unpacked"
            problem = Problem("zip-damaged", CODES["zip-damaged"], f"damaged in the zip: {reason}", file=name)
            return unreadable(name, [replace(problem, hint="pack the files again")])
        return decode_lines(data, name)

    def _add(self, code: str, message: str, *, count: int = 1, hint: str | None = None) -> None:
        self.problems.append(Problem(code, CODES[code], message, file=self.file, count=count, hint=hint))

    def _check(self, packed: int) -> None:
        """Every reason to refuse the zip whole, from its directory alone."""
        members = self.zip.infolist() if self.zip is not None else []
        if len(members) > MAX_MEMBERS:
            self._add(
                "zip-too-many-members",
                f"the zip has {len(members):,} members, the limit is {MAX_MEMBERS:,}; nothing was read",
                count=len(members),
                hint="pack only the prediction files",
            )
        reasons: dict[tuple[str, str], list[str]] = {}
        for member in members:
            for code, reason in _dangers(member):
                reasons.setdefault((code, reason), []).append(printable(member.orig_filename))
        for name, count in Counter(member.filename for member in members).items():
            if count > 1:
                reasons.setdefault(("zip-duplicate-member", "the same path twice"), []).append(printable(name))
        for (code, reason), names in reasons.items():
            self._add(
                code,
                f"the zip was refused: {reason}: {listed(names)}; nothing was read",
                count=len(names),
                hint="pack the prediction files again, in plain folders",
            )
        total = sum(member.file_size for member in members)
        if self.size_limit is not None and total > self.size_limit:
            self._add(
                "zip-too-large",
                f"the zip would unpack to {shown_size(total)}, the limit is {shown_size(self.size_limit)}; "
                "nothing was read",
                hint="pack only the prediction files, or raise the limit with --size-limit",
            )
        # Members that overlap share their packed bytes, so the whole is measured against the file.
        dense = [member for member in members if member.file_size > max(RATIO_FLOOR, MAX_RATIO * member.compress_size)]
        if dense or total > max(RATIO_FLOOR, MAX_RATIO * packed):
            ratio = max([total / packed, *(member.file_size / max(member.compress_size, 1) for member in dense)])
            which = listed([printable(member.filename) for member in dense]) if dense else "all members together"
            self._add(
                "zip-ratio",
                f"the zip would unpack to {ratio:,.0f} times its size ({which}), the limit is {MAX_RATIO} times "
                f"above {shown_size(RATIO_FLOOR)}; nothing was read",
                count=max(len(dense), 1),
            )


def open_archive(path: Path, stack: ExitStack, size_limit: int | None) -> Archive:
    """Open a zip and check its table of contents; `stack` closes it.

    CannotOpen when it is no zip that can be read; a reason to refuse it is among the problems.
    """
    try:
        file = stack.enter_context(path.open("rb"))
        size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise CannotOpen(cannot_read("", error).message) from None
    if size == 0:
        raise CannotOpen("the file is empty (0 bytes), not a zip")
    if size_limit is not None and size > size_limit:
        problem = too_large("", size, size_limit)
        raise CannotOpen(problem.message, hint=problem.hint)
    guarded = _GuardedFile(file, size)
    archive = Archive(printable(str(path)), size_limit)
    try:
        archive.zip = stack.enter_context(zipfile.ZipFile(guarded))
    except _DirectoryTooLarge as error:
        archive._add(
            "zip-too-many-members",
            f"the zip's table of contents has {shown_size(error.size)}, the limit is {shown_size(MAX_DIRECTORY)}; "
            "nothing was read",
        )
        return archive
    except _ZIP_FAULTS as error:
        file.seek(0)
        head = file.read(4096)
        form = recognise(head)
        if head.startswith(b"PK"):
            reason = "the zip is cut off or damaged: it has no readable table of contents at its end"
        elif form is not None:
            reason = f"this is {form.name}, not a zip"
        else:
            reason = "this is not a zip"
        if not isinstance(error, zipfile.BadZipFile):
            reason = "the zip is damaged"
        raise CannotOpen(reason) from None
    guarded.open()
    members = archive.zip.infolist()
    if not members:
        raise CannotOpen("the zip is empty")
    archive._check(size)
    archive.members = [member for member in members if not member.is_dir()]
    return archive


# What the zip module is known to raise on damaged archives.
_ZIP_FAULTS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    RuntimeError,
    NotImplementedError,
    OverflowError,
    IndexError,
)


_METHODS = {9: "deflate64", 12: "bzip2", 14: "lzma", 93: "zstd", 95: "xz", 98: "ppmd"}


class _DirectoryTooLarge(Exception):
    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


class _GuardedFile(io.RawIOBase):
    """A file that refuses large reads until it is opened up: the zip module reads the directory in one go."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        super().__init__()
        self._file = file
        self._size = size
        self._limit: int | None = MAX_DIRECTORY

    def open(self) -> None:
        self._limit = None

    def read(self, size: int = -1, /) -> bytes:
        wanted = size if size >= 0 else max(self._size - self._file.tell(), 0)
        if self._limit is not None and wanted > self._limit:
            raise _DirectoryTooLarge(wanted)
        return self._file.read(size)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True


def _dangers(member: zipfile.ZipInfo) -> Iterable[tuple[str, str]]:
    """(code, reason) for everything about a member that refuses its zip."""
    name = member.orig_filename  # `filename` ends at a NUL
    if "\0" in name:
        yield "zip-unsafe-member", "a NUL in a name"
    if "\\" in name:
        yield "zip-unsafe-member", "a backslash in a name"
    if name.startswith("/") or re.match(r"[A-Za-z]:", name):
        yield "zip-unsafe-member", "an absolute path"
    if ".." in re.split(r"[/\\]", name):
        yield "zip-unsafe-member", "a path that leads out of the zip"
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind == stat.S_IFLNK:
        yield "zip-unsafe-member", "a symbolic link"
    elif kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        yield "zip-unsafe-member", "a device or pipe"
    if member.flag_bits & 0x41:
        yield "zip-encrypted", "an encrypted member"
    elif member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        # The module unpacks bzip2 and lzma without a bound, and the others not at all.
        method = _METHODS.get(member.compress_type, f"method {member.compress_type}")
        yield "zip-method", f"packed by {method} (only stored and deflate are read)"


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """The bytes of a member, never more than its header declares; BadZipFile when they differ."""
    chunks: list[bytes] = []
    size = 0
    with archive.open(member) as file:
        while chunk := file.read(1 << 20):
            size += len(chunk)
            if size > member.file_size:
                break
            chunks.append(chunk)
    if size != member.file_size:
        raise zipfile.BadZipFile("the size differs from the directory's")
    return b"".join(chunks)

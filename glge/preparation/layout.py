"""The files of a data root in the official layout, and their lines in blocks that fit into memory.

    DATA/{level}/{task}_data/org_data/{split}.{src,tgt}

in DATA itself or in the public and the hidden archive inside or beside it, looked for in the order of
`glge.references.archive_roots`. Training files of half a gigabyte are read in blocks of whole lines,
so the memory needed does not grow with the file.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from glge.errors import DataError
from glge.lines import Format, printable, recognise
from glge.preparation.manifest import FileHash
from glge.references import archive_roots

KINDS = ("src", "tgt")
BLOCK = 4 << 20  # bytes read at a time
LONGEST_LINE = 256 << 20  # bytes; a longer one is no line of text
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class DataFile:
    """One file of the layout: where it is, what it is called from the data root, and what it holds."""

    path: Path
    name: str
    task: str
    level: str
    split: str
    kind: str


def relative(level: str, task: str, split: str, kind: str) -> str:
    """A file's place below a data root or archive.

    >>> relative("easy", "coqa", "train", "src")
    'easy/coqa_data/org_data/train.src'
    """
    return f"{level}/{task}_data/org_data/{split}.{kind}"


def find_files(root: Path, level: str, task: str, split: str, kind: str) -> list[DataFile]:
    """Every such file in the root and the archives; the first is the one that is read."""
    found = []
    for base in archive_roots(root):
        path = base / relative(level, task, split, kind)
        if path.is_file():
            name = printable(os.path.relpath(path, root).replace(os.sep, "/"))
            found.append(DataFile(path, name, task, level, split, kind))
    return found


def find_file(root: Path, level: str, task: str, split: str, kind: str) -> DataFile | None:
    """The file that is read for this task, level, split and kind; None when there is none."""
    return next(iter(find_files(root, level, task, split, kind)), None)


def unreadable_format(path: Path) -> Format | None:
    """What a file is when it is not UTF-8 text (gzip, UTF-16 …), by its first bytes."""
    with path.open("rb") as file:
        return recognise(file.read(4096))


def read_blocks(file: DataFile, *, size: int = BLOCK, keep_mark: bool = False) -> Iterator[bytes]:
    r"""The bytes of a file in blocks of whole lines; a byte order mark at the start is left out unless kept.

    Every block ends with a line feed, but for the last one of a file without a final line feed. DataError
    when the file cannot be read.
    """
    kept: list[bytes] = []
    held = 0
    first = True
    try:
        with file.path.open("rb") as stream:
            while chunk := stream.read(size):
                if first and not keep_mark:
                    chunk = chunk.removeprefix(BYTE_ORDER_MARK)
                first = False
                end = chunk.rfind(b"\n") + 1
                if not end:
                    kept.append(chunk)
                    held += len(chunk)
                    if held > LONGEST_LINE:
                        raise DataError(
                            f"a line of more than {LONGEST_LINE >> 20} MB", file=file.name, hint="is this a text file?"
                        )
                    continue
                yield b"".join((*kept, chunk[:end]))
                kept = [chunk[end:]]
                held = len(chunk) - end
        if rest := b"".join(kept):
            yield rest
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", file=file.name) from None


def lines_of(block: bytes) -> list[bytes]:
    r"""The lines of a block without their line feeds.

    >>> lines_of(b"a b\n\nc\n"), lines_of(b"a\nb"), lines_of(b"")
    ([b'a b', b'', b'c'], [b'a', b'b'], [])
    """
    lines = block.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def decode_block(block: bytes, file: DataFile, before: int) -> str:
    """A block as text; DataError with file and line when it is not UTF-8. `before`: lines in earlier blocks."""
    try:
        return block.decode("utf-8")
    except UnicodeDecodeError as error:
        line = before + block.count(b"\n", 0, error.start) + 1
        raise DataError("not UTF-8 text", file=file.name, line=line, hint="save it as UTF-8 text") from None


class Hasher:
    """Size, lines and SHA-256 of what passes through."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self.bytes = 0
        self.lines = 0

    def add(self, data: bytes, lines: int) -> None:
        """Takes in some bytes that hold so many lines."""
        self._digest.update(data)
        self.bytes += len(data)
        self.lines += lines

    def result(self, name: str) -> FileHash:
        """The entry of a manifest."""
        return FileHash(name=name, bytes=self.bytes, sha256=self._digest.hexdigest(), lines=self.lines)

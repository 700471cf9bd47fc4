"""One file of named NumPy arrays, written once and memory-mapped ever after.

Layout: 8 bytes of magic, CRC-32 of all that follows (4 bytes, little-endian), length of the header (4
bytes), the header as JSON (the arrays' names, types, lengths and places, and the facts the writer
added), then the arrays, each at a multiple of 64 bytes. The file appears under its name whole or not
at all: it is written beside it and renamed.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import tempfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MAGIC = b"GLGEtab\n"
_START = struct.Struct("<II")
_ALIGNMENT = 64
_BLOCK = 1 << 20


class DamagedTable(Exception):
    """The file is not a whole table file; never leaves this package: the file is made again."""


@dataclass(frozen=True)
class TableFile:
    """An open table file: read-only arrays by name, and the facts of its header."""

    arrays: Mapping[str, NDArray[Any]]
    facts: Mapping[str, Any]
    size: int

    def text(self, name: str) -> list[str]:
        """An array of bytes as the lines of text it was made from (see `text_array`)."""
        data = self.arrays[name].tobytes().decode("utf-8")
        return data.split("\n") if data else []


def text_array(lines: list[str]) -> NDArray[np.uint8]:
    """Lines of text (none with a line break in it) as an array of bytes."""
    return np.frombuffer("\n".join(lines).encode("utf-8"), dtype=np.uint8)


def write_table(path: Path, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> None:
    """Write the arrays to `path`, atomically. Raises OSError, and leaves nothing half-written."""
    stored = {name: _little_endian(array) for name, array in arrays.items()}
    places: dict[str, tuple[str, int, int]] = {}
    offset = 0
    for name, array in stored.items():
        places[name] = (array.dtype.str, len(array), offset)
        offset += -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT
    header = json.dumps({"arrays": places, "facts": dict(facts)}).encode()
    header += b" " * (-(len(_MAGIC) + _START.size + len(header)) % _ALIGNMENT)

    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_MAGIC + _START.pack(0, len(header)) + header)
            checksum = zlib.crc32(header, zlib.crc32(struct.pack("<I", len(header))))
            for array in stored.values():
                for block in (array.data, bytes(-array.nbytes % _ALIGNMENT)):
                    file.write(block)
                    checksum = zlib.crc32(block, checksum)
            file.seek(len(_MAGIC))
            file.write(_START.pack(checksum, len(header)))
            file.flush()
            os.fsync(file.fileno())
        part.chmod(0o644)  # mkstemp makes it private; a cache built once may serve several users
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def open_table(path: Path) -> TableFile:
    """Map the file and check all of it against its checksum (about 20 ms for 60 MB).

    Raises OSError when it cannot be opened, DamagedTable when it is not whole.
    """
    with path.open("rb") as file:
        start = file.read(len(_MAGIC) + _START.size)
        if len(start) < len(_MAGIC) + _START.size or not start.startswith(_MAGIC):
            raise DamagedTable("not a table file")
        expected, header_size = _START.unpack(start[len(_MAGIC) :])
        checksum = zlib.crc32(start[-4:])
        # Read, not mapped: pages that are only checked should not count as this process's memory.
        while block := file.read(_BLOCK):
            checksum = zlib.crc32(block, checksum)
        if checksum != expected:
            raise DamagedTable("its checksum does not fit its content")
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    begin = len(start) + header_size
    header = json.loads(mapped[len(start) : begin])
    arrays = {
        name: np.frombuffer(mapped, dtype=kind, count=length, offset=begin + offset)
        for name, (kind, length, offset) in header["arrays"].items()
    }
    return TableFile(arrays, header["facts"], len(mapped))


def _little_endian(array: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
